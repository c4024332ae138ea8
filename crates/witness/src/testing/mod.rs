//! Small random traces with values for tests, as a real run would have left them.
//!
//! A trace is made from a script of arbitrary numbers; each asks one thread to do one thing, and what is
//! not possible at that moment is left out. So every script means something, and a failing one can be
//! shrunk. Memory, locks and waiters are simulated: what a read says is what was there, and a wait ends
//! notified only if it was (unless the shape asks for lost signals).

mod expressions;
mod simulation;
#[cfg(test)]
mod tests;

use crate::interpret::{Program, check_order};
use interloper_trace::{Event, Op, Tables, ThreadId, Wake};
use proptest::prelude::*;
use rustc_hash::FxHashSet;
use simulation::Simulation;
use std::collections::BTreeMap;
use std::fmt;

/// A trace in memory.
#[derive(Clone)]
pub struct Trace {
    /// The events, in observed order.
    pub events: Vec<Event>,
    /// The names behind their ids.
    pub tables: Tables,
}

/// One line an event, so that a failing trace can be read.
impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, event) in self.events.iter().enumerate() {
            write!(f, "\n{at:3} {}: {:?}", self.tables.thread(event.thread), event.op)?;
            if let Some((location, _)) = interloper_model::access_of(&event.op) {
                write!(f, " ({})", self.tables.location_name(location))?;
            }
        }
        writeln!(f)
    }
}

/// What may occur in a random trace.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How many threads at most, at least two.
    pub threads: u32,
    /// How many entries of a script at most; there are fewer events, or a few more.
    pub events: usize,
    /// How many objects are there from the beginning, at least one.
    pub objects: u32,
    /// How many locks, at least one.
    pub locks: u32,
    /// Locks are taken and released at all.
    pub locking: bool,
    /// Locks in shared mode.
    pub shared_locks: bool,
    /// Try-locks that fail.
    pub try_failures: bool,
    /// Threads that are forked and joined.
    pub forks: bool,
    /// Waits on a condition, signals and broadcasts.
    pub waits: bool,
    /// Waits that end because their time was up, or for no reason.
    pub wakeups: bool,
    /// Waits that end notified although no signal was recorded.
    pub lost_signals: bool,
    /// Semaphores.
    pub semaphores: bool,
    /// Barriers.
    pub barriers: bool,
    /// Once-initialisers.
    pub onces: bool,
    /// Read-modify-writes.
    pub rmw: bool,
    /// Accesses of several sizes that overlap in part.
    pub overlaps: bool,
    /// Accesses in pieces.
    pub pieces: bool,
    /// Accesses of unknown size.
    pub unsized_accesses: bool,
    /// Accesses of unknown value.
    pub unknown_values: bool,
    /// Objects that are allocated and freed.
    pub allocations: bool,
    /// Events without effect.
    pub effect_free: bool,
    /// Expressions: reads and writes that are bound to them, assumptions, branches; some of them muddled.
    pub bound: bool,
}

impl Shape {
    /// Loads, stores and locks.
    pub const PLAIN: Shape = Shape {
        threads: 3,
        events: 14,
        objects: 2,
        locks: 2,
        locking: true,
        shared_locks: false,
        try_failures: false,
        forks: false,
        waits: false,
        wakeups: false,
        lost_signals: false,
        semaphores: false,
        barriers: false,
        onces: false,
        rmw: false,
        overlaps: false,
        pieces: false,
        unsized_accesses: false,
        unknown_values: false,
        allocations: false,
        effect_free: false,
        bound: false,
    };

    /// Loads, stores and locks, with what depends on what was read.
    pub const BOUND: Shape = Shape { events: 18, bound: true, ..Shape::PLAIN };

    /// All that is about memory: sizes, pieces, values, objects.
    pub const MEMORY: Shape = Shape {
        locking: false,
        rmw: true,
        overlaps: true,
        pieces: true,
        unsized_accesses: true,
        unknown_values: true,
        allocations: true,
        ..Shape::PLAIN
    };

    /// All that is about waiting: locks of all kinds, conditions, semaphores, barriers, onces, threads.
    pub const WAITING: Shape = Shape {
        events: 22,
        objects: 1,
        shared_locks: true,
        try_failures: true,
        forks: true,
        waits: true,
        wakeups: true,
        lost_signals: true,
        semaphores: true,
        barriers: true,
        onces: true,
        ..Shape::PLAIN
    };

    /// Everything but expressions.
    pub const ALL: Shape = Shape {
        rmw: true,
        overlaps: true,
        pieces: true,
        unsized_accesses: true,
        unknown_values: true,
        allocations: true,
        effect_free: true,
        ..Shape::WAITING
    };
}

/// Random traces of a shape, or of a smaller one: few names make many meetings.
pub fn traces(shape: Shape) -> impl Strategy<Value = Trace> {
    let script = prop::collection::vec(any::<(u8, u8, u8, u8)>(), shape.events / 2..=shape.events);
    (2..=shape.threads.max(2), 1..=shape.objects.max(1), 1..=shape.locks.max(1), script).prop_map(
        move |(threads, objects, locks, script)| {
            Simulation::new(Shape { threads, objects, locks, ..shape }).run(&script)
        },
    )
}

/// Some order that shows a triple, found by a search through all schedules for this one alone.
pub fn order_showing(program: &Program<'_>, triple: [usize; 3]) -> Option<Vec<usize>> {
    let mut seen = FxHashSet::default();
    let mut todo = vec![(program.start(), Vec::new())];
    while let Some((state, order)) = todo.pop() {
        if check_order(program, &order, Some(triple)).is_ok() {
            return Some(order);
        }
        // Once one of the three is executed too soon, it is too late.
        let done = triple.map(|event| program.is_done(&state, event));
        if matches!(done, [false, true, _] | [_, false, true]) || done == [true; 3] || !seen.insert(state.clone()) {
            continue;
        }
        for thread in (0..program.thread_count()).filter_map(ThreadId::from_index) {
            let choices = program.choices(&state, thread);
            let choices = if choices.is_empty() { vec![None] } else { choices.into_iter().map(Some).collect() };
            for choice in choices {
                let executed = program.next_events(&state, thread);
                let order: Vec<usize> = order.iter().copied().chain(executed).collect();
                let mut next = state.clone();
                if program.step(&mut next, thread, choice).is_ok() {
                    todo.push((next, order));
                }
            }
        }
    }
    None
}

/// How often a trace has what, to see that tests test something.
pub fn census(events: &[Event]) -> BTreeMap<&'static str, usize> {
    let mut census = BTreeMap::new();
    for event in events {
        let name = match event.op {
            Op::WaitEnd { wake: Wake::TimedOut, .. } => "timed_out",
            Op::WaitEnd { wake: Wake::Spurious, .. } => "spurious",
            Op::Read(access) | Op::Write(access) if access.more => "piece",
            Op::ReadModifyWrite(rmw) if rmw.more => "rmw_piece",
            Op::ReadModifyWrite(rmw) if !rmw.success => "rmw_failed",
            ref op => interloper_model::kind_name(op),
        };
        *census.entry(name).or_default() += 1;
    }
    census
}
