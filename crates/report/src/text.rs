//! The result for people: fits 80 columns, needs no colour, can be grepped.

use crate::printable::Printable;
use crate::result::{CycleEvent, CycleStep, Document, Finding, FindingEvent, Region, Serial};
use std::fmt::Write as _;

/// Renders a result. `name` is what was analysed.
pub fn render(document: &Document, name: &str) -> String {
    let mut out = String::new();
    let trace = &document.trace;
    let _ = writeln!(
        out,
        "{}: {}, {}, {}, {}, {}",
        Printable(name),
        count(trace.events, "event", "events"),
        count(trace.threads, "thread", "threads"),
        count(trace.locations, "location", "locations"),
        count(trace.locks, "lock", "locks"),
        count(trace.regions, "region", "regions"),
    );
    match &document.serial {
        Some(serial) => serial_answer(&mut out, serial),
        None => findings(&mut out, document),
    }
    for note in &document.notes {
        let _ = writeln!(out, "note: {}", Printable(note));
    }
    out
}

fn findings(out: &mut String, document: &Document) {
    for (at, finding) in document.findings.iter().enumerate() {
        one_finding(out, at + 1, finding);
    }
    let counts = &document.counts;
    let listed = document.findings.len() as u64;
    out.push('\n');
    if counts.possible == 0 {
        let _ = writeln!(
            out,
            "No atomicity violation is possible in this model: locks, fork and join forbid\n\
             {}. It speaks of the accesses of this trace only, in any order.",
            match counts.candidates {
                0 => "nothing, for there is no candidate".to_owned(),
                1 => "the one candidate".to_owned(),
                candidates => format!("all {candidates} candidates"),
            }
        );
    } else {
        let _ = writeln!(
            out,
            "{} ({} considered). Possible means: locks, fork and\njoin do not forbid it; values were not looked at.",
            count(counts.possible, "possible atomicity violation", "possible atomicity violations"),
            count(counts.candidates, "candidate", "candidates"),
        );
        if listed < counts.possible {
            let _ = writeln!(out, "{} more not listed: raise --limit to see them.", counts.possible - listed);
        }
    }
    for thread in &document.trace.non_nested_threads {
        let _ = writeln!(
            out,
            "note: thread {} releases {} out of order at event {}: without nested locking\n      \
             some of what is called possible may not be",
            Printable(&thread.thread),
            Printable(&thread.lock),
            thread.index
        );
    }
}

fn one_finding(out: &mut String, number: usize, finding: &Finding) {
    let Finding { events, region, locks, .. } = finding;
    let _ = writeln!(
        out,
        "\n{number}. {} {} on {}  [{}]",
        finding.verdict.name(),
        finding.pattern,
        Printable(&finding.variable.name),
        finding.id
    );
    let _ = writeln!(out, "   {}", region_text(region));
    for (at, event) in events.iter().enumerate() {
        let _ = writeln!(out, "   ({}) {}", at + 1, access_text(event));
    }
    let _ = writeln!(
        out,
        "   nothing prevents it: {} {}, {} {}",
        Printable(&region.thread),
        holding(&locks.region, "then"),
        events.get(1).map_or("?".to_owned(), |remote| Printable(&remote.thread).to_string()),
        holding(&locks.remote, "at (2)"),
    );
}

fn holding(locks: &[String], when: &str) -> String {
    match locks {
        [] => format!("holds no lock {when}"),
        locks => format!("holds {} {when}", Printable(&locks.join(", "))),
    }
}

fn region_text(region: &Region) -> String {
    let end = region.end.map_or("the end of the trace".to_owned(), |end| format!("event {end}"));
    format!("region of {}, {}: event {} to {end}", Printable(&region.thread), region.source, region.begin)
}

fn access_text(event: &FindingEvent) -> String {
    let verb = match event.op {
        "r" => "reads",
        "w" => "writes",
        _ => "reads and writes",
    };
    let remote = if event.role == "remote" { "   <- the interloper" } else { "" };
    let place = place(event.file.as_deref(), event.line, event.function.as_deref());
    format!("{} {verb} at {place}, event {}{remote}", Printable(&event.thread), event.index)
}

fn place(file: Option<&str>, line: Option<i64>, function: Option<&str>) -> String {
    let mut text = match (file, line) {
        (Some(file), Some(line)) => format!("{}:{line}", Printable(file)),
        (Some(file), None) => Printable(file).to_string(),
        (None, Some(line)) => format!("line {line}"),
        (None, None) => "an unknown place".to_owned(),
    };
    if let Some(function) = function {
        let _ = write!(text, " in {}", Printable(function));
    }
    text
}

fn serial_answer(out: &mut String, serial: &Serial) {
    match serial.serializable {
        Some(true) => {
            out.push_str(
                "\nThe observed order is conflict-serializable: some order of whole regions has the\n\
                 same outcome. Other schedules of the program may still go wrong.\n",
            );
        }
        None => out.push_str("\nNo violation in what was read; the rest was not looked at.\n"),
        Some(false) => {
            let at = serial.at.unwrap_or_default();
            let _ = writeln!(out, "\nThe observed order is not conflict-serializable: event {at} closes a cycle.\n");
            for (number, step) in serial.cycle.iter().enumerate() {
                let next = &serial.cycle[(number + 1) % serial.cycle.len()];
                cycle_step(out, number + 1, step, next);
            }
        }
    }
}

fn cycle_step(out: &mut String, number: usize, step: &CycleStep, next: &CycleStep) {
    let what = match &step.region {
        Some(region) => region_text(region),
        None => format!("{} outside of regions", Printable(&step.thread)),
    };
    let _ = writeln!(out, "   {number}. {what}");
    let _ = writeln!(out, "      {}", event_text(&step.leave));
    let why = match (step.conflict, &step.on) {
        ("program-order", _) => "comes before, in the same thread,".to_owned(),
        ("access", Some(on)) => format!("comes before, both accessing {},", Printable(on)),
        (kind, Some(on)) => format!("comes before, by {kind} {},", Printable(on)),
        (kind, None) => format!("comes before, by {kind},"),
    };
    let _ = writeln!(out, "         {why}");
    let _ = writeln!(out, "      {} of {}", event_text(&next.enter), Printable(&next.thread));
}

fn event_text(event: &CycleEvent) -> String {
    let target = event.target.as_deref().map_or(String::new(), |target| format!("({})", Printable(target)));
    let place = place(event.file.as_deref(), event.line, event.function.as_deref());
    format!("event {} {}{target} at {place}", event.index, event.op)
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
