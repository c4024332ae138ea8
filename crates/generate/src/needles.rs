//! `needles`: a bank, and a known number of candidates strewn into it.
//!
//! Two threads besides the clerks. The first goes through a region that reads and writes a variable of its own,
//! without a lock, and then writes a flag; the second writes that variable some time later. Every second time it has
//! read the flag before, so that it cannot have come in between: the filter rejects these, and keeps the others.
//!
//! What the clerks do makes up the length, and is no candidate: the traces are for measuring how the cost of a
//! candidate grows with what is around it.

use crate::bank::Bank;
use crate::step::{Act, Step, Steps};
use std::collections::VecDeque;

/// How many steps there are at least from one needle to the next. A trace that is too short for that has fewer.
const CLOSEST: u64 = 32;

/// Threads besides the clerks.
pub(crate) const STRANGERS: u32 = 2;

pub(crate) struct Needles {
    bank: Bank,
    clerks: u32,
    /// The number of the first variable that is no account.
    first: u32,
    needles: u32,
    /// How many steps there are from one needle to the next.
    spacing: u64,
    steps: u64,
    next: u32,
    waiting: VecDeque<Step>,
}

impl Needles {
    /// So many needles in a bank, evenly over a number of events.
    pub(crate) fn new(bank: Bank, clerks: u32, accounts: u32, needles: u32, events: u64) -> Self {
        let spacing = (events / u64::from(needles.max(1))).max(CLOSEST);
        Needles { bank, clerks, first: accounts, needles, spacing, steps: 0, next: 0, waiting: VecDeque::new() }
    }

    fn strew(&mut self) {
        let within = self.steps % self.spacing;
        self.steps += 1;
        let (region, remote) = (self.clerks, self.clerks + 1);
        if within == 0 && self.next < self.needles {
            let (variable, flag) = self.variables(self.next);
            self.next += 1;
            let acts = [Act::Begin, Act::Read(variable), Act::Write(variable), Act::End, Act::Write(flag)];
            self.waiting.extend((2010..).zip(acts).map(|(line, act)| Step { thread: region, line, act }));
        } else if within == self.spacing / 2 && self.next > 0 && self.steps / self.spacing < u64::from(self.next) {
            let needle = self.next - 1;
            let (variable, flag) = self.variables(needle);
            let reads = (needle % 2 == 1).then_some(Step { thread: remote, line: 2030, act: Act::Read(flag) });
            let writes = Step { thread: remote, line: 2031, act: Act::Write(variable) };
            self.waiting.extend(reads.into_iter().chain([writes]));
        }
    }

    fn variables(&self, needle: u32) -> (u32, u32) {
        (self.first + 2 * needle, self.first + 2 * needle + 1)
    }
}

impl Steps for Needles {
    #[inline]
    fn step(&mut self) -> Step {
        if self.waiting.is_empty() {
            self.strew();
        } else {
            self.steps += 1;
        }
        match self.waiting.pop_front() {
            Some(step) => step,
            None => self.bank.step(),
        }
    }
}
