//! The solver: formulas over booleans and the order of nodes, solved under assumptions.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

use cadical_sys::{CaDiCal, Status};
use rustc_hash::FxHashMap;

use crate::answer::{Answer, Budget, Model, Reason, Watch};
use crate::gates::Gate;
use crate::proof::{self, Log, Step, Tracer};
use crate::theory::{OrderStatistics, Theory};
use crate::{Lit, Node};

/// How many nodes [`Solver::before`] looks at to find out whether required edges decide an atom.
const CHEAP: usize = 64;

/// Settings of a solver, made once.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Prefer, of two nodes, the one that was made earlier to come earlier.
    pub hints: bool,
    /// Write down everything that is needed to check answers: see [`Solver::take_proof`].
    pub proof: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { hints: true, proof: false }
    }
}

/// What a solver has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Variables, the atoms among them.
    pub variables: usize,
    /// Variables that stand for the order of two nodes.
    pub atoms: usize,
    /// Conflicts of the search, be it with clauses or with the order.
    pub conflicts: u64,
    /// What the theory of order did.
    pub order: OrderStatistics,
}

/// A formula that can grow, and what was learnt about it.
///
/// The formula is a conjunction of clauses over booleans and atoms `a < b`, where the nodes are in a strict
/// total order. Nodes, atoms, clauses and edges may be added between two calls of [`Solver::solve`].
pub struct Solver {
    // The solver owns the theory and the watch; these are ours to look at between its calls. They must never
    // be borrowed while the solver is called, which calls them back.
    sat: CaDiCal,
    theory: Rc<RefCell<Theory>>,
    watch: Rc<RefCell<Watch>>,
    log: Option<Log>,
    options: Options,
    variables: i32,
    /// The atom of two nodes, the earlier made one first.
    atoms: FxHashMap<(Node, Node), Lit>,
    /// The conjunction of several literals, sorted.
    pub(crate) conjunctions: FxHashMap<Box<[Lit]>, Lit>,
    pub(crate) gates: FxHashMap<(Gate, [Lit; 3]), Lit>,
    buffer: Vec<i32>,
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver {
    /// An empty formula, with the default options.
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    /// An empty formula.
    pub fn with_options(options: Options) -> Self {
        let mut sat = CaDiCal::new();
        // With chronological backtracking assignments would not come in the order of levels, which the
        // theory's graph relies on to forget edges in the reverse order.
        sat.set("chrono", 0);
        // Measured on generated sets of queries: staying in stable mode (few restarts, decisions by score,
        // target phases) takes half the time of switching between that and its opposite; and preparing
        // clauses between parts of the search takes longer than it saves, where queries are short and many.
        sat.set("stabilizeonly", 1);
        sat.set("inprocessing", 0);
        // The solver must not invent variables: the numbers are given out here.
        sat.set("factor", 0);
        let log = options.proof.then(Log::default);
        if let Some(log) = &log {
            sat.connect_proof_tracer1(Tracer(Rc::clone(log)), true, false);
        }
        let theory = Rc::new(RefCell::new(Theory::default()));
        theory.borrow_mut().log.clone_from(&log);
        let watch = Rc::new(RefCell::new(Watch::default()));
        sat.connect_external_propagator(Rc::clone(&theory));
        sat.connect_terminator(Rc::clone(&watch));
        let mut solver = Self {
            sat,
            theory,
            watch,
            log,
            options,
            variables: Lit::TRUE.dimacs(),
            atoms: FxHashMap::default(),
            conjunctions: FxHashMap::default(),
            gates: FxHashMap::default(),
            buffer: Vec::new(),
        };
        solver.add_clause(&[Lit::TRUE.dimacs()], Step::Input);
        solver
    }

    /// A new node. Models prefer nodes that were made earlier to be earlier.
    pub fn node(&mut self) -> Node {
        Node::new(self.theory.borrow_mut().add_node())
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.theory.borrow().nodes()
    }

    /// A new boolean.
    pub fn fresh(&mut self) -> Lit {
        self.variables += 1;
        Lit::from_dimacs(self.variables)
    }

    /// The atom `a < b`: the same literal whenever asked, and `before(b, a)` is its negation. If required edges
    /// decide it, and that is found at little cost, it is a constant.
    pub fn before(&mut self, a: Node, b: Node) -> Lit {
        if a == b {
            return Lit::FALSE;
        }
        if b < a {
            return !self.before(b, a);
        }
        if let Some(&atom) = self.atoms.get(&(a, b)) {
            return atom;
        }
        let (first, second) = (a.number(), b.number());
        {
            let mut theory = self.theory.borrow_mut();
            if theory.is_permanently_before(first, second, CHEAP) {
                return Lit::TRUE;
            }
            if theory.is_permanently_before(second, first, CHEAP) {
                return Lit::FALSE;
            }
        }
        let atom = self.fresh();
        self.theory.borrow_mut().add_atom(atom.dimacs(), first, second);
        self.log(|| Step::Atom { literal: atom, first: a, second: b });
        self.sat.add_observed_var(atom.dimacs());
        if self.options.hints {
            self.hint(atom);
        }
        self.atoms.insert((a, b), atom);
        atom
    }

    /// From now on `a < b`. If that closes a cycle the formula has no model any more.
    pub fn require_before(&mut self, a: Node, b: Node) {
        self.log(|| Step::Edge(a, b));
        let added = self.theory.borrow_mut().add_permanent(a.number(), b.number());
        match added {
            Err(cycle) => {
                let lemma: Vec<i32> = cycle.iter().map(|literal| -literal).collect();
                self.add_clause(&lemma, Step::Lemma);
            }
            Ok(()) => {
                if let Some(&atom) = self.atoms.get(&(a.min(b), a.max(b))) {
                    let atom = if a < b { atom } else { !atom };
                    self.add_clause(&[atom.dimacs()], Step::Lemma);
                }
            }
        }
    }

    /// At least one of these literals is true.
    pub fn clause(&mut self, literals: &[Lit]) {
        if literals.contains(&Lit::TRUE) {
            return;
        }
        let mut clause = mem::take(&mut self.buffer);
        clause.clear();
        clause.extend(literals.iter().filter(|&&literal| literal != Lit::FALSE).map(|literal| literal.dimacs()));
        self.add_clause(&clause, Step::Input);
        self.buffer = clause;
    }

    /// Prefer this literal to be true, where nothing decides it.
    pub fn hint(&mut self, literal: Lit) {
        if literal.as_constant().is_none() {
            self.sat.phase(literal.dimacs());
        }
    }

    /// Looks for a model in which all assumptions are true. They count for this call only.
    pub fn solve(&mut self, assumptions: &[Lit], budget: &Budget) -> Answer {
        if assumptions.contains(&Lit::FALSE) {
            return Answer::Unsatisfiable(vec![Lit::FALSE]);
        }
        if let Some(reason) = budget.expired() {
            return Answer::Unknown(reason);
        }
        for assumption in assumptions {
            self.sat.assume(assumption.dimacs());
        }
        if let Some(conflicts) = budget.conflicts {
            self.sat.limit("conflicts", i32::try_from(conflicts).unwrap_or(i32::MAX));
        }
        self.watch.borrow_mut().start(budget);
        let status = self.sat.solve();
        let expired = self.watch.borrow_mut().stop();
        let answer = match status {
            Status::SATISFIABLE => Answer::Satisfiable(self.model()),
            Status::UNSATISFIABLE => {
                let failed = assumptions.iter().copied().filter(|assumption| self.sat.failed(assumption.dimacs()));
                let failed: Vec<Lit> = failed.collect();
                if self.options.proof {
                    self.sat.conclude();
                    self.log(|| Step::Refuted(failed.clone()));
                }
                Answer::Unsatisfiable(failed)
            }
            Status::UNKNOWN => Answer::Unknown(expired.unwrap_or(Reason::Conflicts)),
        };
        self.theory.borrow_mut().rewind();
        answer
    }

    /// What was done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            variables: self.variables as usize,
            atoms: self.atoms.len(),
            conflicts: u64::try_from(self.sat.get_statistic_value("conflicts")).unwrap_or(0),
            order: self.theory.borrow().statistics,
        }
    }

    /// What was written down since this was last called, with [`Options::proof`]; nothing without. A
    /// [`Checker`](crate::check::Checker) wants to see all of it, in order.
    pub fn take_proof(&mut self) -> Vec<Step> {
        self.log.as_ref().map(|log| mem::take(&mut *log.borrow_mut())).unwrap_or_default()
    }

    fn add_clause(&mut self, clause: &[i32], step: fn(Vec<Lit>) -> Step) {
        self.log(|| step(proof::literals(clause)));
        self.sat.clause6(clause);
    }

    fn log(&self, step: impl FnOnce() -> Step) {
        if let Some(log) = &self.log {
            log.borrow_mut().push(step());
        }
    }

    fn model(&mut self) -> Model {
        let positions = self.theory.borrow().positions();
        let sat = &mut self.sat;
        Model::new(self.variables as usize, |variable| variable > 0 && sat.val(variable as i32) > 0, positions)
    }
}
