//! The pass over the events: which edges they add.

use super::descendants::{Descendants, Edge, SlotOf};
use super::sources::{Source, Sources};
use super::{Conflict, Cycle, Transaction};
use interloper_model::{Nesting, NonNested, RegionEdge, RegionSources, Regions, access_of};
use interloper_trace::{Event, EventIndex, LocationId, LockId, LockMode, Op, RegionSource, ThreadId, Wake};

/// Decides whether the observed order is conflict-serializable.
pub struct Serializability {
    regions: Regions,
    regions_seen: u64,
    nesting: Nesting,
    threads: Vec<Thread>,
    locations: Vec<Location>,
    locks: Vec<Lock>,
    conditions: Vec<Sources>,
    semaphores: Vec<Sources>,
    barriers: Vec<Sources>,
    onces: Vec<Sources>,
    descendants: Descendants,
    cycle: Option<Cycle>,
}

#[derive(Clone, Debug)]
struct Thread {
    /// The region it is in, by its first event; [`OUTSIDE`] if it is in none.
    region: EventIndex,
    /// Its clock, if it is published.
    slot: SlotOf,
    /// Its latest event.
    latest: Source,
    /// The event that forked it, until its first own event.
    forked_by: Source,
}

const OUTSIDE: EventIndex = EventIndex(u64::MAX);

#[derive(Clone, Debug)]
struct Location {
    write: Source,
    /// Reads since then.
    reads: Sources,
}

// The module header says what a location costs.
const _: () = assert!(size_of::<Location>() == 64);

#[derive(Clone, Debug)]
struct Lock {
    /// The latest release by who held it alone.
    release: Source,
    /// Releases of shared holders since then.
    shared_releases: Sources,
}

impl Serializability {
    /// Before the first event.
    pub fn new(sources: RegionSources) -> Self {
        Serializability {
            regions: Regions::new(sources),
            regions_seen: 0,
            nesting: Nesting::new(),
            threads: Vec::new(),
            locations: Vec::new(),
            locks: Vec::new(),
            conditions: Vec::new(),
            semaphores: Vec::new(),
            barriers: Vec::new(),
            onces: Vec::new(),
            descendants: Descendants::default(),
            cycle: None,
        }
    }

    /// The first cycle, if there has been one. Later events add nothing to the answer.
    pub fn cycle(&self) -> Option<&Cycle> {
        self.cycle.as_ref()
    }

    /// How many outermost regions of the chosen sources there were.
    pub fn regions(&self) -> u64 {
        self.regions_seen
    }

    /// The threads that do not release their locks in reverse order. This has no bearing on the answer.
    pub fn non_nested(&self) -> &[NonNested] {
        self.nesting.non_nested()
    }

    /// How many threads did anything.
    pub fn threads(&self) -> usize {
        self.threads.iter().filter(|thread| thread.latest.get().is_some()).count()
    }

    /// Takes in the next event. The kinds that most events are of have a way of their own.
    #[inline(always)]
    pub fn observe(&mut self, index: EventIndex, event: &Event) {
        if self.cycle.is_some() {
            return self.count(index, event);
        }
        match event.op {
            Op::Read(access) => {
                let to = self.arrive(index, event.thread);
                self.read(to, access.location);
            }
            Op::Write(access) => {
                let to = self.arrive(index, event.thread);
                self.write(to, access.location);
            }
            Op::Acquire { lock, mode: LockMode::Exclusive, .. } => {
                self.nesting.follow(index, event);
                let to = self.arrive(index, event.thread);
                self.acquire(to, lock, LockMode::Exclusive);
            }
            Op::Release { lock, mode: LockMode::Exclusive } => {
                self.nesting.follow(index, event);
                let to = self.arrive(index, event.thread);
                self.lock(lock).release = to;
            }
            Op::RegionBegin(region) => {
                if self.begins(event.thread, region.source) {
                    self.begin_region(event.thread, index);
                }
                self.arrive(index, event.thread);
            }
            Op::RegionEnd(region) => {
                self.arrive(index, event.thread);
                if self.regions.end(event.thread, region.source) == RegionEdge::Outermost {
                    self.end_region(event.thread);
                }
            }
            _ => self.observe_rest(index, event),
        }
    }

    /// An event of another kind.
    #[inline(never)]
    fn observe_rest(&mut self, index: EventIndex, event: &Event) {
        self.nesting.follow(index, event);
        let to = self.arrive(index, event.thread);
        match access_of(&event.op) {
            Some((location, kind)) if kind.writes() => self.write(to, location),
            Some((location, _)) => self.read(to, location),
            None => self.synchronise(to, event),
        }
    }

    /// An event after the first cycle: what is said besides the answer is about the whole trace.
    #[inline(never)]
    fn count(&mut self, index: EventIndex, event: &Event) {
        match event.op {
            Op::RegionBegin(region) => {
                self.begins(event.thread, region.source);
            }
            Op::RegionEnd(region) => {
                self.regions.end(event.thread, region.source);
            }
            _ => {
                self.nesting.follow(index, event);
            }
        }
    }

    /// Whether an outermost region begins, which is counted.
    #[inline]
    fn begins(&mut self, thread: ThreadId, source: RegionSource) -> bool {
        let is_outermost = self.regions.begin(thread, source) == RegionEdge::Outermost;
        self.regions_seen += u64::from(is_outermost);
        is_outermost
    }

    /// The event as the end of edges, and as the source of later ones.
    #[inline(always)]
    fn arrive(&mut self, index: EventIndex, thread_id: ThreadId) -> Source {
        let thread = self.thread(thread_id);
        let start = if thread.region == OUTSIDE { index } else { thread.region };
        let to = Source::new(thread_id, start, index);
        thread.latest = to;
        if thread.forked_by.get().is_some() {
            let fork = std::mem::replace(&mut thread.forked_by, Source::NONE);
            self.edge(fork, to, Conflict::Fork);
        }
        to
    }

    #[inline(always)]
    fn read(&mut self, to: Source, location: LocationId) {
        let state = self.location(location);
        state.reads.insert(to);
        let write = state.write;
        self.edge(write, to, Conflict::Location(location));
    }

    #[inline(always)]
    fn write(&mut self, to: Source, location: LocationId) {
        let state = self.location(location);
        let write = std::mem::replace(&mut state.write, to);
        // Later accesses conflict with this write; through it they come after these reads too.
        if state.reads.only_of(to.thread()) {
            state.reads.clear();
        } else {
            self.write_after_reads(to, location);
        }
        self.edge(write, to, Conflict::Location(location));
    }

    /// The same where other threads have read since the last write.
    #[inline(never)]
    fn write_after_reads(&mut self, to: Source, location: LocationId) {
        let reads = &mut self.locations[location.index()].reads;
        let concern = reads.iter().fold(false, |any, read| any | self.descendants.concern(read));
        if concern {
            let reads = std::mem::take(reads);
            self.edges(&reads, to, Conflict::Location(location));
            self.locations[location.index()].reads = reads;
        }
        self.locations[location.index()].reads.clear();
    }

    fn synchronise(&mut self, to: Source, event: &Event) {
        match event.op {
            Op::Acquire { lock, mode, .. } => self.acquire(to, lock, mode),
            Op::Release { lock, mode } => self.release(to, lock, mode),
            Op::Fork(child) => self.thread(child).forked_by = to,
            Op::Join(child) => {
                if let Some(last) = self.thread(child).latest.get() {
                    self.edge(last, to, Conflict::Join);
                    // Nothing can come into its region any more.
                    self.end_region(child);
                }
            }
            Op::WaitBegin { lock, .. } => self.release(to, lock, LockMode::Exclusive),
            Op::WaitEnd { condition, lock, wake } => {
                self.acquire(to, lock, LockMode::Exclusive);
                if wake == Wake::Notified {
                    let from = channel(&mut self.conditions, condition.index()).clone();
                    self.edges(&from, to, Conflict::Condition(condition));
                }
            }
            Op::Signal(condition) | Op::Broadcast(condition) => {
                channel(&mut self.conditions, condition.index()).insert(to);
            }
            Op::SemaphorePost(semaphore) => channel(&mut self.semaphores, semaphore.index()).insert(to),
            Op::SemaphoreWait(semaphore) => {
                let from = channel(&mut self.semaphores, semaphore.index()).clone();
                self.edges(&from, to, Conflict::Semaphore(semaphore));
            }
            Op::BarrierArrive(barrier) => channel(&mut self.barriers, barrier.index()).insert(to),
            Op::BarrierLeave(barrier) => {
                let from = channel(&mut self.barriers, barrier.index()).clone();
                self.edges(&from, to, Conflict::Barrier(barrier));
            }
            Op::OnceEnd(once) => channel(&mut self.onces, once.index()).insert(to),
            Op::OncePass(once) => {
                let from = channel(&mut self.onces, once.index()).clone();
                self.edges(&from, to, Conflict::Once(once));
            }
            _ => {}
        }
    }

    /// Re-entrant acquisitions and releases need no exception: the edges they add are implied.
    #[inline]
    fn acquire(&mut self, to: Source, lock: LockId, mode: LockMode) {
        let conflict = Conflict::Lock(lock);
        let release = self.lock(lock).release;
        self.edge(release, to, conflict);
        if mode == LockMode::Exclusive && !self.lock(lock).shared_releases.is_empty() {
            let shared = std::mem::take(&mut self.lock(lock).shared_releases);
            self.edges(&shared, to, conflict);
        }
    }

    #[inline]
    fn release(&mut self, to: Source, lock: LockId, mode: LockMode) {
        match mode {
            LockMode::Exclusive => self.lock(lock).release = to,
            LockMode::Shared => self.lock(lock).shared_releases.insert(to),
        }
    }

    fn edges(&mut self, from: &Sources, to: Source, conflict: Conflict) {
        for from in from.iter() {
            self.edge(from, to, conflict);
        }
    }

    /// An edge, if there is a source. It matters only if it leaves an open region, or if anything can
    /// be reached from one: most do not.
    #[inline(always)]
    fn edge(&mut self, from: Source, to: Source, conflict: Conflict) {
        if self.descendants.concern(from) & (from.thread() != to.thread()) {
            self.add_edge(from, to, conflict);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_edge(&mut self, from: Source, to: Source, conflict: Conflict) {
        let leaving = &mut self.threads[from.thread().index()];
        if leaving.region == from.start && leaving.slot.is_none() {
            let region = from.transaction();
            leaving.slot = Some(self.descendants.publish(region));
        }
        let target = self.threads[to.thread().index()].slot;
        if let Some(cycle) = self.descendants.add(Edge { from, to, conflict }, target)
            && self.cycle.is_none()
        {
            self.cycle = Some(cycle);
        }
    }

    fn begin_region(&mut self, thread: ThreadId, start: EventIndex) {
        self.thread(thread).region = start;
        self.descendants.open(Transaction { thread, start });
    }

    fn end_region(&mut self, thread: ThreadId) {
        let state = self.thread(thread);
        state.region = OUTSIDE;
        let slot = state.slot.take();
        self.descendants.close(thread, slot);
    }

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if thread.index() >= self.threads.len() {
            let fresh = Thread { region: OUTSIDE, slot: None, latest: Source::NONE, forked_by: Source::NONE };
            grow(&mut self.threads, thread.index(), fresh);
        }
        &mut self.threads[thread.index()]
    }

    #[inline(always)]
    fn location(&mut self, location: LocationId) -> &mut Location {
        if location.index() >= self.locations.len() {
            grow(&mut self.locations, location.index(), Location { write: Source::NONE, reads: Sources::default() });
        }
        &mut self.locations[location.index()]
    }

    #[inline]
    fn lock(&mut self, lock: LockId) -> &mut Lock {
        if lock.index() >= self.locks.len() {
            grow(&mut self.locks, lock.index(), Lock { release: Source::NONE, shared_releases: Sources::default() });
        }
        &mut self.locks[lock.index()]
    }
}

fn channel(channels: &mut Vec<Sources>, at: usize) -> &mut Sources {
    if at >= channels.len() {
        grow(channels, at, Sources::default());
    }
    &mut channels[at]
}

/// Makes a table have an entry at `index`.
#[cold]
#[inline(never)]
fn grow<T: Clone>(table: &mut Vec<T>, index: usize, fresh: T) {
    table.resize(index + 1, fresh);
}
