//! The same question by the book: build the transaction graph, look for a cycle after every event.

use interloper_model::{RegionSources, access_of};
use interloper_trace::{Event, LockId, LockMode, Op, Wake};
use std::collections::{BTreeMap, BTreeSet};

/// The first event that closes a cycle.
pub fn first_cycle(events: &[Event], sources: RegionSources) -> Option<usize> {
    let transactions = transactions(events, sources);
    let mut edges: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    (0..events.len()).find(|&later| {
        for earlier in 0..later {
            if transactions[earlier] != transactions[later] && conflict(&events[earlier], &events[later]) {
                edges.entry(transactions[earlier]).or_default().insert(transactions[later]);
            }
        }
        reaches(&edges, transactions[later], transactions[later])
    })
}

/// The transaction each event belongs to, by the position of its first event.
pub fn transactions(events: &[Event], sources: RegionSources) -> Vec<usize> {
    let mut open: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    events
        .iter()
        .enumerate()
        .map(|(at, event)| {
            let open = open.entry(event.thread.index()).or_default();
            if let Op::RegionBegin(region) = event.op
                && sources.contains(region.source)
            {
                open.push(at);
            }
            let transaction = open.first().copied().unwrap_or(at);
            if let Op::RegionEnd(region) = event.op
                && sources.contains(region.source)
            {
                open.pop();
            }
            transaction
        })
        .collect()
}

/// Whether two events, in this order, cannot be exchanged.
pub fn conflict(earlier: &Event, later: &Event) -> bool {
    if earlier.thread == later.thread {
        return true;
    }
    if earlier.op == Op::Fork(later.thread) || later.op == Op::Join(earlier.thread) {
        return true;
    }
    if let (Some((x, a)), Some((y, b))) = (access_of(&earlier.op), access_of(&later.op)) {
        return x == y && (a.writes() || b.writes());
    }
    if let (Some((l, a)), Some((m, b))) = (released(&earlier.op), acquired(&later.op))
        && l == m
        && (a == LockMode::Exclusive || b == LockMode::Exclusive)
    {
        return true;
    }
    match (earlier.op, later.op) {
        (Op::Signal(c) | Op::Broadcast(c), Op::WaitEnd { condition, wake: Wake::Notified, .. }) => c == condition,
        (Op::SemaphorePost(s), Op::SemaphoreWait(t)) => s == t,
        (Op::BarrierArrive(a), Op::BarrierLeave(b)) => a == b,
        (Op::OnceEnd(a), Op::OncePass(b)) => a == b,
        _ => false,
    }
}

fn released(op: &Op) -> Option<(LockId, LockMode)> {
    match *op {
        Op::Release { lock, mode } => Some((lock, mode)),
        Op::WaitBegin { lock, .. } => Some((lock, LockMode::Exclusive)),
        _ => None,
    }
}

fn acquired(op: &Op) -> Option<(LockId, LockMode)> {
    match *op {
        Op::Acquire { lock, mode, .. } => Some((lock, mode)),
        Op::WaitEnd { lock, .. } => Some((lock, LockMode::Exclusive)),
        _ => None,
    }
}

fn reaches(edges: &BTreeMap<usize, BTreeSet<usize>>, from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut todo = vec![from];
    while let Some(at) = todo.pop() {
        for &next in edges.get(&at).into_iter().flatten() {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                todo.push(next);
            }
        }
    }
    false
}
