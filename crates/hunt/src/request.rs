//! What is asked for.

use crate::caught::Caught;
use interloper_ladder::{LadderError, Options, Progress};
use interloper_recorder::{Observer, RecordError, RecordOutcome, RecordRequest};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A hunt for violations in a program.
#[derive(Clone, Debug)]
pub struct HuntRequest {
    /// The program, and how it is run the first time.
    pub record: RecordRequest,
    /// How the ladder is climbed.
    pub ladder: Options,
    /// How far to leave the observed paths.
    pub explore: Explore,
    /// How often the program may be run.
    pub runs: u64,
    /// When to stop.
    pub deadline: Option<Instant>,
    /// How long one run may take, after the first; or ten times as long as that, if this is longer.
    pub time_limit: Duration,
    /// Where traces of runs go that are worth keeping; it exists.
    pub folder: PathBuf,
}

/// How far to leave the observed paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explore {
    /// Not at all.
    Off,
    /// For so many further runs.
    Runs(u64),
    /// Until there is no path left that a read could lead to.
    Exhaust,
}

/// Where a hunt is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Stage {
    /// The program is recorded.
    Recording,
    /// The ladder is climbed on a trace.
    Climbing(Progress),
    /// Witnesses are executed.
    Executing {
        /// How many have been.
        done: usize,
        /// Of how many.
        all: usize,
        /// How many violations happened, so far.
        confirmed: usize,
    },
    /// The program is led elsewhere.
    Exploring {
        /// Runs so far.
        runs: u64,
        /// Violations that happened, so far.
        confirmed: usize,
    },
}

/// Whoever waits for a hunt to end.
pub trait HuntObserver: Observer + Send {
    /// Called when it has come somewhere.
    fn at(&mut self, stage: Stage) {
        let _ = stage;
    }

    /// Called when a violation has happened, and again when it was judged what harm it does.
    fn caught(&mut self, caught: &Caught) {
        let _ = caught;
    }

    /// Called once the program has been recorded.
    fn recorded(&mut self, outcome: &RecordOutcome) {
        let _ = outcome;
    }
}

impl HuntObserver for () {}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HuntError {
    /// The program cannot be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A trace that was just recorded cannot be read.
    #[error("{}: cannot read what was recorded: {reason}", path.display())]
    Unreadable {
        /// The trace.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A defect of ours.
    #[error(transparent)]
    Ladder(#[from] LadderError),
    /// There is no place for traces.
    #[error("no place for traces of further runs: {0}")]
    Folder(#[source] std::io::Error),
}
