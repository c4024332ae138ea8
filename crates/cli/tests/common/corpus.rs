//! The programs of the corpus: which there are, how they are compiled, and each of them tried.

use super::Folder;
use super::expect::Expect;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Tries the programs of these parts of the corpus, two at a time, and fails with all that is wrong with any.
/// `INTERLOPER_CORPUS=NAME,…` tries only those whose name contains one of these.
pub(crate) fn try_all(parts: &[&str], check: impl Fn(&Path) -> Result<(), String> + Sync) {
    let chosen = std::env::var("INTERLOPER_CORPUS").unwrap_or_default();
    let mut programs = programs(parts);
    programs.retain(|program| chosen.split(',').any(|part| program.to_string_lossy().contains(part)));
    assert!(!programs.is_empty(), "no program of the corpus matches {chosen:?}");
    programs.reverse();
    let queue = Mutex::new(programs);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(program) = queue.lock().unwrap().pop() else { return };
                    if let Err(what) = check(&program) {
                        let name = program.strip_prefix(corpus()).unwrap().display();
                        eprintln!("{name}: {what}\n");
                        failures.lock().unwrap().push(format!("{name}: {what}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} programs failed\n\n{}", failures.len(), failures.join("\n\n"));
}

/// Where the corpus is.
pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

fn programs(parts: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for part in parts {
        for entry in std::fs::read_dir(corpus().join(part)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "c" || extension == "cpp") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The command with our runtime, and no other compiler than the usual one.
pub(crate) fn interloper(runtime: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interloper"));
    for name in ["CC", "CXX", "INTERLOPER_COMPILER", "INTERLOPER_BRANCHES"] {
        command.env_remove(name);
    }
    command
        .env("INTERLOPER_RUNTIME", runtime)
        .env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"));
    command
}

/// Compiles a program, as `program` in a folder.
pub(crate) fn compile(program: &Path, runtime: &Path, expect: &Expect, folder: &Folder) -> Result<(), String> {
    let is_c = program.extension().is_some_and(|extension| extension == "c");
    let mut command = interloper(runtime);
    command.arg(if is_c { "cc" } else { "c++" }).args(["-g", "-O1", "-pthread", "-Wall", "-Wextra", "-Werror"]);
    if let Some(standard) = expect.get("std") {
        command.arg(format!("-std={standard}"));
    }
    command.arg(program).arg("-o").arg("program");
    command.args(expect.get("libs").unwrap_or_default().split_whitespace());
    let output = command.current_dir(folder.path(".")).output().unwrap();
    if !output.status.success() {
        return Err(format!("it does not compile:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(())
}

/// Compiles a program that is written out in a test, as `program` in a folder. Without optimisations: lines are what they
/// seem to be.
#[track_caller]
pub(crate) fn compile_text(text: &str, is_c: bool, folder: &Folder) {
    let (compiler, name) = if is_c { ("cc", "program.c") } else { ("c++", "program.cpp") };
    folder.write(name, text);
    let mut command = interloper(&super::runtime_directory());
    command.args([compiler, "-g", "-O0", "-pthread", name, "-o", "program"]).current_dir(folder.path("."));
    let output = command.output().unwrap();
    assert!(output.status.success(), "it does not compile:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs the command in a folder with arguments written as on a command line, with our runtime.
pub(crate) fn run(line: &str, folder: &Folder) -> super::Run {
    let mut command = interloper(&super::runtime_directory());
    super::Run::of(command.args(line.split_whitespace()).current_dir(folder.path(".")).output().unwrap())
}
