//! `interloper analyze --model causal`.

use super::{Analysed, Found, note_regions, triples};
use crate::args::AnalyzeArgs;
use crate::findings;
use crate::input::Input;
use crate::interrupt;
use crate::pass::Pass;
use crate::progress::Stages;
use interloper_ladder::{Grouping, Options, Trace, climb};
use interloper_model::RegionSources;
use interloper_report::result::Verdict;
use std::time::Instant;

/// Traces of up to so many events are decided unless the user says otherwise: they fit in memory with ease.
pub(super) const USUAL_EVENTS: usize = 4_000_000;

/// Decides about a trace, if it has no more events than that; else only predicts.
pub(super) fn analyse(
    args: &AnalyzeArgs,
    input: &Input,
    sources: RegionSources,
    most: usize,
) -> anyhow::Result<Analysed> {
    let begun = Instant::now();
    let mut trace = Trace::default();
    let mut is_too_long = false;
    let pass = Pass::run(
        input,
        "reading",
        !args.no_progress,
        None,
        &mut trace,
        |trace, _, event, _| {
            is_too_long |= trace.events.len() >= most;
            if !is_too_long {
                trace.events.push(*event);
            }
        },
        |_| String::new(),
    )?;
    if is_too_long {
        drop(trace);
        let mut analysed = triples(args, input, sources)?;
        analysed.document.notes.push(format!(
            "the trace has more than {most} events, so locks, fork and join are all that was looked at; `--model \
             causal` looks at values, too, and takes memory for all events"
        ));
        return Ok(analysed);
    }
    trace.tables = pass.tables().clone();
    let mut options = Options::new(sources);
    options.grouping = if args.all { Grouping::Triples } else { Grouping::Threads };
    options.limits.jobs = args.effort.jobs();
    options.limits.memory = args.effort.memory();
    options.limits.deadline = args.effort.budget.map(|budget| begun + budget);
    options.limits.stop = Some(interrupt::flag());
    let stages = Stages::new(!args.no_progress);
    let climbed = climb(&trace, &options, &|progress| stages.show(&progress, None));
    drop(stages);
    let climb = match climbed {
        Ok(climb) => climb,
        Err(error) => return Err(findings::OurFault(error.to_string()).into()),
    };
    let mut notes = pass.notes();
    note_regions(args, climb.census.regions, &mut notes);
    let document = findings::document(&trace, &climb, sources, args.explain_infeasible, notes);
    let fail_on = args.fail_on.map_or(Verdict::Feasible, Verdict::from);
    Ok(Analysed { interrupted: pass.interrupted || interrupt::requested(), found: Found::AtLeast(fail_on), document })
}
