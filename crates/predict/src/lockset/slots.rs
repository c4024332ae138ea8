//! A thread's view of a location, found fast.
//!
//! Every access looks up its slot, and in it what is known of the current context; most find that
//! nothing is new. Time goes into cache misses, so a slot is one cache line and holds its first
//! contexts itself, in two bytes each with their facts; only what does not fit is in a map. What is
//! written often but read rarely, the accesses that a new fact would be about, stands apart.
//! Slots are found by a table over locations for the first threads, by a page table for the others.

use super::context::ContextId;
use super::profile::PackedAccess;
use interloper_trace::{LocationId, ThreadId};
use rustc_hash::FxHashMap;

/// All slots.
#[derive(Default)]
pub(super) struct Slots {
    /// For each location, the slots of the first threads: one load for most accesses of most traces.
    direct: Vec<[u32; DIRECT]>,
    /// For each further thread, the pages of its locations.
    threads: Vec<Vec<u32>>,
    pages: Vec<[u32; PAGE]>,
    slots: Vec<Slot>,
    firsts: Vec<Firsts>,
    keys: Vec<(ThreadId, LocationId)>,
    /// The facts of contexts that slots have no room for.
    overflow: FxHashMap<(SlotId, ContextId), u8>,
}

const DIRECT: usize = 8;
const PAGE: usize = 64;
const NONE: u32 = u32::MAX;

/// A slot's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SlotId(pub(super) u32);

/// A thread's view of a location.
#[repr(align(64))]
pub(super) struct Slot {
    /// The region in which the following holds, by its first event.
    pub(super) region: u64,
    /// The contexts entered at or after this event have not been committed for pairs.
    pub(super) pending: u64,
    /// The same for pairs of writes; [`NO_WRITE`] before the first write.
    pub(super) pending_write: u64,
    /// Contexts and their facts: `context << 4 | facts`; then [`FREE`] places.
    known: [u16; INLINE],
}

/// The first accesses of a slot's region.
#[derive(Clone, Copy)]
pub(super) struct Firsts {
    pub(super) access: PackedAccess,
    pub(super) write: PackedAccess,
}

/// How many contexts a slot has room for: what fills a cache line.
const INLINE: usize = 20;
const _: () = assert!(size_of::<Slot>() == 64);

/// No context has this number.
const FREE: u16 = u16::MAX;

/// Contexts from here on are too great for a slot, and are always in the map.
const SMALL: u32 = (FREE >> FACT_BITS) as u32;

pub(super) const NO_REGION: u64 = u64::MAX;
pub(super) const NO_WRITE: u64 = u64::MAX;

const FACT_BITS: u32 = 4;

impl Slot {
    /// Where a context stands. All places are looked at, which compiles to a handful of vector
    /// instructions; stopping at the right one would be a branch that is mispredicted every time.
    #[inline(always)]
    fn position(&self, context: ContextId) -> Option<usize> {
        let context = context.0.min(SMALL) as u16;
        let mut place = 0;
        for (at, fact) in (1u16..).zip(&self.known) {
            place |= if fact >> FACT_BITS == context { at } else { 0 };
        }
        // Several free places look like a context that is not small; together they are no place.
        if context < SMALL as u16 { (place as usize).checked_sub(1) } else { None }
    }
}

impl Slots {
    /// The slot of a thread and location.
    #[inline]
    pub(super) fn find(&mut self, thread: ThreadId, location: LocationId) -> SlotId {
        if let Some(slots) = self.direct.get(location.index())
            && let Some(&slot) = slots.get(thread.index())
            && slot != NONE
        {
            return SlotId(slot);
        }
        self.find_elsewhere(thread, location)
    }

    #[inline(never)]
    fn find_elsewhere(&mut self, thread: ThreadId, location: LocationId) -> SlotId {
        let (page, place) = (location.index() / PAGE, location.index() % PAGE);
        if let Some(pages) = self.threads.get(thread.index())
            && let Some(&page) = pages.get(page)
            && page != NONE
        {
            let slot = self.pages[page as usize][place];
            if slot != NONE {
                return SlotId(slot);
            }
        }
        self.create(thread, location)
    }

    #[inline]
    pub(super) fn get(&mut self, slot: SlotId) -> &mut Slot {
        &mut self.slots[slot.0 as usize]
    }

    #[inline]
    pub(super) fn firsts(&mut self, slot: SlotId) -> &mut Firsts {
        &mut self.firsts[slot.0 as usize]
    }

    /// Adds facts of a context; returns those that are new.
    #[inline]
    pub(super) fn learn(&mut self, slot: SlotId, context: ContextId, facts: u8) -> u8 {
        let known = &mut self.slots[slot.0 as usize];
        match known.position(context) {
            Some(at) => {
                let new = u16::from(facts) & !known.known[at];
                known.known[at] |= new;
                new as u8
            }
            None => self.learn_context(slot, context, facts),
        }
    }

    /// All facts, by slot and context.
    pub(super) fn known(&self) -> impl Iterator<Item = (SlotId, ContextId, u8)> + '_ {
        let inline = (0..).zip(&self.slots).flat_map(|(slot, state)| {
            let known = state.known.iter().filter(|&&fact| fact != FREE);
            known.map(move |fact| {
                let facts = fact & ((1 << FACT_BITS) - 1);
                (SlotId(slot), ContextId(u32::from(fact >> FACT_BITS)), facts as u8)
            })
        });
        inline.chain(self.overflow.iter().map(|(&(slot, context), &facts)| (slot, context, facts)))
    }

    /// What the slots stand for.
    pub(super) fn into_keys(self) -> Vec<(ThreadId, LocationId)> {
        self.keys
    }

    /// Facts of a context that the slot does not hold.
    #[cold]
    fn learn_context(&mut self, slot: SlotId, context: ContextId, facts: u8) -> u8 {
        let free = self.slots[slot.0 as usize].known.iter_mut().find(|fact| **fact == FREE);
        if let Some(free) = free
            && context.0 < SMALL
        {
            *free = (context.0 as u16) << FACT_BITS | u16::from(facts);
            return facts;
        }
        let known = self.overflow.entry((slot, context)).or_default();
        let new = facts & !*known;
        *known |= facts;
        new
    }

    #[cold]
    fn create(&mut self, thread: ThreadId, location: LocationId) -> SlotId {
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 slots fit in memory");
        self.keys.push((thread, location));
        self.firsts.push(Firsts { access: PackedAccess::NONE, write: PackedAccess::NONE });
        self.slots.push(Slot { region: NO_REGION, pending: 0, pending_write: NO_WRITE, known: [FREE; INLINE] });
        if thread.index() < DIRECT {
            if location.index() >= self.direct.len() {
                self.direct.resize(location.index() + 1, [NONE; DIRECT]);
            }
            self.direct[location.index()][thread.index()] = slot;
            return SlotId(slot);
        }
        if thread.index() >= self.threads.len() {
            self.threads.resize(thread.index() + 1, Vec::new());
        }
        let pages = &mut self.threads[thread.index()];
        let (page, place) = (location.index() / PAGE, location.index() % PAGE);
        if page >= pages.len() {
            pages.resize(page + 1, NONE);
        }
        if pages[page] == NONE {
            pages[page] = u32::try_from(self.pages.len()).expect("fewer pages than slots");
            self.pages.push([NONE; PAGE]);
        }
        self.pages[pages[page] as usize][place] = slot;
        SlotId(slot)
    }
}
