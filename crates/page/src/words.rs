//! Sentences: what was found, what it did, what is proved and what is not.

use crate::text::{count, name, short};
use interloper_report::read::{Finding, Region, Result as Found};

/// The verdict on the whole, in one sentence.
pub(crate) fn headline(result: &Found) -> String {
    if let Some(serial) = &result.serial {
        return match serial.serializable {
            Some(true) => "The observed order is serializable",
            Some(false) => "The observed order is not serializable",
            None => "No violation in what was read; the rest was not looked at",
        }
        .to_owned();
    }
    let counts = &result.counts;
    let violations = |number, word: &str| {
        count(number, &format!("{word} atomicity violation"), &format!("{word} atomicity violations"))
    };
    let is_lockset = result.model == "lockset";
    match () {
        () if counts.confirmed > 0 => violations(counts.confirmed, "confirmed"),
        () if counts.feasible > 0 => violations(counts.feasible, "feasible"),
        () if is_lockset && counts.possible > 0 => violations(counts.possible, "possible"),
        () if counts.unknown > 0 => {
            format!("No atomicity violation found, and {} not decided", counts.unknown)
        }
        () => "No atomicity violation found".to_owned(),
    }
}

/// What the headline rests on.
pub(crate) fn lead(result: &Found) -> String {
    let counts = &result.counts;
    if let Some(serial) = &result.serial {
        return match (serial.serializable, serial.at) {
            (Some(true), _) => {
                "Some order of whole regions gives the same outcome. Other schedules of the program may \
                                still go wrong."
                    .to_owned()
            }
            (Some(false), Some(at)) => {
                format!("Event {at} closes a cycle of regions that would each have to come first.")
            }
            _ => String::new(),
        };
    }
    let mut parts = Vec::new();
    if counts.confirmed > 0 {
        let it = if counts.confirmed == 1 { "It" } else { "Each" };
        parts.push(format!("{it} happened in a run of the program, and can be made to happen again."));
        let rest = counts.feasible.saturating_sub(counts.confirmed);
        if rest > 0 {
            parts.push(format!("{} more feasible: a schedule shows it, but it was not executed.", rest));
        }
    } else if counts.feasible > 0 {
        let it = if counts.feasible == 1 { "it" } else { "each of them" };
        parts.push(format!("A schedule of the recorded events shows {it}."));
    } else if result.model == "lockset" && counts.possible > 0 {
        parts.push("Locks, fork and join do not forbid it; values were not looked at.".to_owned());
    } else {
        parts.push("This speaks of the accesses that were recorded, in whatever order.".to_owned());
    }
    let benign = result.findings.iter().filter(|finding| finding.is_benign()).count();
    if benign > 0 {
        parts.push(format!("{} judged benign.", count(benign as u64, "is", "are")));
    }
    let mut of =
        format!("Of {}, {} not possible", count(counts.candidates, "candidate", "candidates"), counts.infeasible);
    if counts.unknown > 0 {
        of += &format!(" and {} not decided", counts.unknown);
    }
    if counts.suppressed > 0 {
        of += &format!("; {} suppressed", counts.suppressed);
    }
    parts.push(of + ".");
    parts.join(" ")
}

/// What a finding says, in one sentence.
pub(crate) fn claim(finding: &Finding) -> String {
    let verb = match finding.verdict.as_str() {
        "confirmed" => "got",
        "feasible" | "plausible" | "possible" => "can get",
        "infeasible" => "cannot get",
        _ => "may get",
    };
    let thread = |text: &str| short(&name(text));
    format!(
        "{} {verb} in between two accesses of {} to {}",
        thread(finding.remote_thread()),
        thread(&finding.region.thread),
        thread(&finding.variable.name),
    )
}

/// What the pattern does to the program, in its own terms.
pub(crate) fn consequence(finding: &Finding) -> String {
    let local = short(&name(&finding.region.thread));
    let remote = short(&name(finding.remote_thread()));
    interloper_report::words::pattern_consequence(&finding.pattern, &local, &remote)
}

/// What came of it when it was executed.
pub(crate) fn harm(finding: &Finding) -> Option<String> {
    let judged = finding.harm.as_deref().map(|harm| match harm {
        "crash" => "Harm: the program crashes.".to_owned(),
        "hang" => "Harm: the program hangs.".to_owned(),
        "assert" => "Harm: an assertion fails.".to_owned(),
        "exit" => "Harm: the program ends with another status.".to_owned(),
        "output" => "Harm: the program prints something else.".to_owned(),
        "state" => "Harm: the program is left in another state.".to_owned(),
        "benign" => "Benign: no harm came of it.".to_owned(),
        other => format!("Harm: {}.", name(other)),
    });
    let ran = finding.execution.as_ref().map(|execution| {
        if execution.ended == execution.recorded {
            format!("After it the program {}, as the recorded run had.", name(&execution.ended))
        } else {
            format!("After it the program {}; the recorded run {}.", name(&execution.ended), name(&execution.recorded))
        }
    });
    let told = finding.execution.as_ref().and_then(|execution| execution.harm.as_deref()).map(|harm| {
        let kind = if finding.harm.as_deref() == Some("benign") { "Benign" } else { "Harm" };
        format!("{kind}: {}.", name(harm))
    });
    let explained = match finding.execution.as_ref().and_then(|execution| execution.non_atomic.as_deref()) {
        Some("atomic after all") => " A serial order explains what was read, after all.",
        Some("proved by condition" | "proved exactly") => " No serial order explains what was read.",
        _ => "",
    };
    let outcome = match (told, judged, ran) {
        (Some(told), ..) => told,
        (None, Some(judged), Some(ran)) => format!("{judged} {ran}"),
        (None, judged, ran) => judged.or(ran)?,
    };
    Some(format!("{outcome}{explained}"))
}

/// Who says that a region is meant to be atomic.
pub(crate) fn authority(region: &Region) -> &'static str {
    match region.source.as_str() {
        "annotated" => "marked as atomic in the source",
        "locks" => "a critical section",
        "functions" => "one activation of a function",
        "inferred" => "inferred from the code",
        _ => "of an unknown source",
    }
}

/// What a verdict means and proves: (word, what is proved, what is not).
pub(crate) const VERDICTS: [(&str, &str, &str); 6] = [
    (
        "confirmed",
        "It happened: in a run of the program, whose trace was kept, (1), (2) and (3) came in this order, (1) and (3) \
         in one region. The schedule of that run is kept, and replays it.",
        "That it does harm, unless that is said; nor that the region was meant to be atomic, if the source does not \
         mark it.",
    ),
    (
        "feasible",
        "A schedule of the recorded events shows it. A solver found it, and an interpreter that shares no code with \
         the solver accepts it: locks, waits, forks and joins hold, and every read finds what it found, but for a \
         thread's last.",
        "That the program follows this schedule: it was not executed, or did not follow. Why is said at the finding.",
    ),
    ("plausible", "It survives the filter of reads that must come after writes.", "That a schedule shows it."),
    (
        "possible",
        "Locks, fork and join do not forbid it.",
        "That values allow it: they were not looked at. It may be impossible for reasons of data.",
    ),
    (
        "unknown",
        "Nothing. It was not decided, for the reason that is given at the finding.",
        "That it can happen, and that it cannot.",
    ),
    (
        "infeasible",
        "No schedule of the recorded events shows it.",
        "That the program never does it on another path, which the recorded events do not hold.",
    ),
];
