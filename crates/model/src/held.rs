//! Which locks a thread holds, in the order it took them, with re-entrancy folded away.

use interloper_trace::{LockId, LockMode};

/// The locks one thread holds.
#[derive(Clone, Debug, Default)]
pub struct HeldLocks {
    /// In order of acquisition. Threads hold few locks at a time, so a list beats a map.
    locks: Vec<Held>,
    /// Locks given up by waits that have not ended, with their depth.
    given_up: Vec<Held>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    lock: LockId,
    mode: LockMode,
    depth: u32,
}

/// What a lock event changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockChange {
    /// Nothing: a re-entrant acquisition, or the release of one.
    None,
    /// The lock is now held.
    Acquired(LockId, LockMode),
    /// The lock is no longer held.
    Released {
        /// Which one.
        lock: LockId,
        /// How it was held.
        mode: LockMode,
        /// Whether it was the one taken last, as nested locking demands.
        nested: bool,
    },
}

impl HeldLocks {
    /// An acquisition.
    #[inline]
    pub fn acquire(&mut self, lock: LockId, mode: LockMode) -> LockChange {
        if let Some(held) = self.locks.iter_mut().find(|held| held.lock == lock) {
            held.depth += 1;
            return LockChange::None;
        }
        self.locks.push(Held { lock, mode, depth: 1 });
        LockChange::Acquired(lock, mode)
    }

    /// A release, by one level.
    #[inline]
    pub fn release(&mut self, lock: LockId) -> LockChange {
        // With nested locking it is the last one, and most locks are not re-entered.
        if let Some(&Held { lock: last, mode, depth: 1 }) = self.locks.last()
            && last == lock
        {
            self.locks.pop();
            return LockChange::Released { lock, mode, nested: true };
        }
        self.release_any(lock)
    }

    /// The same for one that is not the last, or was taken several times.
    #[inline(never)]
    fn release_any(&mut self, lock: LockId) -> LockChange {
        let Some(at) = self.position(lock) else { return LockChange::None };
        if self.locks[at].depth > 1 {
            self.locks[at].depth -= 1;
            return LockChange::None;
        }
        self.remove(at)
    }

    /// A wait begins: the lock is given up at all levels.
    pub fn wait_begin(&mut self, lock: LockId) -> LockChange {
        let Some(at) = self.position(lock) else { return LockChange::None };
        self.given_up.push(self.locks[at]);
        self.remove(at)
    }

    /// A wait ends: the lock is held as before.
    pub fn wait_end(&mut self, lock: LockId) -> LockChange {
        let at = self.given_up.iter().position(|held| held.lock == lock);
        let held = match at {
            Some(at) => self.given_up.swap_remove(at),
            None => Held { lock, mode: LockMode::Exclusive, depth: 1 },
        };
        self.locks.push(held);
        LockChange::Acquired(lock, held.mode)
    }

    /// The locks held, in order of acquisition.
    pub fn iter(&self) -> impl Iterator<Item = (LockId, LockMode)> + '_ {
        self.locks.iter().map(|held| (held.lock, held.mode))
    }

    fn position(&self, lock: LockId) -> Option<usize> {
        self.locks.iter().rposition(|held| held.lock == lock)
    }

    fn remove(&mut self, at: usize) -> LockChange {
        let nested = at + 1 == self.locks.len();
        let Held { lock, mode, .. } = self.locks.remove(at);
        LockChange::Released { lock, mode, nested }
    }
}
