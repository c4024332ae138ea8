//! Functions of libc that are not about waiting for other threads.

pub(crate) mod blocking;
mod files;
mod formats;
mod forwards;
pub(crate) mod memory;
mod passage;
mod polling;
mod printed;
mod process;
mod sockets;
mod streams;
mod strings;
mod texts;
mod time;
