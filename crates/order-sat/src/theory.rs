//! The theory of strict total orders, as CaDiCaL's external propagator (IPASIR-UP).
//!
//! Each *atom* is a variable that stands for `a < b`; its negation for `b < a`. The literals assigned
//! so far are edges of a [`Graph`], beside the permanent ones. A total order with all of them exists iff
//! that graph has no cycle, so that is all there is to check:
//!
//! - **Conflict.** A literal whose edge would close a cycle: not all of the cycle's literals are true.
//! - **Propagation.** What is before a new edge is before all that is after it. The atoms between [`REACH`]
//!   nodes on either side, the nearest ones, are implied. This is not all that is; the rest is found as a
//!   conflict, once decided wrongly.
//! - **Reasons** are made when asked for: the path as it was when the literal was implied.
//!
//! # How it keeps in step with the solver
//!
//! CaDiCaL tells of assignments to atoms in the order of its trail, of new levels, and of backtracking;
//! `trail` and `levels` repeat that. `head` literals of the trail are in the graph, and a literal's place
//! in the trail is the time of its edge. A literal that the theory itself implied gets no edge: the
//! path that implied it is older, and thus stays at least as long.
//!
//! Assignments at level zero are told once and must never be forgotten. A literal that CaDiCaL assigned
//! late, and moves to a lower level, is told again after the backtracking. Literals that inprocessing
//! found equal to others may not be told at all; [`Theory::cb_check_found_model`] is given all values
//! and enters those that are missing.
//!
//! Between two calls of `solve` CaDiCaL may linger at its last level. [`Theory::rewind`] goes back to
//! level zero at once, so that permanent edges can be added, and listens again when CaDiCaL has followed.

use std::collections::VecDeque;

use cadical_sys::ExternalPropagator;

use crate::graph::{Graph, Inserted, PERMANENT};
use crate::proof::{Log, Step, literals};

/// How often what happened.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct OrderStatistics {
    /// Cycles found, each a lemma.
    pub conflicts: u64,
    /// Literals implied by a path.
    pub propagations: u64,
    /// Implied literals the solver wanted to know the path of, each a lemma.
    pub reasons: u64,
    /// Edges that went against the ranks of their nodes.
    pub reorderings: u64,
}

/// How far to look for implied atoms on either side of a new edge. Measured on generated sets of queries: without
/// looking, some took two to three times as long and others a third less; looking further gained nothing.
const REACH: usize = 32;
/// `atom_of` of a variable that is no atom.
const NO_ATOM: u32 = u32::MAX;

/// An atom: `from < to` if its variable is true, `to < from` if it is false.
struct Atom {
    variable: i32,
    from: u32,
    to: u32,
    /// The literal of the variable that is true, or zero.
    assigned: i32,
    /// The literal of the variable that a path makes true, or zero.
    implied: i32,
    /// How much of the trail was in the graph when that path was found.
    implied_at: u32,
}

/// The atoms of one node: the other node, and the literal that puts the other node first.
type Partners = Vec<(u32, i32)>;

/// See the module.
#[derive(Default)]
pub(crate) struct Theory {
    graph: Graph,
    atoms: Vec<Atom>,
    /// By variable.
    atom_of: Vec<u32>,
    partners: Vec<Partners>,
    trail: Vec<i32>,
    /// How much of the trail is in the graph.
    head: usize,
    /// For each of those: does it have an edge of its own?
    has_edge: Vec<bool>,
    /// The length of the trail at the start of each level from one.
    levels: Vec<usize>,
    /// All literals that a path makes true at present, in the order of their `implied_at`.
    implied: Vec<i32>,
    /// Those of them still to be told to the solver.
    queue: VecDeque<i32>,
    /// True literals that form a cycle.
    conflict: Option<Vec<i32>>,
    /// What is left of the clause that the solver is reading, back to front.
    clause: Vec<i32>,
    reading_reason: bool,
    /// Back at level zero ahead of the solver: nothing counts before it says so itself.
    ahead: bool,
    /// Where lemmas are written down, if they are.
    pub(crate) log: Option<Log>,
    pub(crate) statistics: OrderStatistics,
}

impl Theory {
    pub(crate) fn add_node(&mut self) -> u32 {
        self.partners.push(Vec::new());
        self.graph.add_node()
    }

    pub(crate) fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// The position of each node in an order that agrees with all that is assigned and required.
    pub(crate) fn positions(&self) -> Vec<u32> {
        self.graph.lowest_order()
    }

    /// Makes `variable` the atom `from < to`.
    pub(crate) fn add_atom(&mut self, variable: i32, from: u32, to: u32) {
        let place = variable.unsigned_abs() as usize;
        if self.atom_of.len() <= place {
            self.atom_of.resize(place + 1, NO_ATOM);
        }
        self.atom_of[place] = self.atoms.len() as u32;
        self.atoms.push(Atom { variable, from, to, assigned: 0, implied: 0, implied_at: 0 });
        self.partners[to as usize].push((from, variable));
        self.partners[from as usize].push((to, -variable));
    }

    /// Adds an edge for good. If it closes a cycle, gives the true literals that form it with permanent
    /// edges: none if there are but permanent edges.
    ///
    /// Only between two calls of `solve`, after [`Theory::rewind`].
    pub(crate) fn add_permanent(&mut self, from: u32, to: u32) -> Result<(), Vec<i32>> {
        debug_assert!(self.levels.is_empty());
        let mut cycle = Vec::new();
        if self.graph.insert(from, to, PERMANENT, 0, &mut cycle) == Inserted::Cycle {
            return Err(cycle);
        }
        if !self.atoms.is_empty() {
            self.find_implied(from, to);
        }
        Ok(())
    }

    /// Do the permanent edges put `from` before `to`? Looks at `effort` nodes at most.
    pub(crate) fn is_permanently_before(&mut self, from: u32, to: u32, effort: usize) -> bool {
        self.graph.permanent_path(from, to, effort) == Some(true)
    }

    /// Goes back to level zero, ahead of the solver.
    pub(crate) fn rewind(&mut self) {
        if !self.levels.is_empty() {
            self.backtrack(0);
            self.ahead = true;
        }
        self.clause.clear();
    }

    /// The nodes that `literal` orders, the earlier one first.
    fn edge(&self, literal: i32) -> (u32, u32) {
        let atom = &self.atoms[self.index(literal)];
        if literal == atom.variable { (atom.from, atom.to) } else { (atom.to, atom.from) }
    }

    fn index(&self, literal: i32) -> usize {
        self.atom_of[literal.unsigned_abs() as usize] as usize
    }

    fn assign(&mut self, literal: i32) {
        // A variable that is no atom may be told of when it was merged with one.
        let Some(&index) = self.atom_of.get(literal.unsigned_abs() as usize) else { return };
        let Some(atom) = self.atoms.get_mut(index as usize) else { return };
        if atom.assigned == 0 {
            atom.assigned = literal;
            self.trail.push(literal);
        }
    }

    /// Takes the rest of the trail into the graph, up to the first conflict.
    fn catch_up(&mut self) {
        while self.conflict.is_none()
            && let Some(&literal) = self.trail.get(self.head)
        {
            let atom = &self.atoms[self.index(literal)];
            if atom.implied == literal {
                // The path is there already.
                self.has_edge.push(false);
                self.head += 1;
                continue;
            }
            let (from, to) = self.edge(literal);
            let mut cycle = Vec::new();
            match self.graph.insert(from, to, literal, self.head as u32, &mut cycle) {
                Inserted::Cycle => {
                    cycle.push(literal);
                    self.statistics.conflicts += 1;
                    self.conflict = Some(cycle);
                }
                done => {
                    self.has_edge.push(true);
                    self.head += 1;
                    self.statistics.reorderings += u64::from(done == Inserted::Reordered);
                    self.find_implied(from, to);
                }
            }
        }
    }

    /// Marks the atoms between what is before the new edge and what is after it.
    fn find_implied(&mut self, from: u32, to: u32) {
        self.graph.survey(from, to, REACH);
        let Self { graph, atoms, atom_of, partners, implied, queue, head, .. } = self;
        let mut imply = |literal: i32| {
            let atom = &mut atoms[atom_of[literal.unsigned_abs() as usize] as usize];
            if atom.implied == 0 {
                atom.implied = literal;
                atom.implied_at = *head as u32;
                implied.push(literal);
                if atom.assigned == 0 {
                    queue.push_back(literal);
                }
            }
        };
        if graph.descendants().len() <= graph.ancestors().len() {
            for &after in graph.descendants() {
                for &(other, literal) in &partners[after as usize] {
                    if graph.is_ancestor(other) {
                        imply(literal);
                    }
                }
            }
        } else {
            for &before in graph.ancestors() {
                for &(other, literal) in &partners[before as usize] {
                    if graph.is_descendant(other) {
                        imply(-literal);
                    }
                }
            }
        }
    }

    fn backtrack(&mut self, level: usize) {
        let Some(&length) = self.levels.get(level) else { return };
        self.levels.truncate(level);
        self.conflict = None;
        while self.head > length {
            self.head -= 1;
            if self.has_edge.pop() == Some(true) {
                let (from, to) = self.edge(self.trail[self.head]);
                self.graph.remove_last(from, to);
            }
        }
        while let Some(&literal) = self.implied.last() {
            let index = self.index(literal);
            let atom = &mut self.atoms[index];
            if atom.implied_at as usize <= length {
                break;
            }
            atom.implied = 0;
            self.implied.pop();
        }
        let Self { atoms, atom_of, queue, trail, .. } = self;
        queue.retain(|literal| atoms[atom_of[literal.unsigned_abs() as usize] as usize].implied != 0);
        for literal in trail.drain(length..) {
            let atom = &mut atoms[atom_of[literal.unsigned_abs() as usize] as usize];
            atom.assigned = 0;
            if atom.implied != 0 {
                queue.push_back(atom.implied);
            }
        }
    }

    /// The lemma that not all of `cycle` are true, to be read back to front.
    fn lemma(&mut self, cycle: &[i32]) {
        self.clause.clear();
        self.clause.extend(cycle.iter().map(|literal| -literal));
        if let Some(log) = &self.log {
            log.borrow_mut().push(Step::Lemma(literals(&self.clause)));
        }
    }
}

impl ExternalPropagator for Theory {
    fn are_reasons_forgettable(&mut self) -> bool {
        true
    }

    fn notify_assignment(&mut self, literals: &[i32]) {
        if !self.ahead {
            for &literal in literals {
                self.assign(literal);
            }
        }
    }

    fn notify_new_decision_level(&mut self) {
        if !self.ahead {
            self.levels.push(self.trail.len());
        }
    }

    fn notify_backtrack(&mut self, new_level: usize) {
        if !self.ahead {
            self.backtrack(new_level);
        } else if new_level == 0 {
            self.ahead = false;
        }
    }

    fn cb_check_found_model(&mut self, model: &[i32]) -> bool {
        for &literal in model {
            self.assign(literal);
        }
        self.catch_up();
        self.conflict.is_none()
    }

    fn cb_propagate(&mut self) -> i32 {
        self.catch_up();
        if self.conflict.is_some() {
            return 0;
        }
        while let Some(literal) = self.queue.pop_front() {
            let atom = &self.atoms[self.index(literal)];
            if atom.assigned == 0 && atom.implied == literal {
                self.statistics.propagations += 1;
                return literal;
            }
        }
        0
    }

    fn cb_add_reason_clause_lit(&mut self, propagated_lit: i32) -> i32 {
        if !self.reading_reason {
            self.reading_reason = true;
            self.statistics.reasons += 1;
            let (from, to) = self.edge(propagated_lit);
            let time = self.atoms[self.index(propagated_lit)].implied_at;
            let mut cycle = vec![-propagated_lit];
            let found = self.graph.path(from, to, time, &mut cycle);
            debug_assert!(found, "a literal is implied as long as its path is there");
            self.lemma(&cycle);
        }
        let next = self.clause.pop().unwrap_or(0);
        self.reading_reason = next != 0;
        next
    }

    fn cb_has_external_clause(&mut self, is_forgettable: &mut bool) -> bool {
        // The theory finds it again if need be.
        *is_forgettable = true;
        let Some(cycle) = self.conflict.take() else { return false };
        self.lemma(&cycle);
        true
    }

    fn cb_add_external_clause_lit(&mut self) -> i32 {
        self.clause.pop().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
