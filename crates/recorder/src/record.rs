//! One recording, in as many runs as it takes.
//!
//! A short program is run once: everything is logged and kept, and what two threads share is picked
//! out at the end. A long one would fill disks, so that its first run only finds out what is shared,
//! and the schedule; a second follows that schedule and logs the shared locations. Whether it did the
//! same as the first is checked; if not, the program is run once more, and everything is logged.

use crate::assemble::{Assembler, RegionOptions};
use crate::control::{Control, Orders};
use crate::drain::Consumer;
use crate::error::RecordError;
use crate::hot::HotSet;
use crate::launch::{Ended, Exit, Launch, Observer, Printing};
use crate::notice::RunNotice;
use crate::output::{TraceFile, Written};
use crate::skeleton::Difference;
use crate::stdin::Feed;
use crate::survey::Survey;
use crate::symbols::FileSymbols;
use interloper_wire::{Mode, Policy, Record, Records};
use interloper_witness::Schedule;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// What to record.
#[derive(Clone, Debug)]
pub struct RecordRequest {
    /// The program and how to start it.
    pub launch: Launch,
    /// Where the trace goes; without, the program is only run.
    pub output: Option<PathBuf>,
    /// Who decides which thread runs, if there is no schedule to follow.
    pub policy: Policy,
    /// What random choices are made from.
    pub seed: u64,
    /// After how many steps a thread gives way.
    pub quantum: u64,
    /// The number of ordering constraints of [`Policy::Pct`].
    pub depth: u64,
    /// About how many steps the run has, for [`Policy::Pct`].
    pub expected_steps: u64,
    /// The schedule to follow.
    pub schedule: Option<Schedule>,
    /// How much is logged.
    pub effort: Effort,
    /// What makes a region.
    pub regions: RegionOptions,
    /// How many bytes of log are kept in memory for a program that is run once.
    pub full_limit: u64,
    /// How many bytes of log the program may be ahead of us.
    pub ring_len: u64,
    /// The time the program finds, in nanoseconds since 1970; now, if not given.
    pub start_time: Option<u64>,
}

impl RecordRequest {
    /// A recording of a program, as is usual.
    pub fn new(command: Vec<OsString>) -> Self {
        RecordRequest {
            launch: Launch { command, library_folder: None, preload: None },
            output: None,
            policy: Policy::RunAhead,
            seed: 0,
            quantum: 1_000_000,
            depth: 3,
            expected_steps: 100_000,
            schedule: None,
            effort: Effort::Auto,
            regions: RegionOptions::default(),
            full_limit: 64 << 20,
            ring_len: 64 << 20,
            start_time: None,
        }
    }
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// What threads share, in one run or two.
    Auto,
    /// Everything, in one run.
    Full,
}

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

/// Records a program. Only if it cannot be started, or nothing can be recorded at all, is there an error; what was
/// at the place of the trace is left as it was then.
pub fn record(request: &RecordRequest, observer: &mut dyn Observer) -> Result<RecordOutcome, RecordError> {
    let mut session = Session::new(request, observer)?;
    let Some(path) = &request.output else { return session.only_run() };
    // Before the program is run, for nothing if it cannot be.
    let file = TraceFile::create(path).map_err(|source| RecordError::Output { path: path.clone(), source })?;
    match request.effort {
        Effort::Full => session.full(file, Printing::Through, None),
        Effort::Auto => session.auto(file),
    }
}

struct Session<'r> {
    request: &'r RecordRequest,
    observer: &'r mut dyn Observer,
    feed: Feed,
    start_time: u64,
    runs: u32,
}

impl<'r> Session<'r> {
    fn new(request: &'r RecordRequest, observer: &'r mut dyn Observer) -> Result<Self, RecordError> {
        let feed = match request.effort {
            Effort::Auto if request.output.is_some() => Feed::repeated().map_err(RecordError::Stdin)?,
            _ => Feed::once(),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
        Ok(Session { request, observer, feed, start_time: request.start_time.unwrap_or(now), runs: 0 })
    }

    /// Runs the program without a trace.
    fn only_run(&mut self) -> Result<RecordOutcome, RecordError> {
        let mut survey = Survey::new();
        let ended = self.run(Mode::Hot, None, &HotSet::default(), Printing::Through, &mut survey)?;
        check(&survey, &ended)?;
        Ok(self.outcome(&survey, How::NotRecorded, ended, Summary::default()))
    }

    fn full(
        &mut self,
        file: TraceFile,
        printing: Printing,
        after: Option<(Exit, Difference)>,
    ) -> Result<RecordOutcome, RecordError> {
        let mut stream = Stream::new(self.assembler(None), file);
        self.begin(&mut stream);
        let run = self.run(Mode::Full, None, &HotSet::default(), printing, &mut stream);
        let mut ended = match run.and_then(|ended| check(&stream.survey, &ended).map(|()| ended)) {
            Ok(ended) => ended,
            Err(error) => {
                stream.file.discard();
                return Err(error);
            }
        };
        let how = match after {
            None => How::Full,
            Some((exit, difference)) => {
                ended.exit = exit;
                How::FullAfter(difference)
            }
        };
        Ok(self.finish(stream, how, ended))
    }

    fn auto(&mut self, file: TraceFile) -> Result<RecordOutcome, RecordError> {
        let mut first = Kept { survey: Survey::new(), bytes: Vec::new() };
        let run = self.run(Mode::Try, None, &HotSet::default(), Printing::Through, &mut first);
        let ended = match run.and_then(|ended| check(&first.survey, &ended).map(|()| ended)) {
            Ok(ended) => ended,
            Err(error) => {
                file.discard();
                return Err(error);
            }
        };
        let Kept { survey, bytes } = first;
        let hot = survey.hot();
        let again = survey.is_partial && !self.ended_from_outside(ended.exit, &survey);
        if !again {
            let how = if survey.is_partial { How::Beginning } else { How::Once };
            let mut stream = Stream { survey, ..Stream::new(self.assembler(Some(hot)), file) };
            self.begin(&mut stream);
            for record in Records::new(&bytes) {
                stream.assemble(&record);
            }
            return Ok(self.finish(stream, how, ended));
        }
        drop(bytes);
        if ended.random_addresses {
            let mut outcome =
                self.full(file, Printing::Away, Some((ended.exit, Difference { agree: 0, before: 1 })))?;
            outcome.how = How::Full;
            outcome.notes.push(Note::RandomAddresses);
            return Ok(outcome);
        }
        self.second_run(file, &survey, ended, &hot)
    }

    /// The first run told what is shared; this one logs it.
    fn second_run(
        &mut self,
        file: TraceFile,
        first: &Survey,
        first_ended: Ended,
        hot: &HotSet,
    ) -> Result<RecordOutcome, RecordError> {
        let plan = first.schedule(first_ended.exit.is_crash());
        let mut stream = Stream::new(self.assembler(None), file);
        self.begin(&mut stream);
        let ended = self.run(Mode::Hot, Some(&plan), hot, Printing::Away, &mut stream)?;
        let difference = first.skeleton.difference(&stream.survey.skeleton);
        match difference {
            Some(difference) if !self.observer.is_interrupted() => {
                // What is in its buffers must not get into the next.
                stream.file.discard();
                let path = self.request.output.clone().unwrap_or_default();
                let file = TraceFile::create(&path).map_err(|source| RecordError::Output { path, source })?;
                self.full(file, Printing::Away, Some((first_ended.exit, difference)))
            }
            _ => Ok(self.finish(stream, How::Twice, Ended { exit: first_ended.exit, ..ended })),
        }
    }

    fn ended_from_outside(&mut self, exit: Exit, survey: &Survey) -> bool {
        // Who deadlocks is killed by the runtime, which says so first.
        let is_killed = matches!(exit, Exit::Signal(_)) && !exit.is_crash() && !survey.has_ended();
        self.observer.is_interrupted() || is_killed
    }

    fn assembler(&self, only: Option<HotSet>) -> Assembler<FileSymbols> {
        Assembler::new(FileSymbols::default(), self.request.regions.clone(), only)
    }

    fn run(
        &mut self,
        mode: Mode,
        plan: Option<&Schedule>,
        hot: &HotSet,
        printing: Printing,
        consumer: &mut impl Consumer,
    ) -> Result<Ended, RecordError> {
        let request = self.request;
        let plan = plan.or(request.schedule.as_ref());
        let hot_ranges = hot.to_ranges();
        let orders = Orders {
            mode,
            policy: if plan.is_some() { Policy::Replay } else { request.policy },
            seed: request.seed,
            quantum: request.quantum,
            depth: request.depth,
            expected_steps: request.expected_steps,
            full_limit: request.full_limit,
            start_time: self.start_time,
            ring_len: request.ring_len,
            plan: plan.map_or(&[], |plan| &plan.entries),
            hot: &hot_ranges,
        };
        self.runs += 1;
        self.observer.starting(self.runs);
        let control = Control::create(&orders).map_err(RecordError::Control)?;
        request.launch.run(&control, &mut self.feed, printing, consumer, self.observer)
    }

    /// Writes what is known before the first event.
    fn begin(&self, stream: &mut Stream) {
        let request = self.request;
        let policy = match (request.schedule.is_some(), request.policy) {
            (true, _) | (_, Policy::Replay) => "replay",
            (_, Policy::RunAhead) => "run-ahead",
            (_, Policy::Random) => "random",
            (_, Policy::Pct) => "pct",
        };
        let assembler = &mut stream.assembler;
        for word in &request.launch.command {
            assembler.push_meta("argument", word.to_string_lossy().into_owned());
        }
        assembler.push_meta("command", shell_quoted(&request.launch.command));
        if let Ok(folder) = std::env::current_dir() {
            assembler.push_meta("cwd", folder.display().to_string());
        }
        assembler.push_meta("policy", policy.to_owned());
        assembler.push_meta("seed", request.seed.to_string());
        assembler.push_meta("quantum", request.quantum.to_string());
        assembler.push_meta("start-time", self.start_time.to_string());
        assembler.push_meta("runtime-version", env!("CARGO_PKG_VERSION").to_owned());
    }

    /// Completes the trace.
    fn finish(&self, stream: Stream, how: How, ended: Ended) -> RecordOutcome {
        let Stream { mut survey, mut assembler, file, is_full } = stream;
        let schedule = survey.schedule(ended.exit.is_crash());
        for (number, piece) in pieces(&schedule.to_string()).enumerate() {
            assembler.push_meta(&format!("schedule.{number}"), piece.to_owned());
        }
        assembler.push_build_ids();
        for notice in &survey.notices {
            assembler.push_meta("notice", notice.to_string());
        }
        let mut names = assembler.awaited().iter();
        for notice in &mut survey.notices {
            if let RunNotice::Deadlock { waits } = notice {
                waits.iter_mut().zip(&mut names).for_each(|(wait, name)| wait.object.clone_from(name));
            }
        }
        let mut written = file.finish(&mut assembler);
        if is_full {
            written.failure.get_or_insert_with(|| "more names than a trace can hold".to_owned());
        }
        let summary = Summary { written, threads: assembler.threads(), dropped: assembler.dropped() };
        self.outcome(&survey, how, ended, summary)
    }

    fn outcome(&self, survey: &Survey, how: How, ended: Ended, summary: Summary) -> RecordOutcome {
        let schedule = survey.schedule(ended.exit.is_crash());
        let mut notes = Vec::new();
        if !survey.has_turn {
            notes.push(Note::Silent);
        }
        if ended.garbled {
            notes.push(Note::Garbled);
        }
        if summary.dropped > 0 {
            notes.push(Note::Dropped(summary.dropped));
        }
        if let Some(failure) = summary.written.failure {
            notes.push(Note::Unwritten(failure));
        }
        if let Some(planned) = &self.request.schedule
            && survey.has_turn
            && schedule.entries.len() < planned.entries.len()
            && !survey.notices.iter().any(|notice| matches!(notice, RunNotice::Diverged { .. }))
        {
            let (done, planned) = (schedule.entries.len() as u64, planned.entries.len() as u64);
            notes.push(Note::EndedEarly { done, planned });
        }
        RecordOutcome {
            exit: ended.exit,
            how,
            steps: survey.steps,
            events: summary.written.events,
            threads: summary.threads,
            bytes: summary.written.bytes,
            notices: survey.notices.clone(),
            notes,
            schedule,
        }
    }
}

/// Whether the program was under the runtime at all.
fn check(survey: &Survey, ended: &Ended) -> Result<(), RecordError> {
    if survey.notices.contains(&RunNotice::NoShadow) {
        return Err(RecordError::NoShadow);
    }
    // Whoever has a turn is there, whatever the file says; the program may write into it.
    if !ended.attached && !survey.has_turn {
        return Err(RecordError::Unattached { exit: ended.exit });
    }
    Ok(())
}

#[derive(Default)]
struct Summary {
    written: Written,
    threads: u64,
    dropped: u64,
}

/// A run of which the events are written as they come.
struct Stream {
    survey: Survey,
    assembler: Assembler<FileSymbols>,
    file: TraceFile,
    /// There are more names than ids.
    is_full: bool,
}

impl Stream {
    fn new(assembler: Assembler<FileSymbols>, file: TraceFile) -> Self {
        Stream { survey: Survey::new(), assembler, file, is_full: false }
    }

    fn assemble(&mut self, record: &Record<'_>) {
        if !self.is_full {
            self.is_full = self.assembler.take(record).is_err();
            self.file.write(&mut self.assembler);
        }
    }
}

impl Consumer for Stream {
    fn take(&mut self, record: &Record<'_>, _: &[u8]) {
        self.survey.take(record);
        self.assemble(record);
    }

    fn pause(&mut self) {
        self.file.pause(&mut self.assembler);
    }
}

/// A run whose log is kept while it is whole.
struct Kept {
    survey: Survey,
    bytes: Vec<u8>,
}

impl Consumer for Kept {
    fn take(&mut self, record: &Record<'_>, raw: &[u8]) {
        self.survey.take(record);
        if !self.survey.is_partial {
            self.bytes.extend_from_slice(raw);
        }
    }
}

impl Consumer for Survey {
    fn take(&mut self, record: &Record<'_>, _: &[u8]) {
        Survey::take(self, record);
    }
}

/// A text in pieces that fit into a trace.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    const LONGEST: usize = 1 << 20;
    // Schedules are ASCII, so every byte is a place to cut.
    (0..text.len()).step_by(LONGEST).map(move |at| &text[at..text.len().min(at + LONGEST)])
}

/// A command as one would type it.
fn shell_quoted(command: &[OsString]) -> String {
    let words = command.iter().map(|word| {
        let word = word.to_string_lossy();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(&byte);
        if !word.is_empty() && word.bytes().all(is_plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
