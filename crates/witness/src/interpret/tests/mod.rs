mod naive;
mod naive_flow;
mod truth;

use super::*;
use crate::testing::{Shape, Trace, traces};
use interloper_trace::{Op, ThreadId};
use naive::Naive;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;

/// Does steps that are enabled, as the dice say, and lists their events.
fn walk(program: &Program<'_>, dice: &[(u8, u8)]) -> Vec<usize> {
    let mut state = program.start();
    let mut order = Vec::new();
    for &(turn, choice) in dice {
        let threads = (0..program.thread_count()).filter_map(ThreadId::from_index);
        let enabled: Vec<ThreadId> = threads.filter(|&thread| program.enabled(&state, thread)).collect();
        let Some(&thread) = enabled.get(usize::from(turn) % enabled.len().max(1)) else { break };
        order.extend(program.next_events(&state, thread));
        let choices = program.choices(&state, thread);
        let choice = choices.get(usize::from(choice) % choices.len().max(1)).copied();
        program.step(&mut state, thread, choice).expect("it is enabled");
    }
    order
}

fn dice() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec(any::<(u8, u8)>(), 60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_happened_could_have_happened(trace in traces(Shape { events: 60, bound: true, ..Shape::ALL })) {
        for initial in [InitialValues::Zero, InitialValues::Unknown] {
            let program = Program::new(&trace.events, &trace.tables, initial);
            let order: Vec<usize> = (0..trace.events.len()).collect();
            prop_assert_eq!(check_order(&program, &order, None), Ok(()));
            let effects: Vec<usize> =
                order.into_iter().filter(|&event| !is_effect_free(&trace.events[event].op)).collect();
            prop_assert_eq!(check_order(&program, &effects, None), Ok(()));
        }
    }

    #[test]
    fn a_walk_through_enabled_steps_is_an_order(
        trace in traces(Shape { events: 40, bound: true, ..Shape::ALL }),
        dice in dice(),
    ) {
        let program = Program::new(&trace.events, &trace.tables, InitialValues::Zero);
        prop_assert_eq!(check_order(&program, &walk(&program, &dice), None), Ok(()));
    }

    /// Equal states have equal futures, whatever way led there.
    #[test]
    fn what_is_not_compared_follows_from_what_is(
        trace in traces(Shape { bound: true, ..Shape::ALL }),
        one in dice(),
        other in dice(),
    ) {
        let program = Program::new(&trace.events, &trace.tables, InitialValues::Zero);
        let ends = [one, other].map(|dice| {
            let mut state = program.start();
            for event in walk(&program, &dice) {
                if let Some(step) = program.step_of(event).filter(|step| *step == program.next_step(&state, step.thread)) {
                    // Signals wake the first that waits, so this may fail where the walk did not.
                    let _ = program.step(&mut state, step.thread, None);
                }
            }
            state
        });
        if ends[0] == ends[1] {
            for thread in (0..program.thread_count()).filter_map(ThreadId::from_index) {
                prop_assert_eq!(program.obstacle(&ends[0], thread), program.obstacle(&ends[1], thread));
            }
        }
    }
}

/// A change to an order.
fn mutate(order: &mut Vec<usize>, how: u8, at: usize, to: usize) {
    let length = order.len();
    if length < 2 {
        return;
    }
    let (at, to) = (at % length, to % length);
    match how % 4 {
        0 => order.swap(at.min(length - 2), at.min(length - 2) + 1),
        1 => {
            let event = order.remove(at);
            order.insert(to.min(order.len()), event);
        }
        2 => order[at.min(to)..=at.max(to)].rotate_left(1),
        _ => order.truncate(at + 1),
    }
}

/// A trace, the dice of a walk through it, and changes to the order it makes.
type Case = (Trace, Vec<(u8, u8)>, Vec<(u8, usize, usize)>);

fn judges_agree((trace, dice, mutations): Case, answers: &Cell<[usize; 2]>) -> Result<(), TestCaseError> {
    for initial in [InitialValues::Zero, InitialValues::Unknown] {
        let program = Program::new(&trace.events, &trace.tables, initial);
        let naive = Naive::new(&trace, initial);
        let observed: Vec<usize> =
            (0..trace.events.len()).filter(|&at| naive::has_effect(&trace.events[at].op)).collect();
        prop_assert!(naive.accepts(&observed));
        let mut order = walk(&program, &dice);
        prop_assert!(naive.accepts(&order));
        for &(how, at, to) in &mutations {
            mutate(&mut order, how, at, to);
            let verdict = check_order(&program, &order, None);
            prop_assert_eq!(verdict.is_ok(), naive.accepts(&order), "{:?} {:?}", order, verdict);
            let mut counted = answers.get();
            counted[usize::from(verdict.is_ok())] += 1;
            answers.set(counted);
        }
    }
    Ok(())
}

/// The machine, with all that makes it fast, and the rules to the letter say the same of orders that are
/// nearly right.
#[test]
fn the_letter_of_the_rules_is_kept() {
    let waits = Shape {
        events: 30,
        locks: 1,
        try_failures: false,
        semaphores: false,
        barriers: false,
        onces: false,
        shared_locks: false,
        threads: 4,
        ..Shape::WAITING
    };
    for (shape, cases) in [
        (Shape::PLAIN, 300),
        (Shape { events: 20, ..Shape::MEMORY }, 1500),
        (Shape { events: 30, ..Shape::WAITING }, 1500),
        (waits, 3000),
        (Shape { events: 30, ..Shape::ALL }, 1500),
        (Shape { events: 20, objects: 1, ..Shape::BOUND }, 1500),
        (Shape { events: 20, rmw: true, forks: true, pieces: true, locking: false, ..Shape::BOUND }, 1500),
    ] {
        let answers = Cell::new([0, 0]);
        let mutations = prop::collection::vec(any::<(u8, usize, usize)>(), 1..4);
        let mut runner =
            TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) });
        runner
            .run(&(traces(shape), dice(), mutations), |case| judges_agree(case, &answers))
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(answers.get().iter().all(|&count| count >= 100), "{:?}", answers.get());
    }
}

/// Reasons are told: who, where, why.
#[test]
fn defects_say_where_and_why() {
    use interloper_trace::{Access, Attempt, LocationId, LockId, LockMode, SiteId, Tables};
    let lock = LockId::new(0);
    let acquire = Op::Acquire { lock, mode: LockMode::Exclusive, by: Attempt::Blocking };
    let release = Op::Release { lock, mode: LockMode::Exclusive };
    let access = Access::bare(LocationId::new(0));
    let event = |thread, op| Event { thread: ThreadId::new(thread), site: SiteId::from_raw(0), op };
    let events = [
        event(0, acquire),
        event(0, Op::Read(access)),
        event(0, Op::Exit),
        event(0, Op::Write(access)),
        event(0, release),
        event(1, acquire),
        event(1, Op::Write(Access { more: true, ..access })),
        event(1, Op::Write(access)),
        event(1, release),
    ];
    let program = Program::new(&events, &Tables::new(), InitialValues::Zero);
    let defect = |order: &[usize], triple| check_order(&program, order, triple).expect_err("a defect").to_string();
    assert_eq!(defect(&[0, 5], None), "position 1: event 5 is not enabled: lock 0 is held by thread 0");
    assert_eq!(defect(&[0, 3], None), "position 1: event 3, before its thread has executed event 1");
    assert_eq!(defect(&[0, 1, 0], None), "position 2: event 0 again");
    assert_eq!(defect(&[9], None), "position 0: there is no event 9");
    assert_eq!(defect(&[5, 6, 0], None), "position 2: event 7 does not follow, with which event 6 forms one step");
    assert_eq!(
        defect(&[5, 6, 7, 8, 0, 1, 3], None),
        "position 6: event 3 is not enabled: the thread has read something else than observed, at its last step"
    );
    assert_eq!(defect(&[0, 1, 3], Some([1, 6, 3])), "event 6 of the triple is not executed in its place");
    assert_eq!(defect(&[], Some([1, 3, 6])), "events [1, 3, 6] are not three accesses of one location by two threads");
    assert_eq!(check_order(&program, &[5, 6, 7, 8, 0, 1], None), Ok(()));
}

/// A signal that a spurious waiter has to take, lest the one whose time is up takes a later one.
#[test]
fn signals_look_ahead() {
    use interloper_trace::{Attempt, ConditionId, LockId, LockMode, SiteId, Tables, Wake};
    let (lock, condition) = (LockId::new(0), ConditionId::new(0));
    let acquire = Op::Acquire { lock, mode: LockMode::Exclusive, by: Attempt::Blocking };
    let release = Op::Release { lock, mode: LockMode::Exclusive };
    let begin = Op::WaitBegin { condition, lock };
    let end = |wake| Op::WaitEnd { condition, lock, wake };
    let signal = Op::Signal(condition);
    let script = [
        (0, acquire),
        (0, begin),
        (1, acquire),
        (1, begin),
        (2, acquire),
        (2, begin),
        (3, signal),
        (0, end(Wake::Spurious)),
        (0, release),
        (3, signal),
        (1, end(Wake::Notified)),
        (1, release),
        (2, end(Wake::TimedOut)),
    ];
    let event = |(thread, op)| Event { thread: ThreadId::new(thread), site: SiteId::from_raw(0), op };
    let events = script.map(event);
    let program = Program::new(&events, &Tables::new(), InitialValues::Zero);
    let order: Vec<usize> = (0..events.len()).collect();
    assert_eq!(check_order(&program, &order, None), Ok(()));
    // With one more signal there is nobody left to take it.
    let mut more = script.to_vec();
    more.insert(10, (3, signal));
    let events: Vec<Event> = more.into_iter().map(event).collect();
    let program = Program::new(&events, &Tables::new(), InitialValues::Zero);
    let order: Vec<usize> = (0..events.len()).collect();
    let obstacle = machine::Obstacle::Notified(condition);
    assert_eq!(check_order(&program, &order, None), Err(Defect::NotEnabled { position: 13, event: 13, obstacle }));
}
