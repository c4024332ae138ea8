//! Why a file says nothing about its addresses.

use std::io;

/// Why a module could not be opened. Debug information that cannot be read is no such reason: the symbol
/// table still serves; see [`Module::debug_info_error`](crate::Module::debug_info_error).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolsError {
    /// The file itself could not be read.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// A directory, a pipe, a device: nothing that can be read from end to end.
    #[error("found something that is no regular file, expected an ELF file")]
    NotRegular,
    /// The file is of another kind.
    #[error("found {found}, expected a linked ELF file")]
    NotElf {
        /// What it is instead.
        found: &'static str,
    },
    /// The file begins like an ELF file, but is none.
    #[error("malformed ELF file: {0}")]
    Malformed(#[from] object::Error),
    /// The section headers promise more than there is.
    #[error("malformed ELF file: section {0} does not fit into it")]
    Section(&'static str),
}
