//! The observed order among blocks: whether it is serializable as it is.
//!
//! An edge leads from a block to another if the first accesses a cell before the second, and one of the two
//! accesses writes. If there is no cycle, any order along the edges has every read see the write it saw and the
//! same last writes, so it explains everything, whatever the values. Unlike in `predict::serial`, locks, fork and
//! join make no edges.

use crate::blocks::{BlockId, Blocks};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The blocks in an order that is near the observed one.
pub(crate) struct Precedence {
    /// The place of each block.
    pub(super) order: Vec<u32>,
    /// Whether there are no cycles.
    is_serializable: bool,
}

impl Precedence {
    /// Whether this is a serial order that explains the execution.
    pub(crate) fn explains(&self, blocks: &Blocks) -> bool {
        self.is_serializable && blocks.is_consistent
    }
}

/// Orders blocks along the edges; where there are cycles, by which block ends first.
pub(crate) fn precedence(blocks: &Blocks) -> Precedence {
    let edges = edges(blocks);
    let count = blocks.blocks.len();
    let mut first_edge = vec![0_u32; count + 1];
    let mut waits_for = vec![0_u32; count];
    for (from, to) in &edges {
        first_edge[from.index() + 1] += 1;
        waits_for[to.index()] += 1;
    }
    for block in 0..count {
        first_edge[block + 1] += first_edge[block];
    }
    let key = |block: u32| Reverse((blocks.blocks[block as usize].last, block));
    let mut ready: BinaryHeap<_> = (0..count as u32).filter(|block| waits_for[*block as usize] == 0).map(key).collect();
    let mut by_end: Vec<u32> = (0..count as u32).collect();
    by_end.sort_by_key(|block| blocks.blocks[*block as usize].last);
    let mut by_end = by_end.into_iter();
    let mut order = vec![u32::MAX; count];
    let mut is_serializable = true;
    let mut place = 0;
    loop {
        let next = ready.pop().map(|Reverse((_, block))| block).or_else(|| {
            let stuck = by_end.find(|block| order[*block as usize] == u32::MAX);
            is_serializable &= stuck.is_none();
            stuck
        });
        let Some(block) = next else { break };
        if order[block as usize] != u32::MAX {
            continue;
        }
        order[block as usize] = place;
        place += 1;
        let out = first_edge[block as usize] as usize..first_edge[block as usize + 1] as usize;
        for (_, to) in &edges[out] {
            waits_for[to.index()] -= 1;
            if waits_for[to.index()] == 0 && order[to.index()] == u32::MAX {
                ready.push(key(to.0));
            }
        }
    }
    Precedence { order, is_serializable }
}

/// Edges whose closure is that of all: sorted, without repetition.
fn edges(blocks: &Blocks) -> Vec<(BlockId, BlockId)> {
    let mut edges = Vec::new();
    for thread in &blocks.threads {
        edges.extend(thread.windows(2).map(|pair| (pair[0], pair[1])));
    }
    let mut cells: Vec<(Option<BlockId>, Vec<BlockId>)> = vec![(None, Vec::new()); blocks.cells.len()];
    for touch in &blocks.touches {
        let (writer, readers) = &mut cells[touch.cell.index()];
        if let Some(writer) = *writer
            && writer != touch.block
        {
            edges.push((writer, touch.block));
        }
        if touch.write.is_some() {
            edges.extend(readers.drain(..).filter(|reader| *reader != touch.block).map(|reader| (reader, touch.block)));
            *writer = Some(touch.block);
        } else if readers.last() != Some(&touch.block) {
            readers.push(touch.block);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}
