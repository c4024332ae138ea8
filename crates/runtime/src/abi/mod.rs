//! What compilers call: the interface of ThreadSanitizer and of coverage instrumentation.

mod accepted;
mod annotations;
mod atomics;
mod coverage;
pub(crate) mod fibers;
mod functions;
mod plain;
mod wide_atomics;
