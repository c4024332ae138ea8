//! The sessions shown in the README and in the tutorial are what really happens.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Command;

#[test]
fn sessions_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("examples").canonicalize().unwrap(), folder.path().join("examples")).unwrap();
    // Traces name places in the source by whole paths: here, by what they are in the folder.
    let compiler = format!("gcc -ffile-prefix-map={}=.", folder.path().canonicalize().unwrap().display());
    let sessions = follow(&root.join("README.md"), folder.path(), &compiler);
    assert!(sessions >= 9, "only {sessions} sessions found");
}

#[test]
fn the_tutorial_is_true() {
    if !Command::new("cmake").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("the tutorial is not followed: there is no cmake");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(root.join("examples/pool")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let sessions = follow(&root.join("docs/tutorial.md"), folder.path(), "gcc");
    assert!(sessions >= 7, "only {sessions} sessions found");
}

/// Runs every `$ …` line of a document's text blocks, in order, and compares what it prints. A line
/// with an ellipsis alone stands for anything up to the end of the block.
fn follow(document: &Path, folder: &Path, compiler: &str) -> usize {
    let text = std::fs::read_to_string(document).unwrap();
    let mut sessions = 0;
    for block in text.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("text\n")) {
        for session in block.split("$ ").skip(1) {
            let (command, shown) = session.split_once('\n').unwrap();
            sessions += 1;
            if let Some(file) = command.strip_prefix("cat ") {
                std::fs::write(folder.join(file), format!("{}\n", shown.trim_end())).unwrap();
                continue;
            }
            let printed = run(command, folder, compiler);
            match shown.split_once("…\n") {
                Some((beginning, _)) => assert!(printed.starts_with(beginning), "$ {command}\n{printed}"),
                None => assert_eq!(printed.trim_end(), shown.trim_end(), "$ {command}"),
            }
        }
    }
    sessions
}

/// What a shell prints for a command line, standard error included.
fn run(command: &str, folder: &Path, compiler: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_interloper"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let folder = folder.canonicalize().unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}; }} 2>&1")])
        .current_dir(&folder)
        .env("PATH", path)
        .env("INTERLOPER_RUNTIME", common::runtime_directory())
        .env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"))
        .env("INTERLOPER_COMPILER", compiler)
        .env_remove("INTERLOPER_BRANCHES")
        .env_remove("COLUMNS")
        .output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}
