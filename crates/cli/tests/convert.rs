//! From format to format.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, every_operation, numbered, rapid_bin};

fn converted(folder: &Folder, from: &str, to: &str) {
    let run = folder.cli(&format!("convert {from} {to}"));
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "{from} to {to}");
}

#[test]
fn std_survives_all_formats() {
    let folder = Folder::new();
    for shape in ["bank --events 3000", "raytracer", "elevator --events 3000", "random --seed 5", "random --non-nested"]
    {
        assert_eq!(folder.cli(&format!("generate {shape} -o a.std")).code, 0, "{shape}");
        converted(&folder, "a.std", "b.ilt");
        converted(&folder, "b.ilt", "c.jsonl");
        converted(&folder, "c.jsonl", "d.ilt");
        converted(&folder, "d.ilt", "e.std");
        assert_eq!(folder.read("a.std"), folder.read("e.std"), "{shape}");
        converted(&folder, "a.std", "c2.jsonl");
        assert_eq!(folder.read("c.jsonl"), folder.read("c2.jsonl"), "{shape}");
        // The same trace, generated directly.
        assert_eq!(folder.cli(&format!("generate {shape} -o f.ilt")).code, 0);
        assert_eq!(folder.cli("dump f.ilt").stdout, folder.cli("dump a.std").stdout, "{shape}");
    }
}

#[test]
fn odd_std_survives() {
    let folder = Folder::new();
    let text = "a b|r((x))|-5\na b|begin|0\nß|w(变量)|9223372036854775807\n\u{1b}[1m|fork(\u{202e})|1\n";
    folder.write("a.std", text);
    converted(&folder, "a.std", "b.jsonl");
    converted(&folder, "b.jsonl", "c.ilt");
    converted(&folder, "c.ilt", "d.std");
    assert_eq!(folder.text("d.std"), text);
    folder.write("empty.std", "");
    converted(&folder, "empty.std", "empty.ilt");
    converted(&folder, "empty.ilt", "empty.jsonl");
    converted(&folder, "empty.jsonl", "again.std");
    assert_eq!(folder.text("again.std"), "");
}

#[test]
fn everything_survives_ilt() {
    let folder = Folder::new();
    folder.write("a.jsonl", every_operation());
    converted(&folder, "a.jsonl", "b.ilt");
    converted(&folder, "b.ilt", "c.jsonl");
    converted(&folder, "c.jsonl", "d.ilt");
    assert_eq!(folder.read("b.ilt"), folder.read("d.ilt"));
    assert_eq!(folder.cli("dump a.jsonl").stdout, folder.cli("dump b.ilt").stdout);
}

#[test]
fn a_file_may_be_converted_in_place() {
    let folder = Folder::new();
    let text = numbered("A|begin A|r(x) A|end");
    folder.write("a.std", &text);
    converted(&folder, "a.std", "a.std");
    assert_eq!(folder.text("a.std"), text);
    assert_eq!(folder.names(), ["a.std"]);
}

#[test]
fn rapid_bin_becomes_anything() {
    let folder = Folder::new();
    let events = [
        (0, 6, 0, 1),
        (0, 0, 0, 2),
        (0, 2, 3, 3),
        (0, 1, 0, 4),
        (0, 4, 1, 5),
        (1, 3, 3, 6),
        (0, 5, 1, 7),
        (0, 3, 3, 8),
        (0, 7, 0, 9),
    ];
    folder.write("a.data", rapid_bin((2, 1, 4), &events));
    let expected = "T0|begin|1\nT0|acq(L0)|2\nT0|r(V3)|3\nT0|rel(L0)|4\nT0|fork(T1)|5\nT1|w(V3)|6\nT0|join(T1)|7\n\
                    T0|w(V3)|8\nT0|end|9\n";
    converted(&folder, "a.data", "a.std");
    assert_eq!(folder.text("a.std"), expected);
    converted(&folder, "a.data", "a.ilt");
    converted(&folder, "a.data", "a.jsonl");
    let findings = folder.analyze("a.data", "")["findings"].clone();
    assert_eq!(findings.as_array().unwrap().len(), 1);
    for file in ["a.std", "a.ilt", "a.jsonl"] {
        assert_eq!(folder.analyze(file, "")["findings"], findings, "{file}");
    }
}

#[test]
fn unbalanced_rapid_bin_is_noted() {
    let folder = Folder::new();
    // The second end has no begin: from there on begin and end say nothing.
    let events = [(0, 6, 0, 1), (0, 7, 0, 2), (0, 7, 0, 3), (0, 6, 0, 4), (0, 2, 0, 5)];
    folder.write("a.data", rapid_bin((1, 1, 1), &events));
    let result = folder.analyze("a.data", "");
    assert_eq!((&result["trace"]["events"], &result["trace"]["regions"]), (&5.into(), &1.into()));
    let note = result["notes"][0].as_str().unwrap().to_owned();
    assert!(note.starts_with("event 2: thread T0 ends a region"), "{note}");
    let run = folder.cli("convert a.data a.jsonl");
    assert_eq!((run.code, run.stderr), (0, format!("note: {note}\n")));
    let run = folder.cli("convert a.data a.std");
    assert_eq!(run.refused(), "error: a.data: event 2: STD cannot hold a foreign event (--lossy drops it)");
    assert_eq!(folder.cli("convert a.data a.std --lossy").code, 0);
    assert_eq!(folder.text("a.std"), "T0|begin|1\nT0|end|2\nT0|r(V0)|5\n");
}

#[test]
fn what_std_cannot_hold_is_refused_by_name() {
    let cases = [
        (r#""op":"read","target":"x","value":1"#, "the size, value or memory order of an access"),
        (r#""op":"read","target":"x","file":"a.c""#, "a file or function name"),
        (r#""op":"rmw","target":"x""#, "a read-modify-write"),
        (r#""op":"acquire_shared","target":"l""#, "a shared lock"),
        (r#""op":"try_acquire","target":"l""#, "a try-lock"),
        (r#""op":"try_acquire","target":"l","success":false"#, "a failed try-lock"),
        (r#""op":"begin","target":"name""#, "the name or source of a region"),
        (r#""op":"begin","source":"locks""#, "the name or source of a region"),
        (r#""op":"sem_post","target":"s""#, "a semaphore"),
        (r#""op":"finish""#, "the start or end of a thread"),
        (r#""op":"branch","count":3"#, "branches"),
    ];
    for (fields, what) in cases {
        let folder = Folder::new();
        let first = r#"{"thread":"A","op":"write","target":"y"}"#;
        folder.write("a.jsonl", format!("{first}\n{{\"thread\":\"A\",{fields}}}\n"));
        let run = folder.cli("convert a.jsonl a.std");
        assert_eq!(run.refused(), format!("error: a.jsonl: event 1: STD cannot hold {what} (--lossy drops it)"));
        assert_eq!(folder.names(), ["a.jsonl"], "nothing is left behind");
    }
}

/// A name cannot be dropped, so being lossy does not help.
#[test]
fn names_that_std_cannot_hold() {
    let folder = Folder::new();
    folder.write("a.jsonl", r#"{"thread":"A","op":"read","target":"a b"}"#);
    for lossy in ["", "--lossy"] {
        let run = folder.cli(&format!("convert a.jsonl a.std {lossy}"));
        assert_eq!(run.refused(), r#"error: a.jsonl: event 0: STD cannot hold the name "a b""#);
    }
}

#[test]
fn lossy_std_keeps_what_it_can() {
    let folder = Folder::new();
    folder.write("a.jsonl", every_operation().replace("worker \\\"1\\\"", "worker"));
    assert_eq!(folder.cli("convert a.jsonl a.std").code, 2);
    let run = folder.cli("convert --lossy a.jsonl a.std");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(folder.text("a.std"));
    assert_eq!(folder.cli("stats a.std").code, 0, "what it writes, it reads");
}

#[test]
fn targets_that_cannot_be_written() {
    let folder = Folder::new();
    folder.write("a.std", numbered("A|r(x)"));
    std::fs::create_dir(folder.path("folder.std")).unwrap();
    for (line, message) in [
        (
            "convert a.std b.data",
            "b.data: RapidBin can be read but not written; expected a name that ends in .ilt, .std or .jsonl",
        ),
        ("convert a.std b.txt", "b.txt: cannot tell the format: expected a name that ends in .ilt, .std or .jsonl"),
        ("convert a.std b", "b: cannot tell the format: expected a name that ends in .ilt, .std or .jsonl"),
        ("convert a.std no/b.ilt", "no/b.ilt: cannot write: No such file or directory (os error 2)"),
        ("convert a.std folder.std", "folder.std: cannot write: is a directory"),
        (
            "generate bank -o b.data",
            "b.data: RapidBin can be read but not written; expected a name that ends in .std, .ilt or .jsonl",
        ),
        ("generate bank -o b.txt", "b.txt: cannot tell the format: expected a name that ends in .std, .ilt or .jsonl"),
        ("generate bank --threads 0", "0 threads for the shape bank; it takes 1 to 16777216"),
    ] {
        assert_eq!(folder.cli(line).refused(), format!("error: {message}"), "{line}");
    }
    assert_eq!(folder.names(), ["a.std", "folder.std"]);
}

#[test]
fn links_stay_links_and_modes_are_ordinary() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = Folder::new();
    folder.write("a.std", numbered("A|r(x)"));
    folder.write("real.ilt", "old");
    symlink("real.ilt", folder.path("link.ilt")).unwrap();
    converted(&folder, "a.std", "link.ilt");
    assert!(folder.path("link.ilt").symlink_metadata().unwrap().is_symlink());
    assert_eq!(folder.analyze("real.ilt", "")["trace"]["events"], 1);
    // As the umask has it, like any other new file.
    converted(&folder, "a.std", "new.ilt");
    let mode = |name: &str| folder.path(name).metadata().unwrap().permissions().mode();
    assert_eq!(mode("new.ilt"), mode("a.std"));
}
