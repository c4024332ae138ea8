//! The ladder against all schedules of small traces.

use crate::candidates::Candidates;
use crate::{Grouping, Options, Standing, Trace, climb};
use interloper_model::{InitialValues, RegionSources};
use interloper_predict::Triple;
use interloper_predict::filter::{Rule, filter};
use interloper_witness::interpret::Program;
use interloper_witness::reference::feasible_triples_within;
use interloper_witness::testing::{Shape, traces};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::RefCell;
use std::collections::BTreeSet;

fn every_triple() -> Options {
    Options { grouping: Grouping::Triples, ..Options::new(RegionSources::default_choice()) }
}

fn load(trace: interloper_witness::testing::Trace) -> Trace {
    Trace { events: trace.events, tables: trace.tables }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is listed is exactly what can happen: nothing that can is lost on the lower rungs.
    #[test]
    fn what_is_feasible_is_found(trace in traces(Shape { rmw: true, forks: true, shared_locks: true, ..Shape::PLAIN })) {
        let trace = load(trace);
        let program = Program::new(&trace.events, &trace.tables, InitialValues::Zero);
        let Some(feasible) = feasible_triples_within(&program, RegionSources::default_choice(), 20_000) else {
            return Ok(());
        };
        let climb = climb(&trace, &every_triple(), &|_| {}).expect("witnesses are good");
        let found: BTreeSet<(usize, usize, usize)> = climb
            .findings
            .iter()
            .filter(|finding| matches!(finding.standing, Standing::Feasible(_)))
            .map(|finding| {
                let at = |access: interloper_predict::Access| access.index.0 as usize;
                (at(finding.triple.first), at(finding.triple.remote), at(finding.triple.second))
            })
            .collect();
        prop_assert_eq!(found, feasible);
    }

    /// A representative is feasible if and only if one of those it stands for is, and is then the first.
    #[test]
    fn representatives_stand_for_all(trace in traces(Shape { rmw: true, ..Shape::PLAIN })) {
        let trace = load(trace);
        let every = climb(&trace, &every_triple(), &|_| {}).expect("witnesses are good");
        let feasible = |climb: &crate::Climb| -> BTreeSet<_> {
            let all = climb.findings.iter().filter(|finding| matches!(finding.standing, Standing::Feasible(_)));
            all.map(|finding| {
                let triple = &finding.triple;
                (triple.region.thread, triple.remote.thread, triple.location)
            })
            .collect()
        };
        for grouping in [Grouping::Threads, Grouping::Places] {
            let options = Options { grouping, ..Options::new(RegionSources::default_choice()) };
            let few = climb(&trace, &options, &|_| {}).expect("witnesses are good");
            if grouping == Grouping::Threads {
                prop_assert_eq!(feasible(&every), feasible(&few));
            }
            prop_assert!(few.possible <= few.candidates);
            let undecided = few.count(|standing| matches!(standing, Standing::Unknown(_)));
            prop_assert_eq!(undecided, 0);
        }
    }
}

/// What all rungs say of every possible triple.
fn rungs(trace: &Trace, rule: Rule) -> Vec<([usize; 3], bool)> {
    let candidates = Candidates::new(trace, RegionSources::default_choice(), Grouping::Triples, usize::MAX);
    let triples: Vec<Triple> = candidates.sets.iter().flat_map(|set| set.triples.clone()).collect();
    let rejections = filter(rule, &triples, &trace.events, &trace.tables, trace.initial_values());
    let at = |triple: &Triple| [triple.first, triple.remote, triple.second].map(|access| access.index.0 as usize);
    triples.iter().map(at).zip(rejections.iter().map(Option::is_none)).collect()
}

/// Nothing that can happen is rejected by the sound rule; how much of what cannot is rejected, by either.
fn never_rejects_what_can_happen(shape: Shape, cases: u32, least_percent: usize) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let counts = RefCell::new([0usize; 5]);
    TestRunner::new(config)
        .run(&traces(shape), |trace| {
            let trace = load(trace);
            let program = Program::new(&trace.events, &trace.tables, InitialValues::Zero);
            let sources = RegionSources::default_choice();
            let Some(feasible) = feasible_triples_within(&program, sources, 20_000) else { return Ok(()) };
            let mut counts = counts.borrow_mut();
            for ((at, sound), (_, paper)) in rungs(&trace, Rule::Sound).into_iter().zip(rungs(&trace, Rule::Paper)) {
                let [first, remote, second] = at;
                let is_feasible = feasible.contains(&(first, remote, second));
                prop_assert!(sound || !is_feasible, "{at:?} can happen, and is rejected");
                counts[0] += usize::from(is_feasible);
                counts[1] += usize::from(!is_feasible);
                counts[2] += usize::from(!is_feasible && !sound);
                counts[3] += usize::from(!is_feasible && !paper);
                counts[4] += usize::from(!is_feasible && !paper && !sound);
            }
            Ok(())
        })
        .expect("nothing is rejected wrongly");
    let [feasible, infeasible, sound, paper, both] = counts.into_inner();
    println!("{feasible} feasible; {infeasible} not, of which sound rejects {sound}, paper {paper}, both {both}");
    assert!(feasible > 100 && infeasible > 100, "too little to test anything");
    assert!(sound * 100 > infeasible * least_percent, "the sound rule rejects {sound} of {infeasible}");
    assert!(
        both * 100 > paper * least_percent,
        "the sound rule rejects {both} of {paper} that the paper's rejects rightly"
    );
}

#[test]
fn the_sound_rule_keeps_what_can_happen() {
    never_rejects_what_can_happen(Shape::PLAIN, 4000, 85);
}

#[test]
fn the_sound_rule_keeps_what_locks_and_forks_allow() {
    never_rejects_what_can_happen(Shape { rmw: true, forks: true, shared_locks: true, ..Shape::PLAIN }, 4000, 60);
}

/// The ten scenarios of AVFilter's Table 1, and which of them can happen if the last read of a thread may change.
const TABLE_1: [(&str, bool); 10] = [
    ("1r 1r 2w", true),
    ("1r 1w 2w", true),
    ("1w 1w 2w", true),
    ("2r 1w 1w", true),
    ("2w 1w 1w", true),
    ("1w 1r 2w", true),
    ("1w 1w 2r", true),
    ("2w 1r 1r", false),
    ("2w 1w 1r", true),
    ("2w 1r 1w", false),
];

/// A scenario as a trace without values, in which thread 1 has a region.
fn scenario(text: &str) -> Trace {
    let mut lines = String::new();
    let steps: Vec<&str> = text.split(' ').collect();
    let first = steps.iter().position(|step| step.starts_with('1'));
    for (at, step) in steps.iter().enumerate() {
        if Some(at) == first {
            lines.push_str("T1|begin(R)|0\n");
        }
        let (thread, kind) = step.split_at(1);
        lines.push_str(&format!("T{thread}|{kind}(x)|{at}\n"));
    }
    let mut reader = interloper_trace::std_format::StdReader::new(lines.as_bytes());
    Trace::read(&mut reader).expect("a well-formed trace")
}

#[test]
fn the_ten_scenarios_of_table_1() {
    for (text, can_happen) in TABLE_1 {
        let trace = scenario(text);
        for rule in [Rule::Paper, Rule::Sound] {
            let kept = rungs(&trace, rule);
            assert_eq!(kept.len(), 1, "{text}: locks admit it");
            assert_eq!(kept[0].1, can_happen, "{text}: {rule:?}");
        }
        let climb = climb(&trace, &every_triple(), &|_| {}).expect("witnesses are good");
        let feasible = climb.count(|standing| matches!(standing, Standing::Feasible(_)));
        assert_eq!(feasible == 1, can_happen, "{text}: causal");
    }
}
