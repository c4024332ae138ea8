//! Condition variables, semaphores, try-locks and initialisers.
//!
//! Who woke whom is a matching. A wait that was notified needs a signal of its own, or a broadcast, while it
//! waited; a semaphore's wait needs a post of its own before it, or one of the counts there were. A
//! matching exists exactly if the operations can be executed in that order:
//!
//! - For semaphores, since a wait may take any earlier post, counts never fall below zero if and only if
//!   waits can be matched with different earlier posts and initial counts.
//! - A signal wakes somebody if anybody waits, whoever that is. To be woken early harms nobody but who is
//!   to time out. So, where no wait times out, it is enough that each notified wait has a signal of its own.
//!   Where one does, every signal during a wait that has not been notified must have its own waiter.

use super::Instance;
use crate::outline::{StepId, Sync, Wait, WaitId, WaitNeed, modes_conflict};
use interloper_order_sat::Lit;
use interloper_trace::LockMode;

impl Instance<'_> {
    pub(super) fn require_sync(&mut self) {
        for step in self.window.clone().map(StepId) {
            match self.outline.step(step).sync {
                Sync::TryFailed { lock, mode } => self.require_holder(step, lock, mode),
                Sync::OncePass(once) => self.require_completion(step, once),
                _ => {}
            }
        }
        for semaphore in 0..self.outline.semaphores.len() {
            self.require_counts(semaphore);
        }
        for condition in 0..self.outline.conditions.len() {
            self.require_notices(condition);
        }
    }

    /// Somebody else has the lock when a try-lock fails.
    fn require_holder(&mut self, step: StepId, lock: u32, mode: LockMode) {
        let thread = self.outline.step(step).thread;
        let mut clause = vec![!self.executed(step)];
        for section in &self.outline.locks[lock as usize] {
            let facts = self.outline.sections[section.index()];
            if facts.thread == thread || !modes_conflict(facts.mode, mode) {
                continue;
            }
            if !self.concerns(*section) {
                clause.push(self.relax);
                continue;
            }
            let taken = if self.contains(facts.acquire) { self.before(facts.acquire, step) } else { Lit::TRUE };
            let not_released = match facts.release {
                Some(release) if self.contains(release) => self.before(step, release),
                _ => Lit::TRUE,
            };
            if !self.contains(facts.acquire) {
                clause.push(self.relax);
            }
            let holds = self.solver.and(&[taken, not_released]);
            clause.push(holds);
        }
        self.solver.clause(&clause);
    }

    /// One of several runs of an initialiser has been completed.
    fn require_completion(&mut self, step: StepId, once: u32) {
        let Some(ends) = self.outline.completions.get(&once) else { return };
        let mut clause = vec![!self.executed(step)];
        for &end in ends {
            if end.0 < self.window.start {
                return;
            }
            clause.push(if self.contains(end) { self.before(end, step) } else { self.relax });
        }
        self.solver.clause(&clause);
    }

    /// Every wait at a semaphore has a post of its own.
    fn require_counts(&mut self, semaphore: usize) {
        let facts = &self.outline.semaphores[semaphore];
        let inside = |steps: &[StepId]| -> (u64, Vec<StepId>) {
            let earlier = steps.iter().filter(|step| step.0 < self.window.start).count() as u64;
            (earlier, steps.iter().copied().filter(|step| self.contains(*step)).collect())
        };
        let ((posted, posts), (waited, waits)) = (inside(&facts.posts), inside(&facts.waits));
        let is_whole = posts.len() == facts.posts.len() && waits.len() == facts.waits.len();
        let available = (facts.initial + posted).saturating_sub(waited);
        if waits.is_empty() || available >= waits.len() as u64 {
            return;
        }
        let mut taken_from: Vec<Vec<Lit>> = vec![Vec::new(); posts.len() + available as usize];
        for &wait in &waits {
            let mut clause = vec![!self.executed(wait)];
            for (at, taken) in taken_from.iter_mut().enumerate() {
                let earlier = posts.get(at).map_or(Lit::TRUE, |post| self.before(*post, wait));
                if earlier == Lit::FALSE {
                    continue;
                }
                let takes = self.solver.fresh();
                self.solver.clause(&[!takes, earlier]);
                taken.push(takes);
                clause.push(takes);
            }
            if !is_whole {
                clause.push(self.relax);
            }
            self.solver.clause(&clause);
        }
        for taken in taken_from {
            self.solver.at_most_one(&taken);
        }
    }

    /// Waits at a condition variable end as they ended.
    fn require_notices(&mut self, condition: usize) {
        let facts = &self.outline.conditions[condition];
        let waits: Vec<WaitId> = facts.waits.iter().copied().filter(|wait| self.is_waiting(*wait)).collect();
        let inside = |steps: &[StepId]| steps.iter().copied().filter(|step| self.contains(*step)).collect::<Vec<_>>();
        let (signals, broadcasts) = (inside(&facts.signals), inside(&facts.broadcasts));
        if waits.iter().all(|wait| self.outline.waits[wait.index()].need == WaitNeed::Nothing) {
            return;
        }
        let is_whole = waits.len() == facts.waits.len()
            && signals.len() == facts.signals.len()
            && broadcasts.len() == facts.broadcasts.len();
        let mut notices = Notices::new(&signals, &waits);
        for (at, &wait) in waits.iter().enumerate() {
            for (number, &signal) in signals.iter().enumerate() {
                let during = self.during(signal, wait);
                if during == Lit::FALSE {
                    continue;
                }
                let wakes = self.solver.fresh();
                self.solver.clause(&[!wakes, during]);
                let Wait { end, need, .. } = self.outline.waits[wait.index()];
                if let (WaitNeed::NoNotice, Some(end)) = (need, end.filter(|end| self.contains(*end))) {
                    let ended = self.executed(end);
                    self.solver.clause(&[!wakes, !ended]);
                }
                notices.wakes[number][at] = wakes;
            }
        }
        for (at, &wait) in waits.iter().enumerate() {
            self.require_notice(&notices, at, wait, &broadcasts, is_whole);
        }
        notices.each_signal_once(self);
        if waits.iter().any(|wait| self.outline.waits[wait.index()].need == WaitNeed::NoNotice) {
            notices.each_waiter_once(self);
            self.require_woken(&notices, &waits, &signals, &broadcasts, is_whole);
        }
    }

    /// Whether a wait has a part in the window.
    fn is_waiting(&self, wait: WaitId) -> bool {
        let Wait { begin, end, .. } = self.outline.waits[wait.index()];
        begin.0 < self.window.end && end.is_none_or(|end| end.0 >= self.window.start)
    }

    /// That a step comes while a thread waits.
    fn during(&mut self, step: StepId, wait: WaitId) -> Lit {
        let Wait { begin, end, .. } = self.outline.waits[wait.index()];
        let begun = if self.contains(begin) { self.before(begin, step) } else { Lit::TRUE };
        let not_over = match end {
            Some(end) if self.contains(end) => self.before(step, end),
            _ => Lit::TRUE,
        };
        self.solver.and(&[begun, not_over])
    }

    /// A wait is notified, or is not, as it was.
    fn require_notice(&mut self, notices: &Notices, at: usize, wait: WaitId, broadcasts: &[StepId], is_whole: bool) {
        let Wait { begin, end, need } = self.outline.waits[wait.index()];
        let Some(end) = end.filter(|end| self.contains(*end)) else { return };
        let ended = self.executed(end);
        match need {
            WaitNeed::Nothing => {}
            WaitNeed::Notice => {
                // It may have been notified before the window began.
                if !self.contains(begin) && self.was_notified(wait) {
                    return;
                }
                let mut clause = vec![!ended];
                clause.extend(notices.wakes.iter().map(|signal| signal[at]));
                for &broadcast in broadcasts {
                    clause.push(self.during(broadcast, wait));
                }
                if !is_whole {
                    clause.push(self.relax);
                }
                self.solver.clause(&clause);
            }
            WaitNeed::NoNotice => {
                for &broadcast in broadcasts {
                    let during = self.during(broadcast, wait);
                    self.solver.clause(&[!ended, !during]);
                }
            }
        }
    }

    /// Whether a wait that had begun when the window began had its notice by then, in the observed order.
    fn was_notified(&self, wait: WaitId) -> bool {
        self.outline.notices.get(&wait).is_some_and(|notice| notice.0 < self.window.start)
    }

    /// A signal wakes somebody if anybody waits who has not been notified.
    fn require_woken(
        &mut self,
        notices: &Notices,
        waits: &[WaitId],
        signals: &[StepId],
        broadcasts: &[StepId],
        is_whole: bool,
    ) {
        for (at, &wait) in waits.iter().enumerate() {
            for (number, &signal) in signals.iter().enumerate() {
                let during = self.during(signal, wait);
                let executed = self.executed(signal);
                let mut clause = vec![!during, !executed];
                clause.extend(&notices.wakes[number]);
                for (earlier, &other) in signals.iter().enumerate().filter(|(other, _)| *other != number) {
                    let before = self.before(other, signal);
                    let notified = self.solver.and(&[notices.wakes[earlier][at], before]);
                    clause.push(notified);
                }
                for &broadcast in broadcasts {
                    let during = self.during(broadcast, wait);
                    let before = self.before(broadcast, signal);
                    let notified = self.solver.and(&[during, before]);
                    // Who has been notified cannot be so again.
                    self.solver.clause(&[!notified, !notices.wakes[number][at]]);
                    clause.push(notified);
                }
                let had_notice = !self.contains(self.outline.waits[wait.index()].begin) && self.was_notified(wait);
                if had_notice {
                    self.solver.clause(&[!notices.wakes[number][at], self.relax]);
                    continue;
                }
                if !is_whole {
                    clause.push(self.relax);
                }
                self.solver.clause(&clause);
            }
        }
    }
}

/// Which signal wakes which waiter.
struct Notices {
    /// For each signal and wait.
    wakes: Vec<Vec<Lit>>,
}

impl Notices {
    fn new(signals: &[StepId], waits: &[WaitId]) -> Self {
        Notices { wakes: vec![vec![Lit::FALSE; waits.len()]; signals.len()] }
    }

    fn each_signal_once(&self, instance: &mut Instance<'_>) {
        for signal in &self.wakes {
            instance.solver.at_most_one(signal);
        }
    }

    fn each_waiter_once(&self, instance: &mut Instance<'_>) {
        let waits = self.wakes.first().map_or(0, Vec::len);
        for at in 0..waits {
            let by: Vec<Lit> = self.wakes.iter().map(|signal| signal[at]).collect();
            instance.solver.at_most_one(&by);
        }
    }
}
