//! `interloper record`: one run to a trace.
//!
//! The program has the standard streams to itself until it has ended, and the exit status is its own.

mod determinism;

use crate::args::{RecordArgs, SchedulePolicy};
use crate::exit::Exit;
use crate::message;
use crate::recording::{Recorded, Unrecordable, Watcher, departure, launch, tell};
use crate::store;
use anyhow::{Context as _, bail};
use interloper_recorder::{
    Effort, How, Input, Policy, RecordError, RecordOutcome, RecordRequest, RegionOptions, record,
};
use interloper_trace::file::Format;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &RecordArgs) -> anyhow::Result<Exit> {
    let mut request = request(args)?;
    request.launch = match launch(args.command.clone()) {
        Err(error) if error.is::<Unrecordable>() => {
            message::say("error", &error.to_string());
            return Ok(Exit::Unsupported);
        }
        launch => launch?,
    };
    let (output, is_ours) = output(args)?;
    request.output = Some(output.clone());
    if args.check_determinism {
        // The second recording reads what the first has read.
        request.input = Some(Input::of_process().context("standard input cannot be kept for the second recording")?);
    }
    let mut watcher = Watcher::new(!args.no_progress);
    let outcome = match record(&request, &mut watcher) {
        Ok(outcome) => outcome,
        Err(error) => {
            if is_ours {
                let _ = fs::remove_file(&output);
            }
            return cannot_record(error);
        }
    };
    if let Err(error) = store::set_latest(&output) {
        message::say("note", &format!("this trace does not become the latest: {error}"));
    }
    tell(&outcome);
    if let Some(departure) = departure(&outcome) {
        message::say("note", &departure);
    }
    if args.check_determinism {
        determinism::check(&request, &outcome, &output, &mut watcher)?;
    }
    summary(&outcome, &output);
    Ok(Exit::Program(outcome.exit.shell_code()))
}

/// What a shell would say, if that is why.
pub(crate) fn cannot_record(error: RecordError) -> anyhow::Result<Exit> {
    if error.is_unsupported() {
        message::say("error", &error.to_string());
        return Ok(Exit::Unsupported);
    }
    match error.shell_code() {
        Some(code) => {
            message::say("error", &error.to_string());
            Ok(Exit::Program(code))
        }
        None => Err(error.into()),
    }
}

fn request(args: &RecordArgs) -> anyhow::Result<RecordRequest> {
    let recorded = args.schedule.as_deref().map(|schedule| Recorded::find(schedule, !args.no_progress)).transpose()?;
    let atomic_functions = args.atomic_functions.as_deref().map(function_names).transpose()?;
    let mut request = RecordRequest::new(args.command.clone());
    request.policy = match args.policy {
        SchedulePolicy::RunAhead => Policy::RunAhead,
        SchedulePolicy::Random => Policy::Random,
        SchedulePolicy::Pct => Policy::Pct,
    };
    request.seed = args.seed;
    request.quantum = args.quantum;
    request.depth = args.depth;
    request.effort = if args.full { Effort::Full } else { Effort::Auto };
    request.regions = atomic_functions.unwrap_or_default();
    if let Some(recorded) = recorded {
        request.start_time = recorded.start_time;
        request.schedule = Some(recorded.schedule);
    }
    Ok(request)
}

/// The names in a file: one a line, without comments.
pub(crate) fn function_names(path: &Path) -> anyhow::Result<RegionOptions> {
    let text = fs::read_to_string(path).with_context(|| format!("{}: cannot read", path.display()))?;
    let names = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    Ok(RegionOptions { atomic_functions: names.filter(|name| !name.is_empty()).map(str::to_owned).collect() })
}

/// Where the trace goes, and whether we chose that.
fn output(args: &RecordArgs) -> anyhow::Result<(PathBuf, bool)> {
    match &args.output {
        Some(path) if Format::of_path(path) == Some(Format::Ilt) => Ok((path.clone(), false)),
        Some(path) => bail!("{}: cannot record to this: expected a name that ends in .ilt", path.display()),
        None => Ok((store::new_trace()?, true)),
    }
}

fn summary(outcome: &RecordOutcome, output: &Path) {
    let runs = match outcome.how {
        How::Full | How::NotRecorded => "everything, in one run".to_owned(),
        How::Once => "what threads share, in one run".to_owned(),
        How::Twice => "what threads share, in two runs".to_owned(),
        How::FullAfter(difference) => format!(
            "everything, in a third run: the second differed from the first after {} of what threads tell one another",
            difference.agree
        ),
        How::Beginning => "the beginning only: the run was long and was ended from outside".to_owned(),
    };
    let (events, threads, switches) = (outcome.events, outcome.threads, outcome.schedule.switches());
    let name = output.display();
    message::say("recorded", &format!("{events} events, {threads} threads, {switches} switches ({runs})"));
    message::say("trace", &format!("{name} ({} bytes)", outcome.bytes));
    message::say("next", &format!("`interloper analyze {name}`, `interloper dump {name}`, `interloper replay {name}`"));
}
