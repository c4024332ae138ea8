//! What the options of the command line can be.

use clap::ValueEnum;
use interloper_trace::RegionSource;
use interloper_trace::file::Format;
use interloper_trace::std_format::StdDialect;

/// How far to leave the paths of the recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Explore {
    Off,
    Runs(u64),
    Exhaust,
}

impl std::fmt::Display for Explore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Explore::Off => f.write_str("off"),
            Explore::Runs(runs) => runs.fmt(f),
            Explore::Exhaust => f.write_str("exhaust"),
        }
    }
}

pub(super) fn explore(text: &str) -> Result<Explore, String> {
    match text {
        "off" => Ok(Explore::Off),
        "exhaust" => Ok(Explore::Exhaust),
        number => number.parse().map(Explore::Runs).map_err(|_| "expected off, exhaust or a number of runs".to_owned()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchedulePolicy {
    /// A thread runs until it waits or its quantum is used up
    RunAhead,
    /// Quanta of random length, then a thread at random
    Random,
    /// Probabilistic concurrency testing: random priorities that change at a few points
    Pct,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum InputFormat {
    Ilt,
    Std,
    Jsonl,
    Rapidbin,
}

impl From<InputFormat> for Format {
    fn from(format: InputFormat) -> Format {
        match format {
            InputFormat::Ilt => Format::Ilt,
            InputFormat::Std => Format::Std,
            InputFormat::Jsonl => Format::Jsonl,
            InputFormat::Rapidbin => Format::RapidBin,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Dialect {
    Rapid,
    Extended,
}

impl From<Dialect> for StdDialect {
    fn from(dialect: Dialect) -> StdDialect {
        match dialect {
            Dialect::Rapid => StdDialect::Rapid,
            Dialect::Extended => StdDialect::Extended,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Model {
    /// Locks, fork and join; values ignored
    Lockset,
    /// What read-after-write relations do not make implausible: AVFilter, without a solver
    Filtered,
    /// Every read finds what it found: decided by a solver, with a schedule as proof
    Causal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FilterRule {
    /// What can be proved not to happen
    Sound,
    /// What Algorithm 1 of the AVFilter paper rejects
    Paper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Property {
    /// Can another thread's access get between two of one region?
    Triple,
    /// Was the observed order conflict-serializable?
    Serial,
    /// Does some serial order explain all values that were read, and the final ones?
    Atomic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people
    Text,
    /// All there is, schema interloper.result/1
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// A page for a browser, with nothing beside it
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Possible,
    Plausible,
    Feasible,
    Confirmed,
}

pub(super) fn region_source(name: &str) -> Result<RegionSource, String> {
    RegionSource::from_name(name).ok_or_else(|| "expected annotated, locks, functions or inferred".to_owned())
}

/// A number of bytes.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()));
    let shift = match unit {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        _ => return Err("expected a number of bytes, or one followed by K, M or G".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a number of bytes, such as 512M".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "that is more than any memory".to_owned())
}
