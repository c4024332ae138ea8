//! The ladder against all schedules of small traces.

use crate::candidates::Candidates;
use crate::{Grouping, Limits, Options, Standing, Trace, climb, formula};
use interloper_model::{InitialValues, RegionSources};
use interloper_order_sat::smtlib::Script;
use interloper_predict::Triple;
use interloper_predict::filter::{Rule, Survey, filter};
use interloper_trace::{Access, Event, Op, Region, RegionSource, SiteId, Tables, Value};
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
        let Some(feasible) = all_feasible(&trace) else { return Ok(()) };
        prop_assert_eq!(found(&trace), feasible);
    }

    /// So it is where reads may change, with locks and without; and there can happen what can happen if they may not,
    /// and nothing that locks forbid.
    #[test]
    fn what_is_feasible_is_found_where_reads_may_change(
        with_locks in traces(Shape { forks: true, ..Shape::BOUND }),
        without_locks in traces(Shape { rmw: true, locking: false, ..Shape::BOUND }),
    ) {
        for trace in [with_locks, without_locks].map(load) {
            let Some(feasible) = all_feasible(&trace) else { return Ok(()) };
            let found = found(&trace);
            prop_assert_eq!(&found, &feasible);
            let possible: BTreeSet<_> = possible(&trace).iter().map(at).collect();
            prop_assert!(found.is_subset(&possible));
            let Some(feasible) = all_feasible(&unbound(&trace)) else { return Ok(()) };
            prop_assert!(feasible.is_subset(&found));
        }
    }

    /// What other solvers are given says the same: as many questions have a model as triples can happen, whether all
    /// constraints are there from the beginning or only those that were needed.
    #[test]
    fn a_formula_as_text_says_what_is_feasible(
        trace in traces(Shape { rmw: true, forks: true, shared_locks: true, ..Shape::PLAIN }),
        eager in prop_oneof![Just(0), Just(u64::MAX)],
    ) {
        let trace = load(trace);
        let program = Program::new(&trace.events, &trace.tables, trace.initial_values());
        let Some(feasible) = feasible_triples_within(&program, RegionSources::default_choice(), 20_000) else {
            return Ok(());
        };
        let limits = Limits { eager, ..Limits::default() };
        let script = formula(&trace, RegionSources::default_choice(), usize::MAX, &limits);
        let read = Script::read(&script.to_string()).expect("what was written");
        let mut satisfiable = 0;
        read.answer(Default::default(), |answer| satisfiable += usize::from(answer.is_satisfiable() == Some(true)));
        prop_assert_eq!(satisfiable, feasible.len());
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

/// Every triple that some schedule shows, by brute force; none if there are too many schedules.
fn all_feasible(trace: &Trace) -> Option<BTreeSet<(usize, usize, usize)>> {
    let program = Program::new(&trace.events, &trace.tables, InitialValues::Zero);
    feasible_triples_within(&program, RegionSources::default_choice(), 20_000)
}

/// Every triple that the ladder calls feasible.
fn found(trace: &Trace) -> BTreeSet<(usize, usize, usize)> {
    let climb = climb(trace, &every_triple(), &|_| {}).expect("witnesses are good");
    let feasible = climb.findings.iter().filter(|finding| matches!(finding.standing, Standing::Feasible(_)));
    feasible.map(|finding| at(&finding.triple)).collect()
}

/// The same trace, with nothing said about what reads are bound to.
fn unbound(trace: &Trace) -> Trace {
    let unbound = |event: &Event| match event.op {
        Op::Bind { .. } => Event { op: Op::Mark { code: 0 }, ..*event },
        _ => *event,
    };
    Trace { events: trace.events.iter().map(unbound).collect(), tables: trace.tables.clone() }
}

/// Every possible triple.
fn possible(trace: &Trace) -> Vec<Triple> {
    let candidates = Candidates::new(trace, RegionSources::default_choice(), Grouping::Triples, usize::MAX);
    candidates.sets.iter().flat_map(|set| set.triples.clone()).collect()
}

fn at(triple: &Triple) -> (usize, usize, usize) {
    let at = |access: interloper_predict::Access| access.index.0 as usize;
    (at(triple.first), at(triple.remote), at(triple.second))
}

/// How many triples a rule rejects, rightly.
#[derive(Clone, Copy, Debug, Default)]
struct Rejected {
    feasible: usize,
    infeasible: usize,
    sound: usize,
    paper: usize,
    both: usize,
}

/// Nothing that can happen is rejected by the sound rule, whatever memory holds at first and however little of the
/// surroundings it looks at.
fn holds(trace: &Trace, surroundings: usize, rejected: &mut Rejected) -> Result<(), TestCaseError> {
    let triples = possible(trace);
    let paper = filter(Rule::Paper, &triples, &trace.events, &trace.tables, InitialValues::Zero);
    for initial in [InitialValues::Zero, InitialValues::Unknown] {
        let program = Program::new(&trace.events, &trace.tables, initial);
        let Some(feasible) = feasible_triples_within(&program, RegionSources::default_choice(), 20_000) else {
            return Ok(());
        };
        let survey = Survey::new(Rule::Sound, &triples, initial).with_surroundings(surroundings);
        let sound = survey.filter(&trace.events, &trace.tables);
        for ((triple, sound), paper) in triples.iter().zip(&sound).zip(&paper) {
            let is_feasible = feasible.contains(&at(triple));
            prop_assert!(!is_feasible || sound.is_none(), "{:?} can happen, but {sound:?}: {initial:?}", at(triple));
            if is_feasible {
                rejected.feasible += 1;
            } else {
                rejected.infeasible += 1;
                rejected.sound += usize::from(sound.is_some());
                rejected.paper += usize::from(paper.is_some());
                rejected.both += usize::from(sound.is_some() && paper.is_some());
            }
        }
    }
    Ok(())
}

/// Holds the sound rule to all schedules of random traces; `least` is how much of a hundred infeasible triples it has
/// to reject, so that it is not sound by rejecting nothing.
fn is_sound(shape: Shape, cases: u32, surroundings: std::ops::Range<usize>, least: usize) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let rejected = RefCell::new(Rejected::default());
    TestRunner::new(config)
        .run(&(traces(shape), surroundings), |(trace, surroundings)| {
            holds(&load(trace), surroundings, &mut rejected.borrow_mut())
        })
        .expect("nothing is rejected wrongly");
    let rejected = rejected.into_inner();
    println!("{rejected:?}");
    let Rejected { feasible, infeasible, sound, paper, both } = rejected;
    assert!(feasible > 100 && infeasible > 100, "too little to test anything: {rejected:?}");
    assert!(sound * 100 > infeasible * least, "the sound rule rejects too little: {rejected:?}");
    assert!(both * 100 > paper * least, "of what the paper's rejects rightly, too little: {rejected:?}");
}

const WHOLE: std::ops::Range<usize> = 1000..1001;

macro_rules! soundness {
    ($($name:ident: $shape:expr, $cases:literal, $surroundings:expr, $least:literal;)*) => {$(
        #[test]
        fn $name() {
            is_sound($shape, $cases, $surroundings, $least);
        }
    )*};
}

soundness! {
    sound_on_plain_traces: Shape::PLAIN, 6000, WHOLE, 85;
    sound_with_locks_and_forks: Shape { rmw: true, forks: true, shared_locks: true, ..Shape::PLAIN }, 6000, WHOLE, 60;
    sound_with_memory_of_all_kinds: Shape::MEMORY, 6000, WHOLE, 0;
    sound_with_waiting: Shape::WAITING, 6000, WHOLE, 0;
    sound_with_everything: Shape::ALL, 6000, WHOLE, 0;
    sound_with_bound_reads: Shape::BOUND, 6000, WHOLE, 0;
    sound_with_bound_reads_in_memory: Shape { bound: true, ..Shape::MEMORY }, 6000, WHOLE, 0;
    sound_without_values: Shape { unknown_values: true, unsized_accesses: true, ..Shape::PLAIN }, 6000, WHOLE, 0;
    sound_in_narrow_surroundings: Shape { events: 20, rmw: true, forks: true, ..Shape::PLAIN }, 6000, 2..16, 0;
    sound_in_narrow_surroundings_of_all_kinds: Shape { events: 20, ..Shape::ALL }, 10000, 2..16, 0;
}

/// Three accesses that can happen, in which `parts` says who does what: `b` begins a region, `f` frees, `r` and `w`
/// access the location of that number and find or leave that value (`?`: it was not recorded), `R` goes on in the next.
fn told(parts: &str) -> Trace {
    let mut tables = Tables::new();
    let names = ["x", "y"].map(|name| tables.strings.intern(name).expect("a name"));
    let locations = names.map(|name| tables.intern_location_in(name, 0).expect("a location"));
    let threads = ["1", "2"].map(|name| tables.intern_thread(name).expect("a thread"));
    let events = parts.split(' ').map(|part| {
        let part = part.as_bytes();
        let digit = |at: usize| usize::from(part[at] - b'0');
        let value = |at: usize| if part[at] == b'?' { Value::UNKNOWN } else { Value::known(digit(at) as u64) };
        let access = || Access { value: value(3), size: 4, ..Access::bare(locations[digit(2)]) };
        let op = match part[1] {
            b'b' => Op::RegionBegin(Region { name: None, source: RegionSource::Annotated }),
            b'f' => Op::Free { object: names[digit(2)] },
            b'r' => Op::Read(access()),
            b'R' => Op::Read(Access { more: true, ..access() }),
            _ => Op::Write(access()),
        };
        Event { thread: threads[digit(0) - 1], site: SiteId::UNKNOWN, op }
    });
    Trace { events: events.collect(), tables }
}

/// What the sound rule once rejected.
#[test]
fn sound_where_it_was_not() {
    let told_triples = [
        // Another piece of the remote access says that it comes late; but it may read anything.
        "1b 1w01 1w02 1w13 2R13 2r02",
        // The first read does not say what was there from the beginning, the second does.
        "2r0? 1b 1r00 1w00 2r00 2w00",
        // What the freed location holds is not what was written.
        "2w00 1f0 1b 1r00 1r00",
    ];
    for parts in told_triples {
        let mut rejected = Rejected::default();
        holds(&told(parts), 1000, &mut rejected).expect(parts);
        assert!(rejected.feasible > 0, "{parts}: nothing can happen: {rejected:?}");
    }
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
            let triples = possible(&trace);
            assert_eq!(triples.len(), 1, "{text}: locks admit it");
            let rejections = filter(rule, &triples, &trace.events, &trace.tables, trace.initial_values());
            assert_eq!(rejections[0].is_none(), can_happen, "{text}: {rule:?} {rejections:?}");
        }
        let climb = climb(&trace, &every_triple(), &|_| {}).expect("witnesses are good");
        let feasible = climb.count(|standing| matches!(standing, Standing::Feasible(_)));
        assert_eq!(feasible == 1, can_happen, "{text}: causal");
    }
}
