//! `interloper doctor`, on what can be had on any machine that runs tests.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, Run, runtime_directory};

const PROGRAM: &str = "int main(void) { return 0; }\n";

fn doctor(folder: &Folder, program: &str) -> Run {
    let mut command = folder.command(["doctor", program]);
    command.env("INTERLOPER_RUNTIME", runtime_directory());
    command.env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"));
    Run::of(command.output().unwrap())
}

/// What is said of the program alone; the rest depends on the machine.
fn of_program(run: &Run, program: &str) -> String {
    let (_, about) = run.stdout.split_once(&format!("\n{program}\n")).unwrap_or_else(|| panic!("{run:?}"));
    about.to_owned()
}

#[test]
fn programs_are_looked_at() {
    let folder = Folder::new();
    folder.write("main.c", PROGRAM);
    folder.write("script", "#!/bin/sh\n");
    let compiled = |arguments: &str| {
        let mut command = std::process::Command::new("gcc");
        command.args(arguments.split(' ')).current_dir(folder.path("."));
        assert!(command.status().unwrap().success());
    };
    compiled("-g main.c -o plain");
    compiled("main.c -o bare");
    let mut command = folder.command(["cc", "-g", "main.c", "-o", "good"]);
    command.env("INTERLOPER_RUNTIME", runtime_directory()).env_remove("CC").env_remove("INTERLOPER_COMPILER");
    command.env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"));
    assert!(command.status().unwrap().success());
    let texts = ["good", "plain", "bare", "script", "missing"].map(|program| {
        let run = doctor(&folder, program);
        assert_eq!(run.code, if program == "good" { 0 } else { 4 }, "{run:?}");
        format!("{program}\n{}", of_program(&run, program))
    });
    insta::assert_snapshot!(texts.join("\n"));
    let run = doctor(&folder, "good");
    for line in ["instruments for recording", "a program was recorded"] {
        assert!(run.stdout.contains(line), "{run:?}");
    }
}
