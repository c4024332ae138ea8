//! What addresses of a program mean: functions, lines, variables, fields.
//!
//! A [`Module`] is one ELF file with its debug information; a [`Program`] is the modules of one process,
//! each where it was loaded, and opened only when an address in it is asked for.
//!
//! Claimed:
//!
//! - DWARF 4 and 5 of C, C++ and Rust, as gcc, clang and rustc write it, compressed or not, in the file
//!   itself or in a separate file found by build id or debug link. Without it, the ELF symbol table.
//! - Whatever bytes a file holds, nothing here panics, overflows the stack, or allocates out of
//!   proportion to the file: what cannot be read is an error when opening, or unknown when asked.
//!
//! Not there:
//!
//! - split DWARF (`.dwo`, `.dwp`), type units (`-fdebug-types-section`), and supplementary files as `dwz`
//!   makes them: what they hold is unknown;
//! - variables that are not at one address: locals, parameters, thread-local ones, anything on the heap;
//! - relocatable object files, and formats other than ELF.
//!
//! This crate **never** runs a program or looks at a live one, **never** guesses a name, and **never**
//! maps a file: a file that is truncated while we hold it must not kill us.
//!
//! | module | holds |
//! |---|---|
//! | `module`, `program` | the questions that can be asked |
//! | `elf`, `debug_file`, `symbol_table` | the file, the file beside it, and what they say without DWARF |
//! | `debug_info`, `dies`, `survey` | DWARF: lookups, entries by offset, what one walk over all entries notes |
//! | `names`, `demangle` | how functions and variables are called |
//! | `layout`, `member` | how types are laid out, and how a part of a value is written |

mod debug_file;
mod debug_info;
mod demangle;
mod dies;
mod elf;
mod error;
mod layout;
mod member;
mod module;
mod names;
mod program;
mod survey;
mod symbol_table;

pub use error::SymbolsError;
pub use layout::TypeId;
pub use module::{Frame, Module, Variable};
pub use program::Program;
