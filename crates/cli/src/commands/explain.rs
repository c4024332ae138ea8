//! `interloper explain`: a finding of a result again, in full; or what a word means.

use crate::args::ExplainArgs;
use crate::delivery::{sources, wants_colour};
use crate::exit::Exit;
use crate::output::Target;
use crate::results::{self, StoredFinding};
use anyhow::bail;
use interloper_report::explain::{self, TOPICS};
use interloper_report::result::Finding;
use interloper_report::{stored, text};

pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<Exit> {
    let rendered = match (&args.subject, args.subject.as_deref().and_then(explain::topic)) {
        (_, Some(topic)) => topic.text(),
        (None, None) => explain::overview(),
        (Some(subject), None) if StoredFinding::is_meant_by(subject) => finding(subject)?,
        (Some(subject), None) => {
            let topics: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
            bail!("{subject}: found neither the id of a finding (ID, or RESULT:ID) nor one of: {}", topics.join(", "));
        }
    };
    Target::Stdout.write_text(&rendered)?;
    Ok(Exit::Clean)
}

/// A finding, and what its verdict and its pattern mean.
fn finding(subject: &str) -> anyhow::Result<String> {
    let (path, id) = results::place(subject)?;
    let all = stored::findings(&results::document(&path)?);
    let finding = results::choose(&path, &id, all.iter(), |finding: &Finding| &finding.id)?;
    let sources = sources();
    let mut rendered = text::render_finding(finding, &text::Options::new(&sources, wants_colour()));
    for topic in [finding.verdict.name(), finding.pattern].into_iter().filter_map(explain::topic) {
        rendered.push('\n');
        rendered += &topic.text();
    }
    Ok(rendered)
}
