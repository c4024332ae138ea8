//! Where edges come from: the latest event of each thread that later ones may conflict with.

use super::Transaction;
use interloper_trace::{EventIndex, ThreadId};

/// An event that later ones may conflict with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) start: EventIndex,
    pub(super) index: EventIndex,
    pub(super) thread: ThreadId,
}

impl Source {
    /// No event. An `Option` would take a third more room in every location.
    pub(super) const NONE: Source =
        Source { start: EventIndex(u64::MAX), index: EventIndex(u64::MAX), thread: ThreadId::new(u32::MAX) };

    /// The event, if it is one.
    #[inline]
    pub(super) fn get(self) -> Option<Source> {
        (self.index.0 != u64::MAX).then_some(self)
    }

    pub(super) fn transaction(&self) -> Transaction {
        Transaction { thread: self.thread, start: self.start }
    }
}

/// One source for each thread at the most, the latest: by program order it stands for the earlier
/// ones. Sorted by thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources(Vec<Source>);

impl Sources {
    /// Enters a thread's latest event.
    #[inline]
    pub(super) fn insert(&mut self, source: Source) {
        // The common case: nobody else, or the thread that came last, once more.
        if let Some(last) = self.0.last_mut()
            && last.thread == source.thread
        {
            *last = source;
            return;
        }
        match self.0.binary_search_by_key(&source.thread, |known| known.thread) {
            Ok(at) => self.0[at] = source,
            Err(at) => self.0.insert(at, source),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Source {
        self.0[at]
    }

    /// Forgets all, keeping the space for the next ones.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
