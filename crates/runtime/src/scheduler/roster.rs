//! Who there is: threads by number.
//!
//! Numbers are given in the order in which threads are made, unless a table of births says that a thread, told by whose
//! how manieth child it is, has another: that of an earlier run, in which it came at another time.

use super::{LOCK, Scheduler, scheduler};
use crate::memory::CONTROL;
use crate::thread::{State, Thread};
use interloper_wire::{Birth, Guidance};

/// The table of births.
pub(super) unsafe fn births(guidance: &Guidance) -> &'static [[u64; 2]] {
    if guidance.births == 0 {
        return &[];
    }
    let start = (CONTROL + guidance.births_at as usize) as *const [u64; 2];
    // SAFETY: the file holds what the guidance says, aligned to a page.
    unsafe { std::slice::from_raw_parts(start, guidance.births as usize) }
}

/// Adds a thread, which can run at once, and returns its number. The caller has the token.
pub(crate) unsafe fn add(thread: *mut Thread, parent: &Thread) -> u32 {
    LOCK.lock();
    // SAFETY: the lock is held.
    let number = unsafe {
        let scheduler = scheduler();
        let number = scheduler.number_of_child(parent);
        (*thread).number = number as u32;
        scheduler.chooser.meet(&mut *thread);
        if number == scheduler.threads.len() {
            scheduler.threads.push(thread);
        } else {
            scheduler.threads[number] = thread;
        }
        number as u32
    };
    LOCK.unlock();
    number
}

/// Takes back a thread that was added last and could not be made. The caller has the token.
pub(crate) unsafe fn withdraw(number: u32) {
    LOCK.lock();
    // SAFETY: the lock is held.
    unsafe {
        let scheduler = scheduler();
        let number = number as usize;
        if number + 1 == scheduler.threads.len() && scheduler.births.is_empty() {
            scheduler.threads.pop();
        } else {
            scheduler.threads[number] = scheduler.nobody;
        }
    }
    LOCK.unlock();
}

/// The thread with this number, if there is one. The caller has the token.
pub(crate) unsafe fn thread(number: usize) -> Option<*mut Thread> {
    // SAFETY: threads are only added by who has the token.
    unsafe { scheduler().threads.get(number).copied() }
}

/// Whether a thread has ended. The caller has the token.
pub(crate) unsafe fn is_dead(number: u32) -> bool {
    // SAFETY: threads are never freed.
    unsafe { thread(number as usize).is_some_and(|thread| (*thread).state == State::Dead) }
}

/// Does something with every thread. The caller has the token.
pub(crate) unsafe fn for_each(mut action: impl FnMut(&mut Thread)) {
    // SAFETY: threads are never freed; who has the token may change what is not the scheduler's.
    unsafe { scheduler().threads.iter().for_each(|thread| action(&mut **thread)) };
}

/// Finds the latest thread for which this holds. The caller has the token.
pub(crate) unsafe fn find(mut is_it: impl FnMut(&Thread) -> bool) -> Option<*mut Thread> {
    // SAFETY: threads are never freed.
    unsafe { scheduler().threads.iter().rev().copied().find(|thread| is_it(&**thread)) }
}

impl Scheduler {
    /// The number of the next thread that this one makes.
    fn number_of_child(&self, parent: &Thread) -> usize {
        let key = Birth::key(parent.number, parent.children);
        let listed = self.births.binary_search_by_key(&key, |birth| birth[0]).ok();
        let listed = listed.map(|at| Birth::from_words(self.births[at]).number as usize);
        listed.filter(|number| self.threads[*number] == self.nobody).unwrap_or(self.threads.len())
    }
}
