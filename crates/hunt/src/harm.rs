//! What a violation does: the run that shows it, beside serial runs of the same program.
//!
//! Beside it stand the run that was recorded first, which is what the user takes for right, and serial runs: the run
//! it was predicted from, and two more, along the witness but for the remote access, which is moved before the
//! region's first access or behind its second. They count if the judge of atomicity finds a serial order of all
//! regions that explains them. A serial run that cannot be had (because a lock stands in the way, or the program goes
//! another way) is done without.
//!
//! Harm is what none of them does, the worst first: a crash, a failed assertion, a hang, another exit
//! status, other output, other final contents of the variable. Lines of output count whatever their order, since the
//! order of lines of different threads is nobody's promise; and the rest of memory does not count, since what threads
//! do at the same time on purpose leaves it in other ways than serial runs, too. Before a violation is called
//! *benign*, the program goes on from it in a few other ways. What harm needs a longer run or another input does not
//! show here.

use crate::caught::{Ending, Outcome};
use interloper_recorder::{CapturedOutput, Exit};
use interloper_trace::{Event, Op, Tables};
use std::collections::BTreeMap;
use std::fmt;

/// What a violation did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harm {
    /// What kind of harm.
    pub kind: HarmKind,
    /// The same in a sentence.
    pub sentence: String,
}

/// What kind of harm a violation did, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HarmKind {
    /// The program was killed by a signal.
    Crash,
    /// No thread could go on, or it did not end in time.
    Hang,
    /// An assertion failed.
    Assert,
    /// Its exit status was another one.
    Exit,
    /// It printed something else.
    Output,
    /// It left something else in memory that threads share.
    State,
    /// None of these.
    Benign,
}

impl HarmKind {
    /// The word for it in results.
    pub const fn name(self) -> &'static str {
        match self {
            HarmKind::Crash => "crash",
            HarmKind::Hang => "hang",
            HarmKind::Assert => "assert",
            HarmKind::Exit => "exit",
            HarmKind::Output => "output",
            HarmKind::State => "state",
            HarmKind::Benign => "benign",
        }
    }

    /// Whether the program ended otherwise, and did not merely print or leave something else.
    pub const fn is_in_the_end(self) -> bool {
        matches!(self, HarmKind::Crash | HarmKind::Hang | HarmKind::Assert | HarmKind::Exit)
    }
}

impl fmt::Display for HarmKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a run did that none of the serial ones does; of memory, this variable counts.
pub(crate) fn harm(run: &Ending, serial: &[Ending], variable: Option<&str>) -> Harm {
    let left_otherwise = || left_otherwise(run, serial, variable?);
    let found = ended_otherwise(run, serial).or_else(|| printed_otherwise(run, serial)).or_else(left_otherwise);
    found.unwrap_or_else(|| Harm {
        kind: HarmKind::Benign,
        sentence: "the program ended as it does in a serial order: same status, same output, same contents of the \
                   variable"
            .to_owned(),
    })
}

fn ended_otherwise(run: &Ending, serial: &[Ending]) -> Option<Harm> {
    if serial.iter().any(|other| other.outcome == run.outcome) {
        return None;
    }
    let kind = match run.outcome {
        Outcome::Deadlock | Outcome::TimedOut => HarmKind::Hang,
        Outcome::Ended(Exit::Signal(_)) if has_failed_assertion(&run.output) => HarmKind::Assert,
        Outcome::Ended(Exit::Signal(_)) => HarmKind::Crash,
        Outcome::Ended(Exit::Code(_)) => HarmKind::Exit,
    };
    let mut others: Vec<String> = serial.iter().map(|other| other.outcome.to_string()).collect();
    others.sort_unstable();
    others.dedup();
    let sentence = format!("the program {}; in a serial order it {}", run.outcome, others.join(", or "));
    Some(Harm { kind, sentence })
}

/// Whether a C assertion says so on standard error.
fn has_failed_assertion(output: &CapturedOutput) -> bool {
    String::from_utf8_lossy(&output.stderr).lines().any(|line| line.contains("Assertion") && line.contains("failed"))
}

fn printed_otherwise(run: &Ending, serial: &[Ending]) -> Option<Harm> {
    for stream in [Stream::Output, Stream::Error] {
        let verb = stream.verb();
        let own = lines(stream.of(run));
        let others: Vec<BTreeMap<String, usize>> = serial.iter().map(|other| lines(stream.of(other))).collect();
        if others.contains(&own) {
            continue;
        }
        let Some(other) = others.first() else { continue };
        let more = |one: &BTreeMap<String, usize>, two: &BTreeMap<String, usize>| {
            one.iter()
                .find(|(line, count)| two.get(*line).is_none_or(|other| other < count))
                .map(|(line, _)| clip(line))
        };
        let sentence = match (more(&own, other), more(other, &own)) {
            (Some(own), Some(other)) => format!("the program {verb} `{own}`; in a serial order `{other}`"),
            (Some(own), None) => format!("the program {verb} `{own}`, which it does not in a serial order"),
            (None, other) => {
                let other = other.unwrap_or_default();
                format!("the program never {verb} `{other}`, which it does in a serial order")
            }
        };
        return Some(Harm { kind: HarmKind::Output, sentence });
    }
    None
}

#[derive(Clone, Copy)]
enum Stream {
    Output,
    Error,
}

impl Stream {
    fn verb(self) -> &'static str {
        match self {
            Stream::Output => "printed",
            Stream::Error => "wrote to standard error",
        }
    }

    fn of(self, ending: &Ending) -> &[u8] {
        match self {
            Stream::Output => &ending.output.stdout,
            Stream::Error => &ending.output.stderr,
        }
    }
}

fn left_otherwise(run: &Ending, serial: &[Ending], variable: &str) -> Option<Harm> {
    let own = run.state.get(variable)?;
    let mut others: Vec<u64> = serial.iter().filter_map(|other| other.state.get(variable).copied()).collect();
    if others.is_empty() || others.contains(own) {
        return None;
    }
    others.sort_unstable();
    others.dedup();
    let others: Vec<String> = others.iter().map(u64::to_string).collect();
    let sentence = format!("the program left {own} in {}; in a serial order {}", clip(variable), others.join(" or "));
    Some(Harm { kind: HarmKind::State, sentence })
}

/// How often each line was printed.
fn lines(text: &[u8]) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for line in String::from_utf8_lossy(text).lines() {
        *lines.entry(line.to_owned()).or_default() += 1;
    }
    lines
}

fn clip(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What a run left at each location that it wrote to, by name; what is named alike is left out.
pub(crate) fn final_state(events: &[Event], tables: &Tables) -> BTreeMap<String, u64> {
    let mut last = BTreeMap::new();
    for event in events {
        match event.op {
            Op::Write(access) => last.insert(access.location, access.value),
            Op::ReadModifyWrite(rmw) if rmw.success => last.insert(rmw.location, rmw.written),
            _ => None,
        };
    }
    let mut state: BTreeMap<String, Option<u64>> = BTreeMap::new();
    for (location, value) in last {
        state.entry(tables.location_name(location)).and_modify(|known| *known = None).or_insert(value.get());
    }
    state.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A witness with the remote access moved out of the region: before the first access, or behind the second.
pub(crate) fn serial_orders(order: &[usize], triple: [usize; 3], events: &[Event]) -> Vec<Vec<usize>> {
    let place = |event: usize| order.iter().position(|at| *at == event);
    let [Some(first), Some(_), Some(second)] = triple.map(place) else { return Vec::new() };
    let local = events[triple[0]].thread;
    let (own, others): (Vec<usize>, Vec<usize>) =
        order[first..=second].iter().partition(|at| events[**at].thread == local);
    let before = &order[..first];
    vec![[before, &own, &others].concat(), [before, &others, &own].concat()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(outcome: Outcome, stdout: &str, stderr: &str, state: &[(&str, u64)]) -> Ending {
        Ending {
            outcome,
            output: CapturedOutput { stdout: stdout.into(), stderr: stderr.into(), truncated: false },
            state: state.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        }
    }

    const DONE: Outcome = Outcome::Ended(Exit::Code(0));

    fn told(run: &Ending, serial: &Ending) -> (HarmKind, String) {
        let Harm { kind, sentence } = harm(run, std::slice::from_ref(serial), Some("sum"));
        (kind, sentence)
    }

    #[test]
    fn the_worst_is_told() {
        let serial = ending(DONE, "sum 3\n", "", &[("sum", 3)]);
        let crash = ending(Outcome::Ended(Exit::Signal(11)), "", "", &[]);
        let sentence = "the program was killed by signal 11; in a serial order it exited with status 0";
        assert_eq!(told(&crash, &serial), (HarmKind::Crash, sentence.to_owned()));
        let complaint = "a.c:3: main: Assertion `x' failed.\n";
        let assertion = ending(Outcome::Ended(Exit::Signal(6)), "", complaint, &[]);
        assert_eq!(told(&assertion, &serial).0, HarmKind::Assert);
        assert_eq!(told(&ending(Outcome::Deadlock, "", "", &[]), &serial).0, HarmKind::Hang);
        assert_eq!(told(&ending(Outcome::Ended(Exit::Code(1)), "", "", &[]), &serial).0, HarmKind::Exit);
        let output = ending(DONE, "sum 2\n", "", &[("sum", 2)]);
        let sentence = "the program printed `sum 2`; in a serial order `sum 3`";
        assert_eq!(told(&output, &serial), (HarmKind::Output, sentence.to_owned()));
        let state = ending(DONE, "sum 3\n", "", &[("sum", 2), ("other", 1)]);
        let sentence = "the program left 2 in sum; in a serial order 3";
        assert_eq!(told(&state, &serial), (HarmKind::State, sentence.to_owned()));
    }

    #[test]
    fn what_one_serial_run_does_is_no_harm() {
        let one = ending(DONE, "a\nb\n", "", &[("last", 1)]);
        let two = ending(Outcome::Ended(Exit::Code(1)), "a\n", "", &[("last", 2)]);
        let serial = [one, two.clone()];
        let harm = |run: &Ending| harm(run, &serial, Some("last")).kind;
        assert_eq!(harm(&ending(DONE, "b\na\n", "", &[("last", 2)])), HarmKind::Benign);
        assert_eq!(harm(&two), HarmKind::Benign);
        assert_eq!(harm(&ending(DONE, "b\na\n", "", &[("last", 3)])), HarmKind::State);
        assert_eq!(harm(&ending(DONE, "b\na\n", "", &[("other", 3)])), HarmKind::Benign);
    }
}
