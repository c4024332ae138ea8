//! `interloper analyze`.

mod atomic;
mod causal;
mod filtered;

use crate::args::{AnalyzeArgs, FailOn, Model, OutputFormat, Property};
use crate::delivery::{Delivery, Filters, limit, set_aside};
use crate::exit::Exit;
use crate::findings;
use crate::input::Input;
use crate::message;
use crate::pages;
use crate::pass::Pass;
use interloper_model::{RegionEdge, RegionSources, Regions};
use interloper_predict::lockset::{self, Enumerator, Prediction, Profile, Profiler};
use interloper_predict::serial::{Cycle, Serializability};
use interloper_report::Document;
use interloper_report::build::{self, TraceFacts};
use interloper_report::evidence::Evidence;
use interloper_report::result::Verdict;
use interloper_trace::{Event, EventIndex, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Instant;

/// Of longer traces, `--model lockset` does not look up what accesses read, wrote and held: that would take another
/// pass.
const EXPLAINED_EVENTS: u64 = 1_000_000;

pub(crate) fn run(args: &AnalyzeArgs) -> anyhow::Result<Exit> {
    let input = Input::find_or_latest(args.trace.as_deref(), &args.read)?;
    let sources: RegionSources = args.regions.iter().copied().collect();
    let filters = Filters::read(&args.filter)?;
    let Analysed { mut document, interrupted, found } = match args.property {
        Property::Triple => match args.model {
            Some(Model::Lockset) => triples(args, &input, sources)?,
            Some(Model::Filtered) => filtered::analyse(args, &input, sources)?,
            Some(Model::Causal) => causal::analyse(args, &input, sources, usize::MAX)?,
            None => causal::analyse(args, &input, sources, causal::USUAL_EVENTS)?,
        },
        Property::Serial => serial(args, &input, sources)?,
        Property::Atomic => atomic::analyse(args, &input, sources)?,
    };
    let page = |document: &Document| pages::of_analysed(document, &input);
    let delivery = Delivery {
        name: &input.name,
        format: args.format,
        output: args.output.as_deref(),
        limit: args.limit,
        lines: input.lines(),
        page: &page,
    };
    filters.apply(&mut document, &delivery)?;
    delivery.deliver(&document)?;
    let found = match found {
        Found::Order(found) => found,
        Found::AtLeast(verdict) => reached(&document, verdict) > set_aside(&document, verdict),
    };
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
    /// What was found.
    pub(crate) found: Found,
}

/// Whether something was found.
#[derive(Clone, Copy)]
pub(crate) enum Found {
    /// About the observed order.
    Order(bool),
    /// If there are findings that got at least so far.
    AtLeast(Verdict),
}

/// How many findings got at least so far.
fn reached(document: &Document, verdict: Verdict) -> u64 {
    let counts = &document.counts;
    match verdict {
        Verdict::Confirmed => counts.confirmed,
        Verdict::Feasible => counts.feasible,
        Verdict::Plausible => counts.plausible.max(counts.feasible),
        Verdict::Possible | Verdict::Unknown | Verdict::Infeasible => counts.possible,
    }
}

/// What the results of all linear models begin with.
fn facts<'p>(profile: &'p Profile, pass: &'p Pass) -> TraceFacts<'p> {
    TraceFacts {
        tables: pass.tables(),
        events: pass.events(),
        threads: profile.threads() as u64,
        regions: profile.regions(),
        non_nested: profile.non_nested(),
    }
}

/// What to say besides if nothing is meant to be atomic; the text says so by itself.
fn note_regions(args: &AnalyzeArgs, regions: u64, notes: &mut Vec<String>) {
    if regions == 0 && args.format != OutputFormat::Text {
        notes.push("the trace has no region of the chosen sources, so nothing is meant to be atomic".to_owned());
    }
}

fn triples(args: &AnalyzeArgs, input: &Input, sources: RegionSources) -> anyhow::Result<Analysed> {
    let options = lockset::Options::new(sources);
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
    // Ids and annotations in sources are about all findings; without sources, those that are listed will do.
    let has_sources = pass.tables().sites().iter().any(|site| site.file.is_some());
    let needs_all = has_sources || args.filter.need_all();
    let options = if needs_all { options } else { options.with_limit(limit(args.format, args.limit)) };
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
    note_regions(args, profile.regions(), &mut notes);
    let mut document = build::lockset(&facts(&profile, &pass), &prediction, notes);
    if !interrupted && pass.events() <= EXPLAINED_EVENTS {
        explain(args, input, &mut document)?;
    }
    let fail_on = args.fail_on.map_or(Verdict::Possible, Verdict::from);
    Ok(Analysed { document, interrupted, found: Found::AtLeast(fail_on) })
}

/// Says what the accesses of findings read, wrote and held.
fn explain(args: &AnalyzeArgs, input: &Input, document: &mut Document) -> anyhow::Result<()> {
    let mut evidence = Evidence::new(args.regions.iter().copied().collect());
    document.findings.iter().for_each(|finding| evidence.want_all_of(finding));
    if document.findings.is_empty() {
        return Ok(());
    }
    let pass = Pass::run(
        input,
        "explaining",
        !args.no_progress,
        None,
        &mut evidence,
        |evidence, index, event, _| evidence.observe(index, event),
        |_| String::new(),
    )?;
    document.findings.iter_mut().for_each(|finding| findings::describe(finding, &evidence, pass.tables()));
    Ok(())
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
    Ok(Analysed { document, interrupted: pass.interrupted || picked.interrupted, found: Found::Order(cycle.is_some()) })
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
