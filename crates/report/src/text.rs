//! The result for people: fits 80 columns, needs no colour, can be grepped.

use crate::event_text::place;
use crate::printable::Printable;
use crate::result::{Atomic, CycleEvent, CycleStep, Document, Finding, FindingEvent, Region, Serial, Verdict};
use crate::wrap::{COLUMNS, width, wrapped};
use std::fmt::Write as _;

/// Renders a result. `name` is what was analysed.
pub fn render(document: &Document, name: &str) -> String {
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
        (Some(serial), _) => serial_answer(&mut out, serial),
        (_, Some(atomic)) => atomic_answer(&mut out, atomic),
        (None, None) => findings(&mut out, document),
    }
    for note in &document.notes {
        wrapped(&mut out, "note: ", "      ", &Printable(note).to_string());
    }
    out
}

fn findings(out: &mut String, document: &Document) {
    let mut number = 1;
    for same in document.findings.chunk_by(same_accesses) {
        one_triple(out, number, same);
        number += same.len();
    }
    let counts = &document.counts;
    out.push('\n');
    let summary = match (counts.possible, counts.candidates) {
        _ if document.trace.regions == 0 => {
            "Nothing in this trace is meant to be atomic: it has no region of the chosen sources. Mark what should be \
             one step with begin and end."
                .to_owned()
        }
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
    };
    wrapped(out, "", "", &summary);
    let reached = match document.model {
        "lockset" => counts.possible,
        _ => counts.feasible + counts.unknown,
    };
    let listed = document.findings.iter().filter(|finding| finding.verdict != Verdict::Infeasible).count() as u64;
    if listed < reached {
        let _ = writeln!(out, "{} not listed here: raise --limit to see more.", reached - listed);
    }
    let non_nested = document.trace.non_nested_threads.iter().filter(|_| counts.possible > 0);
    for thread in non_nested {
        let note = format!(
            "thread {} does not release its locks in reverse order (first at event {}, lock {}): some of what is \
             called possible may not be",
            Printable(&thread.thread),
            thread.index,
            Printable(&thread.lock),
        );
        wrapped(out, "note: ", "      ", &note);
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
    let only_feasible = counts.feasible - counts.confirmed;
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

/// Whether two findings differ in nothing but the lock states that let the remote access in.
fn same_accesses(one: &Finding, other: &Finding) -> bool {
    let indices = |finding: &Finding| finding.events.iter().map(|event| event.index).collect::<Vec<_>>();
    one.pattern == other.pattern && one.variable.name == other.variable.name && indices(one) == indices(other)
}

/// Findings about the same three accesses, told once.
fn one_triple(out: &mut String, number: usize, same: &[Finding]) {
    let Some(finding) = same.first() else { return };
    let Finding { events, region, verdict, .. } = finding;
    let numbers = match same.len() {
        1 => number.to_string(),
        several => format!("{number}-{}", number + several - 1),
    };
    let variable = Printable(&finding.variable.name);
    let title = format!("{numbers}. {} {} on {variable}", finding.verdict.name(), finding.pattern);
    // Ids stand in a column of their own at the right, where there is room.
    let gap = COLUMNS.saturating_sub(width(&title) + finding.id.len() + 2).max(2);
    let _ = writeln!(out, "\n{title}{:gap$}[{}]", "", finding.id);

    let local = Printable(&region.thread).to_string();
    let remote = events.get(1).map_or("?".to_owned(), |event| Printable(&event.thread).to_string());
    let can = match verdict {
        Verdict::Infeasible => "cannot get in",
        Verdict::Unknown => "may be able to get in",
        Verdict::Possible | Verdict::Plausible | Verdict::Feasible => "can get in",
        Verdict::Confirmed => "got in",
    };
    wrapped(out, "   ", "   ", &format!("During the {}, {remote} {can}:", region_text(region)));
    let actors: Vec<String> = events.iter().map(actor).collect();
    let actor_width = actors.iter().map(|actor| width(actor)).max().unwrap_or(0);
    for (at, (event, actor)) in events.iter().zip(&actors).enumerate() {
        access_line(out, at + 1, event, actor, actor_width);
    }
    wrapped(out, "   ", "   ", &consequence(finding.pattern, &local, &remote));
    for (at, finding) in same.iter().enumerate() {
        let held = format!(
            "at some moment between (1) and (3) {local} holds {}, and {remote} at (2) {}.",
            lock_names(&finding.locks.region),
            lock_names(&finding.locks.remote),
        );
        if at == 0 {
            wrapped(out, "   Locks: ", "     ", &held);
        } else {
            wrapped(out, "   Or: ", "     ", &format!("{held} [{}]", finding.id));
        }
    }
    evidence(out, finding);
}

/// What a verdict rests on.
fn evidence(out: &mut String, finding: &Finding) {
    if let Some(reason) = &finding.reason {
        wrapped(out, &format!("   {}: ", capitalised(finding.verdict.name())), "     ", &Printable(reason).to_string());
    }
    if let Some(witness) = &finding.witness {
        let least = if witness.least { "; none has fewer" } else { "" };
        let text = format!("a schedule of {}{least}.", count(witness.switches, "context switch", "context switches"));
        wrapped(out, "   Witness: ", "     ", &text);
    }
    if let Some(execution) = &finding.execution {
        let same = if execution.ended == execution.recorded { ", as the recorded run" } else { "" };
        let otherwise = match same {
            "" => format!("; the recorded run {}", execution.recorded),
            _ => String::new(),
        };
        let text = format!("it happened, and the program then {}{same}{otherwise}.", execution.ended);
        wrapped(out, "   Executed: ", "     ", &Printable(&text).to_string());
    }
    if let Some(replay) = &finding.replay {
        let _ = writeln!(out, "   Replay: {}", Printable(replay));
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn access_line(out: &mut String, number: usize, event: &FindingEvent, actor: &str, actor_width: usize) {
    let mark = if event.role == "remote" { "  <- the interloper" } else { "" };
    let place = place(event.file.as_deref(), event.line, event.function.as_deref());
    let line = format!("     ({number}) {actor:<actor_width$}  {place} (event {}){mark}", event.index);
    if width(&line) <= COLUMNS {
        let _ = writeln!(out, "{line}");
    } else {
        let _ = writeln!(out, "     ({number}) {actor}{mark}");
        wrapped(out, "           ", "           ", &format!("{place} (event {})", event.index));
    }
}

fn actor(event: &FindingEvent) -> String {
    let verb = match event.op {
        "r" => "reads",
        "w" => "writes",
        _ => "reads and writes",
    };
    format!("{} {verb}", Printable(&event.thread))
}

/// What the pattern does to the program, in its own terms.
fn consequence(pattern: &str, local: &str, remote: &str) -> String {
    match pattern {
        "RWR" => format!("{local} may read two different values where it expects one."),
        "WWR" => format!("{local} may read something else than it has just written."),
        "RWW" => format!("{local} may go by an old value when it writes, and lose what {remote} wrote."),
        "WRW" => format!("{remote} may read a value that {local} meant nobody to see."),
        "WWW" => format!("What {remote} wrote may be lost between two writes that {local} meant as one."),
        _ => String::new(),
    }
}

fn lock_names(locks: &[String]) -> String {
    match locks {
        [] => "none".to_owned(),
        locks => Printable(&locks.join(", ")).to_string(),
    }
}

fn region_text(region: &Region) -> String {
    let end = region.end.map_or("the end of the trace".to_owned(), |end| end.to_string());
    format!("region of {} (event {} to {end}, {})", Printable(&region.thread), region.begin, region.source)
}

fn serial_answer(out: &mut String, serial: &Serial) {
    out.push('\n');
    match serial.serializable {
        Some(true) => wrapped(
            out,
            "",
            "",
            "The observed order is conflict-serializable: some order of whole regions gives the same outcome. Other \
             schedules of the program may still go wrong.",
        ),
        None => out.push_str("No violation in what was read; the rest was not looked at.\n"),
        Some(false) => {
            let at = serial.at.unwrap_or_default();
            let _ = writeln!(out, "The observed order is not conflict-serializable: event {at} closes a cycle.\n");
            cycle(out, &serial.cycle);
        }
    }
}

fn atomic_answer(out: &mut String, atomic: &Atomic) {
    out.push('\n');
    let answer = match atomic.verdict {
        "atomic" => {
            "Atomic: some order of whole regions, one after the other, gives every read the value it returned and every \
             location its final value. Other schedules of the program may still go wrong."
        }
        "unknown" => "Whether this is atomic cannot be told.",
        _ => {
            "Not atomic: no order of whole regions, one after the other, gives every read the value it returned and \
             every location its final value."
        }
    };
    wrapped(out, "", "", answer);
    let (Some(pattern), [first, remote, second]) = (atomic.pattern, &atomic.accesses[..]) else { return };
    let variable = atomic.variable.as_deref().map_or(String::new(), |name| format!(" on {}", Printable(name)));
    wrapped(out, "", "", &format!("These three accesses prove it ({pattern}{variable}):"));
    for event in [first, remote, second] {
        let place = place(event.file.as_deref(), event.line, event.function.as_deref());
        wrapped(out, "     ", "       ", &format!("event {}: {} at {place}", event.index, actor(event)));
    }
}

/// A cycle as a chain that comes back to where it began: each link must come before the next.
fn cycle(out: &mut String, steps: &[CycleStep]) {
    for (number, step) in steps.iter().enumerate() {
        wrapped(out, "   ", "     ", &transaction_text(step));
        // The first is entered last, by the event that closes the cycle.
        if number > 0 && step.enter.index != step.leave.index {
            cycle_event(out, &step.enter);
        }
        cycle_event(out, &step.leave);
        let why = match (step.conflict, &step.on) {
            ("program-order", _) => "being earlier in the same thread".to_owned(),
            ("access", Some(on)) => format!("both accessing {}", Printable(on)),
            (kind, Some(on)) => format!("by {kind} {}", Printable(on)),
            (kind, None) => format!("by {kind}"),
        };
        wrapped(out, " > ", "   ", &format!("which comes before, {why},"));
    }
    if let Some(first) = steps.first() {
        wrapped(out, "   ", "     ", &format!("{}, again", transaction_text(first)));
        cycle_event(out, &first.enter);
    }
}

fn transaction_text(step: &CycleStep) -> String {
    match &step.region {
        Some(region) => region_text(region),
        None => format!("{}, outside of regions", Printable(&step.thread)),
    }
}

fn cycle_event(out: &mut String, event: &CycleEvent) {
    let target = event.target.as_deref().map_or(String::new(), |target| format!("({})", Printable(target)));
    let place = place(event.file.as_deref(), event.line, event.function.as_deref());
    wrapped(out, "     ", "       ", &format!("event {}: {}{target} at {place}", event.index, event.op));
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
