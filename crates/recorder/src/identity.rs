//! What an event goes by in another run: not when it came, but what it was, where, and for how manieth time.
//!
//! A run that logs the same locations and in which a thread takes the same path logs the same records of that thread,
//! whatever other threads do meanwhile. So kind, place and the number of such records before tell a record from all
//! others of its thread. Requests of locks are no help, nor are initialisers found done: whether these are logged depends
//! on what others do.

use interloper_trace::Op;
use interloper_wire::{Kind, RecordHeader};
use rustc_hash::FxHashMap;

/// What an event goes by among those of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventIdentity {
    /// The kind of the record it was made of.
    pub kind: Kind,
    /// How many records of this kind and place the thread had logged before.
    pub occurrence: u32,
    /// Where the call returns to that it was logged by.
    pub pc: u64,
}

const _: () = assert!(size_of::<Option<EventIdentity>>() == 16, "there is one for every event of a trace");

/// Collects the identities of events as they are made.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    /// By the index of the thread, kind and place.
    counts: FxHashMap<(usize, Kind, u64), u32>,
    /// That of the record that events are made of at the moment.
    current: Option<EventIdentity>,
    events: Vec<Option<EventIdentity>>,
}

impl Identities {
    /// A record of a thread is taken. Only those are to be told that are logged by every run that logs the same
    /// locations.
    pub(crate) fn record(&mut self, thread: usize, header: &RecordHeader) {
        let RecordHeader { kind, pc, .. } = *header;
        self.current = kind.is_deed().then(|| {
            let count = self.counts.entry((thread, kind, pc)).or_insert(0);
            let occurrence = *count;
            *count = count.saturating_add(1);
            EventIdentity { kind, occurrence, pc }
        });
    }

    /// The record has been taken.
    pub(crate) fn end_record(&mut self) {
        self.current = None;
    }

    /// An event is made.
    pub(crate) fn event(&mut self, op: &Op) {
        let is_deed =
            !matches!(op, Op::Enter { .. } | Op::Exit | Op::Branch { .. } | Op::RegionBegin(_) | Op::RegionEnd(_));
        self.events.push(self.current.filter(|_| is_deed));
    }

    /// What all events go by.
    pub(crate) fn into_events(self) -> Vec<Option<EventIdentity>> {
        self.events
    }
}
