//! The JSON Lines reader and writer: what they keep, and what they refuse.

#![allow(clippy::unwrap_used)]

mod arbitrary;
#[path = "../../../fuzz/compare.rs"]
mod compare;

use interloper_trace::jsonl::{JsonlReader, JsonlWriter, LONGEST_LINE};
use interloper_trace::{Access, BATCH, Event, EventSink, EventSource, Op, Place, SiteId, Tables, TraceError, Value};
use proptest::prelude::*;
use std::io::{self, Read};

fn drain<R: Read>(mut reader: JsonlReader<R>) -> (Vec<Event>, JsonlReader<R>, Option<TraceError>) {
    let (mut events, mut batch) = (Vec::new(), Vec::new());
    loop {
        match reader.next_batch(&mut batch) {
            Ok(()) if batch.is_empty() => return (events, reader, None),
            Ok(()) => events.append(&mut batch),
            Err(error) => return (events, reader, Some(error)),
        }
    }
}

fn read(text: &str) -> (Vec<Event>, Tables) {
    let (events, reader, error) = drain(JsonlReader::new(text.as_bytes()));
    assert!(error.is_none(), "{error:?}");
    (events, reader.tables().clone())
}

fn write(events: &[Event], tables: &Tables) -> String {
    let mut text = Vec::new();
    let mut writer = JsonlWriter::new(&mut text);
    writer.write(events, tables).unwrap();
    writer.finish(tables).unwrap();
    String::from_utf8(text).unwrap()
}

fn error_of(text: &[u8]) -> String {
    drain(JsonlReader::new(text)).2.unwrap().to_string()
}

#[test]
fn every_operation_is_written_as_it_was_read() {
    let text = include_str!("data/every_operation.jsonl");
    let (events, tables) = read(text);
    assert_eq!(write(&events, &tables), text);
}

#[test]
fn defaults_are_left_out() {
    for (long, short) in [
        (
            r#"{"op":"read","thread":"T","target":"x","offset":0,"size":0,"more":false}"#,
            r#"{"thread":"T","op":"read","target":"x"}"#,
        ),
        (
            r#"{"thread":"T","op":"try_acquire","target":"m","mode":"exclusive","success":true}"#,
            r#"{"thread":"T","op":"try_acquire","target":"m"}"#,
        ),
        (
            r#"{"thread":"T","op":"wait_end","target":"c","lock":"m","wake":"notified"}"#,
            r#"{"thread":"T","op":"wait_end","target":"c","lock":"m"}"#,
        ),
        (r#"{"thread":"T","op":"once","target":"o","phase":"pass"}"#, r#"{"thread":"T","op":"once","target":"o"}"#),
        (r#"{"thread":"T","op":"begin"}"#, r#"{"thread":"T","op":"begin","source":"annotated"}"#),
        (r#"{"thread":"T","op":"bind","expr":7,"of":"read"}"#, r#"{"thread":"T","op":"bind","expr":"e7"}"#),
        (
            r#" {"thread":"\u0054", "op":"define", "expr":3, "operator":"not", "width":8, "operands":[2]} "#,
            r#"{"thread":"T","op":"define","expr":"e3","operator":"not","width":8,"operands":["e2"]}"#,
        ),
    ] {
        let (events, tables) = read(long);
        assert_eq!(write(&events, &tables).trim_end(), short);
    }
}

#[test]
fn negative_values_are_twos_complement() {
    for (fields, bits) in [
        (r#""size":1,"value":-1"#, 0xff),
        (r#""size":1,"value":-128"#, 0x80),
        (r#""size":4,"value":-5"#, 0xffff_fffb),
        (r#""size":8,"value":-1"#, u64::MAX),
        (r#""value":-1"#, u64::MAX),
        (r#""value":-9223372036854775808"#, 1 << 63),
        (r#""value":18446744073709551615"#, u64::MAX),
    ] {
        let (events, _) = read(&format!(r#"{{"thread":"T","op":"write","target":"x",{fields}}}"#));
        let Op::Write(access) = events[0].op else { panic!("{:?}", events[0]) };
        assert_eq!(access.value, Value::known(bits), "{fields}");
    }
}

/// One line each, without thread and braces where that is not the point.
#[test]
fn what_is_refused() {
    const EVENT: &str = "thread, op, file, line, function";
    for (line, message) in [
        // The line as such.
        ("", "found a blank line, expected a JSON object"),
        (" \t", "found a blank line, expected a JSON object"),
        ("{}\r", "found a carriage return at the end of the line, expected a line feed alone"),
        ("[]", "found \"[]\", expected a JSON object"),
        ("# note", "found \"# note\", expected a JSON object"),
        ("{", "found broken JSON at column 1 (EOF while parsing an object), expected one JSON object"),
        ("{} {}", "found broken JSON at column 4 (trailing characters), expected one JSON object"),
        (
            r#"{"thread":"T","op":"start",}"#,
            "found broken JSON at column 28 (trailing comma), expected one JSON object",
        ),
        // Fields as such.
        ("{}", "found no field \"op\", expected one"),
        (r#"{"op":"start"}"#, "found no field \"thread\", expected one"),
        (r#"{"op":"start","op":"start"}"#, "found field \"op\" twice, expected each field once"),
        (
            r#"{"thread":"T","op":"start","count":1}"#,
            &format!("found field \"count\" in \"start\", expected at most {EVENT}"),
        ),
        (r#"{"thread":"","op":"start"}"#, "found \"\" in field \"thread\", expected text that is not empty"),
        (r#"{"thread":1,"op":"start"}"#, "found 1 in field \"thread\", expected text that is not empty"),
        (r#"{"thread":null,"op":"start"}"#, "found null in field \"thread\", expected text that is not empty"),
        (r#"{"thread":{},"op":"start"}"#, "found an object in field \"thread\", expected text that is not empty"),
        (r#"{"thread":"T","op":"start","file":""}"#, "found \"\" in field \"file\", expected text that is not empty"),
        (
            r#"{"thread":"T","op":"start","line":9223372036854775808}"#,
            "found 9223372036854775808 in field \"line\", \
             expected an integer from -9223372036854775808 to 9223372036854775807",
        ),
        // Operations.
        (r#"{"thread":"T","op":"acquire"}"#, "found no field \"target\", expected one"),
        (r#"{"thread":"T","op":"wait_begin","target":"c"}"#, "found no field \"lock\", expected one"),
        (r#"{"thread":"T","op":"branch"}"#, "found no field \"count\", expected one"),
        (
            r#"{"thread":"T","op":"branch","count":4294967296}"#,
            "found 4294967296 in field \"count\", expected an integer from 0 to 4294967295",
        ),
        (
            r#"{"thread":"T","op":"branch","count":1.5}"#,
            "found a fraction or a number too large in field \"count\", expected an integer from 0 to 4294967295",
        ),
        (
            r#"{"thread":"T","op":"read","target":"x","size":-1}"#,
            "found -1 in field \"size\", expected an integer from 0 to 4294967295",
        ),
        (
            r#"{"thread":"T","op":"read","target":"x","size":1,"value":256}"#,
            "found 256 in field \"value\", expected an integer from -128 to 255",
        ),
        (
            r#"{"thread":"T","op":"read","target":"x","size":1,"value":-129}"#,
            "found -129 in field \"value\", expected an integer from -128 to 255",
        ),
        (
            r#"{"thread":"T","op":"read","target":"x","size":16,"value":1}"#,
            "found 1 in field \"value\", expected no value where \"size\" is more than 8",
        ),
        (
            r#"{"thread":"T","op":"read","target":"x","value":18446744073709551616}"#,
            "found a fraction or a number too large in field \"value\", \
             expected an integer from -9223372036854775808 to 18446744073709551615",
        ),
        (
            r#"{"thread":"T","op":"read","target":"x","order":"plain"}"#,
            "found \"plain\" in field \"order\", \
             expected one of \"relaxed\", \"consume\", \"acquire\", \"release\", \"acq_rel\", \"seq_cst\"",
        ),
        (r#"{"thread":"T","op":"read","target":"x","more":1}"#, "found 1 in field \"more\", expected true or false"),
        (r#"{"thread":"T","op":"rmw","target":"x","size":9}"#, "found 9 in field \"size\", expected at most 8 bytes"),
        (
            r#"{"thread":"T","op":"rmw","target":"x","success":false,"written":1}"#,
            "found a value in field \"written\", expected none where \"success\" is false",
        ),
        (
            r#"{"thread":"T","op":"begin","source":"guessed"}"#,
            "found \"guessed\" in field \"source\", \
             expected one of \"annotated\", \"locks\", \"functions\", \"inferred\"",
        ),
        // Expressions.
        (
            r#"{"thread":"T","op":"assume","expr":"x1","holds":true}"#,
            "found \"x1\" in field \"expr\", expected an expression such as \"e12\" or 12",
        ),
        (
            r#"{"thread":"T","op":"assume","expr":"e+1","holds":true}"#,
            "found \"e+1\" in field \"expr\", expected an expression such as \"e12\" or 12",
        ),
        (
            r#"{"thread":"T","op":"assume","expr":"e01","holds":true}"#,
            "found \"e01\" in field \"expr\", expected an expression such as \"e12\" or 12",
        ),
        (r#"{"thread":"T","op":"assume","expr":1}"#, "found no field \"holds\", expected one"),
        (
            r#"{"thread":"T","op":"define","expr":1,"width":0,"bits":0}"#,
            "found 0 in field \"width\", expected a width from 1 to 64 bits",
        ),
        (
            r#"{"thread":"T","op":"define","expr":1,"width":65,"bits":0}"#,
            "found 65 in field \"width\", expected a width from 1 to 64 bits",
        ),
        (
            r#"{"thread":"T","op":"define","expr":1,"width":3,"bits":8}"#,
            "found 8 in field \"bits\", expected a number of at most 3 bits",
        ),
        (r#"{"thread":"T","op":"define","expr":1,"width":3}"#, "found no field \"operator\", expected one"),
        (
            r#"{"thread":"T","op":"define","expr":1,"width":3,"operator":"add","operands":[1]}"#,
            "found a list of 1 in field \"operands\", expected a list of 2",
        ),
        (
            r#"{"thread":"T","op":"define","expr":1,"width":3,"operator":"add","operands":[1,[]]}"#,
            "found a list in field \"operands\", expected an expression such as \"e12\" or 12",
        ),
        (
            r#"{"thread":"T","op":"define","expr":1,"width":3,"bits":1,"operator":"add"}"#,
            "found field \"operator\" in \"define\", \
             expected at most thread, op, expr, width, bits, file, line, function",
        ),
        // Facts.
        (r#"{"op":"meta","value":"v"}"#, "found no field \"key\", expected one"),
        (r#"{"op":"meta","key":"k"}"#, "found no field \"value\", expected one"),
        (r#"{"op":"meta","key":"k","value":1}"#, "found 1 in field \"value\", expected text"),
        (
            r#"{"op":"meta","key":"k","value":"v","thread":"T"}"#,
            "found field \"thread\" in \"meta\", expected at most op, key, value",
        ),
    ] {
        let text = format!("{line}\n");
        assert_eq!(error_of(text.as_bytes()), format!("line 1: {message}"), "{line}");
    }
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let message = error_of(br#"{"thread":"T","op":"start","valeu":1}"#);
    assert!(message.starts_with("line 1: found field \"valeu\", expected one of thread, op, key, target"), "{message}");
    let message = error_of(br#"{"thread":"T","op":"lock"}"#);
    assert!(message.starts_with("line 1: found operation \"lock\", expected one of read, write, rmw"), "{message}");
}

#[test]
fn text_must_be_utf8() {
    assert_eq!(
        error_of(b"{\"thread\":\"\xff\",\"op\":\"start\"}"),
        "line 1: found \"{\\\"thread\\\":\\\"\u{fffd}\\\",\\\"op\\\":\\\"start\\\"}\", which is not UTF-8, \
         expected UTF-8 text"
    );
}

#[test]
fn lines_have_a_largest_length() {
    let line = |length: usize| {
        let frame = r#"{"thread":"","op":"start"}"#.len();
        format!("{{\"thread\":\"{}\",\"op\":\"start\"}}", "x".repeat(length - frame))
    };
    for ending in ["", "\n"] {
        let (events, ..) = drain(JsonlReader::new((line(LONGEST_LINE) + ending).as_bytes()));
        assert_eq!(events.len(), 1);
        let message = error_of((line(LONGEST_LINE + 1) + ending).as_bytes());
        assert!(message.ends_with("that does not end, expected at most 1048576 bytes"), "{message}");
    }
}

#[test]
fn events_before_a_defect_come_first() {
    let good = "{\"thread\":\"T\",\"op\":\"start\"}\n";
    let text = good.repeat(BATCH + 3) + "oops\n" + good;
    let mut reader = JsonlReader::new(text.as_bytes());
    let mut batch = Vec::new();
    let mut sizes = Vec::new();
    let error = loop {
        match reader.next_batch(&mut batch) {
            Ok(()) => sizes.push(batch.len()),
            Err(error) => break error,
        }
    };
    assert_eq!(sizes, [BATCH, 3]);
    assert!(batch.is_empty());
    let line = BATCH + 4;
    assert_eq!(error.to_string(), format!("line {line}: found \"oops\", expected a JSON object"));
}

#[test]
fn places_are_lines_although_facts_take_lines_too() {
    let fact = "{\"op\":\"meta\",\"key\":\"command\",\"value\":\"./bank -n 2\"}\n";
    let event = "{\"thread\":\"T\",\"op\":\"start\"}\n";
    let text = format!("{fact}{}{fact}{fact}{event}{fact}", event.repeat(BATCH));
    let mut reader = JsonlReader::new(text.as_bytes());
    let mut batch = Vec::new();
    reader.next_batch(&mut batch).unwrap();
    assert_eq!(reader.place(0), Place::Line(2));
    assert_eq!(reader.place(BATCH as u64 - 1), Place::Line(BATCH as u64 + 1));
    reader.next_batch(&mut batch).unwrap();
    assert_eq!(batch.len(), 1);
    assert_eq!(reader.place(BATCH as u64), Place::Line(BATCH as u64 + 4));
    reader.next_batch(&mut batch).unwrap();
    assert!(batch.is_empty());
    assert_eq!(reader.tables().meta().len(), 4);
    assert_eq!(reader.bytes_read(), text.len() as u64);
}

/// Gives one byte at a time, interrupts itself, and fails at the end.
struct Awkward<'a> {
    text: &'a [u8],
    interrupt: bool,
}

impl Read for Awkward<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.interrupt = !self.interrupt;
        if self.interrupt {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let (first, rest) = self.text.split_first().ok_or(io::ErrorKind::ConnectionReset)?;
        out[0] = *first;
        self.text = rest;
        Ok(1)
    }
}

#[test]
fn inputs_may_come_in_pieces_and_may_fail() {
    let text = include_bytes!("data/every_operation.jsonl");
    let (events, reader, error) = drain(JsonlReader::new(Awkward { text, interrupt: false }));
    assert!(matches!(error, Some(TraceError::Io(_))), "{error:?}");
    let (expected, tables) = read(std::str::from_utf8(text).unwrap());
    compare::assert_same((&events, reader.tables()), (&expected, &tables));
}

#[test]
fn what_cannot_be_read_is_not_written() {
    let mut tables = Tables::new();
    let thread = tables.intern_thread("T").unwrap();
    let nameless = tables.intern_thread("").unwrap();
    let location = tables.intern_location("x", 0).unwrap();
    let event = |thread, op| Event { thread, site: SiteId::UNKNOWN, op };
    let start = event(thread, Op::Start);
    for (bad, message) in [
        (event(nameless, Op::Start), "event 1: JSON Lines cannot hold an empty name as \"thread\""),
        (
            event(thread, Op::Read(Access { size: 1, value: Value::known(256), ..Access::bare(location) })),
            "event 1: JSON Lines cannot hold 256 as \"value\": expected a value of 1 bytes",
        ),
    ] {
        let mut text = Vec::new();
        let mut writer = JsonlWriter::new(&mut text);
        assert_eq!(writer.write(&[start, bad], &tables).unwrap_err().to_string(), message);
        writer.write(&[start], &tables).unwrap();
        writer.finish(&tables).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "{\"thread\":\"T\",\"op\":\"start\"}\n".repeat(2));
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        (events, tables) in arbitrary::trace(),
        split in 0..40_usize,
    ) {
        let mut text = Vec::new();
        let mut writer = JsonlWriter::new(&mut text);
        let (first, second) = events.split_at(split.min(events.len()));
        writer.write(first, &tables).unwrap();
        writer.write(second, &tables).unwrap();
        writer.finish(&tables).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (read_events, read_tables) = read(&text);
        compare::assert_same((&events, &tables), (&read_events, &read_tables));
        // Once more, so that what is written is known to be stable.
        prop_assert_eq!(write(&read_events, &read_tables), text);
    }
}
