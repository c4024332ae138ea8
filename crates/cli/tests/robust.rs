//! Closed pipes, full disks, missing folders, impatient users: a message, an exit code, and nothing
//! left behind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, Run, numbered};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const NO_SPACE: &str = "No space left on device (os error 28)";

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

fn small() -> Folder {
    let folder = Folder::new();
    folder.write("t.std", numbered("A|begin A|r(x) B|w(x) A|r(x) A|end"));
    folder
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let folder = Folder::new();
    assert_eq!(folder.cli("generate bank --events 100000 -o big.std").code, 0);
    for args in ["dump big.std", "generate bank --events 1000000"] {
        let mut command = folder.command(args.split(' '));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_ne!(line, "");
        let run = Run::of(child.wait_with_output().unwrap());
        let expected = "error: cannot write to standard output: Broken pipe (os error 32)\n";
        assert_eq!((run.code, run.stderr.as_str()), (2, expected), "{args}");
    }
}

#[test]
fn full_disks() {
    let folder = small();
    for args in
        ["analyze t.std", "analyze t.std --format json", "stats t.std", "dump t.std", "generate bank --events 100000"]
    {
        let run = Run::of(folder.command(args.split(' ')).stdout(full()).stderr(Stdio::piped()).output().unwrap());
        let expected = format!("error: cannot write to standard output: {NO_SPACE}\n");
        assert_eq!((run.code, run.stderr), (2, expected), "{args}");
    }
    for args in ["analyze t.std -o /dev/full", "stats t.std -o /dev/full"] {
        assert_eq!(folder.cli(args).refused(), format!("error: /dev/full: cannot write: {NO_SPACE}"), "{args}");
    }
    std::os::unix::fs::symlink("/dev/full", folder.path("full.ilt")).unwrap();
    for args in ["convert t.std full.ilt", "generate bank --events 100000 -o full.ilt"] {
        assert_eq!(folder.cli(args).refused(), format!("error: full.ilt: cannot write: {NO_SPACE}"), "{args}");
    }
    assert_eq!(folder.names(), ["full.ilt", "t.std"]);
}

/// With nobody to tell, the exit code still says what happened.
#[test]
fn standard_error_may_be_full_or_closed() {
    let folder = small();
    let code = |args: &str| folder.command(args.split(' ')).stderr(full()).output().unwrap().status.code();
    assert_eq!(code("analyze missing.std"), Some(2));
    assert_eq!(code("analyze t.std --no-such-option"), Some(2));
    assert_eq!(code("analyze t.std --stats"), Some(1));
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" analyze missing.std 2>&-", env!("CARGO_BIN_EXE_interloper")]);
    assert_eq!(shell.output().unwrap().status.code(), Some(2));
}

#[test]
fn folders_that_do_not_exist_or_cannot_be_written() {
    let folder = small();
    for args in ["analyze t.std -o no/result", "stats t.std -o no/result", "generate bank -o no/t.ilt"] {
        let target = args.rsplit(' ').next().unwrap();
        let expected = format!("error: {target}: cannot write: No such file or directory (os error 2)");
        assert_eq!(folder.cli(args).refused(), expected);
    }
    fs::create_dir(folder.path("dir")).unwrap();
    assert_eq!(folder.cli("analyze t.std -o dir").refused(), "error: dir: cannot write: is a directory");
    assert_eq!(folder.names(), ["dir", "t.std"]);
    assert_eq!(fs::read_dir(folder.path("dir")).unwrap().count(), 0);
}

#[test]
fn devices_and_pipes_are_written_to_directly() {
    let folder = small();
    assert_eq!(folder.cli("analyze t.std -o /dev/null").code, 1);
    let printed = folder.cli("analyze t.std").stdout;
    assert_eq!(folder.cli("analyze t.std -o /dev/stdout").stdout, printed);
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits for something that a running child brings about; false if the child ended before.
fn wait_until(child: &mut Child, mut done: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !done() {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing happened for a minute");
        std::thread::sleep(Duration::from_micros(200));
    }
    true
}

fn start(folder: &Folder, args: &str) -> Child {
    folder.command(args.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A pipe that stays open gives the command no end to wait for: however slow the machine, the
/// signal comes before. And a command that has opened the pipe listens for signals.
fn interrupt_while_reading_a_pipe(args: &str, content: &str) -> (Folder, Run) {
    let folder = Folder::new();
    let pipe = folder.path("pipe.std");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let child = start(&folder, args);
    let mut writer = File::options().write(true).open(&pipe).unwrap();
    writer.write_all(content.as_bytes()).unwrap();
    signal(&child, "-INT");
    let run = Run::of(child.wait_with_output().unwrap());
    drop(writer);
    (folder, run)
}

#[test]
fn an_interrupt_while_waiting_for_a_pipe() {
    // Half a line at the end is not held against the trace.
    let content = "A|begin|1\nA|r(x)|2\nA|r(";
    for property in ["triple", "serial"] {
        let args = format!("analyze pipe.std --format json --property {property}");
        let (folder, run) = interrupt_while_reading_a_pipe(&args, content);
        assert_eq!((run.code, run.stderr.as_str()), (130, ""));
        let result = run.json();
        let notes = result["notes"].as_array().unwrap();
        assert!(notes.iter().any(|note| note.as_str().unwrap().starts_with("interrupted")), "{notes:?}");
        if property == "serial" {
            assert_eq!(result["serial"]["serializable"], serde_json::Value::Null);
        }
        assert_eq!(folder.names(), ["pipe.std"]);
    }
    let (_, run) = interrupt_while_reading_a_pipe("dump pipe.std", content);
    assert_eq!((run.code, run.stderr.as_str()), (130, ""));
    let (_, run) = interrupt_while_reading_a_pipe("stats pipe.std --format json", "");
    assert_eq!(run.code, 130);
    assert!(run.json()["notes"][0].as_str().unwrap().starts_with("interrupted"));
    let (folder, run) = interrupt_while_reading_a_pipe("convert pipe.std out.ilt", content);
    assert_eq!((run.code, run.stderr.as_str()), (130, "interrupted: nothing was written\n"));
    assert_eq!(folder.names(), ["pipe.std"]);
    let (_, run) = interrupt_while_reading_a_pipe("analyze pipe.std --input-format ilt", content);
    assert_eq!((run.code, run.stderr.as_str()), (130, "interrupted: there was nothing to read yet\n"));
}

/// Whether a process has a file open.
fn has_open(process: u32, name: &str) -> bool {
    let Ok(entries) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    entries.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target.ends_with(name)))
}

#[test]
fn an_interrupted_analysis_prints_what_it_found() {
    let folder = Folder::new();
    assert_eq!(folder.cli("generate bank --events 2000000 --widen 2 -o long.std").code, 0);
    for (args, name) in [
        ("analyze long.std --format json", "-INT"),
        ("analyze long.std --format json --property serial", "-INT"),
        ("analyze long.std --format json", "-TERM"),
        ("stats long.std --format json", "-INT"),
    ] {
        // The signal is sent as soon as the trace is open. Should the machine stop us for so long
        // that the command has finished by then, that was no interrupt: try again.
        let run = (0..20).find_map(|_| {
            let mut child = start(&folder, args);
            let process = child.id();
            if !wait_until(&mut child, || has_open(process, "long.std")) {
                return None;
            }
            signal(&child, name);
            Some(Run::of(child.wait_with_output().unwrap())).filter(|run| run.code == 130)
        });
        let run = run.unwrap_or_else(|| panic!("{args}: never interrupted"));
        assert_eq!(run.stderr, "", "{args}");
        let result = run.json();
        let notes = result["notes"].as_array().unwrap();
        assert!(notes.iter().any(|note| note.as_str().unwrap().starts_with("interrupted after ")), "{notes:?}");
    }
}

/// What the filter was not asked about is not said to have passed it, whether the trace is read anew or remembered.
#[test]
fn an_interrupted_filter_claims_nothing() {
    for events in [900_000, 1_200_000] {
        let folder = Folder::new();
        let generate = format!("generate needles --events {events} --variables 60000 -o t.ilt --no-progress");
        assert_eq!(folder.cli(&generate).code, 0);
        let mut child = start(&folder, "analyze t.ilt --model filtered --all --limit 1 --format json --stats");
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut told = String::new();
        // The filter comes next, and takes seconds.
        while !told.contains("enumerate:") {
            assert_ne!(stderr.read_line(&mut told).unwrap(), 0, "{told}");
        }
        signal(&child, "-INT");
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, 130, "{told}");
        let result = run.json();
        let counts = &result["counts"];
        assert_eq!(counts["plausible"], 0, "{counts}");
        assert!(counts["unknown"].as_u64().unwrap() > 0, "{counts}");
        assert_eq!(result["findings"][0]["reason"], "interrupted before it was looked at");
    }
}

#[test]
fn interrupted_writers_leave_nothing_behind() {
    let folder = Folder::new();
    assert_eq!(folder.cli("generate bank --events 500000 -o long.ilt").code, 0);
    folder.write("old.jsonl", "old");
    // A generator told to go on for ever, and conversions that take a while.
    for (args, name) in [
        ("generate bank --events 1000000000000 -o new.ilt", "-INT"),
        ("generate bank --events 1000000000000 -o old.jsonl", "-TERM"),
        ("convert long.ilt new.jsonl", "-INT"),
        ("convert long.ilt old.jsonl", "-INT"),
    ] {
        let run = (0..20).find_map(|_| {
            let mut child = start(&folder, args);
            let beside = || folder.names().iter().any(|name| name.starts_with(".interloper-"));
            if !wait_until(&mut child, beside) {
                return None;
            }
            signal(&child, name);
            Some(Run::of(child.wait_with_output().unwrap())).filter(|run| run.code == 130)
        });
        let run = run.unwrap_or_else(|| panic!("{args}: never interrupted"));
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", "interrupted: nothing was written\n"), "{args}");
        let leftovers: Vec<String> = folder.names().into_iter().filter(|name| name.starts_with('.')).collect();
        assert_eq!(leftovers, Vec::<String>::new(), "{args}");
        if args.starts_with("generate") {
            assert_eq!((folder.names().len(), folder.text("old.jsonl").as_str()), (2, "old"), "{args}");
        }
    }
}
