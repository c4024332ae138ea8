//! Blocks and cells as the exact check wants them: what is equal has one number.

use crate::blocks::{BlockId, Blocks, Content};
use crate::cells::Cell;
use rustc_hash::FxHashMap;

/// What a value that is not known may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknowns {
    /// Whatever is wanted, each for itself. What is impossible so is impossible.
    Anything,
    /// Equal to itself and nothing else. What is possible so is possible.
    Themselves,
}

/// A content of a cell: equal numbers are equal contents of the same cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Slot(pub(super) u32);

impl Slot {
    /// May be anything.
    pub(super) const WILD: Slot = Slot(u32::MAX);

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether somebody who wants the other may be content with this.
    pub(super) fn suits(self, wanted: Slot) -> bool {
        self == wanted || self == Slot::WILD
    }
}

/// A block. Threads, ranks and cells are numbered within the problem.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) thread: u32,
    pub(super) rank: u32,
    /// Its place in an order near the observed one.
    pub(super) place: u32,
    pub(super) effects: Vec<Effect>,
    /// Whether it leaves everything as it finds it.
    pub(super) is_reader: bool,
}

/// What a block does to a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effect {
    pub(super) cell: u32,
    pub(super) find: Option<Slot>,
    pub(super) leave: Option<Slot>,
}

/// A cell.
#[derive(Clone, Debug)]
pub(super) struct CellFacts {
    pub(super) initial: Slot,
    /// What it must hold at the end, if that is known.
    pub(super) last: Option<Slot>,
    /// Who uses it, by thread.
    pub(super) users: Vec<User>,
    /// Who may leave anything.
    pub(super) wild: Vec<Writer>,
    /// Its contents.
    pub(super) slots: Vec<Slot>,
}

/// How one thread uses a cell.
#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) thread: u32,
    /// The ranks of its blocks that use it at all, ascending.
    pub(super) touches: Vec<u32>,
    /// Of those that write, ascending.
    pub(super) writes: Vec<Writer>,
}

/// A block that writes a cell. Ordered by thread, then by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Writer {
    pub(super) thread: u32,
    pub(super) rank: u32,
    pub(super) block: u32,
    pub(super) leave: Slot,
}

/// Threads that share cells with each other and with no others.
#[derive(Debug, Default)]
pub(super) struct Problem {
    pub(super) blocks: Vec<Block>,
    /// The blocks of each thread, in its order.
    pub(super) threads: Vec<Vec<u32>>,
    pub(super) cells: Vec<CellFacts>,
    /// Who leaves each slot, sorted.
    pub(super) producers: Vec<Vec<Writer>>,
    /// Whether a read or a final value is not asked for because it is not known.
    pub(super) is_lenient: bool,
}

impl Problem {
    /// The independent problems that blocks pose. `order` has a place for each block.
    pub(super) fn split(blocks: &Blocks, order: &[u32], unknowns: Unknowns) -> Vec<Problem> {
        let groups = groups(blocks);
        groups.iter().map(|threads| Builder::new(blocks, order, unknowns).build(threads)).collect()
    }
}

impl Problem {
    /// For each slot, how often it is made at most, initially included, less how often it is used up, or must be
    /// there at the end.
    pub(super) fn balances(&self) -> Vec<i64> {
        let mut balances = vec![0; self.producers.len()];
        for effect in self.blocks.iter().flat_map(|block| &block.effects) {
            for (slot, by) in
                [effect.makes().map(|slot| (slot, 1)), effect.uses_up().map(|slot| (slot, -1))].into_iter().flatten()
            {
                balances[slot.index()] += by;
            }
        }
        for cell in &self.cells {
            let wild = cell.wild.len() as i64 + i64::from(cell.initial == Slot::WILD);
            if cell.initial != Slot::WILD {
                balances[cell.initial.index()] += 1;
            }
            if let Some(last) = cell.last {
                balances[last.index()] -= 1;
            }
            for slot in &cell.slots {
                balances[slot.index()] += wild;
            }
        }
        balances
    }
}

impl Effect {
    /// What is there after it and was not before.
    pub(super) fn makes(&self) -> Option<Slot> {
        self.leave.filter(|leave| *leave != Slot::WILD && self.find != Some(*leave))
    }

    /// What it finds and replaces for certain.
    pub(super) fn uses_up(&self) -> Option<Slot> {
        let leave = self.leave.filter(|leave| *leave != Slot::WILD)?;
        self.find.filter(|find| *find != leave)
    }
}

/// Threads that belong together: they use a common cell, directly or through others.
fn groups(blocks: &Blocks) -> Vec<Vec<usize>> {
    let mut leader: Vec<usize> = (0..blocks.threads.len()).collect();
    fn find(leader: &mut [usize], mut thread: usize) -> usize {
        while leader[thread] != thread {
            leader[thread] = leader[leader[thread]];
            thread = leader[thread];
        }
        thread
    }
    let mut user: Vec<Option<usize>> = vec![None; blocks.cells.len()];
    for effect in &blocks.effects {
        let thread = blocks.blocks[effect.block.index()].thread as usize;
        let other = *user[effect.cell.index()].get_or_insert(thread);
        let (one, other) = (find(&mut leader, thread), find(&mut leader, other));
        leader[one.max(other)] = one.min(other);
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); blocks.threads.len()];
    for thread in 0..blocks.threads.len() {
        groups[find(&mut leader, thread)].push(thread);
    }
    // Alone, a thread is in its own order, and nothing of it is shared.
    groups.retain(|group| group.len() > 1);
    groups
}

struct Builder<'b> {
    blocks: &'b Blocks,
    order: &'b [u32],
    unknowns: Unknowns,
    cells: FxHashMap<Cell, u32>,
    slots: FxHashMap<(u32, Content), Slot>,
    problem: Problem,
}

impl<'b> Builder<'b> {
    fn new(blocks: &'b Blocks, order: &'b [u32], unknowns: Unknowns) -> Self {
        let (cells, slots) = (FxHashMap::default(), FxHashMap::default());
        Builder { blocks, order, unknowns, cells, slots, problem: Problem::default() }
    }

    fn build(mut self, threads: &[usize]) -> Problem {
        for (thread, number) in threads.iter().zip(0..) {
            self.problem.threads.push(Vec::new());
            for &block in &self.blocks.threads[*thread] {
                // What has to do with nobody else has its place anywhere.
                if !self.blocks.effects_of(block).is_empty() {
                    self.add(block, number);
                }
            }
        }
        for cell in &mut self.problem.cells {
            for writer in cell.users.iter().flat_map(|user| &user.writes) {
                match writer.leave {
                    Slot::WILD => cell.wild.push(*writer),
                    slot => self.problem.producers[slot.index()].push(*writer),
                }
            }
        }
        for ((cell, _), slot) in &self.slots {
            self.problem.cells[*cell as usize].slots.push(*slot);
        }
        self.problem
    }

    /// Adds the next block of a thread. Threads come one after the other, so all lists are sorted.
    fn add(&mut self, id: BlockId, thread: u32) {
        let number = self.problem.blocks.len() as u32;
        let rank = self.problem.threads[thread as usize].len() as u32;
        let mut effects = Vec::new();
        for effect in self.blocks.effects_of(id) {
            let cell = self.cell(effect.cell);
            // A read of what is not known is content with anything; a write may leave anything.
            let find = self.wanted(cell, effect.find);
            let leave = effect.leave.map(|content| self.slot(cell, content));
            let users = &mut self.problem.cells[cell as usize].users;
            if users.last().is_none_or(|user| user.thread != thread) {
                users.push(User { thread, touches: Vec::new(), writes: Vec::new() });
            }
            if let Some(user) = users.last_mut() {
                user.touches.push(rank);
                user.writes.extend(leave.map(|leave| Writer { thread, rank, block: number, leave }));
            }
            effects.push(Effect { cell, find, leave });
        }
        let is_reader = effects.iter().all(|effect| effect.leave.is_none() || effect.leave == effect.find);
        let place = self.order[id.index()];
        self.problem.blocks.push(Block { thread, rank, place, effects, is_reader });
        self.problem.threads[thread as usize].push(number);
    }

    fn cell(&mut self, cell: Cell) -> u32 {
        if let Some(&known) = self.cells.get(&cell) {
            return known;
        }
        let number = self.problem.cells.len() as u32;
        self.cells.insert(cell, number);
        let facts = &self.blocks.cells[cell.index()];
        let initial = self.slot(number, facts.initial);
        let last = self.wanted(number, facts.last);
        self.problem.cells.push(CellFacts { initial, last, users: Vec::new(), wild: Vec::new(), slots: Vec::new() });
        number
    }

    /// What must be found, if that is known.
    fn wanted(&mut self, cell: u32, content: Option<Content>) -> Option<Slot> {
        let slot = self.slot(cell, content?);
        self.problem.is_lenient |= slot == Slot::WILD;
        (slot != Slot::WILD).then_some(slot)
    }

    fn slot(&mut self, cell: u32, content: Content) -> Slot {
        if self.unknowns == Unknowns::Anything && content.known().is_none() {
            return Slot::WILD;
        }
        let producers = &mut self.problem.producers;
        *self.slots.entry((cell, content)).or_insert_with(|| {
            producers.push(Vec::new());
            Slot(producers.len() as u32 - 1)
        })
    }
}
