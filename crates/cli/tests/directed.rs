//! Programs run in another order than they were recorded in: what was directed comes to pass, and the schedule of
//! that run gives it again.
//!
//! Orders are made by hand here, from events of a recording.

#![allow(clippy::unwrap_used)]

mod common;

use common::expect::Expect;
use interloper_recorder::{
    CapturedOutput, Directed, Directions, Effort, EventIdentity, Exit, How, Printing, RecordOutcome, RecordRequest,
    compare, record,
};
use interloper_trace::file::{ReadOptions, TraceReader};
use interloper_trace::{Event, EventSource as _, LocationId, Op, Tables, ThreadId, Wake};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// A program in a folder of its own.
struct Program {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Program {
    /// Compiles it.
    fn new(source: &str) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program.c");
        std::fs::write(&file, source).unwrap();
        Program::compile(folder, &file, &[])
    }

    /// Compiles one of the corpus.
    fn of_corpus(file: &Path, expect: &Expect) -> Program {
        let mut options: Vec<String> =
            expect.get("std").map(|standard| format!("-std={standard}")).into_iter().collect();
        options.extend(expect.get("libs").unwrap_or_default().split_whitespace().map(str::to_owned));
        Program::compile(tempfile::tempdir().unwrap(), file, &options)
    }

    fn compile(folder: tempfile::TempDir, file: &Path, options: &[String]) -> Program {
        let path = folder.path().join("program");
        let is_c = file.extension().is_some_and(|extension| extension == "c");
        let mut command = Command::new(env!("CARGO_BIN_EXE_interloper"));
        for name in ["CC", "CXX", "INTERLOPER_COMPILER", "INTERLOPER_BRANCHES"] {
            command.env_remove(name);
        }
        let output = command
            .env("INTERLOPER_RUNTIME", common::runtime_directory())
            .env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"))
            .args([if is_c { "cc" } else { "c++" }, "-g", "-O1", "-pthread", "-Wall", "-Wextra", "-Werror"])
            .arg(file)
            .arg("-o")
            .arg(&path)
            .args(options)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Program { folder, path }
    }

    fn run(&self, name: &str, change: impl FnOnce(&mut RecordRequest)) -> Run {
        // One at a time: programs inherit what files are open here, and the numbers of their own depend on that.
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let trace = self.folder.path().join(name).with_extension("ilt");
        let mut request = RecordRequest::new(vec![self.path.clone().into()]);
        request.output = Some(trace.clone());
        request.identify = true;
        request.printing = Printing::Captured;
        request.start_time = Some(1_700_000_000_000_000_000);
        request.time_limit = Some(Duration::from_secs(60));
        change(&mut request);
        let outcome = record(&request, &mut ()).unwrap();
        let mut reader = TraceReader::open(&trace, ReadOptions::default()).unwrap();
        let mut events = Vec::new();
        while reader.visit(|_, event, _| events.push(*event)).unwrap() {}
        let tables = reader.tables();
        let threads = (0..tables.thread_count()).map(|index| thread_name(tables, index)).collect();
        let location = |index| tables.location_name(LocationId::from_index(index).unwrap());
        let locations = (0..tables.location_count()).map(location).collect();
        assert_eq!(outcome.identities.len(), events.len());
        Run { trace, outcome, events, threads, locations }
    }

    /// As usual.
    fn recorded(&self) -> Run {
        self.run("recorded", |_| {})
    }

    /// Has it run in the order given, and again along the schedule of that.
    fn directed(&self, directions: Directions) -> Run {
        let run = self.run("directed", |request| request.directions = Some(directions));
        let again = self.run("again", |request| request.schedule = Some(run.outcome.schedule.clone()));
        assert_eq!((again.outcome.notices, again.outcome.notes), (Vec::new(), Vec::new()));
        assert_eq!(again.outcome.schedule, run.outcome.schedule);
        assert_eq!((again.outcome.exit, &again.outcome.output), (run.outcome.exit, &run.outcome.output));
        assert_eq!(compare(&run.trace, &again.trace).unwrap().mismatch, None);
        run
    }
}

fn thread_name(tables: &Tables, index: usize) -> String {
    tables.thread(ThreadId::from_index(index).unwrap()).to_owned()
}

/// A recorded run.
struct Run {
    trace: PathBuf,
    outcome: RecordOutcome,
    events: Vec<Event>,
    threads: Vec<String>,
    locations: Vec<String>,
}

impl Run {
    fn location(&self, location: LocationId) -> String {
        self.locations[location.index()].clone()
    }

    fn thread(&self, event: &Event) -> &str {
        &self.threads[event.thread.index()]
    }

    fn stdout(&self) -> &str {
        let CapturedOutput { stdout, .. } = self.outcome.output.as_ref().unwrap();
        std::str::from_utf8(stdout).unwrap()
    }

    /// The names of the threads that did this, in order.
    fn who(&self, is_it: impl Fn(&Op) -> bool) -> Vec<&str> {
        self.events.iter().filter(|event| is_it(&event.op)).map(|event| self.thread(event)).collect()
    }

    /// Whose event comes after whose, and what each goes by.
    fn deeds(&self) -> Vec<(&str, EventIdentity)> {
        let identified = self.events.iter().zip(&self.outcome.identities);
        identified.filter_map(|(event, identity)| Some((self.thread(event), (*identity)?))).collect()
    }

    fn order(&self) -> Order<'_> {
        Order { run: self, events: Vec::new(), done: vec![0; self.threads.len()] }
    }
}

/// An order of the events of a run, in the making.
struct Order<'r> {
    run: &'r Run,
    events: Vec<usize>,
    done: Vec<usize>,
}

impl Order<'_> {
    /// A thread goes on until it has done this for the `nth` time from here.
    fn until(mut self, thread: &str, nth: usize, is_it: impl Fn(&Op) -> bool) -> Self {
        assert_eq!(self.advance(thread, nth, is_it), nth, "{thread} does not do that so often");
        self
    }

    /// A thread goes on to its end.
    fn rest(mut self, thread: &str) -> Self {
        self.advance(thread, usize::MAX, |_| false);
        self
    }

    fn advance(&mut self, thread: &str, nth: usize, is_it: impl Fn(&Op) -> bool) -> usize {
        let index = self.run.threads.iter().position(|name| name == thread).unwrap();
        let mut seen = 0;
        let own = self.run.events.iter().enumerate().filter(|(_, event)| event.thread.index() == index);
        for (at, event) in own.skip(self.done[index]) {
            if seen == nth {
                break;
            }
            self.events.push(at);
            self.done[index] += 1;
            seen += usize::from(is_it(&event.op));
        }
        seen
    }

    fn directions(&self) -> Directions {
        Directions::of(&self.events, &self.run.events, &self.run.outcome)
    }
}

fn is_fork(op: &Op) -> bool {
    matches!(op, Op::Fork(_))
}

fn is_release(op: &Op) -> bool {
    matches!(op, Op::Release { .. })
}

fn is_write(op: &Op) -> bool {
    matches!(op, Op::Write(_))
}

fn is_read(op: &Op) -> bool {
    matches!(op, Op::Read(_))
}

const LOST_UPDATE: &str = include_str!("directed/lost_update.c");

#[test]
fn an_update_gets_lost() {
    let program = Program::new(LOST_UPDATE);
    let recorded = program.recorded();
    assert_eq!((recorded.stdout(), recorded.outcome.how), ("2\n", How::Once));
    // Between the two critical sections of either comes all of the other.
    for (first, second) in [("main.1", "main.2"), ("main.2", "main.1")] {
        let order = recorded.order().until("main", 2, is_fork).until(first, 1, is_release).rest(second).rest(first);
        let run = program.directed(order.directions());
        assert_eq!(run.outcome.directed, Some(Directed::Followed));
        assert_eq!((run.stdout(), run.outcome.exit), ("1\n", Exit::Code(0)));
        assert_eq!(run.who(is_release), [first, second, second, first]);
        assert!(!run.outcome.timed_out);
    }
}

/// Grandchildren lose an update, and are made in another order than they were recorded in.
const GRANDCHILDREN: &str = include_str!("directed/grandchildren.c");

#[test]
fn threads_are_made_in_another_order() {
    let program = Program::new(GRANDCHILDREN);
    let recorded = program.recorded();
    assert_eq!(recorded.stdout(), "12\n");
    assert_eq!(recorded.who(is_fork), ["main", "main", "main.1", "main.2"]);
    let order = recorded.order().until("main", 2, is_fork).until("main.2", 1, is_fork).until("main.1", 1, is_fork);
    let order = order.until("main.2.1", 1, is_release).rest("main.1.1").rest("main.2.1");
    let run = program.directed(order.directions());
    assert_eq!((run.outcome.directed.as_ref(), run.stdout()), (Some(&Directed::Followed), "11\n"));
    assert_eq!(run.who(is_fork), ["main", "main", "main.2", "main.1"]);
    assert_eq!(run.who(is_release), ["main.2.1", "main.1.1", "main.1.1", "main.2.1"]);
    assert_eq!(run.outcome.births, recorded.outcome.births);
    // What each shares with its child lies on its stack, which goes by a number: that is still the same.
    assert_eq!(run.who(is_read).len(), recorded.who(is_read).len());
}

const TICKETS: &str = include_str!("directed/tickets.c");

#[test]
fn a_signal_wakes_whose_turn_comes_next() {
    let program = Program::new(TICKETS);
    let recorded = program.recorded();
    assert_eq!(recorded.stdout(), "1\n");
    let is_wait_begin = |op: &Op| matches!(op, Op::WaitBegin { .. });
    let is_wait_end = |op: &Op| matches!(op, Op::WaitEnd { .. });
    let waits = recorded.events.iter().filter(|event| is_wait_begin(&event.op) && recorded.thread(event) == "main");
    assert_eq!(waits.count(), 4, "main waits for all at once");
    for (name, number) in [("main.1", "1\n"), ("main.2", "2\n"), ("main.3", "3\n")] {
        let order = recorded.order().until("main", 1, is_wait_begin);
        let order =
            ["main.1", "main.2", "main.3"].iter().fold(order, |order, name| order.until(name, 1, is_wait_begin));
        let order = order.until("main", 1, is_wait_begin).until(name, 1, is_wait_end);
        let run = program.directed(order.directions());
        assert_eq!((run.outcome.directed.as_ref(), run.stdout()), (Some(&Directed::Followed), number));
        let woken: Vec<_> = run.who(is_wait_end).into_iter().filter(|name| *name != "main").collect();
        assert_eq!((woken.len(), woken[0]), (3, name));
    }
}

const IN_TIME: &str = include_str!("directed/in_time.c");

#[test]
fn who_is_to_be_late_is_not_woken() {
    let program = Program::new(IN_TIME);
    let recorded = program.recorded();
    assert_eq!(recorded.stdout(), "1 1\n");
    let is_wait_begin = |op: &Op| matches!(op, Op::WaitBegin { .. });
    let is_late = |op: &Op| matches!(op, Op::WaitEnd { wake: Wake::TimedOut, .. });
    let is_signal = |op: &Op| matches!(op, Op::Signal(_));
    // The signal comes while both wait, the impatient one for longer, and it goes on first.
    let order = recorded.order().until("main", 1, is_wait_begin).until("main.1", 1, is_wait_begin);
    let order = order.until("main.2", 1, is_wait_begin).until("main", 1, is_signal);
    let run = program.directed(order.until("main.1", 1, is_late).rest("main.1").rest("main.2").directions());
    assert_eq!((run.outcome.directed.as_ref(), run.stdout()), (Some(&Directed::Followed), "1 1\n"));
    let position = |is_it: &dyn Fn(&Op) -> bool| run.events.iter().rposition(|event| is_it(&event.op)).unwrap();
    assert!(position(&is_signal) < position(&is_late));
}

const HEAPS: &str = include_str!("directed/heaps.c");

#[test]
fn blocks_are_where_they_were() {
    let program = Program::new(HEAPS);
    let recorded = program.recorded();
    let lines: Vec<_> = recorded.stdout().lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.split(' ').all(|address| address.len() > 10)), "{lines:?}");
    let mut order = recorded.order().until("main", 3, is_fork);
    for _ in 0..4 {
        order = order.until("main.3", 2, is_release).until("main.2", 1, is_release);
    }
    let run = program.directed(order.rest("main.3").rest("main.1").rest("main.2").directions());
    assert_eq!((run.outcome.directed.as_ref(), run.stdout()), (Some(&Directed::Followed), recorded.stdout()));
    assert_eq!(run.who(is_release)[..6], ["main.3", "main.3", "main.2", "main.3", "main.3", "main.2"]);
}

const USE_AFTER_FREE: &str = include_str!("directed/use_after_free.c");

#[test]
fn what_was_freed_is_still_known_by_its_name() {
    let program = Program::new(USE_AFTER_FREE);
    let recorded = program.recorded();
    assert_eq!(recorded.stdout(), "0\n");
    let is_free = |op: &Op| matches!(op, Op::Free { .. });
    // The other thread has unlocked, and has nothing more to do than to free.
    let order =
        recorded.order().until("main", 2, is_fork).until("main.1", 1, is_release).until("main.2", 2, is_release);
    let before = program.directed(order.until("main.1", 1, is_read).until("main.2", 1, is_free).directions());
    let order = recorded.order().until("main", 2, is_fork).until("main.1", 1, is_release);
    let after = program.directed(order.until("main.2", 1, is_free).until("main.1", 1, is_read).directions());
    let mut names = Vec::new();
    for (run, is_after) in [(before, false), (after, true)] {
        assert_eq!(run.outcome.directed, Some(Directed::Followed));
        let free = run.events.iter().position(|event| is_free(&event.op)).unwrap();
        let read = run.events.iter().rposition(|event| is_read(&event.op) && run.thread(event) == "main.1").unwrap();
        assert_eq!(read > free, is_after);
        let Op::Read(access) = run.events[read].op else { panic!("no read") };
        names.push(run.location(access.location));
    }
    assert!(names[0].starts_with("heap#main/") && names[0].ends_with("+8"), "{names:?}");
    assert_eq!(names[0], names[1]);
}

/// A turn goes on through everything by which others end.
const LONG_WAY: &str = include_str!("directed/long_way.c");

#[test]
fn a_turn_goes_on_through_sleeps_yields_and_system_calls() {
    let program = Program::new(LONG_WAY);
    let recorded = program.recorded();
    let order = recorded.order().until("main", 2, is_fork).rest("main.2").rest("main.1");
    let run = program.directed(order.directions());
    assert_eq!((run.outcome.directed.as_ref(), run.stdout()), (Some(&Directed::Followed), "2\n"));
    assert_eq!(run.who(is_release), ["main.2", "main.2", "main.1", "main.1"]);
    let order = recorded.order().until("main", 2, is_fork).until("main.1", 1, is_release);
    let order = order.until("main.2", 2, is_release).until("main.1", 1, is_release);
    let run = program.directed(order.directions());
    assert_eq!((run.outcome.directed.as_ref(), run.stdout()), (Some(&Directed::Followed), "1\n"));
    assert_eq!(run.who(is_release), ["main.1", "main.2", "main.2", "main.1"]);
}

/// One thread tells another through a pipe, of which no event tells.
const MESSAGE: &str = include_str!("directed/message.c");

#[test]
fn who_waits_for_a_message_gets_it() {
    let program = Program::new(MESSAGE);
    let recorded = program.recorded();
    assert_eq!(recorded.stdout(), "3\n");
    // The one who tells has not come to it when the other is to go on, and does not come to anything else meanwhile.
    let order = recorded.order().until("main", 2, is_fork).until("main.1", 1, is_release);
    let run = program.directed(order.until("main.2", 1, is_release).rest("main.1").directions());
    assert_eq!((run.outcome.directed.as_ref(), run.stdout()), (Some(&Directed::Followed), "2\n"));
    assert_eq!(run.who(is_release), ["main.1", "main.2", "main.1"]);
}

const BARRIER: &str = include_str!("directed/barrier.c");

#[test]
fn what_comes_in_one_step_is_not_waited_for_twice() {
    let program = Program::new(BARRIER);
    let recorded = program.recorded();
    let is_arrival = |op: &Op| matches!(op, Op::BarrierArrive(_));
    let is_departure = |op: &Op| matches!(op, Op::BarrierLeave(_));
    // Neither who arrives last nor who copies can be stopped half-way; what they do then is counted later.
    let order =
        recorded.order().until("main", 2, is_fork).until("main.1", 1, is_arrival).until("main.2", 1, is_arrival);
    let order = order.until("main.1", 1, is_departure).until("main.2", 1, is_departure);
    let order = order.until("main.2", 3, is_read).until("main.1", 2, is_write).until("main.2", 12, is_read);
    let run = program.directed(order.rest("main.1").rest("main.2").directions());
    assert_eq!(run.outcome.directed, Some(Directed::Followed));
    assert_eq!(run.stdout(), format!("{} {}\n", "a".repeat(64), "b".repeat(64)));
}

#[test]
fn one_run_or_two_give_the_same_identities() {
    for source in [LOST_UPDATE, GRANDCHILDREN, HEAPS, USE_AFTER_FREE, BARRIER] {
        let program = Program::new(source);
        let once = program.recorded();
        let twice = program.run("twice", |request| request.full_limit = 1);
        assert_eq!((once.outcome.how, twice.outcome.how), (How::Once, How::Twice));
        assert_eq!(compare(&once.trace, &twice.trace).unwrap().mismatch, None);
        assert_eq!(once.outcome.identities, twice.outcome.identities);
        assert_eq!(once.outcome.shared, twice.outcome.shared);
        assert_eq!(once.outcome.thread_numbers, twice.outcome.thread_numbers);
        assert!(once.outcome.identities.iter().flatten().count() > once.events.len() / 4);
    }
}

#[test]
fn everything_may_be_recorded() {
    let program = Program::new(LOST_UPDATE);
    let recorded = program.run("recorded", |request| request.effort = Effort::Full);
    assert_eq!(recorded.outcome.how, How::Full);
    let order = recorded.order().until("main", 2, is_fork).until("main.1", 1, is_release).rest("main.2");
    let directions = order.directions();
    let run = program.run("directed", |request| request.directions = Some(directions));
    assert_eq!((run.outcome.how, run.outcome.directed.as_ref()), (How::Full, Some(&Directed::Followed)));
    assert_eq!(run.stdout(), "1\n");
}

const LEFT_BEHIND: &str = include_str!("directed/left_behind.c");

#[test]
fn who_is_to_go_before_the_program_ends_does() {
    let program = Program::new(LEFT_BEHIND);
    let recorded = program.run("recorded", |request| request.quantum = 1);
    assert_eq!((recorded.stdout(), recorded.outcome.exit), ("first\n", Exit::Code(6)));
    // The first thread has nothing more to do but to return.
    let order = recorded.order().until("main", 1, is_read).until("main.1", 1, is_write);
    let run = program.directed(order.directions());
    assert_eq!((run.outcome.directed.as_ref(), run.outcome.exit), (Some(&Directed::Followed), Exit::Code(5)));
}

/// Blocks of all sizes, freed by others than those who allocated them, by many threads, more than fits anywhere.
const HEAP_STRESS: &str = include_str!("directed/heap_stress.c");

#[test]
fn the_heap_stays_whole() {
    let program = Program::new(HEAP_STRESS);
    let native = Command::new(&program.path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&native.stdout), "whole\n");
    for quantum in [1_000_000, 500] {
        let recorded = program.run("recorded", |request| request.quantum = quantum);
        assert_eq!((recorded.stdout(), recorded.outcome.exit), ("whole\n", Exit::Code(0)));
        assert!(matches!(recorded.outcome.how, How::Once | How::Twice), "{:?}", recorded.outcome.how);
        assert_eq!(recorded.outcome.notices, []);
    }
}

/// How a run strays from its directions.
fn departure(run: &Run) -> (u64, &str, &str) {
    match run.outcome.directed.as_ref().unwrap() {
        Directed::Followed => panic!("it did not stray"),
        Directed::Diverged { turn, thread, how } => (*turn, thread, how),
    }
}

#[test]
fn what_cannot_be_is_told() {
    let program = Program::new(LOST_UPDATE);
    let recorded = program.recorded();
    let is_acquire = |op: &Op| matches!(op, Op::Acquire { .. });
    let forked = || recorded.order().until("main", 2, is_fork);

    let run = program.directed(forked().until("main.1", 1, is_acquire).until("main.2", 1, is_acquire).directions());
    assert_eq!(departure(&run), (2, "main.2", "the thread waits for a mutex before it gets there"));
    assert_eq!(run.stdout(), "2\n", "it goes on by itself");

    let run = program.directed(recorded.order().until("main.2", 1, is_acquire).directions());
    assert_eq!(departure(&run), (0, "main.2", "the thread was to run, but is not there"));

    let mut directions = forked().rest("main.1").directions();
    directions.turns.extend_from_within(..);
    let run = program.directed(directions);
    assert_eq!(departure(&run), (2, "main", "the thread waits for a thread before it gets there"));

    let mut directions = forked().until("main.1", 1, is_acquire).directions();
    directions.turns[1].until = match directions.turns[1].until {
        interloper_recorder::Until::Done { kind, pc, .. } => interloper_recorder::Until::Done { kind, pc, times: 2 },
        until => until,
    };
    let run = program.directed(directions);
    assert_eq!(departure(&run), (1, "main.1", "the thread ends before it gets there"));

    let mut directions = recorded.order().rest("main.1").rest("main.2").rest("main").directions();
    directions.turns.retain(|turn| turn.thread == 0);
    let run = program.directed(directions);
    assert_eq!(departure(&run), (0, "main", "the thread waits for a thread before it gets there"));
}

const SPIN: &str = include_str!("directed/spin.c");

#[test]
fn who_goes_round_in_circles_is_found_out() {
    let program = Program::new(SPIN);
    let recorded = program.recorded();
    for (thread, name) in [(2, "main.2"), (3, "main.3"), (4, "main.4")] {
        let directions = recorded.order().until("main", 4, is_fork).rest(name).directions();
        let run = program.run("directed", |request| request.directions = Some(directions));
        assert_eq!(departure(&run), (1, name, "the thread goes round in circles before it gets there"), "{thread}");
        assert_eq!((run.stdout(), run.outcome.timed_out), ("done\n", false));
    }
}

#[test]
fn who_takes_too_long_is_killed() {
    let program = Program::new("int main(void) { for (volatile int i = 0;; i++) { } }");
    let run = program.run("recorded", |request| {
        request.time_limit = Some(Duration::from_millis(300));
        request.effort = Effort::Full;
        request.full_limit = 1 << 20;
    });
    assert!(run.outcome.timed_out);
    assert_eq!(run.outcome.exit, Exit::Signal(9));
}

/// Programs of the corpus in which the order of events is not all that matters: they wait for messages, and for the
/// lock of a stream, or cancel threads.
const OTHERWISE_ORDERED: [&str; 4] = ["cancel", "pipes", "socketpair_poll", "stdio_threads"];
/// Those that have too many events to be worth the time.
const LONG: [&str; 3] = ["alloc", "deep_recursion", "mutexes_100000"];

/// Directed to do just what they did, programs of the corpus do it.
#[test]
fn programs_can_be_directed_to_do_what_they_did() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let chosen = std::env::var("INTERLOPER_CORPUS").unwrap_or_default();
    let mut files: Vec<PathBuf> = ["fail", "runtime"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(corpus.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp"))
        .filter(|path| chosen.split(',').any(|part| path.to_string_lossy().contains(part)))
        .collect();
    files.sort();
    let queue = Mutex::new(files);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(file) = queue.lock().unwrap().pop() else { return };
                    direct_as_recorded(&file);
                }
            });
        }
    });
}

fn direct_as_recorded(file: &Path) {
    let name = file.file_stem().unwrap().to_str().unwrap();
    let expect = Expect::read(&file.with_extension("expect")).unwrap();
    // These want something of their surroundings.
    let is_demanding = ["stdin", "args", "env"].iter().any(|key| expect.has(key));
    if is_demanding || LONG.contains(&name) {
        return;
    }
    let program = Program::of_corpus(file, &expect);
    let recorded = program.run("recorded", |request| request.quantum = 7);
    let order: Vec<usize> = (0..recorded.events.len()).collect();
    let directions = Directions::of(&order, &recorded.events, &recorded.outcome);
    let run = program.run("directed", |request| request.directions = Some(directions));
    assert_eq!(run.outcome.exit, recorded.outcome.exit, "{name}");
    if !OTHERWISE_ORDERED.contains(&name) {
        assert_eq!(run.outcome.directed, Some(Directed::Followed), "{name}");
        let (first, second) = (recorded.deeds(), run.deeds());
        let difference = first.iter().zip(&second).find(|(first, second)| first != second);
        assert_eq!((difference, first.len()), (None, second.len()), "{name}");
    }
}
