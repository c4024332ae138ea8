//! `interloper man` and `interloper completions`: made from the same definitions as `--help`, for `make install`.

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::exit::Exit;
use crate::output::Target;
use anyhow::Context as _;
use clap::{Command, CommandFactory as _};

/// Writes a page for the command and one for each of its commands.
pub(crate) fn pages(args: &ManArgs) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    let cannot_write = || format!("{}: cannot write", folder.display());
    std::fs::create_dir_all(folder).with_context(cannot_write)?;
    clap_mangen::generate_to(with_examples(Args::command()), folder).with_context(cannot_write)?;
    Ok(Exit::Clean)
}

/// Pages have no place for what comes before all else in help: it goes after.
fn with_examples(command: Command) -> Command {
    let parts = [command.get_before_help(), command.get_after_help()];
    let text: Vec<String> = parts.into_iter().flatten().map(ToString::to_string).collect();
    let command = if text.is_empty() { command } else { command.after_help(text.join("\n\n")) };
    command.mut_subcommands(with_examples)
}

/// Writes completions.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "interloper", &mut script);
    Target::Stdout.write(|out| out.write_all(&script).context("cannot write to standard output"))?;
    Ok(Exit::Clean)
}
