//! Whether an execution with values is *atomic*: whether some serial order of its blocks gives every read the
//! value it returned and every location its final value.
//!
//! Blocks are outermost regions; every other access stands alone. The order of each thread is kept; locks,
//! fork and join do not matter: the question is not how the program could have run, but whether what came of
//! this run could have come of a serial one. After Eslamimehr and Lesani, *AtomChase* (ISSRE 2015), section III,
//! called "the paper" from here on, with final values added: without them a lost update is atomic.
//!
//! | module | does |
//! |---|---|
//! | `blocks` | reduces events to blocks, and blocks to what they must find and what they leave |
//! | `conditions` | sufficient conditions for non-atomicity, one scan (the paper's Figure 5, re-derived) |
//! | `exact` | the answer: forced orders to a fixpoint, then a memoised search over serial orders |
//! | [`mod@reference`] | the definition, by brute force on bytes, for tests |
//!
//! # Prefixes
//!
//! A prefix of an execution is an execution: a program stopped there. Its final values are those of the last
//! writes in it, and a region that is still open where it ends is a block of what it has done so far. So
//! "non-atomic" of a prefix means: stopped at this moment, the program is in a state, or has read something,
//! that it cannot be in or have read when blocks take place one after the other.
//!
//! # What is claimed
//!
//! [`Verdict::NonAtomic`] and [`Verdict::Atomic`] are right whatever the values are that were not recorded.
//! Everything else is [`Verdict::Unknown`], with the reason. This crate **never** does IO, runs anything, or
//! uses a solver.

mod blocks;
mod cells;
mod conditions;
mod exact;
pub mod reference;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use blocks::Blocks;
use interloper_model::{InitialValues, Pattern, RegionSources};
use interloper_trace::{Event, EventIndex, Op, Tables, ThreadId};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The execution.
    pub events: &'a [Event],
    /// The names in it.
    pub tables: &'a Tables,
    /// What memory holds before anybody has written to it.
    pub initial: InitialValues,
    /// What a block is.
    pub scope: Scope,
    /// Three accesses that are suspected, by their positions: first, remote, second. A condition that holds of
    /// them is preferred to one that holds of others.
    pub suspects: Option<[EventIndex; 3]>,
}

impl<'a> Question<'a> {
    /// Whether a whole execution is atomic.
    pub fn whole(events: &'a [Event], tables: &'a Tables, initial: InitialValues, regions: RegionSources) -> Self {
        Question { events, tables, initial, scope: Scope::Regions(regions), suspects: None }
    }

    /// Whether an execution was still atomic when the last of three accesses had happened.
    pub fn up_to(
        suspects: [EventIndex; 3],
        events: &'a [Event],
        tables: &'a Tables,
        initial: InitialValues,
        scope: Scope,
    ) -> Self {
        let end = suspects.iter().map(|index| index.0.saturating_add(1)).max().unwrap_or(0);
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(events.len());
        Question { events: &events[..end], tables, initial, scope, suspects: Some(suspects) }
    }
}

/// What a block is.
#[derive(Clone, Debug)]
pub enum Scope {
    /// Every outermost region of these sources.
    Regions(RegionSources),
    /// One region only; all other accesses stand alone. What is non-atomic so is non-atomic in any other scope
    /// that has this region as a block or in one, and is so because of this region.
    Only {
        /// Whose region.
        thread: ThreadId,
        /// The event that begins it.
        begin: EventIndex,
        /// The event that ends it, if it ends.
        end: Option<EventIndex>,
    },
}

impl Scope {
    fn sources(&self) -> RegionSources {
        match self {
            Scope::Regions(sources) => *sources,
            Scope::Only { .. } => RegionSources::NONE,
        }
    }
}

/// How much to spend.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// How many steps the search may take.
    pub steps: u64,
    /// When to give up.
    pub deadline: Option<Instant>,
    /// Gives up as soon as this is set.
    pub stop: Option<&'a AtomicBool>,
}

impl Budget<'_> {
    /// So many steps, however long they take: the same answer every time.
    pub const fn steps(steps: u64) -> Self {
        Budget { steps, deadline: None, stop: None }
    }

    /// For a finding: a tenth of a second, more or less.
    pub fn for_a_finding() -> Self {
        Budget { deadline: Some(Instant::now() + Duration::from_millis(100)), ..Budget::steps(u64::MAX) }
    }
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No serial order explains it.
    NonAtomic(Proof),
    /// Some serial order explains it.
    Atomic,
    /// It cannot be told.
    Unknown(Reason),
}

/// How it was proved that no serial order explains an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A sufficient condition holds of three accesses.
    Condition(Instance),
    /// All serial orders were ruled out.
    Exact,
}

/// Three accesses of which a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Their pattern.
    pub pattern: Pattern,
    /// First, remote, second.
    pub events: [EventIndex; 3],
}

/// Why it cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The search took too long.
    Budget,
    /// It was stopped.
    Stopped,
    /// It depends on values that were not recorded.
    Values,
    /// Something wrote to shared memory that was not recorded.
    Unrecorded,
}

impl Reason {
    /// What to tell people.
    pub const fn description(self) -> &'static str {
        match self {
            Reason::Budget => "the search for a serial order took too long",
            Reason::Stopped => "interrupted",
            Reason::Values => "it depends on values that were not recorded",
            Reason::Unrecorded => "reads returned values that nobody was recorded to have written",
        }
    }
}

/// Judges an execution: by the observed order, which most often is serializable; by the conditions; exactly.
pub fn judge(question: &Question<'_>, budget: &Budget<'_>) -> Verdict {
    let blocks = Blocks::new(question.events, question.tables, question.initial, &question.scope);
    let precedence = exact::precedence(&blocks);
    if precedence.explains(&blocks) {
        return Verdict::Atomic;
    }
    if let Some(instance) = conditions::find(&blocks, question.suspects) {
        return Verdict::NonAtomic(Proof::Condition(instance));
    }
    exact::check(&blocks, &precedence, budget)
}

/// The exact check alone.
pub fn judge_exactly(question: &Question<'_>, budget: &Budget<'_>) -> Verdict {
    let blocks = Blocks::new(question.events, question.tables, question.initial, &question.scope);
    exact::check(&blocks, &exact::precedence(&blocks), budget)
}

/// Whether there is something to judge by: an access with a value, or no access at all.
pub fn has_values(events: &[Event]) -> bool {
    let mut accesses = events.iter().filter_map(|event| match event.op {
        Op::Read(access) | Op::Write(access) => Some(access.value.get().is_some()),
        Op::ReadModifyWrite(rmw) => Some(rmw.read.get().is_some() || rmw.written.get().is_some()),
        _ => None,
    });
    // `any` on what is left after the first: an execution without accesses needs no values.
    accesses.next().is_none_or(|known| known || accesses.any(|known| known))
}
