//! Algorithm 1 of the paper, for all questions in one pass.
//!
//! Thread 1 has the region, thread 2 the remote access. The algorithm asks four things, each of which can be
//! answered as the trace goes by:
//!
//! - Lines 5, 8 and 22: the first read of one thread that finds what the other wrote at a given position or later.
//!   Reads come in order, so the first that does answers all such questions with a lower bound at once.
//! - Line 14: a read of the region whose location thread 2 writes before its access `prev`. Of each location the
//!   region's first read is enough; they are kept until `prev` goes by.
//! - Line 29: a read of the region after a write of thread 2 that comes after its access `next`. Noted at each read
//!   of the region.
//!
//! A branch stands before every event if the trace has no branch events.

use super::{Question, Rejection};
use interloper_model::access_of;
use interloper_trace::{Event, EventIndex, LocationId, Op, ThreadId};
use rustc_hash::FxHashMap;

/// The accesses of the remote access's thread to its location that come before and after it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbours {
    pub(super) prev: Option<u64>,
    pub(super) next: Option<u64>,
}

/// The pass.
pub(super) struct Paper {
    questions: Vec<Question>,
    rejections: Vec<Option<Rejection>>,
    /// What is to be done, last first, by position.
    agenda: Vec<(u64, Task)>,
    /// Questions about what one thread reads of another: writer, reader.
    flows: FxHashMap<(ThreadId, ThreadId), Flow>,
    /// For each location, its last write and who did it.
    last_writes: Vec<Option<(u64, ThreadId)>>,
    /// The same for each thread by itself, of those that have remote accesses.
    writes_of: FxHashMap<(ThreadId, LocationId), u64>,
    is_remote: Vec<bool>,
    threads: Vec<ThreadState>,
    windows: Vec<Window>,
    has_branches: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// Before the event: the region's second access comes.
    Close(usize),
    /// Before the event: the region's first access comes.
    Open(usize),
    /// After the event: the remote thread's access before the remote one has come.
    Prev { question: usize, window: usize },
}

/// First reads of what was written at some position or later.
#[derive(Default)]
struct Flow {
    /// The bounds asked for, greatest first, and who asks for what.
    pending: Vec<(u64, usize, Ask)>,
}

/// What a question asks of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ask {
    /// Line 5: up to here.
    Line5(u64),
    /// Line 8: before here.
    Line8(u64),
    /// Line 22: up to here.
    Line22(u64),
}

/// From the first to the second access of a region.
struct Window {
    thread: ThreadId,
    first: u64,
    second: u64,
    /// Its questions of line 29, with `next`.
    line29: Vec<(usize, u64)>,
    /// How many questions of line 14 are not settled.
    line14: usize,
    /// Questions of line 14 that came to a read and a write before the window's end.
    early: Vec<(usize, u64, u64)>,
    /// Its first read of each location, as far as a branch follows, once it is closed.
    reads: Vec<(u64, LocationId)>,
}

#[derive(Default)]
struct ThreadState {
    /// Windows that are open.
    open: usize,
    /// Reads since the first of these began.
    reads: Vec<(u64, LocationId)>,
    /// For each thread that the open windows ask about, the reads of what it wrote: thread, read, write.
    after_writes: Vec<(ThreadId, u64, u64)>,
    asked_about: Vec<(ThreadId, usize)>,
    /// A branch was passed since the last event.
    branch: bool,
    /// The last event with a branch before it.
    last_branched: Option<u64>,
}

impl Paper {
    pub(super) fn new(questions: Vec<Question>, neighbours: &FxHashMap<u64, Neighbours>, has_branches: bool) -> Self {
        let mut paper = Paper {
            rejections: vec![None; questions.len()],
            agenda: Vec::new(),
            flows: FxHashMap::default(),
            last_writes: Vec::new(),
            writes_of: FxHashMap::default(),
            is_remote: Vec::new(),
            threads: Vec::new(),
            windows: Vec::new(),
            has_branches,
            questions: Vec::new(),
        };
        let mut windows = FxHashMap::default();
        for (at, question) in questions.iter().enumerate().filter(|(_, question)| !question.is_observed()) {
            let neighbours = neighbours.get(&question.remote).copied().unwrap_or_default();
            paper.ask(at, question, neighbours, &mut windows);
        }
        paper.agenda.sort_unstable_by_key(|task| std::cmp::Reverse(*task));
        for flow in paper.flows.values_mut() {
            flow.pending.sort_unstable_by_key(|ask| std::cmp::Reverse(*ask));
        }
        Paper { questions, ..paper }
    }

    fn ask(
        &mut self,
        at: usize,
        question: &Question,
        neighbours: Neighbours,
        windows: &mut FxHashMap<(u64, u64), usize>,
    ) {
        let Question { first, remote, second, local_thread, remote_thread, .. } = *question;
        if remote_thread.index() >= self.is_remote.len() {
            self.is_remote.resize(remote_thread.index() + 1, false);
        }
        self.is_remote[remote_thread.index()] = true;
        if remote > first {
            let flow = self.flows.entry((local_thread, remote_thread)).or_default();
            flow.pending.push((second + 1, at, Ask::Line8(remote)));
            let Some(prev) = neighbours.prev.filter(|prev| *prev > first) else { return };
            flow.pending.push((first + 1, at, Ask::Line5(prev)));
            let window = self.window(local_thread, first, second, windows);
            self.windows[window].line14 += 1;
            self.agenda.push((prev, Task::Prev { question: at, window }));
        } else {
            let flow = self.flows.entry((remote_thread, local_thread)).or_default();
            flow.pending.push((remote, at, Ask::Line22(first)));
            let Some(next) = neighbours.next.filter(|next| *next < second) else { return };
            let window = self.window(local_thread, first, second, windows);
            self.windows[window].line29.push((at, next));
        }
    }

    fn window(
        &mut self,
        thread: ThreadId,
        first: u64,
        second: u64,
        windows: &mut FxHashMap<(u64, u64), usize>,
    ) -> usize {
        *windows.entry((first, second)).or_insert_with(|| {
            let window = self.windows.len();
            let (line29, early, reads) = (Vec::new(), Vec::new(), Vec::new());
            self.windows.push(Window { thread, first, second, line29, line14: 0, early, reads });
            self.agenda.push((first, Task::Open(window)));
            self.agenda.push((second, Task::Close(window)));
            window
        })
    }

    #[inline]
    pub(super) fn observe(&mut self, index: u64, event: &Event) {
        let thread = event.thread;
        if thread.index() >= self.threads.len() {
            self.threads.resize_with(thread.index() + 1, ThreadState::default);
        }
        while let Some(&(at, task)) = self.agenda.last()
            && at == index
            && !matches!(task, Task::Prev { .. })
        {
            self.agenda.pop();
            match task {
                Task::Open(window) => self.open(window),
                Task::Close(window) => self.close(window),
                Task::Prev { .. } => {}
            }
        }
        let state = &mut self.threads[thread.index()];
        if let Op::Branch { count } = event.op {
            state.branch |= count > 0;
            return;
        }
        if std::mem::take(&mut state.branch) || !self.has_branches {
            state.last_branched = Some(index);
        }
        if let Some((location, kind)) = access_of(&event.op) {
            if kind.reads() {
                self.read(index, thread, location);
            }
            if kind.writes() {
                self.write(index, thread, location);
            }
        }
        while let Some(&(at, Task::Prev { question, window })) = self.agenda.last()
            && at == index
        {
            self.agenda.pop();
            self.line14(index, question, window);
        }
    }

    pub(super) fn finish(self) -> Vec<Option<Rejection>> {
        self.rejections
    }

    fn read(&mut self, index: u64, thread: ThreadId, location: LocationId) {
        if let Some(Some((write, writer))) = self.last_writes.get(location.index()).copied()
            && writer != thread
        {
            self.flow(writer, thread, write, index);
        }
        let state = &mut self.threads[thread.index()];
        if state.open > 0 {
            state.reads.push((index, location));
            for (remote, _) in &state.asked_about {
                if let Some(write) = self.writes_of.get(&(*remote, location)) {
                    state.after_writes.push((*remote, index, *write));
                }
            }
        }
    }

    fn write(&mut self, index: u64, thread: ThreadId, location: LocationId) {
        if location.index() >= self.last_writes.len() {
            self.last_writes.resize(location.index() + 1, None);
        }
        self.last_writes[location.index()] = Some((index, thread));
        if self.is_remote.get(thread.index()).copied().unwrap_or(false) {
            self.writes_of.insert((thread, location), index);
        }
    }

    /// A thread reads what another wrote: all that waited for a read of something written so late are answered.
    fn flow(&mut self, writer: ThreadId, reader: ThreadId, write: u64, read: u64) {
        let Some(flow) = self.flows.get_mut(&(writer, reader)) else { return };
        while let Some(&(bound, question, ask)) = flow.pending.last()
            && bound <= write
        {
            flow.pending.pop();
            let (lemma, case, breaks) = match ask {
                Ask::Line5(until) => (1, 2, read <= until),
                Ask::Line8(before) => (1, 1, read < before),
                Ask::Line22(until) => (2, 1, read <= until),
            };
            if breaks {
                self.rejections[question].get_or_insert(lemma_case(lemma, case, read, write));
            }
        }
    }

    fn open(&mut self, window: usize) {
        let window = &self.windows[window];
        let state = &mut self.threads[window.thread.index()];
        state.open += 1;
        for remote in window.line29.iter().map(|(question, _)| self.questions[*question].remote_thread) {
            match state.asked_about.iter_mut().find(|(thread, _)| *thread == remote) {
                Some((_, count)) => *count += 1,
                None => state.asked_about.push((remote, 1)),
            }
        }
    }

    fn close(&mut self, at: usize) {
        let window = &mut self.windows[at];
        let state = &mut self.threads[window.thread.index()];
        let branch = state.last_branched.unwrap_or(0);
        for &(question, next) in &window.line29 {
            let remote = self.questions[question].remote_thread;
            let from = state.after_writes.partition_point(|(_, read, _)| *read <= window.first);
            let broken = state.after_writes[from..]
                .iter()
                .take_while(|(_, read, _)| *read < branch)
                .find(|(thread, _, write)| *thread == remote && *write > next);
            if let Some(&(_, read, write)) = broken {
                self.rejections[question].get_or_insert(lemma_case(2, 2, read, write));
            }
            state.asked_about.retain_mut(|(thread, count)| {
                *count -= usize::from(*thread == remote);
                *count > 0
            });
        }
        for (question, read, write) in window.early.drain(..) {
            if read < branch {
                self.rejections[question].get_or_insert(lemma_case(1, 3, read, write));
            }
        }
        if window.line14 > 0 {
            let from = state.reads.partition_point(|(read, _)| *read < window.first);
            let mut known = rustc_hash::FxHashSet::default();
            let reads = state.reads[from..].iter().take_while(|(read, _)| *read < branch);
            window.reads = reads.filter(|(_, location)| known.insert(*location)).copied().collect();
        }
        state.open -= 1;
        if state.open == 0 {
            state.reads.clear();
            state.after_writes.clear();
        }
    }

    /// The remote thread has come to its access before the remote one.
    fn line14(&mut self, prev: u64, question: usize, at: usize) {
        let window = &mut self.windows[at];
        let remote = self.questions[question].remote_thread;
        let is_closed = prev > window.second;
        let reads = if is_closed {
            &window.reads[..]
        } else {
            let reads = &self.threads[window.thread.index()].reads;
            &reads[reads.partition_point(|(read, _)| *read < window.first)..]
        };
        let broken = reads.iter().find_map(|&(read, location)| {
            let write = self.writes_of.get(&(remote, location)).copied()?;
            (write > read).then_some((read, write))
        });
        window.line14 -= 1;
        if window.line14 == 0 && is_closed {
            window.reads = Vec::new();
        }
        let Some((read, write)) = broken else { return };
        if is_closed {
            self.rejections[question].get_or_insert(lemma_case(1, 3, read, write));
        } else {
            window.early.push((question, read, write));
        }
    }
}

fn lemma_case(lemma: u8, case: u8, read: u64, write: u64) -> Rejection {
    Rejection::Lemma { lemma, case, read: EventIndex(read), write: EventIndex(write) }
}
