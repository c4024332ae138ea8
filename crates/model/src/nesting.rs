//! Whether threads release their locks in the reverse of the order in which they took them.

use crate::held::{HeldLocks, LockChange};
use interloper_trace::{Event, EventIndex, LockId, Op, ThreadId};

/// Follows the locks of all threads and remembers where each first left nested locking.
#[derive(Clone, Debug, Default)]
pub struct Nesting {
    threads: Vec<Thread>,
    breaches: Vec<(ThreadId, EventIndex, LockId)>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    held: HeldLocks,
    breached: bool,
}

impl Nesting {
    /// Before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows an event.
    #[inline]
    pub fn observe(&mut self, index: EventIndex, event: &Event) {
        if matches!(event.op, Op::Acquire { .. } | Op::Release { .. } | Op::WaitBegin { .. } | Op::WaitEnd { .. }) {
            self.lock_event(index, event);
        }
    }

    /// The threads that are not nested: which, the first release out of order, the lock released.
    pub fn breaches(&self) -> &[(ThreadId, EventIndex, LockId)] {
        &self.breaches
    }

    fn lock_event(&mut self, index: EventIndex, event: &Event) {
        if event.thread.index() >= self.threads.len() {
            self.threads.resize(event.thread.index() + 1, Thread::default());
        }
        let thread = &mut self.threads[event.thread.index()];
        let change = match event.op {
            Op::Acquire { lock, mode, .. } => thread.held.acquire(lock, mode),
            Op::Release { lock, .. } => thread.held.release(lock),
            Op::WaitBegin { lock, .. } => thread.held.wait_begin(lock),
            Op::WaitEnd { lock, .. } => thread.held.wait_end(lock),
            _ => return,
        };
        if let LockChange::Released { lock, nested: false, .. } = change
            && !std::mem::replace(&mut thread.breached, true)
        {
            self.breaches.push((event.thread, index, lock));
        }
    }
}
