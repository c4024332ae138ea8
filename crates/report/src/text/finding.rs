//! One finding for people: always the same skeleton, in the same order.

use super::Options;
use super::snippet::snippet;
use super::style::Role;
use crate::event_text::place;
use crate::printable::{Printable, shortened, shown};
use crate::result::{Finding, FindingEvent, Region, ThreadBirth, Verdict};
use crate::words::{self, count};
use crate::wrap::{COLUMNS, width, wrapped};
use std::fmt::Write as _;

/// Longer schedules are of no use to a reader, and are in the JSON form.
const LONGEST_SCHEDULE: usize = 160;

/// Appends findings that differ in nothing but the lock states that let the remote access in.
pub(super) fn finding(out: &mut String, number: usize, same: &[&Finding], options: &Options<'_>) {
    let Some(finding) = same.first() else { return };
    title(out, number, same, options);
    wrapped(out, "   ", "   ", &words::verdict_sentence(finding));
    let events = match finding.execution.as_ref().and_then(|execution| execution.events) {
        // Those of the accesses are counted in the run that showed it.
        Some(_) => String::new(),
        None => format!(", {}", events_text(finding.step())),
    };
    paragraph(out, options, "Region", &format!("{}{events}{}.", region_text(finding.step()), outer_text(finding)));
    for (at, event) in finding.events.iter().enumerate() {
        access(out, at, event, finding, options);
    }
    wrapped(out, "   ", "   ", &words::consequence(finding));
    locks(out, same, options);
    evidence(out, finding, options);
}

/// Whether two findings differ in nothing but the lock states that let the remote access in.
pub(super) fn same_accesses(one: &Finding, other: &Finding) -> bool {
    let indices = |finding: &Finding| finding.events.iter().map(|event| event.index).collect::<Vec<_>>();
    one.pattern == other.pattern && one.variable.name == other.variable.name && indices(one) == indices(other)
}

fn title(out: &mut String, number: usize, same: &[&Finding], options: &Options<'_>) {
    let finding = same[0];
    let numbers = match same.len() {
        1 => number.to_string(),
        several => format!("{number}-{}", number + several - 1),
    };
    let harm = finding.harm.map_or(String::new(), |harm| format!(" ({harm})"));
    let role = match finding.verdict {
        _ if finding.harm == Some("benign") => Role::Faint,
        Verdict::Confirmed | Verdict::Feasible => Role::Bad,
        Verdict::Possible | Verdict::Plausible | Verdict::Unknown => Role::Doubtful,
        Verdict::Infeasible => Role::Faint,
    };
    let verdict = options.style.paint(role, &format!("{}{harm}", finding.verdict.name()));
    let subject = format!("{} on {}", finding.pattern, shown(&finding.variable.name));
    let title = format!("{numbers}. {verdict} {}", options.style.paint(Role::Label, &subject));
    // Ids stand in a column of their own at the right.
    let id = format!("[{}]", finding.id);
    let room = COLUMNS.checked_sub(width(&title) + id.len()).filter(|room| *room >= 2);
    let (new_line, gap) = room.map_or(("\n", COLUMNS - id.len()), |room| ("", room));
    let _ = writeln!(out, "\n{title}{new_line}{:gap$}{}", "", options.style.paint(Role::Faint, &id));
}

fn paragraph(out: &mut String, options: &Options<'_>, label: &str, text: &str) {
    let label = options.style.paint(Role::Label, &format!("{label}:"));
    wrapped(out, &format!("   {label} "), "     ", text);
}

pub(super) fn region_text(region: &Region) -> String {
    let name = region.name.as_deref().map_or(String::new(), |name| format!("{} of ", shown(name)));
    format!("{name}{}, {} ({})", shown(&region.thread), words::authority(region.source), region.source)
}

/// What the innermost region is inside of.
fn outer_text(finding: &Finding) -> String {
    if finding.innermost.is_none() {
        return String::new();
    }
    match &finding.region.name {
        Some(name) => format!("; inside {} ({})", shown(name), finding.region.source),
        None => format!("; inside another ({})", finding.region.source),
    }
}

pub(super) fn events_text(region: &Region) -> String {
    let end = region.end.map_or("the end of the trace".to_owned(), |end| end.to_string());
    format!("events {} to {end}", region.begin)
}

/// Appends an access: who does what, where, and the line in question.
fn access(out: &mut String, at: usize, event: &FindingEvent, finding: &Finding, options: &Options<'_>) {
    let held = match event.held.as_deref() {
        None => String::new(),
        Some([]) => ", holding no lock".to_owned(),
        Some(held) => format!(", holding {}", words::lock_names(held)),
    };
    let mark = if event.role == "remote" { "  <- the interloper" } else { "" };
    let text = format!("{} {}{held}", shown(&event.thread), words::access(event));
    let number = options.style.paint(Role::Label, &format!("({})", at + 1));
    let prefix = format!("   {number} ");
    if width(&prefix) + width(&text) + mark.len() <= COLUMNS {
        let _ = writeln!(out, "{prefix}{text}{}", options.style.paint(Role::Mark, mark));
    } else {
        wrapped(out, &prefix, "       ", &format!("{text}{mark}"));
    }
    let index = position(finding, at).unwrap_or(event.index);
    let place = source_place(event.file.as_deref(), event.line, event.function.as_deref(), options);
    wrapped(out, "       ", "         ", &format!("{place} (event {index})"));
    if let (Some(file), Some(line)) = (&event.file, event.line)
        && let Some(text) = options.sources.line(file, line)
    {
        snippet(out, line, &text, &finding.variable.name, options.style);
    }
}

/// The position of an access in the run that showed it, if one did.
fn position(finding: &Finding, at: usize) -> Option<u64> {
    finding.execution.as_ref()?.events?.get(at).copied()
}

fn source_place(file: Option<&str>, line: Option<i64>, function: Option<&str>, options: &Options<'_>) -> String {
    let file = file.map(|file| shortened(options.sources.shown(file), 200));
    let function = function.map(shown);
    place(file.as_deref(), line, function.as_deref())
}

fn locks(out: &mut String, same: &[&Finding], options: &Options<'_>) {
    let finding = same[0];
    let label = match finding.verdict {
        Verdict::Infeasible => "Locks",
        Verdict::Unknown => "Not prevented by locks",
        _ => "Not prevented",
    };
    let text = if finding.verdict == Verdict::Infeasible { words::moment(finding) } else { words::why(finding) };
    paragraph(out, options, label, &text);
    for other in &same[1..] {
        paragraph(out, options, "Or", &format!("{} [{}]", words::moment(other), other.id));
    }
}

/// What a verdict rests on, and what to do with it.
fn evidence(out: &mut String, finding: &Finding, options: &Options<'_>) {
    for (at, birth) in finding.threads.iter().enumerate() {
        match at {
            0 => paragraph(out, options, "Threads", &birth_text(birth, options)),
            _ => wrapped(out, "     ", "     ", &birth_text(birth, options)),
        }
    }
    if let Some(reason) = &finding.reason {
        paragraph(out, options, &capitalised(finding.verdict.name()), &Printable(&shortened(reason, 1000)).to_string());
    }
    if let Some(witness) = &finding.witness {
        let switches = count(witness.switches, "context switch", "context switches");
        let least = if witness.least { "; none has fewer" } else { "" };
        let schedule = match witness.schedule.len() > LONGEST_SCHEDULE {
            true => "its text is in the JSON form".to_owned(),
            false => Printable(&witness.schedule).to_string(),
        };
        paragraph(out, options, "Schedule", &format!("{switches}{least}: {schedule}"));
        if let Some(changed) = words::changed(&witness.changed) {
            paragraph(out, options, "Values", &changed);
        }
    }
    let trace = finding.execution.as_ref().and_then(|execution| execution.trace.as_deref().zip(execution.events));
    match (trace, &finding.trace) {
        (Some((trace, _)), _) => {
            let what = "is the run that showed it; the events of the accesses are counted there";
            paragraph(out, options, "Run", &format!("{} {what}.", Printable(trace)));
        }
        (None, Some(trace)) => {
            paragraph(out, options, "Run", &format!("events are counted in {}.", Printable(trace)));
        }
        (None, None) => {}
    }
    let label = |label: &str| options.style.paint(Role::Label, label);
    if let Some(replay) = &finding.replay {
        let _ = writeln!(out, "   {} {}", label("Replay:"), Printable(replay));
    }
    if finding.verdict != Verdict::Infeasible {
        let _ = writeln!(
            out,
            "   {} {}",
            label("Suppress:"),
            words::suppress_line(finding, COLUMNS - "   Suppress: ".len())
        );
    }
}

fn birth_text(birth: &ThreadBirth, options: &Options<'_>) -> String {
    let place = source_place(birth.file.as_deref(), birth.line, birth.function.as_deref(), options);
    let at = if birth.file.is_some() || birth.line.is_some() { "at " } else { "" };
    format!("{} was created by {} {at}{place} (event {}).", shown(&birth.thread), shown(&birth.by), birth.index)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
