//! The `interloper` command.
//!
//! Arguments, files, progress, exit codes. This crate **never** holds analysis logic: it opens a
//! trace, hands its events to an analysis, and gives the outcome to a report.

mod args;
mod commands;
mod exit;
mod input;
mod interrupt;
mod output;
mod pass;
mod progress;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("interloper: internal error: {panic}");
        eprintln!("This is a bug in interloper, not in your program. Please report it with the command line.");
    }));
    let args = args::Args::parse();
    interrupt::install();
    match std::panic::catch_unwind(|| commands::run(args)) {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(error)) => {
            eprintln!("error: {error:#}");
            exit::Exit::Usage.into()
        }
        Err(_) => exit::Exit::Bug.into(),
    }
}
