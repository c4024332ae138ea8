//! `D(a)`: what can be reached from each open region, and why.

use super::sources::Source;
use super::{Conflict, Cycle, CycleStep, Transaction};
use interloper_trace::{EventIndex, ThreadId};

/// The descendants of all published regions.
///
/// A region is *published* once an edge leaves it; before that its only descendant is itself. Each
/// published region has a slot. `first[u][slot]` is `D(a)[u]`: by thread first, since an edge asks
/// the same thread of all slots.
#[derive(Debug, Default)]
pub(super) struct Descendants {
    slots: Vec<Slot>,
    free: Vec<usize>,
    published: Vec<usize>,
    first: Vec<Vec<EventIndex>>,
    /// For each thread its open region, published or not.
    open: Vec<EventIndex>,
    /// For each thread the lesser of that and of its row: edges from what comes before are nobody's concern.
    earliest: Vec<EventIndex>,
}

const NEVER: EventIndex = EventIndex(u64::MAX);

#[derive(Debug)]
struct Slot {
    region: Transaction,
    /// Every change of this region's clock, in order. The edge of each starts at the region itself
    /// or at what an earlier entry made reachable.
    entries: Vec<Entry>,
}

/// A transaction became reachable.
#[derive(Clone, Copy, Debug)]
struct Entry {
    transaction: Transaction,
    edge: Edge,
}

/// An edge of the transaction graph, with the events it stands between.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: Source,
    pub(super) to: Source,
    pub(super) conflict: Conflict,
}

/// Which slot a thread's open region has, if it is published.
pub(super) type SlotOf = Option<usize>;

impl Descendants {
    /// Whether an edge from here matters: it leaves an open region, or what can be reached from one. Most edges
    /// do neither. No source never does.
    #[inline(always)]
    pub(super) fn concern(&self, source: Source) -> bool {
        self.earliest.get(source.thread().index()).is_some_and(|&earliest| earliest <= source.start)
    }

    /// A region begins.
    pub(super) fn open(&mut self, region: Transaction) {
        let thread = region.thread.index();
        self.know(thread);
        self.open[thread] = region.start;
        self.earliest[thread] = self.earliest[thread].min(region.start);
    }

    /// A thread's region ends; if it has a clock, it has none any more.
    pub(super) fn close(&mut self, thread: ThreadId, slot: SlotOf) {
        self.know(thread.index());
        self.open[thread.index()] = NEVER;
        match slot {
            Some(slot) => self.retire(slot),
            None => self.reassess(thread.index()),
        }
    }

    /// Gives a region a clock: an edge is about to leave it.
    pub(super) fn publish(&mut self, region: Transaction) -> usize {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot].region = region;
                slot
            }
            None => {
                self.slots.push(Slot { region, entries: Vec::new() });
                self.slots.len() - 1
            }
        };
        self.published.push(slot);
        self.lower(region, slot);
        slot
    }

    /// Takes the clock of a region that has ended.
    fn retire(&mut self, slot: usize) {
        self.published.retain(|&published| published != slot);
        self.free.push(slot);
        let Slot { region, entries } = &mut self.slots[slot];
        let mut entries = std::mem::take(entries);
        let reached = entries.drain(..).map(|entry| entry.transaction.thread);
        for thread in reached.chain([region.thread]) {
            self.first[thread.index()][slot] = NEVER;
            self.reassess(thread.index());
        }
        // Its memory is for the next region in this slot.
        self.slots[slot].entries = entries;
    }

    /// Finds out from where on a thread's edges matter.
    fn reassess(&mut self, thread: usize) {
        let row = &self.first[thread];
        let reached = self.published.iter().filter_map(|&slot| row.get(slot)).min();
        self.earliest[thread] = reached.copied().unwrap_or(NEVER).min(self.open[thread]);
    }

    #[inline]
    fn know(&mut self, thread: usize) {
        if thread >= self.first.len() {
            self.first.resize(thread + 1, Vec::new());
            self.open.resize(thread + 1, NEVER);
            self.earliest.resize(thread + 1, NEVER);
        }
    }

    /// Adds an edge; `target` is the slot of the region it leads into. Returns the cycle it closes.
    #[inline]
    pub(super) fn add(&mut self, edge: Edge, target: SlotOf) -> Option<Cycle> {
        let from = edge.from;
        if from.thread().index() >= self.first.len() {
            return None;
        }
        for at in 0..self.published.len() {
            let slot = self.published[at];
            let reached = self.first[from.thread().index()].get(slot).is_some_and(|&first| first <= from.start);
            if reached {
                if target == Some(slot) {
                    return Some(self.cycle(slot, edge));
                }
                self.reach(slot, edge, target);
            }
        }
        None
    }

    /// Makes the target of an edge, and what can be reached from it, reachable from a region.
    fn reach(&mut self, slot: usize, edge: Edge, target: SlotOf) {
        self.enter(slot, Entry { transaction: edge.to.transaction(), edge });
        if let Some(target) = target {
            for at in 0..self.slots[target].entries.len() {
                let entry = self.slots[target].entries[at];
                self.enter(slot, entry);
            }
        }
    }

    fn enter(&mut self, slot: usize, entry: Entry) {
        if self.lower(entry.transaction, slot) {
            self.slots[slot].entries.push(entry);
        }
    }

    /// Notes that a transaction can be reached from a region; tells whether that is new.
    fn lower(&mut self, transaction: Transaction, slot: usize) -> bool {
        let thread = transaction.thread.index();
        self.know(thread);
        let row = &mut self.first[thread];
        if slot >= row.len() {
            row.resize(slot + 1, NEVER);
        }
        let new = transaction.start < row[slot];
        if new {
            row[slot] = transaction.start;
            self.earliest[thread] = self.earliest[thread].min(transaction.start);
        }
        new
    }

    /// Reads the cycle off backwards: from the source of the closing edge to the region.
    fn cycle(&self, slot: usize, closing: Edge) -> Cycle {
        let Slot { region, entries } = &self.slots[slot];
        let mut edges = vec![closing];
        let mut known = entries.len();
        let mut source = closing.from;
        while source.thread() != region.thread {
            let earlier = entries[..known].iter().position(|entry| {
                entry.transaction.thread == source.thread() && entry.transaction.start <= source.start
            });
            let Some(at) = earlier else { break };
            known = at;
            edges.push(entries[at].edge);
            source = entries[at].edge.from;
        }
        edges.reverse();
        Cycle { at: closing.to.index(), steps: steps(&edges) }
    }
}

/// The transactions between edges that follow each other around a cycle.
fn steps(edges: &[Edge]) -> Vec<CycleStep> {
    let mut steps = Vec::new();
    for (at, edge) in edges.iter().enumerate() {
        let previous = edges[(at + edges.len() - 1) % edges.len()];
        let (arrives, leaves) = (previous.to, edge.from);
        if arrives.start != leaves.start {
            // Reached in one transaction, left from a later one of the same thread.
            steps.push(CycleStep {
                transaction: arrives.transaction(),
                enter: arrives.index(),
                leave: arrives.index(),
                conflict: Conflict::ProgramOrder,
            });
        }
        let enter = if arrives.start == leaves.start { arrives.index() } else { leaves.index() };
        steps.push(CycleStep {
            transaction: leaves.transaction(),
            enter,
            leave: leaves.index(),
            conflict: edge.conflict,
        });
    }
    steps
}
