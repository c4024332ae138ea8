//! What every reader promises, whatever bytes it is given.
//!
//! Used by the fuzz targets and, with a bounded number of inputs, by the tests of the trace crate.
//! A broken promise is a panic:
//!
//! - A reader ends with an empty batch or an error, and hands out nothing after that.
//! - Batches have at most `BATCH` events; every id of every event is in the tables by then.
//! - All events before a defect are handed out before the error.
//! - It does not matter in which pieces the input arrives.
//! - What has been read can be written, and read again as the same.

// Each user of this file needs a part of it.
#![allow(dead_code)]

#[path = "compare.rs"]
mod compare;

use compare::{assert_same, translate};
use interloper_trace::ilt::{IltOptions, IltReader, IltWriter};
use interloper_trace::jsonl::{JsonlReader, JsonlWriter, LONGEST_LINE};
use interloper_trace::rapidbin::RapidBinReader;
use interloper_trace::std_format::{StdReader, StdWriter};
use interloper_trace::wellformed::{Rules, WellFormed};
use interloper_trace::{BATCH, Event, EventSink, EventSource, Malformed, Place, Tables, TraceError};
use std::io::{self, Read};

/// Feeds bytes to the STD reader.
pub(crate) fn read_std(data: &[u8]) {
    let trace = drain(StdReader::new(data));
    assert_bytes_used(&trace, data);
    assert_eq!(trace.places, (1..=trace.events.len() as u64).map(Place::Line).collect::<Vec<_>>());
    if let Some(malformed) = trace.malformed() {
        assert_eq!(malformed.place, Place::Line(trace.events.len() as u64 + 1));
        assert_line_prefix_is_good(&trace, data, drain(StdReader::new(lines_before(data, malformed))));
    }
    assert_agrees_in_pieces(&trace, data, |pieces| drain(StdReader::new(pieces)));

    // The reader of lines leaves it to others what lines mean together; the writer does not.
    let mut checker = WellFormed::new(Rules::Std);
    let good = trace.events.iter().take_while(|event| checker.check(event, &trace.tables).is_ok()).count();
    let trace = Trace { events: trace.events[..good].to_vec(), ..trace };
    let mut written = Vec::new();
    write(&trace, &mut StdWriter::new(&mut written));
    assert_round_trip(&trace, &drain(StdReader::new(written.as_slice())));
}

/// Feeds bytes to the RapidBin reader.
pub(crate) fn read_rapidbin(data: &[u8]) {
    let trace = drain(RapidBinReader::new(data));
    assert_bytes_used(&trace, data);
    for (index, place) in trace.places.iter().enumerate() {
        assert_eq!(*place, Place::Byte(18 + 8 * index as u64));
    }
    if let Some(malformed) = trace.malformed() {
        let Place::Byte(byte) = malformed.place else { panic!("{malformed}") };
        assert!(byte <= data.len() as u64, "{malformed}");
        assert_eq!(trace.events.len() as u64, byte.saturating_sub(18) / 8, "{malformed}");
    }
    assert_agrees_in_pieces(&trace, data, |pieces| drain(RapidBinReader::new(pieces)));
}

/// Feeds bytes to the `.ilt` reader: as they are, and with checksums put right, since a damaged
/// file would hardly ever get past those.
pub(crate) fn read_ilt(data: &[u8]) {
    read_ilt_as_is(data);
    let mut repaired = data.to_vec();
    repair_checksums(&mut repaired);
    if repaired != data {
        read_ilt_as_is(&repaired);
    }
}

fn read_ilt_as_is(data: &[u8]) {
    let trace = drain_ilt(data);
    assert!(trace.bytes_read <= data.len() as u64);
    if let Some(Malformed { place: Place::Event { index, .. }, .. }) = trace.malformed() {
        assert_eq!(*index, trace.events.len() as u64);
    }
    assert_agrees_in_pieces(&trace, data, drain_ilt);
    assert_round_trip(&trace, &drain_ilt(ilt(&trace, IltOptions::DEFAULT).as_slice()));
}

/// Feeds bytes to the JSON Lines reader.
pub(crate) fn read_jsonl(data: &[u8]) {
    let trace = drain(JsonlReader::new(data));
    assert_bytes_used(&trace, data);
    let lines: Vec<u64> = trace.places.iter().map(line_of).collect();
    assert!(lines.is_sorted_by(|one, next| one < next), "{lines:?}");
    if let Some(malformed) = trace.malformed() {
        assert!(lines.last() < Some(&line_of(&malformed.place)), "{malformed}");
        assert_line_prefix_is_good(&trace, data, drain(JsonlReader::new(lines_before(data, malformed))));
    }
    assert_agrees_in_pieces(&trace, data, |pieces| drain(JsonlReader::new(pieces)));

    // A line may become longer when it is written in full.
    if data.len() < LONGEST_LINE / 2 {
        let mut written = Vec::new();
        write(&trace, &mut JsonlWriter::new(&mut written));
        assert_round_trip(&trace, &drain(JsonlReader::new(written.as_slice())));
    }
}

/// The trace in this JSON Lines text as an `.ilt` file.
pub(crate) fn jsonl_to_ilt(text: &[u8], options: IltOptions) -> Vec<u8> {
    let trace = drain(JsonlReader::new(text));
    let file = ilt(&trace, options);
    assert_round_trip(&trace, &drain_ilt(file.as_slice()));
    file
}

/// Whatever a reader gave.
struct Trace {
    events: Vec<Event>,
    /// The place of each event.
    places: Vec<Place>,
    tables: Tables,
    bytes_read: u64,
    error: Option<TraceError>,
}

impl Trace {
    fn malformed(&self) -> Option<&Malformed> {
        match &self.error {
            None => None,
            Some(TraceError::Malformed(malformed)) => Some(malformed),
            Some(other) => panic!("{other}"),
        }
    }
}

fn drain(mut source: impl EventSource) -> Trace {
    let (mut events, mut places) = (Vec::new(), Vec::new());
    let mut batch = Vec::new();
    let mut names = Tables::new();
    let error = loop {
        match source.next_batch(&mut batch) {
            Ok(()) if batch.is_empty() => break None,
            Ok(()) => {}
            Err(error) => break Some(error),
        }
        assert!(batch.len() <= BATCH, "a batch of {}", batch.len());
        for event in &batch {
            translate(event, source.tables(), &mut names);
            places.push(source.place(events.len() as u64));
            events.push(*event);
        }
    };
    assert!(source.next_batch(&mut batch).is_err() || batch.is_empty(), "events after the end");
    source.notes();
    if let Some(error) = &error {
        assert!(!error.to_string().contains('\n'), "{error:?}");
    }
    Trace { events, places, tables: source.tables().clone(), bytes_read: source.bytes_read(), error }
}

fn drain_ilt(input: impl Read) -> Trace {
    match IltReader::new(input) {
        Ok(reader) => drain(reader),
        Err(error) => {
            Trace { events: Vec::new(), places: Vec::new(), tables: Tables::new(), bytes_read: 0, error: Some(error) }
        }
    }
}

fn write(trace: &Trace, sink: &mut impl EventSink) {
    // Two calls, so that what is kept between calls matters.
    let (first, second) = trace.events.split_at(trace.events.len() / 2);
    for events in [first, second] {
        sink.write(events, &trace.tables).expect("what was read can be written");
    }
    sink.finish(&trace.tables).expect("what was read can be written");
}

fn ilt(trace: &Trace, options: IltOptions) -> Vec<u8> {
    let mut writer = IltWriter::with_options(Vec::new(), options).expect("memory takes everything");
    write(trace, &mut writer);
    writer.into_inner()
}

fn assert_round_trip(before: &Trace, after: &Trace) {
    assert!(after.error.is_none(), "{:?}", after.error);
    assert_same((&before.events, &before.tables), (&after.events, &after.tables));
}

fn assert_bytes_used(trace: &Trace, data: &[u8]) {
    assert!(trace.bytes_read <= data.len() as u64);
    assert!(trace.error.is_some() || trace.bytes_read == data.len() as u64, "an end before the end");
}

/// Gives an input in pieces of a few bytes.
struct Pieces<'a> {
    data: &'a [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.size = self.size % 13 + 1;
        let (piece, rest) = self.data.split_at(self.size.min(self.data.len()).min(out.len()));
        out[..piece.len()].copy_from_slice(piece);
        self.data = rest;
        Ok(piece.len())
    }
}

fn assert_agrees_in_pieces<'a>(trace: &Trace, data: &'a [u8], read: impl Fn(Pieces<'a>) -> Trace) {
    let again = read(Pieces { data, size: data.len() });
    assert_eq!(trace.events, again.events);
    assert_eq!(trace.places, again.places);
    assert_eq!(trace.error.as_ref().map(ToString::to_string), again.error.as_ref().map(ToString::to_string));
}

fn assert_line_prefix_is_good(trace: &Trace, data: &[u8], prefix: Trace) {
    assert!(prefix.error.is_none(), "{:?} in the lines before {:?} of {data:?}", prefix.error, trace.error);
    assert_eq!(trace.events, prefix.events);
}

fn lines_before<'a>(data: &'a [u8], malformed: &Malformed) -> &'a [u8] {
    let lines = line_of(&malformed.place) as usize - 1;
    let length = data.split_inclusive(|&byte| byte == b'\n').take(lines).map(<[u8]>::len).sum();
    &data[..length]
}

fn line_of(place: &Place) -> u64 {
    let Place::Line(line) = place else { panic!("{place}") };
    *line
}

/// Puts right the checksums of an `.ilt` file, of headers and of payloads, as far as they can be
/// found. See `docs/trace-format.md` for what stands where.
fn repair_checksums(file: &mut [u8]) {
    const HEADER: usize = 20;
    let Some(header) = file.get_mut(..HEADER) else { return };
    seal(header);
    let mut rest = &mut file[HEADER..];
    while let Some((header, payload)) = rest.split_at_mut_checked(HEADER) {
        let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
        let Some((payload, next)) = payload.split_at_mut_checked(length) else { return };
        header[12..16].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
        seal(header);
        rest = next;
    }
}

fn seal(header: &mut [u8]) {
    let (checked, checksum) = header.split_at_mut(16);
    checksum.copy_from_slice(&crc32fast::hash(checked).to_le_bytes());
}
