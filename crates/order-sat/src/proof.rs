//! What a solver did, written down so that it can be checked.
//!
//! With [`Options::proof`](crate::Options::proof) three parties write into one log, in order: the solver what it was
//! told and what it answered, the theory its lemmas, and CaDiCaL each clause it takes or derives, with the clauses
//! it derived it from (as in the proof format LRAT). [`Checker`](crate::check::Checker) believes none of them.

use std::cell::RefCell;
use std::rc::Rc;

use cadical_sys::ProofTracer;

use crate::{Lit, Node};

/// The number CaDiCaL gave to a clause.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClauseId(pub i64);

/// One entry of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// The literal is the atom `first < second`.
    Atom {
        /// The positive literal of the atom.
        literal: Lit,
        /// The node that comes first if the literal is true.
        first: Node,
        /// The node that comes second if the literal is true.
        second: Node,
    },
    /// The first node was required to be before the second.
    Edge(Node, Node),
    /// A clause of the formula.
    Input(Vec<Lit>),
    /// A clause that the theory says holds in every order that agrees with the edges so far.
    Lemma(Vec<Lit>),
    /// CaDiCaL took a clause as given.
    Original(ClauseId, Vec<Lit>),
    /// CaDiCaL took back a clause it had weakened.
    Restored(ClauseId, Vec<Lit>),
    /// CaDiCaL derived a clause: with it false, each antecedent leaves one literal, and the last one none.
    Derived {
        /// Its number.
        id: ClauseId,
        /// The clause.
        clause: Vec<Lit>,
        /// What it follows from, in the order in which they propagate.
        antecedents: Vec<ClauseId>,
    },
    /// CaDiCaL may want this clause back after deleting it.
    Weakened(ClauseId),
    /// CaDiCaL has no more use for this clause.
    Deleted(ClauseId),
    /// CaDiCaL says that these clauses show that there is no model.
    Concluded(Vec<ClauseId>),
    /// The solver answered that these assumptions cannot all hold.
    Refuted(Vec<Lit>),
}

/// The log, shared by those who write it.
pub(crate) type Log = Rc<RefCell<Vec<Step>>>;

/// CaDiCaL's part of the log.
pub(crate) struct Tracer(pub(crate) Log);

impl Tracer {
    fn log(&self, step: Step) {
        self.0.borrow_mut().push(step);
    }
}

impl ProofTracer for Tracer {
    fn add_original_clause(&mut self, id: i64, _redundant: bool, clause: &[i32], restored: bool) {
        let (id, clause) = (ClauseId(id), literals(clause));
        self.log(if restored { Step::Restored(id, clause) } else { Step::Original(id, clause) });
    }

    fn add_derived_clause(&mut self, id: i64, _redundant: bool, _witness: i32, clause: &[i32], antecedents: &[i64]) {
        self.log(Step::Derived { id: ClauseId(id), clause: literals(clause), antecedents: ids(antecedents) });
    }

    fn delete_clause(&mut self, id: i64, _redundant: bool, _clause: &[i32]) {
        self.log(Step::Deleted(ClauseId(id)));
    }

    fn weaken_minus(&mut self, id: i64, _clause: &[i32]) {
        self.log(Step::Weakened(ClauseId(id)));
    }

    fn strengthen(&mut self, _id: i64) {}

    fn finalize_clause(&mut self, _id: i64, _clause: &[i32]) {}

    fn add_assumption(&mut self, _lit: i32) {}

    fn add_constraint(&mut self, _clause: &[i32]) {}

    fn reset_assumptions(&mut self) {}

    fn add_assumption_clause(&mut self, id: i64, clause: &[i32], antecedents: &[i64]) {
        self.log(Step::Derived { id: ClauseId(id), clause: literals(clause), antecedents: ids(antecedents) });
    }

    fn conclude_sat(&mut self, _conclusion_type: i32, _model: &[i32]) {}

    fn conclude_unsat(&mut self, _conclusion_type: i32, clause_ids: &[i64]) {
        self.log(Step::Concluded(ids(clause_ids)));
    }

    fn conclude_unknown(&mut self, _trail: &[i32]) {}
}

/// Literals from their DIMACS numbers.
pub(crate) fn literals(clause: &[i32]) -> Vec<Lit> {
    clause.iter().map(|&number| Lit::from_dimacs(number)).collect()
}

fn ids(numbers: &[i64]) -> Vec<ClauseId> {
    numbers.iter().map(|&number| ClauseId(number)).collect()
}
