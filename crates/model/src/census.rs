//! What a trace holds, in numbers.

use crate::regions::{RegionEdge, RegionSources, Regions};
use interloper_trace::{Event, Op, RegionSource, ThreadId};
use std::collections::BTreeMap;

/// Counts events as they come.
#[derive(Clone, Debug)]
pub struct Census {
    /// All events.
    pub events: u64,
    /// How many of each kind, by the name the kind has in JSON Lines.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// How many of each thread.
    pub by_thread: Vec<u64>,
    /// Outermost regions of all sources together.
    pub regions: u64,
    /// Region begins by source.
    pub region_begins: [u64; 4],
    /// Branches passed.
    pub branches: u64,
    /// Accesses of which the value is known.
    pub values: u64,
    open: Regions,
}

impl Census {
    /// Nothing counted.
    pub fn new() -> Self {
        Census {
            events: 0,
            by_kind: BTreeMap::new(),
            by_thread: Vec::new(),
            regions: 0,
            region_begins: [0; 4],
            branches: 0,
            values: 0,
            open: Regions::new(RegionSource::ALL.into_iter().collect::<RegionSources>()),
        }
    }

    /// Counts an event.
    pub fn observe(&mut self, event: &Event) {
        self.events += 1;
        *self.by_kind.entry(kind_name(&event.op)).or_default() += 1;
        if event.thread.index() >= self.by_thread.len() {
            self.by_thread.resize(event.thread.index() + 1, 0);
        }
        self.by_thread[event.thread.index()] += 1;
        match event.op {
            Op::RegionBegin(region) => {
                self.region_begins[region.source as usize] += 1;
                self.regions += u64::from(self.open.begin(event.thread, region.source) == RegionEdge::Outermost);
            }
            Op::RegionEnd(region) => {
                self.open.end(event.thread, region.source);
            }
            Op::Branch { count } => self.branches += u64::from(count),
            Op::Read(access) | Op::Write(access) => self.values += u64::from(access.value.get().is_some()),
            Op::ReadModifyWrite(rmw) => self.values += u64::from(rmw.read.get().is_some()),
            _ => {}
        }
    }

    /// How many threads have events.
    pub fn threads(&self) -> usize {
        self.by_thread.iter().filter(|&&events| events > 0).count()
    }

    /// The events of a thread.
    pub fn of_thread(&self, thread: ThreadId) -> u64 {
        self.by_thread.get(thread.index()).copied().unwrap_or(0)
    }
}

impl Default for Census {
    fn default() -> Self {
        Self::new()
    }
}

/// The name of an event's kind.
pub fn kind_name(op: &Op) -> &'static str {
    use interloper_trace::LockMode::{Exclusive, Shared};
    match op {
        Op::Read(_) => "read",
        Op::Write(_) => "write",
        Op::ReadModifyWrite(_) => "rmw",
        Op::Fence(_) => "fence",
        Op::Request(_) => "request",
        Op::Acquire { by: interloper_trace::Attempt::Try, .. } | Op::TryAcquireFailed { .. } => "try_acquire",
        Op::Acquire { mode: Exclusive, .. } => "acquire",
        Op::Acquire { mode: Shared, .. } => "acquire_shared",
        Op::Release { mode: Exclusive, .. } => "release",
        Op::Release { mode: Shared, .. } => "release_shared",
        Op::WaitBegin { .. } => "wait_begin",
        Op::WaitEnd { .. } => "wait_end",
        Op::Signal(_) => "signal",
        Op::Broadcast(_) => "broadcast",
        Op::SemaphoreWait(_) => "sem_wait",
        Op::SemaphorePost(_) => "sem_post",
        Op::BarrierArrive(_) => "barrier",
        Op::BarrierLeave(_) => "barrier_leave",
        Op::OnceBegin(_) | Op::OnceEnd(_) | Op::OncePass(_) => "once",
        Op::Fork(_) => "fork",
        Op::Join(_) => "join",
        Op::Start => "start",
        Op::Finish => "finish",
        Op::Allocate { .. } => "alloc",
        Op::Free { .. } => "free",
        Op::Branch { .. } => "branch",
        Op::Enter { .. } => "enter",
        Op::Exit => "exit",
        Op::RegionBegin(_) => "begin",
        Op::RegionEnd(_) => "end",
        Op::Input { .. } => "input",
        Op::Define { .. } => "define",
        Op::Bind { .. } => "bind",
        Op::Assume { .. } => "assume",
        Op::Mark { .. } => "mark",
    }
}
