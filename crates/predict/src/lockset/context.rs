//! The context every thread is in: its lock state and its strand.
//!
//! Contexts are interned *without* the thread, as (strand number, lock state): threads that fork
//! and join nothing are all in strand 0 and share contexts, so the memo of transitions stays small
//! however many threads there are.

use super::{Options, Weakening};
use interloper_model::{ForkJoinLog, LockChange, LockStates, Nesting, RegionEdge, Regions, StateId};
use interloper_trace::{Event, EventIndex, LockId, LockMode, Op, RegionSource, ThreadId};
use rustc_hash::FxHashMap;

/// An interned context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ContextId(pub(super) u32);

/// What an id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Context {
    /// How many forks and joins the thread has done.
    pub(super) strand: u32,
    pub(super) state: StateId,
}

/// All contexts met so far.
#[derive(Debug)]
pub(super) struct Contexts {
    pub(super) states: LockStates,
    all: Vec<Context>,
    ids: FxHashMap<Context, ContextId>,
}

impl Contexts {
    pub(super) const INITIAL: ContextId = ContextId(0);

    fn new(states: LockStates) -> Self {
        let mut contexts = Contexts { states, all: Vec::new(), ids: FxHashMap::default() };
        contexts.intern(Context { strand: 0, state: StateId::INITIAL });
        contexts
    }

    #[inline]
    pub(super) fn get(&self, id: ContextId) -> Context {
        self.all[id.0 as usize]
    }

    fn intern(&mut self, context: Context) -> ContextId {
        *self.ids.entry(context).or_insert_with(|| {
            self.all.push(context);
            ContextId(u32::try_from(self.all.len() - 1).expect("fewer than 2^32 contexts fit in memory"))
        })
    }

    /// Enters all contexts of another table; the result maps its ids to ours.
    pub(super) fn absorb(&mut self, other: &Contexts) -> Vec<ContextId> {
        let states = self.states.absorb(&other.states);
        let ours = |context: &Context| Context { state: states[context.state.index()], ..*context };
        other.all.iter().map(|context| self.intern(ours(context))).collect()
    }
}

/// What an event other than an access means to the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    None,
    /// The thread is in another context now.
    Context(ContextId),
    /// An outermost region begins.
    RegionBegin(RegionSource),
    /// An outermost region ends.
    RegionEnd,
}

/// Follows all threads through their contexts and regions.
#[derive(Debug)]
pub(super) struct Tracker {
    pub(super) contexts: Contexts,
    pub(super) forks: ForkJoinLog,
    pub(super) nesting: Nesting,
    pub(super) regions_seen: u64,
    threads: Vec<Thread>,
    regions: Regions,
    transitions: FxHashMap<(ContextId, LockId, LockStep), ContextId>,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    context: ContextId,
    acted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LockStep {
    Acquire(LockMode),
    Release,
}

impl Tracker {
    pub(super) fn new(options: &Options) -> Self {
        let states = match options.weakening {
            Weakening::NoHistories => LockStates::without_histories(),
            _ => LockStates::new(),
        };
        Tracker {
            contexts: Contexts::new(states),
            forks: ForkJoinLog::default(),
            nesting: Nesting::new(),
            regions_seen: 0,
            threads: Vec::new(),
            regions: Regions::new(options.regions),
            transitions: FxHashMap::default(),
        }
    }

    /// The context of a thread that is about to access something.
    #[inline(always)]
    pub(super) fn context(&mut self, thread: ThreadId) -> ContextId {
        let thread = self.thread(thread);
        thread.acted = true;
        thread.context
    }

    /// The threads that have done anything.
    pub(super) fn threads_that_acted(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.threads
            .iter()
            .enumerate()
            .filter(|(_, thread)| thread.acted)
            .filter_map(|(at, _)| ThreadId::from_index(at))
    }

    /// Follows an event that is no access.
    #[inline]
    pub(super) fn step(&mut self, index: EventIndex, event: &Event) -> Step {
        let thread = event.thread;
        self.thread(thread).acted = true;
        match event.op {
            Op::RegionBegin(region) => match self.regions.begin(thread, region.source) {
                RegionEdge::Outermost => {
                    self.regions_seen += 1;
                    Step::RegionBegin(region.source)
                }
                RegionEdge::Ignored => Step::None,
            },
            Op::RegionEnd(region) => match self.regions.end(thread, region.source) {
                RegionEdge::Outermost => Step::RegionEnd,
                RegionEdge::Ignored => Step::None,
            },
            Op::Fork(child) => {
                self.forks.fork(index.0, thread, child);
                self.next_strand(thread)
            }
            Op::Join(child) => {
                self.forks.join(index.0, thread, child);
                self.next_strand(thread)
            }
            _ => match self.nesting.follow(index, event) {
                LockChange::None => Step::None,
                LockChange::Acquired(lock, mode) => self.lock_step(thread, lock, LockStep::Acquire(mode)),
                LockChange::Released { lock, .. } => self.lock_step(thread, lock, LockStep::Release),
            },
        }
    }

    #[inline(always)]
    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if thread.index() >= self.threads.len() {
            self.add_threads(thread);
        }
        &mut self.threads[thread.index()]
    }

    #[cold]
    fn add_threads(&mut self, last: ThreadId) {
        let fresh = Thread { context: Contexts::INITIAL, acted: false };
        self.threads.resize(last.index() + 1, fresh);
    }

    #[inline]
    fn lock_step(&mut self, thread: ThreadId, lock: LockId, step: LockStep) -> Step {
        let from = self.threads[thread.index()].context;
        let to = match self.transitions.get(&(from, lock, step)) {
            Some(&to) => to,
            None => self.new_transition(from, lock, step),
        };
        self.threads[thread.index()].context = to;
        Step::Context(to)
    }

    #[cold]
    fn new_transition(&mut self, from: ContextId, lock: LockId, step: LockStep) -> ContextId {
        let Context { strand, state } = self.contexts.get(from);
        let state = match step {
            LockStep::Acquire(mode) => self.contexts.states.acquire(state, lock, mode),
            LockStep::Release => self.contexts.states.release(state, lock),
        };
        let to = self.contexts.intern(Context { strand, state });
        self.transitions.insert((from, lock, step), to);
        to
    }

    fn next_strand(&mut self, thread: ThreadId) -> Step {
        let Context { strand, state } = self.contexts.get(self.threads[thread.index()].context);
        let to = self.contexts.intern(Context { strand: strand + 1, state });
        self.threads[thread.index()].context = to;
        Step::Context(to)
    }
}
