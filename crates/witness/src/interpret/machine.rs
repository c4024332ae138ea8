//! What is enabled, and what steps do.

use super::Program;
use super::memory::{Cell, Content};
use super::program::{Action, Effect, Touch};
use super::state::{Once, State, ThreadState, Wait};
use interloper_model::AccessKind;
use interloper_trace::{BarrierId, ConditionId, LockId, LockMode, OnceId, Op, SemaphoreId, ThreadId, Wake};

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether all it read was as observed. If not, the thread is stuck, unless the read is loose.
    pub satisfied: bool,
}

/// Why a thread cannot do its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// There is none.
    #[error("the thread has no further step")]
    Ended,
    /// It has read something else than observed.
    #[error("the thread has read something else than observed, at its last step")]
    Stuck,
    /// What it would do depends on something that it has read otherwise than observed.
    #[error("the thread's path depends on event {read}, which has read something else than observed")]
    Astray {
        /// The read.
        read: usize,
    },
    /// It does not exist yet.
    #[error("the thread is not forked yet, which event {fork} does")]
    NotForked {
        /// The fork.
        fork: usize,
    },
    /// The thread it joins is not done, or not as observed.
    #[error("thread {child} to be joined is not done", child = child.raw())]
    NotDone {
        /// The thread to be joined.
        child: ThreadId,
    },
    /// A lock is not to be had.
    #[error("lock {lock} is held by thread {holder}", lock = lock.raw(), holder = holder.raw())]
    Held {
        /// The lock.
        lock: LockId,
        /// One who holds it.
        holder: ThreadId,
    },
    /// A try-lock would succeed.
    #[error("lock {lock} is to be had, where an attempt failed", lock = lock.raw())]
    NotHeld {
        /// The lock.
        lock: LockId,
    },
    /// A wait has not begun.
    #[error("the thread does not wait at condition {}", .0.raw())]
    NotWaiting(ConditionId),
    /// A wait that ends notified was not.
    #[error("the thread was not notified at condition {}", .0.raw())]
    NotNotified(ConditionId),
    /// A wait that ends by time was notified.
    #[error("the thread was notified at condition {}, where its time was up", .0.raw())]
    Notified(ConditionId),
    /// A signal cannot wake this thread.
    #[error("thread {} does not wait for a signal", .0.raw())]
    NoSuchWaiter(ThreadId),
    /// A semaphore is at zero.
    #[error("semaphore {} is at zero", .0.raw())]
    AtZero(SemaphoreId),
    /// Others have to arrive at a barrier first.
    #[error("others have to arrive at barrier {} first", .0.raw())]
    Missing(BarrierId),
    /// A once-initialiser runs.
    #[error("once-initialiser {} runs", .0.raw())]
    Runs(OnceId),
    /// A once-initialiser has not run.
    #[error("once-initialiser {} has not run", .0.raw())]
    NotRun(OnceId),
    /// An object does not exist yet.
    #[error("what is accessed is not allocated yet, which event {allocation} does")]
    NotAllocated {
        /// The allocation.
        allocation: usize,
    },
}

impl Program<'_> {
    /// Before anything happened.
    pub fn start(&self) -> State {
        State {
            threads: vec![ThreadState::default(); self.threads.len()],
            memory: self.memory.initial.clone(),
            holds: Vec::new(),
            semaphores: self.semaphores.clone(),
            barriers: vec![0; self.barriers],
            onces: vec![Once::default(); self.onces],
            strayed: Vec::new(),
        }
    }

    /// Whether a thread can do its next step.
    pub fn enabled(&self, state: &State, thread: ThreadId) -> bool {
        self.obstacle(state, thread).is_none()
    }

    /// Why a thread cannot do its next step, if it cannot.
    pub fn obstacle(&self, state: &State, thread: ThreadId) -> Option<Obstacle> {
        let actions = self.next_actions(state, thread);
        if actions.is_empty() {
            return Some(Obstacle::Ended);
        }
        if state.threads[thread.index()].stuck {
            return Some(Obstacle::Stuck);
        }
        if let Some(fork) = self.threads[thread.index()].fork
            && !self.is_done(state, fork)
        {
            return Some(Obstacle::NotForked { fork });
        }
        if let Some(read) = self.astray_before(state, thread) {
            return Some(Obstacle::Astray { read });
        }
        actions.iter().find_map(|action| self.obstacle_to(state, thread, &action.effect))
    }

    /// The events of a thread's next step; none if it has no further one.
    pub fn next_events(&self, state: &State, thread: ThreadId) -> impl Iterator<Item = usize> + '_ {
        self.next_actions(state, thread).iter().map(|action| action.event)
    }

    /// Whom a thread's next step may wake, if that is a signal: one of these, if any.
    pub fn choices(&self, state: &State, thread: ThreadId) -> Vec<ThreadId> {
        match self.next_actions(state, thread) {
            [Action { effect: Effect::Signal(condition), .. }] => state.waiters(*condition).collect(),
            _ => Vec::new(),
        }
    }

    /// Does a thread's next step. A signal wakes the thread chosen, or the first that waits.
    pub fn step(&self, state: &mut State, thread: ThreadId, choice: Option<ThreadId>) -> Result<Outcome, Obstacle> {
        if let Some(obstacle) = self.obstacle(state, thread) {
            return Err(obstacle);
        }
        let actions = self.next_actions(state, thread);
        let satisfied = match actions {
            [Action { effect: Effect::Signal(condition), .. }] => {
                self.signal(state, *condition, choice)?;
                true
            }
            [Action { effect, event }] if !matches!(effect, Effect::Access { .. }) => {
                self.act(state, thread, *event, effect);
                true
            }
            accesses => self.access(state, accesses),
        };
        let strayed = actions.iter().find(|action| !satisfied && self.flow.is_loose(action.event));
        if let Some(read) = strayed {
            state.stray(read.event);
        }
        let thread = &mut state.threads[thread.index()];
        thread.position += 1;
        thread.stuck = !satisfied && strayed.is_none();
        Ok(Outcome { satisfied })
    }

    /// Whether an event has been executed; those without effect, if some later step of the thread has.
    pub fn is_done(&self, state: &State, event: usize) -> bool {
        let (Some(event), Some(place)) = (self.events.get(event), self.places.get(event)) else { return false };
        let thread = event.thread.index();
        let position = state.threads[thread].position;
        match place.step {
            Some(step) => step < position,
            None => {
                let executed = position.checked_sub(1).and_then(|last| self.threads[thread].step(last));
                executed.and_then(<[Action]>::last).is_some_and(|last| self.places[last.event].number > place.number)
            }
        }
    }

    /// How an event accesses memory, given whether its step was satisfied.
    pub fn access_kind(&self, event: usize, satisfied: bool) -> Option<AccessKind> {
        match self.events.get(event)?.op {
            Op::Read(_) => Some(AccessKind::Read),
            Op::Write(_) => Some(AccessKind::Write),
            Op::ReadModifyWrite(rmw) if rmw.success && satisfied => Some(AccessKind::ReadWrite),
            Op::ReadModifyWrite(_) => Some(AccessKind::Read),
            _ => None,
        }
    }

    /// What an event does, and who does it; none if it has no effect.
    pub(super) fn effect(&self, event: usize) -> Option<(ThreadId, &Effect)> {
        let thread = self.events.get(event)?.thread;
        let actions = self.threads[thread.index()].step(self.places[event].step?)?;
        actions.iter().find(|action| action.event == event).map(|action| (thread, &action.effect))
    }

    fn next_actions(&self, state: &State, thread: ThreadId) -> &[Action] {
        let position = state.threads.get(thread.index()).map(|thread| thread.position);
        position.and_then(|position| self.threads[thread.index()].step(position)).unwrap_or_default()
    }

    /// A read that has strayed, on which it depends whether a thread comes to its next step, and does it.
    fn astray_before(&self, state: &State, thread: ThreadId) -> Option<usize> {
        if state.strayed.is_empty() {
            return None;
        }
        let steps = &self.threads[thread.index()];
        let position = state.threads[thread.index()].position;
        let last = |step: u32| Some(self.places[steps.step(step)?.last()?.event].number as usize);
        let from = position.checked_sub(1).and_then(last).map_or(0, |last| last + 1);
        let events = &steps.events[from..=last(position)?];
        events.iter().find_map(|event| self.astray_at(state, *event))
    }

    /// A read that has strayed, on which it depends whether an event happens.
    pub(super) fn astray_at(&self, state: &State, event: usize) -> Option<usize> {
        self.flow.led_astray(self.events, event, &state.strayed)
    }

    fn obstacle_to(&self, state: &State, thread: ThreadId, effect: &Effect) -> Option<Obstacle> {
        let held = |lock, mode| state.rival(thread, lock, mode).map(|holder| Obstacle::Held { lock, holder });
        match *effect {
            Effect::Access { allocation, .. } => {
                let allocation = allocation.filter(|allocation| !self.is_done(state, *allocation))?;
                Some(Obstacle::NotAllocated { allocation })
            }
            Effect::Acquire { lock, mode } => held(lock, mode),
            Effect::TryAcquireFailed { lock, mode } => {
                let fails = held(lock, mode).is_some() || state.holds(thread, lock);
                (!fails).then_some(Obstacle::NotHeld { lock })
            }
            Effect::WaitEnd { condition, lock, wake } => {
                let wait = state.threads[thread.index()].wait.filter(|wait| wait.condition == condition);
                match (wait, wake) {
                    (None, _) => Some(Obstacle::NotWaiting(condition)),
                    (Some(wait), Wake::Notified) if !wait.notified => Some(Obstacle::NotNotified(condition)),
                    (Some(wait), Wake::TimedOut) if wait.notified => Some(Obstacle::Notified(condition)),
                    _ => held(lock, LockMode::Exclusive),
                }
            }
            Effect::SemaphoreWait(semaphore) => {
                (state.semaphores[semaphore.index()] == 0).then_some(Obstacle::AtZero(semaphore))
            }
            Effect::BarrierArrive { barrier, arrivals } | Effect::BarrierLeave { barrier, arrivals } => {
                (state.barriers[barrier.index()] < arrivals).then_some(Obstacle::Missing(barrier))
            }
            Effect::OnceBegin(once) => (state.onces[once.index()].running > 0).then_some(Obstacle::Runs(once)),
            Effect::OncePass { once, after_end } => {
                (after_end && !state.onces[once.index()].ended).then_some(Obstacle::NotRun(once))
            }
            Effect::Join(child) => {
                let them = &state.threads[child.index()];
                let done = them.position as usize == self.threads[child.index()].steps.len() && !them.stuck;
                let astray = state.strayed.iter().any(|read| self.events[*read].thread == child);
                (!done || astray).then_some(Obstacle::NotDone { child })
            }
            Effect::Allocate
            | Effect::Free
            | Effect::Release { .. }
            | Effect::WaitBegin { .. }
            | Effect::Signal(_)
            | Effect::Broadcast(_)
            | Effect::SemaphorePost(_)
            | Effect::OnceEnd(_)
            | Effect::Fork => None,
        }
    }

    /// Wakes the thread chosen, or the first that waits, if any does.
    fn signal(&self, state: &mut State, condition: ConditionId, choice: Option<ThreadId>) -> Result<(), Obstacle> {
        let woken = match choice {
            None => state.waiters(condition).next(),
            Some(chosen) if state.waiters(condition).any(|waiter| waiter == chosen) => Some(chosen),
            Some(chosen) => return Err(Obstacle::NoSuchWaiter(chosen)),
        };
        if let Some(wait) = woken.and_then(|thread| state.threads[thread.index()].wait.as_mut()) {
            wait.notified = true;
        }
        Ok(())
    }

    fn act(&self, state: &mut State, thread: ThreadId, event: usize, effect: &Effect) {
        const ONCE: [[u32; 2]; 2] = [[1, 0], [0, 1]];
        match *effect {
            Effect::Free => {
                for cell in self.memory.cells(event) {
                    state.memory[cell.segment as usize] = cell.leaves;
                }
            }
            Effect::Acquire { lock, mode } => state.take(thread, lock, ONCE[mode as usize]),
            Effect::Release { lock, mode } => state.give_back(thread, lock, mode),
            Effect::WaitBegin { condition, lock } => {
                let depths = state.give_up(thread, lock).unwrap_or(ONCE[LockMode::Exclusive as usize]);
                state.threads[thread.index()].wait = Some(Wait { condition, notified: false, depths });
            }
            Effect::WaitEnd { lock, .. } => {
                if let Some(wait) = state.threads[thread.index()].wait.take() {
                    state.take(thread, lock, wait.depths);
                }
            }
            Effect::Broadcast(condition) => {
                for wait in state.threads.iter_mut().filter_map(|thread| thread.wait.as_mut()) {
                    wait.notified |= wait.condition == condition;
                }
            }
            Effect::SemaphoreWait(semaphore) => state.semaphores[semaphore.index()] -= 1,
            Effect::SemaphorePost(semaphore) => state.semaphores[semaphore.index()] += 1,
            Effect::BarrierArrive { barrier, .. } => state.barriers[barrier.index()] += 1,
            Effect::OnceBegin(once) => state.onces[once.index()].running += 1,
            Effect::OnceEnd(once) => {
                let once = &mut state.onces[once.index()];
                once.running = once.running.saturating_sub(1);
                once.ended = true;
            }
            Effect::Access { .. }
            | Effect::Allocate
            | Effect::TryAcquireFailed { .. }
            | Effect::Signal(_)
            | Effect::BarrierLeave { .. }
            | Effect::OncePass { .. }
            | Effect::Fork
            | Effect::Join(_) => {}
        }
    }

    /// Does the accesses of one step; says whether all reads were satisfied.
    fn access(&self, state: &mut State, accesses: &[Action]) -> bool {
        let mut satisfied = true;
        for action in accesses {
            let Effect::Access { touch, .. } = action.effect else { continue };
            let cells = self.memory.cells(action.event);
            if touch != Touch::Write {
                satisfied &= cells.iter().all(|cell| self.memory.satisfies(state.memory[cell.segment as usize], cell));
            }
            if touch == Touch::Write || touch == (Touch::ReadModifyWrite { success: true }) {
                for cell in cells {
                    state.memory[cell.segment as usize] = self.left_by(state, action.event, cell);
                }
            }
        }
        if !satisfied {
            // Nobody knows what the read-modify-writes did; what the step wrote after them is known.
            for action in accesses {
                let Effect::Access { touch, .. } = action.effect else { continue };
                for cell in self.memory.cells(action.event) {
                    match touch {
                        Touch::Read => {}
                        Touch::Write => {
                            state.memory[cell.segment as usize] = self.left_by(state, action.event, cell);
                        }
                        Touch::ReadModifyWrite { .. } => state.memory[cell.segment as usize] = Content::TAINTED,
                    }
                }
            }
        }
        satisfied
    }

    /// What a write leaves in one of its cells.
    fn left_by(&self, state: &State, write: usize, cell: &Cell) -> Content {
        match self.flow.is_doubtful(self.events, write, &state.strayed) {
            true => Content::TAINTED,
            false => cell.leaves,
        }
    }
}
