//! `interloper stats`.

use crate::args::{StatsArgs, StatsFormat};
use crate::exit::Exit;
use crate::input::Input;
use crate::output::Target;
use crate::pass::Pass;
use anyhow::Context as _;
use interloper_model::Census;
use interloper_report::stats;

pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<Exit> {
    let input = Input::find_or_latest(args.trace.as_deref(), &args.read)?;
    let mut census = Census::new();
    let pass = Pass::run(
        &input,
        "counting",
        !args.no_progress,
        None,
        &mut census,
        |census, _, event, _| census.observe(event),
        |_| String::new(),
    )?;
    let stats = stats::stats(&census, pass.tables(), input.bytes(), pass.notes());
    let rendered = match args.format {
        StatsFormat::Text => stats.text(),
        StatsFormat::Json => serde_json::to_string_pretty(&stats).context("cannot write the numbers as JSON")? + "\n",
    };
    Target::of(args.output.as_deref()).write_text(&rendered)?;
    Ok(if pass.interrupted { Exit::Interrupted } else { Exit::Clean })
}
