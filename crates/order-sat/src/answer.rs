//! What a call of `solve` may spend, and what comes out of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cadical_sys::Terminator;

use crate::{Lit, Node};

/// What one call of [`Solver::solve`](crate::Solver::solve) may spend. The default is without limits.
#[derive(Clone, Default, Debug)]
pub struct Budget {
    /// Give up after this many conflicts.
    pub conflicts: Option<u64>,
    /// Give up at this time.
    pub deadline: Option<Instant>,
    /// Give up once this is set, be it by another thread.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Budget {
    /// Why a solver with this budget must give up now, apart from conflicts.
    pub(crate) fn expired(&self) -> Option<Reason> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Reason::Stopped);
        }
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(Reason::Deadline)
    }
}

/// The outcome of one call of [`Solver::solve`](crate::Solver::solve).
#[derive(Debug)]
pub enum Answer {
    /// There is a model, and here is one.
    Satisfiable(Model),
    /// There is none under these assumptions, which are some of those given: none at all if the formula itself
    /// has no model.
    Unsatisfiable(Vec<Lit>),
    /// The budget ran out.
    Unknown(Reason),
}

impl Answer {
    /// Is there a model? `None` if that is not known.
    pub fn is_satisfiable(&self) -> Option<bool> {
        match self {
            Answer::Satisfiable(_) => Some(true),
            Answer::Unsatisfiable(_) => Some(false),
            Answer::Unknown(_) => None,
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// [`Budget::conflicts`] were used up.
    Conflicts,
    /// [`Budget::deadline`] passed.
    Deadline,
    /// [`Budget::stop`] was set.
    Stopped,
}

/// An assignment and an order that satisfy the formula and the assumptions.
///
/// It is a copy, and stays what it is whatever becomes of the solver.
#[derive(Clone, Debug)]
pub struct Model {
    /// By variable, a bit each.
    values: Vec<u64>,
    order: Vec<Node>,
    positions: Vec<u32>,
}

impl Model {
    /// From the value of each variable, and the position of each node.
    pub(crate) fn new(variables: usize, mut value: impl FnMut(usize) -> bool, positions: Vec<u32>) -> Self {
        let mut values = vec![0; variables / 64 + 1];
        for variable in 0..=variables {
            values[variable / 64] |= u64::from(value(variable)) << (variable % 64);
        }
        let mut order = vec![Node::new(0); positions.len()];
        for (node, &position) in positions.iter().enumerate() {
            order[position as usize] = Node::new(node as u32);
        }
        Self { values, order, positions }
    }

    /// The value of a literal. One that is newer than the model is false if positive, true if negated.
    pub fn value(&self, literal: Lit) -> bool {
        let variable = literal.variable();
        let value = self.values.get(variable / 64).is_some_and(|word| word >> (variable % 64) & 1 == 1);
        value == literal.is_positive()
    }

    /// All nodes, in an order that agrees with every atom and every required edge. Of these orders it is the one that
    /// has, at each place, the earliest made node of those that may come next.
    pub fn order(&self) -> &[Node] {
        &self.order
    }

    /// The place of a node in [`Model::order`].
    ///
    /// # Panics
    ///
    /// If the node is newer than the model.
    pub fn position(&self, node: Node) -> usize {
        self.positions[node.index()] as usize
    }
}

/// Tells CaDiCaL when the budget has run out.
#[derive(Default)]
pub(crate) struct Watch {
    budget: Budget,
    expired: Option<Reason>,
}

impl Watch {
    pub(crate) fn start(&mut self, budget: &Budget) {
        *self = Self { budget: budget.clone(), expired: None };
    }

    /// Why the watch ended the search, if it did.
    pub(crate) fn stop(&mut self) -> Option<Reason> {
        self.budget = Budget::default();
        self.expired
    }
}

impl Terminator for Watch {
    fn terminated(&mut self) -> bool {
        if self.expired.is_none() {
            self.expired = self.budget.expired();
        }
        self.expired.is_some()
    }
}
