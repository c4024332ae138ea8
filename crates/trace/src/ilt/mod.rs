//! `.ilt`, the trace format of Interloper: written as events happen, read as a stream.
//!
//! A file is a header and then chunks, each with its own checksums: increments of the tables,
//! events, and an end mark. What stands before a crash, a cut or a flipped bit can be read, and
//! nothing that stands after it is ever taken for events. `docs/trace-format.md` describes every
//! byte; whoever changes the format changes that document, and the tests hold the two together.
//!
//! The reader checks form and references: every id of an event it hands out is in its table. It
//! **never** judges behaviour; whether a lock may be released where it is, is for the model to say.
//!
//! | module | holds |
//! |---|---|
//! | `wire` | magic, version, chunk headers, limits |
//! | `varint` | numbers, and reading them off a slice |
//! | `tags`, `encode`, `decode`, `fast` | single events: their tags, writing, reading, and reading the frequent ones quickly |
//! | `increment` | the chunks that extend the tables |
//! | `gather`; `events`, `segments` | the chunk that holds events of all threads and their order, on the way out and in |
//! | `reader`, `writer` | whole files |

mod decode;
mod encode;
mod events;
mod fast;
mod gather;
mod increment;
mod reader;
mod segments;
mod tags;
mod varint;
mod wire;
mod writer;

pub use reader::{Completeness, IltReader};
pub use wire::{MAGIC, MAX_CHUNK_BYTES, MAX_STRING_BYTES, VERSION, Version};
pub use writer::{IltOptions, IltWriter};

use crate::tables::{NameTable, Tables};

/// What is wrong inside a chunk; the reader knows where that is.
#[derive(Debug)]
struct Defect {
    found: String,
    expected: String,
    /// Whether a later version of the format may have given it a meaning.
    unknown: bool,
}

impl Defect {
    fn new(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Defect { found: found.into(), expected: expected.into(), unknown: false }
    }

    fn unknown(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Defect { unknown: true, ..Defect::new(found, expected) }
    }
}

/// How many entries each table has: ids of events must be below.
#[derive(Clone, Copy, Debug)]
struct Limits {
    strings: u64,
    threads: u64,
    locks: u64,
    conditions: u64,
    semaphores: u64,
    barriers: u64,
    onces: u64,
    locations: u64,
    sites: u64,
}

impl Limits {
    fn of(tables: &Tables) -> Self {
        let names = |table| tables.names(table).len() as u64;
        Limits {
            strings: tables.strings.len() as u64,
            threads: names(NameTable::Threads),
            locks: names(NameTable::Locks),
            conditions: names(NameTable::Conditions),
            semaphores: names(NameTable::Semaphores),
            barriers: names(NameTable::Barriers),
            onces: names(NameTable::Onces),
            locations: tables.locations().len() as u64,
            sites: tables.sites().len() as u64,
        }
    }

    /// Whether a site is a bare line, or an entry of the table.
    #[inline]
    fn has_site(&self, raw: u32) -> bool {
        u64::from(raw) < self.sites || raw >> 31 == 1
    }
}

/// What the events of a thread are written relative to: its previous ones in the same chunk.
#[derive(Clone, Copy, Debug, Default)]
struct Previous {
    site: u32,
    location: u32,
    expr: u32,
}
