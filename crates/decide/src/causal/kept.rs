//! Which reads find what they found, and which writes therefore leave what they left.

use super::Instance;
use crate::outline::{Cell, Dependence, StepId, Sync};
use interloper_order_sat::Lit;
use interloper_trace::ThreadId;

impl Instance<'_> {
    /// That the reads of a step find what they found.
    pub(super) fn kept(&mut self, step: StepId) -> Lit {
        if let Some(&known) = self.kept.get(&step) {
            return known;
        }
        let goes_on = match self.outline.reliant(step) {
            Some(reliant) if self.contains(reliant) => self.executed(reliant),
            // The thread may stop before that.
            Some(_) => Lit::FALSE,
            None => self.joined(self.outline.step(step).thread),
        };
        // What need not find what it found may do so all the same.
        let is_open = self.outline.step(step).is_rmw || self.outline.step(step).is_loose;
        let lit = if is_open && goes_on != Lit::TRUE {
            let lit = self.solver.fresh();
            self.solver.clause(&[!goes_on, lit]);
            lit
        } else {
            goes_on
        };
        self.kept.insert(step, lit);
        lit
    }

    /// That a thread has been joined.
    fn joined(&mut self, thread: ThreadId) -> Lit {
        if let Some(&known) = self.joined.get(&thread) {
            return known;
        }
        let joins: Vec<StepId> = self
            .window
            .clone()
            .map(StepId)
            .filter(|step| self.outline.step(*step).sync == Sync::Join(thread))
            .collect();
        let lits: Vec<Lit> = joins.into_iter().map(|join| self.executed(join)).collect();
        let joined = self.solver.or(&lits);
        self.joined.insert(thread, joined);
        joined
    }

    /// That what a step leaves in a cell is what it left there.
    pub(super) fn genuine(&mut self, step: StepId, cell: Cell) -> Lit {
        if self.outline.step(step).is_rmw {
            return self.kept(step);
        }
        if self.outline.dependences.is_empty() {
            return Lit::TRUE;
        }
        let mut touches = self.outline.touches_of(step).iter().rev();
        let write = touches.find(|touch| touch.cell == cell && touch.write.is_some());
        match write.and_then(|write| self.outline.dependences.get(&write.event)) {
            None => Lit::TRUE,
            Some(Dependence::First(count)) => self.first_kept(self.outline.step(step).thread, *count),
            Some(Dependence::On(reads)) => {
                let reads: Vec<Lit> = reads.iter().map(|read| self.kept_or_past(*read)).collect();
                self.solver.and(&reads)
            }
        }
    }

    /// That so many loose reads of a thread, from the first, find what they found.
    fn first_kept(&mut self, thread: ThreadId, count: usize) -> Lit {
        let reads = &self.outline.loose[thread.index()][..count];
        let known = (1..=count).rev().find_map(|first| Some((first, *self.first_kept.get(&(thread, first))?)));
        let (known, mut all) = known.unwrap_or((0, Lit::TRUE));
        for (number, read) in reads.iter().enumerate().skip(known) {
            let kept = self.kept_or_past(*read);
            all = self.solver.and(&[all, kept]);
            self.first_kept.insert((thread, number + 1), all);
        }
        all
    }

    /// That a read that comes before some step of the window finds what it found.
    fn kept_or_past(&mut self, read: StepId) -> Lit {
        if self.contains(read) { self.kept(read) } else { Lit::TRUE }
    }
}
