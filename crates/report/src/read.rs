//! A result document read back, to be shown or replayed.
//!
//! Read leniently: what is not there is unknown, and what is not known here is passed over, so that results of
//! earlier and later versions of the schema can be used.

use interloper_witness::confirm::{Identity, Operation, SourcePlace};
use serde::Deserialize;

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(default)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
    )*};
}

fields! {
    /// A result.
    Result {
        /// Which schema.
        schema: String,
        /// What was analysed.
        trace: TraceSummary,
        /// The prediction model.
        model: String,
        /// The property.
        property: String,
        /// How many findings got how far.
        counts: Counts,
        /// What verdicts assume about memory.
        memory_model: String,
        /// The findings.
        findings: Vec<Finding>,
        /// Those that the user does not want to see.
        suppressed: Vec<Suppressed>,
        /// Whether the observed order is serializable, if that was asked.
        serial: Option<Serial>,
        /// The program that was run.
        program: Option<Program>,
        /// What was explored beyond the recorded run.
        explored: Option<Explored>,
        /// What else one should know.
        notes: Vec<String>,
    }

    /// The size of a trace.
    TraceSummary {
        /// Where it is, if the result says so.
        file: Option<String>,
        /// Events.
        events: u64,
        /// Threads.
        threads: u64,
        /// Locations.
        locations: u64,
        /// Locks.
        locks: u64,
        /// Regions.
        regions: u64,
    }

    /// How many findings got how far.
    Counts {
        /// What entered the ladder.
        candidates: u64,
        /// What locks, fork and join do not forbid.
        possible: u64,
        /// What has a schedule.
        feasible: u64,
        /// What was executed.
        confirmed: u64,
        /// What was proved impossible.
        infeasible: u64,
        /// What stayed undecided.
        unknown: u64,
        /// What the user does not want to see.
        suppressed: u64,
    }

    /// A violation.
    Finding {
        /// Stable over runs.
        id: String,
        /// How far it got.
        verdict: String,
        /// Why no further.
        reason: Option<String>,
        /// What it did when executed, if that was judged.
        harm: Option<String>,
        /// Which of the five patterns.
        pattern: String,
        /// What is accessed.
        variable: Variable,
        /// The region that is broken: the outermost one.
        region: Region,
        /// The innermost one that holds both accesses, if it is another.
        innermost: Option<Region>,
        /// The three accesses.
        events: Vec<Event>,
        /// Locks held when the remote access gets in.
        locks: HeldLocks,
        /// A schedule that shows it.
        witness: Option<Witness>,
        /// The command that replays it.
        replay: Option<String>,
        /// What the program did when it was executed.
        execution: Option<Execution>,
        /// The trace that the positions are in, if it is not the one analysed.
        trace: Option<String>,
    }

    /// A finding that the user does not want to see.
    Suppressed {
        /// That finding.
        finding: Finding,
    }

    /// A location.
    Variable {
        /// Its name.
        name: String,
    }

    /// A region.
    Region {
        /// Who says that it is meant to be atomic.
        source: String,
        /// What it is called.
        name: Option<String>,
        /// Whose it is.
        thread: String,
        /// The event that begins it.
        begin: u64,
        /// The event that ends it.
        end: Option<u64>,
    }

    /// One of the three accesses.
    Event {
        /// Its position in the trace.
        index: u64,
        /// Who did it.
        thread: String,
        /// `r`, `w` or `rw`.
        op: String,
        /// The source file.
        file: Option<String>,
        /// The source line.
        line: Option<i64>,
        /// The function.
        function: Option<String>,
        /// The how manieth access of its kind, thread, place and location.
        occurrence: Option<u64>,
    }

    /// Locks held on both sides.
    HeldLocks {
        /// By the region's thread.
        region: Vec<String>,
        /// By the remote thread.
        remote: Vec<String>,
    }

    /// A schedule.
    Witness {
        /// Its text form.
        schedule: String,
        /// How many context switches it has.
        switches: u64,
        /// Whether none has fewer.
        least: bool,
        /// Reads that find something else than recorded although their threads go on.
        changed: Vec<u64>,
    }

    /// What a program did when a violation was executed.
    Execution {
        /// How it ended.
        ended: String,
        /// How the recorded run had ended.
        recorded: String,
        /// Its trace.
        trace: Option<String>,
        /// Where in that trace the three accesses are.
        events: Option<Vec<u64>>,
        /// What it printed.
        stdout: String,
        /// What it complained about.
        stderr: String,
        /// What it did that it does not in a serial order, in a sentence.
        harm: Option<String>,
        /// Whether a serial order explains what was read.
        non_atomic: Option<String>,
    }

    /// Whether the observed order is conflict-serializable.
    Serial {
        /// Null if it is not known.
        serializable: Option<bool>,
        /// The first event that closes a cycle.
        at: Option<u64>,
        /// The transactions of that cycle.
        cycle: Vec<CycleStep>,
    }

    /// A transaction on a cycle.
    CycleStep {
        /// Whose.
        thread: String,
        /// The region; null for an event that stands alone.
        region: Option<Region>,
        /// The event by which the previous one comes before this.
        enter: CycleEvent,
        /// The event by which this one comes before the next.
        leave: CycleEvent,
        /// Why.
        conflict: String,
        /// On what.
        on: Option<String>,
    }

    /// An event of a cycle.
    CycleEvent {
        /// Its position in the trace.
        index: u64,
        /// What it does.
        op: String,
        /// To what.
        target: Option<String>,
        /// The source file.
        file: Option<String>,
        /// The source line.
        line: Option<i64>,
        /// The function.
        function: Option<String>,
    }

    /// A program that was run.
    Program {
        /// The command.
        command: Vec<String>,
        /// The folder it was run in.
        folder: Option<String>,
        /// How it ended when it was recorded.
        ended: String,
        /// How often it was run.
        runs: u64,
        /// What its clock showed when it began.
        start_time: u64,
        /// After how many steps a thread had to make way for another.
        quantum: u64,
    }

    /// What was explored beyond the recorded run.
    Explored {
        /// Runs that were led off the paths seen before.
        runs: u64,
        /// Whether every path was taken that a read can lead to.
        exhausted: bool,
        /// Reads that were not led elsewhere yet.
        left: u64,
        /// The ends that the program came to.
        outcomes: Vec<RunOutcome>,
    }

    /// An end that a program came to.
    RunOutcome {
        /// How it ended.
        ended: String,
        /// What it printed.
        stdout: String,
        /// How often.
        times: u64,
    }
}

impl Result {
    /// The findings, those that are suppressed included.
    pub fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().chain(self.suppressed.iter().map(|suppressed| &suppressed.finding))
    }
}

impl Finding {
    /// What is meant to be one step, as closely as that is known.
    pub fn step(&self) -> &Region {
        self.innermost.as_ref().unwrap_or(&self.region)
    }

    /// What the three accesses are known by in any run; none if the result does not say it.
    pub fn identities(&self) -> Option<[Identity; 3]> {
        let identity = |event: &Event| {
            let operation = match event.op.as_str() {
                "r" => Operation::Read,
                "w" => Operation::Write,
                "rw" => Operation::ReadModifyWrite,
                _ => return None,
            };
            Some(Identity {
                thread: event.thread.clone(),
                place: SourcePlace { file: event.file.clone(), function: event.function.clone(), line: event.line },
                operation,
                occurrence: event.occurrence?,
                location: self.variable.name.clone(),
            })
        };
        self.events.iter().map(identity).collect::<Option<Vec<_>>>()?.try_into().ok()
    }

    /// Who gets in between.
    pub fn remote_thread(&self) -> &str {
        self.events.get(1).map_or("?", |event| &event.thread)
    }

    /// How far up it got, by number: what has more is more.
    pub fn rung(&self) -> u32 {
        match self.verdict.as_str() {
            "confirmed" => 5,
            "feasible" => 4,
            "plausible" => 3,
            "possible" => 2,
            "unknown" => 1,
            _ => 0,
        }
    }

    /// Whether it was executed.
    pub fn is_confirmed(&self) -> bool {
        self.verdict == "confirmed"
    }

    /// Whether it was judged to do no harm.
    pub fn is_benign(&self) -> bool {
        self.harm.as_deref() == Some("benign")
    }
}
