//! Every possible triple, not only one for each pair of states.
//!
//! A second pass over the trace. The first has told which locations have a possible triple at all;
//! only their accesses are kept, each with its context and region, and the contexts each thread
//! went through. Memory is bounded by those accesses and by the lock operations of the trace.
//! Candidates of the other locations are counted and forgotten.

use super::context::{ContextId, Step, Tracker};
use super::profile::PackedAccess;
use super::top::Top;
use super::{Options, Overview, Prediction, Weakening};
use crate::triple::{RegionSpan, Triple};
use interloper_model::{AccessKind, Pattern, Strand, StrandOrder, access_of};
use interloper_trace::{Event, EventIndex, LocationId, RegionSource, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The second pass in progress.
pub struct Enumerator {
    options: Options,
    tracker: Tracker,
    /// Where there is something to find.
    wanted: FxHashSet<LocationId>,
    /// For each thread, its contexts with the event since which each holds.
    contexts: Vec<Vec<(ContextId, u64)>>,
    open: Vec<Option<u32>>,
    regions: Vec<RegionSpan>,
    accesses: FxHashMap<LocationId, Vec<Kept>>,
    counts: FxHashMap<(LocationId, ThreadId), Counts>,
}

/// An access of a wanted location.
#[derive(Clone, Copy)]
struct Kept {
    thread: ThreadId,
    context: ContextId,
    region: Option<u32>,
    access: PackedAccess,
    index: u64,
    kind: AccessKind,
}

/// What a thread does to a location, in numbers.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// The region that the next two speak of.
    region: Option<u32>,
    accesses_in_region: u64,
    writes_in_region: u64,
    /// Pairs of accesses of one region.
    pairs: u64,
    /// Those of two writes.
    write_pairs: u64,
    writes: u64,
    pure_reads: u64,
}

impl Enumerator {
    /// A second pass, over the locations where the first found something possible.
    pub fn new(options: &Options, overview: &Overview) -> Self {
        Enumerator {
            options: *options,
            tracker: Tracker::new(options),
            wanted: overview.locations.clone(),
            contexts: Vec::new(),
            open: Vec::new(),
            regions: Vec::new(),
            accesses: FxHashMap::default(),
            counts: FxHashMap::default(),
        }
    }

    /// Takes in the next event, as in the first pass.
    pub fn observe(&mut self, index: EventIndex, event: &Event) {
        let thread = event.thread;
        if thread.index() >= self.open.len() {
            self.open.resize(thread.index() + 1, None);
            self.contexts.resize(thread.index() + 1, Vec::new());
        }
        if let Some((location, kind)) = access_of(&event.op) {
            let context = self.tracker.context(thread);
            let region = self.open[thread.index()];
            self.count(thread, location, kind, region);
            if self.wanted.contains(&location) {
                let access = PackedAccess::new(index, kind, event.site);
                let kept = Kept { thread, context, region, access, index: index.0, kind };
                self.accesses.entry(location).or_default().push(kept);
                if self.options.weakening == Weakening::SampleAtAccesses {
                    self.contexts[thread.index()].push((context, index.0));
                }
            }
            return;
        }
        match self.tracker.step(index, event) {
            Step::None => {}
            Step::Context(context) => {
                if self.options.weakening != Weakening::SampleAtAccesses {
                    self.contexts[thread.index()].push((context, index.0));
                }
            }
            Step::RegionBegin(source) => self.open[thread.index()] = Some(self.begin(thread, source, index)),
            Step::RegionEnd => {
                if let Some(region) = self.open[thread.index()].take() {
                    self.regions[region as usize].end = Some(index);
                }
            }
        }
    }

    /// Lists what was found.
    pub fn finish(mut self) -> Prediction {
        let acted: FxHashSet<ThreadId> = self.tracker.threads_that_acted().collect();
        let order = self.tracker.forks.order(|thread| acted.contains(&thread));
        let mut top = Top::new(self.options.limit);
        let mut locations: Vec<_> = std::mem::take(&mut self.accesses).into_iter().collect();
        locations.sort_unstable_by_key(|&(location, _)| location);
        for (location, accesses) in &locations {
            self.location(*location, accesses, &order, &mut top);
        }
        let candidates = self.candidates();
        Prediction::new(candidates, top, self.wanted, &self.tracker.contexts.states)
    }

    fn begin(&mut self, thread: ThreadId, source: RegionSource, begin: EventIndex) -> u32 {
        self.regions.push(RegionSpan { thread, source, begin, end: None });
        u32::try_from(self.regions.len() - 1).expect("fewer than 2^32 regions fit in memory")
    }

    fn count(&mut self, thread: ThreadId, location: LocationId, kind: AccessKind, region: Option<u32>) {
        let counts = self.counts.entry((location, thread)).or_default();
        if region.is_some() {
            if counts.region != region {
                counts.region = region;
                counts.accesses_in_region = 0;
                counts.writes_in_region = 0;
            }
            counts.pairs += counts.accesses_in_region;
            counts.accesses_in_region += 1;
            if kind.writes() {
                counts.write_pairs += counts.writes_in_region;
                counts.writes_in_region += 1;
            }
        }
        if kind.writes() {
            counts.writes += 1;
        } else {
            counts.pure_reads += 1;
        }
    }

    /// All triples that fit a pattern: any pair with a remote write, two writes with any remote
    /// access.
    fn candidates(&self) -> u64 {
        let mut writes: FxHashMap<LocationId, (u64, u64)> = FxHashMap::default();
        for (&(location, _), counts) in &self.counts {
            let (all_writes, all_reads) = writes.entry(location).or_default();
            *all_writes += counts.writes;
            *all_reads += counts.pure_reads;
        }
        self.counts.iter().fold(0u64, |sum, ((location, _), counts)| {
            let (all_writes, all_reads) = writes[location];
            sum.saturating_add(counts.pairs.saturating_mul(all_writes - counts.writes))
                .saturating_add(counts.write_pairs.saturating_mul(all_reads - counts.pure_reads))
        })
    }

    fn location(&mut self, location: LocationId, accesses: &[Kept], order: &StrandOrder, top: &mut Top) {
        let remotes = group(accesses.iter().copied(), |kept| (kept.thread, kept.context));
        let regions = group(accesses.iter().filter(|kept| kept.region.is_some()).copied(), |kept| kept.region);
        let mut quota = Quota::new(self.options.each, accesses);
        for (_, local) in &regions {
            for (at, first) in local.iter().enumerate() {
                if quota.is_used_up(&local[at..]) {
                    break;
                }
                // For each remote group, a context between first and second that lets it in, once there
                // is one; there are only more as the second moves on.
                let mut open = vec![None; remotes.len()];
                let mut from = first.index;
                self.open_up(&mut open, &remotes, first.context, first.thread, order);
                for second in &local[at + 1..] {
                    for context in self.contexts_between(first.thread, from, second.index) {
                        self.open_up(&mut open, &remotes, context, first.thread, order);
                    }
                    from = second.index;
                    for ((_, group), open) in remotes.iter().zip(&open) {
                        if let Some(witness) = *open {
                            self.list(location, (first, second, witness), group, &mut quota, top);
                        }
                    }
                }
            }
        }
    }

    /// Marks the remote groups that are compatible with a context of the region's thread.
    fn open_up(
        &mut self,
        open: &mut [Option<ContextId>],
        remotes: &[((ThreadId, ContextId), Vec<Kept>)],
        context: ContextId,
        thread: ThreadId,
        order: &StrandOrder,
    ) {
        let local = self.tracker.contexts.get(context);
        for (open, ((remote_thread, remote_context), _)) in open.iter_mut().zip(remotes) {
            if open.is_some() || *remote_thread == thread {
                continue;
            }
            let remote = self.tracker.contexts.get(*remote_context);
            let concurrent = self.options.weakening == Weakening::NoPruning
                || order.concurrent(
                    Strand { thread, number: local.strand },
                    Strand { thread: *remote_thread, number: remote.strand },
                );
            if concurrent && self.tracker.contexts.states.compatible(local.state, remote.state) {
                *open = Some(context);
            }
        }
    }

    /// The contexts a thread entered after one event and before another.
    fn contexts_between(&self, thread: ThreadId, after: u64, before: u64) -> Vec<ContextId> {
        let contexts = &self.contexts[thread.index()];
        let start = contexts.partition_point(|&(_, since)| since <= after);
        contexts[start..].iter().take_while(|&&(_, since)| since < before).map(|&(context, _)| context).collect()
    }

    fn list(
        &self,
        location: LocationId,
        (first, second, witness): (&Kept, &Kept, ContextId),
        remotes: &[Kept],
        quota: &mut Quota,
        top: &mut Top,
    ) {
        let Some(region) = first.region else { return };
        for (at, remote) in remotes.iter().enumerate() {
            let Some(pattern) = Pattern::of(first.kind, remote.kind, second.kind) else { continue };
            if !quota.admits(first, remote, second) {
                return;
            }
            let key = (EventIndex(first.index), EventIndex(remote.index), EventIndex(second.index), pattern);
            if !top.admits(key) {
                // The remote accesses come in order, so the rest is only greater: count it.
                let fits = |remote: &&Kept| Pattern::of(first.kind, remote.kind, second.kind).is_some();
                top.skip(remotes[at..].iter().filter(fits).count() as u64);
                return;
            }
            top.push(Triple {
                pattern,
                location,
                region: self.regions[region as usize],
                first: first.access.unpack(first.thread),
                remote: remote.access.unpack(remote.thread),
                second: second.access.unpack(second.thread),
                region_state: self.tracker.contexts.get(witness).state,
                remote_state: self.tracker.contexts.get(remote.context).state,
            });
        }
    }
}

/// How many triples of each kind are still to be listed, for one location.
struct Quota {
    each: Option<usize>,
    /// For each two threads, how many were listed of the class of WRW, and of the others.
    listed: FxHashMap<(ThreadId, ThreadId), [usize; 2]>,
    /// Who reads, and who writes.
    readers: Vec<ThreadId>,
    writers: Vec<ThreadId>,
}

impl Quota {
    fn new(each: Option<usize>, accesses: &[Kept]) -> Self {
        let threads = |does: fn(AccessKind) -> bool| {
            let threads = accesses.iter().filter(|kept| does(kept.kind)).map(|kept| kept.thread);
            let mut threads: Vec<ThreadId> = if each.is_some() { threads.collect() } else { Vec::new() };
            threads.sort_unstable();
            threads.dedup();
            threads
        };
        let (readers, writers) = (threads(AccessKind::reads), threads(AccessKind::writes));
        Quota { each, listed: FxHashMap::default(), readers, writers }
    }

    fn left(&self, local: ThreadId, remote: ThreadId, class: usize) -> bool {
        self.each.is_none_or(|each| self.listed.get(&(local, remote)).is_none_or(|listed| listed[class] < each))
    }

    /// Whether nothing is left of what accesses of a region could be part of.
    fn is_used_up(&self, region: &[Kept]) -> bool {
        if self.each.is_none() {
            return false;
        }
        let Some(local) = region.first().map(|kept| kept.thread) else { return true };
        let left = |remotes: &[ThreadId], class| {
            remotes.iter().any(|remote| *remote != local && self.left(local, *remote, class))
        };
        let writes = region.iter().filter(|kept| kept.kind.writes()).take(2).count();
        let others = region.len() > 1 && left(&self.writers, 1);
        let intermediate = writes > 1 && left(&self.readers, 0);
        !others && !intermediate
    }

    /// Whether a triple is to be listed; it then counts as such.
    fn admits(&mut self, first: &Kept, remote: &Kept, second: &Kept) -> bool {
        if self.each.is_none() {
            return true;
        }
        let fits = |pattern: &Pattern| pattern.fits(first.kind, remote.kind, second.kind);
        let classes = [fits(&Pattern::Wrw), Pattern::ALL.iter().any(|one| *one != Pattern::Wrw && fits(one))];
        let (local, remote) = (first.thread, remote.thread);
        let admits = (0..2).any(|class| classes[class] && self.left(local, remote, class));
        if admits {
            let listed = self.listed.entry((local, remote)).or_default();
            listed.iter_mut().zip(classes).for_each(|(listed, fits)| *listed += usize::from(fits));
        }
        admits
    }
}

/// Groups by a key, in order of first occurrence, keeping the order within each group.
fn group<K: Copy + Eq + std::hash::Hash>(
    all: impl Iterator<Item = Kept>,
    key: impl Fn(&Kept) -> K,
) -> Vec<(K, Vec<Kept>)> {
    let mut at: FxHashMap<K, usize> = FxHashMap::default();
    let mut groups: Vec<(K, Vec<Kept>)> = Vec::new();
    for kept in all {
        let place = *at.entry(key(&kept)).or_insert_with(|| {
            groups.push((key(&kept), Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(kept);
    }
    groups
}
