//! What `record` and `replay` have in common: the program, the schedule, waiting, and what is said after.

use crate::input::Input;
use crate::interrupt;
use crate::message;
use crate::pass::Pass;
use crate::progress::Progress;
use crate::store;
use crate::{args::Dialect, args::ReadArgs};
use anyhow::{Context as _, bail};
use interloper_recorder::{Launch, Note, Observer, RecordOutcome, RunNotice};
use interloper_toolchain::{Installation, Instrumentation, RUNTIME_NAME, inspect, shim_directory};
use interloper_trace::Tables;
use interloper_trace::file::Format;
use interloper_witness::Schedule;
use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A program that cannot be recorded as it is: what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unrecordable(String);

/// How to start a program; an error if it would be of no use.
pub(crate) fn launch(command: Vec<OsString>) -> anyhow::Result<Launch> {
    let mut launch = Launch { command, library_folder: None, preload: None };
    // Whatever cannot be found or read is for the system to complain about when it is started.
    let Some(program) = launch.command.first().and_then(|program| find_program(program)) else { return Ok(launch) };
    let Ok(instrumentation) = inspect(&program) else { return Ok(launch) };
    let name = program.display();
    if let Some(obstacle) = instrumentation.obstacle() {
        return Err(Unrecordable(format!("{name} {obstacle}")).into());
    }
    if let Some(note) = instrumentation.note() {
        message::say("note", &format!("{name} {note}"));
    }
    match instrumentation {
        Instrumentation::GccTsan | Instrumentation::ClangSharedTsan => {
            let folder = store::shim_folder()?;
            let runtime = Installation::of_process()?.runtime;
            shim_directory(&runtime, &folder).with_context(|| format!("{}: cannot write", folder.display()))?;
            launch.library_folder = Some(folder);
        }
        Instrumentation::Unlinked => launch.preload = Some(Installation::of_process()?.runtime.join(RUNTIME_NAME)),
        _ => {}
    }
    Ok(launch)
}

/// The file that a command runs.
fn find_program(program: &OsStr) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return Some(program.into());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// A schedule, and what else is known about the run it comes from.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) schedule: Schedule,
    pub(crate) command: Vec<OsString>,
    pub(crate) start_time: Option<u64>,
    pub(crate) quantum: Option<u64>,
}

impl Recorded {
    /// What is meant by an argument: a schedule, or a trace that has one.
    pub(crate) fn find(argument: &OsStr, progress: bool) -> anyhow::Result<Recorded> {
        match argument.to_str().filter(|text| Schedule::is_meant_by(text)) {
            Some(text) => Ok(Recorded { schedule: text.parse()?, ..Recorded::default() }),
            None => Recorded::of_trace(Path::new(argument), progress),
        }
    }

    fn of_trace(path: &Path, progress: bool) -> anyhow::Result<Recorded> {
        let read = ReadArgs { input_format: None, std_dialect: Dialect::Rapid };
        if Format::of_path(path).is_none() && !path.exists() {
            bail!(
                "{}: found neither a schedule, which begins with \"{}\", nor a trace",
                path.display(),
                Schedule::PREFIX
            );
        }
        let input = Input::find(path, &read)?;
        // Facts may stand anywhere in a trace, the schedule at its end.
        let pass =
            Pass::run(&input, "reading the schedule", progress, None, &mut (), |(), _, _, _| {}, |()| String::new())?;
        interrupt::stop_if_requested()?;
        Recorded::of_facts(pass.tables()).with_context(|| input.name.clone())
    }

    fn of_facts(tables: &Tables) -> anyhow::Result<Recorded> {
        let mut recorded = Recorded::default();
        let mut text = String::new();
        for (key, value) in tables.meta() {
            match key.as_str() {
                "argument" => recorded.command.push(value.into()),
                "start-time" => recorded.start_time = value.parse().ok(),
                "quantum" => recorded.quantum = value.parse().ok(),
                _ if key.starts_with("schedule.") => text.push_str(value),
                _ => {}
            }
        }
        if text.is_empty() {
            bail!("the trace has no schedule: its recording was cut off, or it was not made by `interloper record`");
        }
        recorded.schedule = text.parse()?;
        Ok(recorded)
    }
}

/// Waits for the program, and hands on what the user wants of it.
pub(crate) struct Watcher {
    terminated: Arc<AtomicBool>,
    wants_progress: bool,
    progress: Option<Progress>,
}

impl Watcher {
    pub(crate) fn new(wants_progress: bool) -> Watcher {
        let terminated = Arc::new(AtomicBool::new(false));
        // A terminal tells the program itself; it is for the program to decide what to do about it.
        let _ = signal_hook::flag::register(SIGTERM, Arc::clone(&terminated));
        for signal in [SIGQUIT, SIGHUP] {
            let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
        }
        Watcher { terminated, wants_progress, progress: None }
    }
}

impl Observer for Watcher {
    fn starting(&mut self, run: u32) {
        // What the program prints in its first run must not be mixed with ours.
        self.progress = (run > 1).then(|| Progress::new("running again to record", None, self.wants_progress));
    }

    fn running(&mut self, bytes: u64) {
        if let Some(progress) = &mut self.progress {
            progress.at(bytes, String::new);
        }
    }

    fn wants_end(&mut self) -> bool {
        self.terminated.load(Ordering::Relaxed)
    }

    fn is_interrupted(&mut self) -> bool {
        interrupt::requested()
    }
}

/// Says what there is to tell about a run.
pub(crate) fn tell(outcome: &RecordOutcome) {
    /// More of one kind than this say nothing new.
    const MOST: usize = 10;
    let notices = outcome.notices.iter().filter(|notice| !matches!(notice, RunNotice::Diverged { .. }));
    let mut told: Vec<(String, u64)> = Vec::new();
    for text in notices.map(ToString::to_string) {
        match told.iter_mut().find(|(known, _)| *known == text) {
            Some((_, times)) => *times += 1,
            None => told.push((text, 1)),
        }
    }
    for (text, times) in told.iter().take(MOST) {
        let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
        message::say("note", &format!("{text}{times}"));
    }
    if told.len() > MOST {
        message::say("note", &format!("and {} more of this kind", told.len() - MOST));
    }
    for note in outcome.notes.iter().filter(|note| !matches!(note, Note::EndedEarly { .. })) {
        message::say("note", &note.to_string());
    }
}

/// How a run left its schedule, if it did.
pub(crate) fn departure(outcome: &RecordOutcome) -> Option<String> {
    let diverged = outcome.notices.iter().find(|notice| matches!(notice, RunNotice::Diverged { .. }));
    let ended_early = outcome.notes.iter().find(|note| matches!(note, Note::EndedEarly { .. }));
    diverged.map(ToString::to_string).or_else(|| ended_early.map(ToString::to_string))
}
