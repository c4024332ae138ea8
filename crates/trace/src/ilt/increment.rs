//! The chunks that extend the tables: the number of the first entry, how many, and the entries.
//!
//! Tables only grow, so a writer needs to remember no more than how long each was; entries come
//! before the events that refer to them, and strings before whatever is named by them.

use super::Defect;
use super::varint::{Bytes, put, put_signed};
use super::wire::MAX_STRING_BYTES;
use crate::ids::{StringId, ThreadId};
use crate::tables::{Location, NameTable, Site, Tables};

/// Where a chunk is closed, so that it stays far from the largest one allowed.
const CHUNK_BYTES: usize = 1 << 20;

/// The tables, as chunks tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Strings,
    Meta,
    Names(NameTable),
    Locations,
    Sites,
}

impl Table {
    /// All of them, strings first since the others refer to them.
    pub(super) const ALL: [Table; 10] = [
        Table::Strings,
        Table::Meta,
        Table::Names(NameTable::Threads),
        Table::Names(NameTable::Locks),
        Table::Names(NameTable::Conditions),
        Table::Names(NameTable::Semaphores),
        Table::Names(NameTable::Barriers),
        Table::Names(NameTable::Onces),
        Table::Locations,
        Table::Sites,
    ];

    /// How many entries a table that was never written to has.
    pub(super) fn initial_count(self) -> usize {
        if self == Table::Sites { 1 } else { 0 }
    }

    fn count(self, tables: &Tables) -> usize {
        match self {
            Table::Strings => tables.strings.len(),
            Table::Meta => tables.meta().len(),
            Table::Names(table) => tables.names(table).len(),
            Table::Locations => tables.locations().len(),
            Table::Sites => tables.sites().len(),
        }
    }

    /// The largest number an entry can have. A site's must leave a bit for bare lines.
    fn highest(self) -> u64 {
        match self {
            Table::Names(NameTable::Threads) => u64::from(ThreadId::HIGHEST.raw()),
            Table::Sites => u64::from(u32::MAX >> 1),
            _ => u64::from(u32::MAX),
        }
    }

    /// What an entry is, for errors.
    fn noun(self) -> &'static str {
        match self {
            Table::Strings => "string",
            Table::Meta => "fact",
            Table::Names(NameTable::Threads) => "thread",
            Table::Names(NameTable::Locks) => "lock",
            Table::Names(NameTable::Conditions) => "condition",
            Table::Names(NameTable::Semaphores) => "semaphore",
            Table::Names(NameTable::Barriers) => "barrier",
            Table::Names(NameTable::Onces) => "once flag",
            Table::Locations => "location",
            Table::Sites => "site",
        }
    }
}

/// Replaces `out` by a chunk of the entries from number `first` on, and tells the number after the
/// last of them, as not all may have found room; `None` if there are no new ones. An error says
/// what cannot be written.
pub(super) fn encode(out: &mut Vec<u8>, table: Table, tables: &Tables, first: usize) -> Result<Option<usize>, String> {
    let count = table.count(tables);
    if first >= count {
        return Ok(None);
    }
    let mut entries = Vec::new();
    let mut next = first;
    while next < count && entries.len() < CHUNK_BYTES {
        encode_entry(&mut entries, table, tables, next)?;
        next += 1;
    }
    out.clear();
    put(out, first as u64);
    put(out, (next - first) as u64);
    out.extend_from_slice(&entries);
    Ok(Some(next))
}

fn encode_entry(out: &mut Vec<u8>, table: Table, tables: &Tables, index: usize) -> Result<(), String> {
    let put_string = |out: &mut Vec<u8>, id: StringId| {
        if id.index() >= tables.strings.len() {
            return Err(format!("string {} when there are only {} in the tables", id.raw(), tables.strings.len()));
        }
        put(out, u64::from(id.raw()));
        Ok(())
    };
    match table {
        Table::Strings => {
            let id = StringId::from_index(index).ok_or("more strings than there are ids")?;
            encode_text(out, tables.strings.get(id))?;
        }
        Table::Meta => {
            let (key, value) = &tables.meta()[index];
            encode_text(out, key)?;
            encode_text(out, value)?;
        }
        Table::Names(names) => put_string(out, tables.names(names)[index])?,
        Table::Locations => {
            let Location { object, offset } = tables.locations()[index];
            put_string(out, object)?;
            put(out, offset);
        }
        Table::Sites => {
            let Site { file, function, line } = tables.sites()[index];
            out.push(u8::from(file.is_some()) | u8::from(function.is_some()) << 1 | u8::from(line.is_some()) << 2);
            for id in [file, function].into_iter().flatten() {
                put_string(out, id)?;
            }
            if let Some(line) = line {
                put_signed(out, line);
            }
        }
    }
    Ok(())
}

fn encode_text(out: &mut Vec<u8>, text: &str) -> Result<(), String> {
    if text.len() > MAX_STRING_BYTES {
        return Err(format!("a string of {} bytes (at most {MAX_STRING_BYTES})", text.len()));
    }
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Enters what a chunk holds into the tables.
pub(super) fn decode(payload: &[u8], table: Table, tables: &mut Tables) -> Result<(), Defect> {
    let mut input = Bytes::new(payload, "chunk");
    let first = input.varint("the number of the first entry")?;
    let entries = input.varint("the number of entries")?;
    let next = table.count(tables) as u64;
    if first != next {
        let noun = table.noun();
        return Err(Defect::new(format!("{noun} {first} as the first of a chunk"), format!("{noun} {next}")));
    }
    for number in first..first.saturating_add(entries) {
        if number > table.highest() {
            return Err(Defect::new(format!("{} {number}", table.noun()), format!("none above {}", table.highest())));
        }
        if !decode_entry(&mut input, table, tables, number)? {
            let found = format!("{} {number}, which is the same as an earlier one", table.noun());
            return Err(Defect::new(found, "entries that differ"));
        }
    }
    if input.len() > 0 {
        return Err(Defect::new(format!("{} bytes after the last entry", input.len()), "none"));
    }
    Ok(())
}

/// Enters one entry; false if the table has it already.
fn decode_entry(input: &mut Bytes<'_>, table: Table, tables: &mut Tables, number: u64) -> Result<bool, Defect> {
    let strings = tables.strings.len() as u64;
    Ok(match table {
        Table::Strings => {
            let text = decode_text(input)?;
            let id = tables.strings.intern(text).map_err(|full| Defect::new(full.to_string(), "fewer"))?;
            u64::from(id.raw()) == number
        }
        Table::Meta => {
            let key = decode_text(input)?.to_owned();
            let value = decode_text(input)?.to_owned();
            tables.push_meta(key, value);
            true
        }
        Table::Names(names) => tables.enter_name(names, StringId::new(input.id(strings, "string")?)),
        Table::Locations => {
            let object = StringId::new(input.id(strings, "string")?);
            tables.enter_location(Location { object, offset: input.varint("an offset")? })
        }
        Table::Sites => {
            let flags = input.byte("the flags of a site")?;
            if flags > 7 {
                return Err(Defect::unknown(format!("site flags {flags:#04x}"), "none above 0x07"));
            }
            let mut name = |bit: u8| -> Result<Option<StringId>, Defect> {
                if flags & bit == 0 { Ok(None) } else { Ok(Some(StringId::new(input.id(strings, "string")?))) }
            };
            let [file, function] = [name(1)?, name(2)?];
            let line = if flags & 4 == 0 { None } else { Some(input.signed("a line")?) };
            tables.enter_site(Site { file, function, line })
        }
    })
}

fn decode_text<'a>(input: &mut Bytes<'a>) -> Result<&'a str, Defect> {
    let length = input.varint("the length of a string")?;
    if length > MAX_STRING_BYTES as u64 {
        return Err(Defect::new(format!("a string of {length} bytes"), format!("at most {MAX_STRING_BYTES}")));
    }
    let bytes = input.take(length, "a string")?;
    std::str::from_utf8(bytes)
        .map_err(|_| Defect::new(format!("the string {}", crate::error::quote(bytes)), "text in UTF-8"))
}
