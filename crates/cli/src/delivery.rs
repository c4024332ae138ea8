//! How a result reaches who asked for it: without what is suppressed, ordered, cut to the wanted length, in the wanted
//! format.

use crate::args::{FilterArgs, OutputFormat};
use crate::message;
use crate::output::Target;
use anyhow::Context as _;
use interloper_report::baseline::Baseline;
use interloper_report::date::Date;
use interloper_report::result::{Finding, Verdict};
use interloper_report::sources::Sources;
use interloper_report::suppress::{self, Suppressions};
use interloper_report::{Document, order, sarif, text};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// Findings listed as text unless the user says otherwise.
const TEXT_LIMIT: usize = 20;

/// What the user does not want to see, or knows already. Read before any work is done: what is wrong with it is better
/// known at once.
pub(crate) struct Filters<'a> {
    args: &'a FilterArgs,
    suppressions: Option<Suppressions>,
    baseline: Option<Baseline>,
}

impl<'a> Filters<'a> {
    pub(crate) fn read(args: &'a FilterArgs) -> anyhow::Result<Filters<'a>> {
        let read = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).with_context(|| format!("{}: cannot read", path.display()))?;
            anyhow::Ok((path.display().to_string(), text))
        };
        let suppressions = args.suppressions.as_ref().map(read).transpose()?;
        let baseline = args.baseline.as_ref().map(read).transpose()?;
        Ok(Filters {
            args,
            suppressions: suppressions.map(|(name, text)| Suppressions::parse(&name, &text)).transpose()?,
            baseline: baseline.map(|(name, text)| Baseline::parse(&name, &text)).transpose()?,
        })
    }

    /// Takes out what is suppressed, marks what is known, and writes a new baseline, if one is wanted.
    pub(crate) fn apply(self, document: &mut Document, delivery: &Delivery<'_>) -> anyhow::Result<()> {
        let notes = document.notes.len();
        suppress::apply(document, self.suppressions, &sources(), Date::today());
        if let Some(path) = &self.args.write_baseline {
            Target::of(Some(path)).write_text(&Baseline::text(document))?;
        }
        if let Some(baseline) = self.baseline {
            baseline.apply(document);
        }
        // Whoever reads the result as text has them there.
        if delivery.format != OutputFormat::Text || delivery.output.is_some() {
            document.notes[notes..].iter().for_each(|note| message::say("note", note));
        }
        Ok(())
    }
}

/// How many findings that got at least so far do not count: the baseline has them, or they do no harm.
pub(crate) fn set_aside(document: &Document, verdict: Verdict) -> u64 {
    let is_set_aside = |finding: &&Finding| (finding.known || finding.is_benign()) && finding.verdict >= verdict;
    document.findings.iter().filter(is_set_aside).count() as u64
}

/// What is wanted of a result.
pub(crate) struct Delivery<'a> {
    /// What was analysed, as the user calls it.
    pub(crate) name: &'a str,
    pub(crate) format: OutputFormat,
    pub(crate) output: Option<&'a Path>,
    pub(crate) limit: Option<usize>,
    /// The trace, if its lines are its events.
    pub(crate) lines: Option<&'a Path>,
    /// Makes a page of what is to be shown.
    pub(crate) page: &'a dyn Fn(&Document) -> anyhow::Result<String>,
}

/// How many findings to list, if the user says this.
pub(crate) fn limit(format: OutputFormat, wanted: Option<usize>) -> usize {
    wanted.unwrap_or(match format {
        OutputFormat::Text => TEXT_LIMIT,
        OutputFormat::Json | OutputFormat::Sarif | OutputFormat::Html => usize::MAX,
    })
}

impl Delivery<'_> {
    /// Writes a result.
    pub(crate) fn deliver(&self, document: &Document) -> anyhow::Result<()> {
        let mut shown = document.clone();
        order::sort(&mut shown.findings);
        // What is known is not told, so it takes no room.
        shown.findings.sort_by_key(|finding| finding.known);
        shown.findings.truncate(limit(self.format, self.limit));
        let target = Target::of(self.output);
        let rendered = match self.format {
            OutputFormat::Text => {
                let colour = matches!(target, Target::Stdout) && wants_colour();
                text::render(&shown, self.name, &text::Options::new(&sources(), colour))
            }
            OutputFormat::Json => json(&shown)?,
            OutputFormat::Html => (self.page)(&shown)?,
            OutputFormat::Sarif => {
                let lines = self.lines.map(|path| path.display().to_string());
                let sarif = sarif::render(&shown, &places(lines));
                serde_json::to_string_pretty(&sarif).context("cannot write the result as SARIF")? + "\n"
            }
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

/// Where sources are: below the root of the repository that this folder is in, or else below this folder.
fn places(lines: Option<String>) -> sarif::Places {
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&folder).to_owned();
    sarif::Places { folder, root, lines, sources: sources() }
}

/// Whether standard output shows colour, and the user does not mind.
pub(crate) fn wants_colour() -> bool {
    let says = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    std::io::stdout().is_terminal() && says("NO_COLOR").is_none() && says("TERM").is_none_or(|term| term != "dumb")
}
