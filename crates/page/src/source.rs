//! Lines of source files.
//!
//! Only lines near places that the page speaks of are embedded, those of the three accesses first, and no more than
//! so many in all.

use crate::story::{MOST_FINDINGS, Story};
use crate::text::source_line;
use interloper_report::read::{Finding, Result as Found};
use std::collections::{BTreeMap, BTreeSet};

/// So many lines are embedded in all.
const MOST_LINES: usize = 12_000;
/// Lines shown above and below a place.
const AROUND: i64 = 7;

/// A source file.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// What it says.
    pub text: String,
    /// Whether it was changed after the result was made, so that lines may not be those that ran.
    pub is_changed: bool,
}

/// The lines that are embedded, by file.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    files: BTreeMap<String, Excerpt>,
    lines: usize,
}

/// Lines of one file.
#[derive(Debug, Default)]
pub(crate) struct Excerpt {
    pub(crate) lines: BTreeMap<i64, String>,
    pub(crate) is_changed: bool,
}

impl Sources {
    /// Takes these lines of a file, as far as there is room.
    pub(crate) fn add(&mut self, file: &str, source: &SourceText, wanted: &[i64]) {
        let all: Vec<&str> = source.text.lines().collect();
        let excerpt = self.files.entry(file.to_owned()).or_default();
        excerpt.is_changed = source.is_changed;
        for &line in wanted {
            for near in line.saturating_sub(AROUND)..=line.saturating_add(AROUND) {
                let Some(text) = usize::try_from(near - 1).ok().and_then(|at| all.get(at)) else { continue };
                if self.lines >= MOST_LINES {
                    return;
                }
                if excerpt.lines.insert(near, source_line(text)).is_none() {
                    self.lines += 1;
                }
            }
        }
    }

    /// A line of a file.
    pub(crate) fn line(&self, file: Option<&str>, line: Option<i64>) -> Option<&str> {
        self.files.get(file?)?.lines.get(&line?).map(String::as_str)
    }

    /// All files.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &Excerpt)> {
        self.files.iter().map(|(name, excerpt)| (name.as_str(), excerpt))
    }
}

/// The files that lines should be shown of, most wanted first.
pub(crate) fn wanted_files(result: &Found, story: &Story) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let of_findings = accesses(result).filter_map(|(file, _)| file);
    let of_tracks = story.tracks.iter().flat_map(|track| &track.sites).filter_map(|site| site.file.as_deref());
    of_findings.chain(of_tracks).filter(|file| seen.insert(*file)).map(str::to_owned).collect()
}

/// The lines of a file that the page speaks of, most wanted first.
pub(crate) fn wanted_lines(file: &str, result: &Found, story: &Story) -> Vec<i64> {
    let mut seen = BTreeSet::new();
    let of_findings = accesses(result).filter(|(name, _)| *name == Some(file)).filter_map(|(_, line)| line);
    let of_tracks = story
        .tracks
        .iter()
        .flat_map(|track| &track.sites)
        .filter(|site| site.file.as_deref() == Some(file))
        .filter_map(|site| site.line);
    of_findings.chain(of_tracks).filter(|line| seen.insert(*line)).collect()
}

fn accesses(result: &Found) -> impl Iterator<Item = (Option<&str>, Option<i64>)> {
    let of_finding = |finding: &Finding| finding.events.len();
    result
        .findings
        .iter()
        .take(MOST_FINDINGS)
        .filter(move |finding| of_finding(finding) > 0)
        .flat_map(|finding| finding.events.iter().map(|event| (event.file.as_deref(), event.line)))
}
