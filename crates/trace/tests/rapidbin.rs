//! The RapidBin reader, on the real files and on broken ones.

#![allow(clippy::unwrap_used)]

use interloper_trace::rapidbin::RapidBinReader;
use interloper_trace::{BATCH, Event, EventSource, Op, Place, Region, RegionSource, SiteId, TraceError};

fn drain(bytes: &[u8]) -> (Vec<Event>, RapidBinReader<&[u8]>, Option<TraceError>) {
    let mut reader = RapidBinReader::new(bytes);
    let (mut events, mut batch) = (Vec::new(), Vec::new());
    loop {
        match reader.next_batch(&mut batch) {
            Ok(()) if batch.is_empty() => return (events, reader, None),
            Ok(()) => events.append(&mut batch),
            Err(error) => return (events, reader, Some(error)),
        }
    }
}

fn file(threads: i16, locks: i32, variables: i32, events: &[u64]) -> Vec<u8> {
    let mut bytes = threads.to_be_bytes().to_vec();
    bytes.extend(locks.to_be_bytes());
    bytes.extend(variables.to_be_bytes());
    bytes.extend((events.len() as i64).to_be_bytes());
    bytes.extend(events.iter().flat_map(|event| event.to_be_bytes()));
    bytes
}

fn event(thread: u64, operation: u64, operand: u64, location: u64) -> u64 {
    thread | operation << 10 | operand << 14 | location << 48
}

/// What a real file holds: events by kind, entries by table, and notes.
fn summary(bytes: &[u8]) -> String {
    let (events, reader, error) = drain(bytes);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(reader.bytes_read(), bytes.len() as u64);
    let count = |kind: fn(&Op) -> bool| events.iter().filter(|event| kind(&event.op)).count();
    let tables = reader.tables();
    format!(
        "{} events: {} acq, {} rel, {} r, {} w, {} fork, {} join, {} begin, {} end, {} req, {} marks; \
         {} threads, {} locks, {} variables; notes {:?}",
        events.len(),
        count(|op| matches!(op, Op::Acquire { .. })),
        count(|op| matches!(op, Op::Release { .. })),
        count(|op| matches!(op, Op::Read(_))),
        count(|op| matches!(op, Op::Write(_))),
        count(|op| matches!(op, Op::Fork(_))),
        count(|op| matches!(op, Op::Join(_))),
        count(|op| matches!(op, Op::RegionBegin(_))),
        count(|op| matches!(op, Op::RegionEnd(_))),
        count(|op| matches!(op, Op::Request(_))),
        count(|op| matches!(op, Op::Mark { .. })),
        tables.thread_count(),
        tables.lock_count(),
        tables.location_count(),
        reader.notes(),
    )
}

#[test]
fn real_files() {
    assert_eq!(
        summary(include_bytes!("data/Account.data")),
        "706 events: 72 acq, 72 rel, 314 r, 154 w, 5 fork, 0 join, 11 begin, 11 end, 62 req, 5 marks; \
         6 threads, 6 locks, 46 variables; notes [\"event 701: thread T5 ends a region that it never began; \
         this and all later begin and end are ignored\"]"
    );
    assert_eq!(
        summary(include_bytes!("data/Transfer.data")),
        "72 events: 8 acq, 8 rel, 15 r, 23 w, 2 fork, 0 join, 5 begin, 5 end, 4 req, 2 marks; \
         3 threads, 3 locks, 10 variables; notes [\"event 70: thread T2 ends a region that it never began; \
         this and all later begin and end are ignored\"]"
    );
    assert_eq!(
        summary(include_bytes!("data/StringBuffer.data")),
        "74 events: 7 acq, 5 rel, 22 r, 21 w, 2 fork, 0 join, 5 begin, 3 end, 9 req, 0 marks; \
         3 threads, 3 locks, 13 variables; notes []"
    );
    assert_eq!(
        summary(include_bytes!("data/Dbcp1.data")),
        "2160 events: 28 acq, 28 rel, 657 r, 1409 w, 2 fork, 0 join, 5 begin, 3 end, 28 req, 0 marks; \
         3 threads, 4 locks, 767 variables; notes []"
    );
}

#[test]
fn every_operation() {
    let events: Vec<u64> = (0..=8).map(|operation| event(2, operation, u64::from(operation != 6), 30)).collect();
    let bytes = file(3, 2, 2, &events);
    let (events, reader, error) = drain(&bytes);
    assert!(error.is_none(), "{error:?}");
    let tables = reader.tables();
    let texts: Vec<String> = events
        .iter()
        .map(|event| {
            assert_eq!(tables.thread(event.thread), "T2");
            assert_eq!(Some(event.site), SiteId::bare_line(30));
            match event.op {
                Op::Acquire { lock, .. } => format!("acq {}", tables.lock(lock)),
                Op::Release { lock, .. } => format!("rel {}", tables.lock(lock)),
                Op::Request(lock) => format!("req {}", tables.lock(lock)),
                Op::Read(access) => format!("r {}", tables.location_name(access.location)),
                Op::Write(access) => format!("w {}", tables.location_name(access.location)),
                Op::Fork(thread) => format!("fork {}", tables.thread(thread)),
                Op::Join(thread) => format!("join {}", tables.thread(thread)),
                Op::RegionBegin(Region { name: None, source: RegionSource::Annotated }) => "begin".to_owned(),
                Op::RegionEnd(Region { name: None, source: RegionSource::Annotated }) => "end".to_owned(),
                other => panic!("{other:?}"),
            }
        })
        .collect();
    assert_eq!(texts, ["acq L1", "rel L1", "r V1", "w V1", "fork T1", "join T1", "begin", "end", "req L1"]);
}

#[test]
fn regions_after_a_surplus_end_are_marks() {
    let events = [(0, 6), (1, 6), (1, 7), (1, 7), (0, 7), (0, 6)].map(|(thread, code)| event(thread, code, 0, 0));
    let bytes = file(2, 0, 0, &events);
    let (events, reader, error) = drain(&bytes);
    assert!(error.is_none(), "{error:?}");
    let region = Region { name: None, source: RegionSource::Annotated };
    let expected = [
        Op::RegionBegin(region),
        Op::RegionBegin(region),
        Op::RegionEnd(region),
        Op::Mark { code: 7 },
        Op::Mark { code: 7 },
        Op::Mark { code: 6 },
    ];
    assert_eq!(events.iter().map(|event| event.op).collect::<Vec<_>>(), expected);
    assert_eq!(reader.notes().len(), 1);
}

#[test]
fn broken_files() {
    let good = event(0, 2, 0, 1);
    let one = |event| file(1, 1, 1, &[good, event]);
    let cut = |bytes: &[u8], length: usize| bytes[..length].to_vec();
    let grown = |mut bytes: Vec<u8>, by: &[u8]| {
        bytes.extend(by);
        bytes
    };
    let mut negative_events = file(1, 1, 1, &[]);
    negative_events[10] = 0xff;
    for (bytes, events, message) in [
        (vec![], 0, "byte 0: found the end of the file, expected a header of 18 bytes"),
        (vec![0; 17], 0, "byte 17: found the end of the file, expected a header of 18 bytes"),
        (file(-1, 1, 1, &[]), 0, "byte 0: found -1 as the thread count, expected a count of at least 0"),
        (file(1, -2, 1, &[]), 0, "byte 2: found -2 as the lock count, expected a count of at least 0"),
        (file(1, 1, -3, &[]), 0, "byte 6: found -3 as the variable count, expected a count of at least 0"),
        (negative_events, 0, "byte 10: found -72057594037927936 as the event count, expected a count of at least 0"),
        (
            cut(&one(good), 33),
            1,
            "byte 33: found the end of the file after 1 events, expected the 2 events that the header announces",
        ),
        (
            cut(&one(good), 26),
            1,
            "byte 26: found the end of the file after 1 events, expected the 2 events that the header announces",
        ),
        (
            grown(one(good), &[0]),
            2,
            "byte 34: found more bytes, expected the end of the file after the 2 events that the header announces",
        ),
        (one(good | 1 << 63), 1, "byte 26: found an event whose top bit is set, expected a top bit of 0"),
        (
            one(event(1, 2, 0, 0)),
            1,
            "byte 26: found thread 1, expected a number below 1, the thread count of the header",
        ),
        (one(event(0, 0, 1, 0)), 1, "byte 26: found lock 1, expected a number below 1, the lock count of the header"),
        (one(event(0, 8, 7, 0)), 1, "byte 26: found lock 7, expected a number below 1, the lock count of the header"),
        (
            one(event(0, 3, 0x3_ffff_ffff, 0)),
            1,
            "byte 26: found variable 17179869183, expected a number below 1, the variable count of the header",
        ),
        (
            one(event(0, 4, 1, 0)),
            1,
            "byte 26: found thread 1 as operand, expected a number below 1, the thread count of the header",
        ),
        (
            one(event(0, 5, 1, 0)),
            1,
            "byte 26: found thread 1 as operand, expected a number below 1, the thread count of the header",
        ),
        (one(event(0, 9, 0, 0)), 1, "byte 26: found operation 9, expected an operation from 0 (acq) to 8 (req)"),
        (one(event(0, 15, 0, 0)), 1, "byte 26: found operation 15, expected an operation from 0 (acq) to 8 (req)"),
    ] {
        let (read, _, error) = drain(&bytes);
        assert_eq!(error.unwrap().to_string(), message);
        assert_eq!(read.len(), events, "{message}");
    }
}

#[test]
fn batches_and_places() {
    let events: Vec<u64> = (0..2 * BATCH as u64 + 5).map(|index| event(0, 2, index % 7, index % 100)).collect();
    let bytes = file(1, 0, 7, &events);
    let mut reader = RapidBinReader::new(bytes.as_slice());
    let mut batch = Vec::new();
    let mut sizes = Vec::new();
    loop {
        reader.next_batch(&mut batch).unwrap();
        sizes.push(batch.len());
        if batch.is_empty() {
            break;
        }
    }
    assert_eq!(sizes, [BATCH, BATCH, 5, 0]);
    assert_eq!(reader.place(0), Place::Byte(18));
    assert_eq!(reader.place(8200), Place::Byte(18 + 8 * 8200));
}
