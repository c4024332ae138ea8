//! Questions about many triples, put to as few and as small windows as will do.
//!
//! A short trace is one window. A long one is covered by windows that overlap by half, small ones first: a
//! triple is looked at in the smallest that holds it with room to spare, and in larger ones as long as what
//! was cut off could matter. Triples that share a window share its formula.

use crate::candidate::{Candidate, query, steps};
use crate::causal::{Answers, Instance, Query, Taste};
use crate::forced::Forced;
use crate::outline::{Outline, StepId};
use interloper_order_sat::{Budget, Reason};
use interloper_trace::{Event, Op, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is asked about several candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Each of them.
    Each,
    /// The first that is feasible. Others may be left undecided once there is one.
    First,
}

/// What was decided about a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It can happen, in this order of steps.
    Feasible(Order),
    /// It cannot.
    Infeasible,
    /// It is not known.
    Unknown(Unknown),
}

/// A schedule: all events up to `observed` in their order, then these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// So many events of the trace come first, as they were observed.
    pub observed: u64,
    /// Those that come after, as far as they matter.
    pub events: Vec<u64>,
}

impl Order {
    /// Every event that is executed, in order: also those that threads do on the way and nobody else notices.
    pub fn in_full(&self, trace: &[Event]) -> Vec<u64> {
        let observed = self.observed.min(trace.len() as u64);
        let mut full: Vec<u64> = (0..observed).collect();
        // Of each thread the events that are left, the next one last.
        let mut left: FxHashMap<ThreadId, Vec<u64>> = FxHashMap::default();
        for (index, event) in trace.iter().enumerate().skip(observed as usize).rev() {
            left.entry(event.thread).or_default().push(index as u64);
        }
        for &listed in &self.events {
            let Some(event) = trace.get(listed as usize) else { continue };
            if let Op::Join(child) = event.op {
                // Of who has ended, everything has been executed.
                full.extend(left.remove(&child).into_iter().flatten().rev());
            }
            let left = left.entry(event.thread).or_default();
            while let Some(next) = left.pop_if(|next| *next <= listed) {
                full.push(next);
            }
        }
        full
    }
}

/// Why something is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// What lies outside of the largest window could matter.
    Window,
    /// The time was up, or the solver's share of it.
    Budget,
    /// The user stopped it.
    Stopped,
    /// It would have taken more memory than is allowed.
    Memory,
}

/// Of each set of candidates, what was decided about each; none if it was not needed.
pub type Decisions = Vec<Vec<Option<Decision>>>;

/// How far to go.
#[derive(Clone, Debug)]
pub struct Limits {
    /// When to stop.
    pub deadline: Option<Instant>,
    /// When to stop, said by somebody else.
    pub stop: Option<Arc<AtomicBool>>,
    /// How long one question may take.
    pub per_question: Duration,
    /// How many windows to look at in parallel.
    pub jobs: usize,
    /// The sizes of the smallest and the largest window, in steps.
    pub windows: (usize, usize),
    /// Formulas of up to so many clauses are made at once, larger ones as far as they turn out to be needed.
    pub eager: u64,
    /// How much memory to take.
    pub memory: Option<MemoryLimit>,
}

/// How much memory to take. What does not fit is given up, window by window.
#[derive(Clone, Copy, Debug)]
pub struct MemoryLimit {
    /// How many bytes are in use.
    pub used: fn() -> u64,
    /// How many may be.
    pub most: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            deadline: None,
            stop: None,
            per_question: Duration::from_secs(20),
            jobs: 1,
            windows: (1024, 32 * 1024),
            eager: 100_000,
            memory: None,
        }
    }
}

/// How far it has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Candidates decided.
    pub decided: usize,
    /// Of them feasible.
    pub feasible: usize,
    /// All candidates.
    pub all: usize,
}

/// Decides sets of candidates.
pub fn decide(
    outline: &Outline,
    sets: &[Vec<Candidate>],
    ask: Ask,
    limits: &Limits,
    progress: &(dyn Fn(Progress) + Sync),
) -> Decisions {
    let work = Work::new(outline, sets, ask, limits, progress);
    work.rule_out();
    for size in window_sizes(outline.len(), limits) {
        if !work.look(size) {
            break;
        }
    }
    work.finish()
}

/// The sizes to try, in order.
fn window_sizes(steps: usize, limits: &Limits) -> Vec<usize> {
    let (smallest, largest) = limits.windows;
    let whole = steps.max(1);
    let sizes = std::iter::successors(Some(smallest.max(2)), |size| size.checked_mul(4));
    let mut sizes: Vec<usize> = sizes.take_while(|size| *size < whole && *size < largest).collect();
    sizes.push(whole.min(largest.max(2)));
    sizes
}

/// The part of a window's candidates that belong to one set: the set, and places in it.
type Group = (usize, Vec<usize>);

struct Work<'a> {
    outline: &'a Outline,
    sets: &'a [Vec<Candidate>],
    ask: Ask,
    limits: &'a Limits,
    progress: &'a (dyn Fn(Progress) + Sync),
    state: Mutex<State>,
}

struct State {
    decisions: Decisions,
    progress: Progress,
    /// Why candidates stayed undecided that have been looked at.
    unknown: BTreeMap<(usize, usize), Unknown>,
}

impl<'a> Work<'a> {
    fn new(
        outline: &'a Outline,
        sets: &'a [Vec<Candidate>],
        ask: Ask,
        limits: &'a Limits,
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Self {
        let decisions: Decisions = sets.iter().map(|set| vec![None; set.len()]).collect();
        let all = sets.iter().map(Vec::len).sum();
        let state = State { decisions, progress: Progress { all, ..Progress::default() }, unknown: BTreeMap::new() };
        Work { outline, sets, ask, limits, progress, state: Mutex::new(state) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Decides what needs no solver.
    fn rule_out(&self) {
        let Some(forced) = Forced::new(self.outline) else { return };
        let mut state = self.state();
        for (set, candidates) in self.sets.iter().enumerate() {
            for (at, candidate) in candidates.iter().enumerate() {
                if self.steps(candidate).is_some_and(|steps| forced.forbids(self.outline, steps)) {
                    state.decide(set, at, Decision::Infeasible);
                }
            }
        }
        (self.progress)(state.progress);
    }

    /// Looks at what is undecided in windows of this size. False if there is no use in going on.
    fn look(&self, size: usize) -> bool {
        let windows = self.windows(size);
        if windows.is_empty() {
            return self.has_undecided() && !self.is_over();
        }
        let queue = Mutex::new(windows.into_iter());
        let next = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
        let work = || {
            while let Some((window, groups)) = next() {
                if self.is_over() {
                    break;
                }
                self.look_at(window.0..window.1, &groups);
            }
        };
        if self.limits.jobs <= 1 {
            work();
        } else {
            std::thread::scope(|scope| {
                for _ in 0..self.limits.jobs {
                    scope.spawn(work);
                }
            });
        }
        self.has_undecided() && !self.is_over()
    }

    /// The windows of this size that hold something undecided, with what each holds.
    fn windows(&self, size: usize) -> BTreeMap<(u32, u32), Vec<Group>> {
        let state = self.state();
        let mut windows: BTreeMap<(u32, u32), Vec<Group>> = BTreeMap::new();
        for (set, candidates) in self.sets.iter().enumerate() {
            for (at, candidate) in candidates.iter().enumerate() {
                if state.decisions[set][at].is_some() {
                    continue;
                }
                if self.ask == Ask::First && self.is_answered(&state.decisions[set]) {
                    break;
                }
                let Some(window) = self.steps(candidate).and_then(|steps| self.window(steps, size)) else { continue };
                let groups = windows.entry(window).or_default();
                match groups.last_mut() {
                    Some((known, places)) if *known == set => places.push(at),
                    _ => groups.push((set, vec![at])),
                }
            }
        }
        windows
    }

    fn steps(&self, candidate: &Candidate) -> Option<[StepId; 3]> {
        steps(self.outline, candidate)
    }

    /// The window of this size for three steps.
    fn window(&self, steps: [StepId; 3], size: usize) -> Option<(u32, u32)> {
        let whole = self.outline.len();
        if size >= whole {
            return Some((0, whole as u32));
        }
        let (from, to) = (steps.iter().min()?.index(), steps.iter().max()?.index() + 1);
        let stride = size / 2;
        if to - from > stride {
            return None;
        }
        // What comes before matters more than what comes after: it is where values come from.
        let start = (to.saturating_sub(1) / stride * stride + stride).saturating_sub(size);
        let start = start.min(from / stride * stride);
        Some((start as u32, (start + size).min(whole) as u32))
    }

    fn look_at(&self, window: Range<u32>, groups: &[Group]) {
        if self.is_too_large() {
            return self.give_up(groups);
        }
        let mut instance = Instance::new(self.outline, window.clone(), self.limits.eager, Taste::ShortSchedules);
        for (at, (set, places)) in groups.iter().enumerate() {
            if self.is_over() {
                return;
            }
            if self.is_too_large() {
                return self.give_up(&groups[at..]);
            }
            match self.ask {
                Ask::First => self.look_for_first(&mut instance, window.start, *set, places.clone()),
                Ask::Each => self.look_for_each(&mut instance, window.start, *set, places.clone()),
            }
        }
    }

    fn is_too_large(&self) -> bool {
        self.limits.memory.is_some_and(|memory| (memory.used)() > memory.most)
    }

    /// There is no memory for what these ask.
    fn give_up(&self, groups: &[Group]) {
        let mut state = self.state();
        for (set, places) in groups {
            places.iter().for_each(|at| state.note(*set, *at, Unknown::Memory));
        }
    }

    fn look_for_first(&self, instance: &mut Instance<'_>, start: u32, set: usize, places: Vec<usize>) {
        let is_answered = self.is_answered(&self.state().decisions[set]);
        if !is_answered {
            self.ask(instance, start, set, &places);
        }
    }

    /// Asks until each has its answer. What cannot happen is mostly found out at once, for all of them.
    fn look_for_each(&self, instance: &mut Instance<'_>, start: u32, set: usize, mut places: Vec<usize>) {
        while !places.is_empty() && !self.is_over() {
            let Some(feasible) = self.ask(instance, start, set, &places) else { return };
            places.drain(..=feasible);
        }
    }

    /// Asks about some candidates of a set; the place of the first that is feasible, if one is.
    fn ask(&self, instance: &mut Instance<'_>, start: u32, set: usize, places: &[usize]) -> Option<usize> {
        let queries: Vec<Query> = places.iter().filter_map(|at| query(self.outline, &self.sets[set][*at])).collect();
        let Answers { schedule, infeasible, cut, stopped } = instance.ask(&queries, &budget(self.limits));
        let mut state = self.state();
        let feasible = schedule.map(|(number, steps)| {
            state.decide(set, places[number], Decision::Feasible(order_of(self.outline, start, &steps)));
            number
        });
        for number in infeasible {
            state.decide(set, places[number], Decision::Infeasible);
        }
        for number in cut {
            state.note(set, places[number], Unknown::Window);
        }
        if let Some((numbers, reason)) = stopped {
            let why = if reason == Reason::Stopped { Unknown::Stopped } else { Unknown::Budget };
            numbers.into_iter().for_each(|number| state.note(set, places[number], why));
        }
        let progress = state.progress;
        drop(state);
        (self.progress)(progress);
        feasible
    }

    fn is_answered(&self, decisions: &[Option<Decision>]) -> bool {
        decisions.iter().any(|decision| matches!(decision, Some(Decision::Feasible(_))))
    }

    fn has_undecided(&self) -> bool {
        let state = self.state();
        state.decisions.iter().any(|set| {
            let is_answered = self.ask == Ask::First && self.is_answered(set);
            !is_answered && set.iter().any(Option::is_none)
        })
    }

    fn is_over(&self) -> bool {
        self.is_stopped() || self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn is_stopped(&self) -> bool {
        self.limits.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn finish(self) -> Decisions {
        let default = if self.is_stopped() {
            Unknown::Stopped
        } else if self.is_over() {
            Unknown::Budget
        } else {
            Unknown::Window
        };
        let ask = self.ask;
        let State { mut decisions, unknown, .. } =
            self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (set, decided) in decisions.iter_mut().enumerate() {
            let answered = decided.iter().any(|decision| matches!(decision, Some(Decision::Feasible(_))));
            if ask == Ask::First && answered {
                continue;
            }
            for (at, decision) in decided.iter_mut().enumerate() {
                decision.get_or_insert_with(|| Decision::Unknown(unknown.get(&(set, at)).copied().unwrap_or(default)));
            }
        }
        decisions
    }
}

impl State {
    fn decide(&mut self, set: usize, at: usize, decision: Decision) {
        self.progress.decided += 1;
        self.progress.feasible += usize::from(matches!(decision, Decision::Feasible(_)));
        self.decisions[set][at] = Some(decision);
    }

    fn note(&mut self, set: usize, at: usize, why: Unknown) {
        self.unknown.insert((set, at), why);
    }
}

/// A schedule of a window, which begins with this step, as one of the trace.
pub(crate) fn order_of(outline: &Outline, start: u32, steps: &[StepId]) -> Order {
    let first = outline.steps.get(start as usize).filter(|_| start > 0);
    let observed = first.map_or(0, |step| step.events.0);
    let events = steps.iter().flat_map(|step| outline.events_of(*step)).collect();
    Order { observed, events }
}

/// What one question may take.
pub(crate) fn budget(limits: &Limits) -> Budget {
    let own = Instant::now() + limits.per_question;
    let deadline = limits.deadline.map_or(own, |deadline| deadline.min(own));
    Budget { deadline: Some(deadline), stop: limits.stop.clone(), ..Budget::default() }
}
