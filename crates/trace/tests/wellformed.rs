//! What the well-formedness checker says of operations that STD has no words for. (What STD can
//! say is tested through the command line.)
//!
//! Traces are written as lines `thread op operands`, so that a case is its own picture.

#![allow(clippy::unwrap_used)]

use interloper_trace::wellformed::{Rules, WellFormed};
use interloper_trace::{Access, Attempt, Event, LockMode, Op, Region, RegionSource, SiteId, Tables, Wake};

fn event(line: &str, tables: &mut Tables) -> Event {
    let words: Vec<&str> = line.split_whitespace().collect();
    let operand = |at: usize| words.get(at).copied().unwrap_or_else(|| panic!("operand {at} of {line}"));
    let thread = tables.intern_thread(words[0]).unwrap();
    let mut lock = |at| tables.intern_lock(operand(at)).unwrap();
    let source = |at| RegionSource::from_name(operand(at)).unwrap();
    let (exclusive, shared) = (LockMode::Exclusive, LockMode::Shared);
    let op = match words[1] {
        "read" => Op::Read(Access::bare(tables.intern_location("x", 0).unwrap())),
        "acq" => Op::Acquire { lock: lock(2), mode: exclusive, by: Attempt::Blocking },
        "try" => Op::Acquire { lock: lock(2), mode: exclusive, by: Attempt::Try },
        "try-failed" => Op::TryAcquireFailed { lock: lock(2), mode: exclusive },
        "acq-shared" => Op::Acquire { lock: lock(2), mode: shared, by: Attempt::Blocking },
        "try-shared" => Op::Acquire { lock: lock(2), mode: shared, by: Attempt::Try },
        "rel" => Op::Release { lock: lock(2), mode: exclusive },
        "rel-shared" => Op::Release { lock: lock(2), mode: shared },
        "request" => Op::Request(lock(2)),
        "wait" => Op::WaitBegin { lock: lock(3), condition: tables.intern_condition(operand(2)).unwrap() },
        "woken" => {
            Op::WaitEnd { lock: lock(3), condition: tables.intern_condition(operand(2)).unwrap(), wake: Wake::Notified }
        }
        "signal" => Op::Signal(tables.intern_condition(operand(2)).unwrap()),
        "fork" => Op::Fork(tables.intern_thread(operand(2)).unwrap()),
        "join" => Op::Join(tables.intern_thread(operand(2)).unwrap()),
        "start" => Op::Start,
        "finish" => Op::Finish,
        "begin" => Op::RegionBegin(Region { name: None, source: source(2) }),
        "end" => Op::RegionEnd(Region { name: None, source: source(2) }),
        other => panic!("no operation {other}"),
    };
    Event { thread, site: SiteId::UNKNOWN, op }
}

/// Checks events separated by semicolons; an error is the number of the event, from one, and what
/// was found there.
fn check(trace: &str) -> Result<(), (usize, String)> {
    let mut tables = Tables::new();
    let mut checker = WellFormed::new(Rules::Std);
    for (number, line) in (1..).zip(trace.split(';')) {
        let event = event(line, &mut tables);
        checker.check(&event, &tables).map_err(|breach| {
            assert!(!breach.expected.is_empty(), "{trace}");
            (number, breach.found.clone())
        })?;
    }
    Ok(())
}

#[track_caller]
fn accepted(traces: &[&str]) {
    for trace in traces {
        assert_eq!(check(trace), Ok(()), "{trace}");
    }
}

/// Each must be rejected at its last event, with this as what was found.
#[track_caller]
fn rejected(cases: &[(&str, &str)]) {
    for (trace, found) in cases {
        assert_eq!(check(trace), Err((trace.split(';').count(), (*found).to_owned())), "{trace}");
    }
}

#[test]
fn shared_locks() {
    accepted(&[
        "A acq-shared l; B acq-shared l; A rel-shared l; B rel-shared l; C acq l",
        "A acq-shared l; A acq-shared l; A rel-shared l; A rel-shared l; B acq l",
        "A acq l; A rel l; B acq-shared l",
        "A acq-shared l; A acq m; A rel-shared l; A rel m",
        "A try-shared l; B acq-shared l; B rel-shared l; A rel-shared l",
    ]);
    rejected(&[
        ("A acq-shared l; B acq l", "an acquisition of lock l, which thread A holds"),
        ("A acq l; B acq-shared l", "an acquisition of lock l, which thread A holds"),
        (
            "A acq-shared l; A rel-shared l; A rel-shared l",
            "thread A releasing lock l, which it does not hold in shared mode",
        ),
        ("A acq-shared l; B rel-shared l", "thread B releasing lock l, which it does not hold in shared mode"),
        ("A acq-shared l; A rel l", "thread A releasing lock l, which it does not hold"),
        ("A acq l; A rel-shared l", "thread A releasing lock l, which it does not hold in shared mode"),
        ("A acq-shared l; A acq l", "thread A acquiring lock l in another mode while it holds it in shared mode"),
        ("A acq l; A acq-shared l", "thread A acquiring lock l in another mode while it holds it exclusively"),
        ("A acq-shared l; A acq-shared l; A rel-shared l; B acq l", "an acquisition of lock l, which thread A holds"),
        // Whatever the order they came in, the message names the first thread of the trace.
        ("A read; B read; B acq-shared l; A acq-shared l; C acq l", "an acquisition of lock l, which thread A holds"),
    ]);
}

#[test]
fn attempts() {
    accepted(&[
        "A try l; A rel l; B try l",
        "A acq l; B try-failed l; B request l; A rel l; B acq l",
        "A try l; A try l; A rel l; A rel l; B acq l",
        "A try-failed l; A acq l",
    ]);
    rejected(&[
        ("A acq l; B try l", "an acquisition of lock l, which thread A holds"),
        ("A try-failed l; A rel l", "thread A releasing lock l, which it does not hold"),
        ("A request l; A rel l", "thread A releasing lock l, which it does not hold"),
    ]);
}

#[test]
fn waits() {
    accepted(&[
        "A acq l; A wait c l; B acq l; B signal c; B rel l; A woken c l; A rel l",
        // Given up at all levels, and back at all of them.
        "A acq l; A acq l; A wait c l; B acq l; B rel l; A woken c l; A rel l; A rel l; B acq l",
        // Other locks are kept.
        "A acq m; A acq l; A wait c l; A woken c l; A rel l; A rel m",
        "A acq l; A wait c l; B acq l; B wait c l; A woken c l; A rel l; B woken c l; B rel l",
        // A trace may end while threads wait.
        "A acq l; A wait c l; B read",
        // One wait after the other.
        "A acq l; A wait c l; A woken c l; A wait d l; A woken d l; A rel l",
    ]);
    rejected(&[
        ("A wait c l", "thread A waiting with lock l, which it does not hold"),
        ("B acq l; A wait c l", "thread A waiting with lock l, which it does not hold"),
        ("A acq-shared l; A wait c l", "thread A waiting with lock l, which it does not hold"),
        ("A acq l; A wait c l; A read", "an event of thread A while it waits on c"),
        ("A acq l; A wait c l; A rel l", "an event of thread A while it waits on c"),
        ("A acq l; A wait c l; A wait c l", "an event of thread A while it waits on c"),
        ("A acq l; A wait c l; A finish", "an event of thread A while it waits on c"),
        ("A acq l; A woken c l", "the end of a wait of thread A on c, which has not begun"),
        ("A acq l; A wait c l; A woken c l; A woken c l", "the end of a wait of thread A on c, which has not begun"),
        ("A acq l; A wait c l; A woken d l", "the end of a wait of thread A on d, which has not begun"),
        ("A acq l; A acq m; A wait c l; A woken c m", "the end of a wait of thread A on c, which has not begun"),
        ("A acq l; A wait c l; B woken c l", "the end of a wait of thread B on c, which has not begun"),
        ("A acq l; A wait c l; B acq l; A woken c l", "an acquisition of lock l, which thread B holds"),
        ("A acq l; A wait c l; B acq-shared l; A woken c l", "an acquisition of lock l, which thread B holds"),
        ("A acq m; A acq l; A wait c l; B acq m", "an acquisition of lock m, which thread A holds"),
        (
            "A acq l; A acq l; A wait c l; A woken c l; A rel l; B acq l",
            "an acquisition of lock l, which thread A holds",
        ),
    ]);
}

#[test]
fn starts_and_finishes() {
    accepted(&[
        "A start; A read; A finish",
        "A start; A fork B; B start; B finish; A join B; A finish",
        // Recorders need not write either.
        "A fork B; B read; A join B",
        // The fork may be recorded, the start of the child not, and the other way round.
        "B start; A read",
        // A join of a thread that never says that it has finished, and of one without events.
        "B start; A join B",
        "A join B; A join B",
        "A acq l; A finish",
    ]);
    rejected(&[
        ("A read; A start", "the start of thread A, which has acted before"),
        ("A start; A start", "the start of thread A, which has acted before"),
        ("A start; A finish; A read", "an event of thread A after it finished"),
        ("A finish; A finish", "an event of thread A after it finished"),
        ("A finish; A start", "an event of thread A after it finished"),
        ("B start; A fork B", "a fork of thread B, which has events before"),
        ("B finish; A fork B", "a fork of thread B, which has events before"),
        ("B start; A join B; B finish", "an event of thread B after it was joined"),
        ("A join B; B start", "an event of thread B after it was joined"),
        ("A start; A fork A", "thread A forking itself"),
        ("A start; A join A", "thread A joining itself"),
    ]);
}

#[test]
fn regions_of_each_source_nest_for_themselves() {
    accepted(&[
        "A begin annotated; A begin locks; A end annotated; A end locks",
        "A begin functions; A begin functions; A end functions; A end functions",
        "A begin inferred; A acq l; A end inferred; A rel l",
        "A begin annotated; B begin annotated; A end annotated; B end annotated",
    ]);
    rejected(&[
        ("A begin annotated; A end locks", "the end of a region in thread A, where none has begun"),
        ("A begin locks; B end locks", "the end of a region in thread B, where none has begun"),
        (
            "A begin annotated; A begin locks; A end annotated; A end annotated",
            "the end of a region in thread A, where none has begun",
        ),
    ]);
}
