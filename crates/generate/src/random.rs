//! `random`: anything a trace may hold.
//!
//! Each step a random live thread does something random that it may do at that moment. Locks are
//! nested and re-entrant, regions nest and cross critical sections, threads are forked and joined;
//! nothing is protected by anything, so nearly every property is violated somewhere. Meant to find
//! what nobody thought of, mostly with few threads and events.
//!
//! Forks and joins are spread over the length of the trace. Threads may be joined while they hold
//! locks or are inside regions, and even if they never ran; none does anything after that.

use crate::dice::Dice;
use crate::options::{Mix, Options, Sizes};
use crate::step::{Act, Step, Steps};

/// Entries of a thread's lock stack, re-entrant ones included.
const MOST_HELD: usize = 5;
const MOST_REGIONS: u32 = 3;
const TRIES: u32 = 4;
/// Line numbers are below this; each kind of operation could be at any.
const LINES: u32 = 100;

pub(crate) struct Random {
    dice: Dice,
    mix: Mix,
    total: u32,
    non_nested: bool,
    variables: u32,
    locks: Vec<Lock>,
    threads: Vec<Thread>,
    live: Vec<u32>,
    /// Threads that run only once they are forked.
    unborn: Vec<u32>,
    /// How likely a step is a fork, and a join, in 2⁻³²s.
    fork_odds: u32,
    join_odds: u32,
}

#[derive(Clone, Default)]
struct Lock {
    holder: Option<u32>,
    depth: u32,
}

#[derive(Clone, Default)]
struct Thread {
    /// The locks held, in order of acquisition; once for each level of re-entrancy.
    held: Vec<u32>,
    regions: u32,
}

impl Random {
    pub(crate) fn new(sizes: &Sizes, options: &Options) -> Self {
        let mut dice = Dice::new(options.seed);
        let (mut live, mut unborn) = (Vec::new(), Vec::new());
        for thread in 0..sizes.threads {
            let runs_from_the_start = !options.forks || thread == 0 || dice.once_in(4);
            if runs_from_the_start { live.push(thread) } else { unborn.push(thread) }
        }
        // About three chances to be forked for each thread, and half a chance to be joined.
        let odds = |times: u64, at_most: u64| {
            let odds = ((u128::from(sizes.threads) * u128::from(times)) << 31) / u128::from(sizes.events.max(1));
            if options.forks { odds.min(u128::from(at_most)) as u32 } else { 0 }
        };
        Random {
            dice,
            mix: options.mix,
            total: options.mix.total().unwrap_or(1),
            non_nested: options.non_nested,
            variables: sizes.variables,
            locks: vec![Lock::default(); sizes.locks as usize],
            threads: vec![Thread::default(); sizes.threads as usize],
            live,
            unborn,
            fork_odds: odds(6, 1 << 29),
            join_odds: odds(1, 1 << 28),
        }
    }

    fn act(&mut self, thread: u32) -> Act {
        if self.fork_odds > 0 {
            let roll = self.dice.bits();
            let lifecycle = if roll < self.fork_odds {
                self.fork()
            } else if roll < self.fork_odds + self.join_odds {
                self.join(thread)
            } else {
                None
            };
            if let Some(act) = lifecycle {
                return act;
            }
        }
        let mut roll = self.dice.below(self.total);
        let mut is = |share: u32| {
            let hit = roll < share;
            roll = roll.wrapping_sub(share);
            hit
        };
        let (read, write, locking) = (is(self.mix.reads), is(self.mix.writes), is(self.mix.locking));
        if read {
            Act::Read(self.dice.below(self.variables))
        } else if write {
            Act::Write(self.dice.below(self.variables))
        } else {
            let possible = if locking { self.lock_operation(thread) } else { self.region_operation(thread) };
            possible.unwrap_or_else(|| Act::Read(self.dice.below(self.variables)))
        }
    }

    fn fork(&mut self) -> Option<Act> {
        if self.unborn.is_empty() {
            return None;
        }
        let child = self.unborn.swap_remove(self.dice.index(self.unborn.len()));
        self.live.push(child);
        Some(Act::Fork(child))
    }

    fn join(&mut self, thread: u32) -> Option<Act> {
        let list = if self.dice.once_in(8) { &mut self.unborn } else { &mut self.live };
        if list.is_empty() {
            return None;
        }
        let place = self.dice.index(list.len());
        let child = list[place];
        // Whoever is joined with locks in hand keeps them for ever: rarely, or all locks would go.
        if child == thread || (!self.threads[child as usize].held.is_empty() && !self.dice.once_in(4)) {
            return None;
        }
        list.swap_remove(place);
        Some(Act::Join(child))
    }

    fn lock_operation(&mut self, thread: u32) -> Option<Act> {
        let held = &mut self.threads[thread as usize].held;
        if !held.is_empty() && (held.len() == MOST_HELD || self.dice.once_in(2)) {
            let place = if self.non_nested { self.dice.index(held.len()) } else { held.len() - 1 };
            let lock = held.remove(place);
            let state = &mut self.locks[lock as usize];
            state.depth -= 1;
            if state.depth == 0 {
                state.holder = None;
            }
            return Some(Act::Release(lock));
        }
        if self.locks.is_empty() {
            return None;
        }
        let (dice, locks) = (&mut self.dice, &self.locks);
        let lock = if !held.is_empty() && dice.once_in(8) {
            held[dice.index(held.len())]
        } else {
            let may_take = |lock: &u32| locks[*lock as usize].holder.is_none_or(|holder| holder == thread);
            (0..TRIES).map(|_| dice.below(locks.len() as u32)).find(may_take)?
        };
        held.push(lock);
        let state = &mut self.locks[lock as usize];
        state.holder = Some(thread);
        state.depth += 1;
        Some(Act::Acquire(lock))
    }

    fn region_operation(&mut self, thread: u32) -> Option<Act> {
        let regions = &mut self.threads[thread as usize].regions;
        if *regions > 0 && (*regions == MOST_REGIONS || self.dice.below(3) < 2) {
            *regions -= 1;
            Some(Act::End)
        } else {
            *regions += 1;
            Some(Act::Begin)
        }
    }
}

impl Steps for Random {
    fn step(&mut self) -> Step {
        let thread = self.live[self.dice.index(self.live.len())];
        let act = self.act(thread);
        let line = 1 + self.dice.below(LINES - 1);
        Step { thread, line, act }
    }
}
