//! Each kind of arrow where it is, and where it is not.

#![allow(clippy::unwrap_used)]

use super::{arrows, between};
use crate::story::RecordedTrace;
use interloper_trace::{
    Access, Attempt, Event, LockMode, MemoryOrder, Op, ReadModifyWrite, SiteId, Tables, Value, Wake,
};

/// A trace of a text: `A +m; A w x rel; B fork C; …`.
fn trace(text: &str) -> RecordedTrace {
    let mut tables = Tables::new();
    let steps = text.split(';').map(str::trim).filter(|step| !step.is_empty());
    let events = steps.map(|step| event(step, &mut tables)).collect();
    RecordedTrace { events, tables }
}

fn event(step: &str, tables: &mut Tables) -> Event {
    let mut words = step.split(' ');
    let thread = tables.intern_thread(words.next().unwrap()).unwrap();
    let what = words.next().unwrap();
    let (name, detail) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let order = match detail {
        "rlx" => MemoryOrder::Relaxed,
        "acq" => MemoryOrder::Acquire,
        "rel" => MemoryOrder::Release,
        _ => MemoryOrder::Plain,
    };
    let mut access = || Access { order, ..Access::bare(tables.intern_location(name, 0).unwrap()) };
    let op = match what {
        "r" => Op::Read(access()),
        "w" => Op::Write(access()),
        "rmw" => Op::ReadModifyWrite(ReadModifyWrite {
            location: access().location,
            size: 4,
            order,
            success: true,
            more: false,
            read: Value::UNKNOWN,
            written: Value::UNKNOWN,
        }),
        "fence" => Op::Fence(if name == "acq" { MemoryOrder::Acquire } else { MemoryOrder::Release }),
        "fork" => Op::Fork(tables.intern_thread(name).unwrap()),
        "join" => Op::Join(tables.intern_thread(name).unwrap()),
        "lock" | "share" => {
            Op::Acquire { lock: tables.intern_lock(name).unwrap(), mode: mode(what), by: Attempt::Blocking }
        }
        "unlock" | "unshare" => Op::Release { lock: tables.intern_lock(name).unwrap(), mode: mode(what) },
        "wait" => {
            Op::WaitBegin { condition: tables.intern_condition(name).unwrap(), lock: tables.intern_lock("m").unwrap() }
        }
        "woken" => Op::WaitEnd {
            condition: tables.intern_condition(name).unwrap(),
            lock: tables.intern_lock("m").unwrap(),
            wake: match detail {
                "late" => Wake::TimedOut,
                "spurious" => Wake::Spurious,
                _ => Wake::Notified,
            },
        },
        "signal" => Op::Signal(tables.intern_condition(name).unwrap()),
        "broadcast" => Op::Broadcast(tables.intern_condition(name).unwrap()),
        "post" => Op::SemaphorePost(tables.intern_semaphore(name).unwrap()),
        "take" => Op::SemaphoreWait(tables.intern_semaphore(name).unwrap()),
        "arrive" => Op::BarrierArrive(tables.intern_barrier(name).unwrap()),
        "leave" => Op::BarrierLeave(tables.intern_barrier(name).unwrap()),
        "begin" => Op::OnceBegin(tables.intern_once(name).unwrap()),
        "end" => Op::OnceEnd(tables.intern_once(name).unwrap()),
        "pass" => Op::OncePass(tables.intern_once(name).unwrap()),
        _ => unreachable!("{what}"),
    };
    Event { thread, site: SiteId::UNKNOWN, op }
}

fn mode(what: &str) -> LockMode {
    if what.ends_with("share") { LockMode::Shared } else { LockMode::Exclusive }
}

/// The arrows of the order that was recorded: `0>2 fork`.
fn drawn(text: &str) -> Vec<String> {
    let trace = trace(text);
    let order: Vec<u32> = (0..trace.events.len() as u32).collect();
    told(&arrows(&trace, &order))
}

fn told(arrows: &[super::Arrow]) -> Vec<String> {
    arrows.iter().map(|arrow| format!("{}>{} {}", arrow.from, arrow.to, arrow.kind.name())).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn threads() {
    assert_eq!(drawn("A fork B; B w x; B w x; A w y; A join B"), ["0>1 fork", "2>4 join"]);
    assert_eq!(drawn("A fork B; A join B"), NONE, "a thread without events");
}

#[test]
fn locks() {
    assert_eq!(drawn("A lock m; A unlock m; B lock m; B unlock m; B lock m"), ["1>2 lock"]);
    assert_eq!(drawn("A lock m; A unlock m; B lock n"), NONE);
    // Taken again by who has it: neither end of the inner one counts.
    assert_eq!(
        drawn("A lock m; A lock m; A unlock m; A unlock m; B lock m; B lock m; B unlock m"),
        ["3>4 lock"],
        "re-entrant"
    );
}

#[test]
fn readers_and_writers() {
    assert_eq!(
        drawn("A lock m; A unlock m; B share m; C share m; B unshare m; C unshare m; A lock m; A unlock m; B share m"),
        ["1>2 lock", "1>3 lock", "4>6 lock", "5>6 lock", "7>8 lock"]
    );
    // Whoever comes after the readers comes after whom they came after.
    let between = "A lock m; A unlock m; B share m; B unshare m; C lock m";
    assert_eq!(drawn(between), ["1>2 lock", "3>4 lock"]);
    assert_eq!(drawn("A share m; A unshare m; B share m"), NONE, "readers do not wait for readers");
}

#[test]
fn condition_variables() {
    let waiting = "A lock m; A wait c; B lock m";
    assert_eq!(drawn(&format!("{waiting}; B signal c; B unlock m; A woken c")), ["1>2 lock", "3>5 wake", "4>5 lock"]);
    let wakes = |text: &str| drawn(text).into_iter().filter(|arrow| arrow.ends_with("wake")).collect::<Vec<_>>();
    assert_eq!(wakes("B signal c; A lock m; A wait c; A woken c spurious"), NONE, "nobody waited yet");
    assert_eq!(wakes("A lock m; A wait c; B signal d; A woken c"), NONE, "another condition");
    assert_eq!(wakes("A lock m; A wait c; B signal c; A woken c late"), NONE, "its time was up");
    assert_eq!(wakes("A lock m; A wait c; B broadcast c; A woken c late"), NONE, "its time was up all the same");
    let two = "A lock m; A wait c; B lock m; B wait c";
    // Each signal wakes one, and the first to wake is whom the first signal woke.
    assert_eq!(
        wakes(&format!("{two}; C signal c; C signal c; B woken c; B unlock m; A woken c")),
        ["4>6 wake", "5>8 wake"]
    );
    assert_eq!(wakes(&format!("{two}; C signal c; B woken c late; B unlock m; A woken c")), ["4>7 wake"]);
    assert_eq!(wakes(&format!("{two}; C broadcast c; B woken c; B unlock m; A woken c")), ["4>5 wake", "4>7 wake"]);
}

#[test]
fn a_wait_gives_its_lock_up_however_deeply_it_is_held() {
    assert_eq!(
        drawn("A lock m; A lock m; A wait c; B lock m; B unlock m; A woken c; A unlock m; A unlock m; B lock m"),
        ["2>3 lock", "4>5 lock", "7>8 lock"]
    );
}

#[test]
fn semaphores() {
    assert_eq!(drawn("A post s; B take s"), ["0>1 semaphore"]);
    assert_eq!(drawn("A post s; A take s; B post t"), NONE);
    // It began with two: two waits need nobody, and the third and fourth one post each.
    assert_eq!(drawn("B take s; B take s; A post s; A post s; B take s; B take s"), ["2>4 semaphore", "3>5 semaphore"]);
}

#[test]
fn what_a_semaphore_begins_with_does_not_depend_on_the_order() {
    let trace = trace("B take s; A post s; B take s");
    assert_eq!(told(&arrows(&trace, &[1, 0, 2])), ["0>2 semaphore"], "one wait needs no post");
}

#[test]
fn barriers() {
    assert_eq!(
        drawn("A arrive b; B arrive b; B leave b; A leave b; B arrive b; A arrive b; A leave b; B leave b"),
        ["0>2 barrier", "1>3 barrier", "4>6 barrier", "5>7 barrier"]
    );
    // Who is quick arrives again before the slow one has left.
    assert_eq!(
        drawn("A arrive b; B arrive b; B leave b; B arrive b; A leave b; A arrive b; A leave b"),
        ["0>2 barrier", "1>4 barrier", "3>6 barrier"]
    );
}

#[test]
fn a_crowd_at_a_barrier_is_told_by_its_last() {
    let names = "ABCDEFGHI";
    let all = |what: &str| names.chars().map(|name| format!("{name} {what} b;")).collect::<String>();
    let arrows = drawn(&(all("arrive") + &all("leave")));
    assert_eq!(arrows.len(), 8, "{arrows:?}");
    assert!(arrows.iter().all(|arrow| arrow.starts_with("8>")));
}

#[test]
fn once() {
    assert_eq!(drawn("A begin o; A end o; B pass o; A pass o; C pass o; C pass p"), ["1>2 once", "1>4 once"]);
}

#[test]
fn values() {
    assert_eq!(drawn("A w x; B r x; B r x; B w x; A r x; A r y"), ["0>1 reads", "0>2 reads", "3>4 reads"]);
    assert_eq!(drawn("A w x; B rmw x; A rmw x"), ["0>1 reads", "1>2 reads"]);
}

#[test]
fn what_releases_comes_before_what_acquires() {
    assert_eq!(drawn("A w x rel; B r x acq"), ["0>1 atomic"]);
    for weaker in ["A w x rlx; B r x acq", "A w x rel; B r x rlx", "A w x rel; B r x", "A w x; B r x acq"] {
        assert_eq!(drawn(weaker), ["0>1 reads"], "{weaker}");
    }
    // Whoever updates what was released passes it on; whoever overwrites it does not.
    assert_eq!(drawn("A w x rel; B rmw x rlx; C r x acq"), ["0>1 reads", "0>2 atomic", "1>2 reads"]);
    assert_eq!(drawn("A w x rel; B w x rlx; C r x acq"), ["1>2 reads"]);
}

#[test]
fn fences() {
    assert_eq!(drawn("A fence rel; A w x rlx; B r x rlx; B fence acq"), ["1>2 reads", "0>3 atomic"]);
    assert_eq!(drawn("A fence rel; A w x rlx; B r x acq"), ["0>2 atomic", "1>2 reads"]);
    assert_eq!(drawn("A w x rel; B r x rlx; B fence acq; B fence acq"), ["0>1 reads", "0>2 atomic"], "once");
    assert_eq!(drawn("A fence rel; A w x; B r x; B fence acq"), ["1>2 reads"], "not atomic");
    assert_eq!(drawn("A w x rlx; A fence rel; B r x rlx; B fence acq"), ["0>2 reads"], "too late");
}

#[test]
fn an_order_has_arrows_of_its_own() {
    let trace = trace("A lock m; A w x; A unlock m; B lock m; B r x; B unlock m");
    assert_eq!(told(&arrows(&trace, &[3, 4, 5, 0, 1, 2])), ["2>3 lock"]);
}

#[test]
fn what_is_left_out_has_no_arrows() {
    let trace = trace("A fork B; B w y; B lock m; B unlock m; B w x; A lock m; A r x; A unlock m; A join B");
    let order: Vec<u32> = (0..9).collect();
    let all = arrows(&trace, &order);
    assert_eq!(told(&all), ["0>1 fork", "3>5 lock", "4>6 reads", "4>8 join"]);
    // Without B's first, without its unlock and without its last.
    let picks = [0, 2, 3, 6, 8];
    assert_eq!(told(&between(&all, &picks, &trace, &order)), ["0>1 fork", "2>4 join"]);
}
