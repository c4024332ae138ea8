//! Measures the `interloper` binary side by side with the floor, and prints tables.
//!
//! Every figure is taken from a child process, as a user would start it: CPU time (user and system)
//! and peak memory as the kernel accounts them. Contenders take turns, round after round, so that
//! whatever else the machine does hits all of them alike, and of each the best round counts: noise
//! only ever adds. `docs/performance.md` says how to read the tables.
//!
//! This program measures and prints. It **never** judges: no figure is asserted here, and a run that
//! fails for another reason than having found something is an error, not a figure.

mod atomic;
mod deciding;
mod dice;
mod inputs;
mod machine;
mod measure;
mod programs;
mod recording;
mod scout;
mod solver;
mod tables;
mod tellers;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use inputs::Inputs;
use recording::Recording;
use std::ffi::OsString;
use std::path::PathBuf;
use tables::Bench;

/// Measure the interloper binary side by side with the floor.
#[derive(Parser)]
struct Arguments {
    /// The binary to measure
    #[arg(long, default_value = "target/release/interloper")]
    interloper: PathBuf,
    /// The floor: benches/floor.c, compiled
    #[arg(long, default_value = "target/bench/floor")]
    floor: PathBuf,
    /// Where the input traces are, or will be put
    #[arg(long, default_value = "target/bench")]
    data: PathBuf,
    /// How often each contender runs
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Also measure 100 million events (needs 2 GB of disk, and minutes)
    #[arg(long)]
    large: bool,
    /// Only make this many events of a shape, as a contender of the first table
    #[arg(long, hide = true, num_args = 2, value_names = ["EVENTS", "SHAPE"])]
    make: Vec<String>,
    /// Only run a program as a scout, as a contender of the last table
    #[arg(long, hide = true, num_args = 0, requires = "command")]
    scout: bool,
    /// Only make a set of questions, for the table of solvers
    #[arg(long, hide = true, num_args = 3, value_names = ["SET", "FORMULA", "TRACE"])]
    formulate: Vec<String>,
    /// Only answer the questions of a file, as a contender of the table of solvers
    #[arg(long, hide = true, value_name = "FILE")]
    solve: Option<PathBuf>,
    /// The program to run
    #[arg(last = true, hide = true)]
    command: Vec<OsString>,
    /// Where the programs to record are
    #[arg(long, default_value = "benches/recording")]
    programs: PathBuf,
    /// Where folders with the sources of pbzip2 and bzip2 are
    #[arg(long, default_value = "target/real/src", overrides_with = "pbzip2")]
    pbzip2: PathBuf,
    /// Only these tables
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Table>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Table {
    /// How fast traces are generated
    Generate,
    /// 10 million events of STD text
    Std,
    /// The same as .ilt
    Ilt,
    /// 100 million events, with --large
    Large,
    /// Growth with events, threads and locks
    Growth,
    /// The join phase on the elevator
    Elevator,
    /// The read-after-write filter
    Filter,
    /// Judging whether an execution is atomic
    Atomic,
    /// The solver beside Z3
    Solver,
    /// How deciding grows with events, threads and candidates
    Deciding,
    /// What recording a program costs
    Recording,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let [events, shape] = &arguments.make[..] {
        return tables::make(shape.parse()?, events.parse()?);
    }
    if arguments.scout {
        return scout::run(&arguments.command);
    }
    if let [set, formula, trace] = &arguments.formulate[..] {
        return solver::formulate(set, formula.as_ref(), trace.as_ref());
    }
    if let Some(file) = &arguments.solve {
        return solver::solve(file);
    }
    let recording = Recording {
        interloper: arguments.interloper.clone(),
        programs: arguments.programs,
        pbzip2: arguments.pbzip2,
        folder: arguments.data.join("recording"),
        rounds: arguments.rounds,
    };
    let folder = arguments.data.clone();
    let bench = Bench {
        inputs: Inputs::new(arguments.interloper.clone(), arguments.data)?,
        interloper: arguments.interloper,
        floor: arguments.floor,
        rounds: arguments.rounds,
        large: arguments.large,
    };
    println!("{}\n", machine::facts());
    let wanted = |table| arguments.only.is_empty() || arguments.only.contains(&table);
    if wanted(Table::Generate) {
        bench.generate()?;
    }
    if wanted(Table::Std) {
        bench.bank("STD, 10 M events", 10_000_000, "std")?;
    }
    if wanted(Table::Ilt) {
        bench.bank(".ilt, 10 M events", 10_000_000, "ilt")?;
    }
    if wanted(Table::Large) && arguments.large {
        bench.bank("STD, 100 M events", 100_000_000, "std")?;
        bench.bank(".ilt, 100 M events", 100_000_000, "ilt")?;
    }
    if wanted(Table::Growth) {
        bench.growth()?;
    }
    if wanted(Table::Elevator) {
        bench.elevator()?;
    }
    if wanted(Table::Filter) {
        bench.filter()?;
    }
    if wanted(Table::Atomic) {
        atomic::print(&bench.interloper, &folder, bench.rounds)?;
    }
    if wanted(Table::Solver) {
        solver::print(&bench.interloper, &folder)?;
    }
    if wanted(Table::Deciding) {
        deciding::print(&bench)?;
    }
    if wanted(Table::Recording) {
        recording.print()?;
    }
    Ok(())
}
