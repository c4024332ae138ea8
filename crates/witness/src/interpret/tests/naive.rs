//! The rules again, to the letter: byte by byte, with every choice of every signal kept.
//!
//! Shares nothing with the machine but the rules.

use super::super::InitialValues;
use crate::testing::Trace;
use interloper_trace::{ConditionId, Event, LocationId, LockId, LockMode, Op, StringId, ThreadId, Wake};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Space {
    Object(StringId),
    Private(LocationId),
}

type Byte = (Space, u64);

/// Writer (none: initial state), value, and whether a read-modify-write that was not satisfied left it.
#[derive(Clone, Copy)]
struct Content {
    writer: Option<usize>,
    value: Option<u8>,
    tainted: bool,
}

pub(super) struct Naive<'t> {
    trace: &'t Trace,
    initial: InitialValues,
}

/// What becomes of an order step by step.
#[derive(Default)]
pub(super) struct Run {
    pub(super) executed: Vec<usize>,
    memory: BTreeMap<Byte, Content>,
    stuck: BTreeSet<ThreadId>,
    strayed: BTreeSet<usize>,
    held: Vec<(LockId, ThreadId, LockMode)>,
    given_up: BTreeMap<ThreadId, Vec<(LockId, ThreadId, LockMode)>>,
    waiting: BTreeMap<ThreadId, ConditionId>,
    /// The sets of notified threads that some choice leads to.
    worlds: BTreeSet<BTreeSet<ThreadId>>,
}

impl<'t> Naive<'t> {
    pub(super) fn new(trace: &'t Trace, initial: InitialValues) -> Self {
        Naive { trace, initial }
    }

    /// Whether an order that lists all events with an effect, step by step, is in the model.
    pub(super) fn accepts(&self, order: &[usize]) -> bool {
        let mut run = Run { worlds: BTreeSet::from([BTreeSet::new()]), ..Run::default() };
        let mut rest = order;
        while let [first, ..] = rest {
            let step = self.step(*first);
            if rest.get(..step.len()) != Some(&step[..]) {
                return false;
            }
            rest = &rest[step.len()..];
            if !self.is_next(&run, *first) || !step.iter().all(|&event| self.enabled(&mut run, event)) {
                return false;
            }
            self.access(&mut run, &step);
            for &event in &step {
                self.act(&mut run, event);
            }
        }
        true
    }

    pub(super) fn event(&self, at: usize) -> &Event {
        &self.trace.events[at]
    }

    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = (usize, &Event)> {
        self.trace.events.iter().enumerate()
    }

    /// The event and the pieces that go with it.
    fn step(&self, first: usize) -> Vec<usize> {
        let mut step = vec![first];
        let accesses = self.all().skip(first + 1).filter(|(_, event)| event.thread == self.event(first).thread);
        let mut accesses = accesses.filter(|(_, event)| access(&event.op).is_some());
        let mut last = first;
        while access(&self.event(last).op).is_some_and(|(.., more)| more) {
            let Some((next, _)) = accesses.next() else { break };
            step.push(next);
            last = next;
        }
        step
    }

    /// Whether all earlier events of the thread that have an effect are executed, and this one is not.
    fn is_next(&self, run: &Run, at: usize) -> bool {
        let earlier = self.all().take(at).filter(|(_, event)| event.thread == self.event(at).thread);
        let missing = earlier.filter(|(_, event)| has_effect(&event.op)).any(|(at, _)| !run.executed.contains(&at));
        !missing && !run.executed.contains(&at)
    }

    fn enabled(&self, run: &mut Run, at: usize) -> bool {
        let Event { thread, op, .. } = *self.event(at);
        let done = |at: usize| run.executed.contains(&at);
        let forks = || self.all().filter(|(_, event)| event.op == Op::Fork(thread));
        if run.stuck.contains(&thread) || forks().next().is_some_and(|(fork, _)| !done(fork)) {
            return false;
        }
        if self.on_the_way(run, at).into_iter().any(|event| !self.decides(event).is_disjoint(&run.strayed)) {
            return false;
        }
        let conflict = |lock: LockId, mode: LockMode| {
            run.held.iter().any(|&(held, holder, held_mode)| {
                held == lock && holder != thread && (mode == LockMode::Exclusive || held_mode == LockMode::Exclusive)
            })
        };
        match op {
            Op::Read(_) | Op::Write(_) | Op::ReadModifyWrite(_) => self.allocation(at).is_none_or(done),
            Op::Acquire { lock, mode, .. } => !conflict(lock, mode),
            Op::TryAcquireFailed { lock, mode } => {
                conflict(lock, mode) || run.held.iter().any(|held| held.0 == lock && held.1 == thread)
            }
            Op::WaitEnd { condition, lock, wake } => {
                if run.waiting.get(&thread) != Some(&condition) || conflict(lock, LockMode::Exclusive) {
                    return false;
                }
                match if self.unaccounted(condition).contains(&at) { Wake::Spurious } else { wake } {
                    Wake::Notified => run.worlds.retain(|notified| notified.contains(&thread)),
                    Wake::TimedOut => run.worlds.retain(|notified| !notified.contains(&thread)),
                    Wake::Spurious => {}
                }
                !run.worlds.is_empty()
            }
            Op::SemaphoreWait(_) => {
                let count = |events: &[usize]| {
                    let posts = events.iter().filter(|&&at| matches!(self.event(at).op, Op::SemaphorePost(_))).count();
                    let waits = events.iter().filter(|&&at| self.event(at).op == op).count();
                    posts as i64 - waits as i64
                };
                let observed: Vec<usize> = (0..self.trace.events.len()).collect();
                let lowest = (0..=observed.len()).map(|end| count(&observed[..end])).min().unwrap_or(0);
                count(&run.executed) - lowest > 0
            }
            Op::BarrierArrive(_) => {
                let generations = self.generations();
                generations.iter().all(|(other, generation)| *generation >= generations[&at] || done(*other))
            }
            Op::BarrierLeave(_) => {
                let generations = self.generations();
                let mine = generations.iter().filter(|(other, _)| **other < at && self.event(**other).thread == thread);
                let mine = mine.map(|(_, generation)| *generation).max();
                generations.iter().all(|(other, generation)| Some(*generation) > mine || done(*other))
            }
            Op::OnceBegin(once) => {
                let count = |op: Op| run.executed.iter().filter(|&&at| self.event(at).op == op).count();
                count(Op::OnceBegin(once)) <= count(Op::OnceEnd(once))
            }
            Op::OncePass(once) => {
                let ends = self.all().filter(|(_, event)| event.op == Op::OnceEnd(once)).map(|(end, _)| end);
                let ends: Vec<usize> = ends.collect();
                !ends.iter().any(|&end| end < at) || ends.iter().any(|&end| done(end))
            }
            Op::Join(child) => {
                let theirs = self.all().filter(|(_, event)| event.thread == child && has_effect(&event.op));
                let is_astray = run.strayed.iter().any(|read| self.event(*read).thread == child);
                theirs.map(|(at, _)| at).all(done) && !run.stuck.contains(&child) && !is_astray
            }
            _ => true,
        }
    }

    fn act(&self, run: &mut Run, at: usize) {
        let Event { thread, op, .. } = *self.event(at);
        run.executed.push(at);
        match op {
            Op::Acquire { lock, mode, .. } => run.held.push((lock, thread, mode)),
            Op::Release { lock, mode } => {
                let at = run.held.iter().position(|held| *held == (lock, thread, mode)).expect("it is held");
                run.held.remove(at);
            }
            Op::WaitBegin { condition, lock } => {
                let (up, held) = run.held.iter().partition(|held| held.0 == lock && held.1 == thread);
                run.held = held;
                run.given_up.insert(thread, up);
                run.waiting.insert(thread, condition);
            }
            Op::WaitEnd { .. } => {
                run.waiting.remove(&thread);
                run.held.extend(run.given_up.remove(&thread).expect("it waited"));
                run.worlds = std::mem::take(&mut run.worlds)
                    .into_iter()
                    .map(|notified| notified.into_iter().filter(|other| *other != thread).collect())
                    .collect();
            }
            Op::Signal(condition) | Op::Broadcast(condition) => {
                let waiting: BTreeSet<ThreadId> =
                    run.waiting.iter().filter(|(_, at)| **at == condition).map(|(thread, _)| *thread).collect();
                for notified in std::mem::take(&mut run.worlds) {
                    let wakeable: BTreeSet<ThreadId> = waiting.difference(&notified).copied().collect();
                    if matches!(op, Op::Broadcast(_)) {
                        run.worlds.insert(notified.union(&wakeable).copied().collect());
                    } else if wakeable.is_empty() {
                        run.worlds.insert(notified);
                    } else {
                        for woken in wakeable {
                            run.worlds.insert(notified.iter().copied().chain([woken]).collect());
                        }
                    }
                }
            }
            Op::Free { .. } => {
                for byte in self.bytes(at) {
                    run.memory.insert(byte, Content { writer: Some(at), value: None, tainted: false });
                }
            }
            _ => {}
        }
    }

    /// The memory part of a step.
    fn access(&self, run: &mut Run, step: &[usize]) {
        let mut memory = run.memory.clone();
        let satisfied = step.iter().all(|&at| self.touch(&mut memory, &run.strayed, at, true));
        if !satisfied {
            memory = run.memory.clone();
            step.iter().for_each(|&at| {
                self.touch(&mut memory, &run.strayed, at, false);
            });
            if self.is_loose(step[0]) {
                run.strayed.insert(step[0]);
            } else {
                run.stuck.insert(self.event(step[0]).thread);
            }
        }
        run.memory = memory;
    }

    /// Reads and writes; says whether the read was satisfied.
    fn touch(
        &self,
        memory: &mut BTreeMap<Byte, Content>,
        strayed: &BTreeSet<usize>,
        at: usize,
        as_observed: bool,
    ) -> bool {
        let op = &self.event(at).op;
        let Some((_, size, read, written, _)) = access(op) else { return true };
        let mut satisfied = true;
        for (number, byte) in self.bytes(at).into_iter().enumerate() {
            let initial = || Content { writer: None, value: self.initial_value(byte), tainted: false };
            let content = memory.get(&byte).copied().unwrap_or_else(initial);
            if let Some(read) = read {
                let read = part(read, size, number);
                let writer = self.last_writer(byte, at);
                let same = content.writer == writer || (read.is_some() && read == content.value);
                satisfied &= same && !content.tainted;
            }
            let value = written.and_then(|written| part(written, size, number));
            let is_rmw = matches!(op, Op::ReadModifyWrite(_));
            if is_rmw && !as_observed {
                memory.insert(byte, Content { writer: Some(at), value: None, tainted: true });
            } else if written.is_some() {
                let tainted = matches!(op, Op::Write(_)) && !self.written_from(at).is_disjoint(strayed);
                memory.insert(byte, Content { writer: Some(at), value, tainted });
            }
        }
        satisfied
    }

    fn bytes(&self, at: usize) -> Vec<Byte> {
        if let Op::Free { object } = self.event(at).op {
            let of_object = |location: LocationId| {
                self.trace.tables.location(location).is_some_and(|location| location.object == object)
            };
            let accesses = self.all().filter(|(_, event)| access(&event.op).is_some_and(|found| of_object(found.0)));
            return accesses.flat_map(|(other, _)| self.bytes(other)).collect::<BTreeSet<_>>().into_iter().collect();
        }
        let Some((location, size, ..)) = access(&self.event(at).op) else { return Vec::new() };
        let is_private = self.all().any(|(_, event)| {
            access(&event.op).is_some_and(|(other, other_size, ..)| other == location && other_size == 0)
        });
        let size = if size == 0 { 8 } else { size };
        let place = self.trace.tables.location(location).expect("all locations are in the tables");
        match is_private {
            true => (0..size).map(|offset| (Space::Private(location), offset)).collect(),
            false => (0..size).map(|offset| (Space::Object(place.object), place.offset + offset)).collect(),
        }
    }

    fn last_writer(&self, byte: Byte, before: usize) -> Option<usize> {
        let writes = |at: usize| match &self.event(at).op {
            Op::Free { .. } => true,
            op => access(op).is_some_and(|(_, _, _, written, _)| written.is_some()),
        };
        (0..before).rev().find(|&at| writes(at) && self.bytes(at).contains(&byte))
    }

    fn initial_value(&self, byte: Byte) -> Option<u8> {
        let told = (0..self.trace.events.len()).find_map(|at| {
            let number = self.bytes(at).iter().position(|other| *other == byte)?;
            let (_, size, read, ..) = access(&self.event(at).op)?;
            part(read?, size, number).filter(|_| self.last_writer(byte, at).is_none())
        });
        told.or(match self.initial {
            InitialValues::Zero => Some(0),
            InitialValues::Unknown => None,
        })
    }

    fn allocation(&self, at: usize) -> Option<usize> {
        let object =
            |op: &Op| access(op).map(|found| self.trace.tables.location(found.0).expect("it is in the tables").object);
        let wanted = object(&self.event(at).op);
        let first_access = self.all().find(|(_, event)| object(&event.op) == wanted).map(|(at, _)| at)?;
        let mut allocations = self.all().filter(|(_, event)| match event.op {
            Op::Allocate { object, .. } => Some(object) == wanted,
            _ => false,
        });
        allocations.next().map(|(at, _)| at).filter(|at| *at < first_access)
    }

    /// The generation of each arrival.
    fn generations(&self) -> BTreeMap<usize, usize> {
        let mut generations = BTreeMap::new();
        let mut current = 0;
        for (at, event) in self.all() {
            let mine = generations.iter().filter(|(other, _)| self.event(**other).thread == event.thread);
            let latest = mine.map(|(_, generation)| *generation).max();
            match event.op {
                Op::BarrierArrive(_) => {
                    generations.insert(at, current);
                }
                Op::BarrierLeave(_) if latest == Some(current) => current += 1,
                _ => {}
            }
        }
        generations
    }

    /// The ends that are notified although no signal accounts for them, in the observed order.
    fn unaccounted(&self, condition: ConditionId) -> BTreeSet<usize> {
        let end_of = |begin: usize| {
            let mut ends = self.all().skip(begin).filter(|(_, event)| event.thread == self.event(begin).thread);
            ends.find(|(_, event)| matches!(event.op, Op::WaitEnd { wake: Wake::Notified, .. })).map(|(at, _)| at)
        };
        let next_wait = |begin: usize| {
            let mut ends = self.all().skip(begin + 1).filter(|(_, event)| event.thread == self.event(begin).thread);
            ends.find(|(_, event)| matches!(event.op, Op::WaitEnd { .. })).map(|(at, _)| at)
        };
        let mut unaccounted = BTreeSet::new();
        let mut wanting: BTreeSet<usize> = BTreeSet::new();
        for (at, event) in self.all() {
            match event.op {
                Op::WaitBegin { condition: at_condition, .. } if at_condition == condition => {
                    wanting.extend(end_of(at).filter(|end| next_wait(at) == Some(*end)));
                }
                Op::WaitEnd { .. } if wanting.remove(&at) => {
                    unaccounted.insert(at);
                }
                Op::Signal(at_condition) if at_condition == condition => {
                    wanting.pop_first();
                }
                Op::Broadcast(at_condition) if at_condition == condition => wanting.clear(),
                _ => {}
            }
        }
        unaccounted
    }
}

pub(super) fn has_effect(op: &Op) -> bool {
    !matches!(
        op,
        Op::Branch { .. }
            | Op::Fence(_)
            | Op::Request(_)
            | Op::Exit
            | Op::Mark { .. }
            | Op::RegionBegin(_)
            | Op::RegionEnd(_)
            | Op::Input { .. }
            | Op::Define { .. }
            | Op::Bind { .. }
            | Op::Assume { .. }
    )
}

/// Location, size, value read, value written, and whether more pieces follow.
pub(super) type Found = (LocationId, u64, Option<Option<u64>>, Option<Option<u64>>, bool);

pub(super) fn access(op: &Op) -> Option<Found> {
    match *op {
        Op::Read(a) => Some((a.location, a.size.into(), Some(a.value.get()), None, a.more)),
        Op::Write(a) => Some((a.location, a.size.into(), None, Some(a.value.get()), a.more)),
        Op::ReadModifyWrite(a) => {
            let written = a.success.then_some(a.written.get());
            Some((a.location, a.size.into(), Some(a.read.get()), written, a.more))
        }
        _ => None,
    }
}

fn part(value: Option<u64>, size: u64, number: usize) -> Option<u8> {
    value.filter(|_| size <= 8).map(|value| value.to_le_bytes()[number])
}
