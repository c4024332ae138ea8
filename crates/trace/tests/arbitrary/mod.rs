//! Arbitrary traces: every operation, with whatever the model allows in its fields.

use interloper_trace::{
    Access, Attempt, BarrierId, BoundValue, ConditionId, Event, Expr, ExprId, LocationId, LockId, LockMode,
    MemoryOrder, OnceId, Op, Operator, ReadModifyWrite, Region, RegionSource, SemaphoreId, Site, SiteId, StringId,
    Tables, ThreadId, Value, Wake,
};
use proptest::prelude::*;
use proptest::sample::select;

/// How many entries each table of [`tables`] has.
const NAMES: u32 = 5;

/// A trace of every operation, with tables.
pub(crate) fn trace() -> impl Strategy<Value = (Vec<Event>, Tables)> {
    let facts = prop::collection::vec((".{1,8}", ".{0,8}"), 0..3);
    (prop::collection::vec(event(), 0..40), facts).prop_map(|(events, facts)| {
        let mut tables = tables();
        for (key, value) in facts {
            tables.push_meta(key, value);
        }
        (events, tables)
    })
}

/// Names that a careless writer would spoil, in each table in a different order.
fn tables() -> Tables {
    let names = ["a", "two words", "quote \" and \\ and /", "line\nfeed\u{1}\t", "ä→𝄞\u{2028}"];
    let mut tables = Tables::new();
    for index in 0..names.len() {
        let name = |shift: usize| names[(index + shift) % names.len()];
        tables.intern_thread(name(0)).unwrap();
        tables.intern_location(name(1), if index % 2 == 0 { 0 } else { u64::MAX / index as u64 }).unwrap();
        tables.intern_lock(name(2)).unwrap();
        tables.intern_condition(name(3)).unwrap();
        tables.intern_semaphore(name(4)).unwrap();
        tables.intern_barrier(name(1)).unwrap();
        tables.intern_once(name(2)).unwrap();
    }
    let text = |raw| Some(StringId::new(raw));
    for (file, function, line) in [
        (text(0), None, Some(12)),
        (text(1), text(2), Some(-1)),
        (None, text(3), None),
        (None, None, Some(i64::MIN)),
        (text(4), text(4), Some(i64::MAX)),
    ] {
        tables.intern_site(Site { file, function, line }).unwrap();
    }
    tables
}

macro_rules! ids {
    ($($name:ident $id:ident;)*) => {$(
        fn $name() -> impl Strategy<Value = $id> + Clone {
            (0..NAMES).prop_map($id::new)
        }
    )*};
}

ids! {
    thread ThreadId;
    location LocationId;
    lock LockId;
    condition ConditionId;
    semaphore SemaphoreId;
    barrier BarrierId;
    once OnceId;
    string StringId;
}

fn event() -> impl Strategy<Value = Event> {
    (thread(), site(), op()).prop_map(|(thread, site, op)| Event { thread, site, op })
}

fn site() -> impl Strategy<Value = SiteId> {
    prop_oneof![
        // Entry zero says nothing, and is there besides.
        (0..=NAMES as usize).prop_map(|index| SiteId::table_entry(index).unwrap()),
        (0..=SiteId::MAX_BARE_LINE).prop_map(|line| SiteId::bare_line(u64::from(line)).unwrap()),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let memory = prop_oneof![
        access().prop_map(Op::Read),
        access().prop_map(Op::Write),
        read_modify_write().prop_map(Op::ReadModifyWrite),
        order().prop_map(Op::Fence),
        (string(), any::<u64>()).prop_map(|(object, size)| Op::Allocate { object, size }),
        string().prop_map(|object| Op::Free { object }),
        sized_value().prop_flat_map(|(size, value)| string().prop_map(move |channel| Op::Input {
            channel,
            size,
            value
        })),
    ];
    let attempt = select(&[Attempt::Blocking, Attempt::Try]);
    let wake = select(&[Wake::Notified, Wake::TimedOut, Wake::Spurious]);
    let locking = prop_oneof![
        lock().prop_map(Op::Request),
        (lock(), mode(), attempt).prop_map(|(lock, mode, by)| Op::Acquire { lock, mode, by }),
        (lock(), mode()).prop_map(|(lock, mode)| Op::TryAcquireFailed { lock, mode }),
        (lock(), mode()).prop_map(|(lock, mode)| Op::Release { lock, mode }),
        (condition(), lock()).prop_map(|(condition, lock)| Op::WaitBegin { condition, lock }),
        (condition(), lock(), wake).prop_map(|(condition, lock, wake)| Op::WaitEnd { condition, lock, wake }),
        condition().prop_map(Op::Signal),
        condition().prop_map(Op::Broadcast),
    ];
    let meeting = prop_oneof![
        semaphore().prop_map(Op::SemaphoreWait),
        semaphore().prop_map(Op::SemaphorePost),
        barrier().prop_map(Op::BarrierArrive),
        barrier().prop_map(Op::BarrierLeave),
        once().prop_map(Op::OnceBegin),
        once().prop_map(Op::OnceEnd),
        once().prop_map(Op::OncePass),
        thread().prop_map(Op::Fork),
        thread().prop_map(Op::Join),
        Just(Op::Start),
        Just(Op::Finish),
    ];
    let flow = prop_oneof![
        any::<u32>().prop_map(|count| Op::Branch { count }),
        string().prop_map(|function| Op::Enter { function }),
        Just(Op::Exit),
        region().prop_map(Op::RegionBegin),
        region().prop_map(Op::RegionEnd),
        any::<u32>().prop_map(|code| Op::Mark { code }),
    ];
    let bound = select(&[BoundValue::Read, BoundValue::Written]);
    let symbolic = prop_oneof![
        (expr_id(), expr()).prop_map(|(id, expr)| Op::Define { id, expr }),
        (expr_id(), bound).prop_map(|(expr, of)| Op::Bind { expr, of }),
        (expr_id(), any::<bool>()).prop_map(|(expr, holds)| Op::Assume { expr, holds }),
    ];
    prop_oneof![memory, locking, meeting, flow, symbolic]
}

fn access() -> impl Strategy<Value = Access> {
    (location(), sized_value(), order(), any::<bool>()).prop_map(|(location, (size, value), order, more)| Access {
        location,
        size,
        order,
        more,
        value,
    })
}

fn read_modify_write() -> impl Strategy<Value = ReadModifyWrite> {
    (location(), 0..=8_u8, order(), any::<(bool, bool)>(), any::<(Option<u64>, Option<u64>)>()).prop_map(
        |(location, size, order, (success, more), (read, written))| ReadModifyWrite {
            location,
            size,
            order,
            success,
            more,
            read: fitting(read, size.into()),
            written: fitting(written.filter(|_| success), size.into()),
        },
    )
}

/// A size, and a value that fits it.
fn sized_value() -> impl Strategy<Value = (u32, Value)> {
    (prop_oneof![4 => 0..=8_u32, 1 => any::<u32>()], any::<Option<u64>>())
        .prop_map(|(size, value)| (size, fitting(value, size)))
}

fn fitting(value: Option<u64>, size: u32) -> Value {
    match size {
        0 => value.into(),
        1..=8 => value.map(|bits| bits >> (64 - 8 * size)).into(),
        _ => Value::UNKNOWN,
    }
}

fn order() -> impl Strategy<Value = MemoryOrder> {
    use MemoryOrder::*;
    select(&[Plain, Relaxed, Consume, Acquire, Release, AcquireRelease, SequentiallyConsistent])
}

fn mode() -> impl Strategy<Value = LockMode> {
    select(&[LockMode::Exclusive, LockMode::Shared])
}

fn region() -> impl Strategy<Value = Region> {
    (prop::option::of(string()), select(&RegionSource::ALL)).prop_map(|(name, source)| Region { name, source })
}

fn expr_id() -> impl Strategy<Value = ExprId> {
    any::<u32>().prop_map(ExprId::new)
}

fn expr() -> impl Strategy<Value = Expr> {
    prop_oneof![
        (1..=64_u8, any::<u64>()).prop_map(|(width, bits)| Expr::Constant { width, bits: bits >> (64 - width) }),
        (select(Operator::ALL), 1..=64_u8, [expr_id(), expr_id(), expr_id()]).prop_map(
            |(operator, width, mut operands)| {
                let (used, unused) = operands.split_at_mut(operator.arity());
                unused.fill(*used.last().unwrap());
                Expr::Apply { operator, width, operands }
            }
        ),
    ]
}
