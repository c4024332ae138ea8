//! What findings are said to be, in sentences: the same in every format.

use crate::printable::{Printable, plain_name, shown};
use crate::result::{Finding, FindingEvent, Verdict};

/// A pattern: what its accesses are, and what is wrong with it.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Three letters: read or write, of the region, of the other thread, of the region again.
    pub id: &'static str,
    /// A name for it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// What becomes of it.
    pub effect: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// The five patterns that no serial order of the region explains.
pub const PATTERNS: [Pattern; 5] = [
    Pattern {
        id: "RWR",
        name: "UnrepeatableRead",
        summary: "Another thread writes between two reads of one step.",
        effect: "The step reads two different values where it expects one: a check that no longer holds when it is \
                 relied upon, or two parts that do not fit together.",
        remedy: "Read once and keep the value, or hold one lock over both reads, the same that the writer holds.",
    },
    Pattern {
        id: "WWR",
        name: "OverwrittenBeforeRead",
        summary: "Another thread writes between a write and a read of one step.",
        effect: "The step reads something else than it has just written, and goes on with a value that is not its own.",
        remedy: "Use the value at hand instead of reading it back, or hold one lock from the write to the read.",
    },
    Pattern {
        id: "RWW",
        name: "LostUpdate",
        summary: "Another thread writes between a read and a write of one step.",
        effect: "The step writes what follows from an old value, and the other thread's write is lost.",
        remedy: "Hold one lock from the read to the write, or make it one atomic operation (fetch-add, \
                 compare-and-swap).",
    },
    Pattern {
        id: "WRW",
        name: "IntermediateStateSeen",
        summary: "Another thread reads between two writes of one step.",
        effect: "The other thread sees a state that was never meant to be seen, and may act on it.",
        remedy: "Hold one lock over both writes, and let readers take it, too; or prepare the new state aside and \
                 publish it in one write.",
    },
    Pattern {
        id: "WWW",
        name: "WriteLostBetweenWrites",
        summary: "Another thread writes between two writes of one step.",
        effect: "What the other thread wrote is gone, or two writes that belong together are of different steps.",
        remedy: "Hold one lock over both writes, the same that the other writer holds.",
    },
];

/// What is known of a pattern.
pub fn pattern(id: &str) -> Option<&'static Pattern> {
    PATTERNS.iter().find(|pattern| pattern.id == id)
}

/// The other thread's name, harmless and short.
pub(crate) fn remote_thread(finding: &Finding) -> String {
    finding.events.get(1).map_or("?".to_owned(), |event| shown(&event.thread))
}

/// Verdict and harm, in one sentence.
pub(crate) fn verdict_sentence(finding: &Finding) -> String {
    let (local, remote) = (shown(&finding.region.thread), remote_thread(finding));
    match finding.verdict {
        Verdict::Infeasible => {
            format!("It cannot happen: no schedule of the recorded events lets {remote} in there.")
        }
        Verdict::Unknown => format!("Not decided whether {remote} can get in between two accesses of {local}."),
        Verdict::Plausible => format!(
            "Neither locks, fork and join forbid it, nor what threads read from each other: {remote} gets in between two \
             accesses of {local}. No schedule was looked for."
        ),
        Verdict::Possible => format!(
            "Not forbidden by locks, fork and join: {remote} gets in between two accesses of {local}. Values were not \
             looked at."
        ),
        Verdict::Feasible => {
            format!("A schedule of the recorded events shows it: {remote} gets in between two accesses of {local}.")
        }
        Verdict::Confirmed => confirmed_sentence(finding, &local, &remote),
    }
}

fn confirmed_sentence(finding: &Finding, local: &str, remote: &str) -> String {
    let happened = format!("It happened: {remote} got in between two accesses of {local}");
    let Some(execution) = &finding.execution else { return format!("{happened}.") };
    let explained = match execution.non_atomic {
        "atomic after all" => " What was read is explained by a serial order, after all.",
        "proved by condition" | "proved exactly" => " No serial order explains what was read.",
        _ => "",
    };
    let Some(harm) = &execution.harm else {
        let recorded = match execution.ended == execution.recorded {
            true => ", as the recorded run had".to_owned(),
            false => format!("; the recorded run {}", shown(&execution.recorded)),
        };
        return format!("{happened}, and the program then {}{recorded}.{explained}", shown(&execution.ended));
    };
    let harmless = if finding.is_benign() { "no harm was seen: " } else { "" };
    format!("{happened}, and {harmless}{}.{explained}", Printable(harm))
}

/// That reads of a schedule find something else than recorded, if any do.
pub fn changed(reads: &[u64]) -> Option<String> {
    const MOST: usize = 5;
    let (last, rest) = reads.split_last()?;
    let told: Vec<String> = rest.iter().take(MOST).map(u64::to_string).collect();
    let which = match (rest.is_empty(), reads.len() > MOST + 1) {
        (true, _) => format!("The read at event {last} finds"),
        (false, false) => format!("The reads at events {} and {last} find", told.join(", ")),
        (false, true) => format!("The reads at events {} and {} more find", told.join(", "), reads.len() - MOST),
    };
    Some(format!(
        "{which} something else than recorded, on which nothing depends that is done here; values that come of it may \
         differ from those recorded, too."
    ))
}

/// What is said about whether a serial order explains an execution.
pub(crate) const ATOMICITIES: [&str; 4] = ["proved by condition", "proved exactly", "atomic after all", "unknown"];

/// What the pattern of a finding does to the program, in its own terms.
pub(crate) fn consequence(finding: &Finding) -> String {
    pattern_consequence(finding.pattern, &shown(&finding.region.thread), &remote_thread(finding))
}

/// What a pattern does to the program: the thread with the region, and the other one.
pub fn pattern_consequence(pattern: &str, local: &str, remote: &str) -> String {
    match pattern {
        "RWR" => format!("{local} may read two different values where it expects one."),
        "WWR" => format!("{local} may read something else than it has just written."),
        "RWW" => format!("{local} may go by an old value when it writes, and lose what {remote} wrote."),
        "WRW" => format!("{remote} may read a value that {local} meant nobody to see."),
        "WWW" => format!("What {remote} wrote may be lost between two writes that {local} meant as one."),
        _ => String::new(),
    }
}

/// Who says that a region is meant to be atomic.
pub(crate) fn authority(source: &str) -> &'static str {
    match source {
        "annotated" => "marked as one step in the source or the trace",
        "locks" => "a critical section",
        "functions" => "one call of a function, taken for one step",
        "inferred" => "inferred from the layout of the code",
        _ => "of an unknown source",
    }
}

/// What an access does, with what is known of values: `reads 3`, `writes`, `reads 1, writes 2`.
pub(crate) fn access(event: &FindingEvent) -> String {
    let read = event.read.map_or("reads".to_owned(), |value| format!("reads {value}"));
    let written = event.written.map_or("writes".to_owned(), |value| format!("writes {value}"));
    match event.op {
        "r" => read,
        "w" => written,
        _ => format!("{read} and {written}"),
    }
}

/// Why nothing keeps the other thread out.
pub(crate) fn why(finding: &Finding) -> String {
    let (local, remote) = (shown(&finding.region.thread), remote_thread(finding));
    let both = |one: &[String], other: &[String]| -> Vec<String> {
        one.iter().filter(|lock| other.contains(lock)).cloned().collect()
    };
    let shared = both(&finding.locks.region, &finding.locks.remote);
    if !shared.is_empty() {
        return format!("{local} and {remote} both hold {}, for reading: it does not part them.", lock_names(&shared));
    }
    let held: Vec<&[String]> = finding.events.iter().filter_map(|event| event.held.as_deref()).collect();
    let [first, between, last] = held[..] else { return moment(finding) };
    let local_locks = union(first, last);
    let throughout = both(first, last);
    let everywhere = both(&throughout, between);
    if !everywhere.is_empty() {
        let it = if everywhere.len() == 1 { "it" } else { "them" };
        return format!(
            "all three accesses are under {}, but {local} gives {it} up between (1) and (3), and {remote} takes {it} \
             then.",
            lock_names(&everywhere)
        );
    }
    match (local_locks.is_empty(), between.is_empty()) {
        (true, true) => "no lock is held at any of the three accesses.".to_owned(),
        (false, true) => {
            format!(
                "{remote} holds no lock at (2), so that {} of {local} does not keep it out.",
                lock_names(&local_locks)
            )
        }
        (true, false) => {
            format!(
                "{local} holds no lock at (1) and (3), so that {} of {remote} excludes nobody.",
                lock_names(between)
            )
        }
        (false, false) => {
            let partly = both(&local_locks, between);
            if partly.is_empty() {
                format!(
                    "no lock in common: {local} holds {} at (1) and {} at (3), {remote} holds {} at (2).",
                    lock_names(first),
                    lock_names(last),
                    lock_names(between)
                )
            } else {
                let only = if both(first, between).is_empty() { "(3), not at (1)" } else { "(1), not at (3)" };
                format!("{local} holds {} at {only}; {remote} holds it at (2).", lock_names(&partly))
            }
        }
    }
}

/// The locks at a moment at which the other thread can get in.
pub(crate) fn moment(finding: &Finding) -> String {
    format!(
        "at some moment between (1) and (3) {} holds {}, and {} at (2) {}.",
        shown(&finding.region.thread),
        lock_names(&finding.locks.region),
        remote_thread(finding),
        lock_names(&finding.locks.remote),
    )
}

fn union(one: &[String], other: &[String]) -> Vec<String> {
    let mut all = one.to_vec();
    all.extend(other.iter().filter(|lock| !one.contains(lock)).cloned());
    all
}

/// Names of locks, harmless and short.
pub(crate) fn lock_names(locks: &[String]) -> String {
    match locks {
        [] => "none".to_owned(),
        locks => locks.iter().map(|lock| shown(lock)).collect::<Vec<_>>().join(", "),
    }
}

/// A line for a file of suppressions that is about a finding and its like, of at most so many letters.
pub(crate) fn suppress_line(finding: &Finding, most: usize) -> String {
    let local = finding.events.first().and_then(|event| event.function.as_deref());
    let function = match finding.region.source {
        "functions" => finding.region.name.as_deref().or(local),
        _ => local,
    };
    // What is not shown as it is cannot be copied.
    let pattern = |name: &str| {
        let name = plain_name(name);
        (name == shown(&name)).then(|| quoted(&name))
    };
    let variable = pattern(&finding.variable.name).map(|name| format!("variable:{name}"));
    let function = function.and_then(pattern).map(|name| format!(" function:{name}"));
    let lines = [variable.as_ref().zip(function).map(|(one, other)| one.clone() + &other), variable];
    let fits = |line: &String| line.chars().count() + " because REASON".len() <= most;
    let line = lines.into_iter().flatten().find(fits).unwrap_or_else(|| format!("id:{}", finding.id));
    format!("{line} because REASON")
}

/// A name as a pattern that only it matches.
fn quoted(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if matches!(letter, '*' | '?' | '\\' | '"') {
            text.push('\\');
        }
        text.push(letter);
    }
    if text.contains(char::is_whitespace) { format!("\"{text}\"") } else { text }
}

/// A number of things.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::why;
    use crate::result::HeldLocks;
    use crate::testing;

    /// Why, given the locks held at the three accesses, separated by spaces.
    fn why_held(held: [&str; 3]) -> String {
        let mut finding = testing::finding();
        for (event, held) in finding.events.iter_mut().zip(held) {
            event.held = Some(held.split_whitespace().map(str::to_owned).collect());
        }
        why(&finding)
    }

    #[test]
    fn every_way_in_is_explained() {
        let mut reading = testing::finding();
        reading.locks = HeldLocks { region: vec!["rw".to_owned()], remote: vec!["rw".to_owned()] };
        let mut unknown = testing::finding();
        unknown.events[1].held = None;
        let texts = [
            why_held(["m", "m", "m"]),
            why_held(["l m", "m l", "m l"]),
            why_held(["", "", ""]),
            why_held(["m", "", "m"]),
            why_held(["", "m", ""]),
            why_held(["l", "m", "l"]),
            why_held(["m", "m", ""]),
            why_held(["", "m", "m"]),
            why(&reading),
            why(&unknown),
        ];
        insta::assert_snapshot!(texts.join("\n"));
    }
}
