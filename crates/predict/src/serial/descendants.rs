//! `D(a)`: what can be reached from each open region, and why.

use super::sources::Source;
use super::{Conflict, Cycle, CycleStep, Transaction};
use interloper_trace::EventIndex;

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
    /// For each thread, the least of its row: what comes before can be reached from nowhere.
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
    /// Whether an event can be reached from any published region. An edge from elsewhere matters only
    /// if it leaves an open region, and most edges do neither.
    #[inline]
    pub(super) fn reach_event(&self, source: Source) -> bool {
        self.earliest.get(source.thread.index()).is_some_and(|&earliest| earliest <= source.start)
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
    pub(super) fn retire(&mut self, slot: usize) {
        self.published.retain(|&published| published != slot);
        self.free.push(slot);
        let Slot { region, entries } = &mut self.slots[slot];
        let threads = entries.drain(..).map(|entry| entry.transaction.thread).chain([region.thread]);
        for thread in threads {
            let row = &mut self.first[thread.index()];
            row[slot] = NEVER;
            let others = self.published.iter().filter_map(|&other| row.get(other)).min();
            self.earliest[thread.index()] = others.copied().unwrap_or(NEVER);
        }
    }

    /// Adds an edge; `target` is the slot of the region it leads into. Returns the cycle it closes.
    #[inline]
    pub(super) fn add(&mut self, edge: Edge, target: SlotOf) -> Option<Cycle> {
        let from = edge.from;
        if from.thread.index() >= self.first.len() {
            return None;
        }
        for at in 0..self.published.len() {
            let slot = self.published[at];
            let reached = self.first[from.thread.index()].get(slot).is_some_and(|&first| first <= from.start);
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
        if thread >= self.first.len() {
            self.first.resize(thread + 1, Vec::new());
            self.earliest.resize(thread + 1, NEVER);
        }
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
        while source.thread != region.thread {
            let earlier = entries[..known]
                .iter()
                .position(|entry| entry.transaction.thread == source.thread && entry.transaction.start <= source.start);
            let Some(at) = earlier else { break };
            known = at;
            edges.push(entries[at].edge);
            source = entries[at].edge.from;
        }
        edges.reverse();
        Cycle { at: closing.to.index, steps: steps(&edges) }
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
                enter: arrives.index,
                leave: arrives.index,
                conflict: Conflict::ProgramOrder,
            });
        }
        let enter = if arrives.start == leaves.start { arrives.index } else { leaves.index };
        steps.push(CycleStep {
            transaction: leaves.transaction(),
            enter,
            leave: leaves.index,
            conflict: edge.conflict,
        });
    }
    steps
}
