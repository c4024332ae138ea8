//! Results that were written before, as far as replaying needs them.

use crate::store;
use anyhow::{Context as _, anyhow, bail};
use interloper_report::printable::{shortened, shown};
use interloper_report::read::{Finding, Result as Found};
use interloper_report::result::SCHEMA;
use interloper_witness::Schedule;
use interloper_witness::confirm::Identity;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A finding that was confirmed, and how to see it again.
#[derive(Debug)]
pub(crate) struct StoredFinding {
    pub(crate) id: String,
    pub(crate) schedule: Schedule,
    pub(crate) identities: Option<[Identity; 3]>,
    pub(crate) command: Vec<OsString>,
    pub(crate) start_time: u64,
    pub(crate) quantum: u64,
}

impl StoredFinding {
    /// Whether a text may be an id of a finding, or the beginning of one.
    pub(crate) fn is_meant_by(text: &str) -> bool {
        let id = text.rsplit_once(':').map_or(text, |(_, id)| id);
        (1..=16).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// The finding with this id, or whose id begins so: `ID`, in the latest result, or `RESULT:ID`.
    pub(crate) fn find(text: &str) -> anyhow::Result<StoredFinding> {
        let (path, id) = place(text)?;
        let result = read(&path)?;
        let finding = choose(&path, &id, result.all_findings(), |finding| &finding.id)?;
        StoredFinding::of(finding, &result, &path)
    }

    /// The first confirmed finding of the latest result: there, the most harmful comes first.
    pub(crate) fn worst() -> anyhow::Result<StoredFinding> {
        let Some(path) = store::latest_result() else { bail!(store::no_result()) };
        let result = read(&path)?;
        match result.findings.iter().find(|finding| finding.is_confirmed()) {
            Some(finding) => StoredFinding::of(finding, &result, &path),
            None => bail!("{}: no finding is confirmed, so there is no run to replay", path.display()),
        }
    }

    fn of(finding: &Finding, result: &Found, path: &Path) -> anyhow::Result<StoredFinding> {
        let Some(witness) = finding.witness.as_ref().filter(|_| finding.is_confirmed()) else {
            bail!("finding {} is {}, not confirmed: there is no run to replay", finding.id, finding.verdict);
        };
        let Some(program) = &result.program else { bail!("{}: the result is not about a program", path.display()) };
        if program.command.is_empty() || program.quantum == 0 {
            bail!("{}: the result does not say how the program was run; check it again", path.display());
        }
        Ok(StoredFinding {
            id: finding.id.clone(),
            schedule: witness
                .schedule
                .parse()
                .with_context(|| format!("{}: finding {}", path.display(), finding.id))?,
            identities: finding.identities(),
            command: program.command.iter().map(OsString::from).collect(),
            start_time: program.start_time,
            quantum: program.quantum,
        })
    }
}

/// Which result is meant, and which id in it.
pub(crate) fn place(text: &str) -> anyhow::Result<(PathBuf, String)> {
    match text.rsplit_once(':') {
        Some((path, id)) => Ok((PathBuf::from(path), id.to_owned())),
        None => match store::latest_result() {
            Some(path) => Ok((path, text.to_owned())),
            None => bail!("{text}: {}", store::no_result()),
        },
    }
}

/// The one finding whose id begins so.
pub(crate) fn choose<'f, F>(
    path: &Path,
    id: &str,
    all: impl Iterator<Item = &'f F>,
    id_of: fn(&F) -> &String,
) -> anyhow::Result<&'f F> {
    /// More of them would not help.
    const MOST_NAMED: usize = 5;
    let (matching, others): (Vec<&F>, Vec<&F>) = all.partition(|finding| id_of(finding).starts_with(id));
    let path = path.display();
    match matching[..] {
        [finding] => Ok(finding),
        [] if others.is_empty() => bail!("{path}: the result has no finding"),
        [] => {
            let ids = others.iter().map(|finding| id_of(finding).chars().take(8).collect::<String>());
            let named = ids.take(MOST_NAMED).collect::<Vec<_>>().join(", ");
            let more = if others.len() > MOST_NAMED { ", …" } else { "" };
            bail!("{path}: no finding has an id that begins with {id}; there are {named}{more}")
        }
        _ => bail!("{path}: {} findings have an id that begins with {id}; give more of it", matching.len()),
    }
}

/// A result as it is stored, of the one schema that is known here.
pub(crate) fn document(path: &Path) -> anyhow::Result<serde_json::Value> {
    let name = path.display();
    let document: serde_json::Value =
        serde_json::from_str(&text(path)?).with_context(|| format!("{name}: found no result of interloper"))?;
    match document["schema"].as_str() {
        Some(SCHEMA) => Ok(document),
        Some(other) => bail!(
            "{name}: found schema {}, expected {SCHEMA}: another version of interloper made it",
            shown(&shortened(other, 80))
        ),
        None => bail!("{name}: found no result of interloper: it does not say its schema"),
    }
}

/// A result's text.
pub(crate) fn text(path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("{name}: cannot read"))?;
    String::from_utf8(bytes).map_err(|_| anyhow!("{name}: found no result of interloper: it is not text"))
}

fn read(path: &Path) -> anyhow::Result<Found> {
    let document = document(path)?;
    serde_json::from_value(document).with_context(|| format!("{}: found no result of interloper", path.display()))
}
