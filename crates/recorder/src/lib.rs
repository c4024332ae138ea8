//! Runs a program under the runtime and makes its trace.
//!
//! The program and the runtime inside it write records into memory that they share with this process;
//! here they are read as they come, given their names, and written as events. If the program dies,
//! what it did before is in the trace.
//!
//! Claimed: what the runtime logged arrives, in its order, and nothing else; the trace is well-formed
//! whatever was logged; the program is never held up for longer than it takes to read behind it.
//!
//! This crate **never** analyses a trace, decides who runs, or prints.
//!
//! | module | holds |
//! |---|---|
//! | `request`, `record`, `outcome` | a recording, in as many runs as it takes: what is asked for, how it is made, what came of it |
//! | `directions`, `identity` | running a program in another order: turns, and what events go by in another run |
//! | `control`, `launch`, `stdin`, `capture`, `drain` | one run: the shared file, the process, its input and output, reading its log |
//! | `survey`, `lineage`, `skeleton`, `hot`, `notice` | what a run was: its schedule, whether another was the same, what is shared |
//! | `assemble` | from records to events |
//! | `symbolize`, `symbols` | what addresses mean |
//! | `output`, `compare`, `error` | the trace file; whether two are the same; what can go wrong |

mod assemble;
mod capture;
mod compare;
mod control;
mod directions;
mod drain;
mod error;
mod hot;
mod identity;
mod launch;
mod lineage;
mod notice;
mod outcome;
mod output;
mod record;
mod request;
mod skeleton;
mod stdin;
mod survey;
mod symbolize;
mod symbols;
#[cfg(test)]
mod testing;

pub use assemble::RegionOptions;
pub use capture::{CapturedOutput, Printing};
pub use compare::{CompareError, Comparison, Mismatch, Suspect, compare};
pub use directions::{Births, Directed, Directions, SharedLocations};
pub use error::RecordError;
pub use identity::EventIdentity;
pub use interloper_wire::{Direction as Turn, Kind as RecordKind, Policy, Until};
pub use launch::{Exit, Launch, Observer};
pub use notice::{RunNotice, Wait};
pub use outcome::{How, Note, RecordOutcome};
pub use record::record;
pub use request::{Effort, RecordRequest};
pub use skeleton::Difference;
pub use stdin::Input;
