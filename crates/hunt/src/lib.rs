//! The whole way on a program: record it, climb the ladder, execute what that found, and look further.
//!
//! | module | holds |
//! |---|---|
//! | `request`, `caught` | what is asked for, and what comes of it |
//! | `runs` | running the program, and reading what was recorded |
//! | `execute` | a witness on the program: directed there, and judged by a checker that knows nothing of that |
//! | `aftermath`, `harm` | what comes of it: whether a serial order explains it, and what it does that serial runs do not |
//! | `explore` | the next path to take: reads that are made to find something else |
//! | `hunt` | the circle of all these |
//!
//! Claimed: what is called confirmed happened in a run of the program, as
//! [`confirm`](interloper_witness::confirm) judges on the trace of that run; its schedule is kept, and replays it.
//!
//! What is called harm was seen in that run, and in none of those it is compared with; `benign` says that of the runs
//! that were made, and no more.
//!
//! This crate **never** prints, and decides nothing about traces itself: the ladder, the checker of recorded runs and
//! the judge of atomicity do.

mod aftermath;
mod caught;
mod execute;
mod explore;
mod harm;
mod hunt;
mod request;
mod runs;

pub use caught::{Atomicity, Caught, Confirmation, Ending, Explored, Hunted, ObservedRun, Outcome, Totals, Verdict};
pub use harm::{Harm, HarmKind};
pub use hunt::hunt;
pub use request::{Explore, HuntError, HuntObserver, HuntRequest, Stage};
