//! The `.ilt` format: what is written is read back, and nothing else is ever taken for events.

#![allow(clippy::unwrap_used)]

use frame::{Chunk, FILE_HEADER, chunks, file_header, framed};
use interloper_trace::ilt::{Completeness, IltOptions, IltReader, IltWriter, MAGIC, MAX_CHUNK_BYTES, MAX_STRING_BYTES};
use interloper_trace::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::{self, Read};

#[path = "ilt/arbitrary.rs"]
mod arbitrary;
#[path = "ilt/frame.rs"]
mod frame;

/// What came out of reading a file to its end, or to an error.
struct Outcome {
    events: Vec<Event>,
    tables: Tables,
    end: Result<Completeness, TraceError>,
    notes: Vec<String>,
    bytes_read: u64,
}

impl Outcome {
    fn complete(self) -> (Vec<Event>, Tables) {
        match self.end {
            Ok(Completeness::Complete) => (self.events, self.tables),
            other => panic!("not complete: {other:?}"),
        }
    }

    fn malformed(self) -> Malformed {
        match self.end {
            Err(TraceError::Malformed(malformed)) => malformed,
            other => panic!("not malformed: {other:?}"),
        }
    }
}

/// Reads all there is, and checks what holds of every source: errors and ends are final.
fn read(input: impl Read) -> Outcome {
    let mut reader = match IltReader::new(input) {
        Ok(reader) => reader,
        Err(error) => {
            let (events, tables, notes) = (Vec::new(), Tables::new(), Vec::new());
            return Outcome { events, tables, end: Err(error), notes, bytes_read: 0 };
        }
    };
    let mut events = Vec::new();
    let mut batch = Vec::new();
    let end = loop {
        assert!(reader.completeness().is_none());
        match reader.next_batch(&mut batch) {
            Ok(()) if batch.is_empty() => break Ok(reader.completeness().unwrap()),
            Ok(()) => {
                assert!(batch.len() <= BATCH);
                let index = events.len() as u64;
                assert!(matches!(reader.place(index), Place::Event { index: placed, .. } if placed == index));
                events.extend_from_slice(&batch);
            }
            Err(error) => break Err(error),
        }
    };
    for _ in 0..2 {
        batch.push(Event { thread: ThreadId::new(0), site: SiteId::UNKNOWN, op: Op::Exit });
        let again = reader.next_batch(&mut batch);
        assert!(batch.is_empty());
        assert_eq!(again.map_err(|error| error.to_string()).err(), end.as_ref().err().map(|error| error.to_string()));
    }
    let (notes, bytes_read) = (reader.notes(), reader.bytes_read());
    Outcome { events, tables: reader.tables().clone(), end, notes, bytes_read }
}

fn write(events: &[Event], tables: &Tables, options: IltOptions) -> Vec<u8> {
    let mut writer = IltWriter::with_options(Vec::new(), options).unwrap();
    writer.write(events, tables).unwrap();
    writer.finish(tables).unwrap();
    let bytes_written = writer.bytes_written();
    let file = writer.into_inner();
    assert_eq!(file.len() as u64, bytes_written);
    file
}

/// Few events to a chunk, so that small files have many.
fn small_chunks(events_per_chunk: u32) -> IltOptions {
    IltOptions { events_per_chunk, compress: false }
}

fn assert_same_tables(one: &Tables, other: &Tables) {
    let names = |tables: &Tables| -> Vec<String> {
        let mut all = Vec::new();
        all.extend((0..tables.strings.len()).map(|n| tables.strings.get(StringId::new(n as u32)).to_owned()));
        all.extend((0..tables.thread_count()).map(|n| tables.thread(ThreadId::new(n as u32)).to_owned()));
        all.extend((0..tables.lock_count()).map(|n| tables.lock(LockId::new(n as u32)).to_owned()));
        all.extend((0..tables.condition_count()).map(|n| tables.condition(ConditionId::new(n as u32)).to_owned()));
        all.extend((0..tables.semaphore_count()).map(|n| tables.semaphore(SemaphoreId::new(n as u32)).to_owned()));
        all.extend((0..tables.barrier_count()).map(|n| tables.barrier(BarrierId::new(n as u32)).to_owned()));
        all.extend((0..tables.once_count()).map(|n| tables.once(OnceId::new(n as u32)).to_owned()));
        all
    };
    assert_eq!(names(one), names(other));
    assert_eq!(one.locations(), other.locations());
    assert_eq!(one.sites(), other.sites());
    assert_eq!(one.meta(), other.meta());
}

proptest! {
    #[test]
    fn what_is_written_is_read_back((tables, events) in arbitrary::trace(300), per_chunk in 1u32..400, compress: bool) {
        let file = write(&events, &tables, IltOptions { events_per_chunk: per_chunk, compress });
        let outcome = read(&file[..]);
        prop_assert_eq!(outcome.bytes_read, file.len() as u64);
        prop_assert!(outcome.notes.is_empty());
        let (read_events, read_tables) = outcome.complete();
        prop_assert_eq!(read_events, events);
        assert_same_tables(&read_tables, &tables);
    }

    /// Checksums that are right say nothing about a writer that is wrong.
    #[test]
    fn any_payload_behind_a_right_checksum_is_read_without_harm(
        (tables, events) in arbitrary::trace(60),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let file = write(&events, &tables, IltOptions { events_per_chunk: 25, compress: false });
        let mut damaged = file[..FILE_HEADER].to_vec();
        let chunks = chunks(&file);
        let damaged_chunk = changes[0].0.index(chunks.len());
        for (position, chunk) in chunks.iter().enumerate() {
            let mut payload = chunk.payload.to_vec();
            if position == damaged_chunk {
                for (at, byte) in &changes {
                    let at = at.index(payload.len());
                    payload[at] = *byte;
                }
            }
            damaged.extend(framed(chunk.kind, 0, &payload));
        }
        let outcome = read(&damaged[..]);
        let tables = &outcome.tables;
        for event in &outcome.events {
            prop_assert!(event.thread.index() < tables.thread_count());
            if let SiteKind::Table(index) = event.site.kind() {
                prop_assert!(index < tables.site_count());
            }
            if let Op::Read(access) | Op::Write(access) = event.op {
                prop_assert!(access.location.index() < tables.location_count());
                prop_assert!(access.value.get().is_none() || access.size <= 8);
            }
            if let Op::Acquire { lock, .. } | Op::Release { lock, .. } = event.op {
                prop_assert!(lock.index() < tables.lock_count());
            }
        }
    }

    #[test]
    fn any_bytes_at_all_are_read_without_harm(bytes in vec(any::<u8>(), 0..200), kind in any::<u8>()) {
        read(&bytes[..]);
        let mut file = file_header(1, 0, 0);
        file.extend_from_slice(&bytes);
        read(&file[..]);
        let mut file = file_header(1, 0, 0);
        file.extend(framed(kind, 0, &bytes));
        read(&file[..]);
        for kind in *b"SMTLCPBOAFEZ" {
            let mut file = file_header(1, 0, 0);
            file.extend(framed(kind, 0, &bytes));
            read(&file[..]);
        }
    }
}

#[test]
fn a_file_cut_anywhere_gives_its_whole_chunks() {
    let (tables, events) = sample();
    let file = write(&events, &tables, small_chunks(7));
    let chunks = chunks(&file);
    for length in 0..file.len() {
        let outcome = read(&file[..length]);
        if length < FILE_HEADER {
            let malformed = outcome.malformed();
            assert_eq!(malformed.place, Place::Byte(0));
            assert!(malformed.expected.contains("header"), "{malformed}");
            continue;
        }
        let whole = || chunks.iter().take_while(|chunk| chunk.end <= length);
        let expected = whole().map(Chunk::event_count).sum::<usize>();
        assert_eq!(outcome.events, events[..expected], "cut at {length}");
        let at_byte = whole().last().map_or(FILE_HEADER, |chunk| chunk.end) as u64;
        assert_eq!(outcome.end.unwrap(), Completeness::Truncated { at_byte, events: expected as u64 });
        let note = &outcome.notes[0];
        assert!(note.contains(&format!("byte {at_byte}")) && note.contains(&format!("{expected} events")), "{note}");
    }
    assert_eq!(read(&file[..]).complete().0, events);
}

#[test]
fn every_flipped_bit_is_noticed() {
    let (tables, events) = sample();
    for compress in [false, true] {
        let file = write(&events, &tables, IltOptions { events_per_chunk: 9, compress });
        for bit in 0..8 * file.len() {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let outcome = read(&flipped[..]);
            assert!(events.starts_with(&outcome.events), "bit {bit}");
            let malformed = outcome.malformed();
            assert!(matches!(malformed.place, Place::Byte(at) if at <= bit as u64 / 8), "bit {bit}: {malformed}");
        }
    }
}

#[test]
fn a_plain_access_takes_few_bytes() {
    let mut tables = Tables::new();
    let threads: Vec<_> = (0..8).map(|n| tables.intern_thread(&format!("T{n}")).unwrap()).collect();
    let locations: Vec<_> = (0..1000).map(|n| tables.intern_location("accounts", 8 * n).unwrap()).collect();
    // Every access by another thread than the one before, on an account far from the last.
    let access = |n: usize, value: Value| {
        let access =
            Access { location: locations[n * 377 % 1000], size: 8, order: MemoryOrder::Plain, more: false, value };
        let site = SiteId::bare_line(10 + n as u64 % 20).unwrap();
        Event {
            thread: threads[n % 8],
            site,
            op: if n.is_multiple_of(3) { Op::Write(access) } else { Op::Read(access) },
        }
    };
    let bytes_each = |value: fn(usize) -> Value| {
        let events: Vec<_> = (0..100_000).map(|n| access(n, value(n))).collect();
        let file = write(&events, &tables, IltOptions { compress: false, ..IltOptions::default() });
        assert_eq!(read(&file[..]).complete().0, events);
        let chunks = chunks(&file);
        chunks.iter().filter(|chunk| chunk.kind == b'E').map(|chunk| chunk.payload.len()).sum::<usize>() as f64
            / events.len() as f64
    };
    assert!(bytes_each(|_| Value::UNKNOWN) <= 5.01);
    assert!(bytes_each(|n| Value::known(n as u64 % 5000)) <= 8.0);
}

#[test]
fn chunks_hold_as_many_events_as_asked_and_no_more_bytes_than_is_good() {
    let (tables, events) = sample();
    let counts: Vec<_> = chunks(&write(&events, &tables, small_chunks(9)))
        .iter()
        .filter(|chunk| chunk.kind == b'E')
        .map(Chunk::event_count)
        .collect();
    assert_eq!(counts, [9, 9, 9, 9, 4]);

    let many = events.repeat(20_000);
    let options = IltOptions { events_per_chunk: u32::MAX, compress: false };
    let file = write(&many, &tables, options);
    let sizes: Vec<_> =
        chunks(&file).iter().filter(|chunk| chunk.kind == b'E').map(|chunk| chunk.payload.len()).collect();
    assert!(sizes.len() > 1 && sizes.iter().all(|&size| size <= 1 << 20), "{sizes:?}");
    assert_eq!(read(&file[..]).complete().0, many);
}

#[test]
fn tables_may_grow_while_events_are_written() {
    let mut tables = Tables::new();
    let mut writer = IltWriter::with_options(Vec::new(), small_chunks(3)).unwrap();
    let mut events = Vec::new();
    for n in 0..20 {
        let thread = tables.intern_thread(&format!("T{}", n % 4)).unwrap();
        let location = tables.intern_location(&format!("v{n}"), n).unwrap();
        let file = Some(tables.strings.intern(&format!("file {n}")).unwrap());
        let site = tables.intern_site(Site { file, function: None, line: Some(1) }).unwrap();
        let event = Event { thread, site, op: Op::Read(Access::bare(location)) };
        writer.write(&[event], &tables).unwrap();
        events.push(event);
    }
    tables.push_meta("status".to_owned(), "exit 0".to_owned());
    writer.finish(&tables).unwrap();
    let (read_events, read_tables) = read(&writer.into_inner()[..]).complete();
    assert_eq!(read_events, events);
    assert_same_tables(&read_tables, &tables);
}

#[test]
fn flushed_events_survive_without_an_end() {
    let (tables, events) = sample();
    let mut writer = IltWriter::new(Vec::new()).unwrap();
    writer.write(&events[..10], &tables).unwrap();
    writer.flush_chunk(&tables).unwrap();
    writer.write(&events[10..20], &tables).unwrap();
    writer.flush_chunk(&tables).unwrap();
    writer.flush_chunk(&tables).unwrap();
    writer.write(&events[20..], &tables).unwrap();
    let outcome = read(&writer.into_inner()[..]);
    assert_eq!(outcome.events, events[..20]);
    assert!(matches!(outcome.end, Ok(Completeness::Truncated { events: 20, .. })));
}

#[test]
fn an_empty_trace_is_a_trace() {
    let file = write(&[], &Tables::new(), IltOptions::default());
    assert_eq!(file.len(), 20 + 20 + 8);
    assert!(read(&file[..]).complete().0.is_empty());
    let header_only = IltWriter::new(Vec::new()).unwrap().into_inner();
    assert_eq!(read(&header_only[..]).end.unwrap(), Completeness::Truncated { at_byte: 20, events: 0 });
}

#[test]
fn slow_and_interrupted_inputs_are_read_like_others() {
    struct Trickle<'a>(&'a [u8], bool);
    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(&mut buffer[..1]) }
        }
    }
    let (tables, events) = sample();
    let file = write(&events, &tables, small_chunks(9));
    assert_eq!(read(Trickle(&file, false)).complete().0, events);
}

#[test]
fn a_failing_input_is_an_error_after_what_was_read() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is on fire"))
        }
    }
    let (tables, events) = sample();
    let file = write(&events, &tables, small_chunks(9));
    let first_events = chunks(&file).into_iter().find(|chunk| chunk.kind == b'E').unwrap();
    let outcome = read(file[..first_events.end].chain(Failing));
    assert_eq!(outcome.events, events[..9]);
    assert_eq!(outcome.end.unwrap_err().to_string(), "cannot read: the disk is on fire");
}

#[test]
fn a_failed_output_is_not_written_on() {
    let (tables, events) = sample();
    let mut room = [0; 100];
    let mut writer = IltWriter::new(&mut room[..]).unwrap();
    writer.write(&events, &tables).unwrap();
    assert!(matches!(writer.finish(&tables), Err(SinkError::Io(_))));
    assert!(matches!(writer.write(&events, &tables), Err(SinkError::Io(_))));

    let mut finished = IltWriter::new(Vec::new()).unwrap();
    finished.finish(&tables).unwrap();
    assert!(matches!(finished.write(&events, &tables), Err(SinkError::Io(_))));
}

#[test]
fn what_the_format_does_not_hold_is_refused() {
    let (tables, _) = sample();
    let access = Access { size: 4, ..Access::bare(LocationId::new(0)) };
    let rmw = ReadModifyWrite {
        location: LocationId::new(0),
        size: 4,
        order: MemoryOrder::Relaxed,
        success: false,
        more: false,
        read: Value::known(1),
        written: Value::UNKNOWN,
    };
    let id = ExprId::new(0);
    let apply = |operands| Expr::Apply { operator: Operator::Not, width: 1, operands };
    for (op, what) in [
        (Op::Read(Access { value: Value::known(1 << 32), ..access }), "value 0x100000000 in 4 bytes"),
        (Op::Write(Access { size: 9, value: Value::known(0), ..access }), "value 0x0 in 9 bytes"),
        (Op::Read(Access { location: LocationId::new(99), ..access }), "location 99"),
        (Op::ReadModifyWrite(ReadModifyWrite { size: 9, ..rmw }), "of 9 bytes"),
        (Op::ReadModifyWrite(ReadModifyWrite { written: Value::known(2), ..rmw }), "failed"),
        (Op::Request(LockId::new(99)), "lock 99"),
        (Op::Fork(ThreadId::new(99)), "thread 99"),
        (Op::Enter { function: StringId::new(9999) }, "string 9999"),
        (Op::RegionEnd(Region { name: Some(StringId::new(9999)), source: RegionSource::Locks }), "string 9999"),
        (Op::Define { id, expr: Expr::Constant { width: 0, bits: 0 } }, "0 bits"),
        (Op::Define { id, expr: Expr::Constant { width: 65, bits: 0 } }, "65 bits"),
        (Op::Define { id, expr: Expr::Constant { width: 4, bits: 16 } }, "0x10 in 4 bits"),
        (Op::Define { id, expr: apply([id, id, ExprId::new(1)]) }, "operands of not"),
    ] {
        let event = Event { thread: ThreadId::new(0), site: SiteId::UNKNOWN, op };
        let mut writer = IltWriter::new(Vec::new()).unwrap();
        let good = Event { op: Op::Start, ..event };
        let error = writer.write(&[good, event], &tables).unwrap_err();
        assert!(matches!(error, SinkError::Inexpressible { index: 1, .. }));
        assert!(error.to_string().contains(what), "{error}");
    }
    for event in [
        Event { thread: ThreadId::new(99), site: SiteId::UNKNOWN, op: Op::Start },
        Event { thread: ThreadId::new(0), site: SiteId::table_entry(99).unwrap(), op: Op::Start },
    ] {
        let error = IltWriter::new(Vec::new()).unwrap().write(&[event], &tables).unwrap_err();
        assert!(matches!(error, SinkError::Inexpressible { index: 0, .. }));
    }
    let mut tables = Tables::new();
    tables.strings.intern(&"x".repeat(MAX_STRING_BYTES)).unwrap();
    IltWriter::new(Vec::new()).unwrap().finish(&tables).unwrap();
    tables.strings.intern(&"x".repeat(MAX_STRING_BYTES + 1)).unwrap();
    assert!(IltWriter::new(Vec::new()).unwrap().finish(&tables).is_err());
}

#[test]
fn other_versions_are_refused_with_advice() {
    for (major, advice) in [(2, "upgrade"), (0, "convert")] {
        let malformed = read(&file_header(major, 3, 0)[..]).malformed();
        assert_eq!(malformed.place, Place::Byte(8));
        assert!(malformed.found.contains(&format!("{major}.3")), "{malformed}");
        assert!(malformed.expected.contains(advice), "{malformed}");
    }
    // A newer minor version is read as long as it holds nothing new.
    let mut file = file_header(1, 7, 0);
    file.extend(framed(b'Z', 0, &[0; 8]));
    assert!(read(&file[..]).complete().0.is_empty());

    let mut file = file_header(1, 7, 0);
    file.extend(framed(b'?', 0, b"new"));
    let malformed = read(&file[..]).malformed();
    assert!(malformed.found.contains("0x3f") && malformed.expected.contains("upgrade interloper"), "{malformed}");

    let mut file = file_header(1, 0, 0);
    file.extend(framed(b'?', 0, b"wrong"));
    let malformed = read(&file[..]).malformed();
    assert!(!malformed.expected.contains("upgrade"), "{malformed}");

    assert!(read(&file_header(1, 1, 4)[..]).malformed().expected.contains("upgrade"));
}

#[test]
fn files_of_other_kinds_are_told_apart() {
    assert!(read(&b""[..]).malformed().found.contains("empty"));
    assert!(read(&b"T0|r(V1)|3\nT1|w(V1)|4\n"[..]).malformed().found.contains("T0|r"));
    let mut text_mode = file_header(1, 0, 0);
    text_mode.remove(4);
    text_mode.push(0);
    assert!(read(&text_mode[..]).malformed().found.contains("text mode"));
    assert!(file_header(1, 0, 0).starts_with(&MAGIC));
}

#[test]
fn chunks_that_are_not_needed_are_passed_over() {
    let (tables, events) = sample();
    let file = write(&events, &tables, small_chunks(9));
    let mut with_more = file[..FILE_HEADER].to_vec();
    for chunk in chunks(&file) {
        with_more.extend(framed(b'?', 1, b"of no concern"));
        with_more.extend_from_slice(&file[chunk.begin..chunk.end]);
    }
    let outcome = read(&with_more[..]);
    assert_eq!(outcome.notes.len(), 1);
    assert!(outcome.notes[0].contains("passed over"));
    assert_eq!(outcome.complete().0, events);
}

#[test]
fn data_after_the_end_is_an_error() {
    let (tables, events) = sample();
    let mut file = write(&events, &tables, IltOptions::default());
    let end = file.len() as u64;
    file.push(0);
    let outcome = read(&file[..]);
    assert_eq!(outcome.events, events);
    assert_eq!(outcome.malformed().place, Place::Byte(end));
}

#[test]
fn lengths_that_cannot_be_are_not_believed() {
    let header = |codec: u8, stored: u32, raw: u32| {
        let mut header = vec![b'S', codec, 0, 0];
        header.extend(stored.to_le_bytes());
        header.extend(raw.to_le_bytes());
        header.extend([0; 4]);
        header.extend(crc32fast::hash(&header).to_le_bytes());
        [file_header(1, 0, 0), header].concat()
    };
    for (codec, stored, raw, found) in [
        (0, u32::MAX, u32::MAX, "4294967295 bytes"),
        (1, 10, u32::MAX, "4294967295 bytes"),
        (1, MAX_CHUNK_BYTES + 1, 10, "16777217 bytes"),
        (0, 10, 11, "10 bytes stored for a payload of 11"),
        (2, 0, 0, "codec 2"),
    ] {
        let malformed = read(&header(codec, stored, raw)[..]).malformed();
        assert!(malformed.found.contains(found), "{malformed}");
    }
    // Allowed, but not there: the file is cut off.
    let outcome = read(&header(0, MAX_CHUNK_BYTES, MAX_CHUNK_BYTES)[..]);
    assert_eq!(outcome.end.unwrap(), Completeness::Truncated { at_byte: 20, events: 0 });

    for (kind, payload, found) in [
        (b'S', &[0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f][..], "a string of 4294967295 bytes"),
        (b'S', &[0, 1, 5, b'a'], "the end of the chunk"),
        (b'S', &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], "the end of the chunk"),
        (b'S', &[1, 0], "string 1 as the first of a chunk"),
        (b'S', &[0, 2, 1, b'a', 1, b'a'], "string 1, which is the same"),
        (b'S', &[0, 1, 1, 0xff], "the string"),
        (b'S', &[0, 1, 1, b'a', 0], "1 bytes after the last entry"),
        (b'T', &[0, 1, 0], "string 0"),
        (b'F', &[0, 0], "site 0 as the first of a chunk"),
        (b'F', &[1, 1, 8], "site flags 0x08"),
        (b'F', &[1, 1, 0], "site 1, which is the same"),
        (b'Z', &[0; 7], "an end mark of 7 bytes"),
        (b'Z', &[1, 0, 0, 0, 0, 0, 0, 0], "1 events"),
    ] {
        let file = [file_header(1, 0, 0), framed(kind, 0, payload)].concat();
        let malformed = read(&file[..]).malformed();
        assert_eq!(malformed.place, Place::Byte(20));
        assert!(malformed.found.contains(found), "{malformed}");
    }
}

#[test]
fn an_event_that_is_wrong_comes_after_those_that_are_right() {
    // One thread, one lock; the events are Start, and then what is given.
    let file = |streams: &[u8], segments: &[u8], events: &[u8], count: u32| {
        let mut chunk = Vec::new();
        chunk.extend(0u64.to_le_bytes());
        chunk.extend(count.to_le_bytes());
        chunk.extend(1u32.to_le_bytes());
        chunk.extend((segments.len() as u32).to_le_bytes());
        for part in [streams, segments, events] {
            chunk.extend_from_slice(part);
        }
        [
            file_header(1, 0, 0),
            framed(b'S', 0, &[0, 1, 1, b'x']),
            framed(b'T', 0, &[0, 1, 0]),
            framed(b'L', 0, &[0, 1, 0]),
            framed(b'A', 0, &[0, 1, 0, 0]),
            framed(b'E', 0, &chunk),
        ]
        .concat()
    };
    let after_start = |event: &[u8]| {
        let length = 2 + event.len() as u8;
        file(&[0, 2, length], &[1], &[&[0x99, 0], event].concat(), 2)
    };
    let good = read(&after_start(&[0x82, 0, 0])[..]);
    assert_eq!(good.events.len(), 2);
    for (event, found) in [
        (&[0x82, 0, 1][..], "lock 1"),
        (&[0x82, 0], "the end of the stream"),
        (&[0x82, 0, 0, 0], "1 bytes after the last event"),
        (&[0x82, 2, 0], "site 1"),
        (&[0xb1, 0], "the unknown tag 0xb1"),
        (&[0xff, 0], "the unknown tag 0xff"),
        (&[0x06, 0, 0], "the unknown size code 6"),
        (&[0x00, 0, 2], "location 1"),
        (&[0x00, 0, 1], "location 4294967295"),
        (&[0x09, 0, 0, 0x80, 2], "the value 0x100 in 1 bytes"),
        (&[0x0d, 0, 0, 9, 0], "the value 0x0 in 9 bytes"),
        (&[0x40, 0, 0, 7], "memory order 0x07"),
        (&[0x40, 0, 0, 0x10], "unknown flags in the memory order 0x10"),
        (&[0x65, 0, 0, 9, 0], "a read-modify-write of 9 bytes"),
        (&[0x70, 0, 0, 1, 0], "that failed"),
        (&[0xa0, 0, 2], "string 2"),
        (&[0x97, 0, 1], "thread 1"),
        (&[0xaa, 0, 0, 65, 0], "65 bits"),
        (&[0xaa, 0, 0, 1, 2], "the constant 0x2 in 1 bits"),
        (&[0xab, 0, 0, 1, 26, 0, 0], "the unknown operator 26"),
        (&[0x9d, 0, 0xff, 0xff, 0xff, 0xff, 0x1f], "8589934591 as a number of branches"),
    ] {
        let outcome = read(&after_start(event)[..]);
        assert!(outcome.events.len() == if found.contains("after the last") { 2 } else { 1 }, "{found}");
        assert_eq!(outcome.events[0].op, Op::Start);
        let malformed = outcome.malformed();
        assert!(matches!(malformed.place, Place::Event { index: 1 | 2, .. }), "{malformed}");
        assert!(malformed.found.contains(found), "{malformed}");
    }

    let start = &[0x99, 0];
    for (streams, segments, count, found) in [
        (&[0, 1, 2][..], &[][..], 1, "the end of the list of segments"),
        (&[0, 1, 2], &[0, 0], 1, "1 bytes of segments after the last event"),
        (&[0, 1, 2], &[0], 2, "streams of 1 events"),
        (&[0, 1, 3], &[0], 1, "2 bytes for the streams"),
        (&[1, 1, 2], &[0], 1, "thread 1"),
        (&[0, 1, 2], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 1, "a segment of"),
    ] {
        let malformed = read(&file(streams, segments, start, count)[..]).malformed();
        assert!(malformed.found.contains(found), "{malformed}");
    }
}

#[test]
fn an_event_place_names_its_chunk() {
    let (tables, events) = sample();
    let file = write(&events, &tables, small_chunks(9));
    let expected: Vec<_> =
        chunks(&file).iter().filter(|chunk| chunk.kind == b'E').map(|chunk| chunk.begin as u64).collect();
    let mut reader = IltReader::new(&file[..]).unwrap();
    let (mut batch, mut index, mut found) = (Vec::new(), 0, Vec::new());
    loop {
        reader.next_batch(&mut batch).unwrap();
        if batch.is_empty() {
            break;
        }
        let Place::Event { chunk, .. } = reader.place(index) else { panic!("not an event") };
        found.push(chunk);
        index += batch.len() as u64;
    }
    assert_eq!(found, expected);
}

/// The example of the documentation: its dump is what this writes, byte for byte.
#[test]
fn the_documented_file_is_what_is_written() {
    let mut tables = Tables::new();
    tables.push_meta("command".to_owned(), "./bank".to_owned());
    let threads = ["main", "main/1"].map(|name| tables.intern_thread(name).unwrap());
    let lock = tables.intern_lock("m").unwrap();
    let location = tables.intern_location("balance", 0).unwrap();
    let file = Some(tables.strings.intern("bank.c").unwrap());
    let function = Some(tables.strings.intern("deposit").unwrap());
    let mut site = |line| tables.intern_site(Site { file, function, line: Some(line) }).unwrap();
    let [lock_line, read_line, write_line, unlock_line] = [7, 8, 9, 10].map(&mut site);
    let balance = |value| Access { size: 4, value: Value::known(value), ..Access::bare(location) };
    let mode = LockMode::Exclusive;
    let events: Vec<_> = [
        (0, SiteId::UNKNOWN, Op::Fork(threads[1])),
        (0, lock_line, Op::Acquire { lock, mode, by: Attempt::Blocking }),
        (0, read_line, Op::Read(balance(100))),
        (1, read_line, Op::Read(balance(100))),
        (1, write_line, Op::Write(balance(300))),
        (0, write_line, Op::Write(balance(110))),
        (0, unlock_line, Op::Release { lock, mode }),
    ]
    .map(|(thread, site, op)| Event { thread: threads[thread], site, op })
    .to_vec();

    let file = write(&events, &tables, IltOptions::default());
    let document = include_str!("../../../docs/trace-format.md");
    let dump = document.split("```dump\n").nth(1).unwrap().split("```").next().unwrap();
    let mut documented = Vec::new();
    for line in dump.lines().filter(|line| !line.is_empty()) {
        let (offset, rest) = line.split_once("  ").unwrap();
        let bytes = rest.split("  ").next().unwrap();
        assert_eq!(usize::from_str_radix(offset, 16).unwrap(), documented.len(), "{line}");
        documented.extend(bytes.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    assert_eq!(hex(&documented), hex(&file));
    assert_eq!(read(&documented[..]).complete().0, events);
}

/// Forty events of three threads.
fn sample() -> (Tables, Vec<Event>) {
    let tables = arbitrary::tables(arbitrary::Counts { names: 3, locations: 10, sites: 5 });
    let lock = LockId::new(1);
    let mode = LockMode::Exclusive;
    let events = (0..40u32)
        .map(|n| {
            let access = Access {
                location: LocationId::new(n * 7 % 10),
                size: 4,
                order: MemoryOrder::Plain,
                more: false,
                value: Value::known(u64::from(n * n)),
            };
            let op = match n % 5 {
                0 => Op::Acquire { lock, mode, by: Attempt::Blocking },
                1 | 2 => Op::Read(access),
                3 => Op::Write(access),
                _ => Op::Release { lock, mode },
            };
            let site = SiteId::bare_line(u64::from(n)).unwrap();
            Event { thread: ThreadId::new(n * n % 3), site, op }
        })
        .collect();
    (tables, events)
}
