//! The sessions shown in the README are what really happens.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Command;

/// Runs every `$ …` line of the README's text blocks, in order, and compares what it prints. A line
/// with an ellipsis alone stands for anything up to the end of the block.
#[test]
fn sessions_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("examples").canonicalize().unwrap(), folder.path().join("examples")).unwrap();
    let mut sessions = 0;
    for block in readme.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("text\n")) {
        for session in block.split("$ ").skip(1) {
            let (command, shown) = session.split_once('\n').unwrap();
            sessions += 1;
            if let Some(file) = command.strip_prefix("cat ") {
                std::fs::write(folder.path().join(file), format!("{}\n", shown.trim_end())).unwrap();
                continue;
            }
            let printed = run(command, folder.path());
            match shown.split_once("…\n") {
                Some((beginning, _)) => assert!(printed.starts_with(beginning), "$ {command}\n{printed}"),
                None => assert_eq!(printed.trim_end(), shown.trim_end(), "$ {command}"),
            }
        }
    }
    assert!(sessions >= 9, "only {sessions} sessions found");
}

/// Where the README's programs are said to have been compiled, whatever the folder is: where they are run.
const SHOWN_FOLDER: &str = ".";

/// What a shell prints for a command line, standard error included.
fn run(command: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_interloper"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let folder = folder.canonicalize().unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}; }} 2>&1")])
        .current_dir(&folder)
        .env("PATH", path)
        .env("INTERLOPER_RUNTIME", common::runtime_directory())
        .env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"))
        .env("INTERLOPER_COMPILER", format!("gcc -ffile-prefix-map={}={SHOWN_FOLDER}", folder.display()))
        .env_remove("INTERLOPER_BRANCHES")
        .env_remove("COLUMNS")
        .output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}
