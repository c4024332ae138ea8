//! The pass over the events: which edges they add.

use super::descendants::{Descendants, Edge, SlotOf};
use super::sources::{Source, Sources};
use super::{Conflict, Cycle, Transaction};
use interloper_model::{AccessKind, RegionEdge, RegionSources, Regions, access_of};
use interloper_trace::{Event, EventIndex, LocationId, LockId, LockMode, Op, ThreadId, Wake};

/// Decides whether the observed order is conflict-serializable.
pub struct Serializability {
    regions: Regions,
    regions_seen: u64,
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

#[derive(Clone, Debug, Default)]
struct Thread {
    /// The region it is in, by its first event.
    region: Option<EventIndex>,
    /// Its clock, if it is published.
    slot: SlotOf,
    /// Its latest event.
    latest: Option<Source>,
    /// The event that forked it, until its first own event.
    forked_by: Option<Source>,
}

#[derive(Clone, Debug, Default)]
struct Location {
    write: Option<Source>,
    /// Reads since then.
    reads: Sources,
}

#[derive(Clone, Debug, Default)]
struct Lock {
    /// The latest release by who held it alone.
    release: Option<Source>,
    /// Releases of shared holders since then.
    shared_releases: Sources,
}

impl Serializability {
    /// Before the first event.
    pub fn new(sources: RegionSources) -> Self {
        Serializability {
            regions: Regions::new(sources),
            regions_seen: 0,
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

    /// How many threads did anything.
    pub fn threads(&self) -> usize {
        self.threads.iter().filter(|thread| thread.latest.is_some()).count()
    }

    /// Takes in the next event.
    #[inline]
    pub fn observe(&mut self, index: EventIndex, event: &Event) {
        let edge = match event.op {
            Op::RegionBegin(region) => self.regions.begin(event.thread, region.source),
            Op::RegionEnd(region) => self.regions.end(event.thread, region.source),
            _ => RegionEdge::Ignored,
        };
        let begins = edge == RegionEdge::Outermost && matches!(event.op, Op::RegionBegin(_));
        self.regions_seen += u64::from(begins);
        if self.cycle.is_some() {
            return;
        }
        let thread = self.thread(event.thread);
        if begins {
            thread.region = Some(index);
        }
        let to = Source { start: thread.region.unwrap_or(index), index, thread: event.thread };
        thread.latest = Some(to);
        if let Some(fork) = thread.forked_by.take() {
            self.edge(fork, to, Conflict::Fork);
        }
        match access_of(&event.op) {
            Some((location, kind)) => self.access(to, location, kind),
            None => self.synchronise(to, event),
        }
        if edge == RegionEdge::Outermost && !begins {
            self.end_region(event.thread);
        }
    }

    #[inline]
    fn access(&mut self, to: Source, location: LocationId, kind: AccessKind) {
        if location.index() >= self.locations.len() {
            self.locations.resize(location.index() + 1, Location::default());
        }
        let conflict = Conflict::Location(location);
        if let Some(write) = self.locations[location.index()].write {
            self.edge(write, to, conflict);
        }
        if kind.writes() {
            // Later accesses conflict with this write; through it they come after these reads too.
            for at in 0..self.locations[location.index()].reads.len() {
                let read = self.locations[location.index()].reads.get(at);
                self.edge(read, to, conflict);
            }
            let state = &mut self.locations[location.index()];
            state.reads.clear();
            state.write = Some(to);
        } else {
            self.locations[location.index()].reads.insert(to);
        }
    }

    fn synchronise(&mut self, to: Source, event: &Event) {
        match event.op {
            Op::Acquire { lock, mode, .. } => self.acquire(to, lock, mode),
            Op::Release { lock, mode } => self.release(to, lock, mode),
            Op::Fork(child) => self.thread(child).forked_by = Some(to),
            Op::Join(child) => {
                if let Some(last) = self.thread(child).latest {
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
        if let Some(release) = self.lock(lock).release {
            self.edge(release, to, conflict);
        }
        if mode == LockMode::Exclusive && self.lock(lock).shared_releases.len() > 0 {
            let shared = std::mem::take(&mut self.lock(lock).shared_releases);
            self.edges(&shared, to, conflict);
        }
    }

    #[inline]
    fn release(&mut self, to: Source, lock: LockId, mode: LockMode) {
        match mode {
            LockMode::Exclusive => self.lock(lock).release = Some(to),
            LockMode::Shared => self.lock(lock).shared_releases.insert(to),
        }
    }

    fn edges(&mut self, from: &Sources, to: Source, conflict: Conflict) {
        for at in 0..from.len() {
            self.edge(from.get(at), to, conflict);
        }
    }

    #[inline]
    fn edge(&mut self, from: Source, to: Source, conflict: Conflict) {
        if from.thread == to.thread {
            return;
        }
        let leaving = &mut self.threads[from.thread.index()];
        let leaves_open_region = leaving.region == Some(from.start);
        if !leaves_open_region && self.descendants.is_empty() {
            return;
        }
        if leaves_open_region && leaving.slot.is_none() {
            let region = Transaction { thread: from.thread, start: from.start };
            leaving.slot = Some(self.descendants.publish(region));
        }
        let target = self.threads[to.thread.index()].slot;
        if let Some(cycle) = self.descendants.add(Edge { from, to, conflict }, target)
            && self.cycle.is_none()
        {
            self.cycle = Some(cycle);
        }
    }

    fn end_region(&mut self, thread: ThreadId) {
        let thread = self.thread(thread);
        thread.region = None;
        if let Some(slot) = thread.slot.take() {
            self.descendants.retire(slot);
        }
    }

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if thread.index() >= self.threads.len() {
            self.threads.resize(thread.index() + 1, Thread::default());
        }
        &mut self.threads[thread.index()]
    }

    #[inline]
    fn lock(&mut self, lock: LockId) -> &mut Lock {
        if lock.index() >= self.locks.len() {
            self.locks.resize(lock.index() + 1, Lock::default());
        }
        &mut self.locks[lock.index()]
    }
}

fn channel(channels: &mut Vec<Sources>, at: usize) -> &mut Sources {
    if at >= channels.len() {
        channels.resize(at + 1, Sources::default());
    }
    &mut channels[at]
}
