//! The bank keeps what it promises: two-phase, about twelve events, conflict-serializable.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Trace, check, trace};
use interloper_generate::{Options, Shape};
use interloper_trace::{Event, Op};
use std::collections::{HashMap, HashSet};

#[test]
fn banks_are_conflict_serializable() {
    for seed in 0..60 {
        for (threads, locks) in [(2, 1), (3, 2), (8, 4), (30, 3)] {
            let options = Options {
                events: Some(600),
                threads: Some(threads),
                locks: Some(locks),
                variables: Some(locks * 2),
                seed,
                ..Options::default()
            };
            let trace = trace(Shape::Bank, options);
            check(&trace);
            assert!(is_serializable(&trace), "seed {seed}, {threads} threads, {locks} locks");
        }
    }
}

#[test]
fn widened_banks_are_not() {
    let options =
        |seed| Options { events: Some(600), locks: Some(4), variables: Some(8), widen: 4, seed, ..Options::default() };
    let broken = (0..20).filter(|&seed| !is_serializable(&trace(Shape::Bank, options(seed)))).count();
    assert_eq!(broken, 20);
}

#[test]
fn accesses_are_under_the_lock_of_their_branch() {
    let options = Options { events: Some(30_000), widen: 3, ..Options::default() };
    let trace = trace(Shape::Bank, options);
    let mut held: HashMap<u32, Vec<u32>> = HashMap::new();
    for event in &trace.events {
        let held = held.entry(event.thread.raw()).or_default();
        match event.op {
            Op::Acquire { lock, .. } => {
                let lock = number(trace.tables.lock(lock));
                assert!(held.iter().all(|&other| other < lock), "in ascending order");
                held.push(lock);
            }
            Op::Release { lock, .. } => assert_eq!(held.pop(), Some(number(trace.tables.lock(lock)))),
            Op::Read(access) | Op::Write(access) => {
                let variable = number(&trace.tables.location_name(access.location));
                assert!(held.contains(&(variable / 64)));
            }
            _ => {}
        }
    }
}

#[test]
fn transactions_have_about_twelve_events() {
    let seen = check(&trace(Shape::Bank, Options { events: Some(120_000), ..Options::default() }));
    assert!((9_500..10_500).contains(&seen.regions), "{seen:?}");
}

fn number(name: &str) -> u32 {
    name[1..].parse().unwrap()
}

/// The definition, literally: transactions are nodes, every pair of conflicting events is an edge
/// (operations on one lock conflict, too), and a cycle is a violation.
fn is_serializable(trace: &Trace) -> bool {
    let transactions = transactions(&trace.events);
    let mut successors: Vec<HashSet<usize>> = vec![HashSet::new(); trace.events.len()];
    for (at, earlier) in trace.events.iter().enumerate() {
        for (after, later) in trace.events.iter().enumerate().skip(at + 1) {
            if conflict(earlier, later) && transactions[at] != transactions[after] {
                successors[transactions[at]].insert(transactions[after]);
            }
        }
    }
    // Kahn: whatever cannot be removed in topological order is on a cycle or behind one.
    let mut predecessors = vec![0; successors.len()];
    successors.iter().flatten().for_each(|&to| predecessors[to] += 1);
    let mut ready: Vec<usize> = (0..successors.len()).filter(|&node| predecessors[node] == 0).collect();
    let mut removed = 0;
    while let Some(node) = ready.pop() {
        removed += 1;
        for &to in &successors[node] {
            predecessors[to] -= 1;
            if predecessors[to] == 0 {
                ready.push(to);
            }
        }
    }
    removed == successors.len()
}

/// For each event the index of the first event of its transaction.
fn transactions(events: &[Event]) -> Vec<usize> {
    let mut open: HashMap<u32, usize> = HashMap::new();
    let mut result = Vec::new();
    for (index, event) in events.iter().enumerate() {
        if let Op::RegionBegin(_) = event.op {
            open.insert(event.thread.raw(), index);
        }
        result.push(open.get(&event.thread.raw()).copied().unwrap_or(index));
        if let Op::RegionEnd(_) = event.op {
            open.remove(&event.thread.raw());
        }
    }
    result
}

fn conflict(one: &Event, other: &Event) -> bool {
    let lock = |op: &Op| match *op {
        Op::Acquire { lock, .. } | Op::Release { lock, .. } => Some(lock),
        _ => None,
    };
    one.thread == other.thread
        || match (&one.op, &other.op) {
            (Op::Write(a), Op::Read(b) | Op::Write(b)) | (Op::Read(a), Op::Write(b)) => a.location == b.location,
            (a, b) => lock(a).is_some() && lock(a) == lock(b),
        }
}
