//! Dropping and moving whole turns, as long as the order stays valid.
//!
//! Every move that is tried saves a switch or two: a turn goes to another one of its thread, or goes.

use super::{Budget, Goal};
use crate::interpret::{Program, StepId};
use interloper_trace::ThreadId;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Improves an order until nothing helps, no more is to be had, or the budget is spent.
pub(super) fn improve(program: &Program<'_>, best: &mut Vec<StepId>, goal: &Goal, least: usize, budget: &mut Budget) {
    let mut turns = Turns::of(best);
    loop {
        let mut improved = false;
        // From the end: most of what comes before the triple is there for something later.
        let mut turn = turns.all.len();
        while turn > 0 && turns.all.len() > least + 1 {
            turn = turn.min(turns.all.len()) - 1;
            for place in turns.places(turn) {
                if !budget.spend(CHECKING * best.len()) {
                    return;
                }
                let order = turns.with(best, turn, place);
                if goal.is_shown(program, &order) {
                    turns = Turns::of(&order);
                    *best = order;
                    improved = true;
                    break;
                }
            }
        }
        if !improved {
            return;
        }
    }
}

/// What it costs to check a step of an order, against executing it.
const CHECKING: usize = 4;

/// Where a turn may go.
#[derive(Clone, Copy)]
enum Place {
    Nowhere,
    Behind(usize),
    Before(usize),
}

/// An order cut where another thread comes to run.
struct Turns {
    all: Vec<Range<usize>>,
    /// For each turn, the one before it of the same thread.
    before: Vec<Option<usize>>,
    after: Vec<Option<usize>>,
}

impl Turns {
    fn of(order: &[StepId]) -> Self {
        let mut turns = Turns { all: Vec::new(), before: Vec::new(), after: Vec::new() };
        let mut latest: FxHashMap<ThreadId, usize> = FxHashMap::default();
        let mut begin = 0;
        for turn in order.chunk_by(|a, b| a.thread == b.thread) {
            let number = turns.all.len();
            let before = latest.insert(turn[0].thread, number);
            if let Some(before) = before {
                turns.after[before] = Some(number);
            }
            turns.all.push(begin..begin + turn.len());
            turns.before.push(before);
            turns.after.push(None);
            begin += turn.len();
        }
        turns
    }

    /// Where a turn may go, so that there are fewer.
    fn places(&self, turn: usize) -> impl Iterator<Item = Place> + use<> {
        let nowhere = self.after[turn].is_none().then_some(Place::Nowhere);
        [nowhere, self.before[turn].map(Place::Behind), self.after[turn].map(Place::Before)].into_iter().flatten()
    }

    /// The order with a turn gone elsewhere.
    fn with(&self, order: &[StepId], turn: usize, place: Place) -> Vec<StepId> {
        let moved = &order[self.all[turn].clone()];
        let mut changed = Vec::with_capacity(order.len());
        for (number, other) in self.all.iter().enumerate() {
            if matches!(place, Place::Before(to) if to == number) {
                changed.extend_from_slice(moved);
            }
            if number != turn {
                changed.extend_from_slice(&order[other.clone()]);
            }
            if matches!(place, Place::Behind(to) if to == number) {
                changed.extend_from_slice(moved);
            }
        }
        changed
    }
}
