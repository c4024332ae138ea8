//! Damaged and cut recordings: what comes before the damage is not lost, and nothing that comes
//! after it is taken for events.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, numbered};
use std::ops::Range;

/// The chunks of an `.ilt` file: kind and extent.
fn chunks(bytes: &[u8]) -> Vec<(u8, Range<usize>)> {
    let mut chunks = Vec::new();
    let mut at = 20;
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        chunks.push((bytes[at], at..at + 20 + length));
        at += 20 + length;
    }
    chunks
}

/// A trace of several chunks of events, as `.ilt` and as STD.
fn long_trace() -> (Folder, Vec<u8>) {
    let folder = Folder::new();
    assert_eq!(folder.cli("generate bank --events 150000 --widen 2 -o whole.ilt").code, 0);
    assert_eq!(folder.cli("convert whole.ilt whole.std").code, 0);
    let bytes = folder.read("whole.ilt");
    (folder, bytes)
}

/// The chunk with the events after the first `before` chunks of events.
fn events_chunk(bytes: &[u8], before: usize) -> Range<usize> {
    chunks(bytes).into_iter().filter(|(kind, _)| *kind == b'E').nth(before).unwrap().1
}

fn lines(text: &str, count: usize) -> String {
    text.lines().take(count).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_cut_recording_is_analysed_with_a_note() {
    let (folder, bytes) = long_trace();
    let second = events_chunk(&bytes, 1);
    for cut in [second.start, second.start + 7, second.start + 20, second.end - 1] {
        folder.write("cut.ilt", &bytes[..cut]);
        let run = folder.cli("analyze cut.ilt --format json --property serial");
        let result = run.json();
        let events = result["trace"]["events"].as_u64().unwrap();
        assert!(events > 0 && events < 150_000, "{events}");
        assert_eq!(run.code, i32::from(result["serial"]["serializable"] == false));
        let notes = result["notes"].as_array().unwrap();
        assert_eq!(notes.len(), 1);
        let note = notes[0].as_str().unwrap();
        assert!(note.contains("cut off") && note.contains(&events.to_string()), "{note}");

        // The findings are those of the same events in a trace that is whole.
        folder.write("prefix.std", lines(&folder.text("whole.std"), events as usize));
        for options in ["", "--property serial"] {
            let (cut, prefix) = (folder.analyze("cut.ilt", options), folder.analyze("prefix.std", options));
            assert_eq!(cut["findings"], prefix["findings"]);
            assert_eq!(cut["counts"], prefix["counts"]);
            assert_eq!(cut["serial"], prefix["serial"]);
        }
        let code = |trace: &str| folder.cli(&format!("analyze {trace} --model lockset")).code;
        assert_eq!(code("cut.ilt"), code("prefix.std"));
    }
}

#[test]
fn a_cut_recording_says_so_in_every_command() {
    let (folder, bytes) = long_trace();
    let second = events_chunk(&bytes, 1);
    folder.write("cut.ilt", &bytes[..second.start + 100]);
    assert!(folder.cli("analyze cut.ilt").stdout.contains("\nnote: the trace is cut off"));
    assert!(folder.cli("stats cut.ilt").stdout.contains("\nnote: the trace is cut off"));
    let dump = folder.cli("dump cut.ilt");
    assert_eq!(dump.code, 0);
    assert!(dump.stderr.starts_with("note: the trace is cut off"), "{}", dump.stderr);
    let convert = folder.cli("convert cut.ilt cut.std");
    assert_eq!(convert.code, 0);
    assert!(convert.stderr.starts_with("note: the trace is cut off"), "{}", convert.stderr);
    let kept = folder.text("cut.std");
    assert_eq!(kept.lines().count(), dump.stdout.lines().count());
    assert!(folder.text("whole.std").starts_with(&kept));
}

#[test]
fn damage_is_an_error_and_what_comes_before_can_be_had() {
    let (folder, bytes) = long_trace();
    let second = events_chunk(&bytes, 1);
    for at in [second.start + 3, second.start + 13, second.start + 20, (second.start + second.end) / 2, second.end - 1]
    {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        folder.write("bad.ilt", &damaged);
        let message = format!("error: bad.ilt: byte {}: found a chunk", second.start);
        for line in ["analyze bad.ilt", "analyze bad.ilt --format json --property serial", "stats bad.ilt"] {
            let run = folder.cli(line);
            assert!(run.refused().starts_with(&message), "{}", run.stderr);
            assert!(run.stderr.contains("--salvage"), "the message says what can be done: {}", run.stderr);
        }

        let dump = folder.cli("dump bad.ilt");
        assert_eq!(dump.code, 2);
        assert!(dump.stderr.starts_with(&message), "{}", dump.stderr);
        let whole = folder.cli("dump whole.ilt").stdout;
        let shown = dump.stdout.lines().count();
        assert!(shown > 0 && whole.starts_with(&dump.stdout));

        assert!(folder.cli("convert bad.ilt kept.std").refused().starts_with(&message));
        assert!(!folder.path("kept.std").exists());
        let salvage = folder.cli("convert --salvage bad.ilt kept.std");
        assert_eq!(salvage.code, 0, "{}", salvage.stderr);
        assert!(salvage.stderr.contains(&format!("kept the {shown} events")), "{}", salvage.stderr);
        assert_eq!(folder.text("kept.std"), lines(&folder.text("whole.std"), shown));
        std::fs::remove_file(folder.path("kept.std")).unwrap();
    }
}

#[test]
fn text_can_be_salvaged_too() {
    let folder = Folder::new();
    folder.write("t.std", numbered("A|begin A|r(x) A|end A|end A|r(x)"));
    assert_eq!(folder.cli("convert t.std kept.std").code, 2);
    let run = folder.cli("convert t.std kept.std --salvage");
    assert_eq!((run.code, folder.text("kept.std")), (0, numbered("A|begin A|r(x) A|end")));
    assert!(run.stderr.contains("t.std: line 4: "), "{}", run.stderr);
}

/// Every byte of a recording is under a checksum: no single one can change unnoticed.
#[test]
fn every_damaged_byte_is_noticed() {
    let folder = Folder::new();
    folder.write("t.std", numbered("A|begin A|acq(l) A|r(x) A|rel(l) A|fork(B) A|w(x) A|end B|w(x)"));
    assert_eq!(folder.cli("convert t.std t.ilt").code, 0);
    let bytes = folder.read("t.ilt");
    assert!(bytes.len() < 600, "small enough to try every byte: {}", bytes.len());
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        folder.write("bad.ilt", &damaged);
        let run = folder.cli("analyze bad.ilt --format json");
        assert!(run.refused().starts_with("error: bad.ilt: "), "byte {at}: {}", run.stderr);
        let run = folder.cli("dump bad.ilt");
        assert_eq!(run.code, 2, "byte {at}: {}", run.stderr);
    }
}

/// Wherever a recording is cut, it is either too short to be one or a prefix.
#[test]
fn every_cut_is_understood() {
    let folder = Folder::new();
    folder.write("t.std", numbered("A|begin A|acq(l) A|r(x) A|rel(l) A|fork(B) A|w(x) A|end B|w(x)"));
    assert_eq!(folder.cli("convert t.std t.ilt").code, 0);
    let bytes = folder.read("t.ilt");
    for length in 0..bytes.len() {
        folder.write("cut.ilt", &bytes[..length]);
        let run = folder.cli("analyze cut.ilt --format json");
        if length < 20 {
            assert_eq!(run.code, 2, "{length} bytes: {}", run.stderr);
        } else {
            assert!(matches!(run.code, 0 | 1), "{length} bytes: {}", run.stderr);
            assert!(run.json()["notes"][0].as_str().unwrap().contains("cut off"), "{length} bytes");
        }
    }
}
