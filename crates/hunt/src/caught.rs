//! What comes of a hunt.

use crate::harm::Harm;
use interloper_ladder::{Census, Finding};
use interloper_model::StateId;
use interloper_recorder::{CapturedOutput, Exit, RecordOutcome};
use interloper_trace::{LockId, LockMode, Tables};
use interloper_witness::Schedule;
use interloper_witness::confirm::Identity;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What came of a hunt.
#[derive(Debug)]
pub struct Hunted {
    /// The runs that were looked at; the first is the one that was recorded.
    pub runs: Vec<ObservedRun>,
    /// How the first went.
    pub recorded: RecordOutcome,
    /// The violations, as far as they got.
    pub caught: Vec<Caught>,
    /// How the ladder was climbed on the first run.
    pub totals: Totals,
    /// How often the program was run.
    pub executions: u64,
    /// What was explored.
    pub explored: Explored,
    /// Whether the user, or the time, ended it.
    pub interrupted: bool,
}

/// How many got how far on the lower rungs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// What entered the ladder.
    pub candidates: u64,
    /// What locks, fork and join do not forbid.
    pub possible: u64,
    /// What the filter does not reject.
    pub plausible: u64,
    /// Possible triples that were too many to list.
    pub unlisted: u64,
}

/// A run that was looked at.
#[derive(Debug)]
pub struct ObservedRun {
    /// Its trace.
    pub path: PathBuf,
    /// The names in it.
    pub tables: Tables,
    /// How many events it has.
    pub events: u64,
    /// The locks held in the states of its findings.
    pub held: FxHashMap<StateId, Vec<(LockId, LockMode)>>,
    /// What it has.
    pub census: Census,
}

/// A violation.
#[derive(Debug)]
pub struct Caught {
    /// The run it was predicted from: its place in [`Hunted::runs`].
    pub run: usize,
    /// The three accesses, and what was decided about them.
    pub finding: Finding,
    /// What the three accesses are known by.
    pub identities: Option<[Identity; 3]>,
    /// How far it got.
    pub verdict: Verdict,
}

/// How far a violation got when it was executed.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It happened.
    Confirmed(Box<Confirmation>),
    /// It was not executed, or did not happen, for this reason.
    NotExecuted(String),
}

/// A run in which a violation happened.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// The schedule of that run, which replays it.
    pub schedule: Schedule,
    /// What came of it.
    pub ending: Ending,
    /// Whether it is explained by a serial order of the region and the rest.
    pub atomicity: Atomicity,
    /// What it does that no serial run does; none as long as that was not looked at.
    pub harm: Option<Harm>,
    /// Its trace.
    pub trace: Option<PathBuf>,
    /// Where in that trace the three accesses are.
    pub at: [usize; 3],
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Ending {
    /// How it ended.
    pub outcome: Outcome,
    /// What it printed.
    pub output: CapturedOutput,
    /// What it left in memory that threads share, by name.
    pub state: BTreeMap<String, u64>,
}

/// Whether a run up to a violation is explained by a serial order of the region and what others did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomicity {
    /// It is not: a sufficient condition says so.
    NotByCondition,
    /// It is not: no serial order explains it.
    NotExactly,
    /// It is, after all.
    Atomic,
    /// It is not known.
    Unknown,
}

impl Atomicity {
    /// The words for it in results.
    pub const fn name(self) -> &'static str {
        match self {
            Atomicity::NotByCondition => "proved by condition",
            Atomicity::NotExactly => "proved exactly",
            Atomicity::Atomic => "atomic after all",
            Atomicity::Unknown => "unknown",
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// By itself, or by a signal.
    Ended(Exit),
    /// No thread could go on.
    Deadlock,
    /// It took too long.
    TimedOut,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Ended(Exit::Code(code)) => write!(f, "exited with status {code}"),
            Outcome::Ended(Exit::Signal(signal)) => write!(f, "was killed by signal {signal}"),
            Outcome::Deadlock => f.write_str("deadlocked"),
            Outcome::TimedOut => f.write_str("did not end in time"),
        }
    }
}

/// What was explored beyond the first run.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// Runs that were led off the observed paths.
    pub runs: u64,
    /// Of them, those that went where they were led.
    pub reached: u64,
    /// Reads that cannot find anything else, as far as that was looked at.
    pub impossible: u64,
    /// What was left when it ended: reads that might be led elsewhere.
    pub left: u64,
    /// Whether nothing was left, and nothing was skipped.
    pub is_exhausted: bool,
    /// Each end that the program came to, with how often: how it ended, and what it printed.
    pub outcomes: Vec<(Outcome, Vec<u8>, u64)>,
}

impl Explored {
    /// The program came to an end.
    pub(crate) fn ended(&mut self, ending: &Ending) {
        let (outcome, stdout) = (ending.outcome, &ending.output.stdout);
        let known = self.outcomes.iter_mut().find(|(known, text, _)| *known == outcome && text == stdout);
        match known {
            Some((.., times)) => *times += 1,
            None => self.outcomes.push((outcome, stdout.clone(), 1)),
        }
    }
}
