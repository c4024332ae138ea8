//! Witnesses that are easy to follow: as few switches between threads as can be had.
//!
//! # What is claimed
//!
//! The order that comes out is in the model and shows the triple, as [`check_order`] judges, and it has no
//! more switches than the one that went in. If it is *proved*, no order that shows the triple has fewer.
//!
//! # How
//!
//! 1. What does not lead to the triple is dropped, and the rest rearranged so that threads run as long as
//!    they can (`dependence`). Only steps that do not depend on each other change places, so that needs no
//!    checking, and costs little more than reading the order.
//! 2. Turns are dropped, and moved to other turns of their threads, as long as the order stays valid
//!    (`turns`). Here dependent steps may change places, too.
//! 3. All schedules with fewer switches are searched, if that is not more than can be done (`search`). That
//!    is the proof. There is none to be had if a bound that is easily seen is reached already.
//!
//! The budget bounds the second and third; the first is always done.

mod dependence;
mod search;
#[cfg(test)]
mod tests;
mod turns;

use crate::interpret::{Defect, Program, StepId, check_order};
use interloper_trace::ThreadId;
use rustc_hash::FxHashSet;

/// An order of events with few switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimised {
    /// The events that have an effect, in order; those that have none are left out.
    pub order: Vec<usize>,
    /// How many times another thread comes to run.
    pub switches: usize,
    /// Whether no order that shows the triple has fewer.
    pub proved: bool,
}

/// How much may be done: roughly the steps that are executed and the words of memory that are copied. Ten
/// million take some tenths of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(pub u64);

impl Default for Budget {
    fn default() -> Self {
        Budget(40_000_000)
    }
}

impl Budget {
    /// Takes half of it.
    fn half(&mut self) -> Budget {
        let half = Budget(self.0 / 2);
        self.0 -= half.0;
        half
    }

    /// Whether there is so much left, which then is spent.
    fn spend(&mut self, work: usize) -> bool {
        let left = self.0.checked_sub(work as u64);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// Makes an order that shows a triple easier to follow, or says what is wrong with it.
pub fn minimise(
    program: &Program<'_>,
    order: &[usize],
    triple: [usize; 3],
    mut budget: Budget,
) -> Result<Minimised, Defect> {
    check_order(program, order, Some(triple))?;
    let given = steps(program, order);
    let wanted = triple.map(|event| program.step_of(event));
    let [Some(first), Some(remote), Some(second)] = wanted else { return Err(Defect::NoTriple(triple)) };
    let goal = Goal { first, remote, second, events: triple };

    // The order up to the triple is as good as the whole.
    let end = given.iter().position(|step| *step == goal.second).map_or(given.len(), |at| at + 1);
    let mut best = given[..end].to_vec();
    let mut rearranged = dependence::rearranged(program, &best, &goal).into_iter();
    if let Some(better) = rearranged.find(|order| switches(order) <= switches(&best) && goal.is_shown(program, order)) {
        best = better;
    }
    let least = least_switches(program, &goal);
    turns::improve(program, &mut best, &goal, least, &mut budget.half());

    let mut proved = switches(&best) <= least;
    if !proved {
        let fewer = search::fewer_switches(program, &goal, switches(&best), &mut budget);
        proved = fewer.is_some();
        if let Some(Some(fewer)) = fewer {
            // What the search executed without need goes again.
            let without = dependence::needed(program, &fewer, &goal);
            best = if goal.is_shown(program, &without) { without } else { fewer };
        }
    }
    let order = events(program, &best);
    Ok(Minimised { order, switches: switches(&best), proved })
}

/// How many times another thread comes to run in an order of events.
pub fn count_switches(program: &Program<'_>, order: &[usize]) -> usize {
    let threads: Vec<ThreadId> = order.iter().filter_map(|&at| program.events().get(at)).map(|e| e.thread).collect();
    threads.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// The triple to be shown.
struct Goal {
    first: StepId,
    remote: StepId,
    second: StepId,
    events: [usize; 3],
}

impl Goal {
    fn is_shown(&self, program: &Program<'_>, steps: &[StepId]) -> bool {
        check_order(program, &events(program, steps), Some(self.events)).is_ok()
    }
}

/// The steps of an order, each where its first event is.
fn steps(program: &Program<'_>, order: &[usize]) -> Vec<StepId> {
    let mut steps: Vec<StepId> = Vec::with_capacity(order.len());
    for step in order.iter().filter_map(|&event| program.step_of(event)) {
        if steps.last() != Some(&step) {
            steps.push(step);
        }
    }
    steps
}

fn events(program: &Program<'_>, steps: &[StepId]) -> Vec<usize> {
    steps.iter().flat_map(|&step| program.events_of(step)).collect()
}

fn switches(steps: &[StepId]) -> usize {
    steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
}

/// So many switches there must be: the region's thread has a turn before the remote one and a turn after,
/// and every other thread that must act has one, or two if it must act both before the region's thread and
/// in its middle.
fn least_switches(program: &Program<'_>, goal: &Goal) -> usize {
    let forkers = |thread: ThreadId| {
        let mut found: FxHashSet<ThreadId> = FxHashSet::default();
        let mut todo = vec![thread];
        while let Some(thread) = todo.pop() {
            let forker = program.fork_of(thread).map(|fork| program.events()[fork].thread);
            todo.extend(forker.filter(|forker| found.insert(*forker)));
        }
        found
    };
    let before_local = forkers(goal.first.thread);
    let mut all: FxHashSet<ThreadId> = before_local.union(&forkers(goal.remote.thread)).copied().collect();
    all.extend([goal.first.thread, goal.remote.thread]);
    all.len() + usize::from(before_local.contains(&goal.remote.thread))
}
