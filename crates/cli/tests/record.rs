//! `record` and `replay` where there is nothing to record: messages and exit codes.
//!
//! What they do with programs is for the corpus to show.

#![allow(clippy::unwrap_used)]

mod common;

use common::Folder;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn a_program_that_cannot_be_started() {
    let folder = Folder::new();
    folder.write("data", "no program");
    let run = folder.cli("record -o t.ilt -- ./nothing");
    assert_eq!((run.code, run.stdout.as_str()), (127, ""));
    assert!(run.stderr.starts_with("error: ./nothing: cannot start: "), "{}", run.stderr);
    let run = folder.cli("replay il1:s:0x1f -- ./nothing");
    assert_eq!(run.code, 127);
    assert_eq!(folder.names(), ["data"], "nothing is left behind");
    let run = folder.cli("record -- nothing-of-this-name-is-anywhere");
    assert_eq!(run.code, 127);
}

#[test]
fn a_program_that_cannot_be_recorded() {
    let folder = Folder::new();
    folder.write("script", "#!/bin/sh\n");
    std::fs::set_permissions(folder.path("script"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for line in ["record -- ./script", "record -o t.ilt -- /bin/true", "replay il1:s:0x1f -- /bin/true"] {
        let run = folder.cli(line);
        assert_eq!((run.code, run.stdout.as_str()), (4, ""), "{line}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(" is "), "{}", run.stderr);
    }
    assert_eq!(folder.names(), ["script"]);
}

#[test]
fn wrong_usage() {
    let folder = Folder::new();
    folder.write("empty.jsonl", "");
    folder.write("functions", "f\n");
    for (line, expected) in [
        ("record -o t.std -- ./p", "t.std: cannot record to this: expected a name that ends in .ilt"),
        ("record --schedule il1:s:0x3 -- ./p", "schedule, character 9: found the end, expected how the turn ends"),
        (
            "record --schedule nothing -- ./p",
            "nothing: found neither a schedule, which begins with \"il1:s:\", nor a trace",
        ),
        ("record --schedule empty.jsonl -- ./p", "empty.jsonl: the trace has no schedule"),
        ("record --atomic-functions nothing -- ./p", "nothing: cannot read"),
        ("record --quantum 0 -- ./p", "0 is not in 1.."),
        ("record --schedule il1:s: --policy pct -- ./p", "cannot be used with"),
        ("record", "required"),
        ("replay il1:s:0x1f", "a schedule does not say which program it is of; give that after --"),
        ("replay il2:s:0x1f -- ./p", "schedule, character 2: found \"2:s:0x1f\", expected a schedule"),
    ] {
        let run = folder.cli(line);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{line}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{line}: {}", run.stderr);
    }
    assert_eq!(folder.names(), ["empty.jsonl", "functions"]);
}
