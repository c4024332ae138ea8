use super::*;
use crate::interpret::{InitialValues, State};
use crate::reference::feasible_triples_within;
use crate::testing::{Shape, Trace, traces};
use interloper_model::{AccessKind, Pattern, RegionSources, access_of};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::{HashSet, VecDeque};

/// A state, who ran last, and the kinds of the triple's events executed in their order so far.
type Key = (State, Option<ThreadId>, Vec<AccessKind>);

/// The orders that show a triple with the fewest switches: their number of switches, and one of them.
fn fewest(program: &Program<'_>, triple: [usize; 3]) -> Option<(usize, Vec<usize>)> {
    let mut queue: VecDeque<(usize, Key, Vec<usize>)> = VecDeque::new();
    queue.push_back((0, (program.start(), None, Vec::new()), Vec::new()));
    let mut seen: HashSet<Key> = HashSet::new();
    while let Some((switches, key, order)) = queue.pop_front() {
        let (state, last, shown) = key.clone();
        if let [a, b, c] = shown[..]
            && Pattern::of(a, b, c).is_some()
        {
            return Some((switches, order));
        }
        if !seen.insert(key) {
            continue;
        }
        for thread in (0..program.thread_count()).filter_map(ThreadId::from_index) {
            let choices = program.choices(&state, thread);
            let choices = if choices.is_empty() { vec![None] } else { choices.into_iter().map(Some).collect() };
            for choice in choices {
                let mut next = state.clone();
                let events: Vec<usize> = program.next_events(&state, thread).collect();
                let Ok(outcome) = program.step(&mut next, thread, choice) else { continue };
                let mut shown = shown.clone();
                for &event in &events {
                    if triple.get(shown.len()) == Some(&event) {
                        shown.extend(program.access_kind(event, outcome.satisfied));
                    }
                }
                let order: Vec<usize> = order.iter().copied().chain(events).collect();
                if last.is_none_or(|last| last == thread) {
                    queue.push_front((switches, (next, Some(thread), shown), order));
                } else {
                    queue.push_back((switches + 1, (next, Some(thread), shown), order));
                }
            }
        }
    }
    None
}

/// An order that shows a triple, by threads that take turns as they like.
fn wander(program: &Program<'_>, triple: [usize; 3], dice: &[u8]) -> Option<Vec<usize>> {
    let mut state = program.start();
    let mut order = Vec::new();
    for &die in dice {
        let able = (0..program.thread_count()).filter_map(ThreadId::from_index);
        let able: Vec<ThreadId> = able.filter(|&thread| program.enabled(&state, thread)).collect();
        let thread = *able.get(usize::from(die) % able.len().max(1))?;
        let choices = program.choices(&state, thread);
        let choice = choices.get(usize::from(die / 16) % choices.len().max(1)).copied();
        order.extend(program.next_events(&state, thread));
        program.step(&mut state, thread, choice).ok()?;
        if check_order(program, &order, Some(triple)).is_ok() {
            return Some(order);
        }
    }
    None
}

#[derive(Clone, Copy, Default)]
struct Tally {
    compared: usize,
    /// How many orders there were from which switches could be saved.
    saved: usize,
    /// How many needed more than the bound that is easily seen.
    searched: usize,
    unproved: usize,
}

fn check(trace: &Trace, dice: &[u8], tally: &Cell<Tally>) -> Result<(), TestCaseError> {
    let program = Program::new(&trace.events, &trace.tables, InitialValues::Zero);
    let triples = feasible_triples_within(&program, RegionSources::default_choice(), 1500).unwrap_or_default();
    for (first, remote, second) in triples.into_iter().take(3) {
        let triple = [first, remote, second];
        let (least, some_order) = fewest(&program, triple).expect("the triple is feasible");
        let given = wander(&program, triple, dice).unwrap_or(some_order);
        let mut counted = tally.get();
        for budget in [Budget::default(), Budget(2_000), Budget(0)] {
            let found = minimise(&program, &given, triple, budget).expect("the order is valid");
            prop_assert_eq!(check_order(&program, &found.order, Some(triple)), Ok(()));
            prop_assert_eq!(count_switches(&program, &found.order), found.switches);
            prop_assert!(found.switches >= least && found.switches <= count_switches(&program, &given));
            prop_assert!(!found.proved || found.switches == least, "{:?} {}", found, least);
            prop_assert!(found.proved || budget != Budget::default());
            counted.unproved += usize::from(!found.proved);
            counted.saved += usize::from(found.switches < count_switches(&program, &given));
        }
        let [Some(a), Some(b), Some(c)] = triple.map(|event| program.step_of(event)) else { unreachable!() };
        let goal = Goal { first: a, remote: b, second: c, events: triple };
        prop_assert!(least_switches(&program, &goal) <= least);
        // Rearranging asks nobody.
        for rearranged in dependence::rearranged(&program, &steps(&program, &given), &goal) {
            let verdict = check_order(&program, &events(&program, &rearranged), Some(triple));
            prop_assert_eq!(verdict, Ok(()), "{:?} of {:?}", rearranged, given);
        }
        counted.searched += usize::from(least_switches(&program, &goal) < least);
        counted.compared += 1;
        tally.set(counted);
    }
    Ok(())
}

/// What is called the least is the least, by brute force, and what is not is valid and no worse.
#[test]
fn the_least_is_the_least() {
    // Where reads may change there is mostly a way with few switches, and nothing to search for.
    let shapes = [(Shape::PLAIN, 400, 3), (Shape::BOUND, 400, 0), (Shape::MEMORY, 400, 3), (Shape::ALL, 2000, 3)];
    for (shape, cases, searches) in shapes {
        let tally = Cell::new(Tally::default());
        let mut runner =
            TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) });
        let dice = prop::collection::vec(any::<u8>(), 40);
        runner
            .run(&(traces(shape), dice), |(trace, dice)| check(&trace, &dice, &tally))
            .unwrap_or_else(|error| panic!("{error}"));
        let Tally { compared, saved, searched, unproved } = tally.get();
        assert!(
            compared >= 20 && saved >= 10 && searched >= searches && unproved >= 1,
            "{compared} {saved} {searched} {unproved}"
        );
    }
}

/// The last triple that happened as observed.
fn observed_triple(program: &Program<'_>) -> Option<[usize; 3]> {
    let regions = crate::reference::regions(program, RegionSources::default_choice());
    let access = |event: usize| access_of(&program.events()[event].op);
    let thread = |event: usize| program.events()[event].thread;
    (0..regions.len()).rev().find_map(|second| {
        let (location, c) = access(second)?;
        let locals = (regions[second]?..second).filter(|&at| thread(at) == thread(second));
        locals.rev().find_map(|first| {
            let (_, a) = access(first).filter(|found| found.0 == location)?;
            let remotes = (first..second).filter(|&at| thread(at) != thread(first));
            let fits = |b| Pattern::of(a, b, c).is_some();
            let mut remotes = remotes.filter(|&at| access(at).is_some_and(|(x, b)| x == location && fits(b)));
            remotes.next().map(|remote| [first, remote, second])
        })
    })
}

/// Orders of some length, of which nothing is known but that they must not get worse.
#[test]
fn long_orders_get_better_within_the_budget() {
    let tally = Cell::new([0, 0]);
    let shape = Shape { events: 1500, objects: 4, forks: false, ..Shape::ALL };
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(30) });
    let check = |trace: Trace| {
        let program = Program::new(&trace.events, &trace.tables, InitialValues::Unknown);
        let Some(triple) = observed_triple(&program) else { return Ok(()) };
        let observed: Vec<usize> = (0..trace.events.len()).collect();
        let before = count_switches(&program, &observed);
        let mut last = before;
        for budget in [Budget(0), Budget(100_000), Budget(3_000_000)] {
            let found = minimise(&program, &observed, triple, budget).expect("it happened");
            prop_assert_eq!(check_order(&program, &found.order, Some(triple)), Ok(()));
            prop_assert_eq!(count_switches(&program, &found.order), found.switches);
            prop_assert!(found.switches <= last);
            last = found.switches;
        }
        let [all, better] = tally.get();
        tally.set([all + 1, better + usize::from(last < before)]);
        Ok(())
    };
    runner.run(&traces(shape), check).unwrap_or_else(|error| panic!("{error}"));
    let [all, better] = tally.get();
    assert!(all >= 10 && better * 2 > all, "{all} {better}");
}

#[test]
fn an_order_that_is_not_valid_is_refused() {
    let mut runner = TestRunner::deterministic();
    let trace = traces(Shape { events: 600, ..Shape::PLAIN }).new_tree(&mut runner).expect("a trace").current();
    let program = Program::new(&trace.events, &trace.tables, InitialValues::Zero);
    let triple = observed_triple(&program).expect("a triple");
    let refused = minimise(&program, &[], triple, Budget::default());
    assert_eq!(refused, Err(Defect::NotShown { event: triple[0] }));
}
