//! How a result reaches who asked for it: ordered, cut to the wanted length, in the wanted format.

use crate::args::OutputFormat;
use crate::output::Target;
use anyhow::Context as _;
use interloper_report::sources::Sources;
use interloper_report::{Document, order, text};
use std::io::IsTerminal as _;
use std::path::Path;

/// Findings listed as text unless the user says otherwise.
const TEXT_LIMIT: usize = 20;

/// What is wanted of a result.
pub(crate) struct Delivery<'a> {
    /// What was analysed, as the user calls it.
    pub(crate) name: &'a str,
    pub(crate) format: OutputFormat,
    pub(crate) output: Option<&'a Path>,
    pub(crate) limit: Option<usize>,
}

impl Delivery<'_> {
    /// How many findings to list.
    pub(crate) fn limit(&self) -> usize {
        self.limit.unwrap_or(match self.format {
            OutputFormat::Text => TEXT_LIMIT,
            OutputFormat::Json => usize::MAX,
        })
    }

    /// Writes a result.
    pub(crate) fn deliver(&self, document: &Document) -> anyhow::Result<()> {
        let mut shown = document.clone();
        order::sort(&mut shown.findings);
        shown.findings.truncate(self.limit());
        let target = Target::of(self.output);
        let rendered = match self.format {
            OutputFormat::Text => {
                let colour = matches!(target, Target::Stdout) && wants_colour();
                text::render(&shown, self.name, &text::Options::new(&sources(), colour))
            }
            OutputFormat::Json => json(&shown)?,
        };
        target.write_text(&rendered)
    }
}

/// A result as JSON.
pub(crate) fn json(document: &Document) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(document).context("cannot write the result as JSON")? + "\n")
}

/// The sources that lie about here.
pub(crate) fn sources() -> Sources {
    std::env::current_dir().map_or_else(|_| Sources::none(), Sources::in_folder)
}

/// Whether standard output shows colour, and the user does not mind.
pub(crate) fn wants_colour() -> bool {
    let says = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    std::io::stdout().is_terminal() && says("NO_COLOR").is_none() && says("TERM").is_none_or(|term| term != "dumb")
}
