//! The rung of lock sets: which triples are worth a solver.
//!
//! What is decided is either every triple, or one *representative* for all that are alike ([`Grouping`]). A
//! representative is infeasible only if every triple behind it is, so all of these are candidates. Where there are too
//! many to list, the first of them are, with those that the lockset analysis itself takes for representatives; what
//! stands behind the rest is then not known.

use crate::trace::Trace;
use interloper_decide::{Candidate, Class};
use interloper_model::{AccessKind, NonNested, Pattern, RegionEdge, RegionSources, Regions, StateId, access_of};
use interloper_predict::Triple;
use interloper_predict::lockset::{Enumerator, Options, Profiler};
use interloper_trace::{Event, EventIndex, LocationId, LockId, LockMode, Op, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// What there is to decide.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// How many there are before locks, fork and join are considered.
    pub(crate) all: u64,
    /// What locks, fork and join do not forbid, in order.
    pub(crate) sets: Vec<CandidateSet>,
    /// How many possible triples are not among them.
    pub(crate) unlisted: u64,
    /// The locks held in the states of the triples.
    pub(crate) held: FxHashMap<StateId, Vec<(LockId, LockMode)>>,
    pub(crate) census: Census,
}

/// What a trace has, in numbers.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Threads that did anything.
    pub threads: u64,
    /// Outermost regions.
    pub regions: u64,
    /// Threads that do not release in reverse order.
    pub non_nested: Vec<NonNested>,
}

/// A triple, or all triples that one representative stands for, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidateSet {
    pub(crate) triples: Vec<Triple>,
    pub(crate) candidates: Vec<Candidate>,
    /// There are more than these.
    pub(crate) is_cut: bool,
}

impl CandidateSet {
    fn push(&mut self, triple: &Triple, class: Class) {
        self.triples.push(*triple);
        self.candidates.push(Candidate { events: indices(triple), kinds: kinds(triple), class });
    }
}

fn is_observed(triple: &Triple) -> bool {
    triple.first.index < triple.remote.index && triple.remote.index < triple.second.index
}

fn indices(triple: &Triple) -> [EventIndex; 3] {
    [triple.first.index, triple.remote.index, triple.second.index]
}

fn kinds(triple: &Triple) -> [AccessKind; 3] {
    [triple.first.kind, triple.remote.kind, triple.second.kind]
}

/// Which triples are alike, so that one stands for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// None: every triple is decided.
    Triples,
    /// Those of the same region's thread, remote thread, location and class of patterns (WRW, or one of the others).
    Threads,
    /// Those of the same pattern and location from the same three places of the source, whichever threads: what is
    /// one bug to who has to mend it.
    Places,
}

/// What one representative stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Threads(ThreadId, ThreadId, LocationId, Class),
    Places([SiteId; 3], LocationId, Pattern, Class),
}

impl Key {
    fn new(grouping: Grouping, triple: &Triple, class: Class, pattern: Pattern) -> Key {
        match grouping {
            Grouping::Triples | Grouping::Threads => {
                Key::Threads(triple.region.thread, triple.remote.thread, triple.location, class)
            }
            Grouping::Places => {
                let sites = [triple.first, triple.remote, triple.second].map(|access| access.site);
                Key::Places(sites, triple.location, pattern, class)
            }
        }
    }
}

impl Candidates {
    /// What is to be decided, up to a number of triples.
    pub(crate) fn new(trace: &Trace, regions: RegionSources, grouping: Grouping, limit: usize) -> Candidates {
        match grouping {
            Grouping::Triples => Candidates::every(trace, regions, limit),
            Grouping::Threads | Grouping::Places => Candidates::representatives(trace, regions, grouping, limit),
        }
    }

    fn every(trace: &Trace, regions: RegionSources, limit: usize) -> Candidates {
        let listed = Listed::new(trace, regions, limit);
        let sets = listed.triples.iter().map(|triple| {
            let mut set = CandidateSet::default();
            set.push(triple, Class::Any);
            set
        });
        Candidates {
            all: listed.candidates,
            sets: sets.collect(),
            unlisted: listed.possible - listed.triples.len() as u64,
            held: listed.held,
            census: listed.census,
        }
    }

    fn representatives(trace: &Trace, regions: RegionSources, grouping: Grouping, limit: usize) -> Candidates {
        let mut listed = Listed::new(trace, regions, limit);
        let is_cut = (listed.triples.len() as u64) < listed.possible;
        let unlisted = listed.possible - listed.triples.len() as u64;
        if is_cut {
            listed.add_representatives(trace, regions);
        }
        let set = |(class, mut members): (Class, Vec<usize>)| {
            // Of what is one bug to the user, what has happened says most.
            if grouping == Grouping::Places {
                members.sort_by_key(|at| !is_observed(&listed.triples[*at]));
            }
            let mut set = CandidateSet { is_cut, ..CandidateSet::default() };
            members.into_iter().for_each(|at| set.push(&listed.triples[at], class));
            set
        };
        let mut sets: Vec<CandidateSet> = group(&listed.triples, grouping).into_iter().map(set).collect();
        sets.sort_by_key(|set| set.triples.first().map(Triple::sort_key));
        let all = match grouping {
            Grouping::Places => places(&trace.events, regions),
            Grouping::Triples | Grouping::Threads => {
                let mut count = RepresentativeCount::new(regions);
                trace.events.iter().for_each(|event| count.observe(event));
                count.finish()
            }
        };
        Candidates { all, sets, unlisted, held: listed.held, census: listed.census }
    }
}

/// What the lockset analysis lists.
struct Listed {
    candidates: u64,
    possible: u64,
    triples: Vec<Triple>,
    held: FxHashMap<StateId, Vec<(LockId, LockMode)>>,
    census: Census,
}

impl Listed {
    fn new(trace: &Trace, regions: RegionSources, limit: usize) -> Listed {
        let options = Options::new(regions).with_limit(limit);
        let mut profiler = Profiler::new(&options);
        indexed(&trace.events).for_each(|(index, event)| profiler.observe(index, event));
        let mut profile = profiler.finish();
        let overview = profile.overview();
        let census = Census {
            threads: profile.threads() as u64,
            regions: profile.regions(),
            non_nested: profile.non_nested().to_vec(),
        };
        let mut enumerator = Enumerator::new(&options, &overview);
        indexed(&trace.events).for_each(|(index, event)| enumerator.observe(index, event));
        let prediction = enumerator.finish();
        Listed {
            candidates: prediction.candidates,
            possible: prediction.possible,
            triples: prediction.triples,
            held: prediction.held,
            census,
        }
    }

    /// Adds what the analysis lists if it is not to list everything.
    fn add_representatives(&mut self, trace: &Trace, regions: RegionSources) {
        let options = Options::new(regions);
        let mut profiler = Profiler::new(&options);
        indexed(&trace.events).for_each(|(index, event)| profiler.observe(index, event));
        let overview = profiler.finish().overview();
        let mut closer = Profiler::of_locations(&options, overview.locations.clone());
        indexed(&trace.events).for_each(|(index, event)| closer.observe(index, event));
        let prediction = closer.finish().join(&options, &overview);
        let known: FxHashSet<[EventIndex; 3]> = self.triples.iter().map(indices).collect();
        // Its lock states are numbered on their own, so only the accesses are of use.
        let fresh = prediction.triples.into_iter().filter(|triple| !known.contains(&indices(triple)));
        self.triples.extend(fresh);
        self.triples.sort_by_key(Triple::sort_key);
    }
}

fn indexed(events: &[Event]) -> impl Iterator<Item = (EventIndex, &Event)> {
    (0..).map(EventIndex).zip(events)
}

/// Puts triples that are alike together, each group in their order: by places in the list.
pub(crate) fn group(triples: &[Triple], grouping: Grouping) -> Vec<(Class, Vec<usize>)> {
    let mut groups: BTreeMap<Key, (Class, Vec<usize>)> = BTreeMap::new();
    for (at, triple) in triples.iter().enumerate() {
        for class in [Class::Others, Class::Wrw] {
            if let Some(pattern) = class.pattern(kinds(triple)) {
                let key = Key::new(grouping, triple, class, pattern);
                groups.entry(key).or_insert_with(|| (class, Vec::new())).1.push(at);
            }
        }
    }
    groups.into_values().collect()
}

/// Counts how many representatives by threads there are, whatever locks, fork and join say.
pub struct RepresentativeCount {
    regions: Regions,
    /// For each thread the outermost region it is in, by number.
    open: FxHashMap<ThreadId, usize>,
    begun: usize,
    by_location: FxHashMap<LocationId, FxHashMap<ThreadId, Doings>>,
}

impl RepresentativeCount {
    /// Counts within regions of these sources.
    pub fn new(sources: RegionSources) -> Self {
        RepresentativeCount {
            regions: Regions::new(sources),
            open: FxHashMap::default(),
            begun: 0,
            by_location: FxHashMap::default(),
        }
    }

    /// Takes in the next event.
    pub fn observe(&mut self, event: &Event) {
        match event.op {
            Op::RegionBegin(region) if self.regions.begin(event.thread, region.source) == RegionEdge::Outermost => {
                self.begun += 1;
                self.open.insert(event.thread, self.begun);
            }
            Op::RegionEnd(region) if self.regions.end(event.thread, region.source) == RegionEdge::Outermost => {
                self.open.remove(&event.thread);
            }
            _ => {}
        }
        if let Some((location, kind)) = access_of(&event.op) {
            let region = self.open.get(&event.thread).copied();
            self.by_location.entry(location).or_default().entry(event.thread).or_default().add(kind, region);
        }
    }

    /// How many there are.
    pub fn finish(&self) -> u64 {
        let mut count = 0;
        for threads in self.by_location.values() {
            let with = |fact: fn(&Doings) -> bool| threads.values().filter(move |doings| fact(doings));
            let (writers, readers) = (with(|d| d.writes).count() as u64, with(|d| d.reads).count() as u64);
            count += with(|d| d.pair).map(|doings| writers - u64::from(doings.writes)).sum::<u64>();
            count += with(|d| d.write_pair).map(|doings| readers - u64::from(doings.reads)).sum::<u64>();
        }
        count
    }
}

/// Two accesses of one thread in one region, by place and kind.
type PlacePair = (ThreadId, (SiteId, AccessKind), (SiteId, AccessKind));

/// How many representatives by places there are, whatever locks, fork and join say.
fn places(events: &[Event], sources: RegionSources) -> u64 {
    /// What happens to a location.
    #[derive(Default)]
    struct Meetings {
        pairs: FxHashSet<PlacePair>,
        remotes: FxHashSet<(ThreadId, SiteId, AccessKind)>,
        /// What each thread has done in the region it is in.
        open: FxHashMap<ThreadId, (usize, Vec<(SiteId, AccessKind)>)>,
    }
    let mut by_location: FxHashMap<LocationId, Meetings> = FxHashMap::default();
    for_each_access(events, sources, |event, location, kind, region| {
        let Meetings { pairs, remotes, open } = by_location.entry(location).or_default();
        remotes.insert((event.thread, event.site, kind));
        let Some(region) = region else { return };
        let (known, before) = open.entry(event.thread).or_default();
        if *known != region {
            (*known, *before) = (region, Vec::new());
        }
        let this = (event.site, kind);
        pairs.extend(before.iter().map(|earlier| (event.thread, *earlier, this)));
        if !before.contains(&this) {
            before.push(this);
        }
    });
    let mut count = 0;
    for Meetings { pairs, remotes, .. } in by_location.values() {
        let mut known = FxHashSet::default();
        for (thread, first, second) in pairs {
            for (_, site, kind) in remotes.iter().filter(|(remote, ..)| remote != thread) {
                for class in [Class::Others, Class::Wrw] {
                    if let Some(pattern) = class.pattern([first.1, *kind, second.1]) {
                        known.insert(([first.0, *site, second.0], pattern, class));
                    }
                }
            }
        }
        count += known.len() as u64;
    }
    count
}

/// Calls for each access of a trace, with the outermost region it is in, by the event that begins it.
fn for_each_access(
    events: &[Event],
    sources: RegionSources,
    mut action: impl FnMut(&Event, LocationId, AccessKind, Option<usize>),
) {
    let mut regions = Regions::new(sources);
    let mut region_of: FxHashMap<ThreadId, usize> = FxHashMap::default();
    for (at, event) in events.iter().enumerate() {
        match event.op {
            Op::RegionBegin(region) if regions.begin(event.thread, region.source) == RegionEdge::Outermost => {
                region_of.insert(event.thread, at);
            }
            Op::RegionEnd(region) if regions.end(event.thread, region.source) == RegionEdge::Outermost => {
                region_of.remove(&event.thread);
            }
            _ => {}
        }
        if let Some((location, kind)) = access_of(&event.op) {
            action(event, location, kind, region_of.get(&event.thread).copied());
        }
    }
}

/// What a thread does to a location.
#[derive(Default)]
struct Doings {
    reads: bool,
    writes: bool,
    /// Two accesses in one region; two writes in one.
    pair: bool,
    write_pair: bool,
    /// The last access, and the last write, in a region.
    last: Option<usize>,
    last_write: Option<usize>,
}

impl Doings {
    fn add(&mut self, kind: AccessKind, region: Option<usize>) {
        self.reads |= kind.reads();
        self.writes |= kind.writes();
        let Some(region) = region else { return };
        self.pair |= self.last == Some(region);
        self.last = Some(region);
        if kind.writes() {
            self.write_pair |= self.last_write == Some(region);
            self.last_write = Some(region);
        }
    }
}
