//! What comes before what, between threads, in an order of events: the arrows of the lanes.
//!
//! An arrow leads from what one thread did to what another could do only after that. Where a trace does not say
//! which of several it was, the arrow comes from the one that made the difference in this order: of the posts of a
//! semaphore, the one before which the wait could not have ended; of the signals of a condition variable, the one
//! that accounts for the waiter whose wait ends first, as in `interloper_witness::interpret`.

#[cfg(test)]
mod tests;

use crate::story::RecordedTrace;
use interloper_trace::{
    BarrierId, ConditionId, Event, LocationId, LockId, LockMode, MemoryOrder, OnceId, Op, SemaphoreId, ThreadId, Wake,
};
use rustc_hash::FxHashMap;

/// An arrow from one position of an order to a later one, of another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrow {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) kind: Kind,
}

/// Why one thing comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A thread's creation, and the first it does.
    Fork,
    /// The last a thread does, and who waited for its end.
    Join,
    /// A lock given back, and taken.
    Lock,
    /// A value written, and read.
    Reads,
    /// A signal or broadcast, and the end of a wait.
    Wake,
    /// A post, and the wait that needed it.
    Semaphore,
    /// An arrival at a barrier, and who goes on after it.
    Barrier,
    /// The end of an initialiser that runs once, and who finds it done.
    Once,
    /// What releases, and what acquires: atomic accesses, or fences around them.
    Atomic,
}

impl Kind {
    pub(crate) const ALL: [Kind; 9] = [
        Kind::Fork,
        Kind::Join,
        Kind::Lock,
        Kind::Reads,
        Kind::Wake,
        Kind::Semaphore,
        Kind::Barrier,
        Kind::Once,
        Kind::Atomic,
    ];

    /// Its name in the page, where `assets/` draws it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Fork => "fork",
            Kind::Join => "join",
            Kind::Lock => "lock",
            Kind::Reads => "reads",
            Kind::Wake => "wake",
            Kind::Semaphore => "semaphore",
            Kind::Barrier => "barrier",
            Kind::Once => "once",
            Kind::Atomic => "atomic",
        }
    }
}

/// The arrows of an order of a trace's events, by where they lead to.
pub(crate) fn arrows(trace: &RecordedTrace, order: &[u32]) -> Vec<Arrow> {
    let mut maker =
        Maker { semaphores: semaphores(&trace.events), ends: notified_ends(trace, order), ..Maker::default() };
    for (position, &at) in order.iter().enumerate() {
        maker.step(position as u32, &trace.events[at as usize]);
    }
    maker.arrows
}

/// The arrows between some positions of an order, renumbered. A fork leads to the first of these of its thread, a
/// join comes from the last; all others are left out if either end is.
pub(crate) fn between(arrows: &[Arrow], picks: &[usize], trace: &RecordedTrace, order: &[u32]) -> Vec<Arrow> {
    let thread = |position: usize| trace.events[order[position] as usize].thread;
    let mut ends: FxHashMap<ThreadId, (u32, u32)> = FxHashMap::default();
    for (row, &pick) in picks.iter().enumerate() {
        let row = row as u32;
        ends.entry(thread(pick)).or_insert((row, row)).1 = row;
    }
    let row = |position: u32| picks.binary_search(&(position as usize)).ok().map(|row| row as u32);
    let moved = |arrow: &Arrow| {
        let (from, to) = (row(arrow.from), row(arrow.to));
        let (from, to) = match arrow.kind {
            Kind::Fork => (from, ends.get(&thread(arrow.to as usize)).map(|ends| ends.0)),
            Kind::Join => (ends.get(&thread(arrow.from as usize)).map(|ends| ends.1), to),
            _ => (from, to),
        };
        Some(Arrow { from: from?, to: to?, kind: arrow.kind })
    };
    arrows.iter().filter_map(moved).filter(|arrow| arrow.from < arrow.to).collect()
}

/// If more threads than this come together, arrows from the last of them have to stand for all.
const CROWD: usize = 8;

/// What has happened so far that arrows may come from; all by position.
#[derive(Default)]
struct Maker {
    arrows: Vec<Arrow>,
    forked: FxHashMap<ThreadId, u32>,
    last: FxHashMap<ThreadId, u32>,
    locks: FxHashMap<LockId, Lock>,
    /// How deeply threads hold locks, and how deeply they held the one that they gave up to wait.
    held: FxHashMap<(ThreadId, LockId), u32>,
    parked: FxHashMap<(ThreadId, LockId), u32>,
    waits: FxHashMap<ConditionId, Vec<Wait>>,
    /// Where waits end notified, by where they begin.
    ends: FxHashMap<u32, u32>,
    semaphores: FxHashMap<SemaphoreId, Semaphore>,
    barriers: FxHashMap<BarrierId, Barrier>,
    onces: FxHashMap<OnceId, From>,
    written: FxHashMap<LocationId, Written>,
    release_fences: FxHashMap<ThreadId, u32>,
    /// What a thread has read without acquiring: the next fence that acquires comes after what released it.
    unacquired: FxHashMap<ThreadId, Vec<From>>,
}

/// Where an arrow may come from.
#[derive(Clone, Copy)]
struct From {
    thread: ThreadId,
    at: u32,
}

#[derive(Default)]
struct Lock {
    /// The last release by who held it alone.
    released: Option<From>,
    /// The releases by readers since then, the last of each thread.
    readers: Vec<From>,
}

struct Wait {
    thread: ThreadId,
    /// Where it ends notified, if it does.
    end: Option<u32>,
    by: Option<From>,
}

#[derive(Default)]
struct Semaphore {
    /// How many waits need no post.
    initial: usize,
    waits: usize,
    posts: Vec<From>,
}

#[derive(Default)]
struct Barrier {
    /// The arrivals, by generation.
    generations: Vec<Vec<From>>,
    /// Whether somebody has left the last one: then the next arrival begins another.
    is_closed: bool,
    latest: FxHashMap<ThreadId, usize>,
}

/// The last write of a location.
#[derive(Clone, Copy)]
struct Written {
    by: From,
    /// What whoever acquires from this write comes after: the write itself, a fence before it, or, of a
    /// read-modify-write that releases nothing itself, what the write that it read from released.
    release: Option<From>,
}

impl Maker {
    fn step(&mut self, at: u32, event: &Event) {
        let me = From { thread: event.thread, at };
        if !self.last.contains_key(&me.thread)
            && let Some(&from) = self.forked.get(&me.thread)
        {
            self.arrows.push(Arrow { from, to: at, kind: Kind::Fork });
        }
        match event.op {
            Op::Fork(child) => {
                self.forked.insert(child, at);
            }
            Op::Join(child) => {
                let from = self.last.get(&child).map(|&at| From { thread: child, at });
                self.arrow(from, me, Kind::Join);
            }
            Op::Acquire { lock, mode, .. } => self.acquire(me, lock, mode),
            Op::Release { lock, mode } => self.release(me, lock, mode),
            Op::WaitBegin { condition, lock } => {
                self.park(me, lock);
                let end = self.ends.get(&at).copied();
                self.waits.entry(condition).or_default().push(Wait { thread: me.thread, end, by: None });
            }
            Op::WaitEnd { condition, lock, .. } => {
                self.wake(me, condition);
                self.unpark(me, lock);
            }
            Op::Signal(condition) => self.signal(me, condition),
            Op::Broadcast(condition) => self.broadcast(me, condition),
            Op::SemaphorePost(semaphore) => self.semaphores.entry(semaphore).or_default().posts.push(me),
            Op::SemaphoreWait(semaphore) => self.semaphore_wait(me, semaphore),
            Op::BarrierArrive(barrier) => self.barriers.entry(barrier).or_default().arrive(me),
            Op::BarrierLeave(barrier) => self.barrier_leave(me, barrier),
            Op::OnceEnd(once) => {
                self.onces.insert(once, me);
            }
            Op::OncePass(once) => self.arrow(self.onces.get(&once).copied(), me, Kind::Once),
            Op::Fence(order) => self.fence(me, order),
            Op::Read(access) => self.read(me, access.location, access.order),
            Op::Write(access) => self.write(me, access.location, access.order, false),
            Op::ReadModifyWrite(rmw) => {
                self.read(me, rmw.location, rmw.order);
                if rmw.success {
                    self.write(me, rmw.location, rmw.order, true);
                }
            }
            _ => {}
        }
        self.last.insert(me.thread, at);
    }

    fn arrow(&mut self, from: Option<From>, to: From, kind: Kind) {
        if let Some(from) = from.filter(|from| from.thread != to.thread) {
            self.arrows.push(Arrow { from: from.at, to: to.at, kind });
        }
    }

    fn acquire(&mut self, me: From, lock: LockId, mode: LockMode) {
        let depth = self.held.entry((me.thread, lock)).or_default();
        *depth += 1;
        if *depth == 1 {
            self.take(me, lock, mode);
        }
    }

    /// Whoever takes a lock alone comes after its readers, and so after whoever had it alone before them.
    fn take(&mut self, me: From, lock: LockId, mode: LockMode) {
        let state = self.locks.entry(lock).or_default();
        let readers = match mode {
            LockMode::Exclusive => std::mem::take(&mut state.readers),
            LockMode::Shared => Vec::new(),
        };
        let released = state.released.filter(|_| readers.is_empty());
        for from in representatives(&readers).iter().copied().chain(released) {
            self.arrow(Some(from), me, Kind::Lock);
        }
    }

    fn release(&mut self, me: From, lock: LockId, mode: LockMode) {
        let Some(depth) = self.held.get_mut(&(me.thread, lock)) else { return };
        *depth -= 1;
        if *depth == 0 {
            self.held.remove(&(me.thread, lock));
            self.give_back(me, lock, mode);
        }
    }

    fn give_back(&mut self, me: From, lock: LockId, mode: LockMode) {
        let state = self.locks.entry(lock).or_default();
        match mode {
            LockMode::Exclusive => state.released = Some(me),
            LockMode::Shared => {
                state.readers.retain(|reader| reader.thread != me.thread);
                state.readers.push(me);
            }
        }
    }

    fn park(&mut self, me: From, lock: LockId) {
        if let Some(depth) = self.held.remove(&(me.thread, lock)) {
            self.parked.insert((me.thread, lock), depth);
            self.give_back(me, lock, LockMode::Exclusive);
        }
    }

    fn unpark(&mut self, me: From, lock: LockId) {
        let depth = self.parked.remove(&(me.thread, lock)).unwrap_or(1);
        self.held.insert((me.thread, lock), depth);
        self.take(me, lock, LockMode::Exclusive);
    }

    fn signal(&mut self, me: From, condition: ConditionId) {
        let waits = self.waits.entry(condition).or_default().iter_mut();
        let first = waits.filter(|wait| wait.by.is_none() && wait.end.is_some()).min_by_key(|wait| wait.end);
        if let Some(wait) = first {
            wait.by = Some(me);
        }
    }

    fn broadcast(&mut self, me: From, condition: ConditionId) {
        for wait in self.waits.entry(condition).or_default() {
            wait.by.get_or_insert(me);
        }
    }

    fn wake(&mut self, me: From, condition: ConditionId) {
        let waits = self.waits.entry(condition).or_default();
        let Some(place) = waits.iter().position(|wait| wait.thread == me.thread) else { return };
        let wait = waits.swap_remove(place);
        self.arrow(wait.by.filter(|_| wait.end == Some(me.at)), me, Kind::Wake);
    }

    fn semaphore_wait(&mut self, me: From, semaphore: SemaphoreId) {
        let state = self.semaphores.entry(semaphore).or_default();
        state.waits += 1;
        let needed = (state.waits - 1).checked_sub(state.initial).and_then(|post| state.posts.get(post)).copied();
        self.arrow(needed, me, Kind::Semaphore);
    }

    fn barrier_leave(&mut self, me: From, barrier: BarrierId) {
        for from in self.barriers.entry(barrier).or_default().leave(me) {
            self.arrow(Some(from), me, Kind::Barrier);
        }
    }

    fn read(&mut self, me: From, location: LocationId, order: MemoryOrder) {
        let Some(write) = self.written.get(&location).copied() else { return };
        let release = write.release.filter(|release| release.thread != me.thread);
        let is_write = release.is_some_and(|release| release.at == write.by.at);
        match release {
            Some(_) if acquires(order) => self.arrow(release, me, Kind::Atomic),
            Some(release) if order != MemoryOrder::Plain => {
                let unacquired = self.unacquired.entry(me.thread).or_default();
                unacquired.retain(|from| from.thread != release.thread);
                unacquired.push(release);
            }
            _ => {}
        }
        if !(is_write && acquires(order)) {
            self.arrow(Some(write.by), me, Kind::Reads);
        }
    }

    fn write(&mut self, me: From, location: LocationId, order: MemoryOrder, is_update: bool) {
        let fence = self.release_fences.get(&me.thread).map(|&at| From { thread: me.thread, at });
        let inherited = self.written.get(&location).and_then(|write| write.release).filter(|_| is_update);
        let release = match order {
            MemoryOrder::Plain => None,
            _ if releases(order) => Some(me),
            _ => fence.or(inherited),
        };
        self.written.insert(location, Written { by: me, release });
    }

    fn fence(&mut self, me: From, order: MemoryOrder) {
        if acquires(order) {
            for from in self.unacquired.remove(&me.thread).unwrap_or_default() {
                self.arrow(Some(from), me, Kind::Atomic);
            }
        }
        if releases(order) {
            self.release_fences.insert(me.thread, me.at);
        }
    }
}

impl Barrier {
    fn arrive(&mut self, me: From) {
        if self.is_closed || self.generations.is_empty() {
            self.generations.push(Vec::new());
            self.is_closed = false;
        }
        let last = self.generations.len() - 1;
        self.generations[last].push(me);
        self.latest.insert(me.thread, last);
    }

    /// The arrivals that a departure comes after.
    fn leave(&mut self, me: From) -> Vec<From> {
        let Some(&generation) = self.latest.get(&me.thread) else { return Vec::new() };
        self.is_closed |= generation + 1 == self.generations.len();
        representatives(&self.generations[generation]).to_vec()
    }
}

/// All of them or, if they are too many to draw, the last.
fn representatives(all: &[From]) -> &[From] {
    if all.len() > CROWD { &all[all.len() - 1..] } else { all }
}

fn acquires(order: MemoryOrder) -> bool {
    use MemoryOrder::{Acquire, AcquireRelease, Consume, SequentiallyConsistent};
    matches!(order, Consume | Acquire | AcquireRelease | SequentiallyConsistent)
}

fn releases(order: MemoryOrder) -> bool {
    use MemoryOrder::{AcquireRelease, Release, SequentiallyConsistent};
    matches!(order, Release | AcquireRelease | SequentiallyConsistent)
}

/// What semaphores begin with: the least with which the order that was recorded never goes below zero. A trace does
/// not say it, so an arrow may come from a post that was not needed, but never is one missing that was.
fn semaphores(events: &[Event]) -> FxHashMap<SemaphoreId, Semaphore> {
    let mut all: FxHashMap<SemaphoreId, (Semaphore, usize)> = FxHashMap::default();
    for event in events {
        match event.op {
            Op::SemaphorePost(semaphore) => all.entry(semaphore).or_default().1 += 1,
            Op::SemaphoreWait(semaphore) => {
                let (state, count) = all.entry(semaphore).or_default();
                match count.checked_sub(1) {
                    Some(less) => *count = less,
                    None => state.initial += 1,
                }
            }
            _ => {}
        }
    }
    all.into_iter().map(|(semaphore, (state, _))| (semaphore, state)).collect()
}

/// Where waits end notified, by where they begin.
fn notified_ends(trace: &RecordedTrace, order: &[u32]) -> FxHashMap<u32, u32> {
    let mut begun: FxHashMap<ThreadId, u32> = FxHashMap::default();
    let mut ends = FxHashMap::default();
    for (position, &at) in order.iter().enumerate() {
        let event = &trace.events[at as usize];
        match event.op {
            Op::WaitBegin { .. } => {
                begun.insert(event.thread, position as u32);
            }
            Op::WaitEnd { wake, .. } => {
                if let Some(begin) = begun.remove(&event.thread)
                    && wake == Wake::Notified
                {
                    ends.insert(begin, position as u32);
                }
            }
            _ => {}
        }
    }
    ends
}
