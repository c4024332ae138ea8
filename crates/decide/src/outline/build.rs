//! From events to steps.

use super::bytes::{Effect, Memory, cell_facts, part};
use super::notices::account_for;
use super::reliance::{Reliance, Reliances};
use super::usage::Usage;
use super::{
    Cell, ConditionFacts, Content, Dependence, Outline, Reading, Section, SectionId, SemaphoreFacts, Step, StepId,
    Sync, Touch, Wait, WaitId, WaitNeed,
};
use interloper_model::InitialValues;
use interloper_trace::{BarrierId, Event, LockId, LockMode, OnceId, Op, StringId, Tables, ThreadId, Wake};
use rustc_hash::{FxHashMap, FxHashSet};

impl Outline {
    /// Outlines a trace.
    pub fn new(events: &[Event], tables: &Tables, initial: InitialValues) -> Outline {
        let reliances = Reliances::survey(events);
        let memory = Memory::survey(events, tables, &reliances);
        let mut builder = Builder::new(events, tables, memory, reliances);
        for (index, event) in events.iter().enumerate() {
            builder.take(index as u64, event);
        }
        builder.finish(initial)
    }
}

struct Builder<'t> {
    tables: &'t Tables,
    memory: Memory,
    reliances: Reliances,
    usage: Usage,
    steps: Vec<Step>,
    touches: Vec<Touch>,
    last_write: Vec<Option<StepId>>,
    threads: Vec<Thread>,
    sections: Vec<Section>,
    locks: Vec<Vec<SectionId>>,
    waits: Vec<(Wait, Wake)>,
    conditions: Vec<ConditionFacts>,
    semaphores: Vec<SemaphoreFacts>,
    levels: Vec<i64>,
    barriers: FxHashMap<BarrierId, Barrier>,
    onces: FxHashMap<OnceId, Once>,
    completions: FxHashMap<u32, Vec<StepId>>,
    must: Vec<(StepId, StepId)>,
    allocations: FxHashMap<StringId, StepId>,
    accessed: FxHashSet<StringId>,
    /// Who has touched which object that was allocated in the trace.
    met: FxHashSet<(ThreadId, StringId)>,
    forks: FxHashMap<ThreadId, StepId>,
    dependences: FxHashMap<u64, Dependence>,
    steps_of: FxHashMap<u64, StepId>,
}

#[derive(Default)]
struct Thread {
    steps: Vec<StepId>,
    /// The locks it has: the section, and how deeply.
    held: FxHashMap<LockId, (Option<SectionId>, LockMode, u32)>,
    /// The wait it is in, with the lock it gave up.
    wait: Option<(WaitId, LockMode, u32)>,
    /// A step whose last access is to come.
    open: Option<StepId>,
    /// Where an access began of which nobody else has noticed anything yet.
    open_from: Option<u64>,
    /// The initialisers it runs.
    running: FxHashMap<OnceId, SectionId>,
    /// The generation of its latest arrival at each barrier.
    arrivals: FxHashMap<BarrierId, usize>,
    /// Its loose reads.
    loose: Vec<StepId>,
    /// So many of them, from the first, everything relies on that comes after.
    settled: usize,
    /// Those on which the next step relies.
    relied_on: Vec<StepId>,
}

#[derive(Default)]
struct Barrier {
    generations: Vec<Vec<StepId>>,
    /// Whether somebody has left the latest generation.
    is_closed: bool,
}

#[derive(Default)]
struct Once {
    ends: Vec<StepId>,
}

impl<'t> Builder<'t> {
    fn new(events: &[Event], tables: &'t Tables, memory: Memory, reliances: Reliances) -> Self {
        let threads = events.iter().map(|event| event.thread.index() + 1).max().unwrap_or(0);
        let last_write = vec![None; memory.cells as usize];
        Builder {
            tables,
            memory,
            reliances,
            usage: Usage::survey(events),
            steps: Vec::new(),
            touches: Vec::new(),
            last_write,
            threads: (0..threads).map(|_| Thread::default()).collect(),
            sections: Vec::new(),
            // Initialisers follow the locks, as locks of their own.
            locks: vec![Vec::new(); tables.lock_count() + tables.once_count()],
            waits: Vec::new(),
            conditions: vec![ConditionFacts::default(); tables.condition_count()],
            semaphores: vec![SemaphoreFacts::default(); tables.semaphore_count()],
            levels: vec![0; tables.semaphore_count()],
            barriers: FxHashMap::default(),
            onces: FxHashMap::default(),
            completions: FxHashMap::default(),
            must: Vec::new(),
            allocations: FxHashMap::default(),
            accessed: FxHashSet::default(),
            met: FxHashSet::default(),
            forks: FxHashMap::default(),
            dependences: FxHashMap::default(),
            steps_of: FxHashMap::default(),
        }
    }

    fn take(&mut self, index: u64, event: &Event) {
        let thread = event.thread;
        if let Some(effect) = self.memory.effect(&event.op, self.tables) {
            return self.access(index, event, &effect);
        }
        (self.threads[thread.index()].open, self.threads[thread.index()].open_from) = (None, None);
        match event.op {
            Op::Acquire { lock, mode, .. } => self.acquire(index, thread, lock, mode),
            Op::Release { lock, .. } => self.release(index, thread, lock),
            Op::TryAcquireFailed { lock, mode } => {
                let is_own = self.threads[thread.index()].held.contains_key(&lock);
                if !is_own && self.usage.is_contended(lock) {
                    self.step(index, thread, Sync::TryFailed { lock: lock.raw(), mode });
                }
            }
            Op::WaitBegin { condition, lock } => self.begin_wait(index, thread, condition.index(), lock),
            Op::WaitEnd { lock, wake, .. } => self.end_wait(index, thread, lock, wake),
            Op::Signal(condition) => {
                let step = self.step(index, thread, Sync::Signal(condition.raw()));
                grown(&mut self.conditions, condition.index()).signals.push(step);
            }
            Op::Broadcast(condition) => {
                let step = self.step(index, thread, Sync::Broadcast(condition.raw()));
                grown(&mut self.conditions, condition.index()).broadcasts.push(step);
            }
            Op::SemaphorePost(semaphore) => {
                let step = self.step(index, thread, Sync::SemaphorePost(semaphore.raw()));
                grown(&mut self.semaphores, semaphore.index()).posts.push(step);
                *grown(&mut self.levels, semaphore.index()) += 1;
            }
            Op::SemaphoreWait(semaphore) => {
                let step = self.step(index, thread, Sync::SemaphoreWait(semaphore.raw()));
                let level = grown(&mut self.levels, semaphore.index());
                *level -= 1;
                let missing = level.unsigned_abs() * u64::from(*level < 0);
                let facts = grown(&mut self.semaphores, semaphore.index());
                facts.initial = facts.initial.max(missing);
                facts.waits.push(step);
            }
            Op::BarrierArrive(barrier) => self.arrive(index, thread, barrier),
            Op::BarrierLeave(barrier) => self.leave(index, thread, barrier),
            Op::OnceBegin(once) => self.begin_once(index, thread, once),
            Op::OnceEnd(once) => self.end_once(index, thread, once),
            Op::OncePass(once) => self.pass_once(index, thread, once),
            Op::Branch { .. } => self.threads[thread.index()].rely_on_all(),
            Op::Assume { .. } => self.assume(index, thread),
            Op::Fork(child) => {
                self.threads[thread.index()].rely_on_all();
                let step = self.step(index, thread, Sync::None);
                self.forks.insert(child, step);
            }
            Op::Join(child) => {
                let step = self.step(index, thread, Sync::Join(child));
                let last = self.threads.get(child.index()).and_then(|child| child.steps.last().copied());
                let last = last.or(self.forks.get(&child).copied());
                self.must.extend(last.map(|last| (last, step)));
            }
            Op::Allocate { object, .. } => self.allocate(index, thread, object),
            Op::Free { object } => self.free(index, thread, object),
            _ => {}
        }
    }

    fn allocate(&mut self, index: u64, thread: ThreadId, object: StringId) {
        // What was accessed before was there before, whatever this is about.
        if !self.accessed.contains(&object) && !self.allocations.contains_key(&object) {
            let step = self.step(index, thread, Sync::None);
            self.allocations.insert(object, step);
        }
    }

    fn step(&mut self, index: u64, thread: ThreadId, sync: Sync) -> StepId {
        let id = StepId(u32::try_from(self.steps.len()).unwrap_or(u32::MAX));
        let touches = (self.touches.len() as u32, self.touches.len() as u32);
        let steps = &mut self.threads[thread.index()].steps;
        let rank = steps.len() as u32;
        steps.push(id);
        let (is_rmw, is_loose, settled) = (false, false, None);
        self.steps.push(Step { thread, rank, events: (index, index), touches, is_rmw, is_loose, settled, sync });
        self.settle(thread, id);
        if rank == 0
            && let Some(&fork) = self.forks.get(&thread)
        {
            self.must.push((fork, id));
        }
        id
    }

    /// What a thread relies on has to be as it was for this step to be done.
    fn settle(&mut self, thread: ThreadId, by: StepId) {
        for read in std::mem::take(&mut self.threads[thread.index()].relied_on) {
            self.steps[read.index()].settled.get_or_insert(by);
        }
    }

    fn assume(&mut self, index: u64, thread: ThreadId) {
        let thread = &mut self.threads[thread.index()];
        match self.reliances.of(index) {
            Reliance::OnAll => thread.rely_on_all(),
            // A read without a step is always as it was.
            Reliance::On(reads) => thread.relied_on.extend(reads.iter().filter_map(|read| self.steps_of.get(read))),
        }
    }

    /// On what the value depends that a write leaves, if on anything that may change.
    fn dependence(&self, write: u64, thread: ThreadId) -> Option<Dependence> {
        if !self.reliances.is_dependent(write) {
            return None;
        }
        match self.reliances.of(write) {
            Reliance::OnAll => Some(Dependence::First(self.threads[thread.index()].loose.len())),
            Reliance::On(reads) => {
                Some(Dependence::On(reads.iter().filter_map(|read| self.steps_of.get(read)).copied().collect()))
            }
        }
    }

    fn access(&mut self, index: u64, event: &Event, effect: &Effect) {
        let thread = event.thread;
        let (more, is_rmw) = match event.op {
            Op::Read(access) | Op::Write(access) => (access.more, false),
            Op::ReadModifyWrite(rmw) => (rmw.more, true),
            _ => (false, false),
        };
        if is_rmw {
            self.threads[thread.index()].rely_on_all();
        }
        let open = self.threads[thread.index()].open.take();
        let begun = self.threads[thread.index()].open_from.take();
        let cells: Vec<(Cell, u64, u64)> = self.memory.cells(effect.span).collect();
        self.accessed.insert(effect.span.object);
        let allocation = self.first_meeting(thread, effect.span.object);
        if cells.is_empty() && allocation.is_none() {
            // Of no interest to others; but what belongs together stays together.
            if let Some(open) = open {
                self.steps[open.index()].events.1 = index;
                self.settle(thread, open);
            }
            let thread = &mut self.threads[thread.index()];
            thread.open = open.filter(|_| more);
            thread.open_from = (more && open.is_none()).then_some(begun.unwrap_or(index));
            return;
        }
        let id = open.unwrap_or_else(|| self.step(begun.unwrap_or(index), thread, Sync::None));
        self.settle(thread, id);
        if self.reliances.is_loose(index) {
            self.steps[id.index()].is_loose = true;
            self.threads[thread.index()].loose.push(id);
        }
        if let Some(dependence) = self.dependence(index, thread) {
            self.dependences.insert(index, dependence);
        }
        for (cell, from, len) in cells {
            let writer = self.last_write[cell.index()];
            let read = effect.read.map(|value| Reading { content: part(value, from, len), writer });
            let write = effect.write.map(|value| part(value, from, len));
            if write.is_some() {
                self.last_write[cell.index()] = Some(id);
            }
            self.touches.push(Touch { step: id, event: index, cell, read, write, may_write: is_rmw });
        }
        let end = self.touches.len() as u32;
        let step = &mut self.steps[id.index()];
        step.touches.1 = end;
        step.events.1 = index;
        step.is_rmw |= is_rmw;
        self.steps_of.insert(index, id);
        self.must.extend(allocation.map(|allocation| (allocation, id)));
        self.threads[thread.index()].open = more.then_some(id);
    }

    /// Who allocated an object, if that was another thread, and this one touches it for the first time.
    fn first_meeting(&mut self, thread: ThreadId, object: StringId) -> Option<StepId> {
        let allocation = *self.allocations.get(&object)?;
        let is_first = self.met.insert((thread, object));
        (is_first && self.steps[allocation.index()].thread != thread).then_some(allocation)
    }

    fn free(&mut self, index: u64, thread: ThreadId, object: StringId) {
        let cells = self.memory.cells_of_object(object);
        if cells.is_empty() {
            return;
        }
        let id = self.step(index, thread, Sync::None);
        for cell in cells {
            self.last_write[cell.index()] = Some(id);
            let write = Some(Content(None));
            self.touches.push(Touch { step: id, event: index, cell, read: None, write, may_write: false });
        }
        self.steps[id.index()].touches.1 = self.touches.len() as u32;
    }

    fn acquire(&mut self, index: u64, thread: ThreadId, lock: LockId, mode: LockMode) {
        if let Some((_, _, depth)) = self.threads[thread.index()].held.get_mut(&lock) {
            *depth += 1;
            return;
        }
        let section = self.usage.is_contended(lock).then(|| {
            let id = self.section(thread, lock.raw(), mode);
            let step = self.step(index, thread, Sync::Acquire(id));
            self.sections[id.index()].acquire = step;
            id
        });
        self.threads[thread.index()].held.insert(lock, (section, mode, 1));
    }

    fn release(&mut self, index: u64, thread: ThreadId, lock: LockId) {
        let held = &mut self.threads[thread.index()].held;
        let Some((section, _, depth)) = held.get_mut(&lock) else { return };
        *depth -= 1;
        if *depth > 0 {
            return;
        }
        let section = *section;
        held.remove(&lock);
        if let Some(section) = section {
            let step = self.step(index, thread, Sync::Release(section));
            self.sections[section.index()].release = Some(step);
        }
    }

    /// A section that is about to begin with the next step.
    fn section(&mut self, thread: ThreadId, lock: u32, mode: LockMode) -> SectionId {
        let id = SectionId(self.sections.len() as u32);
        let acquire = StepId(self.steps.len() as u32);
        self.sections.push(Section { thread, lock, mode, acquire, release: None });
        grown(&mut self.locks, lock as usize).push(id);
        id
    }

    fn begin_wait(&mut self, index: u64, thread: ThreadId, condition: usize, lock: LockId) {
        let held = self.threads[thread.index()].held.remove(&lock);
        let (section, mode, depth) = held.unwrap_or((None, LockMode::Exclusive, 1));
        let wait = WaitId(self.waits.len() as u32);
        let begin = self.step(index, thread, Sync::WaitBegin(wait, section));
        if let Some(section) = section {
            self.sections[section.index()].release = Some(begin);
        }
        self.waits.push((Wait { begin, end: None, need: WaitNeed::Nothing }, Wake::Spurious));
        grown(&mut self.conditions, condition).waits.push(wait);
        self.threads[thread.index()].wait = Some((wait, mode, depth));
    }

    fn end_wait(&mut self, index: u64, thread: ThreadId, lock: LockId, wake: Wake) {
        let Some((wait, mode, depth)) = self.threads[thread.index()].wait.take() else { return };
        let section = self.usage.is_contended(lock).then(|| self.section(thread, lock.raw(), mode));
        let end = self.step(index, thread, Sync::WaitEnd(wait, section));
        self.threads[thread.index()].held.insert(lock, (section, mode, depth));
        let (facts, known) = &mut self.waits[wait.index()];
        (facts.end, *known) = (Some(end), wake);
    }

    fn arrive(&mut self, index: u64, thread: ThreadId, barrier: BarrierId) {
        let step = self.step(index, thread, Sync::None);
        let facts = self.barriers.entry(barrier).or_default();
        if facts.generations.is_empty() || std::mem::take(&mut facts.is_closed) {
            facts.generations.push(Vec::new());
        }
        let generation = facts.generations.len() - 1;
        if let Some(before) = generation.checked_sub(1) {
            self.must.extend(facts.generations[before].iter().map(|arrival| (*arrival, step)));
        }
        facts.generations[generation].push(step);
        self.threads[thread.index()].arrivals.insert(barrier, generation);
    }

    fn leave(&mut self, index: u64, thread: ThreadId, barrier: BarrierId) {
        let step = self.step(index, thread, Sync::None);
        let Some(&generation) = self.threads[thread.index()].arrivals.get(&barrier) else { return };
        let facts = self.barriers.entry(barrier).or_default();
        facts.is_closed |= generation + 1 == facts.generations.len();
        self.must.extend(facts.generations[generation].iter().map(|arrival| (*arrival, step)));
    }

    fn begin_once(&mut self, index: u64, thread: ThreadId, once: OnceId) {
        let lock = (self.tables.lock_count() + once.index()) as u32;
        let section = self.section(thread, lock, LockMode::Exclusive);
        let step = self.step(index, thread, Sync::Acquire(section));
        self.sections[section.index()].acquire = step;
        self.threads[thread.index()].running.insert(once, section);
    }

    fn end_once(&mut self, index: u64, thread: ThreadId, once: OnceId) {
        let section = self.threads[thread.index()].running.remove(&once);
        let step = self.step(index, thread, section.map_or(Sync::None, Sync::Release));
        if let Some(section) = section {
            self.sections[section.index()].release = Some(step);
        }
        self.onces.entry(once).or_default().ends.push(step);
    }

    fn pass_once(&mut self, index: u64, thread: ThreadId, once: OnceId) {
        let ends = self.onces.entry(once).or_default().ends.clone();
        if ends.is_empty() {
            return;
        }
        if self.usage.runs(once) == 1 {
            let step = self.step(index, thread, Sync::None);
            self.must.push((ends[0], step));
        } else {
            self.step(index, thread, Sync::OncePass(once.raw()));
        }
    }

    fn finish(mut self, initial: InitialValues) -> Outline {
        self.must.sort_unstable_by_key(|(_, later)| *later);
        for (once, facts) in &self.onces {
            if facts.ends.len() > 1 {
                self.completions.insert(once.raw(), facts.ends.clone());
            }
        }
        let (waits, notices) = account_for(&self.waits, &self.conditions);
        let cells = cell_facts(&self.touches, self.memory.cells, initial);
        // An initialiser that was left by an exception has no end, and lets the next one begin.
        let abandoned: FxHashSet<SectionId> = self.locks[self.tables.lock_count().min(self.locks.len())..]
            .iter()
            .flat_map(|sections| sections.iter().rev().skip(1))
            .copied()
            .filter(|section| self.sections[section.index()].release.is_none())
            .collect();
        for sections in &mut self.locks {
            sections.retain(|section| !abandoned.contains(section));
        }
        for section in abandoned {
            self.steps[self.sections[section.index()].acquire.index()].sync = Sync::None;
        }
        let (threads, loose) = self.threads.into_iter().map(|thread| (thread.steps, thread.loose)).unzip();
        Outline {
            steps: self.steps,
            touches: self.touches,
            cells,
            threads,
            loose,
            dependences: self.dependences,
            sections: self.sections,
            locks: self.locks,
            waits,
            conditions: self.conditions,
            notices,
            semaphores: self.semaphores,
            completions: self.completions,
            must: self.must,
            steps_of: self.steps_of,
        }
    }
}

impl Thread {
    /// The next step relies on everything read so far.
    fn rely_on_all(&mut self) {
        self.relied_on.extend_from_slice(&self.loose[self.settled..]);
        self.settled = self.loose.len();
    }
}

/// Entry `index`, which may have to be made.
fn grown<T: Default + Clone>(all: &mut Vec<T>, index: usize) -> &mut T {
    if index >= all.len() {
        all.resize(index + 1, T::default());
    }
    &mut all[index]
}
