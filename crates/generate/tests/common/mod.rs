//! What the tests share: whole traces in memory, a hash of them, and a checker of their own.
//!
//! The checker is written from the rules for STD traces and shares nothing with the generator or
//! with the readers: it must not inherit their mistakes.

#![allow(clippy::unwrap_used, dead_code)]

use interloper_generate::{Generator, Options, Shape};
use interloper_trace::{BATCH, Event, EventSource, Op, SiteKind, Tables};
use std::collections::{HashMap, HashSet};

/// A trace, all of it.
pub(crate) struct Trace {
    pub(crate) events: Vec<Event>,
    pub(crate) tables: Tables,
}

/// Generates a whole trace.
pub(crate) fn trace(shape: Shape, options: Options) -> Trace {
    let mut generator = Generator::new(shape, options).unwrap();
    let expected = generator.events();
    let (mut events, mut batch) = (Vec::new(), Vec::new());
    loop {
        generator.next_batch(&mut batch).unwrap();
        if batch.is_empty() {
            break;
        }
        assert!(batch.len() <= BATCH);
        events.append(&mut batch);
    }
    generator.next_batch(&mut batch).unwrap();
    assert!(batch.is_empty(), "the end stays the end");
    assert_eq!(events.len() as u64, expected);
    Trace { events, tables: generator.tables().clone() }
}

/// An event as text, by names: what STD would say.
pub(crate) fn line(event: &Event, tables: &Tables) -> String {
    let op = match event.op {
        Op::Read(access) => format!("r({})", tables.location_name(access.location)),
        Op::Write(access) => format!("w({})", tables.location_name(access.location)),
        Op::Acquire { lock, .. } => format!("acq({})", tables.lock(lock)),
        Op::Release { lock, .. } => format!("rel({})", tables.lock(lock)),
        Op::RegionBegin(_) => "begin".to_owned(),
        Op::RegionEnd(_) => "end".to_owned(),
        Op::Fork(child) => format!("fork({})", tables.thread(child)),
        Op::Join(child) => format!("join({})", tables.thread(child)),
        other => panic!("no shape makes {other:?}"),
    };
    let SiteKind::BareLine(line) = event.site.kind() else { panic!("sites are bare lines") };
    format!("{}|{op}|{line}\n", tables.thread(event.thread))
}

/// FNV-1a over the text of the trace.
pub(crate) fn hash(trace: &Trace) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for event in &trace.events {
        for byte in line(event, &trace.tables).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// What a trace turned out to hold.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) reentrant: u64,
    pub(crate) non_nested: u64,
    pub(crate) deepest: usize,
    pub(crate) nested_regions: u64,
    pub(crate) regions: u64,
    pub(crate) forks: u64,
    pub(crate) joins: u64,
    pub(crate) accesses: u64,
}

/// Panics unless the trace is well-formed.
pub(crate) fn check(trace: &Trace) -> Seen {
    let mut seen = Seen::default();
    let mut holder: HashMap<u32, (u32, u32)> = HashMap::new();
    let mut stacks: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut open: HashMap<u32, u32> = HashMap::new();
    let (mut ran, mut forked, mut joined) = (HashSet::new(), HashSet::new(), HashSet::new());
    for (index, event) in trace.events.iter().enumerate() {
        let thread = event.thread.raw();
        assert!(!joined.contains(&thread), "event {index}: its thread has been joined");
        ran.insert(thread);
        match event.op {
            Op::Acquire { lock, .. } => {
                let (by, depth) = holder.entry(lock.raw()).or_insert((thread, 0));
                assert_eq!(*by, thread, "event {index}: the lock is held by another thread");
                seen.reentrant += u64::from(*depth > 0);
                *depth += 1;
                let stack = stacks.entry(thread).or_default();
                stack.push(lock.raw());
                seen.deepest = seen.deepest.max(stack.len());
            }
            Op::Release { lock, .. } => {
                let (by, depth) = holder.get_mut(&lock.raw()).expect("a lock released is held");
                assert_eq!(*by, thread, "event {index}: the lock is held by another thread");
                *depth -= 1;
                if *depth == 0 {
                    holder.remove(&lock.raw());
                }
                let stack = stacks.entry(thread).or_default();
                seen.non_nested += u64::from(*stack.last().unwrap() != lock.raw());
                stack.remove(stack.iter().rposition(|&held| held == lock.raw()).unwrap());
            }
            Op::RegionBegin(_) => {
                let open = open.entry(thread).or_insert(0);
                seen.nested_regions += u64::from(*open > 0);
                seen.regions += u64::from(*open == 0);
                *open += 1;
            }
            Op::RegionEnd(_) => {
                let open = open.get_mut(&thread).expect("a region that ends has begun");
                assert!(*open > 0, "event {index}: end without begin");
                *open -= 1;
            }
            Op::Fork(child) => {
                assert_ne!(child.raw(), thread, "event {index}: forks itself");
                assert!(!ran.contains(&child.raw()), "event {index}: forks a thread that has events");
                assert!(!joined.contains(&child.raw()), "event {index}: forks a thread that was joined");
                assert!(forked.insert(child.raw()), "event {index}: forks twice");
                seen.forks += 1;
            }
            Op::Join(child) => {
                assert_ne!(child.raw(), thread, "event {index}: joins itself");
                joined.insert(child.raw());
                seen.joins += 1;
            }
            Op::Read(_) | Op::Write(_) => seen.accesses += 1,
            other => panic!("event {index}: no shape makes {other:?}"),
        }
    }
    check_ids(trace);
    seen
}

/// Ids are dense and in the order of first mention, and the tables hold nothing else.
fn check_ids(trace: &Trace) {
    let (mut threads, mut locks, mut locations) = (0, 0, 0);
    let mention = |next: &mut u32, id: u32| {
        assert!(id <= *next, "ids come in the order of first mention");
        *next = (*next).max(id + 1);
    };
    for event in &trace.events {
        mention(&mut threads, event.thread.raw());
        match event.op {
            Op::Read(access) | Op::Write(access) => mention(&mut locations, access.location.raw()),
            Op::Acquire { lock, .. } | Op::Release { lock, .. } => mention(&mut locks, lock.raw()),
            Op::Fork(child) | Op::Join(child) => mention(&mut threads, child.raw()),
            _ => {}
        }
    }
    let counts = [trace.tables.thread_count(), trace.tables.lock_count(), trace.tables.location_count()];
    assert_eq!(counts, [threads, locks, locations].map(|count| count as usize));
}
