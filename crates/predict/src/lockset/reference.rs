//! The lockset analysis, slow and obvious, twice.
//!
//! - [`by_schedules`] explores every lock-respecting order of the threads' events and notes which
//!   triples it meets. This is what "possible" should mean; it knows nothing of lock states.
//! - [`by_definition`] tests every triple by the definition in the [module header](super), with
//!   plain maps and an explicit order relation. This is what the fast analysis claims to compute.
//!
//! Both share no code with it but the patterns. They take small traces only.

use interloper_model::{Pattern, RegionSources, access_of};
use interloper_trace::{Event, LockId, LockMode, Op, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// Three positions in the trace: first, remote, second.
pub type Indices = (usize, usize, usize);

/// Every triple that some schedule shows.
pub fn by_schedules(events: &[Event], sources: RegionSources) -> BTreeSet<Indices> {
    let program = Program::new(events, sources);
    let start = vec![0; program.threads.len()];
    let mut seen = BTreeSet::from([start.clone()]);
    let mut todo = vec![start];
    let mut found = BTreeSet::new();
    while let Some(cut) = todo.pop() {
        for thread in 0..cut.len() {
            if !program.enabled(&cut, thread) {
                continue;
            }
            let remote = program.threads[thread][cut[thread]];
            for local in (0..cut.len()).filter(|&local| local != thread) {
                let (done, to_come) = program.threads[local].split_at(cut[local]);
                for &first in done {
                    for &second in to_come {
                        if program.is_triple(first, remote, second) {
                            found.insert((first, remote, second));
                        }
                    }
                }
            }
            let mut next = cut.clone();
            next[thread] += 1;
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    found
}

/// Every triple that has a witness position.
pub fn by_definition(events: &[Event], sources: RegionSources) -> BTreeSet<Indices> {
    witnesses(events, sources).into_iter().map(|(_, triple)| triple).collect()
}

/// The lock states of a witness as text, with the two threads: what representatives are told apart by.
pub type WitnessKey = (u32, u32, String, String);

/// Every triple with every witness position it has.
pub fn witnesses(events: &[Event], sources: RegionSources) -> Vec<(WitnessKey, Indices)> {
    let program = Program::new(events, sources);
    let must_precede = program.must_precede();
    let states: Vec<NaiveState> = (0..events.len()).map(|at| program.lock_state_after(at)).collect();
    let later = |at: usize| {
        let thread = events[at].thread;
        (at + 1..events.len()).filter(move |&other| events[other].thread == thread)
    };
    let mut found = Vec::new();
    for (first, remote, second) in program.triples() {
        for position in (first..second).filter(|&position| events[position].thread == events[first].thread) {
            let reachable = compatible(&states[position], &states[remote])
                && !must_precede[remote][position]
                && !later(position).any(|missing| must_precede[missing][remote])
                && !later(remote).any(|missing| must_precede[missing][position]);
            if reachable {
                let threads = (events[first].thread.raw(), events[remote].thread.raw());
                let key = (threads.0, threads.1, describe(&states[position]), describe(&states[remote]));
                found.push((key, (first, remote, second)));
            }
        }
    }
    found
}

/// Every triple that fits a pattern.
pub fn candidates(events: &[Event], sources: RegionSources) -> BTreeSet<Indices> {
    Program::new(events, sources).triples()
}

/// For each lock held: how, how deeply, and the locks taken since with the strongest mode of each.
type NaiveState = BTreeMap<LockId, (LockMode, u32, BTreeMap<LockId, LockMode>)>;

/// Lock set and histories; how deeply a lock is held is no part of a state.
fn describe(state: &NaiveState) -> String {
    let parts: Vec<String> =
        state.iter().map(|(lock, (mode, _, history))| format!("{lock:?} {mode:?} {history:?}")).collect();
    parts.join("; ")
}

fn conflict(a: LockMode, b: LockMode) -> bool {
    a == LockMode::Exclusive || b == LockMode::Exclusive
}

fn compatible(a: &NaiveState, b: &NaiveState) -> bool {
    let excluded = a.iter().any(|(lock, (mode, ..))| b.get(lock).is_some_and(|(other, ..)| conflict(*mode, *other)));
    let crossed = a.iter().any(|(l, (l_mode, _, l_history))| {
        b.iter().any(|(m, (m_mode, _, m_history))| {
            l_history.get(m).is_some_and(|used| conflict(*used, *m_mode))
                && m_history.get(l).is_some_and(|used| conflict(*used, *l_mode))
        })
    });
    !excluded && !crossed
}

/// A trace taken apart.
struct Program<'t> {
    events: &'t [Event],
    /// The positions of each thread's events.
    threads: Vec<Vec<usize>>,
    /// The outermost region each event is in, by the position of its begin.
    regions: Vec<Option<usize>>,
}

impl<'t> Program<'t> {
    fn new(events: &'t [Event], sources: RegionSources) -> Self {
        let count = events.iter().map(|event| event.thread.index() + 1).max().unwrap_or(0);
        let mut threads = vec![Vec::new(); count];
        let mut open: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut regions = Vec::new();
        for (at, event) in events.iter().enumerate() {
            let thread = event.thread.index();
            threads[thread].push(at);
            match event.op {
                Op::RegionBegin(region) if sources.contains(region.source) => open[thread].push(at),
                _ => {}
            }
            regions.push(open[thread].first().copied());
            match event.op {
                Op::RegionEnd(region) if sources.contains(region.source) => {
                    open[thread].pop();
                }
                _ => {}
            }
        }
        Program { events, threads, regions }
    }

    fn is_triple(&self, first: usize, remote: usize, second: usize) -> bool {
        let accesses = [first, remote, second].map(|at| access_of(&self.events[at].op));
        let [Some((x, a)), Some((y, b)), Some((z, c))] = accesses else { return false };
        let one_region = self.regions[first].is_some() && self.regions[first] == self.regions[second];
        x == y && y == z && one_region && Pattern::of(a, b, c).is_some()
    }

    fn triples(&self) -> BTreeSet<Indices> {
        let mut triples = BTreeSet::new();
        for local in &self.threads {
            for (at, &first) in local.iter().enumerate() {
                for &second in &local[at + 1..] {
                    for remote in 0..self.events.len() {
                        let other = self.events[remote].thread != self.events[first].thread;
                        if other && self.is_triple(first, remote, second) {
                            triples.insert((first, remote, second));
                        }
                    }
                }
            }
        }
        triples
    }

    /// Whether a thread can do its next event after these prefixes.
    fn enabled(&self, cut: &[usize], thread: usize) -> bool {
        let Some(&next) = self.threads[thread].get(cut[thread]) else { return false };
        let done = |at: usize| {
            let thread = self.events[at].thread.index();
            self.threads[thread][..cut[thread]].contains(&at)
        };
        let forked = (0..self.events.len()).find(|&at| self.events[at].op == Op::Fork(ThreadId::new(thread as u32)));
        if forked.is_some_and(|fork| !done(fork)) {
            return false;
        }
        match self.events[next].op {
            Op::Join(child) => self.threads.get(child.index()).is_none_or(|events| cut[child.index()] == events.len()),
            Op::Acquire { lock, mode, .. } => self.free(cut, thread, lock, mode),
            Op::WaitEnd { lock, .. } => self.free(cut, thread, lock, LockMode::Exclusive),
            _ => true,
        }
    }

    fn free(&self, cut: &[usize], thread: usize, lock: LockId, mode: LockMode) -> bool {
        (0..cut.len()).filter(|&other| other != thread && cut[other] > 0).all(|other| {
            let state = self.lock_state_after(self.threads[other][cut[other] - 1]);
            state.get(&lock).is_none_or(|(held, ..)| !conflict(*held, mode))
        })
    }

    fn lock_state_after(&self, at: usize) -> NaiveState {
        let mut state = NaiveState::new();
        let mut waiting: BTreeMap<LockId, u32> = BTreeMap::new();
        let thread = self.events[at].thread;
        for event in self.events[..=at].iter().filter(|event| event.thread == thread) {
            let (lock, mode, depth) = match event.op {
                Op::Acquire { lock, mode, .. } => (lock, mode, 1),
                Op::WaitEnd { lock, .. } => (lock, LockMode::Exclusive, waiting.remove(&lock).unwrap_or(1)),
                Op::Release { lock, .. } => {
                    if let Some((_, depth, _)) = state.get_mut(&lock) {
                        *depth -= 1;
                        if *depth == 0 {
                            state.remove(&lock);
                        }
                    }
                    continue;
                }
                Op::WaitBegin { lock, .. } => {
                    if let Some((_, depth, _)) = state.remove(&lock) {
                        waiting.insert(lock, depth);
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some((_, held, _)) = state.get_mut(&lock) {
                *held += 1;
                continue;
            }
            for (_, _, history) in state.values_mut() {
                let strongest = history.get(&lock).map_or(mode, |&before| before.min(mode));
                history.insert(lock, strongest);
            }
            state.insert(lock, (mode, depth, BTreeMap::new()));
        }
        state
    }

    /// Which events come before which by program order, fork and join, in every schedule.
    fn must_precede(&self) -> Vec<Vec<bool>> {
        let count = self.events.len();
        let mut before = vec![vec![false; count]; count];
        for events in &self.threads {
            for pair in events.windows(2) {
                before[pair[0]][pair[1]] = true;
            }
        }
        for (at, event) in self.events.iter().enumerate() {
            let other = |thread: ThreadId| self.threads.get(thread.index());
            match event.op {
                Op::Fork(child) => {
                    if let Some(&first) = other(child).and_then(|events| events.first()) {
                        before[at][first] = true;
                    }
                }
                Op::Join(child) => {
                    if let Some(&last) = other(child).and_then(|events| events.last()) {
                        before[last][at] = true;
                    }
                }
                _ => {}
            }
        }
        for middle in 0..count {
            for from in 0..count {
                if before[from][middle] {
                    let after_middle = before[middle].clone();
                    for (reached, through) in before[from].iter_mut().zip(after_middle) {
                        *reached |= through;
                    }
                }
            }
        }
        before
    }
}
