//! Waits that come to an end by themselves: because of the time, or for no reason.

use super::Scheduler;
use crate::clock;
use crate::thread::{State, Thread, Waiting, What, Woken};

impl Scheduler {
    /// When nothing else can ever happen, the first of the times waited for has come.
    pub(super) unsafe fn fire_timer(&mut self) -> Option<(u32, u64)> {
        let is_outside = |thread: &*mut Thread| {
            // SAFETY: threads are never freed, and the lock is held.
            unsafe { (**thread).state == State::Outside }
        };
        if self.threads.iter().any(is_outside) {
            return None;
        }
        // SAFETY: the lock is held.
        unsafe {
            let (deadline, number) = self.first_deadline()?;
            clock::advance_to(deadline);
            self.time_out(number);
            Some((number, self.chooser.quantum()))
        }
    }

    pub(super) unsafe fn first_deadline(&self) -> Option<(u64, u32)> {
        self.threads
            .iter()
            .filter_map(|thread| {
                // SAFETY: threads are never freed, and the lock is held.
                let thread = unsafe { &**thread };
                let State::Blocked(_) = thread.state else { return None };
                Some((thread.deadline?, thread.number))
            })
            .min()
    }

    pub(super) unsafe fn time_out(&mut self, number: u32) {
        // SAFETY: threads are never freed, and the lock is held.
        let thread = unsafe { &mut *self.threads[number as usize] };
        thread.state = State::Ready;
        thread.woken = Woken::TimedOut;
    }

    /// Lets a thread go on that waits and was not woken, if that can be: its time comes, or it is one of the
    /// wake-ups for no reason that everybody who waits on a futex has to reckon with.
    pub(super) unsafe fn release(&mut self, number: u32) -> bool {
        // SAFETY: the lock is held; threads are never freed.
        unsafe {
            let thread = &mut *self.threads[number as usize];
            match (thread.state, thread.deadline) {
                (State::Blocked(_), Some(deadline)) => {
                    clock::advance_to(deadline);
                    self.time_out(number);
                    true
                }
                (State::Blocked(Waiting { what: What::Futex, .. }), None) => {
                    (thread.state, thread.woken) = (State::Ready, Woken::Interrupted);
                    true
                }
                _ => false,
            }
        }
    }
}
