//! `interloper check` on every program of the corpus: what is broken is confirmed, with its lines, from one
//! passing run; what is not broken does no harm, whatever is made to happen.
//!
//! `INTERLOPER_CORPUS=NAME,…` checks only programs whose name contains one of these.

#![allow(clippy::unwrap_used)]

mod common;

use common::Folder;
use common::corpus::{self, compile, interloper};
use common::expect::Expect;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn what_is_broken_is_confirmed_and_what_is_not_does_no_harm() {
    let runtime = common::runtime_directory();
    corpus::try_all(&["fail", "pass"], |program| check(program, &runtime));
}

fn check(program: &Path, runtime: &Path) -> Result<(), String> {
    let expect = Expect::read(&program.with_extension("expect"))?;
    let folder = Folder::new();
    compile(program, runtime, &expect, &folder)?;
    let is_broken = program.parent().unwrap().ends_with("fail");
    let explore = expect.get("explore").unwrap_or(if is_broken { "20" } else { "4" });
    let mut command = interloper(runtime);
    command.args(["check", "--format", "json", "--budget", "90s", "--explore", explore, "--", "./program"]);
    let (status, result) = run(command, &expect, &folder)?;
    let findings = result["findings"].as_array().unwrap();
    let confirmed: Vec<&Value> = findings.iter().filter(|finding| finding["verdict"] == "confirmed").collect();
    let harmful = confirmed.iter().filter(|finding| finding["harm"] != "benign").count();
    if status != i32::from(harmful > 0) {
        return Err(format!("exit status {status} with {harmful} confirmed findings that are not benign"));
    }
    if is_broken { find_known(program, &expect, runtime, &folder, &confirmed) } else { find_no_harm(findings, &expect) }
}

/// The known violation is among those confirmed, and can be replayed.
fn find_known(
    program: &Path,
    expect: &Expect,
    runtime: &Path,
    folder: &Folder,
    confirmed: &[&Value],
) -> Result<(), String> {
    let marks = marks(program);
    let patterns = expect.get("finding").and_then(|text| text.split(' ').next()).unwrap_or_default();
    let known = confirmed.iter().find(|finding| {
        let events = finding["events"].as_array().unwrap();
        let is_marked = |event: &Value| {
            let lines = marks.get(event["role"].as_str().unwrap());
            lines.is_some_and(|lines| lines.contains(&event["line"].as_i64().unwrap_or(0)))
        };
        patterns.split('|').any(|pattern| fits(pattern, events)) && events.iter().all(is_marked)
    });
    let is_harmful = confirmed.iter().any(|finding| does_harm(finding, expect));
    match (known, expect.get("gap")) {
        (Some(_), None) if is_harmful == expect.get("harm-gap").is_some() => {
            Err(format!("harm is told: {is_harmful}; {confirmed:#?}"))
        }
        (Some(finding), None) => replay(finding["id"].as_str().unwrap(), runtime, expect, folder),
        (None, Some(_)) => Ok(()),
        (Some(_), Some(gap)) => Err(format!("it is confirmed although: {gap}")),
        (None, None) => Err(format!("not confirmed: {patterns} at {marks:?}; but {confirmed:#?}")),
    }
}

/// Whether a finding is judged to do what is expected of it.
fn does_harm(finding: &Value, expect: &Expect) -> bool {
    let harm = finding["harm"].as_str().unwrap_or_default();
    expect.get("violated").unwrap_or_default().split(" or ").any(|violated| match violated.split(' ').next() {
        Some("exit") => harm == "exit",
        Some("signal") => harm == "crash" || harm == "assert",
        Some("deadlock") => harm == "hang",
        _ => false,
    })
}

/// Whether accesses make a pattern; a read-modify-write counts as either.
fn fits(pattern: &str, events: &[Value]) -> bool {
    let is_it = |(letter, event): (char, &Value)| {
        let op = event["op"].as_str().unwrap();
        op == "rw" || op == letter.to_ascii_lowercase().to_string()
    };
    pattern.len() == events.len() && pattern.chars().zip(events).all(is_it)
}

/// Replaying makes it happen again.
fn replay(id: &str, runtime: &Path, expect: &Expect, folder: &Folder) -> Result<(), String> {
    let mut command = interloper(runtime);
    command.args(["replay", &id[..8]]);
    let output = prepared(command, expect, folder).output().unwrap();
    match output.status.code() {
        Some(1) => Ok(()),
        code => Err(format!("replayed, exit {code:?}:\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// What is called feasible was executed, and is judged to do no harm, unless the program is known to do some although
/// no region is at fault.
fn find_no_harm(findings: &[Value], expect: &Expect) -> Result<(), String> {
    for finding in findings {
        // What is lost by design is lost all the same.
        let is_meant = finding["harm"] == "state" && expect.get("benign").is_some();
        let is_benign = finding["harm"] == "benign" || is_meant || does_harm(finding, expect);
        if finding["verdict"] != "confirmed" || !is_benign {
            return Err(format!("{finding:#}"));
        }
    }
    Ok(())
}

fn run(command: Command, expect: &Expect, folder: &Folder) -> Result<(i32, Value), String> {
    let mut command = prepared(command, expect, folder);
    command.args(expect.arguments());
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let result = serde_json::from_slice(&output.stdout).map_err(|error| format!("no result: {error}\n{stderr}"))?;
    common::schema::assert_documented(&result);
    Ok((output.status.code().unwrap_or(-1), result))
}

/// With the input that is expected, which is a file: the command may read it more than once.
fn prepared(mut command: Command, expect: &Expect, folder: &Folder) -> Command {
    folder.write("stdin", expect.stdin());
    let stdin = std::fs::File::open(folder.path("stdin")).unwrap();
    command.current_dir(folder.path(".")).envs(expect.environment()).stdin(Stdio::from(stdin));
    command
}

/// The lines marked `//~ first`, `remote` and `second`.
fn marks(program: &Path) -> BTreeMap<String, Vec<i64>> {
    let mut marks: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (number, line) in std::fs::read_to_string(program).unwrap().lines().enumerate() {
        let roles = line.split_once("//~").map_or("", |(_, roles)| roles);
        for role in roles.split_whitespace() {
            marks.entry(role.to_owned()).or_default().push(number as i64 + 1);
        }
    }
    marks
}
