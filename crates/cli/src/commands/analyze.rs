//! `interloper analyze`.

mod atomic;
mod causal;
mod filtered;

use crate::args::{AnalyzeArgs, FailOn, Model, OutputFormat, Property};
use crate::exit::Exit;
use crate::input::Input;
use crate::message;
use crate::output::Target;
use crate::pages;
use crate::pass::Pass;
use anyhow::Context as _;
use interloper_model::{RegionEdge, RegionSources, Regions};
use interloper_predict::lockset::{self, Enumerator, Prediction, Profile, Profiler};
use interloper_predict::serial::{Cycle, Serializability};
use interloper_report::build::{self, TraceFacts};
use interloper_report::result::Verdict;
use interloper_report::{Document, text};
use interloper_trace::{Event, EventIndex, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Instant;

/// Findings listed as text unless the user says otherwise.
const TEXT_LIMIT: usize = 20;

pub(crate) fn run(args: &AnalyzeArgs) -> anyhow::Result<Exit> {
    let input = Input::find_or_latest(args.trace.as_deref(), &args.read)?;
    let sources: RegionSources = args.regions.iter().copied().collect();
    let Analysed { document, interrupted, found } = match args.property {
        Property::Triple => match args.model {
            Some(Model::Lockset) => triples(args, &input, sources)?,
            Some(Model::Filtered) => filtered::analyse(args, &input, sources)?,
            Some(Model::Causal) => causal::analyse(args, &input, sources, usize::MAX)?,
            None => causal::analyse(args, &input, sources, causal::USUAL_EVENTS)?,
        },
        Property::Serial => serial(args, &input, sources)?,
        Property::Atomic => atomic::analyse(args, &input, sources)?,
    };
    let rendered = match args.format {
        OutputFormat::Text => text::render(&document, &input.name),
        OutputFormat::Json => {
            serde_json::to_string_pretty(&document).context("cannot write the result as JSON")? + "\n"
        }
        OutputFormat::Html => pages::of_analysed(&document, &input)?,
    };
    Target::of(args.output.as_deref()).write_text(&rendered)?;
    let undecided =
        document.counts.unknown > 0 || document.atomic.as_ref().is_some_and(|atomic| atomic.verdict == "unknown");
    Ok(match (interrupted, found) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Found,
        (false, false) if undecided => Exit::Inconclusive,
        (false, false) => Exit::Clean,
    })
}

pub(crate) struct Analysed {
    pub(crate) document: Document,
    pub(crate) interrupted: bool,
    /// Whether something was found that `--fail-on` asks for.
    pub(crate) found: bool,
}

/// How many findings to list.
fn limit(args: &AnalyzeArgs) -> usize {
    args.limit.unwrap_or(match args.format {
        OutputFormat::Text => TEXT_LIMIT,
        OutputFormat::Json | OutputFormat::Html => usize::MAX,
    })
}

fn triples(args: &AnalyzeArgs, input: &Input, sources: RegionSources) -> anyhow::Result<Analysed> {
    let options = lockset::Options::new(sources).with_limit(limit(args));
    let clock = Clock::new(args.stats);

    let (mut profile, pass) = run_profiler(args, input, "profiling", None, Profiler::new(&options))?;
    clock.lap("read and profile");
    let joined = Clock::new(args.stats);
    let overview = profile.overview();
    joined.lap("join phase");

    let mut notes = pass.notes();
    // What was found before an interrupt is still told: the second pass then reads as far as the first.
    let until = pass.interrupted.then(|| pass.events());
    let second = Clock::new(args.stats);
    let (prediction, interrupted_again) = if args.all {
        let mut enumerator = Enumerator::new(&options, &overview);
        let again = Pass::run(
            input,
            "enumerating",
            !args.no_progress,
            until,
            &mut enumerator,
            |enumerator, index, event, _| enumerator.observe(index, event),
            |_| String::new(),
        )?;
        (enumerator.finish(), again.interrupted.then(|| again.events()))
    } else if overview.locations.is_empty() {
        (Prediction { candidates: overview.candidates, ..Prediction::default() }, None)
    } else {
        let profiler = Profiler::of_locations(&options, overview.locations.clone());
        let (mut closer, again) = run_profiler(args, input, "looking closer", until, profiler)?;
        (closer.join(&options, &overview), again.interrupted.then(|| again.events()))
    };
    second.lap("second pass");
    if let Some(events) = interrupted_again {
        notes.push(format!("interrupted: only findings among the first {events} events are listed and counted"));
    }
    let interrupted = pass.interrupted || interrupted_again.is_some();
    if args.stats {
        message::say("lock states", &profile.lock_states().to_string());
        message::say("facts", &profile.facts().to_string());
    }
    if profile.regions() == 0 && args.format != OutputFormat::Text {
        notes.push("the trace has no region of the chosen sources, so nothing is meant to be atomic".to_owned());
    }
    let facts = TraceFacts {
        tables: pass.tables(),
        events: pass.events(),
        threads: profile.threads() as u64,
        regions: profile.regions(),
        non_nested: profile.non_nested(),
    };
    let document = build::lockset(&facts, &prediction, notes);
    let fail_on = args.fail_on.map_or(Verdict::Possible, Verdict::from);
    Ok(Analysed { document, interrupted, found: prediction.possible > 0 && fail_on <= Verdict::Possible })
}

/// One pass of the lockset analysis.
fn run_profiler(
    args: &AnalyzeArgs,
    input: &Input,
    label: &'static str,
    until: Option<u64>,
    mut profiler: Profiler,
) -> anyhow::Result<(Profile, Pass)> {
    let pass = Pass::run(
        input,
        label,
        !args.no_progress,
        until,
        &mut profiler,
        |profiler, index, event, _| profiler.observe(index, event),
        |_| String::new(),
    )?;
    Ok((profiler.finish(), pass))
}

fn serial(args: &AnalyzeArgs, input: &Input, sources: RegionSources) -> anyhow::Result<Analysed> {
    let clock = Clock::new(args.stats);
    let mut order = Serializability::new(sources);
    let pass = Pass::run(
        input,
        "checking order",
        !args.no_progress,
        None,
        &mut order,
        |order, index, event, _| order.observe(index, event),
        |order| order.cycle().map_or(String::new(), |cycle| format!("not serializable at event {}", cycle.at)),
    )?;
    clock.lap("read and check");
    let cycle = order.cycle();
    let picked = match cycle {
        Some(cycle) => Picked::read(input, cycle, sources, !args.no_progress)?,
        None => Picked::default(),
    };
    let mut notes = pass.notes();
    if picked.interrupted {
        notes.push("interrupted before all events of the cycle were found again: some are unknown".to_owned());
    }
    let facts = TraceFacts {
        tables: pass.tables(),
        events: pass.events(),
        threads: order.threads() as u64,
        regions: order.regions(),
        non_nested: order.non_nested(),
    };
    let document = build::serial(&facts, cycle, !pass.interrupted, &picked.events, &picked.ends, notes);
    Ok(Analysed { document, interrupted: pass.interrupted || picked.interrupted, found: cycle.is_some() })
}

/// The events of a cycle, picked out by reading the trace again; the analysis itself keeps none.
#[derive(Default)]
struct Picked {
    wanted: FxHashSet<EventIndex>,
    events: FxHashMap<EventIndex, Event>,
    /// The end of each region, by its begin.
    ends: FxHashMap<EventIndex, EventIndex>,
    open: FxHashMap<ThreadId, EventIndex>,
    /// Whether some were not found again, because the user stopped it.
    interrupted: bool,
}

impl Picked {
    fn read(input: &Input, cycle: &Cycle, sources: RegionSources, progress: bool) -> anyhow::Result<Picked> {
        let wanted = cycle.steps.iter().flat_map(|step| [step.transaction.start, step.enter, step.leave]).collect();
        let mut picked = Picked { wanted, ..Picked::default() };
        let mut regions = Regions::new(sources);
        let pass = Pass::run(
            input,
            "explaining",
            progress,
            None,
            &mut picked,
            |picked, index, event, _| picked.observe(&mut regions, index, event),
            |_| String::new(),
        )?;
        picked.interrupted = pass.interrupted && picked.events.len() < picked.wanted.len();
        Ok(picked)
    }

    fn observe(&mut self, regions: &mut Regions, index: EventIndex, event: &Event) {
        if self.wanted.contains(&index) {
            self.events.insert(index, *event);
        }
        match event.op {
            Op::RegionBegin(region)
                if regions.begin(event.thread, region.source) == RegionEdge::Outermost
                    && self.wanted.contains(&index) =>
            {
                self.open.insert(event.thread, index);
            }
            Op::RegionEnd(region) if regions.end(event.thread, region.source) == RegionEdge::Outermost => {
                if let Some(begin) = self.open.remove(&event.thread) {
                    self.ends.insert(begin, index);
                }
            }
            _ => {}
        }
    }
}

/// Says where the time went, if asked.
struct Clock {
    begun: Instant,
    wanted: bool,
}

impl Clock {
    fn new(wanted: bool) -> Self {
        Clock { begun: Instant::now(), wanted }
    }

    fn lap(&self, phase: &str) {
        if self.wanted {
            message::say(phase, &format!("{:.3} ms", self.begun.elapsed().as_secs_f64() * 1e3));
        }
    }
}

impl From<FailOn> for Verdict {
    fn from(fail_on: FailOn) -> Verdict {
        match fail_on {
            FailOn::Possible => Verdict::Possible,
            FailOn::Plausible => Verdict::Plausible,
            FailOn::Feasible => Verdict::Feasible,
            FailOn::Confirmed => Verdict::Confirmed,
        }
    }
}
