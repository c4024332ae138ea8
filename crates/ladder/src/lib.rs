//! The ladder, on one trace: predict, decide, re-check, minimise.
//!
//! Each rung is another crate's work; here it is said in which order they are climbed, and what counts as what.
//!
//! | module | holds |
//! |---|---|
//! | `trace` | a trace in memory |
//! | `candidates` | the rung of lock sets: which triples there are to decide, and what each represents |
//! | `sift` | the rung of the filter |
//! | `causal` | the rung of the solver, and the re-check of what it says |
//! | `formula` | what that rung asks, as text |
//!
//! Claimed: every finding that is called feasible has a witness that the interpreter accepted. A schedule that it
//! does not accept is a defect of ours: it ends the climb ([`LadderError::BadWitness`]), and is never reported.
//!
//! This crate **never** prints, reads files, or runs a program.

mod candidates;
mod causal;
mod formula;
mod sift;
#[cfg(test)]
mod tests;
mod trace;

pub use candidates::{Census, Grouping, RepresentativeCount};
pub use causal::{Climb, Finding, LadderError, Options, Progress, Standing, Witness, climb};
pub use formula::formula;
pub use interloper_decide::{Limits, MemoryLimit, Unknown};
pub use sift::{Says, Sifted, sift};
pub use trace::Trace;
