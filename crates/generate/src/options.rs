//! What can be asked of a generator, and what cannot.

use crate::needles::STRANGERS;
use crate::raytracer::EVENTS_PER_ROUND;
use std::fmt;
use std::str::FromStr;

/// The most threads, locks or variables a trace may have. Their names are kept in memory.
pub const MAX_NAMES: u32 = 1 << 24;

/// The variables each lock of a bank protects, unless asked otherwise.
pub(crate) const ACCOUNTS_PER_BRANCH: u32 = 64;

/// What kind of program the trace seems to come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Two-phase transactions of about twelve events over accounts, each under the lock of its branch; serializable by construction.
    Bank,
    /// Every thread adds to one sum, in a region and under a lock of its own: n(n − 1) findings for n threads.
    Raytracer,
    /// Long regions over deep, ever changing stacks of nested locks: very many acquisition histories, few findings.
    Elevator,
    /// A bank, and a known number of candidates strewn into it.
    Needles,
    /// Anything a trace may hold, at random.
    Random,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 5] = [Shape::Bank, Shape::Raytracer, Shape::Elevator, Shape::Needles, Shape::Random];

    /// The word for it on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Shape::Bank => "bank",
            Shape::Raytracer => "raytracer",
            Shape::Elevator => "elevator",
            Shape::Needles => "needles",
            Shape::Random => "random",
        }
    }

    /// What it is, in one line.
    pub const fn description(self) -> &'static str {
        match self {
            Shape::Bank => "two-phase transactions over accounts; serializable",
            Shape::Raytracer => "all threads add to one sum, each under its own lock; n(n-1) findings",
            Shape::Elevator => "long regions over deep lock stacks; very many acquisition histories",
            Shape::Needles => "a bank, and as many candidates as asked for strewn into it",
            Shape::Random => "anything a trace may hold",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Shape {
    type Err = OptionsError;

    fn from_str(name: &str) -> Result<Self, OptionsError> {
        let shape = Shape::ALL.into_iter().find(|shape| shape.name() == name);
        shape.ok_or_else(|| OptionsError::UnknownShape(name.to_owned()))
    }
}

/// How large the trace is, and what is in it. `None` leaves a size to the shape.
///
/// | | `bank` | `raytracer` | `elevator` | `needles` | `random` |
/// |---|---|---|---|---|---|
/// | events | 1,000,000 | 6 × threads | 78,000 | 1,000,000 | 1,000 |
/// | threads | 8 | 10 | 5 | 8 | 4 |
/// | locks | 16 | threads | 50 | 16 | 4 |
/// | variables | 64 × locks | 1 | 4 × locks | 1,000 candidates | 8 |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many events the trace has, exactly.
    pub events: Option<u64>,
    /// How many threads there are.
    pub threads: Option<u32>,
    /// How many locks there are.
    pub locks: Option<u32>,
    /// How many variables there are. In a bank each lock protects `variables / locks` of them. Of `needles`, how many
    /// candidates.
    pub variables: Option<u32>,
    /// Which of the traces of that shape and size.
    pub seed: u64,
    /// `bank` only: how many transactions of a thread one region spans. Above one, the trace is not serializable any more.
    pub widen: u32,
    /// `random` only: whether threads are forked and joined; otherwise all run from the start.
    pub forks: bool,
    /// `random` only: whether locks may be released in any order instead of the reverse of their acquisition.
    pub non_nested: bool,
    /// `random` only: how often what happens.
    pub mix: Mix,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            events: None,
            threads: None,
            locks: None,
            variables: None,
            seed: 0,
            widen: 1,
            forks: true,
            non_nested: false,
            mix: Mix::default(),
        }
    }
}

/// How often what happens in a random trace: shares of any common total.
///
/// Where a lock or region operation is not possible at the moment an access takes its place, so
/// traces have somewhat more accesses than their share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// Reads.
    pub reads: u32,
    /// Writes.
    pub writes: u32,
    /// Acquisitions and releases together.
    pub locking: u32,
    /// Begins and ends of regions together.
    pub regions: u32,
}

impl Default for Mix {
    fn default() -> Self {
        Mix { reads: 30, writes: 25, locking: 30, regions: 15 }
    }
}

impl Mix {
    pub(crate) fn total(self) -> Option<u32> {
        self.reads.checked_add(self.writes)?.checked_add(self.locking)?.checked_add(self.regions)
    }
}

/// Why a trace like that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// There is no such shape.
    #[error("unknown shape \"{}\"; there are bank, raytracer, elevator, needles and random", .0.escape_debug())]
    UnknownShape(String),
    /// A size is out of range.
    #[error("{given} {what} for the shape {shape}; it takes {least} to {most}")]
    OutOfRange {
        /// The size: `threads`, `locks`, ….
        what: &'static str,
        /// The shape it was asked for.
        shape: Shape,
        /// What was asked for.
        given: u32,
        /// The smallest that works.
        least: u32,
        /// The largest that works.
        most: u32,
    },
    /// The option means nothing for this shape.
    #[error("the shape {shape} has no option \"{option}\"")]
    NotForShape {
        /// The option.
        option: &'static str,
        /// The shape.
        shape: Shape,
    },
    /// The shares of a mix add up to nothing, or to more than 2³².
    #[error("the shares of reads, writes, locking and regions must add up to between 1 and 4294967295")]
    EmptyMix,
}

/// The options with every size settled and checked.
pub(crate) struct Sizes {
    pub(crate) events: u64,
    pub(crate) threads: u32,
    pub(crate) locks: u32,
    pub(crate) variables: u32,
}

impl Options {
    pub(crate) fn settle(&self, shape: Shape) -> Result<Sizes, OptionsError> {
        self.check_applicable(shape)?;
        let in_range = |what, given: u32, least: u32, most: u32| {
            if (least..=most).contains(&given) {
                Ok(given)
            } else {
                Err(OptionsError::OutOfRange { what, shape, given, least, most })
            }
        };
        let (events, threads) = match shape {
            Shape::Bank => (1_000_000, 8),
            Shape::Raytracer => (0, 10),
            Shape::Elevator => (78_000, 5),
            Shape::Needles => (1_000_000, 8),
            Shape::Random => (1_000, 4),
        };
        let least_threads = if shape == Shape::Needles { STRANGERS + 1 } else { 1 };
        let threads = in_range("threads", self.threads.unwrap_or(threads), least_threads, MAX_NAMES)?;
        let (default_locks, least_locks, most_locks) = match shape {
            Shape::Bank => (16, 1, MAX_NAMES),
            Shape::Raytracer => (threads, threads, threads),
            Shape::Elevator => (50, 2, MAX_NAMES),
            Shape::Needles => (16, 1, MAX_NAMES / ACCOUNTS_PER_BRANCH),
            Shape::Random => (4, 0, MAX_NAMES),
        };
        let locks = in_range("locks", self.locks.unwrap_or(default_locks), least_locks, most_locks)?;
        let (default_variables, least_variables, most_variables) = match shape {
            Shape::Bank => (locks.saturating_mul(ACCOUNTS_PER_BRANCH).min(MAX_NAMES), locks, MAX_NAMES),
            Shape::Raytracer => (1, 1, 1),
            Shape::Elevator => (locks.saturating_mul(4).min(MAX_NAMES), 1, MAX_NAMES),
            Shape::Needles => (1_000, 1, MAX_NAMES / 2),
            Shape::Random => (8, 1, MAX_NAMES),
        };
        let variables =
            in_range("variables", self.variables.unwrap_or(default_variables), least_variables, most_variables)?;
        let default_events = if shape == Shape::Raytracer { EVENTS_PER_ROUND * u64::from(threads) } else { events };
        Ok(Sizes { events: self.events.unwrap_or(default_events), threads, locks, variables })
    }

    fn check_applicable(&self, shape: Shape) -> Result<(), OptionsError> {
        let default = Options::default();
        let refuse = |option| Err(OptionsError::NotForShape { option, shape });
        if shape == Shape::Bank {
            if self.widen == 0 {
                return Err(OptionsError::OutOfRange { what: "widen", shape, given: 0, least: 1, most: u32::MAX });
            }
        } else if self.widen != default.widen {
            return refuse("widen");
        }
        if shape == Shape::Random {
            if self.mix.total().is_none_or(|total| total == 0) {
                return Err(OptionsError::EmptyMix);
            }
        } else if self.non_nested {
            return refuse("non-nested");
        } else if self.mix != default.mix {
            return refuse("mix");
        }
        Ok(())
    }
}
