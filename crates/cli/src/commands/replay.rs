//! `interloper replay`: a program along a schedule.

use crate::args::ReplayArgs;
use crate::commands::record::cannot_record;
use crate::exit::Exit;
use crate::message;
use crate::recording::{Recorded, Unrecordable, Watcher, departure, launch, tell};
use crate::results::StoredFinding;
use crate::store;
use anyhow::{Context as _, bail};
use interloper_ladder::Trace;
use interloper_recorder::{Effort, RecordOutcome, RecordRequest, record};
use interloper_trace::RegionSource;
use interloper_trace::file::{ReadOptions, TraceReader};
use interloper_witness::confirm::{Identity, shows};
use std::ffi::{OsStr, OsString};
use std::path::Path;

pub(crate) fn run(args: &ReplayArgs) -> anyhow::Result<Exit> {
    let Some(subject) = args.schedule.as_ref().filter(|subject| !store::is_latest(Path::new(subject))) else {
        return replay_finding(args, StoredFinding::worst()?);
    };
    match subject.to_str().filter(|text| StoredFinding::is_meant_by(text) && !Path::new(text).exists()) {
        Some(id) => replay_finding(args, StoredFinding::find(id)?),
        None => replay_schedule(args, subject),
    }
}

/// Makes a violation happen again, and says whether it did.
fn replay_finding(args: &ReplayArgs, finding: StoredFinding) -> anyhow::Result<Exit> {
    let command = if args.command.is_empty() { finding.command } else { args.command.clone() };
    let mut request = RecordRequest::new(command.clone());
    request.start_time = Some(finding.start_time);
    request.quantum = finding.quantum;
    request.schedule = Some(finding.schedule);
    let scratch = tempfile::tempdir().context("cannot keep the trace of the run")?;
    let trace = args.output.clone().unwrap_or_else(|| scratch.path().join("run.ilt"));
    request.output = Some(trace.clone());
    // In one run, which the user may watch: everything is logged.
    request.effort = Effort::Full;
    let outcome = match follow(args, command, &mut request)? {
        Followed::Run(outcome) => outcome,
        Followed::NotAtAll(exit) => return Ok(exit),
    };
    let shown = match &finding.identities {
        Some(identities) => shown(&trace, identities)?,
        None => None,
    };
    match (shown, departure(&outcome)) {
        (Some([first, remote, second]), _) => {
            message::say("violated", &format!("{} happened again: events {first}, {remote}, {second}", finding.id));
            Ok(Exit::Found)
        }
        (None, Some(departure)) => {
            message::say("diverged", &departure);
            Ok(Exit::Inconclusive)
        }
        (None, None) => {
            message::say("not violated", &format!("the run took all turns, but {} did not happen", finding.id));
            Ok(Exit::Clean)
        }
    }
}

/// Where a trace shows a violation, if it does.
fn shown(trace: &Path, identities: &[Identity; 3]) -> anyhow::Result<Option<[usize; 3]>> {
    let mut reader = TraceReader::open(trace, ReadOptions::default()).with_context(|| trace.display().to_string())?;
    let trace = Trace::read(&mut reader).with_context(|| trace.display().to_string())?;
    let regions = RegionSource::ALL.into_iter().collect();
    Ok(shows(&trace.events, &trace.tables, regions, identities).ok())
}

/// Runs a program along a schedule.
fn replay_schedule(args: &ReplayArgs, subject: &OsStr) -> anyhow::Result<Exit> {
    let recorded = Recorded::find(subject, !args.no_progress)?;
    let command = if args.command.is_empty() { recorded.command } else { args.command.clone() };
    if command.is_empty() {
        bail!("a schedule does not say which program it is of; give that after --");
    }
    let turns = recorded.schedule.entries.len();
    let mut request = RecordRequest::new(command.clone());
    request.start_time = recorded.start_time;
    request.quantum = recorded.quantum.unwrap_or(request.quantum);
    request.output.clone_from(&args.output);
    // A trace is to hold what that of the recorded run holds; without one, the run itself is all that matters.
    request.effort = if args.output.is_some() { Effort::Auto } else { Effort::Full };
    request.schedule = Some(recorded.schedule);
    let outcome = match follow(args, command, &mut request)? {
        Followed::Run(outcome) => outcome,
        Followed::NotAtAll(exit) => return Ok(exit),
    };
    match departure(&outcome) {
        Some(departure) => {
            message::say("diverged", &departure);
            Ok(Exit::Inconclusive)
        }
        None => {
            message::say("followed", &format!("the run took all {turns} turns of the schedule"));
            Ok(Exit::Clean)
        }
    }
}

/// Whether a program was run along a schedule.
enum Followed {
    Run(Box<RecordOutcome>),
    /// It could not be, which was said.
    NotAtAll(Exit),
}

/// Runs a program along the schedule of a request, and tells how that went.
fn follow(args: &ReplayArgs, command: Vec<OsString>, request: &mut RecordRequest) -> anyhow::Result<Followed> {
    request.launch = match launch(command) {
        Err(error) if error.is::<Unrecordable>() => {
            message::say("error", &error.to_string());
            return Ok(Followed::NotAtAll(Exit::Unsupported));
        }
        launch => launch?,
    };
    let mut watcher = Watcher::new(!args.no_progress);
    let outcome = match record(request, &mut watcher) {
        Ok(outcome) => outcome,
        Err(error) => return cannot_record(error).map(Followed::NotAtAll),
    };
    tell(&outcome);
    if let Some(output) = &args.output {
        message::say("trace", &format!("{} ({} events)", output.display(), outcome.events));
    }
    Ok(Followed::Run(Box::new(outcome)))
}
