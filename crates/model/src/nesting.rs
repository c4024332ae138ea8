//! Which locks threads hold, and whether they release them in the reverse of the order in which they
//! took them.

use crate::held::{HeldLocks, LockChange};
use interloper_trace::{Event, EventIndex, LockId, Op, ThreadId};

/// Follows the locks of all threads and remembers where each first left nested locking.
#[derive(Clone, Debug, Default)]
pub struct Nesting {
    threads: Vec<Thread>,
    non_nested: Vec<NonNested>,
}

/// Where a thread released a lock that was not the last one it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonNested {
    /// The thread.
    pub thread: ThreadId,
    /// Its first release out of order.
    pub at: EventIndex,
    /// The lock released.
    pub lock: LockId,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    held: HeldLocks,
    non_nested: bool,
}

impl Nesting {
    /// Before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows an event, and tells what it changes.
    #[inline(always)]
    pub fn follow(&mut self, index: EventIndex, event: &Event) -> LockChange {
        if event.thread.index() >= self.threads.len() {
            self.grow(event.thread);
        }
        let thread = &mut self.threads[event.thread.index()];
        let change = match event.op {
            Op::Acquire { lock, mode, .. } => thread.held.acquire(lock, mode),
            Op::Release { lock, .. } => thread.held.release(lock),
            Op::WaitBegin { lock, .. } => thread.held.wait_begin(lock),
            Op::WaitEnd { lock, .. } => thread.held.wait_end(lock),
            _ => LockChange::None,
        };
        if let LockChange::Released { lock, nested: false, .. } = change
            && !std::mem::replace(&mut thread.non_nested, true)
        {
            self.non_nested.push(NonNested { thread: event.thread, at: index, lock });
        }
        change
    }

    #[cold]
    fn grow(&mut self, thread: ThreadId) {
        self.threads.resize(thread.index() + 1, Thread::default());
    }

    /// The threads that are not nested, each with its first release out of order.
    pub fn non_nested(&self) -> &[NonNested] {
        &self.non_nested
    }

    /// The locks a thread holds, in the order it took them.
    pub fn held(&self, thread: ThreadId) -> Option<&HeldLocks> {
        self.threads.get(thread.index()).map(|thread| &thread.held)
    }
}
