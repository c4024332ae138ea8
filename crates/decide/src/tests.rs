//! What the solver says, against all schedules of small traces.

use crate::{Ask, Candidate, Class, Decision, Limits, Outline, Unknown, decide};
use interloper_model::{InitialValues, Pattern, RegionEdge, RegionSources, Regions, access_of};
use interloper_trace::{
    Access, BoundValue, Event, EventIndex, Expr, ExprId, Op, Operator, Region, RegionSource, SiteId, Tables, Value,
};
use interloper_witness::interpret::{self, Program, check_order};
use interloper_witness::reference::feasible_triples_within;
use interloper_witness::testing::{Shape, Trace, traces};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Indices = (usize, usize, usize);

/// Every triple that fits a pattern.
fn candidates(events: &[Event]) -> Vec<Candidate> {
    let mut regions = Regions::new(RegionSources::default_choice());
    let mut open = vec![None; events.iter().map(|event| event.thread.index() + 1).max().unwrap_or(0)];
    let mut region_of = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let open = &mut open[event.thread.index()];
        if let Op::RegionBegin(region) = event.op
            && regions.begin(event.thread, region.source) == RegionEdge::Outermost
        {
            *open = Some(at);
        }
        region_of.push(*open);
        if let Op::RegionEnd(region) = event.op
            && regions.end(event.thread, region.source) == RegionEdge::Outermost
        {
            *open = None;
        }
    }
    let accesses: Vec<_> =
        events.iter().enumerate().filter_map(|(at, event)| Some((at, event.thread, access_of(&event.op)?))).collect();
    let mut all = Vec::new();
    for &(first, local, (location, a)) in &accesses {
        for &(remote, other, (_, b)) in accesses.iter().filter(|(_, _, (place, _))| *place == location) {
            for &(second, _, (_, c)) in accesses.iter().filter(|(at, thread, (place, _))| {
                *at > first && *thread == local && *place == location && region_of[*at].is_some()
            }) {
                let one_region = region_of[first] == region_of[second];
                if other != local && one_region && Pattern::of(a, b, c).is_some() {
                    let events = [first, remote, second].map(|at| EventIndex(at as u64));
                    all.push(Candidate { events, kinds: [a, b, c], class: Class::Any });
                }
            }
        }
    }
    all
}

fn indices(candidate: &Candidate) -> Indices {
    let [first, remote, second] = candidate.events.map(|event| event.0 as usize);
    (first, remote, second)
}

fn policies() -> [(InitialValues, interpret::InitialValues); 2] {
    [(InitialValues::Zero, interpret::InitialValues::Zero), (InitialValues::Unknown, interpret::InitialValues::Unknown)]
}

/// The solver's answers are those of brute force, and its schedules are in the model.
fn agrees(trace: &Trace, limits: &Limits) -> Result<(), TestCaseError> {
    let Trace { events, tables } = trace;
    for (initial, theirs) in policies() {
        let program = Program::new(events, tables, theirs);
        let Some(feasible) = feasible_triples_within(&program, RegionSources::default_choice(), 20_000) else {
            return Ok(());
        };
        let outline = Outline::new(events, tables, initial);
        let all = candidates(events);
        let decisions = decide(&outline, std::slice::from_ref(&all), Ask::Each, limits, &|_| {});
        let mut found = BTreeSet::new();
        for (candidate, decision) in all.iter().zip(&decisions[0]) {
            match decision {
                Some(Decision::Feasible(order)) => {
                    let full: Vec<usize> = order.in_full(events).into_iter().map(|event| event as usize).collect();
                    let (first, remote, second) = indices(candidate);
                    let checked = check_order(&program, &full, Some([first, remote, second]));
                    prop_assert!(checked.is_ok(), "{candidate:?}: {checked:?}\n{full:?}\n{}", show(events));
                    found.insert(indices(candidate));
                }
                Some(Decision::Infeasible) => {
                    prop_assert!(
                        !feasible.contains(&indices(candidate)),
                        "{candidate:?} is feasible\n{}",
                        show(events)
                    );
                }
                Some(Decision::Unknown(why)) => {
                    prop_assert_eq!(*why, Unknown::Window);
                    prop_assert!(outline.len() > limits.windows.1);
                }
                None => prop_assert!(false, "{candidate:?} was not decided"),
            }
        }
        if outline.len() <= limits.windows.1 {
            prop_assert_eq!(found, feasible, "{}", show(events));
        }
    }
    Ok(())
}

fn show(events: &[Event]) -> String {
    let lines = events.iter().enumerate().map(|(at, event)| format!("{at}: T{} {:?}", event.thread.raw(), event.op));
    lines.collect::<Vec<_>>().join("\n")
}

/// An expression of 64 reads says what it depends on, one of more says that all of them matter.
#[test]
fn expressions_of_many_reads() {
    for (reads, can_change) in [(64, true), (65, false)] {
        let trace = summed(reads);
        // The first read comes before the write that it had found, the second after it.
        let order: Vec<usize> = vec![3, 0, 6];
        let program = Program::new(&trace.events, &trace.tables, interpret::InitialValues::Zero);
        assert_eq!(check_order(&program, &order, Some([3, 0, 6])).is_ok(), can_change);
        let outline = Outline::new(&trace.events, &trace.tables, InitialValues::Zero);
        let candidate = candidates(&trace.events).into_iter().find(|candidate| indices(candidate) == (3, 0, 6));
        let set = vec![candidate.expect("they are three accesses")];
        let decisions = decide(&outline, &[set], Ask::Each, &whole(), &|_| {});
        assert_eq!(matches!(decisions[0][0], Some(Decision::Feasible(_))), can_change);
        assert_eq!(matches!(decisions[0][0], Some(Decision::Infeasible)), !can_change);
    }
}

/// One thread adds up what it reads again and again, after another has written it.
fn summed(reads: u32) -> Trace {
    let mut tables = Tables::new();
    let location = tables.intern_location("x", 0).expect("a location");
    let [writer, reader] = ["writer", "reader"].map(|name| tables.intern_thread(name).expect("a thread"));
    let access = Access { size: 4, value: Value::known(1), ..Access::bare(location) };
    let region = Region { name: None, source: RegionSource::Annotated };
    let mut ops = vec![(writer, Op::Write(access)), (reader, Op::RegionBegin(region))];
    let (variable, sum) = (ExprId::new, |read: u32| ExprId::new(1000 + read));
    ops.push((reader, Op::Define { id: sum(0), expr: Expr::Constant { width: 32, bits: 0 } }));
    for read in 1..=reads {
        let operands = [sum(read - 1), variable(read), variable(read)];
        let expr = Expr::Apply { operator: Operator::Add, width: 32, operands };
        ops.push((reader, Op::Read(access)));
        ops.push((reader, Op::Bind { expr: variable(read), of: BoundValue::Read }));
        ops.push((reader, Op::Define { id: sum(read), expr }));
    }
    let event = |(thread, op)| Event { thread, site: SiteId::UNKNOWN, op };
    Trace { events: ops.into_iter().map(event).collect(), tables }
}

fn whole() -> Limits {
    Limits::default()
}

fn cut(size: usize) -> Limits {
    Limits { windows: (size, size), ..Limits::default() }
}

fn growing() -> Limits {
    Limits { windows: (4, 4096), jobs: 2, ..Limits::default() }
}

macro_rules! agreement {
    ($($name:ident: $shape:expr, $cases:literal;)*) => {$(
        #[test]
        fn $name() {
            let config = ProptestConfig { cases: $cases, failure_persistence: None, ..ProptestConfig::default() };
            proptest!(config, |(trace in traces($shape))| { agrees(&trace, &whole())?; });
        }
    )*};
}

const NO_LOCKS: Shape = Shape { locking: false, ..Shape::PLAIN };

agreement! {
    plain: Shape::PLAIN, 3000;
    memory: Shape::MEMORY, 2000;
    everything: Shape::ALL, 1500;
    waiting: Shape::WAITING, 2000;
    read_write_locks: Shape { shared_locks: true, ..Shape::PLAIN }, 1000;
    try_locks: Shape { try_failures: true, shared_locks: true, ..Shape::PLAIN }, 1000;
    fork_and_join: Shape { forks: true, locking: false, ..Shape::PLAIN }, 1000;
    read_modify_writes: Shape { rmw: true, ..NO_LOCKS }, 1500;
    conditions: Shape { waits: true, events: 24, objects: 1, locks: 1, ..Shape::PLAIN }, 1500;
    timed_waits: Shape { waits: true, wakeups: true, events: 24, objects: 1, locks: 1, ..Shape::PLAIN }, 1500;
    semaphores: Shape { semaphores: true, ..NO_LOCKS }, 1000;
    barriers: Shape { barriers: true, events: 20, ..NO_LOCKS }, 1000;
    onces: Shape { onces: true, events: 20, ..NO_LOCKS }, 1000;
    mixed_sizes: Shape { overlaps: true, pieces: true, objects: 1, ..NO_LOCKS }, 1500;
    lifetimes: Shape { allocations: true, ..NO_LOCKS }, 1000;
    bound: Shape::BOUND, 3000;
    bound_without_locks: Shape { locking: false, objects: 1, ..Shape::BOUND }, 3000;
    bound_with_read_modify_writes_and_forks: Shape { rmw: true, forks: true, ..Shape::BOUND }, 2000;
    bound_memory: Shape { bound: true, ..Shape::MEMORY }, 1500;
    bound_everything: Shape { bound: true, ..Shape::ALL }, 1500;
    without_values: Shape { unknown_values: true, unsized_accesses: true, ..Shape::PLAIN }, 1000;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Windows may leave things undecided, but what they say is right.
    #[test]
    fn windows_tell_the_truth(trace in traces(Shape::ALL), size in 2..16usize) {
        agrees(&trace, &cut(size))?;
    }

    #[test]
    fn windows_of_bound_reads_tell_the_truth(trace in traces(Shape { events: 24, ..Shape::BOUND }), size in 2..16usize) {
        agrees(&trace, &cut(size))?;
    }

    #[test]
    fn windows_of_memory_tell_the_truth(trace in traces(Shape { events: 20, ..Shape::MEMORY }), size in 2..16usize) {
        agrees(&trace, &cut(size))?;
    }

    #[test]
    fn growing_windows_decide_all(trace in traces(Shape { events: 20, ..Shape::ALL })) {
        agrees(&trace, &growing())?;
    }

    /// Constraints that are added one by one say the same as all at once.
    #[test]
    fn laziness_does_not_show(trace in traces(Shape { events: 20, ..Shape::ALL }), size in 3..40usize) {
        let lazy = Limits { eager: 0, ..whole() };
        agrees(&trace, &lazy)?;
        agrees(&trace, &Limits { eager: 0, ..cut(size) })?;
    }

    #[test]
    fn laziness_does_not_show_in_memory(trace in traces(Shape { events: 24, ..Shape::MEMORY }), size in 3..40usize) {
        agrees(&trace, &Limits { eager: 0, ..whole() })?;
        agrees(&trace, &Limits { eager: 0, ..cut(size) })?;
    }

    #[test]
    fn laziness_does_not_show_with_bound_reads(
        trace in traces(Shape { rmw: true, forks: true, ..Shape::BOUND }),
        size in 3..40usize,
    ) {
        agrees(&trace, &Limits { eager: 0, ..whole() })?;
        agrees(&trace, &Limits { eager: 0, ..cut(size) })?;
    }

    /// The first feasible one of a set is found, if there is one.
    #[test]
    fn the_first_is_the_first(trace in traces(Shape { rmw: true, ..Shape::PLAIN })) {
        let Trace { events, tables } = &trace;
        let outline = Outline::new(events, tables, InitialValues::Zero);
        let all = candidates(events);
        let each = decide(&outline, std::slice::from_ref(&all), Ask::Each, &whole(), &|_| {});
        let first = decide(&outline, std::slice::from_ref(&all), Ask::First, &whole(), &|_| {});
        let place = |decisions: &[Option<Decision>]| {
            decisions.iter().position(|decision| matches!(decision, Some(Decision::Feasible(_))))
        };
        prop_assert_eq!(place(&each[0]), place(&first[0]));
    }
}
