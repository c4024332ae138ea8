//! Was the observed order conflict-serializable?
//!
//! Transactions are the outermost regions; every other event is a transaction of its own. There is
//! an edge from one transaction to another if an event of the first conflicts with a later event of
//! the second. The order is serializable iff this graph has no cycle. Two events conflict if they
//! - belong to one thread;
//! - access one location, and at least one writes;
//! - are a release and an acquisition of one lock, not both in shared mode (a wait on a condition
//!   variable releases and acquires);
//! - are the fork of a thread and an event of it, or an event of a thread and the join of it;
//! - are a signal and a wake-up, a post and a wait of a semaphore, an arrival and a departure at a
//!   barrier, the end of a once-initialiser and its being found done.
//!
//! The order among locks and threads counts, as in Velodrome and AeroDrome (Mathur and
//! Viswanathan, ASPLOS 2020): it is what could not have been otherwise in this run.
//!
//! # How, and how it differs from AeroDrome
//!
//! AeroDrome gives every transaction a vector clock of its *predecessors*. Predecessors may still
//! arrive when others have already copied the clock, so they are passed on when a transaction ends,
//! and a cycle may be noticed long after the event that closed it. Here every *open region* `a` has
//! a vector clock of its *descendants*: `D(a)[u]`, the first transaction of thread `u` that can be
//! reached from `a`. By program order all later transactions of `u` can be reached as well, so that
//! is all there is to know. A cycle can only be closed by an event of an open region, so closed ones
//! need no clock, and:
//!
//! - A new edge `m → n` closes a cycle iff `n` is an open region and `m ∈ D(n)`: one comparison.
//! - Otherwise every open region `a` with `m ∈ D(a)` gets `n` and, if `n` is open, all of `D(n)`.
//!
//! *Invariant:* `D(a)` is exactly the set of transactions reachable from `a` by the edges so far.
//! It holds at the begin of `a`, when there are none but program order; a new edge `m → n` makes
//! reachable what is reachable from `n`, and only from where `m` was. If `n` is no open region its
//! only out-edges are program order, since it has done nothing before: a region that has ended gets
//! no more edges into it. Hence the first event that closes a cycle is named when it is
//! seen; a second pass is not needed, and no virtual ends.
//!
//! Why each `D(a)[u]` was entered is remembered as the edge that did it, in order; each such edge
//! starts at something entered before, so the cycle can be read off backwards.
//!
//! # Cost
//!
//! For an edge that neither leaves an open region nor comes from a transaction that one reaches, which
//! is nearly every edge, constant. Any other costs a comparison for each *published* region, that is,
//! open and with a descendant of its own. Both are linear in the trace. Memory: a clock of `threads` entries for each published region (at most one a
//! thread), and for each location its last writer and the last reader of each thread since; so at
//! most 32 bytes × threads × locations, plus 64 bytes a location.
//!
//! [`mod@reference`] builds the graph and searches it, for tests.

mod analysis;
mod descendants;
pub mod reference;
mod sources;
#[cfg(test)]
mod tests;

pub use analysis::Serializability;

use interloper_trace::{BarrierId, ConditionId, EventIndex, LocationId, LockId, OnceId, SemaphoreId, ThreadId};

/// A cycle among transactions, and the event that closed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The first event of the trace that closes a cycle.
    pub at: EventIndex,
    /// The transactions in order; the last one's edge leads back to the first. The first is the one
    /// that `at` belongs to.
    pub steps: Vec<CycleStep>,
}

/// A transaction on a cycle, and its edge to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleStep {
    /// The transaction.
    pub transaction: Transaction,
    /// Its event that the edge from the previous transaction leads to.
    pub enter: EventIndex,
    /// Its event that the edge to the next one comes from.
    pub leave: EventIndex,
    /// Why `leave` comes before the next transaction's `enter`.
    pub conflict: Conflict,
}

/// A transaction: an outermost region, or a single event outside of regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transaction {
    /// Whose.
    pub thread: ThreadId,
    /// Its first event.
    pub start: EventIndex,
}

/// Why two events of different transactions cannot be exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// They belong to one thread.
    ProgramOrder,
    /// They access one location.
    Location(LocationId),
    /// They release and acquire one lock.
    Lock(LockId),
    /// A signal and the end of a wait.
    Condition(ConditionId),
    /// A post and a wait.
    Semaphore(SemaphoreId),
    /// An arrival and a departure.
    Barrier(BarrierId),
    /// A once-initialiser's end and its being found done.
    Once(OnceId),
    /// A fork and the forked thread.
    Fork,
    /// A thread and its join.
    Join,
}
