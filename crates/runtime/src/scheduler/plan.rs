//! Following the schedule of an earlier run.
//!
//! Entries are taken one at a time, when a turn ends. As long as the program does what it did, the
//! thread that is to run can run, or is in a system call and will come back, or waits for a time that
//! is then taken to have come, or on a futex, where one may be woken for no reason. Anything else is a divergence: it is logged, once, with the
//! entry, the steps into it and what was different, and from there on nothing is followed.

use super::{Scheduler, notice};
use crate::clock;
use crate::log::{self, header};
use crate::memory::CONTROL;
use crate::thread::{State, Thread};
use interloper_wire::{Kind, Notice, PlanEntry, SegmentEnd, Settings};

/// A schedule, and how far it has been followed.
pub(super) struct Plan {
    entries: &'static [[u64; 2]],
    at: usize,
    /// How the turn that is under way is to end, while the plan is followed.
    end: Option<SegmentEnd>,
    is_active: bool,
}

/// Whom the plan says is next.
pub(super) enum Next {
    /// This one, which has its budget.
    Thread(u32),
    /// One that is in a system call.
    NotYet,
    /// The plan is at its end, or of no use any more.
    Over,
}

impl Plan {
    /// # Safety
    /// The shared file is mapped, and as long as the settings say.
    pub(super) unsafe fn new(settings: &Settings) -> Self {
        let is_active = super::has_plan(settings);
        let start = (CONTROL + settings.plan_at as usize) as *const [u64; 2];
        let len = if is_active { settings.plan_entries as usize } else { 0 };
        // SAFETY: as the caller says; the recorder aligns the plan to a page.
        let entries = unsafe { std::slice::from_raw_parts(start, len) };
        Plan { entries, at: 0, end: None, is_active }
    }

    pub(super) fn is_active(&self) -> bool {
        self.is_active
    }

    /// How the turn under way is to end, while the plan is followed.
    pub(super) fn end(&self) -> Option<SegmentEnd> {
        if self.is_active { self.end } else { None }
    }

    /// The two entries to come, while the plan is followed.
    pub(super) fn upcoming(&self) -> Option<[PlanEntry; 2]> {
        let [first, second] = [0, 1].map(|ahead| self.entry_at(self.at + ahead));
        if self.is_active { Some([first?, second?]) } else { None }
    }

    /// Takes them both; the turn of the second, which is to end like this, is under way.
    pub(super) fn take_two(&mut self, end: SegmentEnd) {
        self.at += 2;
        self.end = Some(end);
    }

    /// Whether there is an entry to come.
    pub(super) fn has_more(&self) -> bool {
        self.is_active && self.entry().is_some()
    }

    fn entry(&self) -> Option<PlanEntry> {
        self.entry_at(self.at)
    }

    fn entry_at(&self, at: usize) -> Option<PlanEntry> {
        let [head, tail] = *self.entries.get(at)?;
        PlanEntry::from_words(head, tail)
    }
}

impl Scheduler {
    /// Takes the next entry.
    pub(super) unsafe fn follow(&mut self) -> Next {
        // SAFETY: the lock is held, and the caller has the token, or nobody has.
        unsafe {
            loop {
                match self.plan.entry() {
                    None => {
                        self.plan.is_active = false;
                        return Next::Over;
                    }
                    Some(PlanEntry::Advance { nanoseconds }) => {
                        clock::advance(nanoseconds);
                        log::append(header(Kind::Advance, 0, 0), [nanoseconds]);
                        self.plan.at += 1;
                    }
                    Some(PlanEntry::Run { thread: number, steps, end }) => {
                        let Some(&thread) = self.threads.get(number as usize).filter(|one| **one != self.nobody) else {
                            self.diverge_at(number, 0, "there is no such thread");
                            return Next::Over;
                        };
                        match (*thread).state {
                            State::Outside => return Next::NotYet,
                            State::Ready => {}
                            State::Blocked(_) if self.release(number) => {}
                            State::Blocked(_) => {
                                self.diverge_at(number, 0, "the thread was to run, but waits");
                                return Next::Over;
                            }
                            State::Dead => {
                                self.diverge_at(number, 0, "the thread was to run, but has ended");
                                return Next::Over;
                            }
                        }
                        self.plan.at += 1;
                        self.plan.end = Some(end);
                        self.start_turn(number, steps);
                        return Next::Thread(number);
                    }
                }
            }
        }
    }

    /// Gives the plan up before its next entry.
    pub(super) unsafe fn stop_following(&mut self, how: &str) {
        let next = match self.plan.entry() {
            Some(PlanEntry::Run { thread, .. }) => thread,
            _ => 0,
        };
        // SAFETY: as the caller's.
        unsafe { self.diverge_at(next, 0, how) };
    }

    /// Gives the plan up in the middle of an entry.
    pub(super) unsafe fn diverge(&mut self, thread: &Thread, steps: u64, how: &str) {
        self.plan.at = self.plan.at.saturating_sub(1);
        // SAFETY: as the caller's.
        unsafe { self.diverge_at(thread.number, steps, how) };
    }

    unsafe fn diverge_at(&mut self, thread: u32, steps: u64, how: &str) {
        self.plan.is_active = false;
        // SAFETY: the caller has the token, or nobody has, and holds the lock.
        unsafe { notice(Notice::Diverged, [self.plan.at as u64, steps, u64::from(thread)], how.as_bytes()) };
    }
}
