//! What the events of a trace must satisfy together, whatever format they came in.
//!
//! - A thread does not fork itself, nor a thread that was forked or has acted already; nothing
//!   happens in a thread after another has joined it or after its own finish event, nor before its
//!   start event. A thread that is never forked runs from the beginning. Joining a thread without
//!   events is fine.
//! - A lock is held by one thread exclusively, or by any number in shared mode; only who holds it
//!   releases it, in the mode in which it was taken. Taking one's own lock again is re-entrant, in
//!   the same mode. Locks may still be held when the trace ends.
//! - A wait gives up a lock that the thread holds exclusively; the thread does nothing until the
//!   wait ends, and has the lock back as deeply as before.
//! - A region ends only if one of that source has begun. Regions may be open when the trace ends.
//!   Real RapidBin traces begin a region in each thread before the thread is forked; in all formats
//!   but STD, whose rules say otherwise, such a begin does not count as acting.
//!
//! The check is one pass, constant time an event; it never changes or reorders anything.

use crate::event::{Event, LockMode, Op, RegionSource};
use crate::ids::{ConditionId, LockId, ThreadId};
use crate::tables::Tables;
use rustc_hash::FxHashMap;

/// The checker's state after some prefix of a trace.
#[derive(Debug)]
pub struct WellFormed {
    rules: Rules,
    threads: Vec<ThreadState>,
    locks: Vec<LockState>,
}

/// Whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Ours.
    General,
    /// Those of the STD format, where a thread that has begun a region cannot be forked any more.
    Std,
}

/// A rule that an event breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// What the event does.
    pub found: String,
    /// What it should have done.
    pub expected: String,
}

#[derive(Clone, Debug, Default)]
struct ThreadState {
    /// Bits of what has happened to the thread; anything but [`ACTED`] alone needs a closer look.
    flags: u8,
    forked: bool,
    /// Open regions, by source.
    open_regions: [u32; 4],
    /// The wait that the thread is in.
    waiting: Option<Waiting>,
}

const ACTED: u8 = 1;
const JOINED: u8 = 2;
const FINISHED: u8 = 4;
const WAITS: u8 = 8;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    condition: ConditionId,
    lock: LockId,
    depth: u32,
}

#[derive(Clone, Debug, Default)]
struct LockState {
    /// Who holds it exclusively, if `depth` is not zero.
    owner: u32,
    /// How many times over.
    depth: u32,
    /// Who holds it in shared mode, and how many times over. Boxed: most locks never are.
    readers: Option<Box<FxHashMap<ThreadId, u32>>>,
}

impl ThreadState {
    #[inline(always)]
    fn begin(&mut self, source: RegionSource) -> bool {
        let open = &mut self.open_regions[source as usize];
        *open = open.saturating_add(1);
        true
    }

    /// Ends a region, if one is open.
    #[inline(always)]
    fn end(&mut self, source: RegionSource) -> bool {
        let open = &mut self.open_regions[source as usize];
        let is_open = *open > 0;
        *open -= u32::from(is_open);
        is_open
    }
}

impl LockState {
    fn reader_depth(&self, thread: ThreadId) -> u32 {
        self.readers.as_ref().and_then(|readers| readers.get(&thread)).copied().unwrap_or(0)
    }

    /// Gives back one level that a thread holds in shared mode, if it does.
    fn release_shared(&mut self, thread: ThreadId) -> bool {
        let Some(readers) = &mut self.readers else { return false };
        let Some(depth) = readers.get_mut(&thread) else { return false };
        *depth -= 1;
        if *depth == 0 {
            readers.remove(&thread);
        }
        true
    }

    fn other_reader(&self, thread: ThreadId) -> Option<ThreadId> {
        // The least one, so that messages do not depend on hashing.
        self.readers.as_ref()?.keys().copied().filter(|&reader| reader != thread).min()
    }
}

impl WellFormed {
    /// The state before the first event.
    pub fn new(rules: Rules) -> Self {
        WellFormed { rules, threads: Vec::new(), locks: Vec::new() }
    }

    /// Checks the next event. After a breach the checker must not be used any more.
    ///
    /// What is frequent and as it should be is seen here; everything else is looked at closely.
    #[inline(always)]
    pub fn check(&mut self, event: &Event, tables: &Tables) -> Result<(), Box<Breach>> {
        if let Some(thread) = self.threads.get_mut(event.thread.index())
            && thread.flags == ACTED
        {
            let is_fine = match event.op {
                Op::Read(_) | Op::Write(_) => true,
                Op::Acquire { lock, mode: LockMode::Exclusive, .. } => self.acquire_free(event.thread, lock),
                Op::Release { lock, mode: LockMode::Exclusive } => self.release_own(event.thread, lock),
                Op::RegionBegin(region) => thread.begin(region.source),
                Op::RegionEnd(region) => thread.end(region.source),
                _ => false,
            };
            if is_fine {
                return Ok(());
            }
        }
        self.check_closely(event, tables)
    }

    /// Takes a lock that nobody holds and nobody ever held in shared mode, if it is one.
    #[inline(always)]
    fn acquire_free(&mut self, thread: ThreadId, lock: LockId) -> bool {
        match self.locks.get_mut(lock.index()) {
            Some(state) if state.depth == 0 && state.readers.is_none() => {
                state.owner = thread.raw();
                state.depth = 1;
                true
            }
            _ => false,
        }
    }

    /// Releases a lock by one level, if the thread holds it.
    #[inline(always)]
    fn release_own(&mut self, thread: ThreadId, lock: LockId) -> bool {
        match self.locks.get_mut(lock.index()) {
            Some(state) if state.depth > 0 && state.owner == thread.raw() => {
                state.depth -= 1;
                true
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn check_closely(&mut self, event: &Event, tables: &Tables) -> Result<(), Box<Breach>> {
        let thread = event.thread;
        if thread.index() >= self.threads.len() {
            self.threads.resize_with(tables.thread_count().max(thread.index() + 1), ThreadState::default);
        }
        let state = &mut self.threads[thread.index()];
        if state.flags != ACTED {
            self.check_thread(event, tables)?;
        }
        match event.op {
            Op::Acquire { lock, mode, .. } => self.acquire(thread, lock, mode, tables),
            Op::Release { lock, mode } => self.release(thread, lock, mode, tables),
            Op::RegionBegin(region) => {
                self.threads[thread.index()].begin(region.source);
                Ok(())
            }
            Op::RegionEnd(region) => self.end(thread, region.source, tables),
            Op::Fork(child) => self.fork(thread, child, tables),
            Op::Join(child) => self.join(thread, child, tables),
            Op::Start => self.start(thread, tables),
            Op::Finish => {
                self.threads[thread.index()].flags |= FINISHED;
                Ok(())
            }
            Op::WaitBegin { condition, lock } => self.wait_begin(thread, condition, lock, tables),
            Op::WaitEnd { condition, lock, .. } => self.wait_end(thread, condition, lock, tables),
            _ => Ok(()),
        }
    }

    /// Whether the thread may act at all.
    #[cold]
    fn check_thread(&mut self, event: &Event, tables: &Tables) -> Result<(), Box<Breach>> {
        let state = &mut self.threads[event.thread.index()];
        let name = tables.thread(event.thread);
        if state.flags & JOINED != 0 {
            return breach(format!("an event of thread {name} after it was joined"), "no event of a joined thread");
        }
        if state.flags & FINISHED != 0 {
            return breach(format!("an event of thread {name} after it finished"), "no event of a finished thread");
        }
        if let Some(waiting) = state.waiting
            && !matches!(event.op, Op::WaitEnd { .. })
        {
            let condition = tables.condition(waiting.condition);
            return breach(
                format!("an event of thread {name} while it waits on {condition}"),
                "the end of that wait first",
            );
        }
        // A start event checks for itself that nothing came before it, and then acts as well.
        let acts = match event.op {
            Op::Start => false,
            Op::RegionBegin(_) => self.rules == Rules::Std,
            _ => true,
        };
        if acts {
            state.flags |= ACTED;
        }
        Ok(())
    }

    fn start(&mut self, thread: ThreadId, tables: &Tables) -> Result<(), Box<Breach>> {
        let state = &mut self.threads[thread.index()];
        if state.flags & ACTED != 0 {
            return breach(
                format!("the start of thread {}, which has acted before", tables.thread(thread)),
                "one start, first",
            );
        }
        state.flags |= ACTED;
        Ok(())
    }

    fn fork(&mut self, parent: ThreadId, child: ThreadId, tables: &Tables) -> Result<(), Box<Breach>> {
        let name = tables.thread(child);
        if child == parent {
            return breach(format!("thread {name} forking itself"), "a fork of another thread");
        }
        let state = self.thread(child, tables);
        if state.forked {
            return breach(format!("a second fork of thread {name}"), "one fork a thread");
        }
        if state.flags & ACTED != 0 {
            return breach(format!("a fork of thread {name}, which has events before"), "the fork before its events");
        }
        state.forked = true;
        Ok(())
    }

    fn join(&mut self, parent: ThreadId, child: ThreadId, tables: &Tables) -> Result<(), Box<Breach>> {
        if child == parent {
            return breach(format!("thread {} joining itself", tables.thread(child)), "a join of another thread");
        }
        self.thread(child, tables).flags |= JOINED;
        Ok(())
    }

    #[inline]
    fn acquire(&mut self, thread: ThreadId, lock: LockId, mode: LockMode, tables: &Tables) -> Result<(), Box<Breach>> {
        let state = self.lock(lock, tables);
        if state.depth > 0 && state.owner != thread.raw() {
            let owner = ThreadId::new(state.owner);
            return held_by_another(lock, owner, tables);
        }
        match mode {
            LockMode::Exclusive => {
                if state.readers.is_some() {
                    if state.reader_depth(thread) > 0 {
                        return upgrade(thread, lock, "holds it in shared mode", tables);
                    }
                    if let Some(reader) = state.other_reader(thread) {
                        return held_by_another(lock, reader, tables);
                    }
                }
                state.owner = thread.raw();
                state.depth += 1;
            }
            LockMode::Shared => {
                if state.depth > 0 {
                    return upgrade(thread, lock, "holds it exclusively", tables);
                }
                *state.readers.get_or_insert_default().entry(thread).or_insert(0) += 1;
            }
        }
        Ok(())
    }

    #[inline]
    fn release(&mut self, thread: ThreadId, lock: LockId, mode: LockMode, tables: &Tables) -> Result<(), Box<Breach>> {
        let is_held = match mode {
            LockMode::Exclusive => self.release_own(thread, lock),
            LockMode::Shared => self.lock(lock, tables).release_shared(thread),
        };
        if is_held {
            return Ok(());
        }
        let shared = if mode == LockMode::Shared { " in shared mode" } else { "" };
        breach(
            format!(
                "thread {} releasing lock {}, which it does not hold{shared}",
                tables.thread(thread),
                tables.lock(lock)
            ),
            "a release of a lock that the thread holds",
        )
    }

    fn wait_begin(
        &mut self,
        thread: ThreadId,
        condition: ConditionId,
        lock: LockId,
        tables: &Tables,
    ) -> Result<(), Box<Breach>> {
        let state = self.lock(lock, tables);
        if state.depth == 0 || state.owner != thread.raw() {
            let (thread, lock) = (tables.thread(thread), tables.lock(lock));
            return breach(
                format!("thread {thread} waiting with lock {lock}, which it does not hold"),
                "a wait with a lock that the thread holds exclusively",
            );
        }
        let depth = std::mem::take(&mut state.depth);
        let state = &mut self.threads[thread.index()];
        state.waiting = Some(Waiting { condition, lock, depth });
        state.flags |= WAITS;
        Ok(())
    }

    fn wait_end(
        &mut self,
        thread: ThreadId,
        condition: ConditionId,
        lock: LockId,
        tables: &Tables,
    ) -> Result<(), Box<Breach>> {
        let state = &mut self.threads[thread.index()];
        let Some(waiting) = state.waiting.filter(|wait| wait.condition == condition && wait.lock == lock) else {
            let (thread, condition) = (tables.thread(thread), tables.condition(condition));
            return breach(
                format!("the end of a wait of thread {thread} on {condition}, which has not begun"),
                "the beginning of that wait, with the same lock, before its end",
            );
        };
        state.waiting = None;
        state.flags &= !WAITS;
        let state = self.lock(lock, tables);
        if state.depth > 0 {
            let owner = ThreadId::new(state.owner);
            return held_by_another(lock, owner, tables);
        }
        if let Some(reader) = state.other_reader(thread) {
            return held_by_another(lock, reader, tables);
        }
        state.owner = thread.raw();
        state.depth = waiting.depth;
        Ok(())
    }

    fn end(&mut self, thread: ThreadId, source: RegionSource, tables: &Tables) -> Result<(), Box<Breach>> {
        if self.threads[thread.index()].end(source) {
            return Ok(());
        }
        breach(
            format!("the end of a region in thread {}, where none has begun", tables.thread(thread)),
            "a begin before its end",
        )
    }

    fn thread(&mut self, thread: ThreadId, tables: &Tables) -> &mut ThreadState {
        if thread.index() >= self.threads.len() {
            self.threads.resize_with(tables.thread_count().max(thread.index() + 1), ThreadState::default);
        }
        &mut self.threads[thread.index()]
    }

    #[inline]
    fn lock(&mut self, lock: LockId, tables: &Tables) -> &mut LockState {
        if lock.index() >= self.locks.len() {
            self.locks.resize_with(tables.lock_count().max(lock.index() + 1), LockState::default);
        }
        &mut self.locks[lock.index()]
    }
}

#[cold]
fn breach(found: String, expected: &str) -> Result<(), Box<Breach>> {
    // Boxed, so that the answer to the question that is asked of every event fits a register.
    Err(Box::new(Breach { found, expected: expected.to_owned() }))
}

#[cold]
fn held_by_another(lock: LockId, owner: ThreadId, tables: &Tables) -> Result<(), Box<Breach>> {
    let (lock, owner) = (tables.lock(lock), tables.thread(owner));
    breach(format!("an acquisition of lock {lock}, which thread {owner} holds"), "a release by its holder first")
}

#[cold]
fn upgrade(thread: ThreadId, lock: LockId, how: &str, tables: &Tables) -> Result<(), Box<Breach>> {
    let (thread, lock) = (tables.thread(thread), tables.lock(lock));
    breach(
        format!("thread {thread} acquiring lock {lock} in another mode while it {how}"),
        "the same mode again, or a release first",
    )
}
