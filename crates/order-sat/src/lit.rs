//! What formulas are made of: literals, and the points that are ordered.

use std::fmt;
use std::ops::Not;

/// A boolean variable or its negation.
///
/// A literal belongs to the [`Solver`](crate::Solver) that made it; only the two constants belong to all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(i32);

impl Lit {
    /// The literal that is always true.
    pub const TRUE: Lit = Lit(1);
    /// The literal that is always false.
    pub const FALSE: Lit = Lit(-1);

    /// The constant for `value`.
    pub fn constant(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }

    /// The value, if this is one of the constants.
    pub fn as_constant(self) -> Option<bool> {
        match self {
            Self::TRUE => Some(true),
            Self::FALSE => Some(false),
            _ => None,
        }
    }

    /// The literal as in the DIMACS format: the number of the variable, negative if it is negated.
    pub fn dimacs(self) -> i32 {
        self.0
    }

    pub(crate) fn from_dimacs(number: i32) -> Self {
        debug_assert!(number != 0);
        Self(number)
    }

    pub(crate) fn variable(self) -> usize {
        self.0.unsigned_abs() as usize
    }

    pub(crate) fn is_positive(self) -> bool {
        self.0 > 0
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(-self.0)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_constant() {
            Some(value) => write!(f, "{value}"),
            None => write!(f, "{}", self.0),
        }
    }
}

/// A point of the order. Any two different nodes of one solver are ordered in every model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(u32);

impl Node {
    /// The how-manieth node of its solver this is, from zero.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn new(index: u32) -> Self {
        Self(index)
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }
}
