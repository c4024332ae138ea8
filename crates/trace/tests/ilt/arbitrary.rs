//! Arbitrary events over tables of given sizes.

use interloper_trace::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// How many entries the tables have; at least one each, so that every operation is possible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) names: u32,
    pub(crate) locations: u32,
    pub(crate) sites: u32,
}

pub(crate) fn counts() -> impl Strategy<Value = Counts> {
    (1u32..6, 1u32..300, 1u32..200).prop_map(|(names, locations, sites)| Counts { names, locations, sites })
}

pub(crate) fn tables(counts: Counts) -> Tables {
    let mut tables = Tables::new();
    tables.push_meta("command".to_owned(), "./bank --threads 8".to_owned());
    tables.push_meta("empty".to_owned(), String::new());
    for n in 0..counts.names {
        tables.intern_thread(&format!("T{n}")).unwrap();
        tables.intern_lock(&format!("L{n}")).unwrap();
        tables.intern_condition(&format!("condition «{n}»")).unwrap();
        tables.intern_semaphore(&format!("L{n}")).unwrap();
        tables.intern_barrier(&format!("barrier\n{n}")).unwrap();
        tables.intern_once(&"o".repeat(n as usize)).unwrap();
    }
    for n in 0..counts.locations {
        tables.intern_location(&format!("object {}", n % 7), u64::from(n) * 0x0123_4567_89ab).unwrap();
    }
    let file = Some(tables.strings.intern("bank.c").unwrap());
    for n in 1..i64::from(counts.sites) {
        let line = [None, Some(n), Some(-n), Some(i64::MIN + n)][n as usize % 4];
        let function = (n % 3 == 0).then_some(StringId::new(0));
        let file = file.filter(|_| n % 5 > 0 || line.is_none());
        tables.intern_site(Site { file, function, line }).unwrap();
    }
    tables
}

fn value(size: u32) -> BoxedStrategy<Value> {
    let fitting = match size {
        0 | 8 => any::<u64>().boxed(),
        1..8 => (0..1u64 << (8 * size)).boxed(),
        _ => return Just(Value::UNKNOWN).boxed(),
    };
    prop_oneof![
        Just(Value::UNKNOWN),
        fitting.clone().prop_map(Value::known),
        fitting.prop_map(move |bits| Value::known(bits % 200)),
    ]
    .boxed()
}

fn order() -> impl Strategy<Value = MemoryOrder> {
    proptest::sample::select(vec![
        MemoryOrder::Plain,
        MemoryOrder::Relaxed,
        MemoryOrder::Consume,
        MemoryOrder::Acquire,
        MemoryOrder::Release,
        MemoryOrder::AcquireRelease,
        MemoryOrder::SequentiallyConsistent,
    ])
}

fn access(counts: Counts) -> impl Strategy<Value = Access> {
    let size = prop_oneof![3 => Just(4u32), 3 => 0u32..10, 1 => any::<u32>()];
    let order = prop_oneof![3 => Just(MemoryOrder::Plain), 1 => order()];
    (0..counts.locations, size, order, any::<bool>())
        .prop_flat_map(|(location, size, order, more)| {
            value(size).prop_map(move |value| {
                let location = LocationId::new(location);
                Access { location, size, order, more, value }
            })
        })
        .boxed()
}

fn read_modify_write(counts: Counts) -> impl Strategy<Value = ReadModifyWrite> {
    (0..counts.locations, 0u8..9, order(), any::<bool>(), any::<bool>()).prop_flat_map(
        |(location, size, order, success, more)| {
            (value(size.into()), value(size.into())).prop_map(move |(read, written)| {
                let written = if success { written } else { Value::UNKNOWN };
                let location = LocationId::new(location);
                ReadModifyWrite { location, size, order, success, more, read, written }
            })
        },
    )
}

fn region(counts: Counts) -> impl Strategy<Value = Region> {
    let name = proptest::option::of((0..counts.names).prop_map(StringId::new));
    (name, proptest::sample::select(&RegionSource::ALL[..])).prop_map(|(name, source)| Region { name, source })
}

fn expr() -> impl Strategy<Value = Expr> {
    let id = || prop_oneof![0u32..100, any::<u32>()].prop_map(ExprId::new);
    prop_oneof![
        (1u8..=64, any::<u64>())
            .prop_map(|(width, bits)| Expr::Constant { width, bits: bits >> (64 - u32::from(width)) }),
        (1u8..=64, proptest::sample::select(Operator::ALL), [id(), id(), id()]).prop_map(
            |(width, operator, mut operands)| {
                for position in operator.arity()..3 {
                    operands[position] = operands[position - 1];
                }
                Expr::Apply { operator, width, operands }
            }
        ),
    ]
}

pub(crate) fn op(counts: Counts) -> impl Strategy<Value = Op> {
    let n = move || 0..counts.names;
    let lock = move || n().prop_map(LockId::new);
    let condition = move || n().prop_map(ConditionId::new);
    let string = move || n().prop_map(StringId::new);
    let expr_id = || prop_oneof![0u32..100, any::<u32>()].prop_map(ExprId::new);
    let mode = || proptest::sample::select(vec![LockMode::Exclusive, LockMode::Shared]);
    let by = proptest::sample::select(vec![Attempt::Blocking, Attempt::Try]);
    let wake = proptest::sample::select(vec![Wake::Notified, Wake::TimedOut, Wake::Spurious]);
    let of = proptest::sample::select(vec![BoundValue::Read, BoundValue::Written]);
    let size = prop_oneof![0u32..9, any::<u32>()];
    let all: Vec<(u32, BoxedStrategy<Op>)> = vec![
        (20, access(counts).prop_map(Op::Read).boxed()),
        (20, access(counts).prop_map(Op::Write).boxed()),
        (5, read_modify_write(counts).prop_map(Op::ReadModifyWrite).boxed()),
        (1, order().prop_map(Op::Fence).boxed()),
        (2, lock().prop_map(Op::Request).boxed()),
        (4, (lock(), mode(), by).prop_map(|(lock, mode, by)| Op::Acquire { lock, mode, by }).boxed()),
        (1, (lock(), mode()).prop_map(|(lock, mode)| Op::TryAcquireFailed { lock, mode }).boxed()),
        (4, (lock(), mode()).prop_map(|(lock, mode)| Op::Release { lock, mode }).boxed()),
        (1, (condition(), lock()).prop_map(|(condition, lock)| Op::WaitBegin { condition, lock }).boxed()),
        (
            1,
            (condition(), lock(), wake)
                .prop_map(|(condition, lock, wake)| Op::WaitEnd { condition, lock, wake })
                .boxed(),
        ),
        (1, condition().prop_map(Op::Signal).boxed()),
        (1, condition().prop_map(Op::Broadcast).boxed()),
        (1, n().prop_map(|id| Op::SemaphoreWait(SemaphoreId::new(id))).boxed()),
        (1, n().prop_map(|id| Op::SemaphorePost(SemaphoreId::new(id))).boxed()),
        (1, n().prop_map(|id| Op::BarrierArrive(BarrierId::new(id))).boxed()),
        (1, n().prop_map(|id| Op::BarrierLeave(BarrierId::new(id))).boxed()),
        (1, n().prop_map(|id| Op::OnceBegin(OnceId::new(id))).boxed()),
        (1, n().prop_map(|id| Op::OnceEnd(OnceId::new(id))).boxed()),
        (1, n().prop_map(|id| Op::OncePass(OnceId::new(id))).boxed()),
        (1, n().prop_map(|id| Op::Fork(ThreadId::new(id))).boxed()),
        (1, n().prop_map(|id| Op::Join(ThreadId::new(id))).boxed()),
        (1, Just(Op::Start).boxed()),
        (1, Just(Op::Finish).boxed()),
        (1, (string(), any::<u64>()).prop_map(|(object, size)| Op::Allocate { object, size }).boxed()),
        (1, string().prop_map(|object| Op::Free { object }).boxed()),
        (1, any::<u32>().prop_map(|count| Op::Branch { count }).boxed()),
        (1, string().prop_map(|function| Op::Enter { function }).boxed()),
        (1, Just(Op::Exit).boxed()),
        (1, region(counts).prop_map(Op::RegionBegin).boxed()),
        (1, region(counts).prop_map(Op::RegionEnd).boxed()),
        (
            1,
            (string(), size)
                .prop_flat_map(|(channel, size)| value(size).prop_map(move |value| Op::Input { channel, size, value }))
                .boxed(),
        ),
        (2, (expr_id(), expr()).prop_map(|(id, expr)| Op::Define { id, expr }).boxed()),
        (1, (expr_id(), of).prop_map(|(expr, of)| Op::Bind { expr, of }).boxed()),
        (1, (expr_id(), any::<bool>()).prop_map(|(expr, holds)| Op::Assume { expr, holds }).boxed()),
        (1, any::<u32>().prop_map(|code| Op::Mark { code }).boxed()),
    ];
    proptest::strategy::Union::new_weighted(all)
}

pub(crate) fn event(counts: Counts) -> impl Strategy<Value = Event> {
    let site = prop_oneof![
        3 => (0..counts.sites as usize).prop_map(|index| SiteId::table_entry(index).unwrap()),
        1 => (0..=u64::from(SiteId::MAX_BARE_LINE)).prop_map(|line| SiteId::bare_line(line).unwrap()),
    ];
    (0..counts.names, site, op(counts)).prop_map(|(thread, site, op)| Event { thread: ThreadId::new(thread), site, op })
}

/// Tables and events that fit them.
pub(crate) fn trace(length: usize) -> impl Strategy<Value = (Tables, Vec<Event>)> {
    counts().prop_flat_map(move |counts| {
        vec(event(counts), 0..length).prop_map(move |events| {
            let mut tables = tables(counts);
            // Sites without a file need no entry, so there may be fewer than asked for.
            while tables.site_count() < counts.sites as usize {
                let line = Some(-1_000_000 - tables.site_count() as i64);
                tables.intern_site(Site { file: None, function: None, line }).unwrap();
            }
            (tables, events)
        })
    })
}
