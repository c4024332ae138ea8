//! The fast analysis against the graph.

#![allow(clippy::unwrap_used)]

use super::reference::{conflict, first_cycle, transactions};
use super::{Conflict, Cycle, Serializability};
use crate::testing::{Shape, trace, traces};
use interloper_model::RegionSources;
use interloper_trace::{Event, EventIndex, Op, SemaphoreId};
use proptest::prelude::*;

fn sources() -> RegionSources {
    RegionSources::default_choice()
}

fn check(events: &[Event]) -> Option<Cycle> {
    let mut analysis = Serializability::new(sources());
    for (at, event) in events.iter().enumerate() {
        analysis.observe(EventIndex(at as u64), event);
    }
    analysis.cycle().cloned()
}

/// That a cycle is one: every step is a transaction of the trace, every edge a conflict in order.
fn assert_is_cycle(events: &[Event], cycle: &Cycle) {
    let transactions = transactions(events, sources());
    assert!(cycle.steps.len() >= 2, "{cycle:?}");
    assert_eq!(cycle.steps[0].enter, cycle.at, "it begins where it closes: {cycle:?}");
    for (at, step) in cycle.steps.iter().enumerate() {
        let next = &cycle.steps[(at + 1) % cycle.steps.len()];
        for event in [step.enter.0 as usize, step.leave.0 as usize] {
            assert_eq!(transactions[event] as u64, step.transaction.start.0, "{cycle:?}");
            assert_eq!(events[event].thread, step.transaction.thread, "{cycle:?}");
        }
        let (from, to) = (step.leave.0 as usize, next.enter.0 as usize);
        assert!(from < to && conflict(&events[from], &events[to]), "step {at} of {cycle:?}");
        assert_ne!(step.transaction, next.transaction, "{cycle:?}");
        let same_thread = events[from].thread == events[to].thread;
        assert_eq!(same_thread, step.conflict == Conflict::ProgramOrder, "{cycle:?}");
    }
}

const LONG: Shape = Shape {
    threads: 5,
    locks: 3,
    locations: 5,
    events: 60,
    forks: true,
    nested: false,
    shared_locks: true,
    waits: true,
    rmw: true,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8000))]

    #[test]
    fn agrees_with_graph(events in traces(LONG)) {
        let found = check(&events);
        prop_assert_eq!(found.as_ref().map(|cycle| cycle.at.0 as usize), first_cycle(&events, sources()));
        if let Some(cycle) = found {
            assert_is_cycle(&events, &cycle);
        }
    }

    /// Few conflicts, many threads: cycles that take long to close.
    #[test]
    fn agrees_with_graph_when_sparse(events in traces(Shape { locations: 40, locks: 40, threads: 6, events: 120, ..LONG })) {
        let found = check(&events);
        prop_assert_eq!(found.as_ref().map(|cycle| cycle.at.0 as usize), first_cycle(&events, sources()));
        if let Some(cycle) = found {
            assert_is_cycle(&events, &cycle);
        }
    }
}

fn closes_at(text: &str) -> Option<u64> {
    let events = trace(text);
    let cycle = check(&events);
    assert_eq!(cycle.as_ref().map(|cycle| cycle.at.0 as usize), first_cycle(&events, sources()));
    cycle.map(|cycle| cycle.at.0)
}

#[test]
fn an_interloper_closes_a_cycle() {
    assert_eq!(closes_at("0 b; 0 r0; 1 w0; 0 r0; 0 e"), Some(3));
    assert_eq!(closes_at("0 b; 0 r0; 0 r0; 1 w0; 0 e"), None);
    assert_eq!(closes_at("0 r0; 1 w0; 0 r0"), None, "without regions every order is serial");
}

/// Vector clocks of predecessors notice this one only when a region ends.
#[test]
fn a_cycle_through_a_region_that_is_passed_on_late() {
    // 2 → 0 (over x), 0 → 1 (over y), 1 → 2 (over z); 0 gets its predecessor after 1 has seen it.
    assert_eq!(closes_at("0 b; 1 b; 2 b; 0 w1; 1 r1; 2 w0; 0 r0; 1 w2; 2 r2"), Some(8));
}

#[test]
fn lock_order_counts() {
    assert_eq!(closes_at("0 b; 0 +0; 0 -0; 1 +0; 1 -0; 0 +0; 0 -0; 0 e"), Some(5));
    assert_eq!(closes_at("0 b; 0 f1; 1 w0; 0 j1; 0 e"), Some(3));
}

#[test]
fn nested_regions_count_once() {
    assert_eq!(closes_at("0 b; 0 r0; 0 b; 0 e; 1 w0; 0 r0; 0 e"), Some(5));
    assert_eq!(closes_at("0 b; 0 r0; 0 e; 1 w0; 0 b; 0 r0; 0 e"), None);
}

#[test]
fn semaphores_and_barriers_order() {
    let mut events = trace("0 b; 0 w0; 1 r1; 1 r1; 0 w0; 0 e");
    let semaphore = SemaphoreId::new(0);
    events[1].op = Op::SemaphorePost(semaphore);
    events[2].op = Op::SemaphoreWait(semaphore);
    events[3].op = Op::SemaphorePost(semaphore);
    events[4].op = Op::SemaphoreWait(semaphore);
    assert_eq!(check(&events).map(|cycle| cycle.at.0), Some(4));
    assert_eq!(first_cycle(&events, sources()), Some(4));
}
