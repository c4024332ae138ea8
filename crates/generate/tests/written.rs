//! A generated trace is the same trace when it comes from a file.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Trace, line, trace};
use interloper_generate::{Options, Shape};
use interloper_trace::std_format::{StdReader, StdWriter};
use interloper_trace::wellformed::{Rules, WellFormed};
use interloper_trace::{EventSink, EventSource};

#[test]
fn written_and_read_again_it_has_the_same_events_and_ids() {
    for shape in Shape::ALL {
        for seed in 0..3 {
            let made = trace(shape, Options { events: Some(9_000), seed, ..Options::default() });
            let text = write(&made);
            let lines: String = made.events.iter().map(|event| line(event, &made.tables)).collect();
            assert_eq!(String::from_utf8(text.clone()).unwrap(), lines);

            let read = read(&text);
            assert_eq!(read.events, made.events, "{shape}, seed {seed}");
            let counts = |trace: &Trace| {
                let tables = &trace.tables;
                (tables.thread_count(), tables.lock_count(), tables.location_count(), tables.site_count())
            };
            assert_eq!(counts(&read), counts(&made));
        }
    }
}

#[test]
fn the_readers_own_checks_have_nothing_to_object() {
    for shape in Shape::ALL {
        for seed in 0..20 {
            let made = trace(shape, Options { events: Some(3_000), seed, ..Options::default() });
            let mut checker = WellFormed::new(Rules::Std);
            for (index, event) in made.events.iter().enumerate() {
                let checked = checker.check(event, &made.tables);
                assert!(checked.is_ok(), "{shape}, seed {seed}, event {index}: {}", line(event, &made.tables));
            }
        }
    }
}

fn write(trace: &Trace) -> Vec<u8> {
    let mut text = Vec::new();
    let mut writer = StdWriter::new(&mut text);
    writer.write(&trace.events, &trace.tables).unwrap();
    writer.finish(&trace.tables).unwrap();
    text
}

fn read(text: &[u8]) -> Trace {
    let mut reader = StdReader::new(text);
    let (mut events, mut batch) = (Vec::new(), Vec::new());
    loop {
        reader.next_batch(&mut batch).unwrap();
        if batch.is_empty() {
            return Trace { events, tables: reader.tables().clone() };
        }
        events.append(&mut batch);
    }
}
