//! `bank`: clerks that move money between accounts, correctly.
//!
//! A transaction takes the lock of one branch, or of two in ascending order, reads and writes some
//! of their accounts, and gives the locks back in reverse. Every acquisition comes before every
//! release (two-phase locking), so the observed order is conflict-serializable whatever the
//! interleaving, and since the lock order is fixed no interleaving blocks.
//!
//! With `widen` above one, a region spans that many transactions of its thread. The locking is
//! still right for each, but the region as a whole is not protected any more.

use crate::dice::Dice;
use crate::step::{Act, Step, Steps};
use crate::turns::Turns;

/// Accesses in a transaction: from five to nine. With one lock or two, equally often, a transaction
/// of its own region has twelve events in the mean.
const FEWEST_ACCESSES: u32 = 5;
const MOST_ACCESSES: u32 = 9;

/// Begin, two acquisitions, the accesses, two releases, end.
const LONGEST: usize = MOST_ACCESSES as usize + 6;

/// The lines of the imagined program; the n-th access of a transaction is a statement of its own.
mod line {
    pub(super) const BEGIN: u32 = 1010;
    pub(super) const ACQUIRE: u32 = 1020;
    pub(super) const ACQUIRE_SECOND: u32 = 1030;
    pub(super) const READ: u32 = 1040;
    pub(super) const WRITE: u32 = 1060;
    pub(super) const RELEASE_SECOND: u32 = 1080;
    pub(super) const RELEASE: u32 = 1090;
    pub(super) const END: u32 = 1100;
}

pub(crate) struct Bank {
    dice: Dice,
    turns: Turns,
    clerks: Vec<Clerk>,
    branches: u32,
    accounts: u32,
    widen: u32,
}

/// A thread, and what remains of its transaction.
#[derive(Clone)]
struct Clerk {
    script: [(Act, u32); LONGEST],
    next: usize,
    length: usize,
    /// How many transactions the open region still has room for.
    room: u32,
}

impl Bank {
    /// A bank with a lock for each branch and this many accounts in each branch.
    pub(crate) fn new(threads: u32, branches: u32, accounts: u32, widen: u32, seed: u64) -> Self {
        let clerk = Clerk { script: [(Act::Begin, 0); LONGEST], next: 0, length: 0, room: 0 };
        Bank {
            dice: Dice::new(seed),
            turns: Turns::new(threads, branches),
            clerks: vec![clerk; threads as usize],
            branches,
            accounts,
            widen,
        }
    }

    fn write_script(&mut self, thread: u32) {
        let dice = &mut self.dice;
        let clerk = &mut self.clerks[thread as usize];
        clerk.next = 0;
        clerk.length = 0;
        if clerk.room == 0 {
            clerk.push(Act::Begin, line::BEGIN);
            clerk.room = self.widen;
        }
        clerk.room -= 1;

        let one = dice.below(self.branches);
        let other = if dice.once_in(2) { dice.below(self.branches) } else { one };
        let (low, high) = (one.min(other), one.max(other));
        clerk.push(Act::Acquire(low), line::ACQUIRE);
        if low != high {
            clerk.push(Act::Acquire(high), line::ACQUIRE_SECOND);
        }
        for n in 0..FEWEST_ACCESSES + dice.below(MOST_ACCESSES - FEWEST_ACCESSES + 1) {
            let branch = if dice.once_in(2) { low } else { high };
            let account = branch * self.accounts + dice.below(self.accounts);
            if dice.below(5) < 3 {
                clerk.push(Act::Read(account), line::READ + n);
            } else {
                clerk.push(Act::Write(account), line::WRITE + n);
            }
        }
        if low != high {
            clerk.push(Act::Release(high), line::RELEASE_SECOND);
        }
        clerk.push(Act::Release(low), line::RELEASE);
        if clerk.room == 0 {
            clerk.push(Act::End, line::END);
        }
    }
}

impl Steps for Bank {
    #[inline]
    fn step(&mut self) -> Step {
        loop {
            let place = self.dice.index(self.turns.runnable());
            let thread = self.turns.at(place);
            if self.clerks[thread as usize].is_done() {
                self.write_script(thread);
            }
            let clerk = &mut self.clerks[thread as usize];
            let (act, line) = clerk.script[clerk.next];
            match act {
                Act::Acquire(lock) if !self.turns.acquire(place, lock) => continue,
                Act::Release(lock) => self.turns.release(lock),
                _ => {}
            }
            clerk.next += 1;
            return Step { thread, line, act };
        }
    }
}

impl Clerk {
    fn push(&mut self, act: Act, line: u32) {
        self.script[self.length] = (act, line);
        self.length += 1;
    }

    fn is_done(&self) -> bool {
        self.next == self.length
    }
}
