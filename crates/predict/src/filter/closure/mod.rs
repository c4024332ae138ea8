//! What the orders around three accesses come to.
//!
//! Looked at are the last steps of the trace up to the last of the three accesses, and of these the ones that a
//! schedule of the three cannot do without: what comes before them in their threads, the writes that reads must
//! find, and so on. They are ordered by program order, fork and join, the triple, and
//!
//! - a read r comes after the write w that it must find; if another write w' comes before r, then before w; if
//!   after w, then after r. If it could have found the same elsewhere, that is said only when no other place is
//!   left: a write is not what was found if it comes after the read, or is overwritten before it;
//! - of two sections of a lock, of which one has begun before the other has ended, it has ended before the other
//!   began.
//!
//! until nothing is new, or something comes before itself. For each step and thread it is enough to know how many
//! steps of that thread come before, since a thread's steps are in order.

mod reads;

use super::{Question, Rejection};
use interloper_trace::{EventIndex, LocationId, LockId, LockMode, ThreadId, Value};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// How many steps are looked at, if nobody says otherwise.
pub(super) const USUAL_STEPS: usize = 192;

/// The last steps of a trace.
pub(super) struct Recent {
    steps: VecDeque<Step>,
    most: usize,
}

struct Step {
    at: u64,
    thread: ThreadId,
    what: What,
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// It accesses a location that matters.
    Access(Access),
    Acquire(LockId, LockMode),
    Release(LockId),
    Fork(ThreadId),
    Join(ThreadId),
}

/// An access, as far as it says who must come before whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) location: LocationId,
    /// Where what it found came from, if it reads.
    pub(super) source: Option<Source>,
    /// What else it could have come from.
    pub(super) others: Others,
    /// What it found.
    pub(super) found: Value,
    /// Whether it writes, and what.
    pub(super) writes: bool,
    pub(super) left: Value,
    pub(super) is_rmw: bool,
}

/// Where what a read found came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Nobody had written before.
    Initial,
    /// This write.
    Write(u64),
}

/// Where else what a read found can have come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Others {
    /// How many other writes of the trace leave the same.
    pub(super) writes: u32,
    /// Whether it was there from the beginning, too.
    pub(super) initial: bool,
}

impl Others {
    pub(super) const NONE: Others = Others { writes: 0, initial: false };
}

impl Recent {
    /// So many steps at the most.
    pub(super) fn new(most: usize) -> Self {
        Recent { steps: VecDeque::new(), most }
    }

    pub(super) fn push(&mut self, at: u64, thread: ThreadId, what: What) {
        self.steps.push_back(Step { at, thread, what });
        if self.steps.len() > self.most {
            self.steps.pop_front();
        }
    }

    /// Why no schedule of these three accesses can keep all orders that it must, if they are recent.
    pub(super) fn refute(&self, question: &Question) -> Option<Rejection> {
        let find = |at: u64| self.steps.binary_search_by_key(&at, |step| step.at).ok();
        let triple = [find(question.first)?, find(question.remote)?, find(question.second)?];
        let kept = [true, question.remote_is_kept, question.second_is_kept];
        Closure::new(&self.steps, triple, kept).refute()
    }
}

/// A step, by its place among the recent ones.
type Node = usize;

struct Closure<'s> {
    steps: &'s VecDeque<Step>,
    triple: [Node; 3],
    /// Whether the accesses of the triple must find what they found, if nothing of their thread comes after.
    kept: [bool; 3],
    /// For each step its thread, in numbers from zero, and its place there.
    places: Vec<(usize, usize)>,
    /// For each thread its steps.
    threads: Vec<Vec<Node>>,
    numbers: FxHashMap<ThreadId, usize>,
    /// How many of them a schedule cannot do without.
    needed: Vec<usize>,
    /// How many of these were already asked what they need.
    asked: Vec<usize>,
    /// The step that forks each thread.
    forks: Vec<Option<Node>>,
    /// For each step, how many steps of each thread come before.
    before: Vec<usize>,
    edges: Vec<(Node, Node)>,
    /// For each step that must find what it found where that must come from, as soon as it is known.
    sources: Vec<Option<ReadFrom>>,
    /// The accesses of each location.
    accesses: FxHashMap<LocationId, Vec<Node>>,
    /// Something was found to come before a read, other than by edges.
    has_followed: bool,
}

/// Where what a read found must come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadFrom {
    Initial,
    Write(Node),
    /// Something further back.
    Older,
}

impl<'s> Closure<'s> {
    fn new(steps: &'s VecDeque<Step>, triple: [Node; 3], kept: [bool; 3]) -> Self {
        let mut numbers = FxHashMap::default();
        let mut threads: Vec<Vec<Node>> = Vec::new();
        let mut places = Vec::with_capacity(steps.len());
        let mut accesses: FxHashMap<LocationId, Vec<Node>> = FxHashMap::default();
        for (node, step) in steps.iter().enumerate() {
            if let What::Access(access) = step.what {
                accesses.entry(access.location).or_default().push(node);
            }
            let thread = *numbers.entry(step.thread).or_insert(threads.len());
            if thread == threads.len() {
                threads.push(Vec::new());
            }
            places.push((thread, threads[thread].len()));
            threads[thread].push(node);
        }
        let mut forks = vec![None; threads.len()];
        for (node, step) in steps.iter().enumerate() {
            if let What::Fork(child) = step.what
                && let Some(child) = numbers.get(&child)
            {
                forks[*child] = Some(node);
            }
        }
        let count = threads.len();
        let before = vec![0; count * steps.len()];
        let (needed, asked) = (vec![0; count], vec![0; count]);
        let [first, remote, second] = triple;
        let edges = vec![(first, remote), (remote, second)];
        let sources = vec![None; steps.len()];
        let mut closure = Closure {
            steps,
            triple,
            kept,
            places,
            threads,
            numbers,
            needed,
            asked,
            forks,
            before,
            edges,
            sources,
            accesses,
            has_followed: false,
        };
        closure.need(second);
        closure.need(remote);
        closure
    }

    fn refute(mut self) -> Option<Rejection> {
        loop {
            self.need_all();
            if let Some(node) = self.propagate() {
                return Some(Rejection::Cycle(self.way_round(node)));
            }
            let known = (self.edges.len(), self.needed.clone());
            if let Some(read) = self.settle_reads() {
                return Some(Rejection::NoSource(EventIndex(self.steps[read].at)));
            }
            self.order_accesses();
            self.order_sections();
            let has_followed = std::mem::take(&mut self.has_followed);
            if !has_followed && known == (self.edges.len(), self.needed.clone()) {
                return None;
            }
        }
    }

    fn need(&mut self, node: Node) {
        let (thread, place) = self.places[node];
        self.needed[thread] = self.needed[thread].max(place + 1);
    }

    /// Whether nothing of its thread comes after it, so that it may read anything.
    fn is_last(&self, node: Node) -> bool {
        let (thread, place) = self.places[node];
        let is_free = |role: usize| node == self.triple[role] && !self.kept[role];
        (is_free(1) || is_free(2)) && place + 1 == self.needed[thread]
    }

    /// Adds what the needed steps need, and what they must come after.
    fn need_all(&mut self) {
        while let Some(thread) = (0..self.threads.len()).find(|thread| self.asked[*thread] < self.to_ask(*thread)) {
            let node = self.threads[thread][self.asked[thread]];
            self.asked[thread] += 1;
            self.ask(node);
        }
        for thread in 0..self.threads.len() {
            if self.needed[thread] > 0
                && let Some(fork) = self.forks[thread].take()
            {
                self.edges.push((fork, self.threads[thread][0]));
                self.need(fork);
                return self.need_all();
            }
        }
    }

    /// How many steps of a thread must find what they found.
    fn to_ask(&self, thread: usize) -> usize {
        let needed = self.needed[thread];
        let is_last = needed > 0 && self.is_last(self.threads[thread][needed - 1]);
        needed - usize::from(is_last)
    }

    fn ask(&mut self, node: Node) {
        match self.steps[node].what {
            What::Access(access) if access.others == Others::NONE => match access.source {
                None => {}
                Some(Source::Initial) => self.settle(node, ReadFrom::Initial),
                Some(Source::Write(at)) => {
                    let write = self.steps.binary_search_by_key(&at, |step| step.at);
                    self.settle(node, write.map_or(ReadFrom::Older, ReadFrom::Write));
                }
            },
            What::Join(child) => {
                if let Some(child) = self.numbers.get(&child)
                    && let Some(last) = self.threads[*child].iter().rfind(|last| **last < node)
                {
                    let last = *last;
                    self.edges.push((last, node));
                    self.need(last);
                }
            }
            _ => {}
        }
    }

    /// Carries what comes before each step on to what comes after it; a step that comes before itself, if there
    /// is one.
    fn propagate(&mut self) -> Option<Node> {
        loop {
            let mut has_changed = false;
            for thread in 0..self.threads.len() {
                for place in 1..self.needed[thread] {
                    let (previous, node) = (self.threads[thread][place - 1], self.threads[thread][place]);
                    has_changed |= self.come_before(previous, node);
                }
            }
            for at in 0..self.edges.len() {
                let (earlier, later) = self.edges[at];
                has_changed |= self.come_before(earlier, later);
            }
            let runs_into_itself = |node: &Node| {
                let (thread, place) = self.places[*node];
                place < self.needed[thread] && self.count(*node, thread) > place
            };
            if let Some(node) = (0..self.steps.len()).find(runs_into_itself) {
                return Some(node);
            }
            if !has_changed {
                return None;
            }
        }
    }

    /// How many steps of a thread come before a step.
    fn count(&self, node: Node, thread: usize) -> usize {
        self.before[node * self.threads.len() + thread]
    }

    fn precedes(&self, earlier: Node, later: Node) -> bool {
        let (thread, place) = self.places[earlier];
        self.count(later, thread) > place
    }

    /// One step comes before another, and all that comes before it; whether that is news.
    fn come_before(&mut self, earlier: Node, later: Node) -> bool {
        let width = self.threads.len();
        let mut is_news = false;
        for thread in 0..width {
            let new = self.before[earlier * width + thread];
            let known = &mut self.before[later * width + thread];
            is_news |= new > *known;
            *known = new.max(*known);
        }
        let (thread, place) = self.places[earlier];
        let known = &mut self.before[later * width + thread];
        is_news |= place >= *known;
        *known = (place + 1).max(*known);
        is_news
    }

    fn order(&mut self, earlier: Node, later: Node) {
        if !self.precedes(earlier, later) {
            self.edges.push((earlier, later));
        }
    }

    /// Sections of the same lock against each other.
    fn order_sections(&mut self) {
        let sections = self.sections();
        for (lock, own) in sections.iter().flat_map(|(lock, all)| all.iter().map(move |own| (lock, own))) {
            let (thread, _) = self.places[own.begin];
            let inside = match own.end {
                Some(end) if self.places[end].1 < self.needed[thread] => end,
                _ => self.threads[thread][self.needed[thread] - 1],
            };
            for other_thread in (0..self.threads.len()).filter(|other| *other != thread) {
                let begun = self.count(inside, other_thread);
                let others = sections[lock].iter().filter(|other| self.places[other.begin].0 == other_thread);
                let last = others
                    .filter(|other| self.places[other.begin].1 < begun)
                    .rfind(|other| own.mode == LockMode::Exclusive || other.mode == LockMode::Exclusive);
                if let Some(end) = last.and_then(|other| other.end) {
                    self.need(end);
                    self.order(end, own.begin);
                }
            }
        }
    }

    /// The sections that have begun in what is needed, in order.
    fn sections(&self) -> FxHashMap<LockId, Vec<LockSection>> {
        let mut sections: FxHashMap<LockId, Vec<LockSection>> = FxHashMap::default();
        for (thread, nodes) in self.threads.iter().enumerate() {
            let mut open: FxHashMap<LockId, usize> = FxHashMap::default();
            for (place, node) in nodes.iter().enumerate() {
                match self.steps[*node].what {
                    What::Acquire(lock, mode) if place < self.needed[thread] => {
                        let sections = sections.entry(lock).or_default();
                        open.insert(lock, sections.len());
                        sections.push(LockSection { begin: *node, end: None, mode });
                    }
                    What::Release(lock) => {
                        if let Some(at) = open.remove(&lock) {
                            sections.entry(lock).or_default()[at].end = Some(*node);
                        }
                    }
                    _ => {}
                }
            }
        }
        sections
    }

    /// A way from a step back to it, as the events at which the thread changes.
    fn way_round(&self, node: Node) -> Vec<EventIndex> {
        let mut from: Vec<Option<Node>> = vec![None; self.steps.len()];
        let mut queue = VecDeque::from([node]);
        'search: while let Some(at) = queue.pop_front() {
            let (thread, place) = self.places[at];
            let next = (place + 1 < self.needed[thread]).then(|| self.threads[thread][place + 1]);
            let across = self.edges.iter().filter(|(earlier, _)| *earlier == at).map(|(_, later)| *later);
            for later in across.chain(next) {
                if from[later].is_none() {
                    from[later] = Some(at);
                    if later == node {
                        break 'search;
                    }
                    queue.push_back(later);
                }
            }
        }
        if from[node].is_none() {
            // It takes more than edges to get there.
            return self.triple.map(|node| EventIndex(self.steps[node].at)).to_vec();
        }
        let mut way = vec![node];
        while let Some(at) = from[way[way.len() - 1]].filter(|at| *at != node) {
            way.push(at);
        }
        way.reverse();
        self.corners(&way)
    }

    /// Leaves out what lies within a thread.
    fn corners(&self, way: &[Node]) -> Vec<EventIndex> {
        let thread = |at: usize| self.places[way[at % way.len()]].0;
        let is_corner = |at: &usize| {
            let (before, own, after) = (thread(at + way.len() - 1), thread(*at), thread(at + 1));
            before != own || own != after
        };
        let mut events: Vec<EventIndex> =
            (0..way.len()).filter(is_corner).map(|at| EventIndex(self.steps[way[at]].at)).collect();
        let least = (0..events.len()).min_by_key(|at| events[*at]).unwrap_or(0);
        events.rotate_left(least);
        events
    }
}

struct LockSection {
    begin: Node,
    end: Option<Node>,
    mode: LockMode,
}
