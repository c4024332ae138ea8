//! Errors in traces: where, what was found, what was expected.

use crate::tables::TableFull;
use std::fmt;
use std::io;

/// Why a trace could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The input itself failed.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// The input is not a well-formed trace.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The input names more things than ids can tell apart.
    #[error(transparent)]
    TableFull(#[from] TableFull),
}

/// A defect of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where it is.
    pub place: Place,
    /// What is there. Text of the input is quoted and escaped.
    pub found: String,
    /// What should have been there.
    pub expected: String,
}

impl Malformed {
    /// A defect at a place.
    pub fn new(place: Place, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Malformed { place, found: found.into(), expected: expected.into() }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}, expected {}", self.place, self.found, self.expected)
    }
}

impl std::error::Error for Malformed {}

/// A place in an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line, counted from one.
    Line(u64),
    /// A byte, counted from zero.
    Byte(u64),
    /// An event, where the format has no handier place; with the byte where its chunk begins.
    Event {
        /// Its index, counted from zero.
        index: u64,
        /// The byte offset of the chunk that holds it.
        chunk: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
            Place::Event { index, chunk } => write!(f, "event {index} (in the chunk at byte {chunk})"),
        }
    }
}

/// Quotes text of the input for a message: escaped, and cut if it is long.
pub fn quote(text: &[u8]) -> String {
    const LONGEST: usize = 60;
    let shown = String::from_utf8_lossy(&text[..text.len().min(LONGEST)]);
    let dots = if text.len() > LONGEST { "…" } else { "" };
    format!("\"{}{dots}\"", shown.escape_debug())
}
