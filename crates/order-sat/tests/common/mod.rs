//! Random formulas, as scripts that shrink, and what they mean.
//!
//! A [`Formula`] has three readings: [`Formula::holds`] evaluates it, [`Formula::literal`] gives it to the
//! solver, and [`smt`] prints it for another solver. [`Script`] is what a user might do with a solver.

// Each test crate uses its share of this.
#![allow(dead_code, unreachable_pub)]

pub mod bits;
pub mod reference;
pub mod smt;

use bits::{COMPARISONS, Comparison, Value, values};
use interloper_order_sat::bits::BitVector;
use interloper_order_sat::{Answer, Budget, Lit, Model, Node, Options, Solver};
use proptest::prelude::*;

/// A boolean expression over numbered booleans, nodes and bit-vectors.
#[derive(Clone, Debug)]
pub enum Formula {
    Boolean(usize),
    Before(usize, usize),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    Compare(Comparison, Value, Value),
}

/// One thing done with a solver.
#[derive(Clone, Debug)]
pub enum Step {
    Node,
    Edge(usize, usize),
    Clause(Vec<Formula>),
    AtMostOne(Vec<Formula>),
    Hint(Formula),
    Solve(Vec<Formula>),
    /// The same, but after one conflict it gives up.
    Glance(Vec<Formula>),
}

/// What is done with a solver, in order.
#[derive(Clone, Debug)]
pub struct Script {
    pub nodes: usize,
    pub booleans: usize,
    pub vectors: usize,
    pub width: u32,
    pub steps: Vec<Step>,
}

/// What a formula is about.
#[derive(Default)]
pub struct Names {
    pub nodes: Vec<Node>,
    pub booleans: Vec<Lit>,
    pub vectors: Vec<BitVector>,
    pub width: u32,
}

/// An assignment and an order, from wherever.
pub trait Interpretation {
    fn boolean(&self, index: usize) -> bool;
    fn before(&self, a: usize, b: usize) -> bool;
    fn vector(&self, index: usize) -> u64;
    fn width(&self) -> u32;
}

impl Formula {
    pub fn holds(&self, i: &impl Interpretation) -> bool {
        match self {
            Formula::Boolean(index) => i.boolean(*index),
            Formula::Before(a, b) => i.before(*a, *b),
            Formula::Not(inner) => !inner.holds(i),
            Formula::And(parts) => parts.iter().all(|part| part.holds(i)),
            Formula::Or(parts) => parts.iter().any(|part| part.holds(i)),
            Formula::Compare(comparison, a, b) => comparison.apply(i.width(), a.compute(i), b.compute(i)),
        }
    }

    /// Makes all numbers small enough.
    fn wrap(&mut self, nodes: usize, booleans: usize, vectors: usize) {
        let mut again = |formula: &mut Formula| formula.wrap(nodes, booleans, vectors);
        match self {
            Formula::Boolean(index) => *index %= booleans,
            Formula::Before(a, b) => (*a, *b) = (*a % nodes, *b % nodes),
            Formula::Not(inner) => again(inner),
            Formula::And(parts) | Formula::Or(parts) => parts.iter_mut().for_each(again),
            Formula::Compare(_, a, b) => {
                a.wrap(vectors, &mut again);
                b.wrap(vectors, &mut again);
            }
        }
    }

    pub fn literal(&self, solver: &mut Solver, names: &Names) -> Lit {
        match self {
            Formula::Boolean(index) => names.booleans[*index],
            Formula::Before(a, b) => solver.before(names.nodes[*a], names.nodes[*b]),
            Formula::Not(inner) => !inner.literal(solver, names),
            Formula::And(parts) => {
                let parts = literals(parts, solver, names);
                solver.and(&parts)
            }
            Formula::Or(parts) => {
                let parts = literals(parts, solver, names);
                solver.or(&parts)
            }
            Formula::Compare(comparison, a, b) => {
                let (a, b) = (a.vector(solver, names), b.vector(solver, names));
                comparison.build(solver, &a, &b)
            }
        }
    }
}

pub fn literals(formulas: &[Formula], solver: &mut Solver, names: &Names) -> Vec<Lit> {
    formulas.iter().map(|formula| formula.literal(solver, names)).collect()
}

/// A model, read by the numbers of a script.
pub struct Found<'a> {
    pub model: &'a Model,
    pub names: &'a Names,
}

impl Interpretation for Found<'_> {
    fn boolean(&self, index: usize) -> bool {
        self.model.value(self.names.booleans[index])
    }

    fn before(&self, a: usize, b: usize) -> bool {
        self.model.position(self.names.nodes[a]) < self.model.position(self.names.nodes[b])
    }

    fn vector(&self, index: usize) -> u64 {
        self.names.vectors[index].value(self.model)
    }

    fn width(&self) -> u32 {
        self.names.width
    }
}

/// What was said so far in a script: what every model must satisfy.
#[derive(Default)]
pub struct Said<'a> {
    pub nodes: usize,
    pub booleans: usize,
    pub vectors: usize,
    pub width: u32,
    pub edges: Vec<(usize, usize)>,
    pub clauses: Vec<&'a [Formula]>,
    pub at_most_ones: Vec<&'a [Formula]>,
}

impl Said<'_> {
    pub fn holds(&self, i: &impl Interpretation) -> bool {
        self.edges.iter().all(|&(a, b)| i.before(a, b))
            && self.clauses.iter().all(|clause| clause.iter().any(|formula| formula.holds(i)))
            && self.at_most_ones.iter().all(|some| some.iter().filter(|formula| formula.holds(i)).count() <= 1)
    }
}

impl Script {
    /// Does it all. At each solving, `judge` gets what was said, the assumptions, and the answer.
    pub fn run(&self, options: Options, mut judge: impl FnMut(&Said<'_>, &[Formula], Judged<'_>)) -> Solver {
        let mut solver = Solver::with_options(options);
        let Script { nodes, booleans, vectors, width, .. } = *self;
        let mut names = Names { width, ..Names::default() };
        let mut said = Said { nodes, booleans, vectors, width, ..Said::default() };
        names.nodes.extend((0..nodes).map(|_| solver.node()));
        names.booleans.extend((0..booleans).map(|_| solver.fresh()));
        names.vectors.extend((0..vectors).map(|_| BitVector::fresh(&mut solver, width)));
        for step in &self.steps {
            match step {
                Step::Node => {
                    names.nodes.push(solver.node());
                    said.nodes += 1;
                }
                Step::Edge(a, b) => {
                    solver.require_before(names.nodes[*a], names.nodes[*b]);
                    said.edges.push((*a, *b));
                }
                Step::Clause(parts) => {
                    let clause = literals(parts, &mut solver, &names);
                    solver.clause(&clause);
                    said.clauses.push(parts);
                }
                Step::AtMostOne(parts) => {
                    let some = literals(parts, &mut solver, &names);
                    solver.at_most_one(&some);
                    said.at_most_ones.push(parts);
                }
                Step::Hint(formula) => {
                    let literal = formula.literal(&mut solver, &names);
                    solver.hint(literal);
                }
                Step::Solve(assumed) | Step::Glance(assumed) => {
                    let assumptions = literals(assumed, &mut solver, &names);
                    let is_glance = matches!(step, Step::Glance(_));
                    let budget = Budget { conflicts: is_glance.then_some(1), ..Budget::default() };
                    let answer = solver.solve(&assumptions, &budget);
                    assert_eq!(solver.nodes(), said.nodes);
                    judge(
                        &said,
                        assumed,
                        Judged { names: &names, assumptions, answer, is_glance, solver: &mut solver },
                    );
                }
            }
        }
        solver
    }
}

/// An answer to be judged.
pub struct Judged<'a> {
    pub names: &'a Names,
    pub assumptions: Vec<Lit>,
    pub answer: Answer,
    pub is_glance: bool,
    pub solver: &'a mut Solver,
}

/// How large a script may be. Without vectors there are no formulas over them.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub nodes: usize,
    pub steps: usize,
    pub vectors: usize,
    pub width: u32,
}

pub fn scripts(size: Size) -> impl Strategy<Value = Script> {
    let formula =
        if size.vectors > 0 { prop_oneof![3 => formula(), 2 => comparison()].boxed() } else { formula().boxed() };
    let steps = prop::collection::vec(step(formula), 1..=size.steps);
    (2..=size.nodes, 1..=3_usize, 1..=size.width.max(1), steps).prop_map(move |(nodes, booleans, width, mut steps)| {
        let mut made = nodes;
        steps.retain_mut(|step| {
            match step {
                Step::Node if made == size.nodes => return false,
                Step::Node => made += 1,
                Step::Edge(a, b) => (*a, *b) = (*a % made, *b % made),
                Step::Clause(parts) | Step::AtMostOne(parts) | Step::Solve(parts) | Step::Glance(parts) => {
                    parts.iter_mut().for_each(|part| part.wrap(made, booleans, size.vectors));
                }
                Step::Hint(formula) => formula.wrap(made, booleans, size.vectors),
            }
            true
        });
        steps.push(Step::Solve(Vec::new()));
        Script { nodes, booleans, vectors: size.vectors, width, steps }
    })
}

fn step(formula: BoxedStrategy<Formula>) -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::Node),
        2 => (0..64_usize, 0..64_usize).prop_map(|(a, b)| Step::Edge(a, b)),
        12 => prop::collection::vec(formula.clone(), 1..=4).prop_map(Step::Clause),
        1 => prop::collection::vec(formula.clone(), 2..=9).prop_map(Step::AtMostOne),
        1 => formula.clone().prop_map(Step::Hint),
        4 => prop::collection::vec(formula.clone(), 0..=4).prop_map(Step::Solve),
        1 => prop::collection::vec(formula, 0..=4).prop_map(Step::Glance),
    ]
}

/// Mostly literals, for that is what clauses are made of.
fn formula() -> impl Strategy<Value = Formula> {
    let boolean = (0..3_usize, any::<bool>()).prop_map(|(index, negated)| match Formula::Boolean(index) {
        boolean if negated => Formula::Not(Box::new(boolean)),
        boolean => boolean,
    });
    let literal = prop_oneof![
        1 => boolean,
        6 => (0..64_usize, 0..64_usize).prop_map(|(a, b)| Formula::Before(a, b)),
    ];
    let parts = prop::collection::vec(literal.clone(), 0..=3);
    prop_oneof![
        10 => literal,
        1 => parts.clone().prop_map(Formula::And),
        1 => parts.prop_map(|parts| Formula::Not(Box::new(Formula::Or(parts)))),
    ]
}

fn comparison() -> impl Strategy<Value = Formula> {
    (prop::sample::select(&COMPARISONS[..]), values(formula()), values(formula()))
        .prop_map(|(comparison, a, b)| Formula::Compare(comparison, a, b))
}
