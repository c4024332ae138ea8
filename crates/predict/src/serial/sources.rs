//! Where edges come from: the latest event of each thread that later ones may conflict with.

use super::Transaction;
use interloper_trace::{EventIndex, ThreadId};

/// An event that later ones may conflict with, and the transaction it belongs to.
///
/// Two words, which stay in registers wherever they are passed. As three they went through memory at every event,
/// written in pieces and read as a whole, which no processor forwards: a third of the analysis was waiting for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The first event of its transaction.
    pub(super) start: EventIndex,
    /// Its thread, and in the lower bits how many events after that one it is.
    place: u64,
}

/// How many events a transaction may span for its events to be told apart: 10¹² of all threads together.
const SPAN_BITS: u32 = 40;
const LONGEST: u64 = (1 << SPAN_BITS) - 1;

// No thread that there can be looks like none.
const _: () = assert!((ThreadId::HIGHEST.raw() as u64) < u64::MAX >> SPAN_BITS);

impl Source {
    /// No event. An `Option` would take half as much room again in every location.
    pub(super) const NONE: Source = Source { start: EventIndex(u64::MAX), place: u64::MAX };

    #[inline(always)]
    pub(super) fn new(thread: ThreadId, start: EventIndex, index: EventIndex) -> Self {
        let span = (index.0 - start.0).min(LONGEST);
        Source { start, place: u64::from(thread.raw()) << SPAN_BITS | span }
    }

    /// The event, if it is one.
    #[inline(always)]
    pub(super) fn get(self) -> Option<Source> {
        (self.start.0 != u64::MAX).then_some(self)
    }

    #[inline(always)]
    pub(super) fn thread(self) -> ThreadId {
        ThreadId::new((self.place >> SPAN_BITS) as u32)
    }

    pub(super) fn index(self) -> EventIndex {
        EventIndex(self.start.0 + (self.place & LONGEST))
    }

    pub(super) fn transaction(self) -> Transaction {
        Transaction { thread: self.thread(), start: self.start }
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
    /// Those sources, by thread.
    places: Box<[Source]>,
    high: Vec<Source>,
}

impl Sources {
    const LOW: usize = 64;

    /// Enters a thread's latest event.
    #[inline(always)]
    pub(super) fn insert(&mut self, source: Source) {
        let thread = source.thread().index();
        if let Some(place) = self.places.get_mut(thread) {
            *place = source;
            self.low |= 1 << thread;
        } else {
            self.insert_elsewhere(source);
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_elsewhere(&mut self, source: Source) {
        let thread = source.thread().index();
        if thread < Self::LOW {
            let mut places = std::mem::take(&mut self.places).into_vec();
            places.resize((thread + 1).next_power_of_two(), source);
            self.places = places.into();
            self.low |= 1 << thread;
            return;
        }
        match self.high.binary_search_by_key(&source.thread(), |known| known.thread()) {
            Ok(at) => self.high[at] = source,
            Err(at) => self.high.insert(at, source),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_empty()
    }

    /// Whether all sources are of this thread.
    #[inline(always)]
    pub(super) fn only_of(&self, thread: ThreadId) -> bool {
        self.high.is_empty() && self.low & !1u64.checked_shl(thread.raw()).unwrap_or(0) == 0
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Source> + '_ {
        let mut low = self.low;
        let first = std::iter::from_fn(move || {
            let thread = low.trailing_zeros();
            let &source = self.places.get(thread as usize)?;
            low &= low - 1;
            Some(source)
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
