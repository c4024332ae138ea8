//! What compilers call: the interface of ThreadSanitizer and of coverage instrumentation.

mod annotations;
mod atomics;
mod coverage;
mod functions;
mod plain;
mod wide_atomics;
