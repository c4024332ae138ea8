//! Schedules: who runs when, as a value and as text.
//!
//! This crate **never** runs a program, reads a trace or uses a solver.

mod schedule;

pub use schedule::{Schedule, ScheduleError};
