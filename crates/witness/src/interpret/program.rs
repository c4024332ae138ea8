//! A trace taken apart into what each thread does, step by step.

use super::flow::Flow;
use super::memory::{Memory, allocations};
use super::waits::spurious_ends;
use super::{InitialValues, Program};
use interloper_trace::{
    BarrierId, ConditionId, Event, LocationId, LockId, LockMode, OnceId, Op, SemaphoreId, StringId, Tables, ThreadId,
    Wake,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// An event that has an effect, and what it has to know of the rest of the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Action {
    pub(super) event: usize,
    pub(super) effect: Effect,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// An access, which comes after the allocation of what it accesses.
    Access {
        touch: Touch,
        allocation: Option<usize>,
    },
    Allocate,
    Free,
    Acquire {
        lock: LockId,
        mode: LockMode,
    },
    TryAcquireFailed {
        lock: LockId,
        mode: LockMode,
    },
    Release {
        lock: LockId,
        mode: LockMode,
    },
    WaitBegin {
        condition: ConditionId,
        lock: LockId,
    },
    WaitEnd {
        condition: ConditionId,
        lock: LockId,
        wake: Wake,
    },
    Signal(ConditionId),
    Broadcast(ConditionId),
    SemaphoreWait(SemaphoreId),
    SemaphorePost(SemaphoreId),
    /// An arrival at a barrier, before which so many others must have been.
    BarrierArrive {
        barrier: BarrierId,
        arrivals: u32,
    },
    /// A departure, likewise.
    BarrierLeave {
        barrier: BarrierId,
        arrivals: u32,
    },
    OnceBegin(OnceId),
    OnceEnd(OnceId),
    /// The initialiser is found done, and perhaps an end of it must have happened for that.
    OncePass {
        once: OnceId,
        after_end: bool,
    },
    Fork,
    Join(ThreadId),
}

/// What an access does to what it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    Write,
    /// A read-modify-write that wrote, or did not.
    ReadModifyWrite {
        success: bool,
    },
}

/// What one thread does.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadSteps {
    /// All its events, those without effect too.
    pub(super) events: Vec<usize>,
    pub(super) actions: Vec<Action>,
    /// Which actions make one step.
    pub(super) steps: Vec<Range<u32>>,
    /// What its first step has to wait for.
    pub(super) fork: Option<usize>,
    /// The last action is not the last one of its step.
    unfinished: bool,
}

/// Where an event is in its thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Among all events of the thread.
    pub(super) number: u32,
    /// The step it belongs to; none if it has no effect.
    pub(super) step: Option<u32>,
}

impl<'t> Program<'t> {
    /// Takes a trace apart. Of one that is not well-formed some schedules may be missed, no more.
    pub fn new(events: &'t [Event], tables: &Tables, initial: InitialValues) -> Self {
        let mut builder = Builder {
            tables,
            allocations: allocations(events, tables),
            spurious: spurious_ends(events),
            arrivals: arrivals_before(events),
            ended: FxHashSet::default(),
            threads: vec![ThreadSteps::default(); thread_count(events, tables)],
            places: Vec::with_capacity(events.len()),
        };
        for (at, event) in events.iter().enumerate() {
            builder.event(at, event);
        }
        let flow = Flow::new(events);
        Program {
            events,
            memory: Memory::new(events, tables, initial, &flow),
            flow,
            semaphores: semaphore_starts(events, tables),
            barriers: count(events, tables.barrier_count(), |op| barrier_of(op).map(BarrierId::index)),
            onces: count(events, tables.once_count(), |op| once_of(op).map(OnceId::index)),
            threads: builder.threads,
            places: builder.places,
        }
    }
}

/// Whether an event is always enabled and changes nothing, so that orders may leave it out.
pub fn is_effect_free(op: &Op) -> bool {
    matches!(
        op,
        Op::Fence(_)
            | Op::Request(_)
            | Op::Start
            | Op::Finish
            | Op::Branch { .. }
            | Op::Enter { .. }
            | Op::Exit
            | Op::RegionBegin(_)
            | Op::RegionEnd(_)
            | Op::Input { .. }
            | Op::Define { .. }
            | Op::Bind { .. }
            | Op::Assume { .. }
            | Op::Mark { .. }
    )
}

struct Builder<'t> {
    tables: &'t Tables,
    allocations: FxHashMap<StringId, usize>,
    spurious: FxHashSet<usize>,
    /// By event.
    arrivals: FxHashMap<usize, u32>,
    /// The once-initialisers that have ended so far.
    ended: FxHashSet<OnceId>,
    threads: Vec<ThreadSteps>,
    places: Vec<Place>,
}

impl Builder<'_> {
    fn event(&mut self, at: usize, event: &Event) {
        if let Op::Fork(child) = event.op {
            self.threads[child.index()].fork.get_or_insert(at);
        }
        let effect = self.effect(at, &event.op);
        let thread = &mut self.threads[event.thread.index()];
        let number = thread.events.len() as u32;
        thread.events.push(at);
        let step = effect.map(|effect| thread.push(Action { event: at, effect }, is_continued(&event.op)));
        self.places.push(Place { number, step });
    }

    fn effect(&mut self, at: usize, op: &Op) -> Option<Effect> {
        let arrivals = self.arrivals.get(&at).copied().unwrap_or(0);
        Some(match *op {
            Op::Read(access) => self.access(access.location, Touch::Read),
            Op::Write(access) => self.access(access.location, Touch::Write),
            Op::ReadModifyWrite(rmw) => self.access(rmw.location, Touch::ReadModifyWrite { success: rmw.success }),
            Op::Allocate { .. } => Effect::Allocate,
            Op::Free { .. } => Effect::Free,
            Op::Acquire { lock, mode, .. } => Effect::Acquire { lock, mode },
            Op::TryAcquireFailed { lock, mode } => Effect::TryAcquireFailed { lock, mode },
            Op::Release { lock, mode } => Effect::Release { lock, mode },
            Op::WaitBegin { condition, lock } => Effect::WaitBegin { condition, lock },
            Op::WaitEnd { condition, lock, wake } => {
                let wake = if self.spurious.contains(&at) { Wake::Spurious } else { wake };
                Effect::WaitEnd { condition, lock, wake }
            }
            Op::Signal(condition) => Effect::Signal(condition),
            Op::Broadcast(condition) => Effect::Broadcast(condition),
            Op::SemaphoreWait(semaphore) => Effect::SemaphoreWait(semaphore),
            Op::SemaphorePost(semaphore) => Effect::SemaphorePost(semaphore),
            Op::BarrierArrive(barrier) => Effect::BarrierArrive { barrier, arrivals },
            Op::BarrierLeave(barrier) => Effect::BarrierLeave { barrier, arrivals },
            Op::OnceBegin(once) => Effect::OnceBegin(once),
            Op::OnceEnd(once) => {
                self.ended.insert(once);
                Effect::OnceEnd(once)
            }
            Op::OncePass(once) => Effect::OncePass { once, after_end: self.ended.contains(&once) },
            Op::Fork(_) => Effect::Fork,
            Op::Join(child) => Effect::Join(child),
            Op::Fence(_)
            | Op::Request(_)
            | Op::Start
            | Op::Finish
            | Op::Branch { .. }
            | Op::Enter { .. }
            | Op::Exit
            | Op::RegionBegin(_)
            | Op::RegionEnd(_)
            | Op::Input { .. }
            | Op::Define { .. }
            | Op::Bind { .. }
            | Op::Assume { .. }
            | Op::Mark { .. } => return None,
        })
    }

    fn access(&self, location: LocationId, touch: Touch) -> Effect {
        let object = self.tables.location(location).map(|location| location.object);
        Effect::Access { touch, allocation: object.and_then(|object| self.allocations.get(&object)).copied() }
    }
}

impl ThreadSteps {
    /// Adds an action, to the last step if that is to go on; says which step it is in.
    fn push(&mut self, action: Action, continued: bool) -> u32 {
        let end = self.actions.len() as u32 + 1;
        let goes_on = self.unfinished && matches!(action.effect, Effect::Access { .. });
        match self.steps.last_mut() {
            Some(step) if goes_on => step.end = end,
            _ => self.steps.push(end - 1..end),
        }
        self.actions.push(action);
        self.unfinished = continued;
        self.steps.len() as u32 - 1
    }

    /// The actions of a step.
    pub(super) fn step(&self, number: u32) -> Option<&[Action]> {
        let Range { start, end } = self.steps.get(number as usize)?.clone();
        self.actions.get(start as usize..end as usize)
    }
}

fn is_continued(op: &Op) -> bool {
    match op {
        Op::Read(access) | Op::Write(access) => access.more,
        Op::ReadModifyWrite(rmw) => rmw.more,
        _ => false,
    }
}

fn thread_count(events: &[Event], tables: &Tables) -> usize {
    let named = events.iter().map(|event| {
        let other = match event.op {
            Op::Fork(child) | Op::Join(child) => child.index(),
            _ => 0,
        };
        event.thread.index().max(other) + 1
    });
    named.max().unwrap_or(0).max(tables.thread_count())
}

fn count(events: &[Event], named: usize, id: impl Fn(&Op) -> Option<usize>) -> usize {
    events.iter().filter_map(|event| id(&event.op)).map(|index| index + 1).max().unwrap_or(0).max(named)
}

fn barrier_of(op: &Op) -> Option<BarrierId> {
    match *op {
        Op::BarrierArrive(barrier) | Op::BarrierLeave(barrier) => Some(barrier),
        _ => None,
    }
}

fn once_of(op: &Op) -> Option<OnceId> {
    match *op {
        Op::OnceBegin(once) | Op::OnceEnd(once) | Op::OncePass(once) => Some(once),
        _ => None,
    }
}

/// The least count for each semaphore with which the observed order never goes below zero.
fn semaphore_starts(events: &[Event], tables: &Tables) -> Vec<u32> {
    let semaphores = count(events, tables.semaphore_count(), |op| match op {
        Op::SemaphoreWait(semaphore) | Op::SemaphorePost(semaphore) => Some(semaphore.index()),
        _ => None,
    });
    let mut starts = vec![0; semaphores];
    let mut counts = starts.clone();
    for event in events {
        match event.op {
            Op::SemaphoreWait(semaphore) => {
                let count: &mut u32 = &mut counts[semaphore.index()];
                match count.checked_sub(1) {
                    Some(less) => *count = less,
                    None => starts[semaphore.index()] += 1,
                }
            }
            Op::SemaphorePost(semaphore) => counts[semaphore.index()] += 1,
            _ => {}
        }
    }
    starts
}

/// For each arrival at a barrier, and each departure, how many arrivals must be before it.
///
/// An arrival comes after those of earlier generations, a departure after those of its own too.
fn arrivals_before(events: &[Event]) -> FxHashMap<usize, u32> {
    #[derive(Default)]
    struct Barrier {
        arrivals: u32,
        /// The first arrival of the generation that is open.
        open: u32,
        /// Each thread's latest arrival: the first one of its generation.
        latest: FxHashMap<ThreadId, u32>,
        /// By the first arrival of a generation: one past its last.
        ends: FxHashMap<u32, u32>,
        departures: Vec<(usize, u32)>,
    }
    let mut barriers: FxHashMap<BarrierId, Barrier> = FxHashMap::default();
    let mut before = FxHashMap::default();
    for (at, event) in events.iter().enumerate() {
        match event.op {
            Op::BarrierArrive(barrier) => {
                let barrier = barriers.entry(barrier).or_default();
                before.insert(at, barrier.open);
                barrier.latest.insert(event.thread, barrier.open);
                barrier.arrivals += 1;
                barrier.ends.insert(barrier.open, barrier.arrivals);
            }
            Op::BarrierLeave(barrier) => {
                let barrier = barriers.entry(barrier).or_default();
                let Some(&generation) = barrier.latest.get(&event.thread) else { continue };
                barrier.departures.push((at, generation));
                if generation == barrier.open {
                    barrier.open = barrier.arrivals;
                }
            }
            _ => {}
        }
    }
    for barrier in barriers.values() {
        before.extend(barrier.departures.iter().map(|&(at, generation)| (at, barrier.ends[&generation])));
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use interloper_trace::SiteId;

    fn event(thread: u32, op: Op) -> Event {
        Event { thread: ThreadId::new(thread), site: SiteId::from_raw(0), op }
    }

    /// A thread that leaves late, when another is at the barrier again already, closes nothing.
    #[test]
    fn a_late_departure_is_of_the_old_generation() {
        let barrier = BarrierId::new(0);
        let (arrive, leave) = (Op::BarrierArrive(barrier), Op::BarrierLeave(barrier));
        let events = [
            event(0, arrive),
            event(1, arrive),
            event(0, leave),
            event(0, arrive),
            event(1, leave),
            event(1, arrive),
            event(0, leave),
            event(1, leave),
        ];
        let before = arrivals_before(&events);
        let before: Vec<u32> = (0..events.len()).map(|at| before[&at]).collect();
        assert_eq!(before, [0, 0, 2, 2, 2, 2, 4, 4]);
    }

    #[test]
    fn a_semaphore_starts_as_low_as_it_can() {
        let semaphore = SemaphoreId::new(1);
        let (wait, post) = (Op::SemaphoreWait(semaphore), Op::SemaphorePost(semaphore));
        let events = [wait, post, wait, wait, post, wait].map(|op| event(0, op));
        assert_eq!(semaphore_starts(&events, &Tables::new()), [0, 2]);
    }

    /// Every operation either has an effect or may be left out.
    #[test]
    fn what_is_free_of_effect_has_no_step() {
        let events = [event(0, Op::Start), event(0, Op::Fork(ThreadId::new(3))), event(0, Op::Finish)];
        let program = Program::new(&events, &Tables::new(), InitialValues::Zero);
        for (place, event) in program.places.iter().zip(&events) {
            assert_eq!(place.step.is_none(), is_effect_free(&event.op));
        }
        assert_eq!(program.threads.len(), 4);
    }
}
