//! The `interloper` command.
//!
//! Arguments, files, progress, exit codes. This crate **never** holds analysis logic: it opens a
//! trace, hands its events to an analysis, and gives the outcome to a report.

mod args;
mod commands;
mod delivery;
mod exit;
mod findings;
mod input;
mod interrupt;
mod memory;
mod message;
mod output;
mod pages;
mod pass;
mod progress;
mod recording;
mod results;
mod spool;
mod store;
mod terminal;

use clap::Parser as _;
use std::process::ExitCode;

const BUG: &str = "this is a bug in interloper, not in your program; please report it with the command line";

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        message::say("internal error", &panic.to_string());
        message::say("note", BUG);
    }));
    let outcome = std::panic::catch_unwind(|| {
        interrupt::install();
        interrupt::survive_file_limits();
        commands::run(args::Args::parse())
    });
    let exit = match outcome {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) if error.is::<interrupt::Interrupted>() => {
            message::say("interrupted", &error.to_string());
            exit::Exit::Interrupted
        }
        Ok(Err(error)) if error.is::<findings::OurFault>() => {
            message::say("internal error", &error.to_string());
            message::say("note", BUG);
            exit::Exit::Bug
        }
        Ok(Err(error)) => {
            message::say("error", &format!("{error:#}"));
            exit::Exit::Usage
        }
        Err(_) => exit::Exit::Bug,
    };
    exit.into()
}
