//! The commands, a module each.

mod analyze;
mod cc;
mod check;
mod convert;
mod doctor;
mod dump;
mod explain;
mod generate;
mod manual;
mod record;
mod replay;
mod stats;
mod view;

use crate::args::{Args, Command};
use crate::exit::Exit;
use interloper_toolchain::Language;

/// Runs what was asked for.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    match args.command {
        Command::Check(args) => check::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Analyze(args) => analyze::run(&args),
        Command::View(args) => view::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Man(args) => manual::pages(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Cc(args) => cc::run(Language::C, args),
        Command::Cxx(args) => cc::run(Language::Cxx, args),
    }
}
