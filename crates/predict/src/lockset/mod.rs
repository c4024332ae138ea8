//! Linear-time prediction from lock sets and acquisition histories.
//!
//! After Farzan, Madhusudan and Sorrentino, *Meta-analysis for atomicity violations under nested
//! locking* (CAV 2009), "the paper" below.
//!
//! # What is claimed
//!
//! A triple (e1, f, e2) with e1, e2 in one region of thread T and f in another thread T' is
//! **possible** if there is a *witness position* p of T, from just after e1 to just before e2, such
//! that the lock states of T at p and of T' just after f are compatible (see
//! [`lock_state`](interloper_model::lock_state)) and fork/join order lets T be at p while T' is at f.
//!
//! - *Nothing is missed* that locks, fork and join allow: if some schedule of prefixes of the
//!   observed threads respects them and has e1 before f with e2 still to come, the triple is
//!   possible. This holds for any locking discipline.
//! - *With nested locking and without fork and join it is exact*: possible triples are exactly
//!   those for which such a schedule exists (the paper's Lemmas 2 and 3). With fork and join it may
//!   say "possible" too often, because pairwise order and pairwise lock states are checked
//!   separately, and third threads that must run first may need locks of their own.
//! - Data is ignored: values, and the waiting that condition variables, semaphores and barriers
//!   impose, are left to the rungs above.
//!
//! # Errata and deviations
//!
//! 1. Theorem 1 prints `i ≤ i'' < j` for the witness position; it must be `i ≤ i'' < i'`, between
//!    e1 and e2, as section 4 says in words.
//! 2. The witness position may be after *any* event, also a lock operation: a region that releases
//!    a lock and takes it again is open in the gap. Phase I therefore samples every change of lock
//!    state inside a region. A state that recurs counts again: one list of *distinct* states in
//!    order of first occurrence would lose the gap of a region that had no locks at its begin.
//! 3. The paper asks for deadlock-free runs. We ask for a prefix in which e2 is still to come, not
//!    for its completion, so potential deadlocks need no exception.
//! 4. Read-write locks: holders and acquisitions in shared mode do not exclude each other; see
//!    `lock_state`. A condition variable's wait releases its lock and takes it again. A try-lock
//!    counts only when it succeeded.
//! 5. Fork and join prune by vector clocks over strands, and split the profiles: the paper keeps one
//!    witness for each lock state, which is not enough when that one is pruned and a later one
//!    is not.
//! 6. Re-entrant acquisitions are ignored but for the outermost, as in the paper's implementation.
//!
//! # How
//!
//! Phase I ([`Profiler`]) is one pass and finds out for each thread, location and context (lock state
//! and strand) whether there is a read, a write, and a pair of accesses (of writes) of one region
//! with that context in between: R, W, AA and WW of the paper. Phase II ([`Profile::overview`]) joins
//! them on the location. That settles where a violation is possible, and mostly it is nowhere. For
//! the locations where it is, a second pass remembers the first accesses of each kind, and
//! [`Profile::join`] makes representatives of them; [`enumerate`] lists every triple instead.
//!
//! Cost: Phase I is amortised constant time for an event whose region does not see many different
//! contexts between two accesses of one location, and in general linear in the contexts it sees
//! there; memory is bounded by the distinct (thread, location, context) triples. Phase II is
//! independent of the length of the trace.
//!
//! | module | holds |
//! |---|---|
//! | `context` | the lock state and strand every thread is in |
//! | `profile`, `slots` | Phase I |
//! | `join` | Phase II |
//! | [`enumerate`] | every triple |
//! | [`mod@reference`] | the same by brute force, for tests |

mod context;
pub mod enumerate;
mod join;
mod profile;
pub mod reference;
mod slots;
#[cfg(test)]
mod tests;
mod top;

pub use enumerate::Enumerator;
pub use join::{Overview, Prediction};
pub use profile::{Profile, Profiler};

use interloper_model::RegionSources;

/// How to predict.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whose regions count.
    pub regions: RegionSources,
    /// How many triples to list; all are counted.
    pub limit: usize,
    /// How many to list, and count, of the same two threads, location and class of patterns (WRW, or one of the
    /// others); as many as there are, if none is given.
    pub each: Option<usize>,
    /// Wrong on purpose, to show that tests notice.
    pub(crate) weakening: Weakening,
}

impl Options {
    /// The given regions, and no limit.
    pub fn new(regions: RegionSources) -> Self {
        Options { regions, limit: usize::MAX, each: None, weakening: Weakening::None }
    }

    /// The same with a limit for all triples that are alike.
    #[must_use]
    pub fn with_each(self, each: usize) -> Self {
        Options { each: Some(each), ..self }
    }

    /// The same with a limit.
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Options { limit, ..self }
    }
}

/// Ways to get the analysis wrong. Tests apply each and must fail.
#[cfg_attr(not(test), allow(dead_code, reason = "all but the first are applied by tests only"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weakening {
    /// None: the analysis as it should be.
    None,
    /// Lock sets without acquisition histories.
    NoHistories,
    /// Lock states sampled at accesses only.
    SampleAtAccesses,
    /// No pruning by fork and join.
    NoPruning,
}
