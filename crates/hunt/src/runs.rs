//! Running the program, and reading what was recorded.

use crate::caught::{Ending, Outcome};
use crate::harm::final_state;
use crate::request::{HuntError, HuntObserver, HuntRequest};
use interloper_ladder::Trace;
use interloper_recorder::{
    CapturedOutput, Directions, Input, Policy, Printing, RecordError, RecordOutcome, RecordRequest, RunNotice, record,
};
use interloper_trace::file::{ReadOptions, TraceReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A run that takes so many times as long as the first will not end.
const PATIENCE: u32 = 10;

/// How many steps a thread has at a time, on average, where threads are to get in each other's way.
const RESTLESS: u64 = 8;

/// Runs the program again and again, under the same circumstances.
pub(crate) struct Runner<'r> {
    request: &'r HuntRequest,
    input: Option<Input>,
    start_time: Option<u64>,
    /// How long a run may take, after the first.
    time_limit: Duration,
    pub(crate) executions: u64,
    /// Where traces go until it is known that they are worth keeping.
    scratch: tempfile::TempDir,
    kept: u64,
}

/// A run, with its trace.
pub(crate) struct Run {
    pub(crate) outcome: RecordOutcome,
    pub(crate) trace: Trace,
    pub(crate) path: PathBuf,
    /// What came of it.
    pub(crate) ending: Ending,
}

impl Run {
    fn new(outcome: RecordOutcome, trace: Trace, path: PathBuf) -> Self {
        let nothing = CapturedOutput { stdout: Vec::new(), stderr: Vec::new(), truncated: false };
        let ending = Ending {
            outcome: ended(&outcome),
            output: outcome.output.clone().unwrap_or(nothing),
            state: final_state(&trace.events, &trace.tables),
        };
        Run { outcome, trace, path, ending }
    }
}

/// How a run ended.
fn ended(outcome: &RecordOutcome) -> Outcome {
    let deadlocked = outcome.notices.iter().any(|notice| matches!(notice, RunNotice::Deadlock { .. }));
    match outcome.timed_out {
        true => Outcome::TimedOut,
        false if deadlocked => Outcome::Deadlock,
        false => Outcome::Ended(outcome.exit),
    }
}

impl<'r> Runner<'r> {
    pub(crate) fn new(request: &'r HuntRequest) -> Result<Self, HuntError> {
        let scratch = tempfile::tempdir().map_err(HuntError::Folder)?;
        let input = match request.record.input.clone() {
            Some(input) => Some(input),
            None => Some(Input::of_process().map_err(RecordError::Stdin)?),
        };
        let start_time = request.record.start_time;
        let time_limit = request.time_limit;
        Ok(Runner { request, input, start_time, time_limit, executions: 0, scratch, kept: 0 })
    }

    /// Whether the program may be run again.
    pub(crate) fn may_run(&self, observer: &mut dyn HuntObserver) -> bool {
        let is_late = self.request.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        !is_late && self.executions < self.request.runs && !observer.is_interrupted()
    }

    /// The first run, as the user asked for it.
    pub(crate) fn first(&mut self, observer: &mut dyn HuntObserver) -> Result<Run, HuntError> {
        let request = RecordRequest { identify: true, input: self.input.clone(), ..self.request.record.clone() };
        let begun = Instant::now();
        let run = self.run(request, observer)?;
        self.time_limit = self.time_limit.max(PATIENCE * begun.elapsed());
        self.start_time = Some(run.outcome.start_time);
        Ok(run)
    }

    /// A run along directions.
    pub(crate) fn directed(
        &mut self,
        directions: Directions,
        observer: &mut dyn HuntObserver,
    ) -> Result<Run, HuntError> {
        let path = self.scratch.path().join(format!("{}.ilt", self.executions));
        let request = RecordRequest { directions: Some(directions), ..self.further(path) };
        self.run(request, observer)
    }

    /// A run along directions that goes on at random when they are used up.
    pub(crate) fn directed_then_random(
        &mut self,
        directions: Directions,
        seed: u64,
        observer: &mut dyn HuntObserver,
    ) -> Result<Run, HuntError> {
        let path = self.scratch.path().join(format!("{}.ilt", self.executions));
        let request = RecordRequest {
            directions: Some(directions),
            policy: Policy::Random,
            quantum: RESTLESS,
            seed,
            ..self.further(path)
        };
        self.run(request, observer)
    }

    /// A run along the schedule of an earlier one, to see more of it.
    pub(crate) fn again(&mut self, of: &RecordOutcome, observer: &mut dyn HuntObserver) -> Result<Run, HuntError> {
        let path = self.scratch.path().join(format!("{}.ilt", self.executions));
        let request = RecordRequest { schedule: Some(of.schedule.clone()), identify: true, ..self.further(path) };
        self.run(request, observer)
    }

    /// Keeps the trace of a run.
    pub(crate) fn keep(&mut self, path: &Path) -> Result<PathBuf, HuntError> {
        self.kept += 1;
        let kept = self.request.folder.join(format!("run-{}.ilt", self.kept));
        std::fs::copy(path, &kept).map_err(HuntError::Folder)?;
        Ok(kept)
    }

    fn further(&self, path: PathBuf) -> RecordRequest {
        RecordRequest {
            output: Some(path),
            input: self.input.clone(),
            printing: Printing::Captured,
            start_time: self.start_time,
            time_limit: Some(self.time_limit),
            schedule: None,
            ..self.request.record.clone()
        }
    }

    fn run(&mut self, request: RecordRequest, observer: &mut dyn HuntObserver) -> Result<Run, HuntError> {
        self.executions += 1;
        let outcome = record(&request, observer)?;
        let path = request.output.unwrap_or_default();
        let trace = read(&path)?;
        Ok(Run::new(outcome, trace, path))
    }
}

fn read(path: &Path) -> Result<Trace, HuntError> {
    let unreadable = |reason: String| HuntError::Unreadable { path: path.to_owned(), reason };
    let mut reader = TraceReader::open(path, ReadOptions::default()).map_err(|error| unreadable(error.to_string()))?;
    Trace::read(&mut reader).map_err(|error| unreadable(error.to_string()))
}
