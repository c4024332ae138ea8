//! Orders that need no solver: what program order, fork, join and the like decide within a window.

use crate::outline::{Outline, StepId};
use interloper_trace::ThreadId;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// For each step of a window, how far each thread must have come before it.
#[derive(Debug)]
pub(super) struct Clocks {
    from: u32,
    slots: FxHashMap<ThreadId, usize>,
    width: usize,
    /// A row for each step: of each thread, the rank up to which its steps must precede.
    rows: Vec<u32>,
}

impl Clocks {
    pub(super) fn new(outline: &Outline, window: &Range<u32>) -> Clocks {
        let mut slots = FxHashMap::default();
        for step in window.clone() {
            let next = slots.len();
            slots.entry(outline.step(StepId(step)).thread).or_insert(next);
        }
        let width = slots.len();
        let mut clocks = Clocks { from: window.start, slots, width, rows: vec![0; width * window.len()] };
        for step in window.clone() {
            clocks.add(outline, StepId(step));
        }
        clocks
    }

    fn add(&mut self, outline: &Outline, step: StepId) {
        let facts = outline.step(step);
        let before = facts.rank.checked_sub(1).map(|rank| outline.threads[facts.thread.index()][rank as usize]);
        for earlier in before.into_iter().chain(orders_into(outline, step)).filter(|earlier| earlier.0 >= self.from) {
            let (source, target) = (self.row_of(earlier), self.row_of(step));
            for slot in 0..self.width {
                self.rows[target + slot] = self.rows[target + slot].max(self.rows[source + slot]);
            }
        }
        let at = self.row_of(step) + self.slots[&facts.thread];
        self.rows[at] = facts.rank + 1;
    }

    fn row_of(&self, step: StepId) -> usize {
        (step.0 - self.from) as usize * self.width
    }

    /// Whether one step comes before another in every schedule.
    pub(super) fn precedes(&self, outline: &Outline, earlier: StepId, later: StepId) -> bool {
        let facts = outline.step(earlier);
        earlier != later && self.rows[self.row_of(later) + self.slots[&facts.thread]] > facts.rank
    }
}

/// The steps that must precede one for other reasons than program order.
pub(crate) fn orders_into(outline: &Outline, step: StepId) -> impl Iterator<Item = StepId> + '_ {
    let from = outline.must.partition_point(|(_, later)| *later < step);
    outline.must[from..].iter().take_while(move |(_, later)| *later == step).map(|(earlier, _)| *earlier)
}
