//! The result for people: fits 80 columns, needs neither colour nor sources, can be grepped.
//!
//! | module | holds |
//! |---|---|
//! | `finding` | one finding |
//! | `atomic` | the answer about the observed values |
//! | `snippet` | a line of source with a mark under what is accessed |
//! | `serial` | the answer about the observed order |
//! | `style` | colour |

mod atomic;
mod finding;
mod serial;
mod snippet;
mod style;

use crate::order;
use crate::printable::{Printable, shown};
use crate::result::{Document, Explored, Finding, Verdict};
use crate::sources::Sources;
use crate::words::count;
use crate::wrap::wrapped;
use std::fmt::Write as _;
use style::{Role, Style};

/// How to show a result.
#[derive(Debug)]
pub struct Options<'s> {
    sources: &'s Sources,
    style: Style,
}

impl<'s> Options<'s> {
    /// With lines of these sources, in colour or not.
    pub fn new(sources: &'s Sources, colour: bool) -> Self {
        Options { sources, style: Style { colour } }
    }
}

/// Renders a result. `name` is what was analysed.
pub fn render(document: &Document, name: &str, options: &Options<'_>) -> String {
    let mut out = String::new();
    let trace = &document.trace;
    let counts = [
        count(trace.events, "event", "events"),
        count(trace.threads, "thread", "threads"),
        count(trace.locations, "location", "locations"),
        count(trace.locks, "lock", "locks"),
        count(trace.regions, "region", "regions"),
    ];
    wrapped(&mut out, "", "  ", &format!("{}: {}", Printable(name), counts.join(", ")));
    match (&document.serial, &document.atomic) {
        (Some(serial), _) => serial::answer(&mut out, serial),
        (_, Some(atomic)) => atomic::answer(&mut out, atomic),
        (None, None) => findings(&mut out, document, options),
    }
    if let Some(explored) = document.explored.as_ref().filter(|explored| explored.mode != "off") {
        wrapped(&mut out, "", "", &explored_text(explored));
    }
    for note in &document.notes {
        wrapped(&mut out, "note: ", "      ", &Printable(note).to_string());
    }
    out
}

/// Renders one finding alone.
pub fn render_finding(finding: &Finding, options: &Options<'_>) -> String {
    let mut out = String::new();
    finding::finding(&mut out, 1, &[finding], options);
    out.trim_start_matches('\n').to_owned()
}

fn findings(out: &mut String, document: &Document, options: &Options<'_>) {
    let fresh: Vec<Finding> = document.findings.iter().filter(|finding| !finding.known).cloned().collect();
    let mut number = 1;
    for group in order::groups(&fresh) {
        if group.len() > 1 {
            out.push('\n');
            wrapped(out, "", "", &group_title(&group, options.style));
        }
        for same in group.chunk_by(|one, other| finding::same_accesses(one, other)) {
            finding::finding(out, number, same, options);
            number += same.len();
        }
    }
    out.push('\n');
    wrapped(out, "", "", &summary(document));
    not_shown(out, document);
    let non_nested = document.trace.non_nested_threads.iter().filter(|_| document.counts.possible > 0);
    for thread in non_nested {
        let note = format!(
            "thread {} does not release its locks in reverse order (first at event {}, lock {}): some of what is \
             called possible may not be",
            shown(&thread.thread),
            thread.index,
            shown(&thread.lock),
        );
        wrapped(out, "note: ", "      ", &note);
    }
}

fn group_title(group: &[&Finding], style: Style) -> String {
    let first = group[0];
    let region = first.region.name.as_deref().map_or(String::new(), |name| format!(" in {}", shown(name)));
    let title = format!("{}{region}", shown(&first.variable.name));
    format!("{}: {} findings that probably have one cause.", style.paint(Role::Label, &title), group.len())
}

fn summary(document: &Document) -> String {
    let counts = &document.counts;
    match (counts.possible, counts.candidates) {
        _ if document.trace.regions == 0 => {
            "Nothing in this trace is meant to be atomic: it has no region of the chosen sources. Mark what should be \
             one step with begin and end."
                .to_owned()
        }
        (0, _) if counts.suppressed > 0 => format!(
            "{}, and nothing else is possible. This speaks of the accesses in this trace, in whatever order.",
            count(counts.suppressed, "atomicity violation is suppressed", "atomicity violations are suppressed")
        ),
        (0, 0) => "No atomicity violation is possible: no two accesses of a region can be broken by an access of \
                   another thread. This speaks of the accesses in this trace, in whatever order."
            .to_owned(),
        (0, candidates) => format!(
            "No atomicity violation is possible: locks, fork and join forbid {}. This speaks of the accesses in this \
             trace, in whatever order.",
            if candidates == 1 { "the only candidate".to_owned() } else { format!("all {candidates} candidates") },
        ),
        _ if document.model != "lockset" => decided_summary(document),
        (possible, candidates) => format!(
            "{}, of {} (accesses and lock states that would make one). Possible means: locks, fork and join do not \
             forbid it; values were not looked at.",
            count(possible, "possible atomicity violation", "possible atomicity violations"),
            count(candidates, "candidate", "candidates"),
        ),
    }
}

/// What a model that decides has decided.
fn decided_summary(document: &Document) -> String {
    let counts = &document.counts;
    let candidates = count(counts.candidates, "candidate", "candidates");
    let mut parts = Vec::new();
    if counts.confirmed > 0 {
        parts.push(format!(
            "{}: executed on the program",
            count(counts.confirmed, "confirmed atomicity violation", "confirmed atomicity violations")
        ));
    }
    let only_feasible = counts.feasible.saturating_sub(counts.confirmed);
    if only_feasible > 0 || counts.confirmed == 0 {
        let feasible = count(only_feasible, "feasible atomicity violation", "feasible atomicity violations");
        let more = if counts.confirmed > 0 { " not confirmed" } else { "" };
        let what = if only_feasible > 0 { format!("{feasible}{more}: a schedule shows it") } else { feasible };
        parts.push(what);
    }
    let mut summary = format!("{}; of {candidates}, {} not possible", parts.join("; "), counts.infeasible);
    if counts.unknown > 0 {
        summary += &format!(" and {} not decided", counts.unknown);
    }
    summary
        + &format!(
            ". This speaks of the accesses that were recorded, in whatever order, on {} memory.",
            document.memory_model
        )
}

/// What there is beside what is shown.
fn not_shown(out: &mut String, document: &Document) {
    let counts = &document.counts;
    if counts.suppressed > 0 && counts.possible > 0 {
        wrapped(out, "", "", &format!("{} suppressed, and not shown.", counts.suppressed));
    }
    let known = document.findings.iter().filter(|finding| finding.known).count();
    if known > 0 {
        wrapped(out, "", "", &format!("{known} known from the baseline, and not shown."));
    }
    let reached = match document.model {
        "lockset" => counts.possible,
        _ => counts.feasible + counts.unknown,
    };
    let listed = document.findings.iter().filter(|finding| finding.verdict != Verdict::Infeasible).count() as u64;
    if listed < reached {
        let _ = writeln!(out, "{} not listed here: raise --limit to see more.", reached - listed);
    }
}

fn explored_text(explored: &Explored) -> String {
    let runs = count(explored.runs, "run was", "runs were");
    let left = match (explored.exhausted, explored.left) {
        (true, _) => "no read is left that could be led elsewhere".to_owned(),
        (false, 0) => "nothing was left to try".to_owned(),
        (false, left) => format!("{left} were not tried"),
    };
    let mut text = format!(
        "Explored: {runs} led off the recorded path, {} went there; {} cannot be led elsewhere, {left}.",
        explored.reached,
        count(explored.impossible, "read", "reads"),
    );
    let mut ends: Vec<(&str, u64)> = Vec::new();
    for outcome in &explored.outcomes {
        match ends.iter_mut().find(|(ended, _)| *ended == outcome.ended) {
            Some((_, times)) => *times += outcome.times,
            None => ends.push((&outcome.ended, outcome.times)),
        }
    }
    if !ends.is_empty() {
        let ends: Vec<String> = ends.iter().map(|(ended, times)| format!("{} ({times})", shown(ended))).collect();
        text += &format!(" The program {}.", ends.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Options, render_finding};
    use crate::result::{Execution, Finding, ThreadBirth, Verdict, Witness};
    use crate::sources::Sources;
    use crate::testing;

    fn executed() -> Finding {
        let mut finding = Finding {
            id: "1ca6ec9067906c5f".to_owned(),
            verdict: Verdict::Confirmed,
            witness: Some(Witness {
                schedule: "il1:s:0x4p.1x4p".to_owned(),
                switches: 1,
                least: false,
                changed: vec![],
            }),
            replay: Some("interloper replay 1ca6ec90".to_owned()),
            ..testing::finding()
        };
        finding.execution = Some(Execution {
            ended: "was killed by signal 11".to_owned(),
            recorded: "exited with status 0".to_owned(),
            trace: Some("run-1.ilt".to_owned()),
            events: Some([4, 6, 9]),
            stdout: String::new(),
            stderr: String::new(),
            non_atomic: "proved by condition",
            harm: Some("the program was killed by signal 11; in a serial order it exited with status 0".to_owned()),
        });
        finding.threads = vec![ThreadBirth {
            thread: "main.1".to_owned(),
            by: "main".to_owned(),
            index: 1,
            file: Some("bank.c".to_owned()),
            line: Some(40),
            function: Some("main".to_owned()),
        }];
        finding
    }

    /// This file stands in for the program's.
    fn with_source(mut finding: Finding) -> Finding {
        for event in &mut finding.events {
            event.file = Some("src/testing.rs".to_owned());
        }
        finding
    }

    #[test]
    fn colour_adds_nothing_but_colour() {
        let sources = Sources::in_folder(env!("CARGO_MANIFEST_DIR"));
        let finding = with_source(executed());
        let (plain, coloured) =
            [false, true].map(|colour| render_finding(&finding, &Options::new(&sources, colour))).into();
        let mut without = String::new();
        for (at, piece) in coloured.split('\u{1b}').enumerate() {
            without += if at == 0 { piece } else { piece.split_once('m').map_or("", |(_, rest)| rest) };
        }
        assert_eq!(without, plain);
        assert!(plain.lines().all(|line| line.chars().count() <= 80), "{plain}");
        insta::assert_snapshot!(coloured.replace('\u{1b}', "^"));
    }

    #[test]
    fn every_harm_is_said() {
        let sources = Sources::none();
        let harms = ["crash", "hang", "assert", "exit", "output", "state", "benign"];
        let texts = harms.map(|harm| {
            let text = render_finding(&Finding { harm: Some(harm), ..executed() }, &Options::new(&sources, false));
            text.lines().take(3).collect::<Vec<_>>().join("\n")
        });
        insta::assert_snapshot!(texts.join("\n\n"));
    }

    #[test]
    fn every_verdict_without_sources() {
        let sources = Sources::none();
        let reason = Some("budget: the time was up".to_owned());
        let texts = [Verdict::Infeasible, Verdict::Unknown, Verdict::Possible, Verdict::Feasible].map(|verdict| {
            let finding = Finding { verdict, reason: reason.clone(), ..testing::finding() };
            render_finding(&finding, &Options::new(&sources, false))
        });
        insta::assert_snapshot!(texts.join("\n"));
    }

    /// A C++ name can be a megabyte long; nobody wants to scroll past it.
    #[test]
    fn names_as_long_as_a_book_are_cut() {
        let long = format!("std::map<{}\u{1b}[2J\u{202e}>", "int, ".repeat(200_000));
        let mut finding = executed();
        finding.variable.name.clone_from(&long);
        finding.region.name = Some(long.clone());
        finding.region.thread.clone_from(&long);
        finding.reason = Some(long.clone());
        for event in &mut finding.events {
            (event.file, event.function) = (Some(long.clone()), Some(long.clone()));
            event.thread.clone_from(&long);
            event.held = Some(vec![long.clone(); 2]);
        }
        let text = render_finding(&finding, &Options::new(&Sources::in_folder("/"), false));
        assert!(text.len() < 10_000, "{} bytes", text.len());
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        assert!(text.contains("Suppress: id:1ca6ec9067906c5f because REASON"), "{text}");
    }
}
