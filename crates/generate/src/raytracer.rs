//! `raytracer`: everybody adds to one checksum, each under a lock of its own.
//!
//! The bug of the Java Grande ray tracer, and the smallest trace with a known number of findings:
//! the locks differ, so they exclude nobody, and the sum of each of n threads can be interrupted by
//! the write of each of the n − 1 others.
//!
//! Threads go in rounds. In a round each adds once, interleaved event by event; the next round
//! begins when all have finished, so the first round alone already has every finding.

use crate::dice::Dice;
use crate::step::{Act, Step, Steps};

/// How many events a thread has in a round.
pub(crate) const EVENTS_PER_ROUND: u64 = 6;

pub(crate) struct Raytracer {
    dice: Dice,
    /// How many steps of this round each thread has taken.
    taken: Vec<u8>,
    /// The threads that have not finished the round.
    busy: Vec<u32>,
}

impl Raytracer {
    pub(crate) fn new(threads: u32, seed: u64) -> Self {
        Raytracer { dice: Dice::new(seed), taken: vec![0; threads as usize], busy: Vec::new() }
    }
}

impl Steps for Raytracer {
    #[inline]
    fn step(&mut self) -> Step {
        if self.busy.is_empty() {
            self.taken.fill(0);
            self.busy.extend(0..self.taken.len() as u32);
        }
        let place = self.dice.index(self.busy.len());
        let thread = self.busy[place];
        let taken = &mut self.taken[thread as usize];
        let (act, line) = match *taken {
            0 => (Act::Begin, 10),
            1 => (Act::Acquire(thread), 11),
            2 => (Act::Read(0), 12),
            3 => (Act::Write(0), 13),
            4 => (Act::Release(thread), 14),
            _ => (Act::End, 15),
        };
        *taken += 1;
        if u64::from(*taken) == EVENTS_PER_ROUND {
            self.busy.swap_remove(place);
        }
        Step { thread, line, act }
    }
}
