//! The search for a serial order.
//!
//! A state is how many blocks each thread has done, and what the cells hold. A block can be next if it finds what
//! it must and all that must come before it has been done. States are not visited twice, and not all of them are
//! visited at all:
//!
//! - *A reader* (a block that leaves everything as it finds it) that can be next is next: wherever else an order
//!   has it, it changes nothing there, so it can be moved here.
//! - *Persistent sets.* Let `P` be a set of threads such that no other thread has a block still to come which
//!   conflicts with the next block of one in `P`, other than blocks that must come after it. Of any order from here on,
//!   take the first block of a thread in `P`: nothing before it in that order conflicts with it, so it can be
//!   moved here. So only the next blocks of `P` need to be tried, and if none of them can be next, there is no
//!   order. `P` is closed from one thread; of all that it may be closed from, the smallest is taken.
//! - *Dead ends.* If the rest cannot be balanced (see [`forced`](super::forced)) after a content was overwritten by
//!   a block that did not find it. If a content is overwritten that somebody has still to find, and nobody left leaves it; or if
//!   nobody left leaves the final content of a cell that is yet to be written.
//!
//! Blocks are tried in an order near the observed one, so that an execution that is nearly serial is done in one
//! go.

use super::Spending;
use super::forced::Forced;
use super::problem::{Effect, Problem, Slot};
use crate::Reason;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash as _, Hasher as _};

/// What came of a search.
pub(super) enum Found {
    /// There is no such order.
    None,
    /// There is one.
    Order {
        /// Whether it is one whatever the values are that are not known.
        is_certain: bool,
    },
    /// It took too long.
    GaveUp(Reason),
}

/// Searches for an order that explains everything.
pub(super) fn search(problem: &Problem, forced: &Forced, spending: &mut Spending<'_>) -> Found {
    let mut search = Search::new(problem, forced);
    let mut seen: FxHashSet<u128> = FxHashSet::default();
    let mut path = vec![Branch { choices: search.choices(), next: 0, done: None }];
    loop {
        if search.left == 0 {
            return Found::Order { is_certain: search.assumed == 0 && !problem.is_lenient };
        }
        let Some(branch) = path.last_mut() else { return Found::None };
        let Some(&thread) = branch.choices.get(branch.next) else {
            let done = path.pop().and_then(|branch| branch.done);
            if let Some(done) = done {
                search.undo(done);
            }
            continue;
        };
        branch.next += 1;
        if let Err(reason) = spending.step() {
            return Found::GaveUp(reason);
        }
        let (done, is_dead_end) = search.execute(thread);
        if is_dead_end {
            search.undo(done);
            continue;
        }
        let choices = search.choices();
        // Where there is no choice, coming back costs no more than finding out that one has been there.
        if choices.len() > 1 && !seen.insert(search.hash) {
            search.undo(done);
            continue;
        }
        path.push(Branch { choices, next: 0, done: Some(done) });
    }
}

struct Branch {
    choices: Vec<u32>,
    /// The next choice to try.
    next: usize,
    /// What led here.
    done: Option<Done>,
}

/// A block that was executed, and what it took to do so.
struct Done {
    thread: u32,
    /// The length of [`Search::overwritten`] before.
    mark: usize,
    assumed: u32,
}

struct Search<'p> {
    problem: &'p Problem,
    forced: &'p Forced,
    /// Of each thread, how many blocks have been done.
    done: Vec<u32>,
    /// How many blocks are to be done.
    left: usize,
    memory: Vec<Slot>,
    /// For each slot, how many blocks have still to find it, and how many will leave it.
    finders: Vec<u32>,
    leavers: Vec<u32>,
    /// For each cell, how many have still to find something in it, will write, and will leave anything at all.
    cell_finders: Vec<u32>,
    cell_writers: Vec<u32>,
    wild_writers: Vec<u32>,
    /// [`Problem::balances`], of what is left.
    balances: Vec<i64>,
    /// How often a content that may be anything was taken to be what was wanted.
    assumed: u32,
    overwritten: Vec<(u32, Slot)>,
    /// Of the state: of what has been done, and of cells in which somebody has still to find something.
    hash: u128,
    /// For a block and a thread: from which rank on was looked, and the first conflict from there.
    conflicts: Vec<(u32, u32)>,
}

/// No conflict.
const NONE: u32 = u32::MAX;

/// Of how many threads sets are closed to find the smallest.
const ATTEMPTS: usize = 8;

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, forced: &'p Forced) -> Self {
        let mut search = Search {
            problem,
            forced,
            done: vec![0; problem.threads.len()],
            left: problem.blocks.len(),
            memory: problem.cells.iter().map(|cell| cell.initial).collect(),
            finders: vec![0; problem.producers.len()],
            leavers: problem.producers.iter().map(|producers| producers.len() as u32).collect(),
            cell_finders: vec![0; problem.cells.len()],
            cell_writers: problem
                .cells
                .iter()
                .map(|cell| cell.users.iter().map(|user| user.writes.len() as u32).sum())
                .collect(),
            wild_writers: problem.cells.iter().map(|cell| cell.wild.len() as u32).collect(),
            balances: problem.balances(),
            assumed: 0,
            overwritten: Vec::new(),
            hash: 0,
            conflicts: vec![(NONE, NONE); problem.blocks.len() * problem.threads.len()],
        };
        for effect in problem.blocks.iter().flat_map(|block| &block.effects) {
            if let Some(find) = effect.find {
                search.finders[find.index()] += 1;
                search.cell_finders[effect.cell as usize] += 1;
            }
        }
        search
    }

    /// The next block of a thread.
    fn next(&self, thread: u32) -> Option<u32> {
        self.problem.threads[thread as usize].get(self.done[thread as usize] as usize).copied()
    }

    /// The threads whose next blocks need to be tried.
    fn choices(&mut self) -> Vec<u32> {
        let mut threads: Vec<(u32, u32)> = (0..self.done.len() as u32)
            .filter_map(|thread| Some((self.problem.blocks[self.next(thread)? as usize].place, thread)))
            .collect();
        threads.sort_unstable();
        let mut best: Option<Vec<u32>> = None;
        for &(_, thread) in &threads {
            let Some(block) = self.next(thread) else { continue };
            if self.problem.blocks[block as usize].is_reader && self.can_be_next(block, true) {
                return vec![thread];
            }
        }
        for &(_, thread) in threads.iter().take(ATTEMPTS) {
            let set = self.persistent(thread);
            let choices: Vec<u32> = (threads.iter().map(|(_, thread)| *thread))
                .filter(|thread| set[*thread as usize])
                .filter(|thread| self.next(*thread).is_some_and(|block| self.can_be_next(block, false)))
                .collect();
            let is_better = best.as_ref().is_none_or(|best| choices.len() < best.len());
            if is_better {
                let is_enough = choices.len() <= 1;
                best = Some(choices);
                if is_enough {
                    break;
                }
            }
        }
        best.unwrap_or_default()
    }

    /// Whether a block finds what it must, and has nothing to wait for.
    fn can_be_next(&self, block: u32, for_certain: bool) -> bool {
        let effects = &self.problem.blocks[block as usize].effects;
        let clock = self.forced.clock(block);
        let finds = effects.iter().all(|effect| {
            let content = self.memory[effect.cell as usize];
            effect.find.is_none_or(|find| if for_certain { content == find } else { content.suits(find) })
        });
        finds && clock.iter().zip(&self.done).all(|(before, done)| before <= done)
    }

    /// A set of threads, with the given one, whose next blocks no other thread can interfere with.
    fn persistent(&mut self, thread: u32) -> Vec<bool> {
        let mut set = vec![false; self.done.len()];
        set[thread as usize] = true;
        let mut pending = vec![thread];
        while let Some(member) = pending.pop() {
            let Some(block) = self.next(member) else { continue };
            for other in 0..set.len() as u32 {
                if !set[other as usize] && self.interferes(block, other) {
                    set[other as usize] = true;
                    pending.push(other);
                }
            }
        }
        set
    }

    /// Whether a thread has a block to come that conflicts with this one and need not come after it.
    fn interferes(&mut self, block: u32, thread: u32) -> bool {
        let from = self.done[thread as usize];
        let place = block as usize * self.done.len() + thread as usize;
        let (looked_from, first) = self.conflicts[place];
        if looked_from <= from && (from <= first || first == NONE) && looked_from != NONE {
            return first != NONE;
        }
        let first = self.first_conflict(block, thread, from);
        self.conflicts[place] = (from, first);
        first != NONE
    }

    fn first_conflict(&self, block: u32, thread: u32, from: u32) -> u32 {
        let must_follow = self.forced.first_after(self.problem, block, thread);
        let mut first = NONE;
        for effect in &self.problem.blocks[block as usize].effects {
            let users = &self.problem.cells[effect.cell as usize].users;
            let Some(user) = users.iter().find(|user| user.thread == thread) else { continue };
            let conflict = if effect.leave.is_some() {
                user.touches.get(user.touches.partition_point(|rank| *rank < from)).copied()
            } else {
                user.writes.get(user.writes.partition_point(|writer| writer.rank < from)).map(|writer| writer.rank)
            };
            first = conflict.map_or(first, |conflict| first.min(conflict));
        }
        if first < must_follow { first } else { NONE }
    }

    /// Executes the next block of a thread. Whether nothing can come of it.
    fn execute(&mut self, thread: u32) -> (Done, bool) {
        let done = Done { thread, mark: self.overwritten.len(), assumed: self.assumed };
        let Some(block) = self.next(thread) else { return (done, true) };
        let problem = self.problem;
        let mut is_dead_end = false;
        self.step(thread, 1);
        for effect in &problem.blocks[block as usize].effects {
            let cell = effect.cell as usize;
            let before = self.memory[cell];
            self.overwritten.push((effect.cell, before));
            self.hash ^= self.weight(cell);
            if let Some(find) = effect.find {
                self.finders[find.index()] -= 1;
                self.cell_finders[cell] -= 1;
                self.assumed += u32::from(before == Slot::WILD);
                self.memory[cell] = find;
            }
            if let Some(leave) = effect.leave {
                self.cell_writers[cell] -= 1;
                match leave {
                    Slot::WILD => self.wild_writers[cell] -= 1,
                    leave => self.leavers[leave.index()] -= 1,
                }
                let found = self.memory[cell];
                self.memory[cell] = leave;
                if let Some(wasted) = wasted(effect, before) {
                    self.balances[wasted.index()] -= 1;
                    is_dead_end |= self.balances[wasted.index()] < 0;
                }
                is_dead_end |= found != Slot::WILD && !leave.suits(found) && self.is_lost(cell, found);
                is_dead_end |= self.ends_badly(cell);
            }
            self.hash ^= self.weight(cell);
        }
        (done, is_dead_end)
    }

    /// Whether somebody has still to find this, and nobody will leave it.
    fn is_lost(&self, cell: usize, slot: Slot) -> bool {
        self.finders[slot.index()] > 0 && self.leavers[slot.index()] + self.wild_writers[cell] == 0
    }

    /// Whether a cell cannot end as it must.
    fn ends_badly(&mut self, cell: usize) -> bool {
        let Some(last) = self.problem.cells[cell].last else { return false };
        if self.cell_writers[cell] > 0 {
            return self.leavers[last.index()] + self.wild_writers[cell] == 0;
        }
        let content = self.memory[cell];
        self.assumed += u32::from(content == Slot::WILD);
        !content.suits(last)
    }

    fn undo(&mut self, done: Done) {
        self.step(done.thread, -1);
        let Some(block) = self.next(done.thread) else { return };
        let problem = self.problem;
        for effect in problem.blocks[block as usize].effects.iter().rev() {
            let cell = effect.cell as usize;
            self.hash ^= self.weight(cell);
            if let Some(find) = effect.find {
                self.finders[find.index()] += 1;
                self.cell_finders[cell] += 1;
            }
            if let Some(leave) = effect.leave {
                self.cell_writers[cell] += 1;
                match leave {
                    Slot::WILD => self.wild_writers[cell] += 1,
                    leave => self.leavers[leave.index()] += 1,
                }
            }
            if let Some((_, before)) = self.overwritten.pop() {
                self.memory[cell] = before;
                if let Some(wasted) = wasted(effect, before) {
                    self.balances[wasted.index()] += 1;
                }
            }
            self.hash ^= self.weight(cell);
        }
        debug_assert_eq!(self.overwritten.len(), done.mark);
        self.assumed = done.assumed;
    }

    /// A thread goes one block on, or back.
    fn step(&mut self, thread: u32, by: i32) {
        let done = self.done[thread as usize];
        self.hash ^= mixed(0, thread, done);
        let done = done.wrapping_add_signed(by);
        self.hash ^= mixed(0, thread, done);
        self.done[thread as usize] = done;
        self.left = self.left.wrapping_add_signed(-by as isize);
    }

    /// What a cell contributes to the hash of the state: nothing, once nobody has anything to find there.
    fn weight(&self, cell: usize) -> u128 {
        if self.cell_finders[cell] == 0 { 0 } else { mixed(1, cell as u32, self.memory[cell].0) }
    }
}

/// The content that was made, and is overwritten by somebody who does not count as using it up; or made again.
fn wasted(effect: &Effect, before: Slot) -> Option<Slot> {
    let leave = effect.leave?;
    let overwritten = effect.find.unwrap_or(before);
    (overwritten != Slot::WILD && (effect.find.is_none() || leave == Slot::WILD)).then_some(overwritten)
}

/// A hash so wide that two states with the same one are not to be expected in the life of the universe.
fn mixed(kind: u32, one: u32, other: u32) -> u128 {
    let half = |seed: u64| {
        let mut hasher = FxHasher::default();
        (seed, kind, one, other).hash(&mut hasher);
        // A finaliser: what the hasher leaves is uneven in its low bits.
        let mut bits = hasher.finish();
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    };
    u128::from(half(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(half(0xc2b2_ae3d_27d4_eb4f))
}
