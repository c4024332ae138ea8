//! The conditions imply the exact check, and that is the definition.

use crate::testing::{Sample, Shape, sample, samples, sources};
use crate::{Budget, Instance, Proof, Question, Reason, Scope, Verdict, judge, judge_exactly, reference};
use interloper_model::{InitialValues, Pattern};
use interloper_trace::{EventIndex, Op, ThreadId, Value};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;

const AMPLE: Budget<'_> = Budget::steps(10_000_000);

fn question(sample: &Sample) -> Question<'_> {
    Question::whole(&sample.events, &sample.tables, InitialValues::Zero, sources())
}

fn verdict(text: &str) -> Verdict {
    judge(&question(&sample(text)), &AMPLE)
}

fn exactly(text: &str) -> Verdict {
    let sample = sample(text);
    let exact = judge_exactly(&question(&sample), &AMPLE);
    let truth = reference::is_atomic(&sample.events, &sample.tables, &BTreeMap::new(), sources());
    assert_eq!(exact == Verdict::Atomic, truth, "{text}");
    exact
}

fn by_condition(pattern: Pattern, events: [u64; 3]) -> Verdict {
    Verdict::NonAtomic(Proof::Condition(Instance { pattern, events: events.map(EventIndex) }))
}

#[test]
fn each_pattern_has_a_condition() {
    let texts = [
        ("0 b; 0 rx=0; 1 wx=1; 0 rx=1; 0 e", Pattern::Rwr),
        ("0 b; 0 rx=0; 1 wx=5; 0 wx=1; 0 e", Pattern::Rww),
        ("0 b; 0 wx=1; 1 rx=1; 0 wx=2; 0 e", Pattern::Wrw),
        ("0 b; 0 wx=1; 1 wx=2; 0 rx=2; 0 e", Pattern::Wwr),
    ];
    for (text, pattern) in texts {
        assert_eq!(verdict(text), by_condition(pattern, [1, 2, 3]), "{text}");
        assert_eq!(exactly(text), Verdict::NonAtomic(Proof::Exact), "{text}");
    }
    // T1 has seen that T0 was there, and is then overwritten by it.
    let www = "0 b; 0 wx=1; 1 rx=1; 1 wx=2; 0 wx=1; 0 e";
    assert_eq!(verdict(www), by_condition(Pattern::Www, [1, 3, 4]));
    assert_eq!(exactly(www), Verdict::NonAtomic(Proof::Exact));
}

/// Two withdrawals that know nothing of each other: the initial value comes from a third thread.
#[test]
fn a_lost_update_is_one_whoever_wrote_the_initial_value() {
    let text = "0 wx=100; 1 b; 1 rx=100; 2 b; 2 rx=100; 2 wx=80; 2 e; 1 wx=90; 1 e; 0 rx=90";
    assert_eq!(verdict(text), by_condition(Pattern::Rww, [2, 5, 7]));
    assert_eq!(exactly(text), Verdict::NonAtomic(Proof::Exact));
}

/// Three adders, the values go round, and one addition is lost: no read and no pair of blocks tells which.
#[test]
fn a_value_is_not_used_up_more_often_than_it_is_made() {
    let text = "0 b; 0 rx=0; 0 wx=1; 0 e; 1 b; 1 rx=1; 1 wx=0; 1 e; 0 b; 0 rx=0; 1 b; 1 rx=0; 1 wx=1; 1 e; 0 wx=1; 0 e";
    assert_eq!(verdict(text), by_condition(Pattern::Rww, [9, 12, 14]));
    assert_eq!(exactly(text), Verdict::NonAtomic(Proof::Exact));
}

/// Where the conditions printed in the paper are wrong.
#[test]
fn counterexamples_to_the_printed_conditions_are_atomic() {
    // C_WRW: a third thread writes the same value.
    assert_eq!(exactly("0 b; 0 wx=1; 1 rx=1; 2 wx=1; 0 wx=3; 0 e"), Verdict::Atomic);
    // C_RWW: the last write does not tell who came last.
    assert_eq!(exactly("1 b; 1 rx=0; 0 wx=3; 1 wx=3; 1 e"), Verdict::Atomic);
    // Figure 4 of the paper.
    assert_eq!(exactly("1 wx=1; 0 b; 0 wx=1; 1 rx=1; 0 wx=3; 0 e"), Verdict::Atomic);
    for text in [
        "0 b; 0 wx=1; 1 rx=1; 2 wx=1; 0 wx=3; 0 e",
        "1 b; 1 rx=0; 0 wx=3; 1 wx=3; 1 e",
        "1 wx=1; 0 b; 0 wx=1; 1 rx=1; 0 wx=3; 0 e",
    ] {
        assert_eq!(verdict(text), Verdict::Atomic, "{text}");
    }
}

#[test]
fn what_overlaps_in_part_is_seen() {
    // Two bytes are written at once and read one by one, and somebody comes in between.
    let mut sample = sample("0 b; 0 rp=1; 1 wp=2; 0 rp=2; 0 e");
    let low = sample.tables.intern_location("q", 0).expect("a location");
    let high = sample.tables.intern_location("q", 1).expect("a location");
    let set = |op: &mut Op, location, size, value| match op {
        Op::Read(access) | Op::Write(access) => {
            (access.location, access.size, access.value) = (location, size, Value::known(value));
        }
        _ => unreachable!("an access"),
    };
    set(&mut sample.events[1].op, low, 1, 0);
    set(&mut sample.events[2].op, low, 2, 0x0101);
    set(&mut sample.events[3].op, high, 1, 1);
    assert_eq!(judge(&question(&sample), &AMPLE), Verdict::NonAtomic(Proof::Exact));
    // The other way round it is all right: the reads come first.
    sample.events.swap(2, 3);
    set(&mut sample.events[2].op, high, 1, 0);
    assert_eq!(judge(&question(&sample), &AMPLE), Verdict::Atomic);
}

#[test]
fn what_is_not_known_is_not_guessed() {
    let ask = |text: &str| {
        let sample = sample(text);
        let question = Question { initial: InitialValues::Unknown, ..question(&sample) };
        judge(&question, &AMPLE)
    };
    // x may have been 1 before.
    assert_eq!(ask("0 b; 0 wx=1; 1 rx=1; 0 wx=2; 0 e"), Verdict::Unknown(Reason::Values));
    // It was not.
    assert_eq!(ask("1 rx=0; 0 b; 0 wx=1; 1 rx=1; 0 wx=2; 0 e"), by_condition(Pattern::Wrw, [2, 3, 4]));
    // It cannot have been both.
    assert_eq!(ask("0 b; 0 wx=1; 1 rx=1; 0 wx=2; 1 rx=2; 0 wx=3; 0 e"), Verdict::NonAtomic(Proof::Exact));
    // What was written is what was read next.
    assert_eq!(ask("1 rx=0; 0 b; 0 wx=?; 1 rx=1; 0 wx=2; 0 e"), by_condition(Pattern::Wrw, [2, 3, 4]));
    // Whatever was written here, the order is serial.
    assert_eq!(ask("0 b; 0 wx=?; 0 wx=?; 0 e; 1 rx=?"), Verdict::Atomic);
    // Somebody else has written 7.
    assert_eq!(ask("0 b; 0 wx=1; 1 rx=7; 0 wx=2; 0 e"), Verdict::Unknown(Reason::Unrecorded));
    // Whoever has, each thread may have been alone.
    assert_eq!(ask("0 b; 0 wx=1; 0 wx=2; 0 e; 1 rx=7"), Verdict::Atomic);
}

#[test]
fn a_prefix_ends_with_the_last_suspect() {
    let sample = sample("0 b; 0 rx=0; 1 wx=5; 0 wx=1; 1 wx=5; 0 e");
    // The whole is atomic: T1 writes the same once more.
    assert_eq!(judge(&question(&sample), &AMPLE), Verdict::Atomic);
    let suspects = [1, 2, 3].map(EventIndex);
    let scope = Scope::Only { thread: ThreadId::new(0), begin: EventIndex(0), end: Some(EventIndex(5)) };
    let prefix = Question::up_to(suspects, &sample.events, &sample.tables, InitialValues::Zero, scope);
    assert_eq!(prefix.events.len(), 4);
    assert_eq!(judge(&prefix, &AMPLE), by_condition(Pattern::Rww, [1, 2, 3]));
}

#[test]
fn a_budget_is_kept() {
    let text = "0 b; 0 wx=1; 1 rx=1; 2 wx=1; 0 wx=3; 0 e";
    let sample = sample(text);
    assert_eq!(judge(&question(&sample), &Budget::steps(0)), Verdict::Unknown(Reason::Budget));
}

const CONSISTENT: Shape = Shape { consistent: true, filled: false, mixed: false };

fn agrees(sample: &Sample) -> Result<(), TestCaseError> {
    let truth = reference::is_atomic(&sample.events, &sample.tables, &BTreeMap::new(), sources());
    let exact = judge_exactly(&question(sample), &AMPLE);
    prop_assert_eq!(exact, if truth { Verdict::Atomic } else { Verdict::NonAtomic(Proof::Exact) });
    let verdict = judge(&question(sample), &AMPLE);
    prop_assert_eq!(matches!(verdict, Verdict::NonAtomic(_)), !truth, "{:?}", verdict);
    if let Verdict::NonAtomic(Proof::Condition(Instance { pattern, events })) = verdict {
        let kinds = events.map(|index| {
            let event = &sample.events[index.0 as usize];
            interloper_model::access_of(&event.op).map(|(_, kind)| (event.thread, kind))
        });
        let [Some(first), Some(remote), Some(second)] = kinds else { panic!("three accesses") };
        prop_assert!(pattern.fits(first.1, remote.1, second.1));
        prop_assert!(first.0 == second.0 && first.0 != remote.0);
        prop_assert!(events.is_sorted());
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: 4000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_exact_check_is_the_definition(sample in samples(CONSISTENT)) {
        agrees(&sample)?;
    }

    #[test]
    fn also_where_accesses_overlap(sample in samples(Shape { mixed: true, ..CONSISTENT })) {
        agrees(&sample)?;
    }

    /// A trace of which all is known is taken at its word, even if no memory behaves so.
    #[test]
    fn also_where_reads_return_anything(sample in samples(Shape { consistent: false, ..CONSISTENT })) {
        agrees(&sample)?;
    }

    /// What is said without knowing all values, or the initial ones, is true.
    #[test]
    fn what_is_said_is_true_whatever_the_values(
        sample in prop_oneof![
            samples(Shape { filled: true, ..CONSISTENT }),
            samples(Shape { filled: true, mixed: true, ..CONSISTENT }),
        ],
        hidden in any::<u32>(),
    ) {
        let truth = reference::is_atomic(&sample.events, &sample.tables, &sample.initial, sources());
        let mut known = sample.clone();
        for (at, event) in known.events.iter_mut().enumerate() {
            let hide = |value: &mut Value| if hidden & hidden >> 3 & 1 << at != 0 { *value = Value::UNKNOWN };
            match &mut event.op {
                Op::Read(access) | Op::Write(access) => hide(&mut access.value),
                Op::ReadModifyWrite(rmw) => {
                    hide(&mut rmw.read);
                    hide(&mut rmw.written);
                }
                _ => {}
            }
        }
        let question = Question { initial: InitialValues::Unknown, ..question(&known) };
        for verdict in [judge(&question, &AMPLE), judge_exactly(&question, &AMPLE)] {
            match verdict {
                Verdict::Atomic => prop_assert!(truth),
                Verdict::NonAtomic(_) => prop_assert!(!truth, "{:?}", verdict),
                Verdict::Unknown(reason) => prop_assert_eq!(reason, Reason::Values),
            }
        }
    }
}

/// How often what was said, of many random traces: tests that never meet a case test nothing.
#[test]
fn random_traces_meet_every_case() {
    let mut runner = TestRunner::deterministic();
    let strategy = samples(CONSISTENT);
    let mut said: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..30_000 {
        let sample = strategy.new_tree(&mut runner).expect("a trace").current();
        let name = match judge(&question(&sample), &AMPLE) {
            Verdict::Atomic => "atomic",
            Verdict::NonAtomic(Proof::Exact) => "exact",
            Verdict::NonAtomic(Proof::Condition(Instance { pattern, .. })) => pattern.name(),
            Verdict::Unknown(_) => "unknown",
        };
        *said.entry(name).or_default() += 1;
    }
    for case in Pattern::ALL.map(Pattern::name).into_iter().chain(["atomic", "exact"]) {
        assert!(said.get(case).is_some_and(|times| *times >= 20), "{case}: {said:?}");
    }
    assert_eq!(said.get("unknown"), None);
}
