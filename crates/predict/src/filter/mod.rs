//! AVFilter: which possible violations read-after-write relations make implausible.
//!
//! Zeng, Sun, Liu, He: *A Method for Improving the Precision and Coverage of Atomicity Violation Predictions*. It
//! looks at triples that locks, fork and join do not forbid, and rejects those whose schedules would let a thread
//! read something else than it read before it has come to its access.
//!
//! # Two rules
//!
//! [`Rule::Paper`] is the paper's Algorithm 1 to the letter, for any two threads among many. It is quick, but
//! neither sound nor complete against the causal model: the schedule it has in mind has the three accesses next
//! to each other on their variable, so it rejects what can happen with other accesses between them (its lines 5 and
//! 29), it holds a remote write that must move before the region to break the region's read even where it can
//! move before that read's writer, too (line 14), and it knows no chains through a third thread. Two of the ten
//! scenarios of its Table 1 fall to line 22.
//!
//! [`Rule::Sound`] rejects only what has no schedule in the causal model:
//!
//! 1. `sound`: clocks of what must have happened before each event of the whole trace, from program
//!    order, fork and join, reads that have one write only that they can have come from, and sections of locks.
//!    If the remote access must come before the region's first, or after its second, there is no schedule.
//! 2. `closure`: if the three accesses are close to each other, the orders that a schedule of them must keep are
//!    closed under: a read comes after its write, and any other write of the location before that write or after
//!    the read; one of two sections of a lock ends before the other begins. A cycle refutes.
//!
//! Both take only conditions that every schedule must meet, so that leaving some out (what is further away than
//! a window, what is accessed in pieces or in several sizes or after it was freed, reads whose value is bound to an
//! expression, condition variables, semaphores, barriers) rejects less, never more. What is not rejected need not be
//! feasible: there is no search.
//!
//! A triple that the observed order already shows is never rejected.
//!
//! # How
//!
//! All questions are known before the trace is read, so nothing is looked up backwards: [`Survey`], a first
//! pass, finds out where to look, [`Filter`], a second one, holds for each question what is needed until it is
//! answered. A question costs logarithmic time and what its region (paper) or its surroundings (sound) hold.
//! Memory is bounded by the questions and what their regions hold, the locations and locks with a clock each, and
//! the different values of each location, and the reads that are bound; not by the length of the trace.
//!
//! The paper's rule is held to the printed algorithm ([`mod@reference`]), the sound one to all schedules of random
//! traces of every kind, also with very little of the surroundings (tests of `ladder`, which knows what a schedule
//! is).
//!
//! | module | holds |
//! |---|---|
//! | `survey` | the first pass |
//! | `paper` | Algorithm 1, all questions at once |
//! | `sound` | clocks of forced orders, all questions at once |
//! | `closure` | what the orders around three accesses come to |
//! | [`mod@reference`] | Algorithm 1 as printed, for tests |

mod closure;
mod paper;
pub mod reference;
mod sound;
mod survey;
#[cfg(test)]
mod tests;

pub use survey::Survey;

use crate::triple::Triple;
use interloper_model::{AccessKind, InitialValues, Pattern};
use interloper_trace::{Event, EventIndex, LocationId, Tables, ThreadId};
use paper::Paper;
use sound::Sound;

/// By which rule triples are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The paper's Algorithm 1.
    Paper,
    /// What can be proved.
    Sound,
}

/// Why a triple is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A read that moves forward no longer finds what was written before it, or a write that moves forward is
    /// found by a read before it: a case of the paper's lemmas.
    Lemma {
        /// Which lemma: the first if the remote access came after the region's, the second if before.
        lemma: u8,
        /// Which of its cases.
        case: u8,
        /// The read.
        read: EventIndex,
        /// The write.
        write: EventIndex,
    },
    /// One of the three accesses must come before another, which it would have to follow.
    Ordered {
        /// What must come first in every schedule.
        earlier: EventIndex,
        /// What comes after it.
        later: EventIndex,
    },
    /// Each of these must come before the next, and the last before the first.
    Cycle(Vec<EventIndex>),
    /// Nothing that this read must find can still be there when it has to come.
    NoSource(EventIndex),
}

impl Rejection {
    /// The kind of it, in a word or two.
    pub fn kind(&self) -> String {
        match self {
            Rejection::Lemma { lemma, case, .. } => format!("lemma {lemma} case {case}"),
            Rejection::Ordered { .. } => "forced order".to_owned(),
            Rejection::Cycle(_) => "cycle".to_owned(),
            Rejection::NoSource(_) => "nothing to read".to_owned(),
        }
    }
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // A write moves forward: see Figure 5 of the paper. In all other cases a read does.
            Rejection::Lemma { lemma: 1, case: 3, read, write } => {
                write!(f, "lemma 1 case 3: the read at {read} would find what the write at {write} leaves")
            }
            Rejection::Lemma { lemma, case, read, write } => {
                write!(
                    f,
                    "lemma {lemma} case {case}: the read at {read} would no longer find what the write at {write} left"
                )
            }
            Rejection::Ordered { earlier, later } => {
                write!(f, "by what threads read, event {earlier} comes before event {later} in every schedule")
            }
            Rejection::NoSource(read) => {
                write!(f, "whatever the read at {read} could have found is overwritten by then, or not yet there")
            }
            Rejection::Cycle(events) => {
                let events: Vec<String> = events.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "each of the events {} would have to come before the next, and the last before the first",
                    events.join(", ")
                )
            }
        }
    }
}

/// The second pass in progress.
pub struct Filter {
    pass: Pass,
}

enum Pass {
    Paper(Box<Paper>),
    Sound(Box<Sound>),
}

impl Filter {
    /// Takes in the next event, as in the first pass.
    #[inline]
    pub fn observe(&mut self, index: EventIndex, event: &Event) {
        match &mut self.pass {
            Pass::Paper(paper) => paper.observe(index.0, event),
            Pass::Sound(sound) => sound.observe(index.0, event),
        }
    }

    /// For each triple, why it is rejected, if it is.
    pub fn finish(self) -> Vec<Option<Rejection>> {
        match self.pass {
            Pass::Paper(paper) => paper.finish(),
            Pass::Sound(sound) => sound.finish(),
        }
    }
}

/// Filters triples of a trace in memory.
pub fn filter(
    rule: Rule,
    triples: &[Triple],
    events: &[Event],
    tables: &Tables,
    initial: InitialValues,
) -> Vec<Option<Rejection>> {
    Survey::new(rule, triples, initial).filter(events, tables)
}

/// A triple, as far as the filters look at it.
#[derive(Clone, Copy, Debug)]
struct Question {
    first: u64,
    remote: u64,
    second: u64,
    local_thread: ThreadId,
    remote_thread: ThreadId,
    location: LocationId,
    /// Whether the remote access, or the second one, is a read-modify-write that has to write, and therefore has to
    /// find what it found: if it finds something else, there is no saying what it does.
    remote_is_kept: bool,
    second_is_kept: bool,
}

impl Question {
    fn new(triple: &Triple) -> Self {
        let [first, remote, second] = [triple.first, triple.remote, triple.second].map(|access| access.kind);
        let must_write = |kind, pattern: Option<Pattern>| kind == AccessKind::ReadWrite && pattern.is_none();
        Question {
            remote_is_kept: must_write(remote, Pattern::of(first, AccessKind::Read, second)),
            second_is_kept: must_write(second, Pattern::of(first, remote, AccessKind::Read)),
            first: triple.first.index.0,
            remote: triple.remote.index.0,
            second: triple.second.index.0,
            local_thread: triple.first.thread,
            remote_thread: triple.remote.thread,
            location: triple.location,
        }
    }

    /// Whether the trace itself shows it.
    fn is_observed(&self) -> bool {
        self.first < self.remote && self.remote < self.second
    }
}
