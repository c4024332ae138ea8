//! What steps have in common, so that their order may matter.

use super::program::{Action, Effect, Touch};
use super::{Program, State};
use interloper_trace::{BarrierId, ConditionId, LockId, OnceId, SemaphoreId, ThreadId};

/// A step of a thread, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StepId {
    pub(crate) thread: ThreadId,
    pub(crate) number: u32,
}

/// What a step depends on, or others depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Resource {
    /// Some bytes. Steps that only read them do not depend on each other.
    Segment {
        number: u32,
        writes: bool,
    },
    Lock(LockId),
    Condition(ConditionId),
    Semaphore(SemaphoreId),
    Barrier(BarrierId),
    Once(OnceId),
    /// An event that has to be executed before.
    Event(usize),
    /// A thread that has to be done before.
    Thread(ThreadId),
}

impl Program<'_> {
    /// The step an event is part of; none if it has no effect.
    pub(crate) fn step_of(&self, event: usize) -> Option<StepId> {
        let thread = self.events.get(event)?.thread;
        self.places[event].step.map(|number| StepId { thread, number })
    }

    /// The step that a thread would do next, if it has a further one.
    pub(crate) fn next_step(&self, state: &State, thread: ThreadId) -> StepId {
        StepId { thread, number: state.progress(thread).0 }
    }

    /// The events of a step.
    pub(crate) fn events_of(&self, step: StepId) -> impl Iterator<Item = usize> + '_ {
        self.actions_of(step).iter().map(|action| action.event)
    }

    /// The fork that a thread has to wait for.
    pub(crate) fn fork_of(&self, thread: ThreadId) -> Option<usize> {
        self.threads[thread.index()].fork
    }

    /// Everything that a step's being enabled, or its effect, depends on, but for the thread itself.
    pub(crate) fn footprint(&self, step: StepId) -> Vec<Resource> {
        let fork = self.fork_of(step.thread).filter(|_| step.number == 0);
        let mut footprint: Vec<Resource> = fork.map(Resource::Event).into_iter().collect();
        for action in self.actions_of(step) {
            match action.effect {
                Effect::Access { touch, allocation } => {
                    footprint.extend(allocation.map(Resource::Event));
                    footprint.extend(self.segments(action, touch != Touch::Read));
                }
                Effect::Free => footprint.extend(self.segments(action, true)),
                Effect::Acquire { lock, .. } | Effect::TryAcquireFailed { lock, .. } | Effect::Release { lock, .. } => {
                    footprint.push(Resource::Lock(lock))
                }
                Effect::WaitBegin { condition, lock } | Effect::WaitEnd { condition, lock, .. } => {
                    footprint.extend([Resource::Lock(lock), Resource::Condition(condition)]);
                }
                Effect::Signal(condition) | Effect::Broadcast(condition) => {
                    footprint.push(Resource::Condition(condition));
                }
                Effect::SemaphoreWait(semaphore) | Effect::SemaphorePost(semaphore) => {
                    footprint.push(Resource::Semaphore(semaphore));
                }
                Effect::BarrierArrive { barrier, .. } | Effect::BarrierLeave { barrier, .. } => {
                    footprint.push(Resource::Barrier(barrier));
                }
                Effect::OnceBegin(once) | Effect::OnceEnd(once) | Effect::OncePass { once, .. } => {
                    footprint.push(Resource::Once(once));
                }
                Effect::Join(child) => footprint.push(Resource::Thread(child)),
                Effect::Allocate | Effect::Fork => {}
            }
        }
        footprint
    }

    /// Whether a step is an access of what no other thread cares for, and needs nothing to be done before.
    pub(crate) fn is_local(&self, step: StepId) -> bool {
        self.actions_of(step).iter().all(|action| match action.effect {
            Effect::Access { allocation: None, .. } => self.memory.cells(action.event).is_empty(),
            _ => false,
        })
    }

    fn segments(&self, action: &Action, writes: bool) -> impl Iterator<Item = Resource> + '_ {
        self.memory.cells(action.event).iter().map(move |cell| Resource::Segment { number: cell.segment, writes })
    }

    fn actions_of(&self, step: StepId) -> &[Action] {
        self.threads[step.thread.index()].step(step.number).unwrap_or_default()
    }
}
