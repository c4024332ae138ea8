//! Orders that every schedule keeps: what must have happened before a step, over the whole trace.
//!
//! Most candidates of a long trace need no solver: their three accesses are tied to an order by what threads
//! read. Vector clocks find that out, in one pass over the trace. A step x *must precede* y, if in every schedule
//! that executes y, x is executed before:
//!
//! - program order, fork, join and the other fixed orders say so; or
//! - a read earlier in y's thread, which must have found what it found (a loose one only if y's thread relies on it by
//!   then), could have found it only after x: every
//!   write that it accepts is x or comes after x. (Content that was there from the beginning needs nothing.)
//! - y takes a lock, and x is the release, or comes before it, of another section of that lock whose beginning must
//!   precede y.
//!
//! This is a lower bound: sources that come later in the trace than the read are taken to need nothing. Hence what
//! is ruled out here is infeasible, and what is not says nothing.

use crate::causal::orders_into;
use crate::outline::{Outline, Reading, StepId, Sync, modes_conflict};
use interloper_trace::{LockMode, ThreadId};
use rustc_hash::FxHashMap;

/// For each step, how far each thread must have come.
#[derive(Debug)]
pub(crate) struct Forced {
    width: usize,
    /// A row for each step: of each thread, how many of its steps must precede.
    before: Vec<u32>,
    /// The same, if the step's reads find what they found.
    before_kept: Vec<u32>,
}

/// Above so many entries it is not worth the memory.
const MOST_ENTRIES: usize = 1 << 26;

impl Forced {
    /// Looks at a trace; none if it has too many steps and threads.
    pub(crate) fn new(outline: &Outline) -> Option<Forced> {
        let width = outline.threads.len();
        let entries = width.checked_mul(outline.len()).filter(|entries| *entries <= MOST_ENTRIES)?;
        let mut forced = Forced { width, before: vec![0; entries], before_kept: vec![0; entries] };
        let locks = LockRanks::new(outline);
        let mut settled: FxHashMap<StepId, Vec<StepId>> = FxHashMap::default();
        for read in outline.loose.iter().flatten() {
            if let Some(by) = outline.step(*read).settled {
                settled.entry(by).or_default().push(*read);
            }
        }
        let mut row = vec![0; width];
        for step in (0..outline.len() as u32).map(StepId) {
            row.fill(0);
            for read in settled.get(&step).into_iter().flatten() {
                forced.include(outline, *read, &mut row);
            }
            forced.enter(outline, &locks, step, &mut row);
            forced.row_mut(step, false).copy_from_slice(&row);
            forced.add_sources(outline, step, &mut row);
            forced.row_mut(step, true).copy_from_slice(&row);
        }
        Some(forced)
    }

    /// Whether these three steps cannot happen in this order.
    pub(crate) fn forbids(&self, outline: &Outline, [first, remote, second]: [StepId; 3]) -> bool {
        let (local, other) = (outline.step(first), outline.step(remote));
        // The region's thread goes on after its first access, so that this one found what it found; if it is loose,
        // if something up to the second relies on it.
        let is_kept = outline.reliant(first).is_some_and(|reliant| reliant <= second);
        self.row(first, is_kept)[other.thread.index()] > other.rank
            || self.row(remote, false)[local.thread.index()] > outline.step(second).rank
    }

    /// What must precede a step, whatever it reads.
    fn enter(&self, outline: &Outline, locks: &LockRanks, step: StepId, row: &mut [u32]) {
        let facts = outline.step(step);
        if let Some(rank) = facts.rank.checked_sub(1) {
            let previous = outline.threads[facts.thread.index()][rank as usize];
            self.include_with(outline, previous, !outline.step(previous).is_loose, row);
        }
        for earlier in orders_into(outline, step) {
            // Who is joined has found what it found; others that come first here find nothing.
            self.include(outline, earlier, row);
        }
        if let Sync::Acquire(section) | Sync::WaitEnd(_, Some(section)) = facts.sync {
            let own = &outline.sections[section.index()];
            let others = locks.of(own.lock);
            let mut has_changed = true;
            while std::mem::take(&mut has_changed) {
                for (thread, sections) in others.iter().filter(|(thread, _)| **thread != facts.thread) {
                    let begun = row[thread.index()];
                    let count = sections.partition_point(|(acquire, ..)| *acquire < begun);
                    let conflicting = sections[..count].iter().rev().find(|(.., mode)| modes_conflict(*mode, own.mode));
                    if let Some((_, Some(release), _)) = conflicting
                        && outline.step(*release).rank >= begun
                        && *release < step
                    {
                        self.include(outline, *release, row);
                        has_changed = true;
                    }
                }
            }
        }
    }

    /// A step that is seen by a read, and all that must precede it.
    fn include_source(&self, outline: &Outline, step: StepId, row: &mut [u32]) {
        let reads = outline.touches_of(step).iter().any(|touch| touch.read.is_some());
        // What it reads does not matter to what a plain access writes.
        self.include_with(outline, step, outline.step(step).is_rmw || !reads, row);
    }

    /// A step that found what it found, and all that must precede it.
    fn include(&self, outline: &Outline, step: StepId, row: &mut [u32]) {
        self.include_with(outline, step, true, row);
    }

    fn include_with(&self, outline: &Outline, step: StepId, kept: bool, row: &mut [u32]) {
        let facts = outline.step(step);
        row.iter_mut().zip(self.row(step, kept)).for_each(|(known, new)| *known = (*known).max(*new));
        let own = &mut row[facts.thread.index()];
        *own = (*own).max(facts.rank + 1);
    }

    /// What must precede a step if its reads find what they found.
    fn add_sources(&self, outline: &Outline, step: StepId, row: &mut [u32]) {
        for touch in outline.touches_of(step) {
            let Some(reading) = touch.read.filter(|reading| reading.writer != Some(step)) else { continue };
            let Some(common) = self.common(outline, touch.cell.index(), &reading, step) else { continue };
            row.iter_mut().zip(&common).for_each(|(known, new)| *known = (*known).max(*new));
        }
    }

    /// What all sources of a read have in common; none if that is nothing.
    fn common(&self, outline: &Outline, cell: usize, reading: &Reading, step: StepId) -> Option<Vec<u32>> {
        let facts = &outline.cells[cell];
        let observed = reading.writer?;
        if reading.content.surely_equals(facts.initial) {
            return None;
        }
        let mut common = vec![0; self.width];
        self.include_source(outline, observed, &mut common);
        if reading.content.0.is_none() {
            return Some(common);
        }
        for write in facts.writes.iter().map(|write| &outline.touches[*write as usize]) {
            let is_accepted = write.write.is_some_and(|content| reading.content.surely_equals(content));
            if !is_accepted || write.step == observed || write.step == step {
                continue;
            }
            if write.step > step {
                return None;
            }
            let mut other = vec![0; self.width];
            self.include_source(outline, write.step, &mut other);
            common.iter_mut().zip(&other).for_each(|(known, new)| *known = (*known).min(*new));
        }
        common.iter().any(|rank| *rank > 0).then_some(common)
    }

    fn row(&self, step: StepId, kept: bool) -> &[u32] {
        let rows = if kept { &self.before_kept } else { &self.before };
        &rows[step.index() * self.width..][..self.width]
    }

    fn row_mut(&mut self, step: StepId, kept: bool) -> &mut [u32] {
        let rows = if kept { &mut self.before_kept } else { &mut self.before };
        &mut rows[step.index() * self.width..][..self.width]
    }
}

/// The sections of a thread, in order: the rank of the acquisition, the release, the mode.
type Ranks = Vec<(u32, Option<StepId>, LockMode)>;

/// The sections of each lock, by thread.
struct LockRanks {
    locks: Vec<FxHashMap<ThreadId, Ranks>>,
}

impl LockRanks {
    fn new(outline: &Outline) -> LockRanks {
        let locks = outline.locks.iter().map(|sections| {
            let mut by_thread: FxHashMap<ThreadId, Ranks> = FxHashMap::default();
            for section in sections.iter().map(|section| &outline.sections[section.index()]) {
                let rank = outline.step(section.acquire).rank;
                by_thread.entry(section.thread).or_default().push((rank, section.release, section.mode));
            }
            by_thread
        });
        LockRanks { locks: locks.collect() }
    }

    fn of(&self, lock: u32) -> &FxHashMap<ThreadId, Ranks> {
        &self.locks[lock as usize]
    }
}
