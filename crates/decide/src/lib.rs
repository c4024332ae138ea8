//! Whether a violation can happen, decided by a solver in a model of the trace.
//!
//! | module | holds |
//! |---|---|
//! | `candidate` | what is asked about |
//! | `outline` | the trace, reduced to what threads can notice of each other |
//! | `causal` | the maximal causal model of a window of it, as a formula |
//! | `forced` | what every schedule keeps in order, by vector clocks: most candidates fall here |
//! | `flips` | schedules that lead off the observed paths |
//! | `verdicts` | questions, windows, budgets |
//! | `script` | formulas and questions as text |
//!
//! Claimed: [`Decision::Feasible`] comes with a schedule that is in the model; [`Decision::Infeasible`] means
//! that there is none in the whole trace, whatever window was looked at. Both hold for sequential
//! consistency and for the events of the trace: what threads would do on other paths is not in the model.
//! Neither is to be believed: schedules are re-checked by the interpreter of `interloper_witness`, and tests
//! compare with all schedules of small traces.
//!
//! This crate **never** prints, reads files, or runs anything.

mod candidate;
mod causal;
mod flips;
mod forced;
mod outline;
mod script;
#[cfg(test)]
mod tests;
mod verdicts;

pub use candidate::{Candidate, Class};
pub use flips::{Find, Flip, Flipped, Flipper, flips};
pub use outline::Outline;
pub use script::script;
pub use verdicts::{Ask, Decision, Decisions, Limits, MemoryLimit, Order, Progress, Unknown, decide};
