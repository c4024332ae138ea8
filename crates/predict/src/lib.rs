//! Prediction without a solver: one module for each rung of the ladder that is linear in the trace.
//!
//! | module | answers | from |
//! |---|---|---|
//! | [`lockset`] | which three accesses could violate atomicity, as far as locks, fork and join tell | the CAV'09 meta-analysis |
//! | [`filter`] | which of these read-after-write relations make implausible | AVFilter, corrected |
//! | [`serial`] | whether the observed order itself was conflict-serializable | after Velodrome and AeroDrome |
//!
//! This crate **never** reads files and knows no solver. Analyses are fed events one by one and
//! asked at the end, so they run on a trace of any length, and could run inside the traced process.

pub mod filter;
pub mod lockset;
pub mod serial;
#[cfg(test)]
mod testing;
mod triple;

pub use triple::{Access, RegionSpan, Triple};
