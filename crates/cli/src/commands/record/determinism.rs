//! `record --check-determinism`: the same once more, and what most likely made the difference if there is one.

use crate::message;
use crate::recording::{Watcher, departure};
use anyhow::Context as _;
use interloper_recorder::{Comparison, Printing, RecordOutcome, RecordRequest, RunNotice, Suspect, compare, record};
use std::path::Path;

/// Records once more along the same schedule, and says where the two recordings part.
pub(super) fn check(
    request: &RecordRequest,
    first: &RecordOutcome,
    output: &Path,
    watcher: &mut Watcher,
) -> anyhow::Result<()> {
    let folder = tempfile::tempdir().context("cannot keep a second recording")?;
    let path = folder.path().join("again.ilt");
    let again = RecordRequest {
        output: Some(path.clone()),
        schedule: Some(first.schedule.clone()),
        start_time: Some(first.start_time),
        // What is printed has been seen.
        printing: Printing::Away,
        ..request.clone()
    };
    let second = record(&again, watcher)?;
    let comparison = compare(output, &path).context("cannot compare the two recordings")?;
    let Some(mismatch) = &comparison.mismatch else {
        message::say("determinism", "a second run along the same schedule gave the same events");
        if let Some(input) = &comparison.other_input {
            message::say("  but", &format!("{}; nothing came of that", sentence(input)));
        }
        return Ok(());
    };
    let text = |event: &Option<String>| event.clone().unwrap_or_else(|| "the end".to_owned());
    message::say("determinism", &format!("two runs along the same schedule differ at event {}", mismatch.index));
    message::say("  first", &text(&mismatch.first));
    message::say("  second", &text(&mismatch.second));
    if let Some(departure) = departure(&second) {
        message::say("  and", &departure);
    }
    message::say("  likely cause", &likely_cause(&comparison, [first, &second]));
    Ok(())
}

/// What is certain comes first: something that was seen to be another in the second run. What is only known to have been
/// read comes last.
fn likely_cause(comparison: &Comparison, runs: [&RecordOutcome; 2]) -> String {
    let suspect = comparison.mismatch.as_ref().and_then(|mismatch| mismatch.suspect.as_ref());
    if let Some(suspect) = suspect.filter(|suspect| suspect.difference.is_some()) {
        return sentence(suspect);
    }
    let notices = || runs.into_iter().flat_map(|run| &run.notices);
    if notices().any(|notice| matches!(notice, RunNotice::Uncontrolled { .. })) {
        return "a thread was stuck where it cannot be seen, and others went on beside it".to_owned();
    }
    if runs.iter().any(|run| run.random_addresses) {
        return "addresses: the system refuses to load programs at fixed ones, so that pointers differ, and whatever \
                depends on them"
            .to_owned();
    }
    for notice in notices() {
        match notice {
            RunNotice::Signal { signal, thread } => {
                return format!(
                    "signal {signal}, which was delivered to thread {thread} at a moment that may be another"
                );
            }
            RunNotice::Nondeterministic { what } | RunNotice::Unsupported { what } => {
                return format!("the program uses {what}");
            }
            _ => {}
        }
    }
    match suspect {
        Some(suspect) => sentence(suspect),
        None => {
            "not known: nothing was read from outside before by calls that are known. Left are the processor's own \
                 instructions for time and random numbers, and memory that is shared with others, was never \
                 initialised, or was freed and used again by code that is not instrumented"
                .to_owned()
        }
    }
}

fn sentence(suspect: &Suspect) -> String {
    let Suspect { channel, thread, place, difference } = suspect;
    let what = source(channel);
    match difference {
        Some([first, second]) => {
            format!("{what}, read by thread {thread} at {place}: first {first}, then {second}")
        }
        None => format!("{what}, read by thread {thread} at {place}"),
    }
}

/// What a channel of the trace is, for people.
fn source(channel: &str) -> String {
    match channel {
        "pid" => "the number of the process".to_owned(),
        "tid" => "the number of a thread".to_owned(),
        "stdin" => "standard input".to_owned(),
        "poll" | "select" | "epoll" => format!("which files were ready (`{channel}`)"),
        "unnamed file" => "a file without a name".to_owned(),
        "pipe" | "socket" | "terminal" | "file" => format!("a {channel}"),
        path if path.starts_with('/') => format!("the file {path}"),
        function => format!("what `{function}` says"),
    }
}
