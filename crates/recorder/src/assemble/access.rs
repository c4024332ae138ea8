//! Loads and stores.

use super::Assembler;
use super::emit::Part;
use crate::symbolize::Symbolizer;
use interloper_trace::{Access, MemoryOrder, Op, ReadModifyWrite, TableFull, Value};
use interloper_wire::{AccessFlags, Kind, Record, RecordHeader};

impl<S: Symbolizer> Assembler<S> {
    /// An access, or a piece of one. Of several pieces those are taken that are wanted.
    pub(super) fn access(&mut self, record: &Record<'_>) -> Result<(), TableFull> {
        if self.only.is_none() {
            return self.piece(&record.header, &record.words);
        }
        self.pieces.push((record.header, record.words));
        if flags(&record.header).has(AccessFlags::MORE) {
            return Ok(());
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.retain(|(header, _)| self.is_wanted(header));
        for (position, (header, words)) in pieces.iter().enumerate() {
            let is_last = position + 1 == pieces.len();
            self.piece(&if is_last { without_more(header) } else { *header }, words)?;
        }
        pieces.clear();
        self.pieces = pieces;
        Ok(())
    }

    fn is_wanted(&self, header: &RecordHeader) -> bool {
        let Some(hot) = &self.only else { return true };
        let last = header.address + u64::from(header.arg.max(1)) - 1;
        (header.address & !7..=last)
            .step_by(8)
            .any(|address| hot.contains(self.memory.cell(address.max(header.address))))
    }

    fn piece(&mut self, header: &RecordHeader, words: &[u64; 4]) -> Result<(), TableFull> {
        let RecordHeader { kind, arg, address, pc, aux } = *header;
        self.identify(header);
        let flags = flags(header);
        let size = u32::from(arg);
        let location = self.naming(|names, naming| names.location(address, naming))?;
        let more = flags.has(AccessFlags::MORE);
        let order = if matches!(kind, Kind::Read | Kind::Write) { MemoryOrder::Plain } else { order(aux as u8) };
        let value_of = |word: u64| value(word, size);
        let access = Access { location, size, order, more, value: value_of(words[0]) };
        let op = match kind {
            Kind::Read | Kind::AtomicRead => Op::Read(access),
            Kind::Write | Kind::AtomicWrite => Op::Write(access),
            _ => {
                let success = !flags.has(AccessFlags::FAILED);
                Op::ReadModifyWrite(ReadModifyWrite {
                    location,
                    // Wider ones have no room in the model.
                    size: if arg > 8 { 0 } else { arg },
                    order,
                    success,
                    more,
                    read: if arg > 8 { Value::UNKNOWN } else { value_of(words[0]) },
                    written: if success && arg <= 8 { value_of(words[1]) } else { Value::UNKNOWN },
                })
            }
        };
        let goes_on = std::mem::replace(&mut self.threads[self.current].goes_on, more);
        let last = self.threads[self.current].last;
        let in_range = flags.has(AccessFlags::RANGE) && last.is_some_and(|(_, last_pc)| last_pc == pc);
        let part = if goes_on || in_range { Part::Further } else { Part::Own };
        self.act_as(part, kind, pc, op, None).map(drop)
    }
}

fn flags(header: &RecordHeader) -> AccessFlags {
    AccessFlags(match header.kind {
        Kind::Read | Kind::Write => header.aux as u8,
        _ => (header.aux >> 8) as u8,
    })
}

/// The last piece of an access.
fn without_more(header: &RecordHeader) -> RecordHeader {
    let shift = if matches!(header.kind, Kind::Read | Kind::Write) { 0 } else { 8 };
    RecordHeader { aux: header.aux & !(u16::from(AccessFlags::MORE) << shift), ..*header }
}

/// A value of so many bytes; wider ones, and those of unknown width, are not known.
pub(super) fn value(word: u64, size: u32) -> Value {
    match size {
        1..8 => Value::known(word & ((1 << (8 * size)) - 1)),
        8 => Value::known(word),
        _ => Value::UNKNOWN,
    }
}

/// The order with this code; an atomic access has at least the weakest.
pub(super) fn order(code: u8) -> MemoryOrder {
    match code {
        0 | 1 => MemoryOrder::Relaxed,
        2 => MemoryOrder::Consume,
        3 => MemoryOrder::Acquire,
        4 => MemoryOrder::Release,
        5 => MemoryOrder::AcquireRelease,
        _ => MemoryOrder::SequentiallyConsistent,
    }
}
