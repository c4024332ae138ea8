//! The trace as the solver sees it: steps of threads, and what they need and do.
//!
//! Of a trace only that is kept by which threads can influence each other: accesses of bytes that several
//! threads touch and one of them writes, locks that several use, and the like. What is left out is
//! possible at any time and changes nothing, so that leaving it out changes no answer.
//!
//! Bytes are grouped into *cells*: bytes that every access of the trace treats alike. An access of
//! mixed size touches several cells, each with its part of the value.
//!
//! One step is one event, or several accesses that nothing may come between (`more`).
//!
//! Where the trace says what depends on what was read, some reads are *loose*: their thread goes on whatever they
//! find, up to a step that relies on them. Writes that depend on them are noted, and so is memory of one thread alone
//! that such a write touches: it may carry news from a thread to itself.

mod build;
mod bytes;
mod notices;
mod reliance;
mod usage;

use interloper_trace::{LockMode, ThreadId};
use rustc_hash::FxHashMap;

/// A step, by its place in the observed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StepId(pub(crate) u32);

impl StepId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) u32);

        impl $name {
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

indices! {
    /// Bytes that every access treats alike.
    Cell;
    /// A stretch in which a thread holds a lock, or runs an initialiser.
    SectionId;
    /// A wait on a condition variable.
    WaitId;
}

/// The trace, outlined.
#[derive(Debug)]
pub struct Outline {
    pub(crate) steps: Vec<Step>,
    pub(crate) touches: Vec<Touch>,
    /// For each cell its accesses, in observed order: indices into `touches`.
    pub(crate) cells: Vec<CellFacts>,
    /// For each thread its steps, in order.
    pub(crate) threads: Vec<Vec<StepId>>,
    pub(crate) sections: Vec<Section>,
    /// For each lock, and each initialiser as if it were one, its sections in observed order.
    pub(crate) locks: Vec<Vec<SectionId>>,
    pub(crate) waits: Vec<Wait>,
    /// For each condition variable its steps: waits by number, signals, broadcasts.
    pub(crate) conditions: Vec<ConditionFacts>,
    /// The signal or broadcast that woke each wait, as far as one did.
    pub(crate) notices: FxHashMap<WaitId, StepId>,
    /// For each semaphore its count before the trace, its posts and its waits.
    pub(crate) semaphores: Vec<SemaphoreFacts>,
    /// For each initialiser that is run more than once, the steps that complete a run.
    pub(crate) completions: FxHashMap<u32, Vec<StepId>>,
    /// Orders that hold in every schedule, from the earlier to the later.
    pub(crate) must: Vec<(StepId, StepId)>,
    /// For each thread its loose reads, in order.
    pub(crate) loose: Vec<Vec<StepId>>,
    /// The writes that depend on loose reads, by event.
    pub(crate) dependences: FxHashMap<u64, Dependence>,
    /// The step of each access that is in one.
    steps_of: FxHashMap<u64, StepId>,
}

/// On what the value depends that a write leaves.
#[derive(Clone, Debug)]
pub(crate) enum Dependence {
    /// On so many loose reads of its thread, from the first.
    First(usize),
    /// On these.
    On(Vec<StepId>),
}

/// One step of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) thread: ThreadId,
    /// Its place among the steps of its thread.
    pub(crate) rank: u32,
    /// Its first and its last event.
    pub(crate) events: (u64, u64),
    /// Its accesses: a range of the outline's touches.
    pub(crate) touches: (u32, u32),
    /// A read-modify-write, successful or not: if it reads something else, there is no saying what it writes.
    pub(crate) is_rmw: bool,
    /// A read that may find anything for its thread to go on.
    pub(crate) is_loose: bool,
    /// The first step of its thread that is not done unless a loose read found what it found, if there is one.
    pub(crate) settled: Option<StepId>,
    pub(crate) sync: Sync,
}

/// What a step needs of other threads, or does to them, apart from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Nothing, or only orders that are in [`Outline::must`].
    None,
    Acquire(SectionId),
    Release(SectionId),
    /// A try-lock that fails because another thread has this lock.
    TryFailed {
        lock: u32,
        mode: LockMode,
    },
    /// The wait begins; the section ends, if it is of a lock that matters.
    WaitBegin(WaitId, Option<SectionId>),
    /// The wait ends; the section begins.
    WaitEnd(WaitId, Option<SectionId>),
    Signal(u32),
    Broadcast(u32),
    SemaphoreWait(u32),
    SemaphorePost(u32),
    /// One of the several runs of this initialiser has been completed before.
    OncePass(u32),
    /// All steps of that thread come before, and it was not led astray by what it read last.
    Join(ThreadId),
}

/// A step touches a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) step: StepId,
    pub(crate) event: u64,
    pub(crate) cell: Cell,
    pub(crate) read: Option<Reading>,
    pub(crate) write: Option<Content>,
    /// It is part of a read-modify-write: if that reads something else, there is no saying what it writes.
    pub(crate) may_write: bool,
}

/// What a read of a cell found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) content: Content,
    /// Who had written it; nobody, if it was there from the beginning.
    pub(crate) writer: Option<StepId>,
}

/// The bytes of a cell, as a number, if they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content(pub(crate) Option<u64>);

impl Content {
    /// Whether both are known, and equal.
    pub(crate) fn surely_equals(self, other: Content) -> bool {
        self.0.is_some() && self.0 == other.0
    }
}

/// What happens to a cell.
#[derive(Clone, Debug)]
pub(crate) struct CellFacts {
    pub(crate) initial: Content,
    /// All accesses in observed order: indices of touches.
    pub(crate) touches: Vec<u32>,
    /// The ones of these that write, or would if they read something else.
    pub(crate) writes: Vec<u32>,
}

/// A thread holds a lock, from one step to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) thread: ThreadId,
    pub(crate) lock: u32,
    pub(crate) mode: LockMode,
    pub(crate) acquire: StepId,
    /// None if the trace ends inside.
    pub(crate) release: Option<StepId>,
}

impl Section {
    pub(crate) fn excludes(&self, other: &Section) -> bool {
        self.thread != other.thread && modes_conflict(self.mode, other.mode)
    }
}

pub(crate) fn modes_conflict(one: LockMode, other: LockMode) -> bool {
    one == LockMode::Exclusive || other == LockMode::Exclusive
}

/// A thread waits on a condition variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) begin: StepId,
    pub(crate) end: Option<StepId>,
    pub(crate) need: WaitNeed,
}

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitNeed {
    /// A signal or broadcast.
    Notice,
    /// That there was none.
    NoNotice,
    /// Nothing.
    Nothing,
}

/// What happens at a condition variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConditionFacts {
    pub(crate) waits: Vec<WaitId>,
    pub(crate) signals: Vec<StepId>,
    pub(crate) broadcasts: Vec<StepId>,
}

/// What happens to a semaphore.
#[derive(Clone, Debug, Default)]
pub(crate) struct SemaphoreFacts {
    pub(crate) initial: u64,
    pub(crate) posts: Vec<StepId>,
    pub(crate) waits: Vec<StepId>,
}

impl Outline {
    /// The step that an access is part of; none for accesses that no other thread can notice.
    pub(crate) fn step_of(&self, event: u64) -> Option<StepId> {
        self.steps_of.get(&event).copied()
    }

    pub(crate) fn step(&self, step: StepId) -> &Step {
        &self.steps[step.index()]
    }

    pub(crate) fn touches_of(&self, step: StepId) -> &[Touch] {
        let (from, to) = self.step(step).touches;
        &self.touches[from as usize..to as usize]
    }

    /// The events of a step, in order.
    pub(crate) fn events_of(&self, step: StepId) -> impl Iterator<Item = u64> {
        let (first, last) = self.step(step).events;
        // What belongs together is an unbroken run of one thread's events.
        first..=last
    }

    /// The next step of the same thread.
    pub(crate) fn next(&self, step: StepId) -> Option<StepId> {
        let Step { thread, rank, .. } = *self.step(step);
        self.threads[thread.index()].get(rank as usize + 1).copied()
    }

    /// The first step of the same thread that is not done unless this one found what it found. If there is none,
    /// there may still be a join of the thread.
    pub(crate) fn reliant(&self, step: StepId) -> Option<StepId> {
        if self.step(step).is_loose { self.step(step).settled } else { self.next(step) }
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether threads do not influence each other at all.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}
