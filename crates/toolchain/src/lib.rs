//! Compiling programs for recording, and telling whether a binary can be recorded.
//!
//! A program is recorded by a library of ours that takes the place of ThreadSanitizer's. This crate
//! gets programs into that state and knows which ones are in it:
//!
//! - [`Driver`] is a compiler driver around gcc or clang. It *claims* that every two accesses of one
//!   function that the source has, and that could be the two local accesses of a violation, are still
//!   two calls into the runtime, whatever `-O` says (`flags` says how and what is missed); that the
//!   result links our runtime and no other; and that everything else is the compiler's doing: its
//!   output, its messages, its exit status.
//! - [`Installation`] finds the runtime library and the header that belong to an `interloper` executable.
//! - [`inspect()`] tells from an ELF file whether and how it can be recorded.
//!
//! This crate **never** runs the program it built, knows nothing of traces, and never writes to
//! standard output.

mod arguments;
mod choice;
mod compile;
mod flags;
mod inspect;
mod locate;
mod response_file;

pub use choice::{ChoiceError, Compiler, Environment, Family, Language};
pub use compile::{CompileError, Driver, Prepared};
pub use inspect::{InspectError, Instrumentation, has_debug_info, inspect};
pub use locate::{
    HEADER_NAME, Installation, LocateError, RUNTIME_NAME, SHIM_NAMES, include_directory, runtime_directory,
    shim_directory,
};
