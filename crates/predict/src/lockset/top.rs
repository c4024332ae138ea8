//! The least of many triples, in bounded memory.

use crate::triple::Triple;
use interloper_model::Pattern;
use interloper_trace::EventIndex;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Keeps the `limit` least triples it is given, and counts all.
pub(super) struct Top {
    limit: usize,
    count: u64,
    /// The greatest of those kept is on top, to be replaced first.
    kept: BinaryHeap<ByKey>,
}

impl Top {
    pub(super) fn new(limit: usize) -> Self {
        Top { limit, count: 0, kept: BinaryHeap::new() }
    }

    pub(super) fn push(&mut self, triple: Triple) {
        self.count += 1;
        if self.kept.len() < self.limit {
            self.kept.push(ByKey(triple));
        } else if let Some(mut greatest) = self.kept.peek_mut()
            && ByKey(triple) < *greatest
        {
            *greatest = ByKey(triple);
        }
    }

    /// Adds to the count what is known to be too great to be kept.
    pub(super) fn skip(&mut self, count: u64) {
        self.count += count;
    }

    /// Whether a triple with this key would be kept.
    pub(super) fn admits(&self, key: (EventIndex, EventIndex, EventIndex, Pattern)) -> bool {
        self.kept.len() < self.limit || self.kept.peek().is_some_and(|greatest| key < greatest.0.sort_key())
    }

    /// The count, and the least ones in order.
    pub(super) fn finish(self) -> (u64, Vec<Triple>) {
        (self.count, self.kept.into_sorted_vec().into_iter().map(|ByKey(triple)| triple).collect())
    }
}

struct ByKey(Triple);

impl Ord for ByKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.sort_key().cmp(&other.0.sort_key())
    }
}

impl PartialOrd for ByKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ByKey {}
