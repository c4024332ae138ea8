//! Every program of the corpus, compiled with `interloper cc`, run, recorded and replayed.
//!
//! What is expected of each stands beside it (`corpus/README.md`). A program must behave under us as it does
//! natively, whatever the schedule; and following the schedule of a recorded run must give the same
//! events in the same order with the same values.
//!
//! `INTERLOPER_CORPUS=NAME,…` runs only programs whose name contains one of these. `INTERLOPER_REPLAYS=N` replays
//! each recording N times; `make soak` does it a hundred times.

#![allow(clippy::unwrap_used)]

mod common;

use common::expect::{Expect, Outcome};
use common::{Folder, corpus};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Quanta at which every program is recorded. The first is run-ahead, as users have it.
const QUANTA: [&str; 4] = ["1000000", "100", "7", "1"];

#[test]
fn programs_behave_and_replay() {
    let runtime = common::runtime_directory();
    corpus::try_all(&["fail", "pass", "runtime"], |program| check(program, &runtime));
}

/// One program, and where it is tried.
struct Trial<'a> {
    folder: Folder,
    runtime: &'a Path,
    expect: Expect,
}

fn check(program: &Path, runtime: &Path) -> Result<(), String> {
    let expect = Expect::read(&program.with_extension("expect"))?;
    let may_fail = program.parent().unwrap().ends_with("fail") || expect.has("violated");
    let trial = Trial { folder: Folder::new(), runtime, expect };
    corpus::compile(program, runtime, &trial.expect, &trial.folder)?;

    if !may_fail && trial.expect.outcome != Outcome::Deadlock {
        let run = trial.run(Command::new(trial.folder.path("program")))?;
        trial.judge(&run, false).map_err(|what| format!("unrecorded, {what}"))?;
    }
    let replays: usize = std::env::var("INTERLOPER_REPLAYS").map_or(1, |count| count.parse().unwrap());
    for (number, quantum) in QUANTA.into_iter().enumerate() {
        trial
            .record_and_replay(quantum, may_fail && number > 0, replays)
            .map_err(|what| format!("at quantum {quantum}, {what}"))?;
    }
    Ok(())
}

/// Whether two lines are about the same event. The numbers of processes and threads are the system's, and others in every
/// run.
fn same_event(first: &str, second: &str) -> bool {
    let without_number = |line: &str| {
        let is_number = line.contains("input(pid)") || line.contains("input(tid)");
        // How long the number is decides how much space is after it.
        is_number.then(|| {
            let words = line.split_whitespace().filter(|word| word.parse::<u64>().is_err());
            words.collect::<Vec<_>>().join(" ")
        })
    };
    first == second || (without_number(first).is_some() && without_number(first) == without_number(second))
}

/// What a process did.
struct Run {
    outcome: Outcome,
    stdout: String,
    stderr: String,
}

impl Trial<'_> {
    fn interloper(&self) -> Command {
        corpus::interloper(self.runtime)
    }

    fn record_and_replay(&self, quantum: &str, may_fail: bool, replays: usize) -> Result<(), String> {
        let mut record = self.interloper();
        record.args(["record", "-o", "recorded.ilt", "--quantum", quantum, "--", "./program"]);
        let recorded = self.run(record)?;
        self.judge(&recorded, may_fail).map_err(|what| format!("recorded, {what}"))?;
        if self.expect.outcome == Outcome::Deadlock && !recorded.stderr.contains("deadlock") {
            return Err(format!("the deadlock is not reported:\n{}", recorded.stderr));
        }
        self.dump("recorded")?;
        let is_recorded = self.lines("recorded").any(|line| line.contains("main     start"));
        if !is_recorded {
            return Err(format!("nothing was recorded:\n{}", recorded.stderr));
        }
        for number in 1..=replays {
            let mut replay = self.interloper();
            replay.args(["replay", "-o", "replayed.ilt", "recorded.ilt", "--", "./program"]);
            let replayed = self.run(replay)?;
            if replayed.outcome != Outcome::Exit(0) {
                return Err(format!("replay {number} ended with {:?}:\n{}", replayed.outcome, replayed.stderr));
            }
            if replayed.stdout != recorded.stdout {
                return Err(format!("replay {number} printed something else:\n{}", replayed.stdout));
            }
            self.dump("replayed")?;
            let (mut first, mut second) = (self.lines("recorded"), self.lines("replayed"));
            loop {
                match (first.next(), second.next()) {
                    (None, None) => break,
                    (Some(first), Some(second)) if same_event(&first, &second) => {}
                    (first, second) => return Err(format!("replay {number} differs:\n  {first:?}\n  {second:?}")),
                }
            }
        }
        Ok(())
    }

    /// Writes the events of a trace as text.
    fn dump(&self, name: &str) -> Result<(), String> {
        let output = self
            .interloper()
            .args(["dump", &format!("{name}.ilt")])
            .current_dir(self.folder.path("."))
            .stdout(File::create(self.folder.path(name)).unwrap())
            .output()
            .unwrap();
        if !output.status.success() {
            return Err(format!("the trace cannot be read: {}", String::from_utf8_lossy(&output.stderr)));
        }
        Ok(())
    }

    fn lines(&self, name: &str) -> impl Iterator<Item = String> + use<> {
        BufReader::new(File::open(self.folder.path(name)).unwrap()).lines().map(Result::unwrap)
    }

    /// Runs a command with what the program expects, and ends it if it hangs.
    fn run(&self, mut command: Command) -> Result<Run, String> {
        const PATIENCE: Duration = Duration::from_secs(60);
        std::fs::write(self.folder.path("stdin"), self.expect.stdin()).unwrap();
        let output = |name: &str| File::create(self.folder.path(name)).unwrap();
        command
            .args(self.expect.arguments())
            .envs(self.expect.environment())
            .current_dir(self.folder.path("."))
            .stdin(File::open(self.folder.path("stdin")).unwrap())
            .stdout(Stdio::from(output("stdout")))
            .stderr(Stdio::from(output("stderr")));
        let mut child = command.spawn().map_err(|error| format!("it does not start: {error}"))?;
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > PATIENCE {
                child.kill().unwrap();
                child.wait().unwrap();
                return Err(format!("it hangs: {command:?}"));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let text = |name: &str| String::from_utf8_lossy(&std::fs::read(self.folder.path(name)).unwrap()).into_owned();
        Ok(Run { outcome: Outcome::of(status), stdout: text("stdout"), stderr: text("stderr") })
    }

    /// Whether a run was as expected, or failed as the program may.
    fn judge(&self, run: &Run, may_fail: bool) -> Result<(), String> {
        let is_expected = match self.expect.outcome {
            // It hangs natively, and is ended when recorded.
            Outcome::Deadlock => run.outcome == Outcome::Signal(9),
            outcome => run.outcome == outcome,
        } && self.expect.allows(&run.stdout);
        if is_expected || (may_fail && self.expect.is_violated_by(run.outcome)) {
            return Ok(());
        }
        Err(format!("it ended with {:?} and printed:\n{}{}", run.outcome, run.stdout, run.stderr))
    }
}
