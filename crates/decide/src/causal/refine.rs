//! Finding out which constraints a model violates, and adding them.

use super::Instance;
use super::reads::Written;
use crate::outline::{Cell, Content, Dependence, SectionId, StepId, Sync, Touch};
use interloper_order_sat::Model;
use interloper_trace::ThreadId;
use rustc_hash::FxHashMap;

/// Who wrote a cell last, and whether that was what it wrote in the trace.
#[derive(Clone, Copy)]
struct Last {
    written: Written,
    is_genuine: bool,
}

impl Instance<'_> {
    /// Adds what a model violates. False if it violates nothing.
    pub(super) fn refine(&mut self, model: &Model) -> bool {
        let schedule = self.schedule(model);
        let violated = self.violated_reads(model, &schedule);
        let overlaps = self.overlaps(&schedule);
        let mut is_news = false;
        for (touch, writer) in violated {
            is_news |= self.add_read(touch);
            if let Some(writer) = writer {
                is_news |= self.keep_out(touch, writer);
            }
        }
        for (one, other) in overlaps {
            is_news |= self.exclude(one, other);
        }
        is_news
    }

    /// The reads that see what they must not, with whose write that is.
    fn violated_reads(&self, model: &Model, schedule: &[StepId]) -> Vec<(u32, Option<StepId>)> {
        let mut memory: FxHashMap<Cell, Last> = FxHashMap::default();
        // Loose reads that found something else.
        let mut strayed: FxHashMap<ThreadId, Vec<StepId>> = FxHashMap::default();
        let mut violated = Vec::new();
        for &step in schedule {
            let facts = self.outline.step(step);
            // What was not asked about is not constrained: a thread's last read, mostly.
            let is_kept = match self.kept.get(&step) {
                Some(lit) => model.value(*lit),
                None => self.goes_on(model, step),
            };
            let (from, to) = facts.touches;
            let mut is_genuine = true;
            for number in from..to {
                let touch = &self.outline.touches[number as usize];
                let Some(reading) = touch.read.filter(|reading| reading.writer != Some(step)) else { continue };
                let start = || Last { written: self.content_at_start(touch.cell), is_genuine: true };
                let last = memory.get(&touch.cell).copied().unwrap_or_else(start);
                let is_satisfied = last.is_genuine && reading.accepts(last.written);
                is_genuine &= is_satisfied || !facts.is_rmw;
                if !is_satisfied && !self.is_excused(model, number) {
                    if is_kept {
                        violated.push((number, last.written.by.filter(|by| self.contains(*by))));
                    }
                    if facts.is_loose {
                        strayed.entry(facts.thread).or_default().push(step);
                    }
                }
            }
            for number in from..to {
                let touch = &self.outline.touches[number as usize];
                if let Some(content) = touch.write.or((touch.may_write && !is_genuine).then_some(Content(None))) {
                    let is_genuine =
                        is_genuine && strayed.get(&facts.thread).is_none_or(|strayed| !self.depends(touch, strayed));
                    memory.insert(touch.cell, Last { written: Written { by: Some(step), content }, is_genuine });
                }
            }
        }
        violated
    }

    /// Whether what a write leaves depends on one of these reads, which its thread has done before.
    fn depends(&self, write: &Touch, reads: &[StepId]) -> bool {
        match self.outline.dependences.get(&write.event) {
            None => false,
            Some(Dependence::First(_)) => true,
            Some(Dependence::On(needed)) => needed.iter().any(|read| reads.contains(read)),
        }
    }

    /// Whether a read may have seen something outside of the window, in a relaxed model.
    fn is_excused(&self, model: &Model, touch: u32) -> bool {
        let Some(reading) = self.outline.touches[touch as usize].read else { return true };
        model.value(self.relax) && self.may_see_outside(&reading, touch)
    }

    /// Whether the model has the thread of a step, or who joins it, do something that relies on it.
    fn goes_on(&self, model: &Model, step: StepId) -> bool {
        let is_executed = |step: StepId| model.position(self.node(step)) < model.position(self.end);
        match self.outline.reliant(step) {
            Some(reliant) => self.contains(reliant) && is_executed(reliant),
            None => {
                let thread = self.outline.step(step).thread;
                let mut joins = self.window.clone().map(StepId);
                joins.any(|join| self.outline.step(join).sync == Sync::Join(thread) && is_executed(join))
            }
        }
    }

    /// Sections that overlap and must not.
    fn overlaps(&self, schedule: &[StepId]) -> Vec<(SectionId, SectionId)> {
        let mut holders: FxHashMap<u32, Vec<SectionId>> = FxHashMap::default();
        for (lock, sections) in self.outline.locks.iter().enumerate() {
            let is_held = |section: &SectionId| {
                let facts = self.outline.sections[section.index()];
                facts.acquire.0 < self.window.start && self.concerns(*section)
            };
            let held: Vec<SectionId> = sections.iter().copied().filter(is_held).collect();
            if !held.is_empty() {
                holders.insert(lock as u32, held);
            }
        }
        let mut overlaps = Vec::new();
        for &step in schedule {
            match self.outline.step(step).sync {
                Sync::Acquire(section) | Sync::WaitEnd(_, Some(section)) => {
                    let facts = self.outline.sections[section.index()];
                    let held = holders.entry(facts.lock).or_default();
                    for other in held.iter() {
                        if self.outline.sections[other.index()].excludes(&facts) {
                            overlaps.push((*other, section));
                        }
                    }
                    held.push(section);
                }
                Sync::Release(section) | Sync::WaitBegin(_, Some(section)) => {
                    let lock = self.outline.sections[section.index()].lock;
                    if let Some(held) = holders.get_mut(&lock) {
                        held.retain(|known| *known != section);
                    }
                }
                _ => {}
            }
        }
        overlaps
    }
}
