//! One recording, in as many runs as it takes.
//!
//! A short program is run once: everything is logged and kept, and what two threads share is picked
//! out at the end. A long one would fill disks, so that its first run only finds out what is shared,
//! and the schedule; a second follows that schedule and logs the shared locations. Whether it did the
//! same as the first is checked; if not, the program is run once more, and everything is logged.

use crate::assemble::Assembler;
use crate::capture::{CapturedOutput, Printing};
use crate::control::{Control, Orders};
use crate::directions::{Births, Directed, Directions, Shared, SharedLocations};
use crate::drain::Consumer;
use crate::error::RecordError;
use crate::hot::HotSet;
use crate::identity::EventIdentity;
use crate::launch::{Care, Ended, Exit, Observer};
use crate::notice::RunNotice;
use crate::outcome::{How, Note, RecordOutcome};
use crate::output::{TraceFile, Written};
use crate::request::{Effort, RecordRequest};
use crate::skeleton::Difference;
use crate::stdin::Input;
use crate::survey::Survey;
use crate::symbols::FileSymbols;
use interloper_wire::{Mode, Policy, Record, Records};
use interloper_witness::Schedule;
use std::ffi::OsString;
use std::time::{SystemTime, UNIX_EPOCH};

/// Records a program. Only if it cannot be started, or nothing can be recorded at all, is there an error; what was
/// at the place of the trace is left as it was then.
pub fn record(request: &RecordRequest, observer: &mut dyn Observer) -> Result<RecordOutcome, RecordError> {
    let mut session = Session::new(request, observer)?;
    let Some(path) = &request.output else { return session.only_run() };
    // Before the program is run, for nothing if it cannot be.
    let file = TraceFile::create(path).map_err(|source| RecordError::Output { path: path.clone(), source })?;
    match (&request.directions, request.effort) {
        (Some(directions), _) => session.directed(file, directions),
        (None, Effort::Full) => session.full(file, None),
        (None, Effort::Auto) => session.auto(file),
    }
}

struct Session<'r> {
    request: &'r RecordRequest,
    observer: &'r mut dyn Observer,
    input: Input,
    start_time: u64,
    runs: u32,
    /// What the first run printed.
    printed: Option<CapturedOutput>,
    timed_out: bool,
    /// How many directions have been followed.
    directed: u64,
}

/// What a run is to log.
enum Log<'s> {
    /// Everything as long as that is not too much, and what is shared.
    Try,
    These(&'s SharedLocations),
}

impl<'r> Session<'r> {
    fn new(request: &'r RecordRequest, observer: &'r mut dyn Observer) -> Result<Self, RecordError> {
        let may_repeat = request.effort == Effort::Auto && request.output.is_some() && request.directions.is_none();
        let input = match &request.input {
            Some(input) => input.clone(),
            None if may_repeat => Input::of_process().map_err(RecordError::Stdin)?,
            None => Input::once(),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
        let start_time = request.start_time.unwrap_or(now);
        Ok(Session { request, observer, input, start_time, runs: 0, printed: None, timed_out: false, directed: 0 })
    }

    /// Runs the program without a trace.
    fn only_run(&mut self) -> Result<RecordOutcome, RecordError> {
        let mut survey = Survey::new();
        let shared = match &self.request.directions {
            Some(directions) => {
                survey.expect(&directions.births.0);
                directions.shared.clone()
            }
            None => SharedLocations(Shared::Only(HotSet::default())),
        };
        let ended = self.run(&Log::These(&shared), None, &mut survey)?;
        check(&survey, &ended)?;
        Ok(self.outcome(&survey, How::NotRecorded, ended, Summary::of(shared)))
    }

    fn full(&mut self, file: TraceFile, after: Option<(Exit, Difference)>) -> Result<RecordOutcome, RecordError> {
        let everything = SharedLocations(Shared::Everything);
        let (stream, mut ended) = self.stream(file, &everything)?;
        let how = match after {
            None => How::Full,
            Some((exit, difference)) => {
                ended.exit = exit;
                How::FullAfter(difference)
            }
        };
        Ok(self.finish(stream, how, ended, everything))
    }

    /// One run, along directions.
    fn directed(&mut self, file: TraceFile, directions: &Directions) -> Result<RecordOutcome, RecordError> {
        let (stream, ended) = self.stream(file, &directions.shared)?;
        let how = match directions.shared.0 {
            Shared::Everything => How::Full,
            Shared::Only(_) => How::Once,
        };
        Ok(self.finish(stream, how, ended, directions.shared.clone()))
    }

    /// One run that is written as it goes.
    fn stream(&mut self, file: TraceFile, shared: &SharedLocations) -> Result<(Stream, Ended), RecordError> {
        let mut stream = Stream::new(self.assembler(None), file);
        self.begin(&mut stream);
        if let Some(directions) = &self.request.directions {
            stream.survey.expect(&directions.births.0);
        }
        let run = self.run(&Log::These(shared), None, &mut stream);
        match run.and_then(|ended| check(&stream.survey, &ended).map(|()| ended)) {
            Ok(ended) => Ok((stream, ended)),
            Err(error) => {
                stream.file.discard();
                Err(error)
            }
        }
    }

    fn auto(&mut self, file: TraceFile) -> Result<RecordOutcome, RecordError> {
        let mut first = Kept { survey: Survey::new(), bytes: Vec::new() };
        let run = self.run(&Log::Try, None, &mut first);
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
            let mut stream = Stream { survey, ..Stream::new(self.assembler(Some(hot.clone())), file) };
            self.begin(&mut stream);
            for record in Records::new(&bytes) {
                stream.assemble(&record);
            }
            return Ok(self.finish(stream, how, ended, SharedLocations(Shared::Only(hot))));
        }
        drop(bytes);
        if ended.random_addresses {
            let mut outcome = self.full(file, Some((ended.exit, Difference { agree: 0, before: 1 })))?;
            outcome.how = How::Full;
            outcome.notes.push(Note::RandomAddresses);
            return Ok(outcome);
        }
        self.second_run(file, &survey, ended, SharedLocations(Shared::Only(hot)))
    }

    /// The first run told what is shared; this one logs it.
    fn second_run(
        &mut self,
        file: TraceFile,
        first: &Survey,
        first_ended: Ended,
        shared: SharedLocations,
    ) -> Result<RecordOutcome, RecordError> {
        let plan = first.schedule(first_ended.exit.is_crash());
        let mut stream = Stream::new(self.assembler(None), file);
        self.begin(&mut stream);
        let ended = self.run(&Log::These(&shared), Some(&plan), &mut stream)?;
        let difference = first.skeleton.difference(&stream.survey.skeleton);
        match difference {
            Some(difference) if !self.observer.is_interrupted() && !ended.timed_out => {
                // What is in its buffers must not get into the next.
                stream.file.discard();
                let path = self.request.output.clone().unwrap_or_default();
                let file = TraceFile::create(&path).map_err(|source| RecordError::Output { path, source })?;
                self.full(file, Some((first_ended.exit, difference)))
            }
            _ => Ok(self.finish(stream, How::Twice, Ended { exit: first_ended.exit, ..ended }, shared)),
        }
    }

    fn ended_from_outside(&mut self, exit: Exit, survey: &Survey) -> bool {
        // Who deadlocks is killed by the runtime, which says so first.
        let is_killed = matches!(exit, Exit::Signal(_)) && !exit.is_crash() && !survey.has_ended();
        self.observer.is_interrupted() || is_killed
    }

    fn assembler(&self, only: Option<HotSet>) -> Assembler<FileSymbols> {
        Assembler::new(FileSymbols::default(), self.request.regions.clone(), only, self.request.identify)
    }

    fn run(
        &mut self,
        log: &Log<'_>,
        plan: Option<&Schedule>,
        consumer: &mut impl Consumer,
    ) -> Result<Ended, RecordError> {
        let request = self.request;
        let (mode, hot) = match log {
            Log::Try => (Mode::Try, Vec::new()),
            Log::These(shared) => shared.mode(),
        };
        let directions = request.directions.as_ref();
        let plan = plan.or(request.schedule.as_ref()).filter(|_| directions.is_none());
        let is_guided = plan.is_some() || directions.is_some();
        let orders = Orders {
            mode,
            policy: if is_guided { Policy::Replay } else { request.policy },
            seed: request.seed,
            quantum: request.quantum,
            depth: request.depth,
            expected_steps: request.expected_steps,
            full_limit: request.full_limit,
            start_time: self.start_time,
            ring_len: request.ring_len,
            plan: plan.map_or(&[], |plan| &plan.entries),
            hot: &hot,
            directions: directions.map_or(&[], |directions| &directions.turns),
            births: directions.map_or(&[], |directions| &directions.births.0),
        };
        // What is printed again has been seen.
        let printing = if self.runs == 0 { request.printing } else { Printing::Away };
        self.runs += 1;
        self.observer.starting(self.runs);
        let control = Control::create(&orders).map_err(RecordError::Control)?;
        let care = Care { input: &self.input, printing, time_limit: request.time_limit };
        let ended = request.launch.run(&control, care, consumer, self.observer)?;
        self.directed = control.directed().map_err(RecordError::Control)?;
        self.timed_out |= ended.timed_out;
        if self.runs == 1 {
            self.printed.clone_from(&ended.output);
        }
        Ok(ended)
    }

    /// Writes what is known before the first event.
    fn begin(&self, stream: &mut Stream) {
        let request = self.request;
        let policy = match (request.schedule.is_some(), request.policy) {
            _ if request.directions.is_some() => "directed",
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
    fn finish(&self, stream: Stream, how: How, ended: Ended, shared: SharedLocations) -> RecordOutcome {
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
        let (dropped, thread_numbers) = (assembler.dropped(), assembler.thread_numbers());
        let mut identities = assembler.into_identities();
        identities.truncate(usize::try_from(written.events).unwrap_or(usize::MAX));
        let summary = Summary { written, dropped, thread_numbers, identities, shared };
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
            threads: summary.thread_numbers.len() as u64,
            bytes: summary.written.bytes,
            notices: survey.notices.clone(),
            notes,
            schedule,
            directed: self.how_directed(survey, ended.exit),
            timed_out: self.timed_out,
            output: self.printed.clone(),
            start_time: self.start_time,
            random_addresses: ended.random_addresses,
            shared: summary.shared,
            births: Births(survey.births()),
            thread_numbers: summary.thread_numbers,
            identities: summary.identities,
        }
    }

    fn how_directed(&self, survey: &Survey, exit: Exit) -> Option<Directed> {
        let directions = self.request.directions.as_ref()?;
        if survey.is_directed || directions.turns.is_empty() {
            return Some(Directed::Followed);
        }
        let diverged = survey.notices.iter().find_map(|notice| match notice {
            RunNotice::Diverged { entry, thread, how, .. } => {
                Some(Directed::Diverged { turn: *entry, thread: thread.clone(), how: how.clone() })
            }
            _ => None,
        });
        Some(diverged.unwrap_or_else(|| {
            let turn = usize::try_from(self.directed).ok().and_then(|turn| directions.turns.get(turn));
            let thread = turn.map_or(String::new(), |turn| survey.thread_name(turn.thread));
            Directed::Diverged { turn: self.directed, thread, how: format!("the program ended before, {exit}") }
        }))
    }
}

/// Whether the program was under the runtime at all.
fn check(survey: &Survey, ended: &Ended) -> Result<(), RecordError> {
    if survey.notices.contains(&RunNotice::NoShadow) {
        return Err(RecordError::NoShadow);
    }
    // Whoever has a turn is there, whatever the file says; the program may write into it.
    if !ended.attached && !survey.has_turn {
        return Err(match ended.exit {
            // That may happen before it has loaded its libraries, and says nothing about how it is built.
            Exit::Signal(signal) if !ended.exit.is_crash() => RecordError::Stopped { signal },
            exit => RecordError::Unattached { exit },
        });
    }
    Ok(())
}

struct Summary {
    written: Written,
    dropped: u64,
    thread_numbers: Vec<u32>,
    identities: Vec<Option<EventIdentity>>,
    shared: SharedLocations,
}

impl Summary {
    /// Of a run that was not written.
    fn of(shared: SharedLocations) -> Self {
        let written = Written::default();
        Summary { written, dropped: 0, thread_numbers: Vec::new(), identities: Vec::new(), shared }
    }
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
