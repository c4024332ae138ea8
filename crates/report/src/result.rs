//! The result document, schema `interloper.result/1`.
//!
//! Field for field what the JSON holds; fields that were added later are left out where there is nothing to say. Adding a field is a minor change; removing or changing one
//! raises the number in the schema's name.

use serde::Serialize;

/// The schema this crate writes.
pub const SCHEMA: &str = "interloper.result/1";

/// A result.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What was analysed.
    pub trace: TraceSummary,
    /// The prediction model: `lockset`, ….
    pub model: &'static str,
    /// The property: `triple`, `serial`, `atomic`.
    pub property: &'static str,
    /// How many findings got how far.
    pub counts: Counts,
    /// What verdicts of a model assume about memory.
    pub memory_model: &'static str,
    /// The findings, in order.
    pub findings: Vec<Finding>,
    /// What the user does not want to see, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<SuppressedFinding>,
    /// The answer about the observed order, if that was asked.
    pub serial: Option<Serial>,
    /// Whether the observed values are those of a serial order, if that was asked.
    pub atomic: Option<Atomic>,
    /// The program that was run, if one was.
    pub program: Option<Program>,
    /// What was explored beyond the recorded run.
    pub explored: Option<Explored>,
    /// What else one should know.
    pub notes: Vec<String>,
}

/// A program that was run.
#[derive(Clone, Debug, Serialize)]
pub struct Program {
    /// The command.
    pub command: Vec<String>,
    /// The folder it was run in.
    pub folder: Option<String>,
    /// The time it found, in nanoseconds since 1970.
    pub start_time: u64,
    /// After how many steps a thread gave way.
    pub quantum: u64,
    /// How it ended when it was recorded.
    pub ended: String,
    /// How often it was run.
    pub runs: u64,
}

/// What was explored beyond the recorded run.
#[derive(Clone, Debug, Serialize)]
pub struct Explored {
    /// `off`, a number of runs, or `exhaust`.
    pub mode: String,
    /// Runs that were led off the paths seen before.
    pub runs: u64,
    /// Of them, those that went where they were led.
    pub reached: u64,
    /// Reads that cannot find anything else.
    pub impossible: u64,
    /// Reads that were not led elsewhere yet, and might be.
    pub left: u64,
    /// Whether every path was taken that a read can lead to.
    pub exhausted: bool,
    /// The ends that the program came to.
    pub outcomes: Vec<RunOutcome>,
}

/// An end that a program came to.
#[derive(Clone, Debug, Serialize)]
pub struct RunOutcome {
    /// How it ended.
    pub ended: String,
    /// What it printed.
    pub stdout: String,
    /// How often.
    pub times: u64,
}

/// The size of a trace.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TraceSummary {
    /// Where it is, of a run that was recorded for this result. Not said of traces that were given: the same events
    /// give the same result, whatever file they come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Events read.
    pub events: u64,
    /// Threads that did anything.
    pub threads: u64,
    /// Locations named.
    pub locations: u64,
    /// Locks named.
    pub locks: u64,
    /// Outermost regions of the chosen sources.
    pub regions: u64,
    /// Whether all threads release their locks in reverse order.
    pub nested_locking: bool,
    /// The threads that do not.
    pub non_nested_threads: Vec<NonNestedThread>,
}

/// A thread that releases a lock which is not the last one it took.
#[derive(Clone, Debug, Serialize)]
pub struct NonNestedThread {
    /// The thread.
    pub thread: String,
    /// Always false.
    pub nested: bool,
    /// Its first such release.
    pub index: u64,
    /// The lock released.
    pub lock: String,
}

/// How many findings got how far.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Counts {
    /// What entered the ladder.
    pub candidates: u64,
    /// What locks, fork and join do not forbid.
    pub possible: u64,
    /// What survives the read-after-write filter.
    pub plausible: u64,
    /// What has a schedule in a sound model.
    pub feasible: u64,
    /// What was executed.
    pub confirmed: u64,
    /// What was proved impossible.
    pub infeasible: u64,
    /// What stayed undecided.
    pub unknown: u64,
    /// What the user does not want to see.
    pub suppressed: u64,
}

/// A violation, as far as it is known.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Stable over runs.
    pub id: String,
    /// How far it got.
    pub verdict: Verdict,
    /// Why it got no further, where that is not the end of the ladder.
    pub reason: Option<String>,
    /// What it did when executed: `crash`, `hang`, `assert`, `exit`, `output`, `state` or `benign`; null if that was
    /// not judged.
    pub harm: Option<&'static str>,
    /// Which of the five patterns.
    pub pattern: &'static str,
    /// What is accessed.
    pub variable: Variable,
    /// The region that is broken: the outermost one.
    pub region: Region,
    /// The innermost region that the two accesses of its thread are in, if that is another one: what is meant to be
    /// one step is hardly ever more than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub innermost: Option<Region>,
    /// The three accesses.
    pub events: Vec<FindingEvent>,
    /// Locks held when the remote access gets in between.
    pub locks: HeldLocks,
    /// A schedule that shows it; from the solver rungs on.
    pub witness: Option<Witness>,
    /// The command that replays it, where there is a program.
    pub replay: Option<String>,
    /// What the program did when it was executed.
    pub execution: Option<Execution>,
    /// The trace that the positions of the events are in, if it is not the one analysed.
    pub trace: Option<String>,
    /// Where the threads of the three accesses were created, as far as the trace says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadBirth>,
    /// Whether the baseline has it.
    #[serde(skip_serializing_if = "is_false")]
    pub known: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Where a thread was created.
#[derive(Clone, Debug, Serialize)]
pub struct ThreadBirth {
    /// The thread.
    pub thread: String,
    /// Who created it.
    pub by: String,
    /// The position of the event, in the trace that [`Execution::events`] are in, or else the three accesses.
    pub index: u64,
    /// The source file.
    pub file: Option<String>,
    /// The source line.
    pub line: Option<i64>,
    /// The function.
    pub function: Option<String>,
}

/// A finding that the user does not want to see.
#[derive(Clone, Debug, Serialize)]
pub struct SuppressedFinding {
    /// What says so.
    pub suppression: Suppression,
    /// The finding.
    pub finding: Finding,
}

/// Why a finding is not to be seen.
#[derive(Clone, Debug, Serialize)]
pub struct Suppression {
    /// `file` (of suppressions) or `source` (an annotation in it).
    pub kind: &'static str,
    /// Where that stands: file and line.
    pub place: String,
    /// The reason given there.
    pub reason: String,
}

impl Finding {
    /// What is meant to be one step, as closely as that is known.
    pub fn step(&self) -> &Region {
        self.innermost.as_ref().unwrap_or(&self.region)
    }

    /// Whether it was executed and did no harm.
    pub fn is_benign(&self) -> bool {
        self.harm == Some("benign")
    }
}

/// What a program did when a violation was executed.
#[derive(Clone, Debug, Serialize)]
pub struct Execution {
    /// How it ended.
    pub ended: String,
    /// How the recorded run had ended.
    pub recorded: String,
    /// Its trace.
    pub trace: Option<String>,
    /// The positions of the three accesses in that trace; what they read and wrote is of that run, too.
    pub events: Option<[u64; 3]>,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// Whether a serial order of the region and the rest explains it: `proved by condition` or `proved exactly` if
    /// not, `atomic after all` if so, or `unknown`.
    pub non_atomic: &'static str,
    /// What it did that it does not in a serial order, in a sentence; null if that was not judged.
    pub harm: Option<String>,
}

/// How far up the ladder a finding got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No schedule exists in the model.
    Infeasible,
    /// It was not decided.
    Unknown,
    /// Locks, fork and join do not forbid it.
    Possible,
    /// It survives the read-after-write filter.
    Plausible,
    /// A schedule exists in a sound model.
    Feasible,
    /// It was executed.
    Confirmed,
}

impl Verdict {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Infeasible => "infeasible",
            Verdict::Unknown => "unknown",
            Verdict::Possible => "possible",
            Verdict::Plausible => "plausible",
            Verdict::Feasible => "feasible",
            Verdict::Confirmed => "confirmed",
        }
    }
}

/// A location.
#[derive(Clone, Debug, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its size in bytes, if known.
    pub size: Option<u32>,
}

/// A region.
#[derive(Clone, Debug, Serialize)]
pub struct Region {
    /// Who says that it is meant to be atomic.
    pub source: &'static str,
    /// What it is called: the annotation's name, the lock, the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whose it is.
    pub thread: String,
    /// The event that begins it.
    pub begin: u64,
    /// The event that ends it; null if the trace ends inside.
    pub end: Option<u64>,
}

/// One of the three accesses.
#[derive(Clone, Debug, Serialize)]
pub struct FindingEvent {
    /// `first`, `remote` or `second`.
    pub role: &'static str,
    /// Its position in the trace.
    pub index: u64,
    /// Who did it.
    pub thread: String,
    /// `r`, `w` or `rw`.
    pub op: &'static str,
    /// The source file.
    pub file: Option<String>,
    /// The source line.
    pub line: Option<i64>,
    /// The function.
    pub function: Option<String>,
    /// How many accesses of this kind, place and location the thread had made by then, this one included.
    pub occurrence: Option<u64>,
    /// What it found, as a number of its size without sign; left out if it reads nothing or that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// What it left behind, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// The locks that its thread held; left out if not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<Vec<String>>,
}

/// Locks held on both sides at the moment of the violation.
#[derive(Clone, Debug, Serialize)]
pub struct HeldLocks {
    /// By the region's thread.
    pub region: Vec<String>,
    /// By the remote thread.
    pub remote: Vec<String>,
}

/// A schedule.
#[derive(Clone, Debug, Serialize)]
pub struct Witness {
    /// Its text form.
    pub schedule: String,
    /// How many context switches it has.
    pub switches: u64,
    /// Whether no schedule does with fewer, as far as it is known.
    pub least: bool,
    /// The reads that find something else than recorded although their threads go on; left out if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<u64>,
}

/// Whether the observed order is conflict-serializable.
#[derive(Clone, Debug, Serialize)]
pub struct Serial {
    /// Null when the analysis was interrupted before it knew.
    pub serializable: Option<bool>,
    /// The first event that closes a cycle.
    pub at: Option<u64>,
    /// The transactions of that cycle, each with its edge to the next; the last leads to the first.
    pub cycle: Vec<CycleStep>,
}

/// Whether some serial order of the blocks explains the observed values.
#[derive(Clone, Debug, Serialize)]
pub struct Atomic {
    /// `atomic`, `non-atomic` or `unknown`.
    pub verdict: &'static str,
    /// How that was found out: `condition` or `exact`.
    pub by: &'static str,
    /// Which of the five patterns, if a condition decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<&'static str>,
    /// The three accesses it holds of: first, remote, second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<[u64; 3]>,
    /// The same three for people.
    #[serde(skip)]
    pub accesses: Vec<FindingEvent>,
    /// What they access.
    #[serde(skip)]
    pub variable: Option<String>,
}

/// A transaction on a cycle.
#[derive(Clone, Debug, Serialize)]
pub struct CycleStep {
    /// Whose.
    pub thread: String,
    /// The region; null for an event that stands alone.
    pub region: Option<Region>,
    /// The event by which the previous transaction comes before this one.
    pub enter: CycleEvent,
    /// The event by which this transaction comes before the next one.
    pub leave: CycleEvent,
    /// Why: `program-order`, `access`, `lock`, `condition`, `semaphore`, `barrier`, `once`, `fork`, `join`.
    pub conflict: &'static str,
    /// On what.
    pub on: Option<String>,
}

/// An event of a cycle.
#[derive(Clone, Debug, Serialize)]
pub struct CycleEvent {
    /// Its position in the trace.
    pub index: u64,
    /// What it does, by the names of JSON Lines.
    pub op: &'static str,
    /// To what.
    pub target: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The source line.
    pub line: Option<i64>,
    /// The function.
    pub function: Option<String>,
}
