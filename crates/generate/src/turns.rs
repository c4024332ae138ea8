//! Who may take the next step when threads wait for locks.
//!
//! A thread that finds its lock taken is parked in the lock's queue, and each release puts one
//! parked thread back among the runnable. A woken thread may find that another was quicker and
//! park again, but every such failure was paid for by a release: the cost of a step stays constant
//! however many threads wait for however few locks.
//!
//! While a lock with a queue is free, a thread that wants it is among the runnable: the one woken
//! by the release. So whoever takes locks in a fixed order never finds all threads parked.

const NOBODY: u32 = u32::MAX;

/// The runnable threads, the locks, and the queues before them.
pub(crate) struct Turns {
    runnable: Vec<u32>,
    locks: Vec<Lock>,
    /// For each parked thread, the one parked behind it.
    behind: Vec<u32>,
}

#[derive(Clone)]
struct Lock {
    taken: bool,
    first: u32,
    last: u32,
}

impl Turns {
    /// All threads runnable, all locks free.
    pub(crate) fn new(threads: u32, locks: u32) -> Self {
        Turns {
            runnable: (0..threads).collect(),
            locks: vec![Lock { taken: false, first: NOBODY, last: NOBODY }; locks as usize],
            behind: vec![NOBODY; threads as usize],
        }
    }

    /// How many threads may be picked.
    #[inline]
    pub(crate) fn runnable(&self) -> usize {
        self.runnable.len()
    }

    /// The runnable thread at a place.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> u32 {
        self.runnable[place]
    }

    /// Takes a lock for the thread at a place, or parks the thread and returns false.
    #[inline]
    pub(crate) fn acquire(&mut self, place: usize, lock: u32) -> bool {
        let lock = &mut self.locks[lock as usize];
        if !lock.taken {
            lock.taken = true;
            return true;
        }
        let thread = self.runnable.swap_remove(place);
        self.behind[thread as usize] = NOBODY;
        if lock.first == NOBODY {
            lock.first = thread;
        } else {
            self.behind[lock.last as usize] = thread;
        }
        lock.last = thread;
        false
    }

    /// Frees a lock and wakes the thread that has been parked for it longest.
    #[inline]
    pub(crate) fn release(&mut self, lock: u32) {
        let lock = &mut self.locks[lock as usize];
        debug_assert!(lock.taken);
        lock.taken = false;
        if lock.first != NOBODY {
            self.runnable.push(lock.first);
            lock.first = self.behind[lock.first as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_parked_is_woken_first() {
        let mut turns = Turns::new(3, 1);
        assert!(turns.acquire(0, 0));
        assert!(!turns.acquire(1, 0), "thread 1 parks; thread 2 moves to its place");
        assert!(!turns.acquire(1, 0), "thread 2 parks");
        assert_eq!(turns.runnable(), 1);
        turns.release(0);
        assert_eq!((turns.runnable(), turns.at(1)), (2, 1));
        assert!(turns.acquire(0, 0), "the lock is free: being woken is no right to it");
        assert!(!turns.acquire(1, 0), "thread 1 parks again, behind thread 2");
        turns.release(0);
        assert_eq!((turns.runnable(), turns.at(1)), (2, 2));
    }
}
