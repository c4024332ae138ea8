//! What came of a recording.

use crate::capture::CapturedOutput;
use crate::directions::{Births, Directed, SharedLocations};
use crate::identity::EventIdentity;
use crate::launch::Exit;
use crate::notice::RunNotice;
use crate::skeleton::Difference;
use interloper_witness::Schedule;

/// What came of it.
#[derive(Clone, Debug)]
pub struct RecordOutcome {
    /// How the program ended, the first time.
    pub exit: Exit,
    /// How the trace came about.
    pub how: How,
    /// The schedule of the recorded run.
    pub schedule: Schedule,
    /// How many steps it had.
    pub steps: u64,
    /// How many events there are.
    pub events: u64,
    /// Of how many threads.
    pub threads: u64,
    /// The size of the trace in bytes.
    pub bytes: u64,
    /// What the runtime had to tell.
    pub notices: Vec<RunNotice>,
    /// What we have to tell.
    pub notes: Vec<Note>,
    /// Whether it followed its directions, if it had any.
    pub directed: Option<Directed>,
    /// A run was killed because it took too long.
    pub timed_out: bool,
    /// What the program printed, the first time, if that is kept.
    pub output: Option<CapturedOutput>,
    /// The time the program found, in nanoseconds since 1970.
    pub start_time: u64,
    /// The program was loaded at addresses that were chosen at random.
    pub random_addresses: bool,
    /// The locations that the trace is about.
    pub shared: SharedLocations,
    /// The numbers that threads had in the run.
    pub births: Births,
    /// The same numbers, by the ids that threads have in the trace.
    pub thread_numbers: Vec<u32>,
    /// For each event of the trace what it goes by in another run, if it has an identity; nothing, unless
    /// [that was asked for](crate::RecordRequest::identify).
    pub identities: Vec<Option<EventIdentity>>,
}

/// How a trace came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The program was only run.
    NotRecorded,
    /// One run, of which everything is in the trace.
    Full,
    /// One run, of which the shared locations are in the trace.
    Once,
    /// One run found out what is shared, another logged that.
    Twice,
    /// As before, but the second run was not like the first, so everything is in the trace of a third.
    FullAfter(Difference),
    /// A first run that was ended from outside: the trace is its beginning.
    Beginning,
}

/// Something about the recording that the user should know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// The program said nothing at all.
    #[error("the program ended before its first turn, so there is nothing to record")]
    Silent,
    /// The program wrote into memory that is ours.
    #[error("the log could not be read to its end: the program must have overwritten it")]
    Garbled,
    /// Records that cannot be.
    #[error("{0} records made no sense after those before them, and are left out")]
    Dropped(u64),
    /// The trace could not be written to its end.
    #[error("the trace could not be written to its end, what was written is kept: {0}")]
    Unwritten(String),
    /// Addresses are chosen at random.
    #[error("the system refuses to load programs at fixed addresses; everything is recorded, in one run")]
    RandomAddresses,
    /// The schedule goes on where the program ended.
    #[error("the program ended after {done} of the {planned} turns of the schedule")]
    EndedEarly {
        /// Turns there were.
        done: u64,
        /// Turns there should have been.
        planned: u64,
    },
}
