//! What can be said on the command line.

mod values;

pub(crate) use values::{
    Dialect, Explore, FailOn, FilterRule, InputFormat, Model, OutputFormat, Property, SchedulePolicy, StatsFormat,
};

use clap::{Args as ClapArgs, Parser, Subcommand};
use interloper_generate::Shape;
use interloper_ladder::MemoryLimit;
use interloper_trace::RegionSource;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use values::{explore, region_source, size};

/// What people look for comes first.
const TEMPLATE: &str = "\
{about-with-newline}
{before-help}
{usage-heading} {usage}

{all-args}{after-help}";

const EXAMPLES: &str = "\
Examples:
  interloper check -- ./program arguments       what can go wrong? prove it
  interloper replay 7f3a                        make it happen again
  interloper view                               look at it in a browser, step by step
  interloper explain 7f3a                       what was that again?
  interloper record -- ./program arguments      what do its threads do?
  interloper analyze                            what could have gone wrong?
  interloper analyze run.std --property serial  was that order all right?
  interloper doctor ./program                   can it be checked?
  interloper dump run.ilt | less";

const EXIT_CODES: &str = "\
Exit codes:
  0    nothing found
  1    something found
  2    wrong usage, unreadable input, or output that cannot be written
  3    inconclusive: undecided, or a replayed run left its schedule
  4    the program cannot be recorded as it is built
  70   a bug of interloper's
  130  interrupted, after printing what was found so far";

const CHECK_EXAMPLES: &str = "\
Examples:
  interloper check -- ./program arguments
  interloper check --budget 5m --explore exhaust -- ./program
  interloper check --format sarif -o interloper.sarif -- ./program
  interloper check --baseline known.txt --suppressions hidden.txt -- ./program";

const ANALYZE_EXAMPLES: &str = "\
Examples:
  interloper analyze                            the trace recorded last
  interloper analyze run.std --model lockset    by locks alone, in linear time
  interloper analyze run.std --property serial  was that order all right?
  interloper analyze run.ilt --format json | jq .counts";

const REPLAY_EXAMPLES: &str = "\
Examples:
  interloper replay                             the worst of the latest check
  interloper replay 7f3a                        a finding of the latest check
  interloper replay old/result.json:7f3a        one of another result
  interloper replay 7f3a -o again.ilt           and keep the trace of the run
  interloper replay run.ilt                     a recorded run once more";

const RECORD_EXAMPLES: &str = "\
Examples:
  interloper record -- ./program arguments
  interloper record --policy pct --seed 7 -o run.ilt -- ./program
  interloper record --check-determinism -- ./program";

const COMPILING: &str = "\
Before the compiler's own arguments can stand:
  --compiler PATH  the compiler to run; also INTERLOPER_COMPILER, or CC and
                   CXX where they name another than this [default: gcc, g++]
  --branches       report branches, too; also INTERLOPER_BRANCHES=1

Examples:
  make CC=\"interloper cc\" CXX=\"interloper c++\"
  CC=\"interloper cc\" ./configure
  interloper cc --compiler clang -O2 -pthread program.c -o program";

// Said here, for the package's description would go first otherwise.
const ABOUT: &str = "Finds atomicity violations in multithreaded programs";

#[derive(Debug, Parser)]
#[command(name = "interloper", version, about = ABOUT, before_help = EXAMPLES, after_help = EXIT_CODES, max_term_width = 80)]
#[command(help_template = TEMPLATE)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program, predict violations, prove them, and make them happen
    #[command(before_help = CHECK_EXAMPLES, help_template = TEMPLATE)]
    Check(CheckArgs),
    /// Run a program and record what its threads do
    #[command(before_help = RECORD_EXAMPLES, help_template = TEMPLATE)]
    Record(RecordArgs),
    /// Make a violation happen again, or run a program along a schedule
    #[command(before_help = REPLAY_EXAMPLES, help_template = TEMPLATE)]
    Replay(ReplayArgs),
    /// Predict violations from a trace
    #[command(before_help = ANALYZE_EXAMPLES, help_template = TEMPLATE)]
    Analyze(AnalyzeArgs),
    /// Make a page of a result, to step through its witnesses in a browser
    View(ViewArgs),
    /// Tell a finding again, or what a word of results means
    Explain(ExplainArgs),
    /// Look whether all is there that recording needs, and what to install
    Doctor(DoctorArgs),
    /// Count what a trace holds
    Stats(StatsArgs),
    /// Show the events of a trace as text
    Dump(DumpArgs),
    /// Convert a trace to another format, by extension
    Convert(ConvertArgs),
    /// Make a synthetic trace
    Generate(GenerateArgs),
    /// Compile and link C for recording, as gcc would
    #[command(disable_help_flag = true, after_help = COMPILING)]
    Cc(CompileArgs),
    /// Compile and link C++ for recording, as g++ would
    #[command(name = "c++", disable_help_flag = true, after_help = COMPILING)]
    Cxx(CompileArgs),
    /// Write manual pages into a folder
    #[command(hide = true)]
    Man(ManArgs),
    /// Write completions for a shell to standard output
    #[command(hide = true)]
    Completions(CompletionsArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) effort: EffortArgs,
    /// How often the program may be run
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: u64,
    /// How far to leave the paths of the recorded run: off, a number of runs, or exhaust
    #[arg(long, value_name = "off|N|exhaust", default_value = "48", value_parser = explore)]
    pub(crate) explore: Explore,
    /// Who decides which thread runs while the program is recorded
    #[arg(long, default_value = "run-ahead")]
    pub(crate) policy: SchedulePolicy,
    /// What random choices are made from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// After how many steps a thread gives way to another while the program is recorded
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) quantum: u64,
    /// Functions meant to be atomic, a name a line
    #[arg(long, value_name = "FILE")]
    pub(crate) atomic_functions: Option<PathBuf>,
    /// Whose regions count, of: annotated, locks, functions, inferred
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = region_source,
          default_value = "annotated,locks,functions")]
    pub(crate) regions: Vec<RegionSource>,
    /// Decide and execute every triple instead of one for all from the same places in the source
    #[arg(long)]
    pub(crate) all: bool,
    /// List what was proved infeasible, too
    #[arg(long)]
    pub(crate) explain_infeasible: bool,
    /// How many findings to list; all are counted [default: 20 as text, else all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// The least verdict that makes the exit code 1
    #[arg(long, value_name = "VERDICT", default_value = "confirmed")]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// How to write the result
    #[arg(long, default_value = "text")]
    pub(crate) format: OutputFormat,
    /// Write the result to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// The program and its arguments
    #[arg(value_name = "CMD", required = true, last = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RecordArgs {
    /// Where the trace goes, an .ilt file [default: the next in .interloper/traces]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Who decides which thread runs
    #[arg(long, default_value = "run-ahead")]
    pub(crate) policy: SchedulePolicy,
    /// What random choices are made from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// After how many steps a thread gives way to another
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) quantum: u64,
    /// pct: the number of ordering constraints to hit
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) depth: u64,
    /// Follow a schedule: its text, or a trace that was recorded
    #[arg(long, value_name = "SCHEDULE|TRACE", conflicts_with = "policy")]
    pub(crate) schedule: Option<OsString>,
    /// Log everything in one run, instead of what threads share in one run or two
    #[arg(long)]
    pub(crate) full: bool,
    /// Functions meant to be atomic, a name a line
    #[arg(long, value_name = "FILE")]
    pub(crate) atomic_functions: Option<PathBuf>,
    /// Record twice, along the same schedule, and say where the runs differ
    #[arg(long)]
    pub(crate) check_determinism: bool,
    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// The program and its arguments
    #[arg(value_name = "CMD", required = true, last = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReplayArgs {
    /// A finding of the latest result, by its id or the beginning of that; RESULT:ID for another result; or a
    /// schedule, or a trace that was recorded [default: the most harmful finding of the latest result]
    #[arg(value_name = "FINDING|SCHEDULE|TRACE")]
    pub(crate) schedule: Option<OsString>,
    /// Record the run to this trace
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// The program and its arguments [default: those of the trace]
    #[arg(value_name = "CMD", last = true)]
    pub(crate) command: Vec<OsString>,
}

/// How to read a trace.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReadArgs {
    /// The format of the trace, if its name does not tell
    #[arg(long, value_name = "FORMAT")]
    pub(crate) input_format: Option<InputFormat>,
    /// Which operations an STD trace may use: RAPID's, or also rd, wr and req
    #[arg(long, value_name = "DIALECT", default_value = "rapid")]
    pub(crate) std_dialect: Dialect,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AnalyzeArgs {
    /// The trace: .ilt, .std, .jsonl, .data (RapidBin), or - with --input-format [default: the latest
    /// recorded]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// What to predict with [default: the strongest that a trace of this length allows]
    #[arg(long)]
    pub(crate) model: Option<Model>,
    /// By which rule --model filtered rejects
    #[arg(long = "filter", value_name = "RULE", default_value = "sound")]
    pub(crate) rule: FilterRule,
    /// What to ask: violations of three accesses, whether the observed order was serializable, or whether a
    /// serial order explains the observed values
    #[arg(long, default_value = "triple")]
    pub(crate) property: Property,
    /// Whose regions count, of: annotated, locks, functions, inferred
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = region_source,
          default_value = "annotated,locks,functions")]
    pub(crate) regions: Vec<RegionSource>,
    /// List every triple instead of one representative for all that are alike
    #[arg(long)]
    pub(crate) all: bool,
    /// List what was proved infeasible, too
    #[arg(long)]
    pub(crate) explain_infeasible: bool,
    #[command(flatten)]
    pub(crate) effort: EffortArgs,
    /// How many findings to list; all are counted [default: 20 as text, else all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// The least verdict that makes the exit code 1 [default: the highest the model can give]
    #[arg(long, value_name = "VERDICT")]
    pub(crate) fail_on: Option<FailOn>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// How to write the result
    #[arg(long, default_value = "text")]
    pub(crate) format: OutputFormat,
    /// Write the result to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Say on standard error where the time went
    #[arg(long)]
    pub(crate) stats: bool,
    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// What not to see, and what is known.
#[derive(Debug, ClapArgs)]
pub(crate) struct FilterArgs {
    /// Hide what this file names, a line each: KIND:PATTERN [until DAY] because REASON
    #[arg(long, value_name = "FILE")]
    pub(crate) suppressions: Option<PathBuf>,
    /// Neither show nor count findings that this file lists by id; a result in JSON will do, too
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the ids of all findings to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
}

impl FilterArgs {
    /// Whether all findings have to be looked at, however few are to be listed.
    pub(crate) fn need_all(&self) -> bool {
        self.suppressions.is_some() || self.baseline.is_some() || self.write_baseline.is_some()
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// The id of a finding of the latest result, or its beginning; RESULT:ID for another result; or a verdict, a
    /// pattern, a source of regions [default: lists the words]
    #[arg(value_name = "ID|WORD")]
    pub(crate) subject: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// A program to look at: is it instrumented, are its libraries, has it debug information?
    pub(crate) program: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ManArgs {
    /// The folder
    pub(crate) folder: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// How much to spend.
#[derive(Debug, ClapArgs)]
pub(crate) struct EffortArgs {
    /// How long it may take: 90s, 5m, 1h [default of check: 60s]
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(crate) budget: Option<Duration>,
    /// How many threads to decide with [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// How much memory deciding may take: 512M, 2G
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = size)]
    pub(crate) memory: u64,
}

impl EffortArgs {
    /// How much memory to take.
    pub(crate) fn memory(&self) -> Option<MemoryLimit> {
        Some(MemoryLimit { used: crate::memory::resident, most: self.memory })
    }

    /// How many threads to decide with.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ViewArgs {
    /// The result: a file, or the number that check gave it [default: the latest]
    pub(crate) result: Option<PathBuf>,
    /// Where to write the page, or - for standard output [default: beside the result]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The trace that was analysed, if the result does not say
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Show no source code
    #[arg(long)]
    pub(crate) no_source: bool,
    /// Open it in the browser, on a terminal
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StatsArgs {
    /// The trace: .ilt, .std, .jsonl, .data (RapidBin), or - with --input-format [default: the latest
    /// recorded]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// How to write the numbers
    #[arg(long, default_value = "text")]
    pub(crate) format: StatsFormat,
    /// Write them to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DumpArgs {
    /// The trace: .ilt, .std, .jsonl, .data (RapidBin), or - with --input-format [default: the latest
    /// recorded]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// The first event to show
    #[arg(long, value_name = "INDEX", default_value_t = 0)]
    pub(crate) from: u64,
    /// How many events to show
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConvertArgs {
    /// The trace: .ilt, .std, .jsonl, .data (RapidBin), or - with --input-format
    #[arg(value_name = "IN")]
    pub(crate) trace: PathBuf,
    /// Where to write: .ilt, .std or .jsonl
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Drop what the target format cannot hold, instead of refusing
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Keep the events before the first damage, instead of refusing a damaged trace
    #[arg(long)]
    pub(crate) salvage: bool,
    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct GenerateArgs {
    /// bank, raytracer, elevator, needles or random
    pub(crate) shape: Shape,
    /// Where to write: .std, .ilt or .jsonl [default: STD to standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How many events, exactly
    #[arg(long, value_name = "N")]
    pub(crate) events: Option<u64>,
    /// How many threads
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// How many locks
    #[arg(long, value_name = "N")]
    pub(crate) locks: Option<u32>,
    /// How many variables; needles: how many candidates
    #[arg(long, value_name = "N")]
    pub(crate) variables: Option<u32>,
    /// Which of the traces of that shape and size
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// bank: how many transactions one region spans
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) widen: u32,
    /// random: no fork and join
    #[arg(long)]
    pub(crate) no_forks: bool,
    /// random: release locks in any order
    #[arg(long)]
    pub(crate) non_nested: bool,
    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompileArgs {
    /// What gcc or clang takes, and handed to it, --help and --version included
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}
