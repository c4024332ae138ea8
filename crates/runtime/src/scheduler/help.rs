//! Helping a thread that waits for something no event tells of: a message through a pipe, a futex, the lock of a stream.
//!
//! Directions say nothing about these. A thread that was stopped after its turn may just not have come to sending what
//! another waits for, though it would before it does anything that the directions are about. So those that were stopped
//! before a step, or are back from a system call, are asked, one after the other, to go on: until they wait, or are about
//! to do something that is logged.
//!
//! *What is missed:* who would have to do something that is logged before it is of any help does not help. What
//! is read from outside is logged when it has been read; who does that, helping, is ahead of its turn.

use super::Scheduler;
use crate::thread::{State, Thread};

/// How often one helps before the thread that is helped goes on.
const TIMES: usize = 3;

impl Scheduler {
    /// Who goes on to help the thread whose turn is under way, and has a budget; `None` if nobody is left.
    pub(super) unsafe fn call_help(&mut self) -> Option<u32> {
        let (stuck, before) = self.directions.under_way()?;
        let helped = &self.directions.helped;
        let rank = |thread: &*mut Thread| {
            // SAFETY: threads are never freed, and the lock is held.
            let thread = unsafe { &**thread };
            let times = helped.iter().filter(|number| **number == thread.number).count();
            let can_help = thread.state == State::Ready && (thread.is_before_step || thread.is_back);
            let is_candidate = can_help && thread.number != stuck && times < TIMES;
            // First who had his turn last, and late who may have something to log before his next step.
            is_candidate.then_some((times, thread.is_back, Some(thread.number) != before, thread.number))
        };
        let (.., number) = self.threads.iter().filter_map(rank).min()?;
        self.directions.helped.push(number);
        // SAFETY: as above.
        unsafe {
            self.directions.begin_help(number);
            self.start_turn(number, self.chooser.quantum());
            (*self.threads[number as usize]).is_helping = true;
        }
        Some(number)
    }
}

/// Ends the turn of a running thread that helps, before the step that it has just counted.
#[cold]
#[inline(never)]
pub(super) unsafe fn stop(thread: &mut Thread) {
    // A signal that comes meanwhile would want to end the turn, too.
    thread.inside += 1;
    thread.budget += 1;
    thread.turn -= thread.budget;
    (thread.budget, thread.withheld, thread.is_helping) = (0, 0, false);
    thread.inside -= 1;
    // SAFETY: the running thread, in a callback.
    unsafe { super::out_of_steps(thread) };
}
