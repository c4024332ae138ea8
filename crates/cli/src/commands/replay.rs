//! `interloper replay`: a program along a schedule.

use crate::args::ReplayArgs;
use crate::commands::record::cannot_record;
use crate::exit::Exit;
use crate::message;
use crate::recording::{Recorded, Unrecordable, Watcher, departure, launch, tell};
use anyhow::bail;
use interloper_recorder::{Effort, RecordRequest, record};

pub(crate) fn run(args: &ReplayArgs) -> anyhow::Result<Exit> {
    let recorded = Recorded::find(&args.schedule, !args.no_progress)?;
    let command = if args.command.is_empty() { recorded.command } else { args.command.clone() };
    if command.is_empty() {
        bail!("a schedule does not say which program it is of; give that after --");
    }
    let mut request = RecordRequest::new(command.clone());
    request.launch = match launch(command) {
        Err(error) if error.is::<Unrecordable>() => {
            message::say("error", &error.to_string());
            return Ok(Exit::Unsupported);
        }
        launch => launch?,
    };
    request.start_time = recorded.start_time;
    request.quantum = recorded.quantum.unwrap_or(request.quantum);
    request.output.clone_from(&args.output);
    // A trace is to hold what that of the recorded run holds; without one, the run itself is all that matters.
    request.effort = if args.output.is_some() { Effort::Auto } else { Effort::Full };
    request.schedule = Some(recorded.schedule);
    let mut watcher = Watcher::new(!args.no_progress);
    let outcome = match record(&request, &mut watcher) {
        Ok(outcome) => outcome,
        Err(error) => return cannot_record(error),
    };
    tell(&outcome);
    if let Some(output) = &args.output {
        message::say("trace", &format!("{} ({} events)", output.display(), outcome.events));
    }
    match departure(&outcome) {
        Some(departure) => {
            message::say("diverged", &departure);
            Ok(Exit::Inconclusive)
        }
        None => {
            let turns = request.schedule.map_or(0, |schedule| schedule.entries.len());
            message::say("followed", &format!("the run took all {turns} turns of the schedule"));
            Ok(Exit::Clean)
        }
    }
}
