//! Literals that stand for combinations of others, and constraints on how many are true.
//!
//! A combination is defined both ways (Tseitin), so its literal may be used with either sign. Constants and repeated
//! literals are folded, and the same combination is the same literal.

use crate::{Lit, Solver};

/// Up to this many literals [`Solver::at_most_one`] forbids each pair; above, pairs outnumber what a chain needs.
const PAIRWISE: usize = 6;

impl Solver {
    /// A literal that is true iff all of these are. True if there are none.
    pub fn and(&mut self, literals: &[Lit]) -> Lit {
        let mut literals: Vec<Lit> = literals.iter().copied().filter(|&literal| literal != Lit::TRUE).collect();
        // By variable, so that a literal and its negation are neighbours.
        literals.sort_unstable_by_key(|literal| (literal.variable(), literal.is_positive()));
        literals.dedup();
        if literals.contains(&Lit::FALSE) || literals.windows(2).any(|pair| pair[0] == !pair[1]) {
            return Lit::FALSE;
        }
        match literals[..] {
            [] => return Lit::TRUE,
            [only] => return only,
            _ => {}
        }
        if let Some(&all) = self.conjunctions.get(&literals[..]) {
            return all;
        }
        let all = self.fresh();
        for &literal in &literals {
            self.clause(&[!all, literal]);
        }
        let mut back: Vec<Lit> = literals.iter().map(|&literal| !literal).collect();
        back.push(all);
        self.clause(&back);
        self.conjunctions.insert(literals.into_boxed_slice(), all);
        all
    }

    /// A literal that is true iff at least one of these is. False if there are none.
    pub fn or(&mut self, literals: &[Lit]) -> Lit {
        let negated: Vec<Lit> = literals.iter().map(|&literal| !literal).collect();
        !self.and(&negated)
    }

    /// A literal that is true iff exactly one of the two is.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        self.xor3(a, b, Lit::FALSE)
    }

    /// A literal that is true iff both are true or both are false.
    pub fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        !self.xor(a, b)
    }

    /// A literal that is true iff `then` is, if `condition` is true, and iff `otherwise` is, if it is false.
    pub fn ite(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        if let Some(condition) = condition.as_constant() {
            return if condition { then } else { otherwise };
        }
        if !condition.is_positive() {
            return self.ite(!condition, otherwise, then);
        }
        if then == otherwise {
            return then;
        }
        if then == !otherwise {
            return self.iff(condition, then);
        }
        if then == condition || then == Lit::TRUE {
            return self.or(&[condition, otherwise]);
        }
        if then == !condition || then == Lit::FALSE {
            return self.and(&[!condition, otherwise]);
        }
        if otherwise == condition || otherwise == Lit::FALSE {
            return self.and(&[condition, then]);
        }
        if otherwise == !condition || otherwise == Lit::TRUE {
            return self.or(&[!condition, then]);
        }
        self.gate(Gate::Choice, [condition, then, otherwise], |solver, chosen| {
            solver.clause(&[!condition, !then, chosen]);
            solver.clause(&[!condition, then, !chosen]);
            solver.clause(&[condition, !otherwise, chosen]);
            solver.clause(&[condition, otherwise, !chosen]);
            // These follow, but not by unit propagation.
            solver.clause(&[!then, !otherwise, chosen]);
            solver.clause(&[then, otherwise, !chosen]);
        })
    }

    /// A literal that is true iff one or all three of these are: the sum bit of a full adder.
    pub fn xor3(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        // Signs and constants only decide the sign of the result, and pairs cancel.
        let mut negated = false;
        let mut parts: Vec<Lit> = Vec::with_capacity(3);
        for literal in [a, b, c] {
            negated ^= !literal.is_positive();
            let literal = if literal.is_positive() { literal } else { !literal };
            if literal == Lit::TRUE {
                negated = !negated;
            } else if let Some(same) = parts.iter().position(|&part| part == literal) {
                parts.swap_remove(same);
            } else {
                parts.push(literal);
            }
        }
        parts.sort_unstable();
        let odd = match parts[..] {
            [] => Lit::FALSE,
            [only] => only,
            [a, b] => self.gate(Gate::Odd, [a, b, Lit::FALSE], |solver, odd| {
                for (a, b) in [(a, b), (!a, !b)] {
                    solver.clause(&[a, b, !odd]);
                    solver.clause(&[a, !b, odd]);
                }
            }),
            _ => self.gate(Gate::Odd, [parts[0], parts[1], parts[2]], |solver, odd| {
                let [a, b, c] = [parts[0], parts[1], parts[2]];
                for (b, c) in [(b, c), (!b, !c)] {
                    solver.clause(&[a, b, c, !odd]);
                    solver.clause(&[a, b, !c, odd]);
                    solver.clause(&[!a, b, c, odd]);
                    solver.clause(&[!a, b, !c, !odd]);
                }
            }),
        };
        if negated { !odd } else { odd }
    }

    /// A literal that is true iff at least two of these are: the carry of a full adder.
    pub fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut parts = [a, b, c];
        parts.sort_unstable_by_key(|literal| (literal.variable(), literal.is_positive()));
        let [a, b, c] = parts;
        // Two that agree decide; two that disagree leave it to the third.
        if a == b || a == !c {
            return b;
        }
        if b == c || a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        match a {
            // The constants have the lowest variable.
            Lit::TRUE => return self.or(&[b, c]),
            Lit::FALSE => return self.and(&[b, c]),
            _ => {}
        }
        if !a.is_positive() {
            return !self.majority(!a, !b, !c);
        }
        self.gate(Gate::Majority, [a, b, c], |solver, most| {
            for (a, b) in [(a, b), (a, c), (b, c)] {
                solver.clause(&[!a, !b, most]);
                solver.clause(&[a, b, !most]);
            }
        })
    }

    /// At most one of these literals is true.
    pub fn at_most_one(&mut self, literals: &[Lit]) {
        if literals.len() <= PAIRWISE {
            for (place, &first) in literals.iter().enumerate() {
                for &second in &literals[place + 1..] {
                    self.clause(&[!first, !second]);
                }
            }
            return;
        }
        // `seen` is true if any literal up to here is.
        let mut seen = Lit::FALSE;
        for &literal in literals {
            self.clause(&[!seen, !literal]);
            let now = self.fresh();
            self.clause(&[!seen, now]);
            self.clause(&[!literal, now]);
            seen = now;
        }
    }

    /// The literal of a gate: that of an equal one, or a new one, defined by `define`.
    fn gate(&mut self, gate: Gate, inputs: [Lit; 3], define: impl FnOnce(&mut Self, Lit)) -> Lit {
        if let Some(&output) = self.gates.get(&(gate, inputs)) {
            return output;
        }
        let output = self.fresh();
        define(self, output);
        self.gates.insert((gate, inputs), output);
        output
    }
}

/// What makes gates with the same inputs different.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Gate {
    Choice,
    Odd,
    Majority,
}
