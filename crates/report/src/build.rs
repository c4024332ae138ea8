//! From predictions and tables to the result document.

use crate::event_text;
use crate::fingerprint;
use crate::result::{
    Atomic, Counts, CycleEvent, CycleStep, Document, Execution, Finding, FindingEvent, HeldLocks, NonNestedThread,
    Region, SCHEMA, Serial, TraceSummary, Variable, Verdict, Witness,
};
use interloper_judge::{Instance, Proof, Verdict as Judgement};
use interloper_model::{NonNested, StateId, access_of, kind_name};
use interloper_predict::lockset::Prediction;
use interloper_predict::serial::{Conflict, Cycle};
use interloper_predict::{Access, RegionSpan, Triple};
use interloper_trace::{Event, EventIndex, LockId, LockMode, SiteId, Tables};
use rustc_hash::FxHashMap;

/// What every verdict assumes about memory.
const MEMORY_MODEL: &str = "sequentially consistent";

/// The facts about a trace that every result begins with.
#[derive(Clone, Debug)]
pub struct TraceFacts<'t> {
    /// Its names.
    pub tables: &'t Tables,
    /// Events read.
    pub events: u64,
    /// Threads that did anything.
    pub threads: u64,
    /// Outermost regions.
    pub regions: u64,
    /// Threads that do not release in reverse order.
    pub non_nested: &'t [NonNested],
}

/// The result of the lockset model.
pub fn lockset(facts: &TraceFacts<'_>, prediction: &Prediction, notes: Vec<String>) -> Document {
    let findings = prediction.triples.iter().map(|triple| finding(triple, &prediction.held, facts.tables)).collect();
    let counts = Counts {
        candidates: prediction.candidates,
        possible: prediction.possible,
        infeasible: prediction.candidates - prediction.possible,
        ..Counts::default()
    };
    document(facts, "lockset", counts, findings, notes)
}

/// What was decided about a triple.
#[derive(Clone, Debug)]
pub struct Decided<'a> {
    /// The triple.
    pub triple: &'a Triple,
    /// How far it got.
    pub verdict: Verdict,
    /// Why no further.
    pub reason: Option<String>,
    /// A schedule that shows it.
    pub witness: Option<Witness>,
    /// What the program did when that was executed.
    pub execution: Option<Execution>,
}

/// The locks held in states.
pub type HeldInStates = FxHashMap<StateId, Vec<(LockId, LockMode)>>;

/// The findings of a model that decides. They have no ids yet: those are for [`document`] to give.
pub fn decided(decided: &[Decided<'_>], held: &HeldInStates, tables: &Tables) -> Vec<Finding> {
    decided
        .iter()
        .map(|decided| Finding {
            verdict: decided.verdict,
            reason: decided.reason.clone(),
            witness: decided.witness.clone(),
            execution: decided.execution.clone(),
            ..finding(decided.triple, held, tables)
        })
        .collect()
}

/// The result about a list of findings, which gives them their ids.
pub fn document(
    facts: &TraceFacts<'_>,
    model: &'static str,
    counts: Counts,
    mut findings: Vec<Finding>,
    notes: Vec<String>,
) -> Document {
    fingerprint::give_ids(&mut findings);
    Document {
        schema: SCHEMA,
        trace: summary(facts),
        model,
        property: "triple",
        counts,
        memory_model: MEMORY_MODEL,
        findings,
        suppressed: Vec::new(),
        serial: None,
        atomic: None,
        program: None,
        explored: None,
        notes,
    }
}

/// The result about the observed order. `picked` holds the events of the cycle, `ends` the ends of
/// its regions, by the events that begin them.
pub fn serial(
    facts: &TraceFacts<'_>,
    cycle: Option<&Cycle>,
    complete: bool,
    picked: &FxHashMap<EventIndex, Event>,
    ends: &FxHashMap<EventIndex, EventIndex>,
    notes: Vec<String>,
) -> Document {
    let serial = Serial {
        serializable: if cycle.is_some() { Some(false) } else { complete.then_some(true) },
        at: cycle.map(|cycle| cycle.at.0),
        cycle: cycle.map(|cycle| cycle_steps(cycle, facts.tables, picked, ends)).unwrap_or_default(),
    };
    Document {
        schema: SCHEMA,
        trace: summary(facts),
        // No model is involved: the field echoes the one that triples would be predicted with.
        model: "lockset",
        property: "serial",
        counts: Counts::default(),
        memory_model: MEMORY_MODEL,
        findings: Vec::new(),
        suppressed: Vec::new(),
        serial: Some(serial),
        atomic: None,
        program: None,
        explored: None,
        notes,
    }
}

/// The result about the observed values. `picked` are the events of the instance, if there is one.
pub fn atomic(facts: &TraceFacts<'_>, judgement: Judgement, picked: &[Event], notes: Vec<String>) -> Document {
    let (verdict, by) = match judgement {
        Judgement::Atomic => ("atomic", "exact"),
        Judgement::NonAtomic(Proof::Exact) => ("non-atomic", "exact"),
        Judgement::NonAtomic(Proof::Condition(_)) => ("non-atomic", "condition"),
        Judgement::Unknown(_) => ("unknown", "exact"),
    };
    let instance = match judgement {
        Judgement::NonAtomic(Proof::Condition(instance)) => Some(instance),
        _ => None,
    };
    let atomic = Atomic {
        verdict,
        by,
        pattern: instance.map(|instance| instance.pattern.name()),
        events: instance.map(|instance| instance.events.map(|index| index.0)),
        accesses: instance.map(|instance| instance_events(&instance, picked, facts.tables)).unwrap_or_default(),
        variable: picked
            .first()
            .and_then(|event| access_of(&event.op))
            .map(|(location, _)| facts.tables.location_name(location)),
    };
    let document = document(facts, "lockset", Counts::default(), Vec::new(), notes);
    // As with `serial`, no model is involved.
    Document { property: "atomic", atomic: Some(atomic), ..document }
}

fn instance_events(instance: &Instance, picked: &[Event], tables: &Tables) -> Vec<FindingEvent> {
    let roles = ["first", "remote", "second"];
    let accesses = instance.events.iter().zip(picked).zip(roles).filter_map(|((index, event), role)| {
        let (_, kind) = access_of(&event.op)?;
        let access = Access { index: *index, thread: event.thread, site: event.site, kind };
        Some(finding_event(role, &access, tables))
    });
    accesses.collect()
}

fn summary(facts: &TraceFacts<'_>) -> TraceSummary {
    let non_nested = facts.non_nested.iter().map(|non_nested| NonNestedThread {
        thread: facts.tables.thread(non_nested.thread).to_owned(),
        nested: false,
        index: non_nested.at.0,
        lock: facts.tables.lock(non_nested.lock).to_owned(),
    });
    TraceSummary {
        file: None,
        events: facts.events,
        threads: facts.threads,
        locations: facts.tables.location_count() as u64,
        locks: facts.tables.lock_count() as u64,
        regions: facts.regions,
        nested_locking: facts.non_nested.is_empty(),
        non_nested_threads: non_nested.collect(),
    }
}

fn finding(triple: &Triple, held: &HeldInStates, tables: &Tables) -> Finding {
    let variable = tables.location_name(triple.location);
    let pattern = triple.pattern.name();
    let held = |state| {
        let locks: &[(LockId, LockMode)] = held.get(&state).map_or(&[], Vec::as_slice);
        locks.iter().map(|(lock, _)| tables.lock(*lock).to_owned()).collect()
    };
    Finding {
        id: String::new(),
        verdict: Verdict::Possible,
        reason: None,
        harm: None,
        pattern,
        variable: Variable { name: variable, size: None },
        region: region(&triple.region, tables),
        innermost: None,
        events: vec![
            finding_event("first", &triple.first, tables),
            finding_event("remote", &triple.remote, tables),
            finding_event("second", &triple.second, tables),
        ],
        locks: HeldLocks { region: held(triple.region_state), remote: held(triple.remote_state) },
        witness: None,
        replay: None,
        execution: None,
        trace: None,
        threads: Vec::new(),
        known: false,
    }
}

fn region(span: &RegionSpan, tables: &Tables) -> Region {
    Region {
        source: span.source.name(),
        name: None,
        thread: tables.thread(span.thread).to_owned(),
        begin: span.begin.0,
        end: span.end.map(|end| end.0),
    }
}

fn finding_event(role: &'static str, access: &Access, tables: &Tables) -> FindingEvent {
    let (file, line, function) = site(access.site, tables);
    FindingEvent {
        role,
        index: access.index.0,
        thread: tables.thread(access.thread).to_owned(),
        op: access.kind.name(),
        file,
        line,
        function,
        occurrence: None,
        read: None,
        written: None,
        held: None,
    }
}

fn cycle_steps(
    cycle: &Cycle,
    tables: &Tables,
    picked: &FxHashMap<EventIndex, Event>,
    ends: &FxHashMap<EventIndex, EventIndex>,
) -> Vec<CycleStep> {
    let step = |step: &interloper_predict::serial::CycleStep| {
        let transaction = step.transaction;
        let source = match picked.get(&transaction.start).map(|event| event.op) {
            Some(interloper_trace::Op::RegionBegin(region)) => Some(region.source),
            _ => None,
        };
        let (conflict, on) = conflict(step.conflict, tables);
        CycleStep {
            thread: tables.thread(transaction.thread).to_owned(),
            region: source.map(|source| {
                let end = ends.get(&transaction.start).copied();
                region(&RegionSpan { thread: transaction.thread, source, begin: transaction.start, end }, tables)
            }),
            enter: cycle_event(step.enter, tables, picked),
            leave: cycle_event(step.leave, tables, picked),
            conflict,
            on,
        }
    };
    cycle.steps.iter().map(step).collect()
}

fn cycle_event(index: EventIndex, tables: &Tables, picked: &FxHashMap<EventIndex, Event>) -> CycleEvent {
    let event = picked.get(&index);
    let (file, line, function) = event.map(|event| site(event.site, tables)).unwrap_or_default();
    CycleEvent {
        index: index.0,
        op: event.map_or("unknown", |event| kind_name(&event.op)),
        target: event.and_then(|event| event_text::target(&event.op, tables)),
        file,
        line,
        function,
    }
}

fn conflict(conflict: Conflict, tables: &Tables) -> (&'static str, Option<String>) {
    match conflict {
        Conflict::ProgramOrder => ("program-order", None),
        Conflict::Location(location) => ("access", Some(tables.location_name(location))),
        Conflict::Lock(lock) => ("lock", Some(tables.lock(lock).to_owned())),
        Conflict::Condition(condition) => ("condition", Some(tables.condition(condition).to_owned())),
        Conflict::Semaphore(semaphore) => ("semaphore", Some(tables.semaphore(semaphore).to_owned())),
        Conflict::Barrier(barrier) => ("barrier", Some(tables.barrier(barrier).to_owned())),
        Conflict::Once(once) => ("once", Some(tables.once(once).to_owned())),
        Conflict::Fork => ("fork", None),
        Conflict::Join => ("join", None),
    }
}

pub(crate) type SiteFields = (Option<String>, Option<i64>, Option<String>);

pub(crate) fn site(site: SiteId, tables: &Tables) -> SiteFields {
    let site = tables.site(site);
    let text = |id| tables.strings.get(id).to_owned();
    (site.file.map(text), site.line, site.function.map(text))
}
