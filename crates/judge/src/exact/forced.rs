//! The orders that hold in every serial order that explains the execution, as far as they can be told without
//! trying.
//!
//! - The order of each thread.
//! - Who finds something must come right after one who leaves it: no other writer in between. Of the blocks that
//!   leave it, those are out that must come after the finder, and those that must come before another
//!   writer which must come before the finder; the initial content is out if a writer must come first. If one
//!   source is left, it comes before the finder, a writer that must come before the finder before the source,
//!   and a writer that must come after the source after the finder. If none is left, that is a contradiction.
//! - Likewise the last writer of a cell must leave the final content.
//!
//! - What blocks find and replace must be made as often: by blocks that leave it and did not find it, and
//!   initially; and once more if it must be there at the end.
//!
//! All but the last are applied until nothing changes. A cycle is a contradiction, too.
//!
//! What must come before a block is kept as a vector clock: of each thread, how many blocks. Along a thread
//! clocks only grow, so what must come *after* a block is found in the clocks of the others by bisection.

use super::Spending;
use super::problem::{Problem, Slot, User, Writer};

/// Must-orders of a problem.
pub(super) struct Forced {
    threads: usize,
    /// For each block, of each thread how many blocks must come before it.
    clocks: Vec<u32>,
    /// Edges beyond the order of threads.
    after: Vec<Vec<u32>>,
}

/// No serial order explains the execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contradiction;

/// Who may be the source of what a block finds.
enum Source {
    Initial,
    Block(Writer),
}

impl Forced {
    /// Applies the rules until nothing changes, or the budget is spent: fewer orders are still right.
    pub(super) fn close(problem: &Problem, spending: &mut Spending<'_>) -> Result<Forced, Contradiction> {
        if problem.balances().iter().any(|balance| *balance < 0) {
            return Err(Contradiction);
        }
        let threads = problem.threads.len();
        let mut forced = Forced { threads, clocks: vec![0; problem.blocks.len() * threads], after: Vec::new() };
        forced.after.resize(problem.blocks.len(), Vec::new());
        for (number, block) in problem.blocks.iter().enumerate() {
            forced.clocks[number * threads + block.thread as usize] = block.rank;
        }
        let mut order: Vec<u32> = (0..problem.blocks.len() as u32).collect();
        order.sort_by_key(|block| problem.blocks[*block as usize].place);
        loop {
            let mut changed = false;
            for &block in &order {
                if spending.step().is_err() {
                    return Ok(forced);
                }
                changed |= forced.explain(problem, block)?;
            }
            for cell in 0..problem.cells.len() {
                changed |= forced.end_with(problem, cell)?;
            }
            if !changed {
                return Ok(forced);
            }
        }
    }

    /// How many blocks of a thread must come before a block.
    pub(super) fn before(&self, block: u32, thread: u32) -> u32 {
        self.clocks[block as usize * self.threads + thread as usize]
    }

    /// What must come before a block, of each thread how many blocks.
    pub(super) fn clock(&self, block: u32) -> &[u32] {
        let from = block as usize * self.threads;
        &self.clocks[from..from + self.threads]
    }

    /// The rank of the first block of a thread that must come after a block.
    pub(super) fn first_after(&self, problem: &Problem, block: u32, thread: u32) -> u32 {
        let blocks = &problem.threads[thread as usize];
        blocks.partition_point(|other| !self.must_precede(problem, block, *other)) as u32
    }

    fn must_precede(&self, problem: &Problem, one: u32, other: u32) -> bool {
        let one = &problem.blocks[one as usize];
        self.before(other, one.thread) > one.rank
    }

    /// What follows from what a block finds.
    fn explain(&mut self, problem: &Problem, block: u32) -> Result<bool, Contradiction> {
        let mut changed = false;
        for effect in &problem.blocks[block as usize].effects {
            let Some(find) = effect.find else { continue };
            let cell = effect.cell as usize;
            match self.only_source(problem, block, cell, find)? {
                None => {}
                Some(Source::Initial) => {
                    for user in &problem.cells[cell].users {
                        let first = user.writes.iter().find(|writer| writer.block != block);
                        if let Some(first) = first {
                            changed |= self.order(problem, block, first.block)?;
                        }
                    }
                }
                Some(Source::Block(source)) => changed |= self.right_after(problem, block, cell, source)?,
            }
        }
        Ok(changed)
    }

    /// The only one who may be the source of what a block finds; `None` if there are several.
    fn only_source(
        &self,
        problem: &Problem,
        block: u32,
        cell: usize,
        find: Slot,
    ) -> Result<Option<Source>, Contradiction> {
        let facts = &problem.cells[cell];
        let mut only = None;
        let mut nobody_before = true;
        for user in &facts.users {
            let last = self.last_before(block, user);
            nobody_before &= last.is_none();
            if let Some(last) = last.filter(|last| last.leave.suits(find)) {
                let is_overwritten = facts
                    .users
                    .iter()
                    .filter_map(|other| self.last_before(block, other))
                    .any(|other| other.block != last.block && self.must_precede(problem, last.block, other.block));
                if !is_overwritten && only.replace(Source::Block(*last)).is_some() {
                    return Ok(None);
                }
            }
            let (from, to) = (self.before(block, user.thread), self.first_after(problem, block, user.thread));
            for list in [&problem.producers[find.index()], &facts.wild] {
                let at = |rank| list.partition_point(|writer| (writer.thread, writer.rank) < (user.thread, rank));
                let between = list[at(from)..at(to.max(from))].iter().filter(|writer| writer.block != block);
                for writer in between.take(2) {
                    if only.replace(Source::Block(*writer)).is_some() {
                        return Ok(None);
                    }
                }
            }
        }
        if nobody_before && facts.initial.suits(find) && only.replace(Source::Initial).is_some() {
            return Ok(None);
        }
        only.map(Some).ok_or(Contradiction)
    }

    /// The last writer of a thread among those that must come before a block.
    fn last_before<'p>(&self, block: u32, user: &'p User) -> Option<&'p Writer> {
        let before = self.before(block, user.thread);
        user.writes[..user.writes.partition_point(|writer| writer.rank < before)].last()
    }

    /// A block comes after a source, with no other writer in between.
    fn right_after(
        &mut self,
        problem: &Problem,
        block: u32,
        cell: usize,
        source: Writer,
    ) -> Result<bool, Contradiction> {
        let mut changed = self.order(problem, source.block, block)?;
        for user in &problem.cells[cell].users {
            if let Some(last) = self.last_before(block, user)
                && last.block != source.block
            {
                changed |= self.order(problem, last.block, source.block)?;
            }
            let overwritten =
                user.writes.partition_point(|writer| !self.must_precede(problem, source.block, writer.block));
            if let Some(writer) = user.writes.get(overwritten)
                && writer.block != block
            {
                changed |= self.order(problem, block, writer.block)?;
            }
        }
        Ok(changed)
    }

    /// What follows from the final content of a cell.
    fn end_with(&mut self, problem: &Problem, cell: usize) -> Result<bool, Contradiction> {
        let facts = &problem.cells[cell];
        let Some(wanted) = facts.last else { return Ok(false) };
        let last_writers = || facts.users.iter().filter_map(|user| user.writes.last());
        let mut candidates = last_writers().filter(|writer| {
            writer.leave.suits(wanted)
                && !last_writers()
                    .any(|other| other.block != writer.block && self.must_precede(problem, writer.block, other.block))
        });
        let (Some(last), more) = (candidates.next(), candidates.next()) else { return Err(Contradiction) };
        if more.is_some() {
            return Ok(false);
        }
        let mut changed = false;
        for other in last_writers().filter(|other| other.block != last.block) {
            changed |= self.order(problem, other.block, last.block)?;
        }
        Ok(changed)
    }

    /// Puts a block before another. Whether that is news.
    fn order(&mut self, problem: &Problem, one: u32, other: u32) -> Result<bool, Contradiction> {
        if self.must_precede(problem, one, other) {
            return Ok(false);
        }
        if one == other || self.must_precede(problem, other, one) {
            return Err(Contradiction);
        }
        self.after[one as usize].push(other);
        let mut pending = vec![(one, other)];
        while let Some((from, to)) = pending.pop() {
            if self.merge(problem, from, to) {
                let Problem { blocks, threads, .. } = problem;
                let block = &blocks[to as usize];
                let next = threads[block.thread as usize].get(block.rank as usize + 1);
                pending.extend(next.map(|next| (to, *next)));
                pending.extend(self.after[to as usize].iter().map(|after| (to, *after)));
            }
        }
        Ok(true)
    }

    /// Whatever must come before the one must come before the other, and so must the one.
    fn merge(&mut self, problem: &Problem, one: u32, other: u32) -> bool {
        let first = &problem.blocks[one as usize];
        let mut changed = false;
        for thread in 0..self.threads {
            let own = if thread == first.thread as usize { first.rank + 1 } else { 0 };
            let known = self.clocks[one as usize * self.threads + thread].max(own);
            let clock = &mut self.clocks[other as usize * self.threads + thread];
            if known > *clock {
                *clock = known;
                changed = true;
            }
        }
        changed
    }
}
