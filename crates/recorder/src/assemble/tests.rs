//! Records in, lines of JSON out; and whatever comes in, what comes out is well-formed.

use super::*;
use crate::symbolize::{Frame, Variable};
use crate::testing::{Script, header};
use interloper_trace::EventSink as _;
use interloper_trace::jsonl::JsonlWriter;
use interloper_trace::wellformed::{Rules, WellFormed};
use interloper_wire::{AccessFlags, HotRange, LockArg, Records, SegmentEnd, Space, Stop};
use proptest::prelude::*;
use std::ops::Range;

/// Code is at 0x100 and up: a function for every 0x100 bytes, a line for every byte. Variables of
/// eight bytes are from 0x1000 to 0x2000. What is called from 0x900 on comes with the system.
struct Fake;

impl Symbolizer for Fake {
    fn add_module(&mut self, _: &Path, _: u64, _: Range<u64>) {}

    fn frames(&mut self, address: u64) -> Vec<Frame> {
        let function = match address >> 8 {
            0 => return Vec::new(),
            1 => "main".to_owned(),
            number => format!("f{number}"),
        };
        let file = if address >= 0x900 { "/usr/include/c++/12/thread" } else { "a.c" };
        vec![Frame { function: Some(function), file: Some(file.to_owned()), line: Some(address as u32 & 0xff) }]
    }

    fn variable(&mut self, address: u64) -> Option<Variable> {
        let name = (0x1000..0x2000).contains(&address).then(|| format!("v{}", (address - 0x1000) / 8))?;
        Some(Variable { name, offset: address % 8 })
    }

    fn build_ids(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

fn assembled(bytes: &[u8], options: RegionOptions, only: Option<HotSet>) -> Assembler<Fake> {
    let mut assembler = Assembler::new(Fake, options, only, true);
    for record in Records::new(bytes) {
        assembler.take(&record).expect("few names");
    }
    assembler
}

fn lines(assembler: &Assembler<Fake>) -> Vec<String> {
    let mut text = Vec::new();
    let mut writer = JsonlWriter::new(&mut text);
    let (events, tables) = assembler.events();
    writer.write(events, tables).expect("can be written");
    writer.finish(tables).expect("can be written");
    drop(writer);
    String::from_utf8(text).expect("text").lines().map(str::to_owned).collect()
}

/// Without files and functions, which are the same everywhere.
fn short(script: Script) -> Vec<String> {
    let assembler = assembled(&script.bytes(), RegionOptions::default(), None);
    assert_eq!(assembler.dropped(), 0);
    let place = r#","file":"a.c""#;
    lines(&assembler).into_iter().map(|line| line.replace(place, "")).collect()
}

/// What events do, and which region, lock or location it is about.
fn brief(script: Script) -> String {
    brief_with(script, RegionOptions::default())
}

fn brief_with(script: Script, options: RegionOptions) -> String {
    let assembler = assembled(&script.bytes(), options, None);
    let (events, tables) = assembler.events();
    let words = events.iter().map(|event| match event.op {
        Op::Read(access) => format!("r({})", tables.location_name(access.location)),
        Op::Write(access) => format!("w({})", tables.location_name(access.location)),
        Op::ReadModifyWrite(rmw) => format!("rw({})", tables.location_name(rmw.location)),
        Op::RegionBegin(region) => format!("[{}", region.name.map_or("?", |name| tables.strings.get(name))),
        Op::RegionEnd(_) => "]".to_owned(),
        Op::Enter { function } => format!("{}{{", tables.strings.get(function)),
        Op::Exit => "}".to_owned(),
        Op::Acquire { lock, .. } => format!("acq({})", tables.lock(lock)),
        Op::Release { lock, .. } => format!("rel({})", tables.lock(lock)),
        Op::WaitBegin { .. } => "wait".to_owned(),
        Op::WaitEnd { .. } => "woken".to_owned(),
        Op::Branch { count } => format!("b{count}"),
        Op::Fork(_) => "fork".to_owned(),
        other => format!("{other:?}").split(['(', ' ']).next().unwrap_or_default().to_lowercase(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn with(kind: Kind, address: u64, pc: u64, arg: u8, aux: u16) -> RecordHeader {
    RecordHeader { pc, arg, aux, ..header(kind, address) }
}

#[test]
fn every_kind_of_record() {
    let script = Script::new()
        .text(header(Kind::Text, 7), &[], "stdin")
        .text(header(Kind::Text, 8), &[], "transfer")
        .text(header(Kind::ThreadName, 0), &[], "boss")
        .record(header(Kind::Thread, 0), &[0, 0, 0x8000_0000, 0x7f00_0000])
        .record(header(Kind::Thread, 1), &[0, 0, 0x7000_0000, 0x6f00_0000])
        .plain(Kind::Fork, 1, 0x105)
        .record(with(Kind::Read, 0x1000, 0x106, 4, 0), &[0xffff_ffff_0000_0005])
        .record(with(Kind::Write, 0x1008, 0x107, 16, 0), &[9])
        .record(with(Kind::Write, 0x1010, 0x108, 8, u16::from(AccessFlags::MORE)), &[1])
        .record(with(Kind::Write, 0x1018, 0x108, 8, 0), &[2])
        .record(with(Kind::AtomicRead, 0x1020, 0x109, 4, 3), &[1])
        .record(with(Kind::AtomicWrite, 0x1020, 0x10a, 4, 4), &[2])
        .record(with(Kind::ReadModifyWrite, 0x1020, 0x10b, 4, 6), &[2, 3])
        .record(with(Kind::ReadModifyWrite, 0x1020, 0x10c, 4, 6 | u16::from(AccessFlags::FAILED) << 8), &[3, 3])
        .record(with(Kind::Fence, 0, 0x10d, 0, 6), &[])
        .plain(Kind::Request, 0x1100, 0x10e)
        .plain(Kind::Acquire, 0x1100, 0x10e)
        .record(with(Kind::WaitBegin, 0x1108, 0x10f, 0, 0), &[0x1100])
        .record(with(Kind::WaitEnd, 0x1108, 0x10f, 1, 0), &[0x1100])
        .plain(Kind::Release, 0x1100, 0x110)
        .record(with(Kind::Acquire, 0x1110, 0x111, LockArg::SHARED | LockArg::TRY, 0), &[])
        .record(with(Kind::Release, 0x1110, 0x112, LockArg::SHARED, 0), &[])
        .record(with(Kind::TryFailed, 0x1110, 0x113, LockArg::TRY, 0), &[])
        .plain(Kind::Signal, 0x1108, 0x114)
        .plain(Kind::Broadcast, 0x1108, 0x115)
        .plain(Kind::SemaphorePost, 0x1118, 0x116)
        .plain(Kind::SemaphoreWait, 0x1118, 0x117)
        .plain(Kind::BarrierArrive, 0x1120, 0x118)
        .plain(Kind::BarrierLeave, 0x1120, 0x118)
        .plain(Kind::OnceBegin, 0x1128, 0x119)
        .plain(Kind::OnceEnd, 0x1128, 0x119)
        .plain(Kind::OncePass, 0x1128, 0x119)
        .record(with(Kind::HappensBefore, 0x1130, 0x122, 0, 0), &[2])
        .record(with(Kind::HappensAfter, 0x1130, 0x123, 0, 0), &[0, 2])
        .record(with(Kind::Allocate, 0x5000, 0x905, 0, 0), &[64, 3, 0x20b, 0])
        .record(with(Kind::Read, 0x5010, 0x11a, 8, 0), &[0])
        .record(with(Kind::Free, 0x5000, 0x11b, 0, 0), &[3])
        .record(with(Kind::Read, 0x7fff_fff0, 0x11c, 1, 0), &[255])
        .plain(Kind::StackDrop, 0x7fff_fff8, 0)
        .record(with(Kind::Read, 0x7fff_fff0, 0x11c, 1, 0), &[254])
        .record(with(Kind::Read, 0x9000_0000, 0x11d, 1, 0), &[1])
        .plain(Kind::Branch, 3, 0)
        .plain(Kind::Branch, 4, 0)
        .record(with(Kind::RegionBegin, 8, 0x11e, 0, 0), &[])
        .record(with(Kind::RegionEnd, 8, 0x11f, 0, 0), &[])
        .record(with(Kind::Input, 7, 0x120, 0, 0), &[3, 0x41_4243_4445])
        .switch(1, 0, 40)
        .plain(Kind::Start, 0, 0)
        .plain(Kind::Finish, 0, 0)
        .switch(0, 3, 2)
        .plain(Kind::Join, 1, 0x121)
        .record(header(Kind::End, 0), &[5]);
    insta::assert_snapshot!(short(script).join("\n"));
}

#[test]
fn threads_are_named_by_lineage() {
    let script = Script::new()
        .start_thread(1, 0)
        .record(header(Kind::Thread, 2), &[1, 0, 0, 0])
        .record(header(Kind::Thread, 3), &[1, 1, 0, 0])
        .switch(0, 0, 1)
        .start_thread(4, 1)
        .switch(9, 0, 1)
        .read(0x1000, 1, 0);
    let assembler = assembled(&script.bytes(), RegionOptions::default(), None);
    let tables = assembler.events().1;
    let names: Vec<&str> = (0..tables.thread_count() as u32).map(|id| tables.thread(ThreadId::new(id))).collect();
    assert_eq!(names, ["main", "main.1", "main.1.1", "main.1.2", "main.2", "thread#9"]);
}

#[test]
fn critical_sections_are_the_outermost_levels() {
    let script = Script::new()
        .plain(Kind::Acquire, 0x1000, 0x101)
        .plain(Kind::Acquire, 0x1000, 0x102)
        .plain(Kind::Acquire, 0x1008, 0x103)
        .plain(Kind::Release, 0x1000, 0x104)
        .plain(Kind::Release, 0x1000, 0x105)
        .plain(Kind::Release, 0x1008, 0x106);
    assert_eq!(brief(script), "acq(v0) [v0 acq(v0) acq(v1) [v1 rel(v0) ] rel(v0) ] rel(v1)");
}

#[test]
fn a_lock_stays_what_it_was_when_its_memory_is_freed() {
    let script = Script::new()
        .record(header(Kind::Allocate, 0x5000), &[64, 3])
        .plain(Kind::Acquire, 0x5008, 0x101)
        .record(header(Kind::Free, 0x5000), &[3])
        .plain(Kind::Release, 0x5008, 0x102);
    assert_eq!(brief(script), "allocate acq(heap#main/3+8) [heap#main/3+8 free ] rel(heap#main/3+8)");
}

#[test]
fn functions_are_regions_but_main_is_not_and_empty_ones_are_nothing() {
    let script = Script::new()
        .plain(Kind::Enter, 0, 0x101)
        .access(Kind::Read, 0x1000, 0x103, 1)
        .plain(Kind::Enter, 0x104, 0x201)
        .plain(Kind::Enter, 0x204, 0x301)
        .plain(Kind::Branch, 1, 0)
        .plain(Kind::Exit, 0, 0)
        .access(Kind::Write, 0x1000, 0x205, 1)
        .plain(Kind::Exit, 0, 0)
        .plain(Kind::Exit, 0, 0);
    assert_eq!(brief(script), "main{ r(v0) f2{ [f2 b1 w(v0) ] } }");
}

#[test]
fn function_regions_are_cut_at_waits_and_begin_with_what_comes_next() {
    let script = Script::new()
        .plain(Kind::Enter, 0x104, 0x201)
        .access(Kind::Read, 0x1000, 0x205, 1)
        .plain(Kind::Enter, 0x206, 0x301)
        .access(Kind::Read, 0x1008, 0x305, 1)
        .record(with(Kind::Stop, 0, 0, Stop::Sleep as u8, 0), &[])
        .plain(Kind::Stop, 0, 0)
        .access(Kind::Read, 0x1010, 0x306, 1)
        .plain(Kind::Acquire, 0x1018, 0x307)
        .record(with(Kind::WaitBegin, 0x1020, 0x308, 0, 0), &[0x1018])
        .record(with(Kind::WaitEnd, 0x1020, 0x308, 0, 0), &[0x1018])
        .plain(Kind::Release, 0x1018, 0x309)
        .plain(Kind::SemaphoreWait, 0x1028, 0x30a)
        .switch(0, SegmentEnd::Blocked as u16, 1)
        .plain(Kind::SemaphoreWait, 0x1028, 0x30b)
        .plain(Kind::Exit, 0, 0)
        .plain(Kind::Exit, 0, 0);
    assert_eq!(
        brief(script),
        "f2{ [f2 r(v0) f3{ [f3 r(v1) ] ] [f2 r(v2) acq(v3) [v3 ] ] wait woken [v3 [f2 ] rel(v3) semaphorewait \
         ] semaphorewait } }",
        "a semaphore that did not make the thread wait is no reason to cut"
    );
}

#[test]
fn a_start_routine_is_cut_into_iterations() {
    // for (;;) { a; for (twice) b; g(); }, called by the library's own start routine.
    let mut script = Script::new().start_thread(1, 0).plain(Kind::Enter, 0, 0x905).plain(Kind::Enter, 0x90a, 0x201);
    for _ in 0..3 {
        script = script
            .access(Kind::Read, 0x1000, 0x210, 1)
            .access(Kind::Read, 0x1008, 0x220, 1)
            .access(Kind::Read, 0x1008, 0x220, 1)
            .plain(Kind::Enter, 0x230, 0x301)
            .access(Kind::Write, 0x1010, 0x305, 1)
            .plain(Kind::Exit, 0, 0);
    }
    let text = brief(script.plain(Kind::Finish, 0, 0));
    // The first time round, the inner loop is the only one known.
    assert_eq!(
        text,
        "fork start f9{ f2{ [f2 r(v0) r(v1) ] [f2 r(v1) f3{ [f3 w(v2) ] } ] [f2 r(v0) r(v1) r(v1) f3{ [f3 w(v2) ] } ] \
         [f2 r(v0) r(v1) r(v1) f3{ [f3 w(v2) ] } ] finish"
    );
}

#[test]
fn where_the_code_of_a_loop_lies_does_not_matter() {
    // for (;;) { a; for (twice) b; }, with the code of the inner loop before that of the outer.
    let mut script = Script::new().start_thread(1, 0).plain(Kind::Enter, 0, 0x201);
    for pc in [0x220, 0x210, 0x210, 0x220, 0x210, 0x210, 0x220, 0x210, 0x210] {
        script = script.access(Kind::Read, 0x1000 + pc % 0x20 / 2, pc, 1);
    }
    assert_eq!(
        brief(script),
        "fork start f2{ [f2 r(v0) r(v1) ] [f2 r(v1) ] [f2 r(v0) r(v1) r(v1) ] [f2 r(v0) r(v1) r(v1)"
    );
}

#[test]
fn loops_that_follow_one_another_are_both_outermost() {
    let mut script = Script::new().start_thread(1, 0).plain(Kind::Enter, 0, 0x201);
    for (address, pc) in [(0x1000, 0x210), (0x1000, 0x210), (0x1008, 0x220), (0x1008, 0x220), (0x1008, 0x220)] {
        script = script.access(Kind::Read, address, pc, 1).access(Kind::Write, address, pc + 1, 1);
    }
    // The last iteration of the first runs into the second: nothing tells where it ends.
    assert_eq!(
        brief(script),
        "fork start f2{ [f2 r(v0) w(v0) ] [f2 r(v0) w(v0) r(v1) w(v1) ] [f2 r(v1) w(v1) ] [f2 r(v1) w(v1)"
    );
}

#[test]
fn one_operation_is_no_repetition() {
    let body = |script: Script| {
        script
            .plain(Kind::Request, 0x1000, 0x210)
            .plain(Kind::Acquire, 0x1000, 0x210)
            .record(with(Kind::Read, 0x1008, 0x220, 8, u16::from(AccessFlags::RANGE)), &[1])
            .record(with(Kind::Write, 0x1010, 0x220, 8, u16::from(AccessFlags::RANGE)), &[1])
            .record(with(Kind::Read, 0x1018, 0x220, 8, u16::from(AccessFlags::RANGE)), &[1])
            .plain(Kind::Release, 0x1000, 0x230)
    };
    let script = body(body(Script::new().start_thread(1, 0).plain(Kind::Enter, 0, 0x201)));
    let one = "request acq(v0) [v0 r(v1) w(v2) r(v3) ] rel(v0)";
    assert_eq!(brief(script), format!("fork start f2{{ [f2 {one} ] [f2 {one}"));
    let counter = Script::new()
        .start_thread(1, 0)
        .plain(Kind::Enter, 0, 0x201)
        .access(Kind::ReadModifyWrite, 0x1000, 0x210, 1)
        .access(Kind::ReadModifyWrite, 0x1000, 0x210, 2);
    assert_eq!(brief(counter), "fork start f2{ [f2 rw(v0) ] [f2 rw(v0)");
}

#[test]
fn listed_functions_are_annotated_and_never_cut() {
    let options = RegionOptions { atomic_functions: FxHashSet::from_iter(["f2".to_owned()]) };
    let script = Script::new()
        .plain(Kind::Enter, 0, 0x201)
        .access(Kind::Read, 0x1000, 0x205, 1)
        .plain(Kind::Stop, 0, 0)
        .access(Kind::Read, 0x1000, 0x206, 1)
        .plain(Kind::Exit, 0, 0);
    let assembler = assembled(&script.clone().bytes(), options.clone(), None);
    assert_eq!(brief_with(script, options), "f2{ [f2 r(v0) r(v0) ] }");
    let sources = assembler.events().0.iter().filter_map(|event| match event.op {
        Op::RegionBegin(region) | Op::RegionEnd(region) => Some(region.source),
        _ => None,
    });
    assert!(sources.eq([RegionSource::Annotated; 2]));
}

#[test]
fn impossible_records_are_left_out_and_counted() {
    let script = Script::new()
        .plain(Kind::Release, 0x1000, 0x101)
        .plain(Kind::Exit, 0, 0)
        .record(header(Kind::Free, 0x5000), &[1])
        .record(header(Kind::WaitEnd, 0x1000), &[0x1008])
        .plain(Kind::Acquire, 0x1000, 0x102)
        .start_thread(1, 0)
        .plain(Kind::Acquire, 0x1000, 0x103);
    let assembler = assembled(&script.clone().bytes(), RegionOptions::default(), None);
    assert_eq!(assembler.dropped(), 5);
    assert_eq!(brief(script), "acq(v0) [v0 fork start");
}

/// Small numbers, so that records have to do with one another.
fn records() -> impl Strategy<Value = (RecordHeader, [u64; 4])> {
    let kinds = Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Skip).collect::<Vec<_>>();
    let address = prop_oneof![0..4_u64, (0..6_u64).prop_map(|number| 0x1000 + 4 * number), Just(0x6fff_fff0_u64)];
    let word = prop_oneof![0..4_u64, (0..6_u64).prop_map(|number| 0x1000 + 4 * number), any::<u64>()];
    (0..kinds.len(), 0..20_u8, address, 0..5_u64, 0..12_u16, [word.clone(), word.clone(), word.clone(), word]).prop_map(
        move |(kind, arg, address, pc, aux, words)| {
            let kind = kinds[kind];
            (
                RecordHeader { kind, arg, address, pc: 0x205 + 0x80 * pc, aux: if kind.has_text() { 0 } else { aux } },
                words,
            )
        },
    )
}

proptest! {
    #[test]
    fn whatever_comes_in_what_comes_out_is_well_formed(
        records in prop::collection::vec(records(), 0..200),
        hot in prop::collection::vec((0..3_u8, 0..3_u64, 0..0x1020_u64), 0..4),
        filter in any::<bool>(),
    ) {
        let mut script = Script::new();
        for (header, words) in &records {
            script.push(*header, words, b"");
        }
        let ranges = hot.into_iter().map(|(space, number, offset)| HotRange { space, number, offset, len: 8 });
        let only = filter.then(|| HotSet::new(ranges.collect()));
        let assembler = assembled(&script.bytes(), RegionOptions::default(), only);
        let (events, tables) = assembler.events();
        let mut check = WellFormed::new(Rules::General);
        for event in events {
            prop_assert_eq!(check.check(event, tables), Ok(()), "{:?}", event);
        }
        let mut writer = interloper_trace::ilt::IltWriter::new(Vec::new()).expect("memory");
        prop_assert!(writer.write(events, tables).is_ok());
        prop_assert!(writer.finish(tables).is_ok());
    }
}

/// What a thread does in a run that is logged in full and one that is logged where it is hot.
#[derive(Clone, Debug)]
enum Step {
    /// Of a variable, or a block, or the thread's stack.
    Access {
        write: bool,
        place: u64,
        pc: u64,
    },
    /// An access of sixteen bytes.
    Wide {
        place: u64,
        pc: u64,
    },
    Call(u64),
    Return,
    Branch(u64),
    Lock,
    Unlock,
    Stop,
    Drop,
    Switch(u64),
    Allocate,
    Free,
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (any::<bool>(), 0..12_u64, 0..4_u64).prop_map(|(write, place, pc)| Step::Access { write, place, pc }),
        1 => (0..11_u64, 0..4_u64).prop_map(|(place, pc)| Step::Wide { place, pc }),
        2 => (2..5_u64).prop_map(Step::Call),
        2 => Just(Step::Return),
        2 => (1..4_u64).prop_map(Step::Branch),
        1 => Just(Step::Lock),
        1 => Just(Step::Unlock),
        1 => Just(Step::Stop),
        1 => Just(Step::Drop),
        2 => (0..3_u64).prop_map(Step::Switch),
        1 => Just(Step::Allocate),
        1 => Just(Step::Free),
    ]
}

/// Writes a run as the runtime would, with all accesses or the hot ones.
struct Runtime<'h> {
    script: Script,
    hot: Option<&'h HotSet>,
    running: u64,
    /// Of each thread: the functions it is in, how many of them are in the log, branches not logged yet.
    threads: [(Vec<u64>, usize, u64); 3],
    /// The block at the one place for them, and whether it was freed.
    block: Option<(u64, bool)>,
    blocks: u64,
    /// Whether a thread has logged an access of what it would drop.
    has_touched: [bool; 3],
}

impl<'h> Runtime<'h> {
    fn run(steps: &[Step], hot: Option<&'h HotSet>) -> Vec<u8> {
        let mut script = Script::new().record(header(Kind::Thread, 0), &[0, 0, 0x7000_0000, 0x6f00_0000]);
        for thread in 1..3 {
            script = script.start_thread(thread, thread - 1).switch(0, 0, 1);
        }
        let mut runtime = Runtime {
            script,
            hot,
            running: 0,
            threads: Default::default(),
            block: None,
            blocks: 0,
            has_touched: [false; 3],
        };
        for step in steps {
            runtime.step(step);
        }
        runtime.script.bytes()
    }

    fn address(&self, place: u64) -> u64 {
        match place {
            0..4 => 0x1000 + 8 * place,
            4..8 => 0x5000 + 8 * (place - 4),
            _ => 0x7000_0000 + self.running * 0x10_0000 - 8 * (place - 7),
        }
    }

    fn is_logged(&self, place: u64) -> bool {
        let range = match place {
            0..4 => HotRange { space: Space::Static as u8, number: 0, offset: 0x1000 + 8 * place, len: 8 },
            4..8 => match self.block {
                Some((number, _)) => HotRange { space: Space::Heap as u8, number, offset: 8 * (place - 4), len: 8 },
                None => HotRange { space: Space::Static as u8, number: 0, offset: self.address(place), len: 8 },
            },
            _ => HotRange { space: Space::Stack as u8, number: self.running, offset: 8 * (place - 7), len: 8 },
        };
        self.hot.is_none_or(|hot| hot.contains(range))
    }

    fn log(&mut self, header: RecordHeader, words: &[u64]) {
        let top = 0x7000_0000 + self.running * 0x10_0000;
        self.has_touched[self.running as usize] |= (top - 0x1000..top - 16).contains(&header.address);
        let (functions, logged, branches) = &mut self.threads[self.running as usize];
        for function in &functions[*logged..] {
            let enter = RecordHeader { pc: function * 0x100 + 1, ..self::header(Kind::Enter, 0x105) };
            self.script.push(enter, &[], b"");
        }
        *logged = functions.len();
        if *branches > 0 {
            self.script.push(self::header(Kind::Branch, std::mem::take(branches)), &[], b"");
        }
        self.script.push(header, words, b"");
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Access { write, place, pc } if self.is_logged(place) => {
                let kind = if write { Kind::Write } else { Kind::Read };
                self.log(with(kind, self.address(place), 0x250 + pc, 8, 0), &[place]);
            }
            Step::Wide { place, pc } => {
                let pieces: Vec<u64> = [place, place + 1].into_iter().filter(|place| self.is_logged(*place)).collect();
                for (number, piece) in pieces.iter().enumerate() {
                    let more = if number + 1 < pieces.len() { AccessFlags::MORE } else { 0 };
                    self.log(with(Kind::Read, self.address(*piece), 0x260 + pc, 8, u16::from(more)), &[*piece]);
                }
            }
            Step::Access { .. } => {}
            Step::Call(function) => self.threads[self.running as usize].0.push(function),
            Step::Return => {
                let (functions, logged, _) = &mut self.threads[self.running as usize];
                functions.pop();
                if *logged > functions.len() {
                    *logged = functions.len();
                    self.script.push(header(Kind::Exit, 0), &[], b"");
                }
            }
            Step::Branch(count) => self.threads[self.running as usize].2 += count,
            Step::Lock => self.log(with(Kind::Acquire, 0x1100 + 8 * self.running, 0x270, 0, 0), &[]),
            Step::Unlock => self.log(with(Kind::Release, 0x1100 + 8 * self.running, 0x271, 0, 0), &[]),
            Step::Stop => self.script.push(header(Kind::Stop, 0), &[], b""),
            Step::Drop => {
                // Where less is logged, what was not logged is not told to be gone.
                if std::mem::take(&mut self.has_touched[self.running as usize]) || self.hot.is_none() {
                    let top = 0x7000_0000 + self.running * 0x10_0000;
                    self.script.push(header(Kind::StackDrop, top - 16), &[], b"");
                }
            }
            Step::Switch(thread) => {
                self.script.push(header(Kind::Switch, thread), &[1], b"");
                self.running = thread;
            }
            Step::Allocate if self.block.is_none_or(|(_, is_freed)| is_freed) => {
                self.blocks += 1;
                self.block = Some((self.blocks, false));
                if self.hot.is_none_or(|hot| hot.has_block(self.blocks)) {
                    self.log(with(Kind::Allocate, 0x5000, 0x280, 0, 0), &[32, self.blocks]);
                }
            }
            Step::Free => {
                if let Some((number, is_freed @ false)) = &mut self.block {
                    *is_freed = true;
                    let number = *number;
                    if self.hot.is_none_or(|hot| hot.has_block(number)) {
                        self.log(with(Kind::Free, 0x5000, 0x281, 0, 0), &[number]);
                    }
                }
            }
            Step::Allocate => {}
        }
    }
}

proptest! {
    /// A short program gives the same trace as a long one would: all logged and what is hot picked out,
    /// or what is hot logged in a second run.
    #[test]
    fn picking_out_is_the_same_as_logging_less(
        steps in prop::collection::vec(steps(), 0..60),
        hot in prop::collection::vec(prop_oneof![
            (0..4_u64).prop_map(|place| (0, 0, 0x1000 + 8 * place)),
            (1..4_u64, 0..4_u64).prop_map(|(block, place)| (1, block, 8 * place)),
            (0..3_u64, 1..6_u64).prop_map(|(thread, place)| (2, thread, 8 * place)),
        ], 0..6),
    ) {
        let ranges = hot.into_iter().map(|(space, number, offset)| HotRange { space, number, offset, len: 8 });
        let hot = HotSet::new(ranges.collect());
        let full = assembled(&Runtime::run(&steps, None), RegionOptions::default(), Some(hot.clone()));
        let less = assembled(&Runtime::run(&steps, Some(&hot)), RegionOptions::default(), None);
        prop_assert_eq!(lines(&full), lines(&less));
        prop_assert_eq!(full.events().0, less.events().0, "ids, too");
        let count = full.events().0.len();
        let identities = full.into_identities();
        prop_assert_eq!(&identities, &less.into_identities(), "and what events go by");
        prop_assert_eq!(identities.len(), count);
    }
}
