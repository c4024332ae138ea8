//! Witnesses: schedules as values and as text, and the judges of what they show.
//!
//! This crate reads traces, as events in memory. It **never** runs a program or uses a solver, and shares
//! no code with what does.
//!
//! | module | holds |
//! |---|---|
//! | `schedule` | schedules counted in steps of a run, and their text |
//! | `events` | schedules counted in events of a trace, and their text |
//! | [`interpret`] | the trace model as a machine: is an order of events one that could have happened? |
//! | [`mod@minimise`] | the same triple with fewer switches |
//! | [`mod@reference`] | every triple that any such order shows, by brute force |
//! | [`confirm`] | whether a recorded run shows a violation that was predicted |

pub mod confirm;
mod events;
pub mod interpret;
pub mod minimise;
pub mod reference;
mod schedule;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use events::{EventSchedule, EventTurn, OrderError};
pub use schedule::{Schedule, ScheduleError};
