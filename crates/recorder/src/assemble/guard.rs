//! Whether an event is possible after those before it.
//!
//! The rules are those of [`interloper_trace::wellformed`], asked before an event is made rather than
//! after, and where in doubt stricter; property tests hold the two together. A record that would
//! break one is a fault of the runtime's or of a program that overwrote the log. It is left out, so
//! that the rest of the trace can be used.

use interloper_trace::{ConditionId, LockId, LockMode, Op, RegionSource, ThreadId};
use rustc_hash::FxHashMap;

/// What threads and locks are in the middle of.
#[derive(Debug, Default)]
pub(super) struct Guard {
    threads: Vec<Thread>,
    locks: Vec<Lock>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    acted: bool,
    forked: bool,
    over: bool,
    waiting: Option<Waiting>,
    regions: [u32; RegionSource::ALL.len()],
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    condition: ConditionId,
    lock: LockId,
    depth: u32,
}

#[derive(Clone, Debug, Default)]
struct Lock {
    owner: Option<(ThreadId, u32)>,
    readers: FxHashMap<ThreadId, u32>,
}

impl Guard {
    /// Takes an event if it is possible, and tells whether it is.
    pub(super) fn admit(&mut self, thread: ThreadId, op: &Op) -> bool {
        if !self.allows(thread, op) {
            return false;
        }
        self.apply(thread, op);
        true
    }

    /// Whether an event is possible.
    pub(super) fn allows(&mut self, thread: ThreadId, op: &Op) -> bool {
        let &mut Thread { acted, over, waiting, regions, .. } = self.thread(thread);
        if over || (waiting.is_some() && !matches!(op, Op::WaitEnd { .. })) {
            return false;
        }
        match *op {
            Op::Start => !acted,
            Op::RegionEnd(region) => regions[region.source as usize] > 0,
            Op::Fork(child) => {
                let child_state = self.thread(child);
                child != thread && !child_state.forked && !child_state.acted
            }
            Op::Join(child) => child != thread,
            Op::Acquire { lock, mode, .. } => {
                let state = self.lock(lock);
                match mode {
                    LockMode::Exclusive => {
                        state.owner.is_none_or(|(owner, _)| owner == thread) && state.readers.is_empty()
                    }
                    LockMode::Shared => state.owner.is_none(),
                }
            }
            Op::Release { lock, mode: LockMode::Exclusive } | Op::WaitBegin { lock, .. } => {
                self.lock(lock).owner.is_some_and(|(owner, _)| owner == thread)
            }
            Op::Release { lock, mode: LockMode::Shared } => self.lock(lock).readers.contains_key(&thread),
            Op::WaitEnd { condition, lock, .. } => {
                let begun = waiting.is_some_and(|wait| wait.condition == condition && wait.lock == lock);
                let state = self.lock(lock);
                begun && state.owner.is_none() && state.readers.is_empty()
            }
            _ => true,
        }
    }

    fn apply(&mut self, thread: ThreadId, op: &Op) {
        let state = self.thread(thread);
        state.acted = true;
        match *op {
            Op::Finish => state.over = true,
            Op::RegionBegin(region) => state.regions[region.source as usize] += 1,
            Op::RegionEnd(region) => state.regions[region.source as usize] -= 1,
            Op::Fork(child) => self.thread(child).forked = true,
            Op::Join(child) => self.thread(child).over = true,
            Op::Acquire { lock, mode: LockMode::Exclusive, .. } => {
                let state = self.lock(lock);
                state.owner = Some((thread, state.owner.map_or(0, |(_, depth)| depth) + 1));
            }
            Op::Acquire { lock, mode: LockMode::Shared, .. } => {
                *self.lock(lock).readers.entry(thread).or_insert(0) += 1;
            }
            Op::Release { lock, mode: LockMode::Exclusive } => {
                let state = self.lock(lock);
                state.owner = state.owner.map(|(owner, depth)| (owner, depth - 1)).filter(|(_, depth)| *depth > 0);
            }
            Op::Release { lock, mode: LockMode::Shared } => {
                let readers = &mut self.lock(lock).readers;
                if let Some(depth) = readers.get_mut(&thread) {
                    *depth -= 1;
                    if *depth == 0 {
                        readers.remove(&thread);
                    }
                }
            }
            Op::WaitBegin { condition, lock } => {
                let depth = self.lock(lock).owner.take().map_or(1, |(_, depth)| depth);
                self.thread(thread).waiting = Some(Waiting { condition, lock, depth });
            }
            Op::WaitEnd { lock, .. } => {
                if let Some(wait) = self.thread(thread).waiting.take() {
                    self.lock(lock).owner = Some((thread, wait.depth));
                }
            }
            _ => {}
        }
    }

    fn thread(&mut self, id: ThreadId) -> &mut Thread {
        if id.index() >= self.threads.len() {
            self.threads.resize_with(id.index() + 1, Thread::default);
        }
        &mut self.threads[id.index()]
    }

    fn lock(&mut self, id: LockId) -> &mut Lock {
        if id.index() >= self.locks.len() {
            self.locks.resize_with(id.index() + 1, Lock::default);
        }
        &mut self.locks[id.index()]
    }
}
