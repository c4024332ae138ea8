//! A growing acyclic graph with a topological order, for a search that backtracks.
//!
//! After Pearce and Kelly, *A dynamic topological sort algorithm for directed acyclic graphs* (2006).
//! Every node has a rank, and an edge goes from a lower rank to a higher one. An edge `u → v` against
//! the ranks makes a search forward from `v` and backward from `u`, both only between the two ranks.
//! The first search reaches `u` iff the edge would close a cycle; otherwise what was found trades
//! ranks: the backward part comes first. Edges are removed in the reverse order of their insertion;
//! the ranks stay as they are, since an order of more edges is one of fewer.
//!
//! Each edge has a label (the literal it stands for, or zero if it is permanent) and a time. A path is
//! explained by its labels: the fewest, since shorter lemmas prune more. The time lets a caller ask
//! for a path as it was earlier; because ranks only ever get *more* right, the search for it may
//! keep to the ranks of today.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The label of an edge that no literal stands for.
pub(crate) const PERMANENT: i32 = 0;

#[derive(Clone, Copy)]
struct Edge {
    node: u32,
    label: i32,
    time: u32,
}

/// What an insertion did to the ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inserted {
    /// The ranks agreed already.
    InOrder,
    /// Ranks were traded.
    Reordered,
    /// Nothing was inserted: there is a path back. Its labels were appended to what the caller gave.
    Cycle,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Graph {
    out: Vec<Vec<Edge>>,
    into: Vec<Vec<Edge>>,
    rank: Vec<u32>,
    /// Where a search has been: the number of the search that came last.
    seen_forward: Vec<u32>,
    seen_backward: Vec<u32>,
    search: u32,
    forward: Vec<u32>,
    backward: Vec<u32>,
    ranks: Vec<u32>,
    path: PathSearch,
}

/// The scratch space of [`Graph::path`].
#[derive(Default)]
struct PathSearch {
    seen: Vec<u32>,
    search: u32,
    labels: Vec<u32>,
    parent: Vec<(u32, i32)>,
    queue: VecDeque<(u32, u32)>,
}

impl Graph {
    pub(crate) fn add_node(&mut self) -> u32 {
        let node = self.rank.len() as u32;
        self.out.push(Vec::new());
        self.into.push(Vec::new());
        self.rank.push(node);
        self.seen_forward.push(0);
        self.seen_backward.push(0);
        self.path.seen.push(0);
        self.path.labels.push(0);
        self.path.parent.push((0, PERMANENT));
        node
    }

    pub(crate) fn nodes(&self) -> usize {
        self.rank.len()
    }

    /// The position of a node in the order that is kept, from zero.
    pub(crate) fn rank(&self, node: u32) -> u32 {
        self.rank[node as usize]
    }

    /// The position of each node in the order that has, at each place, the lowest node of those that may come next. It
    /// depends on the edges alone, while the ranks depend on all that ever was.
    pub(crate) fn lowest_order(&self) -> Vec<u32> {
        let mut waiting_for: Vec<usize> = self.into.iter().map(Vec::len).collect();
        let mut ready: BinaryHeap<Reverse<u32>> =
            (0..self.nodes() as u32).filter(|&node| waiting_for[node as usize] == 0).map(Reverse).collect();
        let mut positions = vec![0; self.nodes()];
        let mut position = 0;
        while let Some(Reverse(node)) = ready.pop() {
            positions[node as usize] = position;
            position += 1;
            for edge in &self.out[node as usize] {
                let waiting_for = &mut waiting_for[edge.node as usize];
                *waiting_for -= 1;
                if *waiting_for == 0 {
                    ready.push(Reverse(edge.node));
                }
            }
        }
        positions
    }

    /// Inserts the edge `from → to`, unless that would close a cycle; then the labels of the path
    /// `to → from` are appended to `cycle`.
    pub(crate) fn insert(&mut self, from: u32, to: u32, label: i32, time: u32, cycle: &mut Vec<i32>) -> Inserted {
        let (high, low) = (self.rank(from), self.rank(to));
        let mut done = Inserted::InOrder;
        if high <= low {
            if from == to {
                return Inserted::Cycle;
            }
        } else {
            self.search += 1;
            if self.search_forward(to, from, high) {
                let found = self.path(to, from, u32::MAX, cycle);
                debug_assert!(found, "the search forward has just come this way");
                return Inserted::Cycle;
            }
            self.search_backward(from, low);
            self.trade_ranks();
            done = Inserted::Reordered;
        }
        self.out[from as usize].push(Edge { node: to, label, time });
        self.into[to as usize].push(Edge { node: from, label, time });
        done
    }

    /// Removes the edge that was inserted last of all that are left.
    pub(crate) fn remove_last(&mut self, from: u32, to: u32) {
        let out = self.out[from as usize].pop();
        let into = self.into[to as usize].pop();
        debug_assert!(out.is_some_and(|edge| edge.node == to) && into.is_some_and(|edge| edge.node == from));
    }

    /// Collects nodes around an edge `from → to`: `from` and what is before it, `to` and what is after it, the
    /// nearest first, and not much more than `reach` of each.
    pub(crate) fn survey(&mut self, from: u32, to: u32, reach: usize) {
        self.search += 1;
        let Self { out, into, forward, backward, seen_forward, seen_backward, search, .. } = self;
        for (edges, start, found, seen) in [(out, to, forward, seen_forward), (into, from, backward, seen_backward)] {
            found.clear();
            found.push(start);
            seen[start as usize] = *search;
            let mut next = 0;
            while found.len() < reach
                && let Some(&node) = found.get(next)
            {
                next += 1;
                for edge in &edges[node as usize] {
                    if seen[edge.node as usize] != *search {
                        seen[edge.node as usize] = *search;
                        found.push(edge.node);
                    }
                }
            }
        }
    }

    /// After a survey: the head of the edge and what was found after it.
    pub(crate) fn descendants(&self) -> &[u32] {
        &self.forward
    }

    /// After a survey: the tail of the edge and what was found before it.
    pub(crate) fn ancestors(&self) -> &[u32] {
        &self.backward
    }

    pub(crate) fn is_descendant(&self, node: u32) -> bool {
        self.seen_forward[node as usize] == self.search
    }

    pub(crate) fn is_ancestor(&self, node: u32) -> bool {
        self.seen_backward[node as usize] == self.search
    }

    /// Appends the labels of a path `from → to`, as few as possible, made of permanent edges and of
    /// those whose time is before `time`. False if there is none.
    pub(crate) fn path(&mut self, from: u32, to: u32, time: u32, labels: &mut Vec<i32>) -> bool {
        let limit = self.rank(to);
        let Self { out, rank, path, .. } = self;
        path.search += 1;
        path.queue.clear();
        path.seen[from as usize] = path.search;
        path.labels[from as usize] = 0;
        path.queue.push_back((from, 0));
        // A permanent edge costs nothing, any other edge one: what is reached for nothing comes first.
        while let Some((node, count)) = path.queue.pop_front() {
            if node == to {
                break;
            }
            if path.labels[node as usize] < count {
                continue;
            }
            for edge in &out[node as usize] {
                let next = edge.node as usize;
                if rank[next] > limit || (edge.label != PERMANENT && edge.time >= time) {
                    continue;
                }
                let count = count + u32::from(edge.label != PERMANENT);
                if path.seen[next] == path.search && path.labels[next] <= count {
                    continue;
                }
                path.seen[next] = path.search;
                path.labels[next] = count;
                path.parent[next] = (node, edge.label);
                if edge.label == PERMANENT {
                    path.queue.push_front((edge.node, count));
                } else {
                    path.queue.push_back((edge.node, count));
                }
            }
        }
        if path.seen[to as usize] != path.search {
            return false;
        }
        let mut node = to;
        while node != from {
            let (parent, label) = path.parent[node as usize];
            if label != PERMANENT {
                labels.push(label);
            }
            node = parent;
        }
        true
    }

    /// Is there a path `from → to` of permanent edges? Gives up, with `None`, after `effort` nodes.
    pub(crate) fn permanent_path(&mut self, from: u32, to: u32, effort: usize) -> Option<bool> {
        let limit = self.rank(to);
        if self.rank(from) > limit {
            return Some(false);
        }
        self.search += 1;
        self.forward.clear();
        self.forward.push(from);
        self.seen_forward[from as usize] = self.search;
        let mut next = 0;
        while let Some(&node) = self.forward.get(next) {
            if node == to {
                return Some(true);
            }
            if next == effort {
                return None;
            }
            next += 1;
            for edge in &self.out[node as usize] {
                let seen = &mut self.seen_forward[edge.node as usize];
                if edge.label == PERMANENT && *seen != self.search && self.rank[edge.node as usize] <= limit {
                    *seen = self.search;
                    self.forward.push(edge.node);
                }
            }
        }
        Some(false)
    }

    /// Collects what is reachable from `start` below the rank `high`. True if `goal`, of that rank, is.
    fn search_forward(&mut self, start: u32, goal: u32, high: u32) -> bool {
        self.forward.clear();
        self.forward.push(start);
        self.seen_forward[start as usize] = self.search;
        let mut next = 0;
        while let Some(&node) = self.forward.get(next) {
            next += 1;
            for edge in &self.out[node as usize] {
                if edge.node == goal {
                    return true;
                }
                let seen = &mut self.seen_forward[edge.node as usize];
                if *seen != self.search && self.rank[edge.node as usize] < high {
                    *seen = self.search;
                    self.forward.push(edge.node);
                }
            }
        }
        false
    }

    /// Collects what reaches `start` above the rank `low`.
    fn search_backward(&mut self, start: u32, low: u32) {
        self.backward.clear();
        self.backward.push(start);
        self.seen_backward[start as usize] = self.search;
        let mut next = 0;
        while let Some(&node) = self.backward.get(next) {
            next += 1;
            for edge in &self.into[node as usize] {
                let seen = &mut self.seen_backward[edge.node as usize];
                if *seen != self.search && self.rank[edge.node as usize] > low {
                    *seen = self.search;
                    self.backward.push(edge.node);
                }
            }
        }
    }

    /// Gives the ranks of both parts to the ancestors first, then to the descendants, each in their order.
    fn trade_ranks(&mut self) {
        let Self { forward, backward, ranks, rank, .. } = self;
        forward.sort_unstable_by_key(|&node| rank[node as usize]);
        backward.sort_unstable_by_key(|&node| rank[node as usize]);
        ranks.clear();
        ranks.extend(backward.iter().chain(forward.iter()).map(|&node| rank[node as usize]));
        ranks.sort_unstable();
        for (&node, &new) in backward.iter().chain(forward.iter()).zip(ranks.iter()) {
            rank[node as usize] = new;
        }
    }
}

#[cfg(test)]
mod tests;
