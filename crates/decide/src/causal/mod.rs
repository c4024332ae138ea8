//! The maximal causal model of a window of the trace, as a formula over orders.
//!
//! After Şerbănuţă, Chen and Roşu, *Maximal Causal Models for Sequentially Consistent Systems* (RV 2012),
//! and the encodings of Huang, Meredith and Roşu (PLDI 2014) and of Wang, Kundu, Ganai and Gupta (FM 2009).
//! What schedules are in the model is said, operationally, by the interpreter in `interloper_witness`, with
//! which this module shares no code; property tests hold the two against each other.
//!
//! # The formula
//!
//! Every step of the window is a point of a total order, and so is `END`: what comes before it is executed,
//! the rest is not and need not be possible. *Executed* is therefore an order atom, too.
//!
//! - Program order, fork, join, barriers, allocation and completed initialisers are fixed orders.
//! - A read whose thread goes on must find what it found: the last write before it must leave a content
//!   that is known to be equal, or be the write that it saw. `rf` says which one it sees. The last step of a
//!   thread may read anything.
//! - A *loose* read may find anything until a step is executed that relies on it. Its thread passes on what it found
//!   by writes that depend on it; who sees such a write, and must find what it found, needs the loose read to have
//!   found what that found, in its turn. That is no circle: `kept` of a read leads to a write before it, and from there
//!   to reads before that write.
//! - A read-modify-write that reads something else writes nobody knows what: nothing else may see that.
//! - Two sections of a lock that exclude each other are one after the other, if both are begun.
//! - Signals are matched with waits, posts with semaphore waits; see [`sync`](self::sync).
//!
//! # Windows
//!
//! Steps before the window have been executed in the observed order, those after it are not executed. This
//! is a restriction: a schedule found so is one of the whole trace, but that there is none says nothing yet.
//! Hence the literal `relax`. It is in every clause in which a step outside could help. If there is no
//! schedule even with `relax`, there is none in the whole trace, whatever was cut off.
//!
//! # Laziness
//!
//! The constraints of reads are cubic in the accesses of one cell, those of locks quadratic. In large
//! windows they are added only once a model violates them, until one violates none ([`refine`](self::refine)).

mod clocks;
mod kept;
mod reads;
mod refine;
mod sync;

pub(crate) use clocks::orders_into;
pub(crate) use reads::Written;

use crate::outline::{Outline, Section, SectionId, StepId};
use clocks::Clocks;
use interloper_order_sat::smtlib::Script;
use interloper_order_sat::{Answer, Budget, Lit, Model, Node, Reason, Solver};
use interloper_trace::ThreadId;
use reads::ReadFormula;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::time::{Duration, Instant};

/// The formula of one window, to which any number of questions can be put.
pub(crate) struct Instance<'o> {
    outline: &'o Outline,
    window: Range<u32>,
    solver: Solver,
    end: Node,
    nodes: Vec<Node>,
    relax: Lit,
    clocks: Clocks,
    /// Of each step whether its reads find what they found; made when asked for.
    kept: FxHashMap<StepId, Lit>,
    /// Of each thread whether it has been joined.
    joined: FxHashMap<ThreadId, Lit>,
    /// Of each thread and number, whether so many of its loose reads, from the first, find what they found.
    first_kept: FxHashMap<(ThreadId, usize), Lit>,
    reads: FxHashMap<u32, ReadFormula>,
    exclusions: FxHashSet<(SectionId, SectionId)>,
    /// All constraints are there from the beginning.
    is_eager: bool,
    pub(crate) rounds: u64,
}

/// Which schedules are to be tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taste {
    /// Those that execute little: the less is executed, the less is constrained.
    ShortSchedules,
    /// Those that execute much: every thread is to get as far as it can.
    LongSchedules,
}

/// Three steps that are to happen in this order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub(crate) first: StepId,
    pub(crate) remote: StepId,
    pub(crate) second: StepId,
    pub(crate) keep: Keep,
}

/// Which read-modify-writes must find what they found, for what they write to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Neither,
    Remote,
    Second,
    /// One of the two is enough.
    Either,
    Both,
}

/// What the solver says to several questions, which go by their number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    /// The first that can happen: a schedule of the window's steps, after all steps before the window.
    pub(crate) schedule: Option<(usize, Vec<StepId>)>,
    /// Of those before that one (of all, if there is none): they cannot happen in the whole trace.
    pub(crate) infeasible: Vec<usize>,
    /// They cannot happen in the window, but they might in the whole trace.
    pub(crate) cut: Vec<usize>,
    /// The solver was stopped before it had an answer.
    pub(crate) stopped: Option<(Vec<usize>, Reason)>,
}

impl<'o> Instance<'o> {
    /// The formula of the steps in a window; with all constraints, if these are about so many at the most.
    pub(crate) fn new(outline: &'o Outline, window: Range<u32>, eager: u64, taste: Taste) -> Self {
        Self::with_solver(Solver::new(), outline, window, eager, taste)
    }

    /// The same, told to a solver that knows nothing yet.
    pub(crate) fn with_solver(
        mut solver: Solver,
        outline: &'o Outline,
        window: Range<u32>,
        eager: u64,
        taste: Taste,
    ) -> Self {
        // The solver takes what comes first for earlier, if it has the choice.
        let early = (taste == Taste::ShortSchedules).then(|| solver.node());
        let nodes = window.clone().map(|_| solver.node()).collect();
        let end = early.unwrap_or_else(|| solver.node());
        let relax = solver.fresh();
        let clocks = Clocks::new(outline, &window);
        let mut instance = Instance {
            outline,
            window,
            solver,
            end,
            nodes,
            relax,
            clocks,
            kept: FxHashMap::default(),
            joined: FxHashMap::default(),
            first_kept: FxHashMap::default(),
            reads: FxHashMap::default(),
            exclusions: FxHashSet::default(),
            is_eager: false,
            rounds: 0,
        };
        instance.require_orders();
        instance.require_sync();
        instance.is_eager = instance.estimate() <= eager;
        if instance.is_eager {
            instance.add_all_reads();
            instance.add_all_exclusions();
        }
        instance
    }

    /// Whether one of several triples of steps can happen in its order, and which is the first.
    pub(crate) fn ask(&mut self, queries: &[Query], budget: &Budget) -> Answers {
        let lits: Vec<Lit> = queries.iter().map(|query| self.ask_for(query)).collect();
        let (mut asked, impossible): (Vec<usize>, Vec<usize>) =
            (0..queries.len()).partition(|at| lits[*at] != Lit::FALSE);
        let mut answers = Answers { infeasible: impossible, ..Answers::default() };
        // A model tells of one that can happen; whether an earlier one can, too, is the next question.
        while !asked.is_empty() {
            match self.solve_any(&asked, &lits, !self.relax, budget) {
                Ok(Some(model)) => {
                    let shown = asked.iter().position(|at| model.value(lits[*at])).unwrap_or(0);
                    answers.schedule = Some((asked[shown], self.schedule(&model)));
                    asked.truncate(shown);
                }
                Ok(None) => break,
                Err(reason) => {
                    answers.stopped = Some((asked, reason));
                    return answers;
                }
            }
        }
        self.ask_relaxed(asked, &lits, budget, &mut answers);
        answers
    }

    /// The formula, as far as it was needed to answer these questions, and each of them once more, as text. What takes
    /// longer is not waited for; the formula may then lack something.
    pub(crate) fn script(mut self, queries: &[Query], patience: Duration) -> Script {
        let mut questions = Vec::new();
        for query in queries {
            let asked = self.ask_for(query);
            if asked != Lit::FALSE {
                let question = vec![!self.relax, asked];
                // What is not there from the beginning comes with the answers.
                let deadline = Some(Instant::now() + patience);
                drop(self.solve(&question, &Budget { deadline, ..Budget::default() }));
                questions.push(question);
            }
        }
        Script::new(&self.solver.take_proof(), questions)
    }

    /// A schedule that ends with a read that sees something else than it saw: one of the contents `wanted`.
    pub(crate) fn ask_flip(
        &mut self,
        touch: u32,
        wanted: &dyn Fn(Written) -> bool,
        budget: &Budget,
    ) -> Result<Option<Vec<StepId>>, Reason> {
        let step = self.outline.touches[touch as usize].step;
        let mut all = vec![self.executed(step), self.sees_other(touch, wanted)];
        if let Some(next) = self.outline.next(step).filter(|next| self.contains(*next)) {
            all.push(!self.executed(next));
        }
        let asked = self.solver.and(&all);
        if asked == Lit::FALSE {
            return Ok(None);
        }
        let model = self.solve(&[!self.relax, asked], budget)?;
        Ok(model.map(|model| {
            let mut schedule = self.schedule(&model);
            // What comes after the read is of no use.
            let end = schedule.iter().position(|known| *known == step).map_or(schedule.len(), |at| at + 1);
            schedule.truncate(end);
            schedule
        }))
    }

    /// Which of several triples, that cannot happen in the window, may happen in the whole trace.
    fn ask_relaxed(&mut self, mut asked: Vec<usize>, lits: &[Lit], budget: &Budget, answers: &mut Answers) {
        while self.is_cut() && !asked.is_empty() {
            match self.solve_any(&asked, lits, self.relax, budget) {
                Ok(Some(model)) => {
                    let (may, rest): (Vec<usize>, Vec<usize>) = asked.iter().partition(|at| model.value(lits[**at]));
                    answers.cut.extend(may);
                    asked = rest;
                }
                Ok(None) => break,
                Err(reason) => {
                    answers.stopped = Some((asked, reason));
                    return;
                }
            }
        }
        answers.infeasible.extend(asked);
    }

    /// A model in which one of these holds.
    fn solve_any(
        &mut self,
        asked: &[usize],
        lits: &[Lit],
        mode: Lit,
        budget: &Budget,
    ) -> Result<Option<Model>, Reason> {
        let lits: Vec<Lit> = asked.iter().map(|at| lits[*at]).collect();
        let any = match lits[..] {
            [only] => only,
            _ => self.solver.or(&lits),
        };
        self.solve(&[mode, any], budget)
    }

    /// Whether some step is outside of the window.
    fn is_cut(&self) -> bool {
        self.window.len() < self.outline.steps.len()
    }

    /// That the three steps happen in this order, and that it ends there.
    fn ask_for(&mut self, query: &Query) -> Lit {
        let Query { first, remote, second, keep } = *query;
        let mut all = vec![self.before(first, remote), self.before(remote, second), self.executed(second)];
        if let Some(next) = self.outline.next(second).filter(|next| self.contains(*next)) {
            all.push(!self.executed(next));
        }
        if all.contains(&Lit::FALSE) {
            return Lit::FALSE;
        }
        if matches!(keep, Keep::Remote | Keep::Both) {
            all.push(self.kept(remote));
        }
        if matches!(keep, Keep::Second | Keep::Both) {
            all.push(self.kept(second));
        }
        if keep == Keep::Either {
            let either = [self.kept(remote), self.kept(second)];
            all.push(self.solver.or(&either));
        }
        self.solver.and(&all)
    }

    /// A model that violates no constraint, if there is one.
    fn solve(&mut self, assumptions: &[Lit], budget: &Budget) -> Result<Option<Model>, Reason> {
        loop {
            self.rounds += 1;
            match self.solver.solve(assumptions, budget) {
                Answer::Unsatisfiable(_) => return Ok(None),
                Answer::Unknown(reason) => return Err(reason),
                Answer::Satisfiable(model) => {
                    if self.is_eager || !self.refine(&model) {
                        return Ok(Some(model));
                    }
                }
            }
        }
    }

    /// The steps executed, in order.
    fn schedule(&self, model: &Model) -> Vec<StepId> {
        let end = model.position(self.end);
        let mut steps: Vec<(usize, StepId)> = self
            .window
            .clone()
            .map(|step| (model.position(self.node(StepId(step))), StepId(step)))
            .filter(|(position, _)| *position < end)
            .collect();
        steps.sort_unstable();
        steps.into_iter().map(|(_, step)| step).collect()
    }

    fn node(&self, step: StepId) -> Node {
        self.nodes[(step.0 - self.window.start) as usize]
    }

    fn contains(&self, step: StepId) -> bool {
        self.window.contains(&step.0)
    }

    /// That a step comes before another. Both are in the window.
    fn before(&mut self, earlier: StepId, later: StepId) -> Lit {
        if earlier == later || self.clocks.precedes(self.outline, later, earlier) {
            Lit::FALSE
        } else if self.clocks.precedes(self.outline, earlier, later) {
            Lit::TRUE
        } else {
            let (earlier, later) = (self.node(earlier), self.node(later));
            self.solver.before(earlier, later)
        }
    }

    /// That a step of the window is executed.
    fn executed(&mut self, step: StepId) -> Lit {
        let node = self.node(step);
        self.solver.before(node, self.end)
    }

    fn require_orders(&mut self) {
        for step in self.window.clone().map(StepId) {
            if let Some(next) = self.outline.next(step).filter(|next| self.contains(*next)) {
                let (step, next) = (self.node(step), self.node(next));
                self.solver.require_before(step, next);
            }
            for earlier in orders_into(self.outline, step) {
                if self.contains(earlier) {
                    let (earlier, step) = (self.node(earlier), self.node(step));
                    self.solver.require_before(earlier, step);
                }
            }
        }
    }

    /// About how many clauses all constraints of reads and locks would be.
    fn estimate(&self) -> u64 {
        let mut clauses = 0;
        for cell in &self.outline.cells {
            let touches = self.in_window(&cell.touches).len() as u64;
            let writes = self.in_window(&cell.writes).len() as u64;
            clauses += touches.saturating_mul(writes).saturating_mul(writes);
        }
        for sections in &self.outline.locks {
            let inside = sections.iter().filter(|section| self.concerns(**section)).count() as u64;
            clauses += inside * inside / 2;
        }
        clauses
    }

    /// The touches, of a sorted list, that are in the window.
    fn in_window(&self, touches: &'o [u32]) -> &'o [u32] {
        let place = |step: u32| touches.partition_point(|touch| self.outline.touches[*touch as usize].step.0 < step);
        &touches[place(self.window.start)..place(self.window.end)]
    }

    /// Whether a section has a part in the window.
    fn concerns(&self, section: SectionId) -> bool {
        let Section { acquire, release, .. } = self.outline.sections[section.index()];
        acquire.0 < self.window.end && release.is_none_or(|release| release.0 >= self.window.start)
    }

    fn add_all_exclusions(&mut self) {
        for sections in &self.outline.locks {
            let concerned: Vec<SectionId> =
                sections.iter().copied().filter(|section| self.concerns(*section)).collect();
            for (at, one) in concerned.iter().enumerate() {
                for other in &concerned[at + 1..] {
                    self.exclude(*one, *other);
                }
            }
        }
    }

    /// Two sections of one lock do not overlap. False if that has been said before.
    fn exclude(&mut self, one: SectionId, other: SectionId) -> bool {
        let (a, b) = (self.outline.sections[one.index()], self.outline.sections[other.index()]);
        if !a.excludes(&b) || !self.exclusions.insert((one.min(other), one.max(other))) {
            return false;
        }
        let mut clause = vec![self.ends_before(&a, &b), self.ends_before(&b, &a)];
        for section in [a, b] {
            if self.contains(section.acquire) {
                clause.push(!self.executed(section.acquire));
            }
            let reaches_out =
                !self.contains(section.acquire) || section.release.is_some_and(|release| !self.contains(release));
            if reaches_out {
                clause.push(self.relax);
            }
        }
        self.solver.clause(&clause);
        true
    }

    fn ends_before(&mut self, one: &Section, other: &Section) -> Lit {
        match one.release {
            Some(release) if self.contains(release) && self.contains(other.acquire) => {
                self.before(release, other.acquire)
            }
            _ => Lit::FALSE,
        }
    }
}
