//! Orders that every schedule keeps, for all questions in one pass.
//!
//! For each thread a clock: of every other thread, which of its events must have happened by now, whatever
//! the schedule, if this thread's reads so far found what they found. It grows by
//!
//! - fork and join;
//! - a read that can have come from one write only: all that must precede that write, and the write. What a plain
//!   write leaves depends on all earlier reads of its thread, so these found what they found;
//! - a lock that is held: if another thread's section of that lock must have begun, it must have ended. Only the
//!   last section of each thread is remembered, which may miss something.
//!
//! A read whose value is bound to an expression may find anything as long as nothing depends on that, which is not
//! looked into: such reads say nothing here.
//!
//! A region's first access must find what it found, since the second follows; the remote access and the second
//! may find anything. So a triple has no schedule if the remote access must precede the first one *with* what that
//! one reads, or the second must precede the remote one *without*.
//!
//! The solver's crate has such clocks, too, by bytes and in memory (`decide::forced`); these hold no trace.

use super::closure::{Access, Others, Recent, Source, What};
use super::survey::Locations;
use super::{Question, Rejection};
use interloper_model::{AccessKind, HeldLocks, LockChange, access_of};
use interloper_trace::{Event, EventIndex, LocationId, LockId, LockMode, Op, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// For each thread, the position after the last of its events that must have happened; shared until it changes.
type Clock = Arc<Vec<u64>>;

/// The pass.
pub(super) struct Sound {
    questions: Vec<Question>,
    rejections: Vec<Option<Rejection>>,
    locations: Locations,
    /// Accesses whose value read is bound.
    bound: FxHashSet<u64>,
    /// What is to be looked at, last first, by position.
    agenda: Vec<(u64, Look, usize)>,
    threads: Vec<ThreadState>,
    /// The last write of each location.
    writes: Vec<Option<LastWrite>>,
    /// The last section of each lock, by thread.
    sections: FxHashMap<LockId, Vec<(ThreadId, Section)>>,
    recent: Recent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    /// Before the event: must the second access precede the remote one?
    AtRemote,
    /// After it: the same, if the remote access must find what it found.
    AfterRemote,
    /// After it: must the remote access precede the first one?
    AtFirst,
    /// After it: all three accesses are known.
    AtLast,
}

#[derive(Default)]
struct ThreadState {
    clock: Clock,
    held: HeldLocks,
    /// When the locks held were taken.
    taken: Vec<(LockId, u64)>,
    /// The position after its last event.
    until: u64,
}

struct LastWrite {
    at: u64,
    thread: ThreadId,
    value: Value,
    clock: Clock,
}

struct Section {
    begin: u64,
    end: u64,
    mode: LockMode,
    clock: Clock,
}

impl Sound {
    /// A pass that looks at so many steps around each question.
    pub(super) fn new(
        questions: Vec<Question>,
        locations: Locations,
        bound: FxHashSet<u64>,
        surroundings: usize,
    ) -> Self {
        let mut agenda = Vec::new();
        for (at, question) in questions.iter().enumerate().filter(|(_, question)| !question.is_observed()) {
            if question.remote < question.first {
                agenda.push((question.first, Look::AtFirst, at));
            } else {
                let look = if question.remote_is_kept { Look::AfterRemote } else { Look::AtRemote };
                agenda.push((question.remote, look, at));
            }
            agenda.push((question.second.max(question.remote), Look::AtLast, at));
        }
        agenda.sort_unstable_by_key(|look| std::cmp::Reverse(*look));
        Sound {
            rejections: vec![None; questions.len()],
            questions,
            locations,
            bound,
            agenda,
            threads: Vec::new(),
            writes: Vec::new(),
            sections: FxHashMap::default(),
            recent: Recent::new(surroundings),
        }
    }

    #[inline]
    pub(super) fn observe(&mut self, index: u64, event: &Event) {
        let thread = event.thread;
        self.know(thread);
        if matches!(self.agenda.last(), Some((at, Look::AtRemote, _)) if *at == index) {
            self.look_before(index);
        }
        if let Some((location, kind)) = access_of(&event.op) {
            if self.locations.matters(location) {
                self.access(index, event, location, kind);
            }
        } else {
            self.synchronise(index, event);
        }
        self.threads[thread.index()].until = index + 1;
        while matches!(self.agenda.last(), Some((at, ..)) if *at == index) {
            let Some((_, look, question)) = self.agenda.pop() else { return };
            self.look_after(look, question);
        }
    }

    pub(super) fn finish(self) -> Vec<Option<Rejection>> {
        self.rejections
    }

    fn know(&mut self, thread: ThreadId) {
        if thread.index() >= self.threads.len() {
            self.threads.resize_with(thread.index() + 1, ThreadState::default);
        }
    }

    fn look_before(&mut self, index: u64) {
        while let Some(&(at, Look::AtRemote, question)) = self.agenda.last()
            && at == index
        {
            self.agenda.pop();
            self.look_at_remote(question);
        }
    }

    fn look_at_remote(&mut self, question: usize) {
        let Question { second, remote, local_thread, remote_thread, .. } = self.questions[question];
        if self.must_precede(local_thread, second, remote_thread) {
            let (earlier, later) = (EventIndex(second), EventIndex(remote));
            self.rejections[question] = Some(Rejection::Ordered { earlier, later });
        }
    }

    fn look_after(&mut self, look: Look, question: usize) {
        let Question { first, remote, local_thread, remote_thread, .. } = self.questions[question];
        match look {
            Look::AtRemote | Look::AfterRemote => self.look_at_remote(question),
            Look::AtFirst => {
                if self.must_precede(remote_thread, remote, local_thread) {
                    let (earlier, later) = (EventIndex(remote), EventIndex(first));
                    self.rejections[question] = Some(Rejection::Ordered { earlier, later });
                }
            }
            // A cycle says more than that two events are ordered.
            Look::AtLast => {
                if let Some(rejection) = self.recent.refute(&self.questions[question]) {
                    self.rejections[question] = Some(rejection);
                }
            }
        }
    }

    /// Whether an event of one thread must have happened by now in another.
    fn must_precede(&self, thread: ThreadId, at: u64, now: ThreadId) -> bool {
        self.threads[now.index()].clock.get(thread.index()).is_some_and(|until| *until > at)
    }

    fn access(&mut self, index: u64, event: &Event, location: LocationId, kind: AccessKind) {
        let (read, written) = match event.op {
            Op::Read(access) => (access.value, Value::UNKNOWN),
            Op::Write(access) => (Value::UNKNOWN, access.value),
            Op::ReadModifyWrite(rmw) => (rmw.read, rmw.written),
            _ => return,
        };
        if location.index() >= self.writes.len() {
            self.writes.resize_with(location.index() + 1, || None);
        }
        let is_rmw = matches!(event.op, Op::ReadModifyWrite(_));
        let is_told = kind.reads() && (is_rmw || !self.bound.contains(&index));
        let (source, others) = if is_told { self.find(event.thread, location, read) } else { (None, Others::NONE) };
        let access = Access { location, source, others, found: read, writes: kind.writes(), left: written, is_rmw };
        self.recent.push(index, event.thread, What::Access(access));
        if kind.writes() {
            let clock = Arc::clone(&self.threads[event.thread.index()].clock);
            self.writes[location.index()] = Some(LastWrite { at: index, thread: event.thread, value: written, clock });
        }
    }

    /// A read finds something: where that came from, and could have come from.
    fn find(&mut self, thread: ThreadId, location: LocationId, found: Value) -> (Option<Source>, Others) {
        let write = self.writes[location.index()].as_ref();
        let others = self.locations.others(location, found, write.map(|write| write.value));
        let Some(write) = write else { return (Some(Source::Initial), others) };
        let source = Source::Write(write.at);
        let (writer, at, clock) = (write.thread, write.at, Arc::clone(&write.clock));
        if others == Others::NONE && writer != thread && self.include(thread, writer, at, &clock) {
            let held: Vec<_> = self.threads[thread.index()].held.iter().collect();
            for (lock, mode) in held {
                self.end_sections(thread, lock, mode);
            }
        }
        (Some(source), others)
    }

    fn synchronise(&mut self, index: u64, event: &Event) {
        let thread = event.thread;
        let state = &mut self.threads[thread.index()];
        let change = match event.op {
            Op::Acquire { lock, mode, .. } => state.held.acquire(lock, mode),
            Op::Release { lock, .. } => state.held.release(lock),
            Op::WaitBegin { lock, .. } => state.held.wait_begin(lock),
            Op::WaitEnd { lock, .. } => state.held.wait_end(lock),
            Op::Fork(child) => {
                self.recent.push(index, thread, What::Fork(child));
                self.know(child);
                let clock = Arc::clone(&self.threads[thread.index()].clock);
                self.include(child, thread, index, &clock);
                return;
            }
            Op::Join(child) => {
                self.know(child);
                let ThreadState { clock, until, .. } = &self.threads[child.index()];
                if let Some(last) = until.checked_sub(1) {
                    let clock = Arc::clone(clock);
                    self.recent.push(index, thread, What::Join(child));
                    self.include(thread, child, last, &clock);
                }
                return;
            }
            _ => return,
        };
        match change {
            LockChange::None => {}
            LockChange::Acquired(lock, mode) => {
                state.taken.push((lock, index));
                self.recent.push(index, thread, What::Acquire(lock, mode));
                self.end_sections(thread, lock, mode);
            }
            LockChange::Released { lock, mode, .. } => {
                self.recent.push(index, thread, What::Release(lock));
                self.leave(index, thread, lock, mode);
            }
        }
    }

    /// A section ends.
    fn leave(&mut self, index: u64, thread: ThreadId, lock: LockId, mode: LockMode) {
        let state = &mut self.threads[thread.index()];
        let Some(at) = state.taken.iter().rposition(|(taken, _)| *taken == lock) else { return };
        let (_, begin) = state.taken.remove(at);
        let section = Section { begin, end: index, mode, clock: Arc::clone(&state.clock) };
        let sections = self.sections.entry(lock).or_default();
        match sections.iter_mut().find(|(other, _)| *other == thread) {
            Some((_, last)) => *last = section,
            None => sections.push((thread, section)),
        }
    }

    /// A thread holds a lock: sections of others that must have begun must have ended.
    fn end_sections(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        loop {
            let clock = &self.threads[thread.index()].clock;
            let known = |other: ThreadId| clock.get(other.index()).copied().unwrap_or(0);
            let ended = self.sections.get(&lock).into_iter().flatten().find(|(other, section)| {
                let excludes = mode == LockMode::Exclusive || section.mode == LockMode::Exclusive;
                *other != thread && excludes && section.begin < known(*other) && section.end >= known(*other)
            });
            let Some((other, section)) = ended else { return };
            let (other, end, clock) = (*other, section.end, Arc::clone(&section.clock));
            self.include(thread, other, end, &clock);
        }
    }

    /// An event of another thread must have happened, and what must precede it; whether that is news.
    fn include(&mut self, thread: ThreadId, other: ThreadId, at: u64, clock: &Clock) -> bool {
        let own = &mut self.threads[thread.index()].clock;
        if own.get(other.index()).is_some_and(|until| *until > at) {
            return false;
        }
        let own = Arc::make_mut(own);
        own.resize(own.len().max(clock.len()).max(other.index() + 1), 0);
        own.iter_mut().zip(clock.iter()).for_each(|(known, new)| *known = (*known).max(*new));
        own[other.index()] = own[other.index()].max(at + 1);
        true
    }
}
