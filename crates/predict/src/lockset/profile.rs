//! Phase I: what each thread does to each location, and in which contexts.
//!
//! For each (thread, location, context) at most four facts are kept, the first of each kind:
//!
//! | fact | paper | is |
//! |---|---|---|
//! | read, write | R, W | the first read (write) in that context: a candidate for *f* |
//! | pair | AA | the first two accesses of one region with that context in between: for *e1*, *e2* |
//! | write pair | WW | the same with two writes |
//!
//! Most locations of most traces are locked as they should be, and then nobody asks for the accesses
//! themselves. So the first pass only notes *which* facts there are, in a few bits each; where they
//! make a violation possible, a second pass remembers the accesses.
//!
//! Inside a region the changes of context are listed as they come. A location remembers from which
//! change on it has not yet looked; its next access in the region commits the contexts listed since
//! and moves on, so nothing is looked at twice but contexts that recurred. When the list has grown
//! to twice its distinct contexts, only the latest occurrence of each is kept: for "which contexts
//! occurred since?", the latest occurrence decides.

use super::context::{ContextId, Contexts, Step, Tracker};
use super::slots::{Firsts, NO_REGION, NO_WRITE, SlotId, Slots};
use super::{Options, Weakening};
use crate::triple::{Access, RegionSpan};
use interloper_model::{AccessKind, ForkJoinLog, NonNested, access_of};
use interloper_trace::{Event, EventIndex, LocationId, RegionSource, SiteId, ThreadId};
use rustc_hash::FxHashSet;

/// Phase I in progress.
pub struct Profiler {
    tracker: Tracker,
    weakening: Weakening,
    open: Vec<OpenRegion>,
    slots: Slots,
    /// Where to remember accesses; everywhere else only which facts there are counts.
    wanted: FxHashSet<LocationId>,
    /// Whether anything else is of interest.
    survey: bool,
    facts: Facts,
}

/// The outcome of Phase I: independent of the trace's length, and mergeable over threads.
pub struct Profile {
    pub(super) contexts: Contexts,
    /// Which facts there are.
    pub(super) known: Vec<Known>,
    pub(super) facts: Facts,
    pub(super) forks: ForkJoinLog,
    pub(super) acted: FxHashSet<ThreadId>,
    pub(super) weakening: Weakening,
    non_nested: Vec<NonNested>,
    regions_seen: u64,
}

/// Which facts there are of one (thread, location, context).
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) slot: SlotId,
    pub(super) context: ContextId,
    pub(super) facts: u8,
}

/// The facts that are remembered: each once, in the order they were found.
#[derive(Default)]
pub(super) struct Facts {
    /// What the slot numbers of facts stand for.
    pub(super) slots: Vec<(ThreadId, LocationId)>,
    /// *R*, and *W*.
    pub(super) reads: Vec<Fact<PackedAccess>>,
    pub(super) writes: Vec<Fact<PackedAccess>>,
    /// *AA*, and *WW*.
    pub(super) pairs: Vec<Fact<Pair>>,
    pub(super) write_pairs: Vec<Fact<Pair>>,
    /// The regions that pairs refer to.
    pub(super) regions: Vec<RegionSpan>,
}

/// A fact about one (thread, location, context).
#[derive(Clone, Copy)]
pub(super) struct Fact<T> {
    pub(super) slot: SlotId,
    pub(super) context: ContextId,
    pub(super) is: T,
}

pub(super) const READ: u8 = 1;
pub(super) const WRITE: u8 = 2;
pub(super) const PAIR: u8 = 4;
pub(super) const WRITE_PAIR: u8 = 8;

/// Two accesses of one region.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) first: PackedAccess,
    pub(super) second: PackedAccess,
    pub(super) region: u32,
}

/// An access in twelve bytes; whose it is says the slot.
#[derive(Clone, Copy)]
pub(super) struct PackedAccess {
    /// Index and kind: two bits suffice for the latter, and no trace has 2⁶² events.
    index_and_kind: [u32; 2],
    site: SiteId,
}

impl PackedAccess {
    pub(super) const NONE: PackedAccess = PackedAccess { index_and_kind: [0; 2], site: SiteId::UNKNOWN };

    #[inline]
    pub(super) fn new(index: EventIndex, kind: AccessKind, site: SiteId) -> Self {
        let packed = index.0 << 2 | kind as u64;
        PackedAccess { index_and_kind: [packed as u32, (packed >> 32) as u32], site }
    }

    pub(super) fn unpack(self, thread: ThreadId) -> Access {
        let packed = u64::from(self.index_and_kind[0]) | u64::from(self.index_and_kind[1]) << 32;
        let kind = match packed & 3 {
            0 => AccessKind::Read,
            1 => AccessKind::Write,
            _ => AccessKind::ReadWrite,
        };
        Access { index: EventIndex(packed >> 2), thread, site: self.site, kind }
    }
}

const _: () = assert!(AccessKind::Read as u64 == 0 && AccessKind::Write as u64 == 1);
const _: () = assert!(size_of::<Fact<PackedAccess>>() == 20);

/// The region a thread is in.
#[derive(Clone, Debug)]
struct OpenRegion {
    begin: u64,
    source: RegionSource,
    /// Contexts, each with the event since which it holds, in that order.
    contexts: Vec<(ContextId, u64)>,
    /// The length at which `contexts` is thinned out next.
    compact_at: usize,
    /// Its place among the regions that pairs refer to.
    span: Option<u32>,
}

impl OpenRegion {
    const COMPACT_MIN: usize = 64;

    fn none() -> Self {
        OpenRegion {
            begin: NO_REGION,
            source: RegionSource::Annotated,
            contexts: Vec::new(),
            compact_at: Self::COMPACT_MIN,
            span: None,
        }
    }

    fn enter(&mut self, context: ContextId, since: u64) {
        self.contexts.push((context, since));
        if self.contexts.len() >= self.compact_at {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let mut seen = FxHashSet::default();
        self.contexts.reverse();
        self.contexts.retain(|&(context, _)| seen.insert(context));
        self.contexts.reverse();
        self.compact_at = (2 * self.contexts.len()).max(Self::COMPACT_MIN);
    }
}

impl Profiler {
    /// A first pass, which finds out where there is something to find.
    pub fn new(options: &Options) -> Self {
        Self::with(options, FxHashSet::default(), true)
    }

    /// A second pass, which finds it: the accesses at these locations.
    pub fn of_locations(options: &Options, wanted: FxHashSet<LocationId>) -> Self {
        Self::with(options, wanted, false)
    }

    fn with(options: &Options, wanted: FxHashSet<LocationId>, survey: bool) -> Self {
        Profiler {
            tracker: Tracker::new(options),
            weakening: options.weakening,
            open: Vec::new(),
            slots: Slots::default(),
            wanted,
            survey,
            facts: Facts::default(),
        }
    }

    /// Takes in the next event.
    #[inline(always)]
    pub fn observe(&mut self, index: EventIndex, event: &Event) {
        if let Some((location, kind)) = access_of(&event.op) {
            if self.survey || self.wanted.contains(&location) {
                self.access(index, event, location, kind);
            } else {
                self.tracker.context(event.thread);
            }
        } else {
            self.other(index, event);
        }
    }

    /// Ends Phase I.
    pub fn finish(self) -> Profile {
        let acted = self.tracker.threads_that_acted().collect();
        let known = self.slots.known().map(|(slot, context, facts)| Known { slot, context, facts }).collect();
        Profile {
            contexts: self.tracker.contexts,
            known,
            facts: Facts { slots: self.slots.into_keys(), ..self.facts },
            forks: self.tracker.forks,
            acted,
            weakening: self.weakening,
            non_nested: self.tracker.nesting.non_nested().to_vec(),
            regions_seen: self.tracker.regions_seen,
        }
    }

    /// An event that is no access.
    #[inline(never)]
    fn other(&mut self, index: EventIndex, event: &Event) {
        let thread = event.thread;
        match self.tracker.step(index, event) {
            Step::None => {}
            Step::Context(context) => {
                if self.weakening != Weakening::SampleAtAccesses {
                    let open = open_region(&mut self.open, thread);
                    if open.begin != NO_REGION {
                        open.enter(context, index.0);
                    }
                }
            }
            Step::RegionBegin(source) => {
                let context = self.tracker.context(thread);
                let open = open_region(&mut self.open, thread);
                open.begin = index.0;
                open.source = source;
                open.span = None;
                open.contexts.clear();
                open.contexts.push((context, index.0));
            }
            Step::RegionEnd => {
                let open = open_region(&mut self.open, thread);
                if let Some(span) = open.span {
                    self.facts.regions[span as usize].end = Some(index);
                }
                open.begin = NO_REGION;
            }
        }
    }

    #[inline]
    fn access(&mut self, index: EventIndex, event: &Event, location: LocationId, kind: AccessKind) {
        let thread = event.thread;
        let context = self.tracker.context(thread);
        let slot_id = self.slots.find(thread, location);
        let access = PackedAccess::new(index, kind, event.site);

        let mut facts = if kind.reads() { READ } else { 0 } | if kind.writes() { WRITE } else { 0 };
        let open = open_region(&mut self.open, thread);
        if open.begin != NO_REGION {
            if self.weakening == Weakening::SampleAtAccesses && open.contexts.last().is_none_or(|l| l.0 != context) {
                open.enter(context, index.0);
            }
            // The context the thread is in now, which is always the last one listed.
            let since = open.contexts.last().map_or(open.begin, |&(_, since)| since);
            let slot = self.slots.get(slot_id);
            if slot.region != open.begin {
                slot.region = open.begin;
                slot.pending = since;
                slot.pending_write = NO_WRITE;
                if !self.survey {
                    self.slots.firsts(slot_id).access = access;
                }
            } else if slot.pending <= since {
                let pending = std::mem::replace(&mut slot.pending, since + 1);
                facts |= PAIR;
                if pending != since {
                    let first = self.slots.firsts(slot_id).access;
                    self.commit_earlier(slot_id, thread, pending, PAIR, [first, access]);
                }
            }
            let slot = self.slots.get(slot_id);
            if kind.writes() {
                if slot.pending_write == NO_WRITE {
                    slot.pending_write = since;
                    if !self.survey {
                        self.slots.firsts(slot_id).write = access;
                    }
                } else if slot.pending_write <= since {
                    let pending = std::mem::replace(&mut slot.pending_write, since + 1);
                    facts |= WRITE_PAIR;
                    if pending != since {
                        let first = self.slots.firsts(slot_id).write;
                        self.commit_earlier(slot_id, thread, pending, WRITE_PAIR, [first, access]);
                    }
                }
            }
        }
        let new = self.slots.learn(slot_id, context, facts);
        if new != 0 && !self.survey {
            let Firsts { access: first, write: first_write } = *self.slots.firsts(slot_id);
            self.record(slot_id, thread, context, new, [first, first_write, access]);
        }
    }

    /// Commits the contexts of the open region since `pending`, but for the current one.
    fn commit_earlier(
        &mut self,
        slot: SlotId,
        thread: ThreadId,
        pending: u64,
        fact: u8,
        [first, second]: [PackedAccess; 2],
    ) {
        let mut at = self.open[thread.index()].contexts.len().saturating_sub(1);
        while at > 0 {
            at -= 1;
            let (context, since) = self.open[thread.index()].contexts[at];
            if since < pending {
                break;
            }
            if self.slots.learn(slot, context, fact) != 0 && !self.survey {
                self.record(slot, thread, context, fact, [first, first, second]);
            }
        }
    }

    /// Enters new facts.
    #[cold]
    fn record(
        &mut self,
        slot: SlotId,
        thread: ThreadId,
        context: ContextId,
        new: u8,
        [first, first_write, access]: [PackedAccess; 3],
    ) {
        let Facts { reads, writes, pairs, write_pairs, regions, .. } = &mut self.facts;
        if new & READ != 0 {
            reads.push(Fact { slot, context, is: access });
        }
        if new & WRITE != 0 {
            writes.push(Fact { slot, context, is: access });
        }
        if new & (PAIR | WRITE_PAIR) == 0 {
            return;
        }
        let region = span_of(&mut self.open[thread.index()], thread, regions);
        if new & PAIR != 0 {
            pairs.push(Fact { slot, context, is: Pair { first, second: access, region } });
        }
        if new & WRITE_PAIR != 0 {
            write_pairs.push(Fact { slot, context, is: Pair { first: first_write, second: access, region } });
        }
    }
}

impl Profile {
    /// Adds the profile of other threads of the same trace.
    ///
    /// Phase I looks at each thread by itself, so the profiles of disjoint sets of threads add up
    /// to the profile of all: Phase I can be spread out, and Phase II can be done in one place.
    pub fn merge(&mut self, other: Profile) {
        let contexts = self.contexts.absorb(&other.contexts);
        let slot_base = u32::try_from(self.facts.slots.len()).expect("fewer than 2^32 slots fit in memory");
        let region_base = u32::try_from(self.facts.regions.len()).expect("fewer than 2^32 regions fit in memory");
        let Facts { slots, reads, writes, pairs, write_pairs, regions } = other.facts;
        let place = |slot: SlotId, context: ContextId| (SlotId(slot.0 + slot_base), contexts[context.0 as usize]);
        let access = |fact: Fact<PackedAccess>| {
            let (slot, context) = place(fact.slot, fact.context);
            Fact { slot, context, ..fact }
        };
        let pair = |fact: Fact<Pair>| {
            let (slot, context) = place(fact.slot, fact.context);
            Fact { slot, context, is: Pair { region: fact.is.region + region_base, ..fact.is } }
        };
        self.known.extend(other.known.into_iter().map(|known| {
            let (slot, context) = place(known.slot, known.context);
            Known { slot, context, ..known }
        }));
        self.facts.slots.extend(slots);
        self.facts.reads.extend(reads.into_iter().map(access));
        self.facts.writes.extend(writes.into_iter().map(access));
        self.facts.pairs.extend(pairs.into_iter().map(pair));
        self.facts.write_pairs.extend(write_pairs.into_iter().map(pair));
        self.facts.regions.extend(regions);
        self.forks.merge(other.forks);
        self.acted.extend(other.acted);
        self.non_nested.extend(other.non_nested);
        self.non_nested.sort_by_key(|non_nested| non_nested.at);
        self.regions_seen += other.regions_seen;
    }

    /// The threads that do not release their locks in reverse order, with the first such release.
    pub fn non_nested(&self) -> &[NonNested] {
        &self.non_nested
    }

    /// How many outermost regions of the chosen sources there were.
    pub fn regions(&self) -> u64 {
        self.regions_seen
    }

    /// How many threads did anything.
    pub fn threads(&self) -> usize {
        self.acted.len()
    }

    /// How many different lock states were met.
    pub fn lock_states(&self) -> usize {
        self.contexts.states.len()
    }

    /// How many facts were found.
    pub fn facts(&self) -> u64 {
        self.known.iter().map(|known| u64::from(known.facts.count_ones())).sum()
    }
}

#[inline(always)]
fn open_region(open: &mut Vec<OpenRegion>, thread: ThreadId) -> &mut OpenRegion {
    if thread.index() >= open.len() {
        add_regions(open, thread);
    }
    &mut open[thread.index()]
}

#[cold]
fn add_regions(open: &mut Vec<OpenRegion>, last: ThreadId) {
    open.resize_with(last.index() + 1, OpenRegion::none);
}

fn span_of(open: &mut OpenRegion, thread: ThreadId, regions: &mut Vec<RegionSpan>) -> u32 {
    *open.span.get_or_insert_with(|| {
        regions.push(RegionSpan { thread, source: open.source, begin: EventIndex(open.begin), end: None });
        u32::try_from(regions.len() - 1).expect("fewer than 2^32 regions fit in memory")
    })
}
