//! Models of the objects that threads wait for each other with.
//!
//! The real objects are never blocked on: what a lock's state is, who waits for it and who gets it
//! is decided here, in tables by address, by the thread that has the token. The memory of an object is only
//! looked at for what its initialiser left there (the kind of a mutex, the count of a semaphore) and is
//! otherwise left as it was, so that a forked child, which is not controlled, finds it free.
//!
//! Whoever waits for something is made ready by whatever might give it to him, and tries again; which of several
//! gets it is thereby the scheduler's choice, as it is the kernel's in reality.

pub(crate) mod barrier;
pub(crate) mod c11;
pub(crate) mod condition;
pub(crate) mod futex;
pub(crate) mod mutex;
pub(crate) mod once;
pub(crate) mod rwlock;
pub(crate) mod semaphore;
pub(crate) mod spin;
pub(crate) mod threads;

use crate::clock;
use crate::scheduler;
use crate::thread::{Guarded, Thread, Waiting, What, Woken};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Objects of one kind, by address.
pub(crate) type Table<T> = HashMap<usize, T, FxBuildHasher>;

/// All objects. Guarded by the token.
pub(crate) struct Objects {
    pub(crate) mutexes: Table<mutex::Mutex>,
    pub(crate) rwlocks: Table<rwlock::RwLock>,
    pub(crate) conditions: Table<condition::Condition>,
    pub(crate) semaphores: Table<semaphore::Semaphore>,
    pub(crate) barriers: Table<barrier::Barrier>,
    pub(crate) onces: Table<once::Once>,
    pub(crate) futexes: Table<Waiters>,
}

static OBJECTS: Guarded<Objects> = Guarded::new(Objects {
    mutexes: Table::with_hasher(FxBuildHasher),
    rwlocks: Table::with_hasher(FxBuildHasher),
    conditions: Table::with_hasher(FxBuildHasher),
    semaphores: Table::with_hasher(FxBuildHasher),
    barriers: Table::with_hasher(FxBuildHasher),
    onces: Table::with_hasher(FxBuildHasher),
    futexes: Table::with_hasher(FxBuildHasher),
});

/// # Safety
/// The caller has the token, and does not keep the reference while others may run.
pub(crate) unsafe fn objects() -> &'static mut Objects {
    // SAFETY: as the caller says.
    unsafe { OBJECTS.get() }
}

/// Who has what a thread waits for.
pub(crate) unsafe fn owner(what: What, object: usize) -> Option<u32> {
    // SAFETY: the caller has the token.
    let objects = unsafe { objects() };
    match what {
        What::Mutex | What::Spin => objects.mutexes.get(&object)?.owner,
        What::RwLock => objects.rwlocks.get(&object)?.writer,
        What::Once => objects.onces.get(&object)?.runner(),
        What::Join => Some(object as u32),
        _ => None,
    }
}

/// Threads that wait, in the order they came.
#[derive(Default)]
pub(crate) struct Waiters(Vec<u32>);

impl Waiters {
    pub(crate) fn add(&mut self, thread: &Thread) {
        self.0.push(thread.number);
    }

    pub(crate) fn remove(&mut self, thread: &Thread) {
        self.0.retain(|number| *number != thread.number);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Wakes the one who has waited longest, if there is one, or whom the scheduler would have the thread wake.
    pub(crate) unsafe fn wake_one(&mut self, thread: &mut Thread) -> bool {
        if self.0.is_empty() {
            return false;
        }
        // SAFETY: the caller has the token.
        unsafe {
            let chosen = scheduler::whom_to_wake(thread, &self.0);
            scheduler::wake(self.0.remove(chosen), Woken::Notified);
        }
        true
    }

    /// Wakes all.
    pub(crate) unsafe fn wake_all(&mut self) {
        for number in self.0.drain(..) {
            // SAFETY: the caller has the token.
            unsafe { scheduler::wake(number, Woken::Notified) };
        }
    }
}

/// Until when somebody is willing to wait.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// For ever.
    Endless,
    /// Until virtual time reaches this.
    Until(u64),
}

impl Patience {
    /// Until a time on a clock; `Err` if that is no time.
    pub(crate) unsafe fn until(clock: libc::clockid_t, time: *const libc::timespec) -> Result<Self, i32> {
        // SAFETY: the program passes a valid time, as the functions that take one demand.
        let nanoseconds = unsafe { nanoseconds(time) }.ok_or(libc::EINVAL)?;
        // SAFETY: the caller has the token.
        Ok(Patience::Until(unsafe { clock::deadline_at(clock, nanoseconds) }))
    }

    pub(crate) fn deadline(self) -> Option<u64> {
        match self {
            Patience::Until(deadline) => Some(deadline),
            Patience::None | Patience::Endless => None,
        }
    }

    /// Waits for an object.
    pub(crate) unsafe fn wait(self, thread: &mut Thread, what: What, object: usize) -> Woken {
        // A deadline that has passed is not waited for.
        if let Patience::Until(deadline) = self {
            // SAFETY: the caller has the token.
            if deadline <= unsafe { clock::elapsed() } {
                return Woken::TimedOut;
            }
        }
        // SAFETY: the caller has the token.
        unsafe { scheduler::block(thread, Waiting { what, object }, self.deadline()) }
    }
}

/// A time as a number; `None` if it is none.
pub(crate) unsafe fn nanoseconds(time: *const libc::timespec) -> Option<u64> {
    // SAFETY: the caller passes a valid pointer.
    let time = unsafe { *time };
    if !(0..1_000_000_000).contains(&time.tv_nsec) {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Some(seconds.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64))
}
