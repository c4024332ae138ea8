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
/// ones.
///
/// The first 64 threads have fixed places and a bit each, so that entering one takes no search; the
/// rest is sorted by thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    /// Which of the first threads have a source.
    low: u64,
    /// Their transactions and events, by thread.
    places: Vec<(EventIndex, EventIndex)>,
    high: Vec<Source>,
}

impl Sources {
    const LOW: usize = 64;

    /// Enters a thread's latest event.
    #[inline]
    pub(super) fn insert(&mut self, source: Source) {
        let thread = source.thread.index();
        if let Some(place) = self.places.get_mut(thread) {
            *place = (source.start, source.index);
            self.low |= 1 << thread;
        } else {
            self.insert_elsewhere(source);
        }
    }

    #[cold]
    fn insert_elsewhere(&mut self, source: Source) {
        let thread = source.thread.index();
        if thread < Self::LOW {
            self.places.resize(thread + 1, (source.start, source.index));
            self.low |= 1 << thread;
            return;
        }
        match self.high.binary_search_by_key(&source.thread, |known| known.thread) {
            Ok(at) => self.high[at] = source,
            Err(at) => self.high.insert(at, source),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_empty()
    }

    /// Whether all sources are of this thread.
    #[inline]
    pub(super) fn only_of(&self, thread: ThreadId) -> bool {
        self.high.is_empty() && self.low & !1u64.checked_shl(thread.raw()).unwrap_or(0) == 0
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Source> + '_ {
        let mut low = self.low;
        let first = std::iter::from_fn(move || {
            let thread = low.trailing_zeros();
            let &(start, index) = self.places.get(thread as usize)?;
            low &= low - 1;
            Some(Source { start, index, thread: ThreadId::new(thread) })
        });
        first.chain(self.high.iter().copied())
    }

    /// Forgets all, keeping the space for the next ones.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.low = 0;
        self.high.clear();
    }
}
