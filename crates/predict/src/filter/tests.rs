//! The indexed Algorithm 1 against the printed one. The ladder's tests hold the sound rule against all schedules.

use super::reference::may_be_infeasible;
use super::{Rejection, Rule, filter};
use crate::lockset::{Enumerator, Options, Profiler};
use crate::testing::{Shape, trace, traces};
use crate::triple::Triple;
use interloper_model::{InitialValues, RegionSources};
use interloper_trace::{Event, EventIndex, Op, Tables};
use proptest::prelude::*;

/// Every triple that locks, fork and join do not forbid.
fn possible(events: &[Event]) -> Vec<Triple> {
    let options = Options::new(RegionSources::default_choice());
    let mut profiler = Profiler::new(&options);
    let indexed = || (0..).map(EventIndex).zip(events);
    indexed().for_each(|(index, event)| profiler.observe(index, event));
    let overview = profiler.finish().overview();
    let mut enumerator = Enumerator::new(&options, &overview);
    indexed().for_each(|(index, event)| enumerator.observe(index, event));
    enumerator.finish().triples
}

fn rejections(rule: Rule, triples: &[Triple], events: &[Event]) -> Vec<Option<Rejection>> {
    filter(rule, triples, events, &Tables::new(), InitialValues::Zero)
}

/// Puts branches into a trace: before every event for which the bit of its number is set.
fn with_branches(events: &[Event], bits: u64) -> Vec<Event> {
    let mut branched = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if bits >> (at % 64) & 1 == 1 {
            branched.push(Event { op: Op::Branch { count: 1 + (at % 2) as u32 }, ..*event });
        }
        branched.push(*event);
    }
    branched
}

fn line_of(rejection: &Rejection) -> u32 {
    match rejection {
        Rejection::Lemma { lemma: 1, case: 1, .. } => 9,
        Rejection::Lemma { lemma: 1, case: 2, .. } => 6,
        Rejection::Lemma { lemma: 1, case: 3, .. } => 15,
        Rejection::Lemma { lemma: 2, case: 1, .. } => 23,
        Rejection::Lemma { lemma: 2, case: 2, .. } => 30,
        other => panic!("no lemma: {other:?}"),
    }
}

#[test]
fn the_indexed_algorithm_is_the_printed_one() {
    let shape = Shape { locations: 3, rmw: true, ..Shape::LOCKS };
    let mut lines = std::collections::BTreeMap::<u32, usize>::new();
    let config = ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() };
    let lines = std::cell::RefCell::new(&mut lines);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    runner
        .run(&(traces(shape), any::<Option<u64>>()), |(events, bits)| {
            let events = bits.map_or(events.clone(), |bits| with_branches(&events, bits));
            let triples = possible(&events);
            let rejections = rejections(Rule::Paper, &triples, &events);
            for (triple, rejection) in triples.iter().zip(rejections) {
                let printed = may_be_infeasible(&events, triple);
                prop_assert_eq!(rejection.is_some(), printed.is_some(), "{:?}: {:?} {:?}", triple, rejection, printed);
                if let Some(rejection) = rejection {
                    *lines.borrow_mut().entry(line_of(&rejection)).or_default() += 1;
                }
            }
            Ok(())
        })
        .expect("they agree");
    let lines = lines.into_inner();
    for line in [6, 9, 15, 23, 30] {
        assert!(lines.get(&line).copied().unwrap_or(0) > 50, "line {line} rejects too little to be tested: {lines:?}");
    }
}

#[test]
fn a_rejection_names_a_cycle() {
    // What the region reads before its first access was written after the remote one.
    let events = trace("2 w0; 2 w1; 1 b; 1 r1; 1 w0; 1 r0; 1 e");
    let triples = possible(&events);
    let rejection = rejections(Rule::Sound, &triples, &events);
    let index = |at: u64| EventIndex(at);
    assert_eq!(rejection, [Some(Rejection::Cycle(vec![index(0), index(1), index(3), index(4)]))]);
}

#[test]
fn far_apart_only_clocks_are_left() {
    // The same, with so much in between that the closure does not look.
    let mut text = "2 w0; 2 w1; ".to_owned();
    text.push_str(&"3 r2; 4 w2; ".repeat(300));
    text.push_str("1 b; 1 r1; 1 w0; 1 r0; 1 e");
    let events = trace(&text);
    let triples = possible(&events);
    let rejection = rejections(Rule::Sound, &triples, &events);
    assert_eq!(rejection, [Some(Rejection::Ordered { earlier: EventIndex(0), later: EventIndex(604) })]);
}
