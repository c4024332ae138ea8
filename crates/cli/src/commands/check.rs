//! `interloper check`: the whole way, from a program to violations that happened.
//!
//! Standard output carries the result and nothing else; what the recorded run prints goes to standard error, and what
//! later runs print is kept with the result.

use crate::args::{CheckArgs, Explore, FailOn, SchedulePolicy};
use crate::commands::record::{cannot_record, function_names};
use crate::delivery::{Delivery, Filters, json, set_aside};
use crate::exit::Exit;
use crate::findings::{self, OurFault};
use crate::interrupt;
use crate::message;
use crate::output::Target;
use crate::pages;
use crate::progress::{Stages, best, counted};
use crate::recording::{Unrecordable, launch, tell};
use crate::store;
use interloper_hunt::{Caught, HarmKind, HuntError, HuntObserver, HuntRequest, Stage, Verdict, hunt};
use interloper_ladder::{Grouping, Options};
use interloper_recorder::{Effort, Observer, Policy, Printing, RecordOutcome, RecordRequest};
use interloper_report::Document;
use interloper_report::printable::{plain_name, shortened, shown};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long it takes at the most, unless the user says otherwise.
const USUAL_BUDGET: Duration = Duration::from_secs(60);
/// How long a run may take, after the first, when that took no time at all.
const SHORTEST_LIMIT: Duration = Duration::from_secs(10);
/// How much of a variable's name progress has room for.
const LONGEST_NAME: usize = 32;

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Exit> {
    let begun = Instant::now();
    let filters = Filters::read(&args.filter)?;
    Target::of(args.output.as_deref()).try_out()?;
    let folder = store::new_result()?;
    let mut request = match request(args, &folder, begun) {
        Err(error) if error.is::<Unrecordable>() => {
            message::say("error", &error.to_string());
            let _ = std::fs::remove_dir(&folder);
            return Ok(Exit::Unsupported);
        }
        request => request?,
    };
    let trace = store::new_trace()?;
    request.record.output = Some(trace.clone());
    let mut watcher = Hunter { stages: Stages::new(!args.no_progress), worst: Worst::default(), confirmed: 0 };
    let hunted = match hunt(&request, &mut watcher) {
        Ok(hunted) => hunted,
        Err(error) => {
            drop(watcher);
            let _ = std::fs::remove_file(&trace);
            let _ = std::fs::remove_dir_all(&folder);
            return match error {
                HuntError::Record(error) => cannot_record(error),
                HuntError::Ladder(error) => Err(OurFault(error.to_string()).into()),
                error => Err(error.into()),
            };
        }
    };
    drop(watcher);
    if let Err(error) = store::set_latest(&trace) {
        message::say("note", &format!("this trace does not become the latest: {error}"));
    }
    let name = trace.display().to_string();
    let output = args.output.as_deref();
    let path = folder.join(store::RESULT);
    let page = |document: &Document| pages::of_checked(document, &path);
    let delivery = Delivery { name: &name, format: args.format, output, limit: args.limit, lines: None, page: &page };
    let mut whole = findings::of_hunt(&hunted, &request, &args.explore.to_string(), args.explain_infeasible);
    filters.apply(&mut whole, &delivery)?;
    Target::of(Some(&path)).write_text(&json(&whole)?)?;
    if let Err(error) = store::set_latest_result(&folder) {
        message::say("note", &format!("this result does not become the latest: {error}"));
    }
    delivery.deliver(&whole)?;
    let counts = &whole.counts;
    let reached = match args.fail_on {
        FailOn::Confirmed => counts.confirmed,
        FailOn::Feasible | FailOn::Plausible => counts.feasible,
        FailOn::Possible => counts.possible,
    };
    let found = reached.saturating_sub(set_aside(&whole, args.fail_on.into()));
    Ok(match (hunted.interrupted, found > 0) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Found,
        (false, false) if counts.unknown > 0 => Exit::Inconclusive,
        (false, false) => Exit::Clean,
    })
}

fn request(args: &CheckArgs, folder: &Path, begun: Instant) -> anyhow::Result<HuntRequest> {
    let mut record = RecordRequest::new(args.command.clone());
    record.launch = launch(args.command.clone())?;
    record.policy = match args.policy {
        SchedulePolicy::RunAhead => Policy::RunAhead,
        SchedulePolicy::Random => Policy::Random,
        SchedulePolicy::Pct => Policy::Pct,
    };
    record.seed = args.seed;
    record.quantum = args.quantum;
    record.effort = Effort::Auto;
    record.regions = args.atomic_functions.as_deref().map(function_names).transpose()?.unwrap_or_default();
    record.printing = Printing::Captured;
    let mut ladder = Options::new(args.regions.iter().copied().collect());
    ladder.grouping = if args.all { Grouping::Triples } else { Grouping::Places };
    ladder.limits.jobs = args.effort.jobs();
    ladder.limits.memory = args.effort.memory();
    ladder.limits.stop = Some(interrupt::flag());
    Ok(HuntRequest {
        record,
        ladder,
        explore: match args.explore {
            Explore::Off => interloper_hunt::Explore::Off,
            Explore::Runs(runs) => interloper_hunt::Explore::Runs(runs),
            Explore::Exhaust => interloper_hunt::Explore::Exhaust,
        },
        runs: args.runs,
        deadline: Some(begun + args.effort.budget.unwrap_or(USUAL_BUDGET)),
        time_limit: SHORTEST_LIMIT,
        folder: folder.to_owned(),
    })
}

/// Shows where the hunt is, and hands on what the user wants of it.
struct Hunter {
    stages: Stages,
    worst: Worst,
    /// How many violations have happened so far.
    confirmed: usize,
}

/// The most harmful violation that has happened so far.
#[derive(Default)]
struct Worst(Option<(Option<HarmKind>, String)>);

impl Worst {
    /// Another has happened, or the same was judged.
    fn heard(&mut self, harm: Option<HarmKind>, what: String) {
        // What was not judged yet may be worse than what is benign.
        let rank = |harm: Option<HarmKind>| match harm {
            Some(HarmKind::Benign) => (2, harm),
            None => (1, harm),
            Some(_) => (0, harm),
        };
        let is_worse = self
            .0
            .as_ref()
            .is_none_or(|(known, whose)| rank(harm) < rank(*known) || (known.is_none() && *whose == what));
        if is_worse {
            self.0 = Some((harm, what));
        }
    }

    /// What progress says of it, and of how many there are.
    fn told(&self, confirmed: usize) -> String {
        let Some((harm, what)) = &self.0 else { return best("confirmed", confirmed as u64) };
        let harm = harm.map(|harm| format!(" ({harm})")).unwrap_or_default();
        let more = if confirmed > 1 { format!(", and {} more", confirmed - 1) } else { String::new() };
        format!("; best: confirmed{harm} {what}{more}")
    }
}

impl Observer for Hunter {
    fn is_interrupted(&mut self) -> bool {
        interrupt::requested()
    }
}

impl HuntObserver for Hunter {
    fn at(&mut self, stage: Stage) {
        match stage {
            Stage::Recording => self.stages.say("recording".to_owned()),
            Stage::Climbing(progress) => {
                let known = (self.confirmed > 0).then(|| self.worst.told(self.confirmed));
                self.stages.show(&progress, known);
            }
            Stage::Executing { done, all, confirmed } => {
                self.confirmed = confirmed;
                // Each of them is feasible.
                let best = if confirmed > 0 { self.worst.told(confirmed) } else { best("feasible", all as u64) };
                self.stages.say(format!("executing: {done} of {}{best}", counted(all as u64, "witness")));
            }
            Stage::Exploring { runs, confirmed } => {
                self.confirmed = confirmed;
                self.stages.say(format!("exploring: {}{}", counted(runs, "run"), self.worst.told(confirmed)));
            }
            _ => {}
        }
    }

    fn caught(&mut self, caught: &Caught) {
        let (Verdict::Confirmed(confirmation), Some([first, ..])) = (&caught.verdict, &caught.identities) else {
            return;
        };
        let harm = confirmation.harm.as_ref().map(|harm| harm.kind);
        let variable = shown(&shortened(&plain_name(&first.location), LONGEST_NAME));
        let what = format!("{} on {variable}", caught.finding.triple.pattern.name());
        self.worst.heard(harm, what);
    }

    fn recorded(&mut self, outcome: &RecordOutcome) {
        self.stages.aside(|| {
            if let Some(output) = &outcome.output {
                let mut stderr = std::io::stderr().lock();
                // Whoever closed it does not want it.
                let _ = stderr.write_all(&output.stdout).and_then(|()| stderr.write_all(&output.stderr));
            }
            tell(outcome);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_harmful_is_told() {
        let mut worst = Worst::default();
        assert_eq!(worst.told(0), "; nothing found yet");
        let mut hear = |harm, what: &str, confirmed| {
            worst.heard(harm, what.to_owned());
            worst.told(confirmed)
        };
        assert_eq!(hear(None, "RWW on a", 1), "; best: confirmed RWW on a");
        assert_eq!(hear(Some(HarmKind::Benign), "RWW on a", 1), "; best: confirmed (benign) RWW on a");
        assert_eq!(hear(None, "RWR on b", 2), "; best: confirmed RWR on b, and 1 more");
        assert_eq!(hear(Some(HarmKind::Exit), "RWR on b", 2), "; best: confirmed (exit) RWR on b, and 1 more");
        assert_eq!(hear(Some(HarmKind::State), "WRW on c", 3), "; best: confirmed (exit) RWR on b, and 2 more");
        assert_eq!(hear(Some(HarmKind::Crash), "WRW on c", 3), "; best: confirmed (crash) WRW on c, and 2 more");
    }
}
