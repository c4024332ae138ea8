//! Where an address is, in terms that outlive the address: which block of the heap, which life of a
//! part of which stack, or static memory.
//!
//! Blocks and stacks are known from the records about them. A part of a stack begins a new life when
//! the functions that used it have returned: what lies there then is another variable. A block that was
//! freed is still where it was until something else is there: who uses it then uses that block.

use interloper_wire::{HotRange, Space};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Where an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Spot {
    /// Static memory, or memory that nobody told about: the address itself.
    Static(u64),
    /// In a block.
    Heap { number: u64, offset: u64 },
    /// On a stack: so far down from its beginning, in the life that began with this many drops.
    Stack { thread: u32, life: u32, offset: u64 },
}

/// A block of the heap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    pub(super) len: u64,
    pub(super) number: u64,
    /// The call that made it, and the two around that.
    pub(super) calls: [u64; 3],
    pub(super) is_freed: bool,
}

#[derive(Clone, Debug)]
struct Stack {
    /// One past its highest address.
    top: u64,
    thread: u32,
    /// Lives: from which address downwards, and the number of the life. The later ones reach less
    /// far up, since a drop that reaches further ends all below it.
    drops: Vec<(u64, u32)>,
    lives: u32,
    /// What the trace speaks of, in its present life. A drop of nothing of this makes no new life: it
    /// depends on what is logged which drops are told.
    touched: BTreeSet<u64>,
}

/// All blocks and stacks.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// By where they begin.
    blocks: BTreeMap<u64, Block>,
    /// The one that was found last, and where it begins: the next address is mostly in it, too.
    found: Cell<Option<(u64, Block)>>,
    /// By where they end: their lowest address.
    stacks: BTreeMap<u64, Stack>,
    changes: u64,
}

impl Memory {
    /// How often something has come into being or ceased to be. Until the next time, an address stays
    /// where it is.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Where an address is.
    pub(super) fn spot(&self, address: u64) -> Spot {
        // In this order, as the runtime does: the program may make a stack of a block.
        if let Some((begin, block)) = self.block(address) {
            return Spot::Heap { number: block.number, offset: address - begin };
        }
        let Some(stack) = self.stack(address) else { return Spot::Static(address) };
        let reach = stack.drops.partition_point(|(from, _)| *from > address);
        let life = reach.checked_sub(1).map_or(0, |last| stack.drops[last].1);
        Spot::Stack { thread: stack.thread, life, offset: stack.top - address }
    }

    /// Where an address is of which something is said in the trace.
    pub(super) fn touch(&mut self, address: u64) -> Spot {
        let spot = self.spot(address);
        if let Spot::Stack { .. } = spot
            && let Some(stack) = self.stack_mut(address)
        {
            stack.touched.insert(address);
        }
        spot
    }

    /// The cell of eight bytes that an address is in, as [`HotRange`]s name it.
    pub(super) fn cell(&self, address: u64) -> HotRange {
        let base = address & !7;
        let (space, number, offset) = match self.spot(address) {
            Spot::Static(_) => (Space::Static, 0, base),
            Spot::Heap { number, offset } => (Space::Heap, number, offset.wrapping_sub(address - base)),
            Spot::Stack { thread, offset, .. } => (Space::Stack, u64::from(thread), offset + (address - base)),
        };
        HotRange { space: space as u8, number, offset, len: 8 }
    }

    /// The block that holds an address.
    pub(super) fn block_at(&self, address: u64) -> Option<Block> {
        self.block(address).map(|(_, block)| block)
    }

    /// A block comes into being. Whatever was there before is gone, even if nobody said so.
    pub(super) fn allocate(&mut self, address: u64, block: Block) {
        let end = address.saturating_add(block.len.max(1));
        while let Some((begin, _)) = self.last_block(address, end) {
            self.blocks.remove(&begin);
        }
        self.changes += 1;
        self.found.set(None);
        self.blocks.insert(address, block);
    }

    /// Something is here that is no block: what is left of freed ones is gone.
    pub(super) fn clear(&mut self, begin: u64, end: u64) {
        self.changes += 1;
        self.found.set(None);
        let mut end = end;
        while let Some((at, is_freed)) = self.last_block(begin, end) {
            if is_freed {
                self.blocks.remove(&at);
            }
            end = at;
        }
    }

    /// The last block that reaches into a range: where it begins, and whether it was freed.
    fn last_block(&self, begin: u64, end: u64) -> Option<(u64, bool)> {
        let (&at, block) = self.blocks.range(..end).next_back()?;
        (at.saturating_add(block.len.max(1)) > begin).then_some((at, block.is_freed))
    }

    /// A block ceases to be.
    pub(super) fn free(&mut self, address: u64, number: u64) -> Option<Block> {
        self.changes += 1;
        self.found.set(None);
        let block = self.blocks.get_mut(&address).filter(|block| block.number == number && !block.is_freed)?;
        block.is_freed = true;
        Some(*block)
    }

    /// A thread has a stack, from its highest address down to its lowest.
    pub(super) fn add_stack(&mut self, thread: u32, top: u64, end: u64) {
        if end >= top {
            return;
        }
        self.clear(end, top);
        // Stacks of threads that have ended are used again.
        while let Some((&low, old)) = self.stacks.range(..top).next_back()
            && old.top > end
        {
            self.stacks.remove(&low);
        }
        self.stacks.insert(end, Stack { top, thread, drops: Vec::new(), lives: 0, touched: BTreeSet::new() });
    }

    /// Whatever lay below this address on the stack that it is on is gone.
    pub(super) fn drop_stack(&mut self, address: u64) {
        self.changes += 1;
        // What is dropped lies below; the address itself may be the very top.
        let Some(stack) = self.stack_mut(address.saturating_sub(1)) else { return };
        let kept = stack.touched.split_off(&address);
        if std::mem::replace(&mut stack.touched, kept).is_empty() {
            return;
        }
        stack.lives += 1;
        while stack.drops.last().is_some_and(|(from, _)| *from <= address) {
            stack.drops.pop();
        }
        stack.drops.push((address, stack.lives));
    }

    fn block(&self, address: u64) -> Option<(u64, Block)> {
        let holds = |(begin, block): &(u64, Block)| address.wrapping_sub(*begin) < block.len.max(1);
        if let Some(found) = self.found.get().filter(holds) {
            return Some(found);
        }
        let (&begin, &block) = self.blocks.range(..=address).next_back()?;
        let found = Some((begin, block)).filter(holds)?;
        self.found.set(Some(found));
        Some(found)
    }

    fn stack(&self, address: u64) -> Option<&Stack> {
        let (_, stack) = self.stacks.range(..=address).next_back()?;
        (address < stack.top).then_some(stack)
    }

    fn stack_mut(&mut self, address: u64) -> Option<&mut Stack> {
        let (_, stack) = self.stacks.range_mut(..=address).next_back()?;
        (address < stack.top).then_some(stack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_replace_one_another() {
        let mut memory = Memory::default();
        let block = |number, len| Block { len, number, ..Block::default() };
        memory.allocate(0x100, block(1, 16));
        memory.allocate(0x110, block(2, 16));
        assert_eq!(memory.spot(0x10f), Spot::Heap { number: 1, offset: 15 });
        assert_eq!(memory.spot(0x110), Spot::Heap { number: 2, offset: 0 });
        assert_eq!(memory.spot(0x120), Spot::Static(0x120));
        memory.allocate(0x108, block(3, 9));
        assert_eq!(memory.spot(0x100), Spot::Static(0x100));
        assert_eq!(memory.spot(0x118), Spot::Static(0x118));
        assert!(memory.free(0x108, 4).is_none());
        assert!(memory.free(0x108, 3).is_some());
        assert!(memory.free(0x108, 3).is_none());
        assert_eq!(memory.spot(0x109), Spot::Heap { number: 3, offset: 1 });
        memory.allocate(0x120, block(4, 16));
        memory.clear(0x110, 0x121);
        assert_eq!(memory.spot(0x109), Spot::Static(0x109));
        assert_eq!(memory.spot(0x120), Spot::Heap { number: 4, offset: 0 });
    }

    #[test]
    fn cells_are_named_as_the_runtime_names_them() {
        let mut memory = Memory::default();
        memory.allocate(0x100, Block { len: 32, number: 5, ..Block::default() });
        memory.add_stack(2, 0x1000, 0x800);
        let cell = |address| {
            let HotRange { space, number, offset, len } = memory.cell(address);
            (space, number, offset, len)
        };
        assert_eq!(cell(0x43), (0, 0, 0x40, 8));
        assert_eq!(cell(0x10c), (1, 5, 8, 8));
        assert_eq!(cell(0xff4), (2, 2, 0x10, 8));
        assert_eq!(cell(0xff0), (2, 2, 0x10, 8));
    }

    proptest! {
        /// Against counting, for each address, the last drop that reached it.
        #[test]
        fn lives_of_a_stack(steps in prop::collection::vec((any::<bool>(), 0x10_u64..=0x1f), 0..30)) {
            let mut memory = Memory::default();
            memory.add_stack(0, 0x20, 0x10);
            let mut lives = [0_u32; 0x10];
            let mut touched = [false; 0x10];
            let mut drops = 0;
            for (is_drop, address) in steps {
                let position = (address - 0x10) as usize;
                if is_drop {
                    memory.drop_stack(address);
                    if touched[..position].contains(&true) {
                        drops += 1;
                        lives[..position].fill(drops);
                        touched[..position].fill(false);
                    }
                } else {
                    touched[position] = true;
                    let expected = Spot::Stack { thread: 0, life: lives[position], offset: 0x20 - address };
                    prop_assert_eq!(memory.touch(address), expected);
                }
            }
        }
    }
}
