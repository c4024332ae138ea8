//! Which write a read sees.

use super::Instance;
use crate::outline::{Cell, Content, Reading, StepId, Touch};
use interloper_order_sat::Lit;
use rustc_hash::FxHashSet;

/// What has been said about a read of one cell.
#[derive(Debug, Default)]
pub(super) struct ReadFormula {
    /// Whom it may see, and that it does. None is what was there when the window began.
    sources: Vec<(Option<StepId>, Lit)>,
    /// Writes that have been kept from coming in between.
    interferers: FxHashSet<StepId>,
}

/// Who wrote what a cell holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) by: Option<StepId>,
    pub(crate) content: Content,
}

impl Reading {
    /// Whether a content is as good as the one that was found.
    pub(crate) fn accepts(&self, written: Written) -> bool {
        self.writer == written.by || self.content.surely_equals(written.content)
    }
}

impl<'o> Instance<'o> {
    pub(super) fn add_all_reads(&mut self) {
        for cell in &self.outline.cells {
            let touches = self.in_window(&cell.touches);
            let writes = self.in_window(&cell.writes);
            for &touch in touches {
                if self.outline.touches[touch as usize].read.is_some() {
                    self.add_read(touch);
                    for &write in writes {
                        self.keep_out(touch, self.outline.touches[write as usize].step);
                    }
                }
            }
        }
    }

    /// Says that a read sees something that it accepts. False if that has been said before.
    pub(super) fn add_read(&mut self, touch: u32) -> bool {
        if self.reads.contains_key(&touch) {
            return false;
        }
        let Touch { step, cell, read, .. } = self.outline.touches[touch as usize];
        let Some(reading) = read else { return false };
        let kept = self.kept(step);
        let mut formula = ReadFormula::default();
        // A wide access may read what it has written itself.
        if kept == Lit::FALSE || reading.writer == Some(step) {
            self.reads.insert(touch, formula);
            return true;
        }
        let facts = &self.outline.cells[cell.index()];
        let thread = self.outline.step(step).thread;
        let writes: Vec<&'o Touch> =
            self.in_window(&facts.writes).iter().map(|write| &self.outline.touches[*write as usize]).collect();
        let writes: Vec<&'o Touch> = writes.into_iter().filter(|write| write.write.is_some()).collect();
        let own = writes.iter().rev().find(|write| write.step < step && self.outline.step(write.step).thread == thread);
        let own = own.map(|write| write.step);
        let mut clause = vec![!kept];
        for write in &writes {
            let is_later = write.step == step || self.clocks.precedes(self.outline, step, write.step);
            let is_hidden = own.is_some_and(|own| self.clocks.precedes(self.outline, write.step, own));
            let written = Written { by: Some(write.step), content: write.write.unwrap_or(Content(None)) };
            if is_later || is_hidden || !reading.accepts(written) {
                continue;
            }
            let sees = self.solver.fresh();
            let before = self.before(write.step, step);
            self.solver.clause(&[!sees, before]);
            let genuine = self.genuine(write.step, cell);
            if genuine != Lit::TRUE {
                self.solver.clause(&[!sees, genuine]);
            }
            clause.push(sees);
            formula.sources.push((Some(write.step), sees));
        }
        let must_be_written = writes.iter().any(|write| self.clocks.precedes(self.outline, write.step, step));
        if !must_be_written && reading.accepts(self.content_at_start(cell)) {
            let sees = self.solver.fresh();
            clause.push(sees);
            formula.sources.push((None, sees));
        }
        if self.may_see_outside(&reading, touch) {
            clause.push(self.relax);
        }
        self.solver.clause(&clause);
        self.reads.insert(touch, formula);
        true
    }

    /// Keeps a write from coming between a read and what that sees. False if that has been said before.
    pub(super) fn keep_out(&mut self, touch: u32, write: StepId) -> bool {
        let Touch { step, cell, read: Some(reading), .. } = self.outline.touches[touch as usize] else { return false };
        let Some(formula) = self.reads.get_mut(&touch) else { return false };
        if write == step || !formula.interferers.insert(write) {
            return false;
        }
        let sources = formula.sources.clone();
        let content = self.written_by(write, cell);
        // Who writes only when led astray is harmless as long as it is not.
        let is_accepted = content.is_none_or(|content| reading.accepts(Written { by: Some(write), content }));
        let harmless = if is_accepted { self.genuine(write, cell) } else { Lit::FALSE };
        if harmless == Lit::TRUE {
            return true;
        }
        let after = self.before(step, write);
        for (source, sees) in sources {
            match source {
                Some(source) if source == write => {}
                Some(source) => {
                    let earlier = self.before(write, source);
                    self.solver.clause(&[!sees, earlier, after, harmless]);
                }
                None => self.solver.clause(&[!sees, after, harmless]),
            }
        }
        true
    }

    /// That a read sees something else: one of the contents that are `wanted`.
    pub(super) fn sees_other(&mut self, touch: u32, wanted: &dyn Fn(Written) -> bool) -> Lit {
        let Touch { step, cell, .. } = self.outline.touches[touch as usize];
        let facts = &self.outline.cells[cell.index()];
        let writes: Vec<&'o Touch> =
            self.in_window(&facts.writes).iter().map(|write| &self.outline.touches[*write as usize]).collect();
        let others: Vec<&'o Touch> = writes.into_iter().filter(|write| write.step != step).collect();
        let is_wanted =
            |write: &Touch| write.write.is_some_and(|content| wanted(Written { by: Some(write.step), content }));
        let mut sources: Vec<Option<StepId>> = others.iter().filter(|w| is_wanted(w)).map(|w| Some(w.step)).collect();
        if wanted(self.content_at_start(cell)) {
            sources.push(None);
        }
        let mut any = Vec::new();
        for source in sources {
            let sees = self.solver.fresh();
            if let Some(source) = source {
                let before = self.before(source, step);
                self.solver.clause(&[!sees, before]);
                let genuine = self.genuine(source, cell);
                if genuine != Lit::TRUE {
                    self.solver.clause(&[!sees, genuine]);
                }
            }
            for write in others.iter().filter(|write| Some(write.step) != source) {
                let is_accepted = write.write.is_none() || is_wanted(write);
                let harmless = if is_accepted { self.genuine(write.step, cell) } else { Lit::FALSE };
                if harmless == Lit::TRUE {
                    continue;
                }
                let earlier = source.map_or(Lit::FALSE, |source| self.before(write.step, source));
                let after = self.before(step, write.step);
                self.solver.clause(&[!sees, earlier, after, harmless]);
            }
            any.push(sees);
        }
        self.solver.or(&any)
    }

    /// What a step leaves in a cell.
    fn written_by(&self, step: StepId, cell: Cell) -> Option<Content> {
        self.outline.touches_of(step).iter().rev().find_map(|touch| touch.write.filter(|_| touch.cell == cell))
    }

    /// What a cell holds when the window begins.
    pub(super) fn content_at_start(&self, cell: Cell) -> Written {
        let facts = &self.outline.cells[cell.index()];
        let touch = |write: &u32| &self.outline.touches[*write as usize];
        let earlier = facts.writes.partition_point(|write| touch(write).step.0 < self.window.start);
        let last = facts.writes[..earlier].iter().rev().map(touch).find_map(|touch| Some((touch.step, touch.write?)));
        match last {
            None => Written { by: None, content: facts.initial },
            Some((step, content)) => Written { by: Some(step), content },
        }
    }

    /// Whether a read could see something outside of the window.
    pub(super) fn may_see_outside(&self, reading: &Reading, touch: u32) -> bool {
        let facts = &self.outline.cells[self.outline.touches[touch as usize].cell.index()];
        let initial = Written { by: None, content: facts.initial };
        let outside = facts.writes.iter().map(|write| &self.outline.touches[*write as usize]);
        let mut outside = outside.filter(|write| !self.contains(write.step));
        let accepts = |write: &Touch| {
            write.write.is_some_and(|content| reading.accepts(Written { by: Some(write.step), content }))
        };
        self.window.start > 0 && reading.accepts(initial) || outside.any(accepts)
    }
}
