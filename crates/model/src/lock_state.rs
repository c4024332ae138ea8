//! Lock sets and acquisition histories, interned, and when two of them are compatible.
//!
//! A *lock state* of a thread is its lock set together with, for each lock held, the *acquisition
//! history* of that lock: every lock the thread has taken since, released or not (Kahlon et al.,
//! as used by "Meta-analysis for atomicity violations under nested locking", section 3).
//!
//! Two threads can be in states *a* and *b* at the same time only if
//! 1. no lock is held in both (unless in shared mode in both), and
//! 2. there are no locks *l* held in *a* and *m* held in *b* with *m* in the history of *l* and
//!    *l* in the history of *m*: the first thread then used *m* after it took *l* for good, so
//!    before the second took *m* for good; and the other way round; a cycle.
//!
//! Neither argument uses nesting, so incompatible states are unreachable together whatever the
//! locking discipline. With nested locking compatible states *are* reachable together (the
//! paper's Lemma 3), if nothing but locks is considered.
//!
//! Shared mode refines both: an acquisition in shared mode does not have to wait for a holder in
//! shared mode. A history therefore remembers the strongest mode in which a lock was taken.

use hashbrown::HashTable;
use interloper_trace::{LockId, LockMode};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher as _;

/// An interned lock state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(u32);

impl StateId {
    /// No locks held: the state in which every thread begins.
    pub const INITIAL: StateId = StateId(0);

    /// Its number: states are numbered as they are first met.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An interned lock set: what states have in common that differ in their histories only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockSetId(u32);

/// A lock that is held, and what was taken since.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Held {
    lock: LockId,
    mode: LockMode,
    /// Sorted by lock.
    history: Box<[(LockId, LockMode)]>,
}

/// Sorted by lock, so that equal sets are equal.
type LockState = Box<[Held]>;

/// All lock states met so far, with memoised compatibility.
#[derive(Clone, Debug)]
pub struct LockStates {
    states: Vec<LockState>,
    /// For each state, a bit for each lock it holds (by number modulo 64): a quick test for
    /// "nothing in common".
    signatures: Vec<u64>,
    /// For each state, whether a lock was taken since one of those it holds.
    has_history: Vec<bool>,
    /// The ids of all states, found by the hash of the state; each state is stored once.
    ids: HashTable<StateId>,
    lock_sets: Vec<LockSetId>,
    lock_set_ids: FxHashMap<Box<[(LockId, LockMode)]>, LockSetId>,
    compatible: FxHashMap<(StateId, StateId), bool>,
    keep_histories: bool,
}

impl LockStates {
    /// The initial state alone.
    pub fn new() -> Self {
        let mut states = LockStates {
            states: Vec::new(),
            signatures: Vec::new(),
            has_history: Vec::new(),
            ids: HashTable::new(),
            lock_sets: Vec::new(),
            lock_set_ids: FxHashMap::default(),
            compatible: FxHashMap::default(),
            keep_histories: true,
        };
        states.intern(Box::new([]));
        states
    }

    /// Lock sets without histories: wrong on purpose, to show that tests notice.
    #[doc(hidden)]
    pub fn without_histories() -> Self {
        LockStates { keep_histories: false, ..Self::new() }
    }

    /// The state after taking a lock that is not held. Callers memoise.
    pub fn acquire(&mut self, from: StateId, lock: LockId, mode: LockMode) -> StateId {
        let mut after = self.states[from.index()].to_vec();
        if self.keep_histories {
            for held in &mut after {
                held.history = extended(&held.history, lock, mode);
            }
        }
        let at = after.partition_point(|held| held.lock < lock);
        after.insert(at, Held { lock, mode, history: Box::new([]) });
        self.intern(after.into())
    }

    /// The state after releasing a lock. Callers memoise.
    pub fn release(&mut self, from: StateId, lock: LockId) -> StateId {
        let after = self.states[from.index()].iter().filter(|held| held.lock != lock).cloned().collect();
        self.intern(after)
    }

    /// Whether two threads may be in these states at the same time.
    pub fn compatible(&mut self, a: StateId, b: StateId) -> bool {
        // Without a history on one side nothing can cross, and that is not worth a memo.
        if !self.has_history[a.index()] || !self.has_history[b.index()] {
            return !self.exclude_each_other(a, b);
        }
        let key = if a <= b { (a, b) } else { (b, a) };
        if let Some(&known) = self.compatible.get(&key) {
            return known;
        }
        let answer = !self.exclude_each_other(a, b) && !self.histories_cross(a, b);
        self.compatible.insert(key, answer);
        answer
    }

    /// The lock set of a state.
    #[inline]
    pub fn lock_set(&self, state: StateId) -> LockSetId {
        self.lock_sets[state.index()]
    }

    /// Whether some lock is held in both states, and not in shared mode in both. This depends on their
    /// lock sets only.
    pub fn exclude_each_other(&self, a: StateId, b: StateId) -> bool {
        if self.signatures[a.index()] & self.signatures[b.index()] == 0 {
            return false;
        }
        let other = &self.states[b.index()];
        self.states[a.index()]
            .iter()
            .any(|held| find(other, held.lock).is_some_and(|mode| conflict(mode.mode, held.mode)))
    }

    /// Whether one lock, held throughout, keeps every state of one set from every state of the
    /// other. A cheap sufficient test that saves the pairwise ones.
    pub fn common_lock(&self, these: &[StateId], those: &[StateId]) -> bool {
        let (Some(&first), false) = (these.first(), those.is_empty()) else { return false };
        self.states[first.index()].iter().any(|candidate| {
            let held_in_all = |states: &[StateId]| {
                let mut all_exclusive = true;
                let held = states.iter().all(|state| {
                    find(&self.states[state.index()], candidate.lock).is_some_and(|held| {
                        all_exclusive &= held.mode == LockMode::Exclusive;
                        true
                    })
                });
                held.then_some(all_exclusive)
            };
            match (held_in_all(these), held_in_all(those)) {
                (Some(these_exclusive), Some(those_exclusive)) => these_exclusive || those_exclusive,
                _ => false,
            }
        })
    }

    /// The locks held in a state.
    pub fn held(&self, state: StateId) -> impl Iterator<Item = (LockId, LockMode)> + '_ {
        self.states[state.index()].iter().map(|held| (held.lock, held.mode))
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Never: the initial state is always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Enters all states of another table; the result maps its ids to ours.
    pub fn absorb(&mut self, other: &LockStates) -> Vec<StateId> {
        other.states.iter().map(|state| self.intern(state.clone())).collect()
    }

    fn histories_cross(&self, a: StateId, b: StateId) -> bool {
        let (mine, theirs) = (&self.states[a.index()], &self.states[b.index()]);
        mine.iter().any(|l| {
            l.history.iter().any(|&(used, used_mode)| {
                // `used` was taken after `l` for good; does the other hold it in a mode that conflicts,
                // and did the other take `l` since?
                find(theirs, used).is_some_and(|m| {
                    conflict(used_mode, m.mode) && history_mode(m, l.lock).is_some_and(|mode| conflict(mode, l.mode))
                })
            })
        })
    }

    fn intern(&mut self, state: LockState) -> StateId {
        let LockStates { states, ids, .. } = self;
        let hash = FxBuildHasher.hash_one(&state);
        if let Some(&id) = ids.find(hash, |id| states[id.index()] == state) {
            return id;
        }
        let id = StateId(u32::try_from(states.len()).expect("fewer than 2^32 lock states fit in memory"));
        let sets = self.lock_set_ids.len();
        let lock_set = state.iter().map(|held| (held.lock, held.mode)).collect();
        let fresh = LockSetId(u32::try_from(sets).expect("no more lock sets than lock states"));
        self.lock_sets.push(*self.lock_set_ids.entry(lock_set).or_insert(fresh));
        self.signatures.push(state.iter().fold(0, |bits, held| bits | 1 << (held.lock.raw() % 64)));
        self.has_history.push(state.iter().any(|held| !held.history.is_empty()));
        states.push(state);
        ids.insert_unique(hash, id, |id| FxBuildHasher.hash_one(&states[id.index()]));
        id
    }
}

impl Default for LockStates {
    fn default() -> Self {
        Self::new()
    }
}

fn conflict(a: LockMode, b: LockMode) -> bool {
    a == LockMode::Exclusive || b == LockMode::Exclusive
}

fn find(state: &LockState, lock: LockId) -> Option<&Held> {
    state.binary_search_by_key(&lock, |held| held.lock).ok().map(|at| &state[at])
}

fn history_mode(held: &Held, lock: LockId) -> Option<LockMode> {
    held.history.binary_search_by_key(&lock, |&(lock, _)| lock).ok().map(|at| held.history[at].1)
}

/// The history with one more acquisition; of two of the same lock the stronger mode counts.
fn extended(history: &[(LockId, LockMode)], lock: LockId, mode: LockMode) -> Box<[(LockId, LockMode)]> {
    let mut history = history.to_vec();
    match history.binary_search_by_key(&lock, |&(lock, _)| lock) {
        Ok(at) => history[at].1 = history[at].1.min(mode),
        Err(at) => history.insert(at, (lock, mode)),
    }
    history.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use LockMode::{Exclusive, Shared};

    fn lock(number: u32) -> LockId {
        LockId::new(number)
    }

    /// Takes and releases locks in order: `+1` takes lock 1, `-1` releases it, `~1` takes it shared.
    fn state(states: &mut LockStates, steps: &str) -> StateId {
        steps.split_whitespace().fold(StateId::INITIAL, |state, step| {
            let lock = lock(step[1..].parse().expect("a lock number"));
            match &step[..1] {
                "+" => states.acquire(state, lock, Exclusive),
                "~" => states.acquire(state, lock, Shared),
                _ => states.release(state, lock),
            }
        })
    }

    fn compatible(a: &str, b: &str) -> bool {
        let mut states = LockStates::new();
        let (a, b) = (state(&mut states, a), state(&mut states, b));
        let answer = states.compatible(a, b);
        assert_eq!(answer, states.compatible(b, a), "compatibility is symmetric");
        answer
    }

    #[test]
    fn equal_sets_with_equal_histories_are_one_state() {
        let mut states = LockStates::new();
        assert_eq!(state(&mut states, "+1 -1"), StateId::INITIAL);
        assert_eq!(state(&mut states, "+1 +2 -2"), state(&mut states, "+1 +2 -2 +2 -2"));
        assert_ne!(state(&mut states, "+1"), state(&mut states, "+1 +2 -2"));
        assert_ne!(state(&mut states, "+1 +2"), state(&mut states, "+2 +1"));
    }

    #[test]
    fn a_common_lock_excludes() {
        assert!(!compatible("+1", "+1"));
        assert!(compatible("+1", "+2"));
        assert!(compatible("~1", "~1"));
        assert!(!compatible("~1", "+1"));
    }

    #[test]
    fn crossing_histories_exclude() {
        assert!(!compatible("+1 +2 -2", "+2 +1 -1"));
        assert!(compatible("+1 +2 -2", "+2"));
        assert!(compatible("+1", "+2 +1 -1"));
        // Taken in shared mode by both, lock 2 orders nothing.
        assert!(compatible("+1 ~2 -2", "~2 +1 -1"));
        assert!(!compatible("+1 ~2 -2", "+2 +1 -1"));
        // A stronger acquisition is remembered, whichever came first.
        assert!(!compatible("+1 ~2 -2 +2 -2", "~2 +1 -1"));
        assert!(!compatible("+1 +2 -2 ~2 -2", "~2 +1 -1"));
    }

    #[test]
    fn a_lock_held_throughout_is_found() {
        let mut states = LockStates::new();
        let these = [state(&mut states, "+1"), state(&mut states, "+2 +1")];
        let those = [state(&mut states, "+1 +3"), state(&mut states, "~1")];
        let others = [state(&mut states, "~1"), state(&mut states, "+2")];
        assert!(states.common_lock(&these, &those));
        assert!(!states.common_lock(&these, &others));
        assert!(!states.common_lock(&[those[1]], &[those[1]]), "shared by both");
    }
}
