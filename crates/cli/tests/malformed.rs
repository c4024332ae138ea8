//! What is no trace: exit code 2, a message that says where and why, and nothing else; and what
//! looks odd but is one.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, data, numbered, rapid_bin};
use std::fmt::Write as _;

/// The message for each of these files, all of which must be refused by every command that reads.
fn messages<'n>(cases: impl IntoIterator<Item = (&'n str, Vec<u8>)>, extension: &str) -> String {
    let mut messages = String::new();
    for (name, content) in cases {
        let folder = Folder::new();
        let file = format!("t.{extension}");
        folder.write(&file, content);
        let analyze = folder.cli(&format!("analyze {file} --format json"));
        assert_eq!(analyze.code, 2, "{name}");
        let message = analyze.refused();
        assert!(message.starts_with(&format!("error: {file}: ")), "{name}: {message}");
        for line in [
            format!("analyze {file} --property serial -o out"),
            format!("analyze {file} --all"),
            format!("stats {file}"),
        ] {
            assert_eq!(folder.cli(&line).refused(), message, "{name}: {line}");
        }
        let dump = folder.cli(&format!("dump {file}"));
        assert_eq!((dump.code, dump.stderr.trim_end()), (2, message), "{name}");
        let convert = folder.cli(&format!("convert {file} out.jsonl"));
        let hint = "`interloper convert --salvage`";
        assert_eq!(convert.refused().replace("--salvage", hint), message, "{name}");
        assert_eq!(folder.names(), [file], "{name}: nothing is left behind");
        let _ = writeln!(messages, "{name}\n  {message}");
    }
    messages
}

fn text<'n>(cases: &[(&'n str, &str)]) -> Vec<(&'n str, Vec<u8>)> {
    cases.iter().map(|&(name, content)| (name, content.as_bytes().to_vec())).collect()
}

#[test]
fn std_lines() {
    let mut cases = text(&[
        ("a blank line", "T0|r(x)|1\n\nT0|r(x)|2\n"),
        ("a blank line at the end", "T0|r(x)|1\n\n"),
        ("a blank line alone", "\n"),
        ("white space alone", "  \n"),
        ("a comment", "# comment\nT0|r(x)|1\n"),
        ("CRLF", "T0|r(x)|1\r\nT0|r(x)|2\r\n"),
        ("CRLF at the last line only", "T0|r(x)|1\nT0|r(x)|2\r\n"),
        ("a carriage return at the end of the file", "T0|r(x)|1\r"),
        ("one field", "T0\n"),
        ("two fields", "T0|r(x)\n"),
        ("four fields", "T0|r(x)|1|2\n"),
        ("a bar at the end", "T0|r(x)|1|\n"),
        ("bars alone", "||\n"),
        ("no thread", "|r(x)|1\n"),
        ("no operation", "T0||1\n"),
        ("no location", "T0|r(x)|\n"),
        ("an unknown operation", "T0|read(x)|1\n"),
        ("an operation in capitals", "T0|R(x)|1\n"),
        ("rd, of another dialect", "T0|rd(x)|1\n"),
        ("wr, of another dialect", "T0|wr(x)|1\n"),
        ("req, of another dialect", "T0|req(l)|1\n"),
        ("no parentheses", "T0|r|1\n"),
        ("no opening parenthesis", "T0|rx)|1\n"),
        ("no closing parenthesis", "T0|r(x|1\n"),
        ("text after the parenthesis", "T0|r(x)y|1\n"),
        ("white space before the parenthesis", "T0|r (x)|1\n"),
        ("white space before the operation", "T0| r(x)|1\n"),
        ("white space before begin", "T0| begin|1\n"),
        ("an empty operand of r", "T0|r()|1\n"),
        ("an empty operand of acq", "T0|acq()|1\n"),
        ("an empty operand of fork", "T0|fork()|1\n"),
        ("a space in the operand", "T0|r(a b)|1\n"),
        ("a tab in the operand", "T0|r(a\tb)|1\n"),
        ("a no-break space in the operand", "T0|r(a\u{a0}b)|1\n"),
        ("a space as operand", "T0|w( )|1\n"),
        ("a location in words", "T0|r(x)|one\n"),
        ("a hexadecimal location", "T0|r(x)|0x1f\n"),
        ("a location with a sign", "T0|r(x)|+1\n"),
        ("a location that is a sign", "T0|r(x)|-\n"),
        ("a fraction as location", "T0|r(x)|1.5\n"),
        ("a space before the location", "T0|r(x)| 1\n"),
        ("a space after the location", "T0|r(x)|1 \n"),
        ("a location too large", "T0|r(x)|9223372036854775808\n"),
        ("a location too small", "T0|r(x)|-9223372036854775809\n"),
        ("a byte order mark", "\u{feff}T0|r(x)\n"),
        ("a NUL for a line feed", "T0|r(x)|1\0T0|r(x)|2\n"),
        ("escape sequences", "T0|\u{1b}[31m(\u{202e})|1\n"),
    ]);
    cases.push(("a thread that is not UTF-8", b"T\xff|r(x)|1\n".to_vec()));
    cases.push(("an operand that is not UTF-8", b"T0|r(\xc3)|1\n".to_vec()));
    cases.push(("a location that is not UTF-8", b"T0|r(x)|\xb2\n".to_vec()));
    cases.push(("UTF-16", "T0|r(x)|1\n".encode_utf16().flat_map(u16::to_le_bytes).collect()));
    cases.push(("a binary file", (0..=255).cycle().take(1 << 16).collect()));
    cases.push(("a very long line", [b"T0|r(", vec![b'x'; 3 << 20].as_slice(), b")|1\n"].concat()));
    cases.push(("a very long line without end", vec![b'x'; 5 << 20]));
    cases.push(("line 3000 of many", [&b"T0|r(x)|1\n".repeat(2999), &b"T0|r(x)|?\n"[..]].concat()));
    insta::assert_snapshot!(messages(cases, "std"));
}

/// Lines that are right, each, and wrong together. Locations are line numbers here.
#[test]
fn std_traces() {
    let cases = [
        ("fork of oneself", "A|fork(A)"),
        ("fork of oneself, later", "A|r(x) A|fork(A)"),
        ("a second fork", "A|fork(B) A|fork(B)"),
        ("a second fork by another thread", "A|fork(B) C|r(x) C|fork(B)"),
        ("a fork of a thread with events", "B|r(x) A|r(x) A|fork(B)"),
        ("a fork of a thread that has only begun a region", "B|begin A|fork(B)"),
        ("a fork of one's parent", "A|fork(B) B|fork(A)"),
        ("an event after the join", "B|r(x) A|join(B) A|r(x) B|r(x)"),
        ("an event after a join without events", "A|join(B) B|r(x)"),
        ("an event after the second of two joins", "B|r(x) A|join(B) C|join(B) B|w(x)"),
        ("a join of oneself", "A|r(x) A|join(A)"),
        ("a release without acquisition", "A|rel(l)"),
        ("a second release", "A|acq(l) A|rel(l) A|rel(l)"),
        ("a release too many after re-entry", "A|acq(l) A|acq(l) A|rel(l) A|rel(l) A|rel(l)"),
        ("a release of another thread's lock", "A|acq(l) B|rel(l)"),
        ("an acquisition of a held lock", "A|acq(l) B|acq(l)"),
        ("an acquisition of a lock still held by re-entry", "A|acq(l) A|acq(l) A|rel(l) B|acq(l)"),
        ("an acquisition of a lock of a joined thread", "B|acq(l) A|join(B) A|acq(l)"),
        ("end without begin", "A|end"),
        ("an end too many", "A|begin A|begin A|end A|end A|end"),
        ("end in another thread", "A|begin B|end"),
        ("names that act on terminals", "A\u{1b}[2J|acq(\u{202e}l) B|acq(\u{202e}l)"),
    ];
    insta::assert_snapshot!(messages(cases.map(|(name, events)| (name, numbered(events).into_bytes())), "std"));
}

/// The place of a defect does not depend on where batches and buffers begin and end.
#[test]
fn std_lines_are_counted_right() {
    for lines_before in [0, 1, 511, 512, 513, 4095, 4096, 6553, 6554, 26214, 100_000] {
        for (defect, found) in [("A|r(x)", "2 fields"), ("A|end|1", "the end of a region")] {
            let folder = Folder::new();
            folder.write("t.std", "A|w(x)|7\n".repeat(lines_before) + defect + "\n" + &"A|w(x)|7\n".repeat(600));
            let run = folder.cli("analyze t.std");
            let expected = format!("error: t.std: line {}: found {found}", lines_before + 1);
            assert!(run.refused().starts_with(&expected), "{}", run.stderr);
        }
    }
}

#[test]
fn odd_but_legal_std() {
    let long_name = "n".repeat(10_000);
    for (name, content, events) in [
        ("an empty file", String::new(), 0),
        ("no final newline", "A|r(x)|1\nA|r(x)|2".to_owned(), 2),
        ("one line without newline", "A|begin|1".to_owned(), 1),
        ("a join of a thread without events", numbered("A|join(B) A|r(x)"), 2),
        ("two joins of one thread", numbered("B|r(x) A|join(B) C|join(B)"), 3),
        ("a fork of a thread without events", numbered("A|fork(B)"), 1),
        ("re-entrant locks", numbered("A|acq(l) A|acq(l) A|rel(l) A|rel(l) B|acq(l)"), 5),
        ("a lock held and a region open at the end", numbered("A|begin A|acq(l)"), 2),
        ("a lock held by a joined thread", numbered("B|acq(l) A|join(B)"), 2),
        ("locks released in any order", numbered("A|acq(l) A|acq(m) A|rel(l) A|rel(m)"), 4),
        ("text after begin and end", "A|begin(foo)|1\nA|begin x y|1\nA|endTx|2\nA|end()|2\n".to_owned(), 4),
        ("negative locations", "A|r(x)|-1\nA|r(x)|-9223372036854775808\n".to_owned(), 2),
        ("large and padded locations", "A|r(x)|9223372036854775807\nA|r(x)|0007\nA|r(x)|-0\n".to_owned(), 3),
        ("parentheses in operands", "A|r((x))|1\nA|r(f(x))|1\n".to_owned(), 2),
        ("white space in a thread's name", "the main thread|r(x)|1\n".to_owned(), 1),
        ("names of all scripts", "поток|r(变量)|1\n".to_owned(), 1),
        ("long names", format!("{long_name}|r({long_name})|1\n"), 1),
        ("a thread named like a comment", "# T0|r(x)|1\n".to_owned(), 1),
        ("one name for all", numbered("x|fork(y) x|acq(x) x|r(x) x|rel(x)"), 4),
    ] {
        let folder = Folder::new();
        folder.write("t.std", content);
        for property in ["triple", "serial"] {
            let result = folder.analyze("t.std", &format!("--property {property}"));
            assert_eq!(result["trace"]["events"], events, "{name}");
        }
        for line in ["stats t.std", "dump t.std", "convert t.std t.ilt"] {
            let run = folder.cli(line);
            assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{name}: {line}");
        }
        assert_eq!(folder.analyze("t.ilt", "")["trace"]["events"], events, "{name}");
    }
}

#[test]
fn jsonl() {
    let mut cases = text(&[
        ("a blank line", "{\"thread\":\"A\",\"op\":\"exit\"}\n\n"),
        ("a comment", "// comment\n"),
        ("CRLF", "{\"thread\":\"A\",\"op\":\"exit\"}\r\n"),
        ("no object", "[1, 2]\n"),
        ("broken JSON", "{\"thread\":\"A\",\"op\":\n"),
        ("two objects on a line", "{\"thread\":\"A\",\"op\":\"exit\"}{}\n"),
        ("no thread", "{\"op\":\"exit\"}\n"),
        ("no operation", "{\"thread\":\"A\"}\n"),
        ("an unknown operation", "{\"thread\":\"A\",\"op\":\"jump\"}\n"),
        ("an unknown field", "{\"thread\":\"A\",\"op\":\"exit\",\"colour\":1}\n"),
        ("a field of another operation", "{\"thread\":\"A\",\"op\":\"exit\",\"target\":\"x\"}\n"),
        ("a field twice", "{\"thread\":\"A\",\"thread\":\"A\",\"op\":\"exit\"}\n"),
        ("no target", "{\"thread\":\"A\",\"op\":\"read\"}\n"),
        ("an empty target", "{\"thread\":\"A\",\"op\":\"read\",\"target\":\"\"}\n"),
        ("a target that is a number", "{\"thread\":\"A\",\"op\":\"read\",\"target\":7}\n"),
        ("null for absent", "{\"thread\":\"A\",\"op\":\"read\",\"target\":\"x\",\"value\":null}\n"),
        ("a value too wide", "{\"thread\":\"A\",\"op\":\"read\",\"target\":\"x\",\"size\":1,\"value\":256}\n"),
        ("an unknown source", "{\"thread\":\"A\",\"op\":\"begin\",\"source\":\"me\"}\n"),
        ("an event after finish", "{\"thread\":\"A\",\"op\":\"finish\"}\n{\"thread\":\"A\",\"op\":\"exit\"}\n"),
        (
            "a lock taken by a reader and a writer",
            "{\"thread\":\"A\",\"op\":\"acquire_shared\",\"target\":\"l\"}\n\
             {\"thread\":\"B\",\"op\":\"acquire\",\"target\":\"l\"}\n",
        ),
        (
            "facts between events are lines, too",
            "{\"thread\":\"A\",\"op\":\"exit\"}\n{\"op\":\"meta\",\"key\":\"k\",\"value\":\"v\"}\n\
             {\"thread\":\"A\",\"op\":\"end\"}\n",
        ),
    ]);
    cases.push(("not UTF-8", b"{\"thread\":\"\xff\",\"op\":\"exit\"}\n".to_vec()));
    cases.push(("a very long line", [b"{\"thread\":\"", vec![b'x'; 2 << 20].as_slice(), b"\"}\n"].concat()));
    insta::assert_snapshot!(messages(cases, "jsonl"));
}

#[test]
fn rapid_bin_files() {
    let one = rapid_bin((1, 1, 1), &[(0, 2, 0, 7)]);
    let with = |counts, event| rapid_bin(counts, &[event]);
    let cases = vec![
        ("an empty file", Vec::new()),
        ("half a header", one[..9].to_vec()),
        ("half an event", one[..22].to_vec()),
        ("more bytes than announced", [one.clone(), vec![0]].concat()),
        ("a negative count", [&[0xff, 0xff], &one[2..]].concat()),
        ("a thread beyond the count", with((1, 1, 1), (1, 2, 0, 7))),
        ("a lock beyond the count", with((1, 1, 1), (0, 0, 1, 7))),
        ("a variable beyond the count", with((1, 1, 1), (0, 3, 1, 7))),
        ("a forked thread beyond the count", with((1, 1, 1), (0, 4, 1, 7))),
        ("an unknown operation", with((1, 1, 1), (0, 9, 0, 7))),
        ("a top bit that is set", with((1, 1, 1), (0, 2, 0, 1 << 15))),
        ("a release without acquisition", rapid_bin((1, 1, 1), &[(0, 2, 0, 1), (0, 1, 0, 2)])),
    ];
    insta::assert_snapshot!(messages(cases, "data"));
}

/// The traces of the field that we have begin a region in every thread before any is forked.
/// A fork of a thread that has acted is refused in every format, so these are, too.
/// The real traces begin a region in every thread before they fork it: fine, but for STD.
#[test]
fn rapid_bin_of_the_field() {
    for (file, events) in [("Account", 706), ("Transfer", 72), ("StringBuffer", 74), ("Dbcp1", 2160)] {
        let folder = Folder::new();
        std::fs::copy(data(&format!("{file}.data")), folder.path("t.data")).unwrap();
        assert_eq!(folder.analyze("t.data", "")["trace"]["events"], events, "{file}");
        assert_eq!(folder.cli("convert t.data t.ilt").code, 0, "{file}");
        assert_eq!(folder.analyze("t.ilt", "")["trace"]["events"], events, "{file}");
        let run = folder.cli("convert t.data t.std --lossy");
        let refused = run.refused();
        assert!(refused.contains("STD cannot hold a fork of thread T1, which has events before"), "{refused}");
    }
}

#[test]
fn ilt_files() {
    let folder = Folder::new();
    folder.write("t.std", numbered("A|begin A|r(x) A|r(x) A|end B|w(x)"));
    assert_eq!(folder.cli("convert t.std t.ilt").code, 0);
    let whole = folder.read("t.ilt");
    let changed = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        bytes
    };
    let resealed = |at: usize, byte: u8| {
        let mut bytes = changed(at, byte);
        let checksum = crc32(&bytes[..16]);
        bytes[16..20].copy_from_slice(&checksum.to_le_bytes());
        bytes
    };
    let cases = vec![
        ("an empty file", Vec::new()),
        ("one byte", whole[..1].to_vec()),
        ("a truncated header", whole[..19].to_vec()),
        ("bad magic", changed(0, b'I')),
        ("another format", b"T0|r(x)|1\nT0|r(x)|2\nT0|r(x)|3\n".to_vec()),
        ("a transfer in text mode", [b"\x89ILT\n\x1a\n\x01", &whole[8..]].concat()),
        ("a later major version", resealed(8, 2)),
        ("no major version", resealed(8, 0)),
        ("file flags", resealed(12, 1)),
        ("a flipped bit in the file header", changed(9, 1)),
        ("a flipped bit in the header of the first chunk", changed(24, whole[24] ^ 1)),
        ("a flipped bit in the first chunk", changed(41, whole[41] ^ 0x10)),
        ("a flipped bit in the end mark", changed(whole.len() - 1, 1)),
        ("more after the end", [whole.as_slice(), b"\n"].concat()),
        ("a trace twice", whole.repeat(2)),
    ];
    insta::assert_snapshot!(messages(cases, "ilt"));
}

/// The checksum of the headers, so that a header can be wrong in another way.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

/// Before anything is run for it, or kept.
#[test]
fn an_output_that_cannot_be_written_is_refused_first() {
    let folder = Folder::new();
    let run = folder.run(["check", "-o", "missing/result.json", "--", "./nothing"]);
    assert_eq!(run.refused(), "error: missing/result.json: cannot write: No such file or directory (os error 2)");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn no_file_to_read() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("folder.std")).unwrap();
    folder.write("trace.txt", "");
    folder.write("plain", "");
    folder.write("new\nline.std", "nonsense");
    let mut messages = String::new();
    for args in [
        vec!["analyze"],
        vec!["analyze", "missing.std"],
        vec!["analyze", "missing/missing.std"],
        vec!["analyze", ""],
        vec!["analyze", "folder.std"],
        vec!["analyze", "."],
        vec!["analyze", "plain/file.std"],
        vec!["analyze", "trace.txt"],
        vec!["analyze", "plain"],
        vec!["analyze", "-"],
        vec!["analyze", "new\nline.std"],
        vec!["stats", "missing.ilt"],
        vec!["dump", "missing.jsonl"],
        vec!["convert", "missing.std", "out.ilt"],
        vec!["convert", "plain", "out.ilt"],
        vec!["convert", "trace.txt", "out.ilt"],
    ] {
        let run = folder.run(&args);
        let _ = writeln!(messages, "{args:?}\n  {}", folder.anonymous(run.refused()));
    }
    insta::assert_snapshot!(messages);
    assert_eq!(folder.names(), ["folder.std", "new\nline.std", "plain", "trace.txt"]);
}
