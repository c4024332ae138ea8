//! Runs of a program that stands in for one with the runtime: how it ends, and what is left of it.

use interloper_recorder::{Effort, Exit, How, Note, Observer, RecordError, RecordOutcome, RecordRequest, record};
use interloper_trace::file::{ReadOptions, TraceReader};
use interloper_trace::{Event, EventSource as _, Op};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program, compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_program.c");
        let status = Command::new("cc").args(["-O1", "-o"]).arg(&path).arg(source).status().expect("a C compiler");
        assert!(status.success());
        (folder, path)
    });
    path
}

struct Recording {
    folder: tempfile::TempDir,
    outcome: RecordOutcome,
}

impl Recording {
    fn of(what: &str, change: impl FnOnce(&mut RecordRequest), observer: &mut dyn Observer) -> Recording {
        let folder = tempfile::tempdir().expect("a folder");
        let mut request = RecordRequest::new(vec![program().into(), what.into()]);
        request.output = Some(folder.path().join("trace.ilt"));
        request.ring_len = 1 << 16;
        change(&mut request);
        let outcome = record(&request, observer).expect("recorded");
        Recording { folder, outcome }
    }

    fn full(what: &str) -> Recording {
        Recording::of(what, |request| request.effort = Effort::Full, &mut ())
    }

    fn auto(what: &str) -> Recording {
        Recording::of(what, |_| {}, &mut ())
    }

    fn events(&self) -> Vec<Event> {
        self.read().0
    }

    fn read(&self) -> (Vec<Event>, Vec<(String, String)>) {
        let path = self.folder.path().join("trace.ilt");
        let mut reader = TraceReader::open(&path, ReadOptions::default()).expect("opens");
        let mut events = Vec::new();
        while reader.visit(|_, event, _| events.push(*event)).expect("well-formed") {}
        assert_eq!(events.len() as u64, self.outcome.events);
        assert_eq!(reader.notes(), Vec::<String>::new(), "the trace is whole");
        (events, reader.tables().meta().to_vec())
    }

    fn accesses(&self) -> usize {
        self.events().iter().filter(|event| matches!(event.op, Op::Read(_) | Op::Write(_))).count()
    }
}

#[test]
fn a_run_that_ends_by_itself() {
    let recording = Recording::full("exit");
    assert_eq!(recording.outcome.exit, Exit::Code(5));
    assert_eq!(recording.outcome.how, How::Full);
    assert_eq!((recording.outcome.threads, recording.outcome.events), (2, 2));
    assert_eq!(recording.outcome.notes, []);
    let (_, facts) = recording.read();
    let fact = |key: &str| facts.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
    assert_eq!(fact("schedule.0"), Some("il1:s:0x7f"));
    assert_eq!(fact("policy"), Some("run-ahead"));
    assert!(fact("command").is_some_and(|command| command.ends_with("program exit")));
}

#[test]
fn more_than_fits_into_the_ring() {
    let recording = Recording::full("fill");
    assert_eq!(recording.outcome.exit, Exit::Code(5));
    assert_eq!(recording.accesses(), 200_000);
}

#[test]
fn a_killed_program_leaves_a_whole_trace() {
    for recording in [Recording::full("kill"), Recording::auto("kill")] {
        assert_eq!(recording.outcome.exit, Exit::Signal(9));
        assert_eq!(recording.outcome.exit.shell_code(), 137);
        let expected = if recording.outcome.how == How::Full { 2000 } else { 0 };
        assert_eq!(recording.accesses(), expected, "nothing is shared");
    }
}

#[test]
fn a_crash_is_replayed_to_its_end() {
    let recording = Recording::full("crash");
    assert_eq!(recording.outcome.exit, Exit::Signal(6));
    assert_eq!(recording.outcome.schedule.to_string(), "il1:s:0xallf");
}

#[test]
fn nonsense_in_the_ring_does_not_hang() {
    let recording = Recording::full("garble");
    assert_eq!(recording.outcome.exit, Exit::Code(5));
    assert_eq!(recording.outcome.notes, [Note::Garbled]);
    assert_eq!(recording.events().len(), 2);
}

#[test]
fn a_program_that_says_nothing_is_told_apart() {
    let recording = Recording::full("silent");
    assert_eq!(recording.outcome.notes, [Note::Silent]);
}

#[test]
fn a_program_that_was_not_recorded_leaves_the_old_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    for (what, effort) in [
        ("unattached", Effort::Full),
        ("unattached", Effort::Auto),
        ("no shadow", Effort::Full),
        ("no shadow", Effort::Auto),
    ] {
        let mut request = RecordRequest::new(vec![program().into(), what.into()]);
        request.effort = effort;
        let error = record(&request, &mut ()).expect_err("not recorded");
        assert!(error.is_unsupported(), "{error}");
        let (old, new) = (folder.path().join("old.ilt"), folder.path().join("new.ilt"));
        std::fs::write(&old, "what was there before").expect("written");
        for path in [&old, &new] {
            request.output = Some(path.clone());
            match record(&request, &mut ()).expect_err("not recorded") {
                RecordError::Unattached { exit } => assert_eq!((what, exit), ("unattached", Exit::Code(7))),
                RecordError::NoShadow => assert_eq!(what, "no shadow"),
                other => panic!("{other}"),
            }
        }
        assert_eq!(std::fs::read_to_string(&old).expect("kept"), "what was there before");
        assert!(!new.exists());
    }
}

#[test]
fn who_is_stopped_before_it_begins_may_be_built_well() {
    for (signal, is_stopped) in [(9, true), (15, true), (11, false)] {
        let command = ["sh".into(), "-c".into(), format!("kill -{signal} $$").into()];
        let error = record(&RecordRequest::new(command.to_vec()), &mut ()).expect_err("not recorded");
        assert_eq!(error.is_unsupported(), !is_stopped, "{error}");
        assert_eq!(error.shell_code(), is_stopped.then_some(128 + signal), "{error}");
    }
}

#[test]
fn only_the_program_itself_is_waited_for() {
    let begun = std::time::Instant::now();
    Recording::full("orphan");
    assert!(begun.elapsed().as_secs() < 4);
}

#[test]
fn a_long_program_is_run_twice() {
    let recording = Recording::auto("long");
    assert_eq!((recording.outcome.how, recording.outcome.exit), (How::Twice, Exit::Code(5)));
    assert_eq!(recording.accesses(), 1);
    assert_eq!(recording.outcome.schedule.to_string(), "il1:s:0x11b.1x2f.0x7f");
}

#[test]
fn a_second_run_that_differs_is_noticed() {
    let recording = Recording::auto("unfaithful");
    assert!(matches!(recording.outcome.how, How::FullAfter(difference) if difference.agree == 0));
    assert_eq!(recording.accesses(), 2);
}

#[test]
fn a_program_that_cannot_be_started_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.ilt");
    let start = |program: &Path, effort| {
        let mut request = RecordRequest::new(vec![program.into()]);
        request.output = Some(path.clone());
        request.effort = effort;
        record(&request, &mut ()).expect_err("not started")
    };
    for effort in [Effort::Full, Effort::Auto] {
        let error = start(&folder.path().join("nothing"), effort);
        assert_eq!(error.shell_code(), Some(127));
        assert!(!path.exists());
        std::fs::write(&path, "precious").expect("written");
        let error = start(&path, effort);
        assert!(matches!(error, RecordError::CannotStart { .. }));
        assert_eq!(error.shell_code(), Some(126));
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "precious");
        std::fs::remove_file(&path).expect("removed");
    }
}

#[test]
fn a_full_disk_does_not_stop_the_program() {
    let change = |request: &mut RecordRequest| {
        request.output = Some("/dev/full".into());
        request.effort = Effort::Full;
    };
    let recording = Recording::of("fill", change, &mut ());
    assert_eq!(recording.outcome.exit, Exit::Code(5));
    assert!(matches!(&recording.outcome.notes[..], [Note::Unwritten(_)]));
}

/// Wants the program to end as soon as it has said something.
#[derive(Default)]
struct Impatient {
    has_heard: bool,
}

impl Observer for Impatient {
    fn running(&mut self, bytes: u64) {
        self.has_heard |= bytes > 0;
    }

    fn wants_end(&mut self) -> bool {
        self.has_heard
    }
}

#[test]
fn who_wants_the_program_to_end_can_ask_it() {
    let recording = Recording::of("term", |_| {}, &mut Impatient::default());
    assert_eq!(recording.outcome.exit, Exit::Signal(15));
}
