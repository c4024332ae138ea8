//! Functions of libc that are not about waiting for other threads.

pub(crate) mod blocking;
mod files;
pub(crate) mod memory;
mod process;
mod strings;
mod time;
