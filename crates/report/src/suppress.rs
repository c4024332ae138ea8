//! Findings that the user does not want to see: a file of suppressions, and annotations in the source.
//!
//! A line of the file names what it is about, until when, and why:
//!
//! ```text
//! variable:stats.hits because it is approximate by design
//! file:third_party/** until 2027-01-31 because their release is due then
//! pattern:RWR function:"log(int, char)" because the level may change meanwhile
//! ```
//!
//! In the source, a comment on the line of one of the three accesses, or alone on the line above, does the same:
//! `// interloper: ignore(reason)`, or `// interloper: ignore until 2027-01-31 (reason)`.
//!
//! A reason is not optional. What has expired no longer hides anything, and is named; so is what hides nothing.

use crate::date::Date;
use crate::glob::Glob;
use crate::printable::plain_name;
use crate::result::{Counts, Document, Finding, SuppressedFinding, Suppression, Verdict};
use crate::sources::Sources;
use crate::words;
use std::fmt;

/// A file of suppressions.
#[derive(Clone, Debug)]
pub struct Suppressions {
    file: String,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    line: usize,
    /// All of them have to match.
    conditions: Vec<Condition>,
    until: Option<Date>,
    reason: String,
    matched: u64,
}

#[derive(Clone, Debug)]
struct Condition {
    subject: Subject,
    glob: Glob,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Function,
    File,
    Variable,
    Pattern,
    Id,
}

/// A line that says nothing that could be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: found {found}, expected {expected}")]
pub struct Malformed {
    /// The file.
    pub file: String,
    /// The line, from one.
    pub line: usize,
    /// What is there.
    pub found: String,
    /// What should be.
    pub expected: &'static str,
}

const EXPECTED_LINE: &str = "KIND:PATTERN [until YYYY-MM-DD] because REASON";
const EXPECTED_KIND: &str = "function:, file:, variable:, pattern: or id: before a pattern";

impl Suppressions {
    /// Reads a file.
    pub fn parse(file: &str, text: &str) -> Result<Suppressions, Malformed> {
        let mut entries = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line_text = line.trim();
            if line_text.is_empty() || line_text.starts_with('#') {
                continue;
            }
            let malformed = |(found, expected)| Malformed { file: file.to_owned(), line: at + 1, found, expected };
            entries.push(parse_entry(at + 1, line_text).map_err(malformed)?);
        }
        Ok(Suppressions { file: file.to_owned(), entries })
    }

    /// The first line that is about a finding and has not expired.
    fn find(&mut self, finding: &Finding, today: Date) -> Option<Suppression> {
        let has_expired = |entry: &Entry| entry.until.is_some_and(|until| until < today);
        let file = &self.file;
        let (expired, current): (Vec<&mut Entry>, Vec<_>) =
            self.entries.iter_mut().filter(|entry| entry.matches(finding)).partition(|entry| has_expired(entry));
        let mut found = None;
        for entry in current {
            entry.matched += 1;
            let place = || format!("{file}:{}", entry.line);
            found.get_or_insert_with(|| Suppression { kind: "file", place: place(), reason: entry.reason.clone() });
        }
        if found.is_none() {
            expired.into_iter().for_each(|entry| entry.matched += 1);
        }
        found
    }

    /// What there is to say about the lines, once all findings were shown to them.
    fn notes(&self, today: Date) -> impl Iterator<Item = String> {
        self.entries.iter().filter_map(move |entry| {
            let place = format!("{}:{}", self.file, entry.line);
            match (entry.until.filter(|until| *until < today), entry.matched) {
                (Some(until), 0) => Some(format!("{place}: expired on {until}, and hides nothing: it can go")),
                (Some(until), findings) => Some(format!(
                    "{place}: expired on {until}; {} again",
                    words::count(findings, "finding is shown", "findings are shown")
                )),
                (None, 0) => Some(format!("{place}: hides nothing: it can go, or its pattern is wrong")),
                (None, _) => None,
            }
        })
    }
}

fn parse_entry(line: usize, text: &str) -> Result<Entry, (String, &'static str)> {
    let mut conditions = Vec::new();
    let mut until = None;
    let mut rest = text;
    loop {
        let (word, after) = next_word(rest)?;
        match word.as_str() {
            "" if conditions.is_empty() => return Err(("no pattern".to_owned(), EXPECTED_LINE)),
            "" => return Err(("no reason".to_owned(), EXPECTED_LINE)),
            "because" if conditions.is_empty() => return Err(("no pattern".to_owned(), EXPECTED_LINE)),
            "because" if after.trim().is_empty() => return Err(("no reason".to_owned(), "a reason after because")),
            "because" => return Ok(Entry { line, conditions, until, reason: after.trim().to_owned(), matched: 0 }),
            "until" => {
                let (day, after) = next_word(after)?;
                let date = day.parse().map_err(|_| (format!("{day:?}"), "a day such as 2027-01-31 after until"))?;
                until = Some(date);
                rest = after;
                continue;
            }
            word => conditions.push(parse_condition(word)?),
        }
        rest = after;
    }
}

/// The next word, which may have parts in quotes, and what follows. A backslash is kept, for patterns, except before a
/// quote.
fn next_word(text: &str) -> Result<(String, &str), (String, &'static str)> {
    let text = text.trim_start();
    let mut word = String::new();
    let mut is_quoted = false;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, '"')) => word.push('"'),
                Some((_, next)) => word.extend(['\\', next]),
                None => word.push('\\'),
            },
            '"' => is_quoted = !is_quoted,
            letter if letter.is_whitespace() && !is_quoted => return Ok((word, &text[at..])),
            letter => word.push(letter),
        }
    }
    if is_quoted { Err(("a quote that does not end".to_owned(), "a second quote")) } else { Ok((word, "")) }
}

fn parse_condition(word: &str) -> Result<Condition, (String, &'static str)> {
    let Some((kind, pattern)) = word.split_once(':') else { return Err((format!("{word:?}"), EXPECTED_KIND)) };
    let subject = match kind {
        "function" => Subject::Function,
        "file" => Subject::File,
        "variable" => Subject::Variable,
        "pattern" => Subject::Pattern,
        "id" => Subject::Id,
        _ => return Err((format!("{kind:?}"), EXPECTED_KIND)),
    };
    if pattern.is_empty() {
        return Err((format!("nothing after {kind}:"), EXPECTED_LINE));
    }
    if subject == Subject::Pattern && words::pattern(pattern).is_none() {
        return Err((format!("{pattern:?}"), "one of RWR, WWR, RWW, WRW, WWW after pattern:"));
    }
    let glob = if subject == Subject::File { Glob::of_paths(pattern) } else { Glob::of_names(pattern) };
    Ok(Condition { subject, glob })
}

impl Entry {
    fn matches(&self, finding: &Finding) -> bool {
        self.conditions.iter().all(|condition| condition.matches(finding))
    }
}

impl Condition {
    fn matches(&self, finding: &Finding) -> bool {
        let glob = &self.glob;
        let events = finding.events.iter();
        match self.subject {
            Subject::Variable => glob.matches(&plain_name(&finding.variable.name)),
            Subject::Pattern => glob.matches(finding.pattern),
            Subject::Id => glob.matches(&finding.id),
            Subject::File => events.filter_map(|event| event.file.as_deref()).any(|file| glob.matches_end_of(file)),
            Subject::Function => {
                let region = finding.region.name.as_deref().filter(|_| finding.region.source == "functions");
                events
                    .filter_map(|event| event.function.as_deref())
                    .chain(region)
                    .any(|function| glob.matches_function(function))
            }
        }
    }
}

impl Glob {
    /// A function may be called by its name, or with its parameters.
    fn matches_function(&self, function: &str) -> bool {
        let name = plain_name(function);
        self.matches(&name) || name.split_once('(').is_some_and(|(name, _)| !name.is_empty() && self.matches(name))
    }
}

/// An annotation in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Annotation {
    Ignore {
        until: Option<Date>,
        reason: String,
    },
    /// One without a reason, or with a day that is none.
    Wrong(&'static str),
}

const ANNOTATION: &str = "interloper: ignore";

/// What a line of source says.
fn annotation(line: &str) -> Option<Annotation> {
    let (_, after) = line.split_once(ANNOTATION)?;
    if after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_') {
        return None;
    }
    let Some((head, rest)) = after.split_once('(') else { return Some(Annotation::Wrong("has no reason")) };
    let until = match head.trim().strip_prefix("until") {
        None if head.trim().is_empty() => None,
        None => return Some(Annotation::Wrong("has no reason")),
        Some(day) => match day.trim().parse() {
            Ok(date) => Some(date),
            Err(_) => return Some(Annotation::Wrong("has a day that is none")),
        },
    };
    match rest.rsplit_once(')').map(|(reason, _)| reason.trim()) {
        Some(reason) if !reason.is_empty() => Some(Annotation::Ignore { until, reason: reason.to_owned() }),
        _ => Some(Annotation::Wrong("has no reason")),
    }
}

/// What the source says about a finding: a suppression, or what is wrong with one.
fn annotated(finding: &Finding, sources: &Sources, today: Date) -> Option<Result<Suppression, String>> {
    let mut complaint = None;
    for event in &finding.events {
        let (Some(file), Some(line)) = (event.file.as_deref(), event.line) else { continue };
        // Above, it must be alone: else it is about that line.
        let above = sources.line(file, line - 1).filter(|text| {
            text.find(ANNOTATION).is_some_and(|at| !text[..at].contains(|letter: char| letter.is_alphanumeric()))
        });
        let here = sources.line(file, line).map(|text| (line, text));
        for (line, text) in here.into_iter().chain(above.map(|text| (line - 1, text))) {
            let place = format!("{}:{line}", sources.shown(file));
            match annotation(&text) {
                None => {}
                Some(Annotation::Ignore { until, reason }) if until.is_none_or(|until| today <= until) => {
                    return Some(Ok(Suppression { kind: "source", place, reason }));
                }
                Some(Annotation::Ignore { until, .. }) => {
                    let until = until.map_or(String::new(), |until| format!(" on {until}"));
                    complaint = Some(format!("{place}: this annotation expired{until}"));
                }
                Some(Annotation::Wrong(what)) => {
                    complaint = Some(format!("{place}: this annotation {what}, and is not heeded"));
                }
            }
        }
    }
    complaint.map(Err)
}

/// Takes what is suppressed out of the findings of a result, and notes what is wrong with suppressions.
pub fn apply(document: &mut Document, mut file: Option<Suppressions>, sources: &Sources, today: Date) {
    let mut complaints: Vec<String> = Vec::new();
    for finding in std::mem::take(&mut document.findings) {
        // What cannot happen need not be hidden; and whoever asked for it wants to see it.
        let suppression = match finding.verdict {
            Verdict::Infeasible => None,
            _ => match file.as_mut().and_then(|file| file.find(&finding, today)) {
                Some(suppression) => Some(suppression),
                None => match annotated(&finding, sources, today) {
                    Some(Err(complaint)) => {
                        complaints.push(complaint);
                        None
                    }
                    Some(Ok(suppression)) => Some(suppression),
                    None => None,
                },
            },
        };
        match suppression {
            Some(suppression) => {
                count_out(&mut document.counts, finding.verdict);
                document.suppressed.push(SuppressedFinding { suppression, finding });
            }
            None => document.findings.push(finding),
        }
    }
    complaints.dedup();
    document.notes.extend(file.iter().flat_map(|file| file.notes(today)).chain(complaints));
}

/// What is suppressed is counted so, and no longer as what it is.
fn count_out(counts: &mut Counts, verdict: Verdict) {
    counts.suppressed += 1;
    let mut less = |count: fn(&mut Counts) -> &mut u64, is_so: bool| {
        let count = count(counts);
        *count = count.saturating_sub(u64::from(is_so));
    };
    less(|counts| &mut counts.possible, true);
    less(|counts| &mut counts.plausible, verdict >= Verdict::Plausible);
    less(|counts| &mut counts.feasible, verdict >= Verdict::Feasible);
    less(|counts| &mut counts.confirmed, verdict == Verdict::Confirmed);
    less(|counts| &mut counts.unknown, verdict == Verdict::Unknown);
}

impl fmt::Display for Suppression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::{Annotation, Suppressions, annotation};
    use crate::date::Date;
    use crate::testing;

    fn today() -> Date {
        "2026-11-16".parse().expect("a day")
    }

    fn hides(line: &str) -> bool {
        let mut suppressions = Suppressions::parse("s", line).unwrap_or_else(|error| panic!("{error}"));
        suppressions.find(&testing::finding(), today()).is_some()
    }

    #[test]
    fn what_lines_are_about() {
        for line in [
            "variable:balance because x",
            "variable:bal* because x",
            "function:put because x",
            "function:deposit because the region is it",
            "file:bank.c because x",
            "pattern:RWW variable:* because x",
            "variable:\"bal\"ance until 2026-11-16 because today is the last day",
            "  variable:balance   because x  ",
        ] {
            assert!(hides(line), "{line}");
        }
        for line in [
            "variable:account because x",
            "pattern:RWR variable:balance because x",
            "function:pu because x",
            "file:ank.c because x",
            "variable:balance until 2026-11-15 because it was",
            "# variable:balance because x",
            "",
        ] {
            assert!(!hides(line), "{line}");
        }
    }

    #[test]
    fn parameters_of_functions_may_be_left_out() {
        let mut finding = testing::finding();
        finding.events[1].function = Some("(anonymous namespace)::Log::put(int, char)".to_owned());
        for line in ["function:Log::put because x", "function:\"Log::put(int, char)\" because x"] {
            let mut suppressions = Suppressions::parse("s", line).expect("well-formed");
            assert!(suppressions.find(&finding, today()).is_some(), "{line}");
        }
    }

    #[test]
    fn malformed_lines() {
        let lines = [
            "variable:x",
            "variable:x because",
            "because I say so",
            "x because y",
            "race:x because y",
            "variable: because y",
            "pattern:RRR because y",
            "variable:x until tomorrow because y",
            "variable:x until 2027-02-30 because y",
            "variable:\"x because y",
        ];
        let errors =
            lines.map(|line| Suppressions::parse("s", &format!("# one\n{line}\n")).expect_err(line).to_string());
        insta::assert_snapshot!(errors.join("\n"));
    }

    #[test]
    fn what_is_to_be_said_of_lines() {
        let text = "variable:balance because x\nvariable:other because x\nvariable:balance until 2026-01-01 because x\n\
                    variable:other until 2026-01-01 because x\n";
        let mut suppressions = Suppressions::parse("s", text).expect("well-formed");
        suppressions.find(&testing::finding(), today());
        insta::assert_snapshot!(suppressions.notes(today()).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn annotations() {
        let ignore = |until: Option<&str>, reason: &str| {
            Some(Annotation::Ignore { until: until.and_then(|day| day.parse().ok()), reason: reason.to_owned() })
        };
        assert_eq!(
            annotation("x++; // interloper: ignore(counts (roughly) enough)"),
            ignore(None, "counts (roughly) enough")
        );
        assert_eq!(annotation("/* interloper: ignore until 2027-01-31 (soon) */"), ignore(Some("2027-01-31"), "soon"));
        assert_eq!(annotation("// interloper: ignored"), None);
        assert_eq!(annotation("x++;"), None);
        for line in ["// interloper: ignore", "// interloper: ignore()", "// interloper: ignore until soon (x)"] {
            assert!(matches!(annotation(line), Some(Annotation::Wrong(_))), "{line}");
        }
    }
}
