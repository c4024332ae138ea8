//! The library inside a recorded program: it is called at every access, takes the place of the functions by
//! which threads wait for each other, decides who runs, and logs what happens.
//!
//! ```text
//!   compiled code ──▶ abi ────────┐
//!                                 ├──▶ scheduler (whose turn) ──▶ log ──▶ ring ──▶ recorder
//!   calls of libc ──▶ sync,  ─────┘    shadow (what is shared)
//!                     libc_calls
//! ```
//!
//! It **never** allocates from the program's heap, writes to its files, or depends on anything of ours but
//! `wire`; nor does it know what events mean or where they are in the source, which is the recorder's business.
//!
//! # Why `unsafe`, and what it rests on
//!
//! This code runs inside another program, is called by compiled code with raw addresses, and replaces parts of
//! libc. Its own data are safe for one reason: *only one thread at a time has the token*, and nearly everything is
//! touched by that thread only (`thread::Guarded`). A `call::Call` is proof that the running thread has the token
//! and that it is in the runtime on the program's behalf. What threads without the token touch as well is under the
//! scheduler's lock. Each module says what else it needs.
//!
//! Without a recorder, that is without the variable [`interloper_wire::VARIABLE`], every function does what it would
//! have done without us.
//!
//! Linux on x86-64 with glibc only.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
compile_error!("the runtime is for Linux on x86-64 with glibc");

mod abi;
mod call;
mod clock;
mod current;
mod heap;
mod inputs;
mod libc_calls;
mod log;
mod memory;
mod places;
mod random;
mod ranges;
mod scheduler;
mod shadow;
mod signals;
mod start;
mod sync;
mod sys;
mod thread;
