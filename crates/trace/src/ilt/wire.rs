//! The frame of an `.ilt` file: magic, version, chunk headers, limits.
//!
//! Everything here has a fixed size and is little-endian. What is inside a chunk is not known here.

use super::Defect;
use super::increment::Table;
use crate::tables::NameTable;
use std::fmt;

/// The first bytes of every `.ilt` file.
///
/// After the pattern of PNG: a byte that is not ASCII, the name, and line ends of both kinds around
/// the byte that ends text on old systems. Whatever treats the file as text damages this first.
pub const MAGIC: [u8; 8] = *b"\x89ILT\r\n\x1a\n";

/// The version of the format that this crate writes.
///
/// * 1.0: the first.
pub const VERSION: Version = Version { major: 1, minor: 0 };

/// The longest chunk, before and after compression. A header that promises more is not believed.
pub const MAX_CHUNK_BYTES: u32 = 16 << 20;

/// The longest string.
pub const MAX_STRING_BYTES: usize = 4 << 20;

/// A version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Another one is another format.
    pub major: u16,
    /// A higher one may hold things that readers of a lower one do not know.
    pub minor: u16,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The size of the header of a file.
pub(super) const FILE_HEADER: usize = 20;
/// The size of the header of a chunk.
pub(super) const CHUNK_HEADER: usize = 20;
/// The bytes of either header that its last field, a checksum, speaks for.
const CHECKED: usize = 16;

/// Chunk flag: whoever does not know the kind may pass over the chunk.
pub(super) const SKIPPABLE: u16 = 1;

/// The header of a file.
pub(super) fn file_header() -> [u8; FILE_HEADER] {
    let mut header = [0; FILE_HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..10].copy_from_slice(&VERSION.major.to_le_bytes());
    header[10..12].copy_from_slice(&VERSION.minor.to_le_bytes());
    seal(&mut header);
    header
}

/// Checks the header of a file, of which fewer bytes than that may have been there. The byte
/// offset in an error is that of the field at fault.
pub(super) fn parse_file_header(bytes: &[u8]) -> Result<Version, (u64, Defect)> {
    let expected = "the header of an .ilt trace";
    let Some(header) = bytes.first_chunk::<FILE_HEADER>() else {
        let found = match bytes.len() {
            0 => "an empty file".to_owned(),
            1 => "a file of 1 byte".to_owned(),
            length => format!("a file of {length} bytes"),
        };
        return Err((0, Defect::new(found, format!("{expected}, which alone has {FILE_HEADER} bytes"))));
    };
    if header[..8] != MAGIC {
        let found = if &header[1..4] == b"ILT" {
            "an .ilt trace damaged on its way, as by a transfer in text mode".to_owned()
        } else {
            crate::error::quote(&header[..8])
        };
        return Err((0, Defect::new(found, expected)));
    }
    if !is_sealed(header) {
        return Err((0, Defect::new("a file header whose checksum is wrong", "an undamaged one")));
    }
    let [major, minor] = [u16_at(header, 8), u16_at(header, 10)];
    let version = Version { major, minor };
    if version.major != VERSION.major {
        let advice = if version.major > VERSION.major {
            "it was written by a newer interloper: upgrade this one, or let the newer one convert the trace"
        } else {
            "it was written by an older interloper: convert the trace with that one, or record it again"
        };
        let found = format!("a trace of format {version}");
        return Err((8, Defect::new(found, format!("format {}.x; {advice}", VERSION.major))));
    }
    match u32_at(header, 12) {
        0 => Ok(version),
        flags => Err((12, of_version(Defect::unknown(format!("file flags {flags:#x}"), "none"), version))),
    }
}

/// Words a defect for people: what is unknown here may be known to a newer interloper.
pub(super) fn of_version(defect: Defect, file: Version) -> Defect {
    if defect.unknown && file.minor > VERSION.minor {
        let expected = format!(
            "nothing newer than format {VERSION}; the trace is of format {file}: upgrade interloper, or convert the \
             trace with the one that wrote it"
        );
        Defect { expected, ..defect }
    } else {
        defect
    }
}

/// What a chunk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkKind {
    Table(Table),
    Events,
    End,
}

impl ChunkKind {
    /// The code in the header: a letter, for those who look at a dump.
    pub(super) fn code(self) -> u8 {
        match self {
            ChunkKind::Table(Table::Strings) => b'S',
            ChunkKind::Table(Table::Meta) => b'M',
            ChunkKind::Table(Table::Names(NameTable::Threads)) => b'T',
            ChunkKind::Table(Table::Names(NameTable::Locks)) => b'L',
            ChunkKind::Table(Table::Names(NameTable::Conditions)) => b'C',
            ChunkKind::Table(Table::Names(NameTable::Semaphores)) => b'P',
            ChunkKind::Table(Table::Names(NameTable::Barriers)) => b'B',
            ChunkKind::Table(Table::Names(NameTable::Onces)) => b'O',
            ChunkKind::Table(Table::Locations) => b'A',
            ChunkKind::Table(Table::Sites) => b'F',
            ChunkKind::Events => b'E',
            ChunkKind::End => b'Z',
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        let tables = Table::ALL.into_iter().map(ChunkKind::Table);
        tables.chain([ChunkKind::Events, ChunkKind::End]).find(|kind| kind.code() == code)
    }
}

/// How the payload of a chunk is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Codec {
    Stored = 0,
    Lz4 = 1,
}

/// The header of a chunk, checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkHeader {
    /// `None` for a kind that is not known and may be passed over.
    pub(super) kind: Option<ChunkKind>,
    pub(super) codec: Codec,
    /// The size of the payload in the file.
    pub(super) stored_len: u32,
    /// Its size when decompressed.
    pub(super) raw_len: u32,
    /// The checksum of the payload as it is in the file.
    pub(super) checksum: u32,
}

impl ChunkHeader {
    pub(super) fn to_bytes(self, kind: ChunkKind) -> [u8; CHUNK_HEADER] {
        let mut header = [0; CHUNK_HEADER];
        header[0] = kind.code();
        header[1] = self.codec as u8;
        header[4..8].copy_from_slice(&self.stored_len.to_le_bytes());
        header[8..12].copy_from_slice(&self.raw_len.to_le_bytes());
        header[12..16].copy_from_slice(&self.checksum.to_le_bytes());
        seal(&mut header);
        header
    }

    pub(super) fn parse(header: &[u8; CHUNK_HEADER]) -> Result<Self, Defect> {
        if !is_sealed(header) {
            return Err(Defect::new("a chunk header whose checksum is wrong", "an undamaged one"));
        }
        let flags = u16_at(header, 2);
        let kind = ChunkKind::from_code(header[0]);
        if kind.is_none() && flags & SKIPPABLE == 0 {
            let found = format!("a chunk of the unknown kind {:#04x}", header[0]);
            return Err(Defect::unknown(found, "a known kind, or one marked as not needed"));
        }
        if flags & !SKIPPABLE != 0 {
            return Err(Defect::unknown(format!("chunk flags {flags:#06x}"), "no other flag than 0x0001"));
        }
        let codec = match header[1] {
            0 => Codec::Stored,
            1 => Codec::Lz4,
            other => return Err(Defect::unknown(format!("codec {other}"), "0 (stored) or 1 (LZ4)")),
        };
        let [stored_len, raw_len, checksum] = [4, 8, 12].map(|at| u32_at(header, at));
        if stored_len > MAX_CHUNK_BYTES || raw_len > MAX_CHUNK_BYTES {
            let found = format!("a chunk of {} bytes", stored_len.max(raw_len));
            return Err(Defect::new(found, format!("at most {MAX_CHUNK_BYTES}")));
        }
        if codec == Codec::Stored && stored_len != raw_len {
            let found = format!("{stored_len} bytes stored for a payload of {raw_len}");
            return Err(Defect::new(found, "as many, since it is not compressed"));
        }
        Ok(ChunkHeader { kind, codec, stored_len, raw_len, checksum })
    }
}

fn seal(header: &mut [u8; CHECKED + 4]) {
    let checksum = crc32fast::hash(&header[..CHECKED]);
    header[CHECKED..].copy_from_slice(&checksum.to_le_bytes());
}

fn is_sealed(header: &[u8; CHECKED + 4]) -> bool {
    crc32fast::hash(&header[..CHECKED]) == u32_at(header, CHECKED)
}

fn u16_at(header: &[u8; 20], at: usize) -> u16 {
    u16::from_le_bytes([header[at], header[at + 1]])
}

fn u32_at(header: &[u8; 20], at: usize) -> u32 {
    u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
}
