//! `interloper analyze --property atomic`.

use super::{Analysed, Clock, Found};
use crate::args::AnalyzeArgs;
use crate::input::Input;
use crate::interrupt;
use crate::pass::Pass;
use anyhow::bail;
use interloper_judge::{Budget, Instance, Proof, Question, Reason, Verdict, has_values, judge};
use interloper_ladder::Trace;
use interloper_model::{Nesting, RegionEdge, RegionSources, Regions};
use interloper_report::build::{self, TraceFacts};
use interloper_trace::{Event, EventIndex, Op, ThreadId};
use rustc_hash::FxHashSet;
use std::time::Instant;

/// How many steps the search may take if no budget is given: half a minute, or a few hundred megabytes.
const USUAL_STEPS: u64 = 10_000_000;

/// Judges the observed values.
pub(super) fn analyse(args: &AnalyzeArgs, input: &Input, sources: RegionSources) -> anyhow::Result<Analysed> {
    let begun = Instant::now();
    let clock = Clock::new(args.stats);
    let mut reading = Reading::new(sources);
    let pass = Pass::run(
        input,
        "reading",
        !args.no_progress,
        None,
        &mut reading,
        |reading, index, event, _| reading.take(index, event),
        |_| String::new(),
    )?;
    clock.lap("read");
    let Reading { mut trace, nesting, regions_seen, threads, .. } = reading;
    trace.tables = pass.tables().clone();
    let mut notes = pass.notes();
    let judged = Clock::new(args.stats);
    let verdict = if pass.interrupted {
        Verdict::Unknown(Reason::Stopped)
    } else {
        if !has_values(&trace.events) {
            bail!(
                "{}: found no values, expected a trace with the values that were read and written (JSON Lines with \
                 `value`, or a recorded .ilt): `--property atomic` asks whether a serial order explains them",
                input.name
            );
        }
        let stop = interrupt::flag();
        let budget = Budget {
            steps: if args.effort.budget.is_some() { u64::MAX } else { USUAL_STEPS },
            deadline: args.effort.budget.map(|budget| begun + budget),
            stop: Some(&stop),
        };
        judge(&Question::whole(&trace.events, &trace.tables, trace.initial_values(), sources), &budget)
    };
    judged.lap("judge");
    if let Verdict::Unknown(reason) = verdict
        && reason != Reason::Stopped
    {
        let more = if reason == Reason::Budget { "; a larger --budget may help" } else { "" };
        notes.push(format!("{}{more}", reason.description()));
    }
    let facts = TraceFacts {
        tables: &trace.tables,
        events: pass.events(),
        threads: threads.len() as u64,
        regions: regions_seen,
        non_nested: nesting.non_nested(),
    };
    let document = build::atomic(&facts, verdict, &picked(&trace, verdict), notes);
    let interrupted = pass.interrupted || verdict == Verdict::Unknown(Reason::Stopped);
    Ok(Analysed { document, interrupted, found: Found::Order(matches!(verdict, Verdict::NonAtomic(_))) })
}

/// The three events that a condition holds of.
fn picked(trace: &Trace, verdict: Verdict) -> Vec<Event> {
    match verdict {
        Verdict::NonAtomic(Proof::Condition(Instance { events, .. })) => {
            events.iter().filter_map(|index| trace.events.get(usize::try_from(index.0).ok()?).copied()).collect()
        }
        _ => Vec::new(),
    }
}

/// A trace on its way into memory, and what results say of it.
struct Reading {
    trace: Trace,
    regions: Regions,
    regions_seen: u64,
    nesting: Nesting,
    threads: FxHashSet<ThreadId>,
}

impl Reading {
    fn new(sources: RegionSources) -> Self {
        Reading {
            trace: Trace::default(),
            regions: Regions::new(sources),
            regions_seen: 0,
            nesting: Nesting::new(),
            threads: FxHashSet::default(),
        }
    }

    fn take(&mut self, index: EventIndex, event: &Event) {
        self.threads.insert(event.thread);
        match event.op {
            Op::RegionBegin(region) => {
                let begun = self.regions.begin(event.thread, region.source);
                self.regions_seen += u64::from(begun == RegionEdge::Outermost);
            }
            Op::RegionEnd(region) => {
                self.regions.end(event.thread, region.source);
            }
            _ => {
                self.nesting.follow(index, event);
            }
        }
        self.trace.events.push(*event);
    }
}
