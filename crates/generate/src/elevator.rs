//! `elevator`: long regions over deep, ever changing stacks of nested locks.
//!
//! After the hardest row of the lockset paper's table (5 threads, 50 locks, 200 variables, 78,000
//! events, some 270 transactions), where nearly all time went into comparing acquisition histories.
//! A *shaft* is a guard lock, a handful of inner locks that it shares with other shafts, and some
//! variables. A region takes the guard of one shaft and wanders: it takes inner locks on top, gives
//! them back in reverse, takes locks it already holds once more, and accesses the shaft's variables,
//! always under the guard.
//!
//! One region in 64 is broken the way real ones are: it lets go of everything half-way and takes
//! the guard again. It touches exactly one variable on both sides of that gap, so findings stay few.
//!
//! Locks are taken only when they are free, so no thread ever waits: one that cannot enter leaves
//! its turn to one that is inside.

use crate::dice::Dice;
use crate::options::Sizes;
use crate::step::{Act, Step, Steps};

const INNER_LOCKS: usize = 6;
/// Entries of a lock stack, the guard and re-entrant acquisitions included.
const DEEPEST: usize = 7;
/// A region wanders for at least this many steps, and for up to as many again, split or not.
const SHORTEST_REGION: u32 = 190;
const BROKEN: u32 = 64;
const TRIES: u32 = 8;

mod line {
    pub(super) const BEGIN: u32 = 200;
    pub(super) const GUARD: u32 = 210;
    pub(super) const GUARD_AGAIN: u32 = 220;
    pub(super) const INNER: u32 = 230;
    pub(super) const READ: u32 = 240;
    pub(super) const WRITE: u32 = 260;
    pub(super) const RELEASE: u32 = 280;
    pub(super) const END: u32 = 290;
    /// Accesses are spread over this many statements of each kind.
    pub(super) const STATEMENTS: u32 = 20;
}

pub(crate) struct Elevator {
    dice: Dice,
    shafts: Vec<Shaft>,
    variables: u32,
    locks: Vec<Lock>,
    cars: Vec<Car>,
    /// The threads that hold a guard: these can always go on.
    inside: Vec<u32>,
}

struct Shaft {
    guard: u32,
    inner: [u32; INNER_LOCKS],
}

#[derive(Clone, Default)]
struct Lock {
    holder: Option<u32>,
    depth: u32,
}

/// A thread.
#[derive(Clone)]
struct Car {
    phase: Phase,
    shaft: usize,
    stack: Vec<u32>,
    left: u32,
    part: Part,
}

#[derive(Clone, Copy)]
enum Phase {
    Outside,
    Entering,
    Inside,
    Leaving,
}

/// Which of its shaft's variables a region uses: all, or before and after the gap two parts that
/// have one in common.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    All,
    BeforeGap,
    AfterGap,
}

impl Elevator {
    pub(crate) fn new(sizes: &Sizes, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let shafts = (sizes.locks / 3).clamp(1, sizes.variables);
        let shafts = (0..shafts).map(|_| Shaft::new(sizes.locks, &mut dice)).collect();
        let car = Car { phase: Phase::Outside, shaft: 0, stack: Vec::with_capacity(DEEPEST), left: 0, part: Part::All };
        Elevator {
            dice,
            shafts,
            variables: sizes.variables,
            locks: vec![Lock::default(); sizes.locks as usize],
            cars: vec![car; sizes.threads as usize],
            inside: Vec::new(),
        }
    }

    /// What a thread does next, unless it has to wait.
    fn advance(&mut self, thread: u32) -> Option<(Act, u32)> {
        let car = &mut self.cars[thread as usize];
        match car.phase {
            Phase::Outside => {
                car.phase = Phase::Entering;
                car.part = if self.dice.once_in(BROKEN) { Part::BeforeGap } else { Part::All };
                Some((Act::Begin, line::BEGIN))
            }
            Phase::Entering => self.enter(thread),
            Phase::Inside if car.left > 0 => {
                car.left -= 1;
                Some(self.wander(thread))
            }
            Phase::Inside => Some(self.unwind(thread)),
            Phase::Leaving => {
                car.phase = Phase::Outside;
                Some((Act::End, line::END))
            }
        }
    }

    fn enter(&mut self, thread: u32) -> Option<(Act, u32)> {
        let car = &mut self.cars[thread as usize];
        let again = car.part == Part::AfterGap;
        if !again {
            let (shafts, locks) = (&self.shafts, &self.locks);
            car.shaft = (0..TRIES)
                .map(|_| self.dice.index(shafts.len()))
                .find(|&shaft| locks[shafts[shaft].guard as usize].holder.is_none())?;
        }
        let guard = self.shafts[car.shaft].guard;
        if self.locks[guard as usize].holder.is_some() {
            return None;
        }
        let steps = SHORTEST_REGION + self.dice.below(SHORTEST_REGION);
        car.left = if car.part == Part::All { steps } else { steps / 2 };
        car.phase = Phase::Inside;
        self.inside.push(thread);
        Some((self.acquire(thread, guard), if again { line::GUARD_AGAIN } else { line::GUARD }))
    }

    fn wander(&mut self, thread: u32) -> (Act, u32) {
        let depth = self.cars[thread as usize].stack.len();
        let roll = self.dice.below(100);
        if roll < 24 && depth < DEEPEST {
            let inner = self.dice.below(INNER_LOCKS as u32);
            let lock = self.shafts[self.cars[thread as usize].shaft].inner[inner as usize];
            if self.locks[lock as usize].holder.is_none_or(|holder| holder == thread) {
                return (self.acquire(thread, lock), line::INNER + inner);
            }
        } else if (24..46).contains(&roll) && depth > 1 {
            return (self.release(thread), line::RELEASE);
        }
        self.access(thread)
    }

    fn access(&mut self, thread: u32) -> (Act, u32) {
        let car = &self.cars[thread as usize];
        // Variable v belongs to shaft v mod (number of shafts); at least one belongs to each.
        let (shafts, shaft) = (self.shafts.len() as u32, car.shaft as u32);
        let owned = (self.variables - shaft).div_ceil(shafts);
        let shared = owned / 2;
        let n = match car.part {
            Part::All => self.dice.below(owned),
            Part::BeforeGap => self.dice.below(shared + 1),
            Part::AfterGap => shared + self.dice.below(owned - shared),
        };
        let variable = shaft + n * shafts;
        if self.dice.below(10) < 7 {
            (Act::Read(variable), line::READ + n % line::STATEMENTS)
        } else {
            (Act::Write(variable), line::WRITE + n % line::STATEMENTS)
        }
    }

    /// Gives back the locks, one at a time; without the guard, either comes the gap or the end.
    fn unwind(&mut self, thread: u32) -> (Act, u32) {
        let act = self.release(thread);
        let car = &mut self.cars[thread as usize];
        if car.stack.is_empty() {
            if car.part == Part::BeforeGap {
                (car.phase, car.part) = (Phase::Entering, Part::AfterGap);
            } else {
                car.phase = Phase::Leaving;
            }
            // Few are inside at a time: never more than there are guards, nor than threads.
            self.inside.retain(|&other| other != thread);
        }
        (act, line::RELEASE)
    }

    fn acquire(&mut self, thread: u32, lock: u32) -> Act {
        self.cars[thread as usize].stack.push(lock);
        let state = &mut self.locks[lock as usize];
        state.holder = Some(thread);
        state.depth += 1;
        Act::Acquire(lock)
    }

    fn release(&mut self, thread: u32) -> Act {
        let top = self.cars[thread as usize].stack.pop();
        debug_assert!(top.is_some(), "only threads inside release");
        let lock = top.unwrap_or_default();
        let state = &mut self.locks[lock as usize];
        state.depth -= 1;
        if state.depth == 0 {
            state.holder = None;
        }
        Act::Release(lock)
    }
}

impl Steps for Elevator {
    fn step(&mut self) -> Step {
        let mut thread = self.dice.index(self.cars.len()) as u32;
        loop {
            if let Some((act, line)) = self.advance(thread) {
                return Step { thread, line, act };
            }
            // Somebody holds the guard that could not be had, so somebody is inside.
            thread = self.inside[self.dice.index(self.inside.len())];
        }
    }
}

impl Shaft {
    fn new(locks: u32, dice: &mut Dice) -> Self {
        let guard = dice.below(locks);
        // Any lock but the guard; doubles only make re-entrant acquisitions more likely.
        let inner = std::array::from_fn(|_| (guard + 1 + dice.below(locks - 1)) % locks);
        Shaft { guard, inner }
    }
}
