//! Leaving the observed paths: schedules after which a read finds something else than it found.
//!
//! The read is the last step of its thread, so the model stays sound: up to there every thread does what it did.
//! What comes after nobody knows; that is what makes executing such a schedule worth while. This is the search of
//! maximal causality reduction (Huang, PLDI 2015), one step at a time.
//!
//! Schedules are long by preference: other threads are to be in the middle of things when the read is done. What
//! was read before is then kept as it was, and only this read is changed.

use crate::causal::{Instance, Taste, Written};
use crate::outline::{Content, Outline, StepId};
use crate::verdicts::{Limits, Order, budget, order_of};
use interloper_order_sat::Reason;
use interloper_trace::EventIndex;

/// A read, and what it is to find instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flip {
    /// The read.
    pub read: EventIndex,
    /// What it is to find.
    pub find: Find,
    touch: u32,
}

/// What a read is to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Find {
    /// This content.
    Content(u64),
    /// What this event writes, of which the content is not known.
    WrittenBy(EventIndex),
    /// What was there from the beginning.
    Initial,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flipped {
    /// This order makes it so.
    Order(Order),
    /// None does.
    Impossible,
    /// Nobody knows, in the time given and as far as the window reaches.
    Unknown,
}

/// Every read of a trace with everything else that it might find, by the order of reads.
pub fn flips(outline: &Outline) -> Vec<Flip> {
    let mut all = Vec::new();
    for cell in &outline.cells {
        for &number in &cell.touches {
            let touch = &outline.touches[number as usize];
            let Some(reading) = touch.read.filter(|reading| reading.writer != Some(touch.step)) else { continue };
            let read = EventIndex(touch.event);
            let mut finds = Vec::new();
            if !reading.accepts(Written { by: None, content: cell.initial }) {
                finds.push(find(outline, None, cell.initial));
            }
            for write in cell.writes.iter().map(|write| &outline.touches[*write as usize]) {
                let Some(content) = write.write.filter(|_| write.step != touch.step) else { continue };
                if !reading.accepts(Written { by: Some(write.step), content }) {
                    finds.push(find(outline, Some(write.step), content));
                }
            }
            finds.sort_unstable();
            finds.dedup();
            all.extend(finds.into_iter().map(|find| Flip { read, find, touch: number }));
        }
    }
    all.sort_unstable();
    all
}

fn find(outline: &Outline, writer: Option<StepId>, content: Content) -> Find {
    match (content.0, writer) {
        (Some(content), _) => Find::Content(content),
        (None, Some(writer)) => Find::WrittenBy(EventIndex(outline.step(writer).events.0)),
        (None, None) => Find::Initial,
    }
}

/// Looks for schedules, window by window.
pub struct Flipper<'o> {
    outline: &'o Outline,
    limits: Limits,
    instance: Option<(u32, Instance<'o>)>,
}

impl<'o> Flipper<'o> {
    /// For a trace.
    pub fn new(outline: &'o Outline, limits: &Limits) -> Self {
        Flipper { outline, limits: limits.clone(), instance: None }
    }

    /// A schedule that ends with a read that finds what it is to find.
    pub fn ask(&mut self, flip: &Flip) -> Flipped {
        let step = self.outline.touches[flip.touch as usize].step;
        let (outline, find) = (self.outline, flip.find);
        let budget = budget(&self.limits);
        let is_whole = outline.len() <= self.window_size() as usize;
        let (start, instance) = self.instance_at(step);
        let wanted = |written: Written| self::find(outline, written.by, written.content) == find;
        match instance.ask_flip(flip.touch, &wanted, &budget) {
            Ok(Some(steps)) => Flipped::Order(order_of(outline, start, &steps)),
            Ok(None) if is_whole => Flipped::Impossible,
            Ok(None) => Flipped::Unknown,
            Err(Reason::Stopped | Reason::Deadline | Reason::Conflicts) => Flipped::Unknown,
        }
    }

    fn window_size(&self) -> u32 {
        self.limits.windows.1.min(4 * 1024) as u32
    }

    /// The formula of a window around a step.
    fn instance_at(&mut self, step: StepId) -> (u32, &mut Instance<'o>) {
        let size = self.window_size();
        let whole = self.outline.len() as u32;
        let stride = (size / 4).max(1);
        let start = if whole <= size { 0 } else { (step.0 / stride * stride).saturating_sub(size / 2) };
        if self.instance.as_ref().is_none_or(|(known, _)| *known != start) {
            let window = start..(start.saturating_add(size)).min(whole);
            self.instance = Some((start, Instance::new(self.outline, window, self.limits.eager, Taste::LongSchedules)));
        }
        let Some((_, instance)) = &mut self.instance else { unreachable!("it was made just now") };
        (start, instance)
    }
}
