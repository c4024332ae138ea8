//! Ids of findings: the same for the same finding, run after run, machine after machine.
//!
//! An id is made of what a finding is about: its pattern, the variable, and of each access the name of the file, without
//! folders, and the function. The line counts only where the function is not known: a line that is inserted above must
//! not make an old finding look new. Neither folders, addresses nor positions in a trace are in it.
//!
//! Findings that agree in all of that are told apart by a number, in the order of their lines. That number, and so the
//! id, may be another's if one of them is no longer found.

use crate::result::{CycleStep, Finding, FindingEvent};
use rustc_hash::FxHashMap;

/// Gives ids to all findings of a result.
pub(crate) fn give_ids(findings: &mut [Finding]) {
    let mut alike: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (at, finding) in findings.iter().enumerate() {
        alike.entry(subject(finding).0).or_default().push(at);
    }
    for (subject, mut places) in alike {
        // Stable: where lines are the same, it is the order of the findings that counts.
        places.sort_by_key(|&at| findings[at].events.iter().map(|event| event.line).collect::<Vec<_>>());
        for (ordinal, at) in (0..).zip(places) {
            findings[at].id = format!("{:016x}", Fnv(subject).number(ordinal).0);
        }
    }
}

/// What a finding is about.
fn subject(finding: &Finding) -> Fnv {
    let sites = finding.events.iter().map(access_site);
    let subject = sites.fold(Fnv::new().text(finding.pattern), |hash, site| hash.text(&site));
    subject.text(&without_folders(&finding.variable.name))
}

/// The id of a cycle of steps: of the accesses that make it one.
pub(crate) fn of_cycle(cycle: &[CycleStep]) -> String {
    let events = cycle.iter().flat_map(|step| [&step.enter, &step.leave]);
    let hash = events.fold(Fnv::new().text("SERIAL"), |hash, event| {
        let target = event.target.as_deref().map(without_folders).unwrap_or_default();
        hash.text(event.op).text(&target).text(&site(event.file.as_deref(), event.function.as_deref(), event.line))
    });
    format!("{:016x}", hash.0)
}

fn access_site(event: &FindingEvent) -> String {
    site(event.file.as_deref(), event.function.as_deref(), event.line)
}

fn site(file: Option<&str>, function: Option<&str>, line: Option<i64>) -> String {
    let file = file.unwrap_or_default();
    let file = file.rsplit('/').next().unwrap_or(file);
    match (function, line) {
        (Some(function), _) => format!("{file}:{function}"),
        (None, Some(line)) => format!("{file}:{line}"),
        (None, None) => file.to_owned(),
    }
}

/// A variable on the heap is named by where it was allocated: `heap#main/3@folder/file.c:12`. What counts of that is
/// the file's name.
fn without_folders(variable: &str) -> String {
    let Some((object, place)) = variable.split_once('@') else { return variable.to_owned() };
    let file = place.rsplit('/').next().unwrap_or(place);
    match file.split_once(':') {
        Some((file, rest)) => {
            format!("{object}@{file}{}", rest.trim_start_matches(|letter: char| letter.is_ascii_digit()))
        }
        None => format!("{object}@{file}"),
    }
}

/// FNV-1a, 64 bits: fixed for ever, so that ids in suppression files and baselines stay valid.
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn byte(self, byte: u8) -> Self {
        Fnv((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    /// The text and an end mark, which no text contains: parts cannot run into each other.
    fn text(self, text: &str) -> Self {
        text.bytes().fold(self, Fnv::byte).byte(0xff)
    }

    fn number(self, number: u64) -> Self {
        number.to_le_bytes().into_iter().fold(self, Fnv::byte)
    }
}

#[cfg(test)]
mod tests {
    use super::{give_ids, without_folders};
    use crate::result::Finding;
    use crate::testing;

    fn ids(mut findings: Vec<Finding>) -> Vec<String> {
        give_ids(&mut findings);
        findings.into_iter().map(|finding| finding.id).collect()
    }

    fn in_folder(folder: &str, lines: [i64; 3]) -> Finding {
        let mut finding = testing::finding();
        for (event, line) in finding.events.iter_mut().zip(lines) {
            (event.file, event.line) = (Some(format!("{folder}bank.c")), Some(line));
        }
        finding
    }

    /// Pinned: a change would orphan every id that users have written down.
    #[test]
    fn ids_are_pinned() {
        assert_eq!(ids(vec![testing::finding()]), ["1ca6ec9067906c5f"]);
    }

    #[test]
    fn neither_folders_nor_lines_matter() {
        let one = ids(vec![in_folder("/home/a/", [10, 20, 12])]);
        assert_eq!(one, ids(vec![in_folder("../b/", [11, 21, 13])]));
        let mut elsewhere = in_folder("", [10, 20, 12]);
        elsewhere.events[1].function = Some("withdraw".to_owned());
        assert_ne!(one, ids(vec![elsewhere]));
    }

    #[test]
    fn lines_tell_apart_what_is_alike() {
        let (upper, lower) = (in_folder("", [10, 20, 12]), in_folder("", [15, 20, 16]));
        let both = ids(vec![upper.clone(), lower.clone()]);
        assert_ne!(both[0], both[1]);
        assert_eq!(ids(vec![lower, upper]), [both[1].clone(), both[0].clone()]);
    }

    #[test]
    fn folders_of_allocations_do_not_matter() {
        assert_eq!(without_folders("heap#main/3@/home/a/bank.c:12+8"), "heap#main/3@bank.c+8");
        assert_eq!(without_folders("account.balance"), "account.balance");
    }
}
