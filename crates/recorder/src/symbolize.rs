//! What addresses mean, as far as the assembler asks.
//!
//! A trait, so that tests need no binaries.

use interloper_wire::Record;
use std::ops::Range;
use std::path::Path;

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The function, demangled.
    pub(crate) function: Option<String>,
    /// The file.
    pub(crate) file: Option<String>,
    /// The line.
    pub(crate) line: Option<u32>,
}

/// A variable with a fixed address, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Its name, down to the member where that is known.
    pub(crate) name: String,
    /// How far behind its beginning the address is.
    pub(crate) offset: u64,
}

/// Tells what addresses mean.
pub(crate) trait Symbolizer {
    /// A module is loaded: `bias` is what to subtract from addresses to get those in the file.
    fn add_module(&mut self, path: &Path, bias: u64, range: Range<u64>);
    /// The places in the source that an instruction belongs to, the innermost inlined one first.
    fn frames(&mut self, address: u64) -> Vec<Frame>;
    /// The variable that lies there, down to the innermost member.
    fn variable(&mut self, address: u64) -> Option<Variable>;
    /// The modules that were of use and have a build id, and those.
    fn build_ids(&self) -> Vec<(String, String)>;
}

/// Text of a record, for people.
pub(crate) fn text_of(record: &Record<'_>) -> String {
    String::from_utf8_lossy(record.text).into_owned()
}
