//! The commands, a module each.

mod analyze;
mod convert;
mod dump;
mod generate;
mod stats;

use crate::args::{Args, Command};
use crate::exit::Exit;

/// Runs what was asked for.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    match args.command {
        Command::Analyze(args) => analyze::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Generate(args) => generate::run(&args),
    }
}
