//! Choosing who runs, where no plan says.
//!
//! - *Run-ahead*: a thread keeps running; when it stops, the next in turn follows. Few switches, so
//!   it is cheap, and near to what a lightly loaded machine does.
//! - *Random*: turns of random length, then any thread.
//! - *PCT*: Burckhardt, Kothari, Musuvathi and Nagarakatte, *A Randomized Scheduler with Probabilistic
//!   Guarantees of Finding Bugs* (ASPLOS 2010). Threads get random priorities, all above `depth`; the
//!   one with the highest runs; at `depth − 1` steps chosen at random beforehand the running thread's
//!   priority drops to `depth − i`. The guarantee needs the number of steps to be known; it is
//!   what the recorder expects, and a run that is longer has no change points in the rest.
//!   Deviation: who gives way by itself (a yield, or a spin found out) gets a priority below
//!   all others, without which a spinning thread of high priority would never let go.

use crate::thread::{State, Thread};
use interloper_wire::{Policy, SegmentEnd, Settings};

/// Makes the choices.
pub(super) struct Chooser {
    policy: Policy,
    quantum: u64,
    random: Random,
    /// PCT: the steps at which the running thread's priority drops, the first last.
    changes: Vec<u64>,
    /// PCT: the priority for who gives way next; falling.
    lowest: u64,
    steps: u64,
}

/// Priorities of threads that were never demoted are above this.
const INITIAL: u64 = 1 << 62;
/// Those who dropped at a change point are between this and [`INITIAL`], later ones lower; those
/// who gave way are below.
const DROPPED: u64 = 1 << 61;

impl Chooser {
    pub(super) fn new(settings: &Settings) -> Self {
        let policy = if super::has_plan(settings) { Policy::RunAhead } else { settings.policy };
        let mut random = Random::new(settings.seed);
        let mut changes = Vec::new();
        if policy == Policy::Pct {
            changes.extend((1..settings.depth).map(|_| 1 + random.below(settings.expected_steps)));
            changes.sort_unstable_by(|a, b| b.cmp(a));
        }
        Chooser { policy, quantum: settings.quantum, random, changes, lowest: DROPPED, steps: 0 }
    }

    pub(super) fn quantum(&self) -> u64 {
        self.quantum
    }

    /// A thread comes into being.
    pub(super) fn meet(&mut self, thread: &mut Thread) {
        thread.priority = INITIAL | self.random.next() >> 2;
    }

    /// A turn had this many steps.
    pub(super) fn count(&mut self, steps: u64) {
        self.steps += steps;
    }

    /// Who runs after `from`, and for how long; `None` if nobody can.
    pub(super) fn choose(&mut self, threads: &[*mut Thread], from: u32, end: SegmentEnd) -> Option<(u32, u64)> {
        match self.policy {
            Policy::RunAhead | Policy::Replay => Some((next_in_turn(threads, from)?, self.quantum)),
            Policy::Random => {
                let ready = threads.iter().filter(is_ready).count();
                let chosen = self.random.below(ready as u64) as usize;
                // SAFETY: threads are never freed, and the lock is held.
                let next = threads.iter().filter(is_ready).nth(chosen).map(|next| unsafe { (**next).number })?;
                Some((next, 1 + self.random.below((2 * self.quantum).saturating_sub(1))))
            }
            Policy::Pct => self.choose_by_priority(threads, from, end),
        }
    }

    fn choose_by_priority(&mut self, threads: &[*mut Thread], from: u32, end: SegmentEnd) -> Option<(u32, u64)> {
        if let Some(&from) = threads.get(from as usize) {
            if end == SegmentEnd::Yielded {
                self.lowest -= 1;
                // SAFETY: threads are never freed, and the lock is held.
                unsafe { (*from).priority = self.lowest };
            }
            while self.changes.last().is_some_and(|&change| change <= self.steps) {
                self.changes.pop();
                // SAFETY: as above.
                unsafe { (*from).priority = DROPPED + self.changes.len() as u64 };
            }
        }
        let ready = threads.iter().filter(is_ready);
        // SAFETY: as above.
        let next = ready.map(|thread| unsafe { ((**thread).priority, (**thread).number) }).max()?.1;
        let until_change = self.changes.last().map_or(u64::MAX, |&change| change.saturating_sub(self.steps).max(1));
        Some((next, until_change.min(self.quantum.max(1 << 20))))
    }
}

fn is_ready(thread: &&*mut Thread) -> bool {
    // SAFETY: threads are never freed, and the lock is held.
    unsafe { (***thread).state == State::Ready }
}

fn next_in_turn(threads: &[*mut Thread], from: u32) -> Option<u32> {
    let count = threads.len();
    let from = if from == u32::MAX { count - 1 } else { from as usize };
    let next = (1..=count).map(|distance| (from + distance) % count).find(|&at| is_ready(&&threads[at]))?;
    Some(next as u32)
}

/// SplitMix64: small, and the same for ever, so that a seed keeps its meaning.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `bound`, or 0. The bias is below 2⁻³² for all bounds that occur.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
