//! Synthetic traces of known shapes, for tests and benchmarks.
//!
//! A [`Generator`] is an [`EventSource`](interloper_trace::EventSource) like any reader of a file:
//! it makes its events as they are asked for, in memory that depends on the threads, locks and
//! variables but not on the length. Every trace is well-formed: it could be the record of a run,
//! and it may end anywhere, inside regions and with locks held.
//!
//! **The same shape, options and seed give the same trace for ever.** All chance comes from
//! `Pcg64Mcg` (PCG XSL 128/64, multiplicative), seeded by its `seed_from_u64` and brought into a
//! range by one multiplication; golden hashes in the tests hold every shape to it. A figure or a
//! failure can therefore be passed on as a command line instead of a file.
//!
//! This crate **never** analyses what it makes, and never reads or writes files.
//!
//! | shape | is |
//! |---|---|
//! | [`Shape::Bank`] | two-phase transactions over accounts; serializable by construction |
//! | [`Shape::Raytracer`] | everybody adds to one sum, each under a lock of its own |
//! | [`Shape::Elevator`] | long regions over deep lock stacks: very many acquisition histories |
//! | [`Shape::Needles`] | a bank, and a known number of candidates strewn into it |
//! | [`Shape::Random`] | anything a trace may hold |

mod bank;
mod dice;
mod elevator;
mod generator;
mod needles;
mod options;
mod random;
mod raytracer;
mod step;
mod turns;

pub use generator::Generator;
pub use options::{MAX_NAMES, Mix, Options, OptionsError, Shape};
