//! What to record, and how.

use crate::assemble::RegionOptions;
use crate::capture::Printing;
use crate::directions::Directions;
use crate::launch::Launch;
use crate::stdin::Input;
use interloper_wire::Policy;
use interloper_witness::Schedule;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What to record.
#[derive(Clone, Debug)]
pub struct RecordRequest {
    /// The program and how to start it.
    pub launch: Launch,
    /// Where the trace goes; without, the program is only run.
    pub output: Option<PathBuf>,
    /// Who decides which thread runs, if there is no schedule to follow.
    pub policy: Policy,
    /// What random choices are made from.
    pub seed: u64,
    /// After how many steps a thread gives way.
    pub quantum: u64,
    /// The number of ordering constraints of [`Policy::Pct`].
    pub depth: u64,
    /// About how many steps the run has, for [`Policy::Pct`].
    pub expected_steps: u64,
    /// The schedule to follow.
    pub schedule: Option<Schedule>,
    /// The directions to follow; then there is one run, whatever the effort, and no schedule.
    pub directions: Option<Directions>,
    /// How much is logged.
    pub effort: Effort,
    /// What makes a region.
    pub regions: RegionOptions,
    /// Whether to tell by what each event goes in another run.
    pub identify: bool,
    /// How many bytes of log are kept in memory for a program that is run once.
    pub full_limit: u64,
    /// How many bytes of log the program may be ahead of us.
    pub ring_len: u64,
    /// The time the program finds, in nanoseconds since 1970; now, if not given.
    pub start_time: Option<u64>,
    /// What the program reads; our standard input, if not given.
    pub input: Option<Input>,
    /// What becomes of what the program prints, the first time it is run.
    pub printing: Printing,
    /// How long a run may take. Who takes longer is killed.
    pub time_limit: Option<Duration>,
}

impl RecordRequest {
    /// A recording of a program, as is usual.
    pub fn new(command: Vec<OsString>) -> Self {
        RecordRequest {
            launch: Launch { command, library_folder: None, preload: None },
            output: None,
            policy: Policy::RunAhead,
            seed: 0,
            quantum: 1_000_000,
            depth: 3,
            expected_steps: 100_000,
            schedule: None,
            directions: None,
            effort: Effort::Auto,
            regions: RegionOptions::default(),
            identify: false,
            full_limit: 64 << 20,
            ring_len: 64 << 20,
            start_time: None,
            input: None,
            printing: Printing::Through,
            time_limit: None,
        }
    }
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// What threads share, in one run or two.
    Auto,
    /// Everything, in one run.
    Full,
}
