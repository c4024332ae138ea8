//! Phase II: which facts of different threads fit together.
//!
//! For each location, pairs of one thread are joined with accesses of another: AA with W, WW with
//! R. A *representative* stands for all triples of one (region thread, remote thread, location,
//! pattern class, state pair); the class WRW is one, the other four patterns together the other.
//!
//! Work is done on states, not on threads: facts are grouped by lock set, then by state, then by
//! thread. Lock sets with a lock in common settle all their states at once, states are compared once
//! for a location however many threads were in them, and threads are paired only where the states
//! are compatible, that is, where there is something to report. A lock that is held in all states of
//! a location settles it without comparing any.

use super::context::{Context, ContextId, Contexts};
use super::profile::{Fact, Facts, PAIR, PackedAccess, Pair, Profile, READ, WRITE, WRITE_PAIR};
use super::slots::SlotId;
use super::top::Top;
use super::{Options, Weakening};
use crate::triple::{RegionSpan, Triple};
use interloper_model::{AccessKind, LockSetId, LockStates, Pattern, StateId, Strand, StrandOrder};
use interloper_trace::{LocationId, LockId, LockMode, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// The outcome of the lockset analysis.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// How many representatives (or triples) there are before locks and fork/join are considered.
    pub candidates: u64,
    /// How many of them locks and fork/join allow.
    pub possible: u64,
    /// The first of these, in order, as many as were asked for.
    pub triples: Vec<Triple>,
    /// The locations of all of these.
    pub locations: FxHashSet<LocationId>,
    /// The locks held in the states of the triples listed.
    pub held: FxHashMap<StateId, Vec<(LockId, LockMode)>>,
}

impl Prediction {
    pub(super) fn new(candidates: u64, top: Top, locations: FxHashSet<LocationId>, states: &LockStates) -> Prediction {
        let (possible, triples) = top.finish();
        let listed = triples.iter().flat_map(|triple| [triple.region_state, triple.remote_state]);
        let held = listed.map(|state| (state, states.held(state).collect())).collect();
        Prediction { candidates, possible, triples, locations, held }
    }
}

/// What Phase II can tell without the accesses.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// How many representatives there are before locks and fork/join are considered.
    pub candidates: u64,
    /// Where locks and fork/join allow one of them.
    pub locations: FxHashSet<LocationId>,
}

impl Profile {
    /// Where anything is possible.
    pub fn overview(&mut self) -> Overview {
        let mut join = self.new_join(0);
        let Profile { known, facts, contexts, .. } = self;
        let mut overview = Overview::default();
        let all = known.iter().map(|known| (known.slot, known.context, known.facts));
        for (location, sides) in (0..).map(LocationId::new).zip(by_location(all, &facts.slots, contexts)) {
            for (local_fact, remote_fact) in [(WRITE_PAIR, READ), (PAIR, WRITE)] {
                let with = |fact: u8| sides.iter().filter(|side| side.facts & fact != 0).copied().collect::<Vec<_>>();
                let (locals, remotes) = (Sides::new(with(local_fact)), Sides::new(with(remote_fact)));
                overview.candidates += candidates(&locals, &remotes);
                join.pair_up(&locals, &remotes, &mut contexts.states, &mut |join, locals, remotes| {
                    let mut pairs = locals.iter().flat_map(|local| remotes.iter().map(move |remote| (local, remote)));
                    let possible = pairs.any(|(local, remote)| join.concurrent(local, remote));
                    if possible {
                        overview.locations.insert(location);
                    }
                    !possible
                });
            }
        }
        overview
    }

    fn new_join(&self, limit: usize) -> Join {
        let acted = &self.acted;
        Join {
            order: self.forks.order(|thread| acted.contains(&thread)),
            top: Top::new(limit),
            locations: FxHashSet::default(),
            weakening: self.weakening,
        }
    }

    /// Joins the facts: one representative for each pair of states.
    ///
    /// The profile must be of a second pass, over the locations that `overview` names.
    pub fn join(&mut self, options: &Options, overview: &Overview) -> Prediction {
        let mut join = self.new_join(options.limit);
        let Profile { facts, contexts, .. } = self;
        let Facts { slots, reads, writes, pairs, write_pairs, regions } = facts;
        let classes = [(Class::Wrw, &*write_pairs, &*reads), (Class::OtherFour, &*pairs, &*writes)];
        for (class, locals, remotes) in classes {
            let local_sides = by_location(locals.iter().map(|fact| (fact.slot, fact.context, 0)), slots, contexts);
            let remote_sides = by_location(remotes.iter().map(|fact| (fact.slot, fact.context, 0)), slots, contexts);
            for ((location, local), remote) in (0..).map(LocationId::new).zip(local_sides).zip(remote_sides) {
                let facts = ClassFacts { class, location, locals, remotes, regions };
                let (locals, remotes) = (Sides::new(local), Sides::new(remote));
                join.pair_up(&locals, &remotes, &mut contexts.states, &mut |join, locals, remotes| {
                    if let Some(triple) = join.least(&facts, locals, remotes) {
                        join.locations.insert(triple.location);
                        join.top.push(triple);
                    }
                    true
                });
            }
        }
        Prediction::new(overview.candidates, join.top, join.locations, &contexts.states)
    }
}

/// The two pattern classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Two writes and a remote read.
    Wrw,
    /// Two accesses and a remote write.
    OtherFour,
}

impl Class {
    fn pattern(self, first: AccessKind, remote: AccessKind, second: AccessKind) -> Option<Pattern> {
        Pattern::ALL
            .into_iter()
            .filter(|&pattern| (pattern == Pattern::Wrw) == (self == Class::Wrw))
            .find(|pattern| pattern.fits(first, remote, second))
    }
}

/// What is joined for one class at one location.
struct ClassFacts<'p> {
    class: Class,
    location: LocationId,
    locals: &'p [Fact<Pair>],
    remotes: &'p [Fact<PackedAccess>],
    regions: &'p [RegionSpan],
}

impl ClassFacts<'_> {
    fn triple(&self, local: &Side, remote: &Side) -> Option<Triple> {
        let Pair { first, second, region } = self.locals[local.fact as usize].is;
        let first = first.unpack(local.strand.thread);
        let second = second.unpack(local.strand.thread);
        let interloper = self.remotes[remote.fact as usize].is.unpack(remote.strand.thread);
        Some(Triple {
            pattern: self.class.pattern(first.kind, interloper.kind, second.kind)?,
            location: self.location,
            region: self.regions[region as usize],
            first,
            remote: interloper,
            second,
            region_state: local.state,
            remote_state: remote.state,
        })
    }
}

/// One fact as one side of the join.
#[derive(Clone, Copy)]
struct Side {
    lock_set: LockSetId,
    state: StateId,
    strand: Strand,
    /// Which facts, where several are looked at together.
    facts: u8,
    /// Which fact, where each is looked at by itself.
    fact: u32,
}

/// The facts of each location, sorted; none for a location that one thread has for itself.
fn by_location(
    facts: impl Iterator<Item = (SlotId, ContextId, u8)>,
    slots: &[(ThreadId, LocationId)],
    contexts: &Contexts,
) -> Vec<Vec<Side>> {
    let locations = slots.iter().map(|&(_, location)| location.index() + 1).max().unwrap_or(0);
    let mut users: Vec<u32> = vec![0; locations];
    for (_, location) in slots {
        users[location.index()] += 1;
    }
    let mut by_location = vec![Vec::new(); locations];
    for (at, (slot, context, facts)) in (0..).zip(facts) {
        let (thread, location) = slots[slot.0 as usize];
        if users[location.index()] > 1 {
            let Context { strand, state } = contexts.get(context);
            let lock_set = contexts.states.lock_set(state);
            let strand = Strand { thread, number: strand };
            by_location[location.index()].push(Side { lock_set, state, strand, facts, fact: at });
        }
    }
    for sides in &mut by_location {
        sides.sort_unstable_by_key(|side| (side.lock_set, side.state, side.strand));
    }
    by_location
}

/// The facts of one side, sorted by lock set, state, thread and strand.
struct Sides {
    all: Vec<Side>,
    /// For each (state, thread), its stretch of `all`.
    threads: Vec<(ThreadId, Range<usize>)>,
    /// For each state, its stretch of `threads`.
    states: Vec<(StateId, Range<usize>)>,
    /// For each lock set, its stretch of `states`.
    lock_sets: Vec<(LockSetId, Range<usize>)>,
    /// For each lock set, the thread that alone was in its states, if it was one alone.
    sole_threads: Vec<Option<ThreadId>>,
}

impl Sides {
    /// Groups sorted facts.
    fn new(all: Vec<Side>) -> Self {
        let mut threads: Vec<(ThreadId, Range<usize>)> = Vec::new();
        let mut states: Vec<(StateId, Range<usize>)> = Vec::new();
        let mut lock_sets = Vec::new();
        for (at, side) in all.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| all[before]);
            let new_set = before.is_none_or(|before| before.lock_set != side.lock_set);
            let new_state = new_set || before.is_none_or(|before| before.state != side.state);
            let new_thread = new_state || before.is_none_or(|before| before.strand.thread != side.strand.thread);
            extend(&mut threads, new_thread, side.strand.thread, at + 1);
            extend(&mut states, new_state, side.state, threads.len());
            extend(&mut lock_sets, new_set, side.lock_set, states.len());
        }
        let sole_thread = |(_, set_states): &(LockSetId, Range<usize>)| {
            let mut users = states[set_states.clone()].iter().flat_map(|(_, users)| &threads[users.clone()]);
            let (first, _) = users.next()?;
            users.all(|(thread, _)| thread == first).then_some(*first)
        };
        let sole_threads = lock_sets.iter().map(sole_thread).collect();
        Sides { all, threads, states, lock_sets, sole_threads }
    }

    fn state_ids(&self) -> Vec<StateId> {
        self.states.iter().map(|&(state, _)| state).collect()
    }

    /// In how many states each thread was.
    fn states_by_thread(&self) -> FxHashMap<ThreadId, u64> {
        let mut count = FxHashMap::default();
        for &(thread, _) in &self.threads {
            *count.entry(thread).or_insert(0) += 1;
        }
        count
    }
}

/// Makes the last stretch end here, or a new one that begins with the last element before.
fn extend<K>(stretches: &mut Vec<(K, Range<usize>)>, new: bool, key: K, end: usize) {
    if new {
        stretches.push((key, end - 1..end));
    } else if let Some((_, range)) = stretches.last_mut() {
        range.end = end;
    }
}

struct Join {
    order: StrandOrder,
    top: Top,
    locations: FxHashSet<LocationId>,
    weakening: Weakening,
}

impl Join {
    /// Visits the facts of two threads in two compatible states, until the visitor says `false`.
    fn pair_up(
        &mut self,
        locals: &Sides,
        remotes: &Sides,
        states: &mut LockStates,
        visitor: &mut impl FnMut(&mut Join, &[Side], &[Side]) -> bool,
    ) {
        // The common lock must hold for pairs of different threads only; asking it of all is
        // merely stricter.
        if locals.states.len() * remotes.states.len() > 4
            && states.common_lock(&locals.state_ids(), &remotes.state_ids())
        {
            return;
        }
        for ((_, local_states), local_sole) in locals.lock_sets.iter().zip(&locals.sole_threads) {
            for ((_, remote_states), remote_sole) in remotes.lock_sets.iter().zip(&remotes.sole_threads) {
                if local_sole.is_some() && local_sole == remote_sole {
                    continue;
                }
                let local_states = &locals.states[local_states.clone()];
                let remote_states = &remotes.states[remote_states.clone()];
                let (Some(local), Some(remote)) = (local_states.first(), remote_states.first()) else { continue };
                if !states.exclude_each_other(local.0, remote.0)
                    && !self.pair_up_states((locals, local_states), (remotes, remote_states), states, visitor)
                {
                    return;
                }
            }
        }
    }

    /// The same for the states of two lock sets that have no lock in common. Returns what the visitor
    /// said last.
    fn pair_up_states(
        &mut self,
        (locals, local_states): (&Sides, &[(StateId, Range<usize>)]),
        (remotes, remote_states): (&Sides, &[(StateId, Range<usize>)]),
        states: &mut LockStates,
        visitor: &mut impl FnMut(&mut Join, &[Side], &[Side]) -> bool,
    ) -> bool {
        for (local_state, local_threads) in local_states {
            for (remote_state, remote_threads) in remote_states {
                if !states.compatible(*local_state, *remote_state) {
                    continue;
                }
                for (local_thread, local) in &locals.threads[local_threads.clone()] {
                    for (remote_thread, remote) in &remotes.threads[remote_threads.clone()] {
                        let (local, remote) = (&locals.all[local.clone()], &remotes.all[remote.clone()]);
                        if local_thread != remote_thread && !visitor(self, local, remote) {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    /// Whether fork/join order lets two threads be in their strands at the same time.
    fn concurrent(&self, local: &Side, remote: &Side) -> bool {
        self.weakening == Weakening::NoPruning || self.order.concurrent(local.strand, remote.strand)
    }

    /// The least triple of two threads in two compatible states that fork/join order allows.
    fn least(&self, facts: &ClassFacts<'_>, locals: &[Side], remotes: &[Side]) -> Option<Triple> {
        let mut least: Option<Triple> = None;
        for local in locals {
            for remote in remotes {
                if self.concurrent(local, remote)
                    && let Some(triple) = facts.triple(local, remote)
                    && least.is_none_or(|least| triple.sort_key() < least.sort_key())
                {
                    least = Some(triple);
                }
            }
        }
        least
    }
}

/// How many representatives there are before anything is asked of them.
fn candidates(locals: &Sides, remotes: &Sides) -> u64 {
    let (local, remote) = (locals.states_by_thread(), remotes.states_by_thread());
    let same: u64 = local.iter().map(|(thread, count)| count * remote.get(thread).copied().unwrap_or(0)).sum();
    local.values().sum::<u64>() * remote.values().sum::<u64>() - same
}
