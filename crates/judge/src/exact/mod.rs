//! The exact check.
//!
//! 1. A torn block, or a read that nothing can explain: non-atomic.
//! 2. Conflict-serializable: atomic, whatever the values ([`conflicts`]).
//! 3. Threads that share nothing, directly or through others, are judged by themselves ([`problem`]).
//! 4. The orders that values force, to a fixpoint; a contradiction means non-atomic ([`forced`]).
//! 5. A search for a serial order, among those that keep the forced orders ([`search`]).
//!
//! Where values are not known, 3 to 5 are first done as if they could be anything, each for itself: if there is
//! no serial order even so, the execution is non-atomic. If the order found rests on such a value, they are done
//! again as if a value that is not known were equal to nothing but itself; an order found then is one whatever the
//! values are. If there is none, it cannot be told.

mod conflicts;
mod forced;
mod problem;
mod search;

use crate::blocks::Blocks;
use crate::{Budget, Proof, Reason, Verdict};
pub(crate) use conflicts::{Precedence, precedence};
use forced::Forced;
use problem::{Problem, Unknowns};
use search::Found;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The most blocks times threads that the exact check takes memory for: some twelve bytes each.
const MOST_CLOCKS: usize = 1 << 27;

/// Judges blocks.
pub(crate) fn check(blocks: &Blocks, precedence: &Precedence, budget: &Budget<'_>) -> Verdict {
    if blocks.is_impossible || !blocks.torn.is_empty() {
        return Verdict::NonAtomic(Proof::Exact);
    }
    if precedence.explains(blocks) {
        return Verdict::Atomic;
    }
    let mut spending = Spending::new(budget);
    let mut verdict = match look_for_order(blocks, &precedence.order, Unknowns::Anything, &mut spending) {
        Looked::None => return Verdict::NonAtomic(Proof::Exact),
        Looked::Found if blocks.may_be_torn => Verdict::Unknown(Reason::Values),
        Looked::Found => Verdict::Atomic,
        Looked::FoundIf => match look_for_order(blocks, &precedence.order, Unknowns::Themselves, &mut spending) {
            Looked::Found | Looked::FoundIf if !blocks.may_be_torn => Verdict::Atomic,
            Looked::GaveUp(reason) => Verdict::Unknown(reason),
            _ => Verdict::Unknown(Reason::Values),
        },
        Looked::GaveUp(reason) => Verdict::Unknown(reason),
    };
    if verdict == Verdict::Atomic && blocks.has_unexplained {
        verdict = Verdict::Unknown(Reason::Unrecorded);
    }
    verdict
}

/// What came of looking for a serial order.
enum Looked {
    /// There is none.
    None,
    Found,
    /// There is one if values that are not known are what it takes.
    FoundIf,
    GaveUp(Reason),
}

fn look_for_order(blocks: &Blocks, order: &[u32], unknowns: Unknowns, spending: &mut Spending<'_>) -> Looked {
    let mut is_certain = true;
    let mut gave_up = None;
    for problem in Problem::split(blocks, order, unknowns) {
        if problem.blocks.len().saturating_mul(problem.threads.len()) > MOST_CLOCKS {
            gave_up = Some(Reason::Budget);
            continue;
        }
        let forced = match Forced::close(&problem, spending) {
            Ok(forced) => forced,
            Err(forced::Contradiction) => return Looked::None,
        };
        match search::search(&problem, &forced, spending) {
            Found::None => return Looked::None,
            Found::Order { is_certain: this_is } => is_certain &= this_is,
            // Another part may still show that there is none.
            Found::GaveUp(reason) => gave_up = Some(reason),
        }
    }
    match gave_up {
        Some(reason) => Looked::GaveUp(reason),
        None if is_certain => Looked::Found,
        None => Looked::FoundIf,
    }
}

/// What is left of a budget.
pub(crate) struct Spending<'a> {
    budget: &'a Budget<'a>,
    spent: u64,
    until_look: u32,
    over: Option<Reason>,
}

impl<'a> Spending<'a> {
    /// Looking at the clock takes longer than a step.
    const BETWEEN_LOOKS: u32 = 256;

    fn new(budget: &'a Budget<'a>) -> Self {
        Spending { budget, spent: 0, until_look: 0, over: None }
    }

    /// Pays for a step; if it cannot be paid for, says why.
    fn step(&mut self) -> Result<(), Reason> {
        self.spent += 1;
        if self.spent > self.budget.steps {
            return Err(Reason::Budget);
        }
        if self.until_look == 0 {
            self.until_look = Self::BETWEEN_LOOKS;
            if self.budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                self.over = Some(Reason::Stopped);
            } else if self.budget.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.over = Some(Reason::Budget);
            }
        }
        self.until_look -= 1;
        self.over.map_or(Ok(()), Err)
    }
}
