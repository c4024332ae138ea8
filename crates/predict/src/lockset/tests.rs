//! The fast analysis against its references, and against wrong versions of itself.

#![allow(clippy::unwrap_used)]

use super::reference::{self, Indices};
use super::{Enumerator, Options, Prediction, Profile, Profiler, Weakening};
use crate::testing::{Shape, census, trace, traces};
use crate::triple::Triple;
use interloper_model::{AccessKind, Pattern, RegionSources};
use interloper_trace::{Event, EventIndex};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet};

fn options() -> Options {
    Options::new(RegionSources::default_choice())
}

fn profile<'e>(events: impl Iterator<Item = (usize, &'e Event)>, options: &Options) -> Profile {
    let mut profiler = Profiler::new(options);
    for (at, event) in events {
        profiler.observe(EventIndex(at as u64), event);
    }
    profiler.finish()
}

fn representatives(events: &[Event], options: &Options) -> Prediction {
    let overview = profile(events.iter().enumerate(), options).overview();
    let mut second = Profiler::of_locations(options, overview.locations.clone());
    for (at, event) in events.iter().enumerate() {
        second.observe(EventIndex(at as u64), event);
    }
    let found = second.finish().join(options, &overview);
    assert_eq!(found.locations, overview.locations, "the overview says where there is something");
    found
}

fn all(events: &[Event], options: &Options) -> Prediction {
    let overview = profile(events.iter().enumerate(), options).overview();
    let mut enumerator = Enumerator::new(options, &overview);
    for (at, event) in events.iter().enumerate() {
        enumerator.observe(EventIndex(at as u64), event);
    }
    enumerator.finish()
}

fn indices(triple: &Triple) -> Indices {
    (triple.first.index.0 as usize, triple.remote.index.0 as usize, triple.second.index.0 as usize)
}

fn set(prediction: &Prediction) -> BTreeSet<Indices> {
    prediction.triples.iter().map(indices).collect()
}

fn sources() -> RegionSources {
    RegionSources::default_choice()
}

const WITH_FORKS: Shape = Shape { forks: true, ..Shape::LOCKS };
const EVERYTHING: Shape =
    Shape { forks: true, nested: false, shared_locks: true, waits: true, rmw: true, ..Shape::LOCKS };
const SHARED: Shape = Shape { shared_locks: true, waits: true, rmw: true, ..Shape::LOCKS };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    /// With nested locks and without forks, exactly what schedules show.
    #[test]
    fn nested_locks_exact(events in traces(Shape::LOCKS)) {
        prop_assert_eq!(set(&all(&events, &options())), reference::by_schedules(&events, sources()));
    }

    /// The same with shared locks, waits and read-modify-writes.
    #[test]
    fn nested_shared_locks_exact(events in traces(SHARED)) {
        prop_assert_eq!(set(&all(&events, &options())), reference::by_schedules(&events, sources()));
    }

    /// With forks, joins, anything: no fewer than schedules show, and no more than the definition.
    #[test]
    fn forks_between_schedules_and_definition(events in traces(WITH_FORKS)) {
        let found = set(&all(&events, &options()));
        prop_assert_eq!(&found, &reference::by_definition(&events, sources()));
        prop_assert!(found.is_superset(&reference::by_schedules(&events, sources())));
    }

    /// Without nesting it still misses nothing.
    #[test]
    fn anything_goes(events in traces(EVERYTHING)) {
        let found = set(&all(&events, &options()));
        prop_assert_eq!(&found, &reference::by_definition(&events, sources()));
        prop_assert!(found.is_superset(&reference::by_schedules(&events, sources())));
    }

    /// Candidates are what fits a pattern; a limit changes what is listed and not what is counted.
    #[test]
    fn counts_are_whole(events in traces(EVERYTHING), limit in 0..6usize) {
        let whole = all(&events, &options());
        prop_assert_eq!(whole.candidates as usize, reference::candidates(&events, sources()).len());
        prop_assert_eq!(whole.possible as usize, whole.triples.len());
        let cut = all(&events, &options().with_limit(limit));
        prop_assert_eq!((cut.candidates, cut.possible), (whole.candidates, whole.possible));
        prop_assert_eq!(&cut.triples[..], &whole.triples[..limit.min(whole.triples.len())]);
    }

    /// Representatives are the least triples of their kind.
    #[test]
    fn representatives_are_least(events in traces(EVERYTHING)) {
        let found = representatives(&events, &options());
        let expected = naive_representatives(&events);
        prop_assert_eq!(found.triples.iter().map(|t| (indices(t), t.pattern == Pattern::Wrw)).collect::<BTreeSet<_>>(),
            expected.values().copied().collect::<BTreeSet<_>>());
        prop_assert_eq!(found.possible as usize, expected.len());
    }

    /// Profiles of single threads add up to the profile of all, in either pass.
    #[test]
    fn profiles_merge(events in traces(EVERYTHING)) {
        let whole = representatives(&events, &options());
        let wanted = &whole.locations;
        let thread = |number: u32, second: bool| {
            let mut profiler = match second {
                true => Profiler::of_locations(&options(), wanted.clone()),
                false => Profiler::new(&options()),
            };
            for (at, event) in events.iter().enumerate().filter(|(_, event)| event.thread.raw() == number) {
                profiler.observe(EventIndex(at as u64), event);
            }
            profiler.finish()
        };
        let merged = |second| {
            let mut merged = thread(2, second);
            merged.merge(thread(0, second));
            merged.merge(thread(1, second));
            merged
        };
        let overview = merged(false).overview();
        prop_assert_eq!((overview.candidates, &overview.locations), (whole.candidates, wanted));
        let merged = merged(true).join(&options(), &overview);
        prop_assert_eq!(merged.possible, whole.possible);
        prop_assert_eq!(described(&merged), described(&whole));
    }
}

/// Triples with their lock states spelt out, since state ids depend on the order of merging.
fn described(prediction: &Prediction) -> Vec<String> {
    let describe = |triple: &Triple| {
        let states = [triple.region_state, triple.remote_state].map(|state| &prediction.held[&state]);
        format!("{:?} {:?} {:?} {:?}", indices(triple), triple.pattern, triple.region, states)
    };
    let mut described: Vec<String> = prediction.triples.iter().map(describe).collect();
    // Of two that differ in their states only, either may come first.
    described.sort();
    described
}

/// The key of a representative: threads, location, class, and the two lock states as text.
type Key = (u32, u32, u32, bool, String, String);

/// Representatives by their definition: for every triple, class and witness position, the least.
fn naive_representatives(events: &[Event]) -> BTreeMap<Key, (Indices, bool)> {
    let mut least = BTreeMap::new();
    for (key, indices) in reference::witnesses(events, sources()) {
        let kinds = [indices.0, indices.1, indices.2].map(|at| interloper_model::access_of(&events[at].op).unwrap());
        let [a, b, c] = kinds.map(|(_, kind)| kind);
        for wrw in [false, true] {
            let fits = |pattern: &Pattern| (*pattern == Pattern::Wrw) == wrw && pattern.fits(a, b, c);
            if Pattern::ALL.iter().any(fits) {
                let key = (key.0, key.1, kinds[0].0.raw(), wrw, key.2.clone(), key.3.clone());
                let entry = least.entry(key).or_insert((indices, wrw));
                *entry = (*entry).min((indices, wrw));
            }
        }
    }
    least
}

/// Each weakening is noticed by the comparison that is there to notice it.
#[test]
fn mutants_are_killed() {
    let kill = |weakening, shape: Shape| {
        let mut runner =
            TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
        let strategy = traces(shape);
        let killed = (0..3000).find(|_| {
            let events = strategy.new_tree(&mut runner).unwrap().current();
            let mutant = Options { weakening, ..options() };
            let exact = if shape.forks {
                reference::by_definition(&events, sources())
            } else {
                reference::by_schedules(&events, sources())
            };
            assert_eq!(set(&all(&events, &options())), exact, "the analysis itself");
            set(&all(&events, &mutant)) != exact
        });
        assert!(killed.is_some(), "{weakening:?} survives");
    };
    kill(Weakening::NoHistories, Shape::LOCKS);
    kill(Weakening::SampleAtAccesses, Shape::LOCKS);
    kill(Weakening::NoPruning, WITH_FORKS);
}

/// The random traces contain what they are there for, often enough to matter.
#[test]
fn random_traces_are_not_trivial() {
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[1; 32]));
    let strategy = traces(EVERYTHING);
    let (mut totals, mut with_findings, mut rejected) = (BTreeMap::new(), 0, 0);
    for _ in 0..500 {
        let events = strategy.new_tree(&mut runner).unwrap().current();
        for (name, count) in census(&events) {
            *totals.entry(name).or_insert(0) += count;
        }
        let found = all(&events, &options());
        with_findings += usize::from(found.possible > 0);
        rejected += usize::from(found.possible < found.candidates);
    }
    assert!(["shared", "acquire", "fork", "join", "wait", "rmw"].iter().all(|name| totals[name] > 50), "{totals:?}");
    assert!(with_findings > 100 && rejected > 50, "{with_findings} with findings, {rejected} with rejections");
}

fn possible(text: &str) -> Vec<Indices> {
    set(&all(&trace(text), &options())).into_iter().collect()
}

#[test]
fn a_lock_around_the_region_protects() {
    assert_eq!(possible("0 b; 0 +1; 0 r0; 0 w0; 0 -1; 0 e; 1 +1; 1 w0; 1 -1"), []);
    assert_eq!(possible("0 b; 0 +1; 0 r0; 0 w0; 0 -1; 0 e; 1 +2; 1 w0; 1 -2"), [(2, 7, 3)]);
}

/// The region lets go of the lock in between; before the accesses it held none either.
#[test]
fn the_gap_between_two_critical_sections_is_seen() {
    assert_eq!(possible("0 b; 0 +1; 0 r0; 0 -1; 0 +1; 0 w0; 0 -1; 0 e; 1 +1; 1 w0; 1 -1"), [(2, 9, 5)]);
}

/// Both threads use the other's lock inside their own: no schedule has them there together.
#[test]
fn crossing_histories_are_infeasible() {
    let crossing = "0 b; 0 +1; 0 +2; 0 -2; 0 r0; 0 w0; 0 -1; 0 e; 1 +2; 1 +1; 1 -1; 1 w0; 1 -2";
    assert_eq!(possible(crossing), []);
    let one_way = "0 b; 0 +1; 0 +2; 0 -2; 0 r0; 0 w0; 0 -1; 0 e; 1 +2; 1 w0; 1 -2";
    assert_eq!(possible(one_way), [(4, 9, 5)]);
}

#[test]
fn fork_and_join_prune() {
    assert_eq!(possible("0 b; 0 r0; 0 w0; 0 e; 0 f1; 1 w0"), []);
    assert_eq!(possible("0 f1; 0 b; 0 r0; 0 w0; 0 e; 1 w0"), [(2, 5, 3)]);
    assert_eq!(possible("1 w0; 0 j1; 0 b; 0 r0; 0 w0; 0 e"), []);
    assert_eq!(possible("0 b; 0 r0; 0 f1; 0 w0; 0 e; 1 w0"), [(1, 5, 3)]);
    assert_eq!(possible("0 b; 0 r0; 1 w0; 0 j1; 0 w0; 0 e"), [(1, 2, 4)]);
}

/// The first witness of a lock state is pruned by a join, a later one with the same state is not.
#[test]
fn a_pruned_first_witness_does_not_hide_a_later_one() {
    let events = trace("0 b; 0 r0; 0 w0; 0 e; 0 f1; 0 b; 0 r0; 0 w0; 0 e; 1 w0");
    assert_eq!(set(&representatives(&events, &options())).into_iter().collect::<Vec<_>>(), [(6, 9, 7)]);
}

/// A long region with few lock states: the list of contexts is thinned out and nothing is lost.
#[test]
fn long_regions_are_compacted() {
    let mut text = String::from("0 b; 0 +1; 0 r0; ");
    text.push_str(&"0 -1; 0 +1; 0 +2; 0 -2; ".repeat(500));
    text.push_str("0 w0; 0 -1; 0 e; 1 +1; 1 w0; 1 -1");
    let found = representatives(&trace(&text), &options());
    assert_eq!((found.possible, found.triples[0].pattern), (1, Pattern::Rww));
    assert_eq!(found.triples[0].remote.kind, AccessKind::Write);
}

/// More contexts than a slot has room for, and more than fit its two bytes.
#[test]
fn many_contexts_are_told_apart() {
    for locks in [19, 20, 21, 40, 5000] {
        let round: String = (0..locks).map(|lock| format!("0 b; 0 +{lock}; 0 r0; 0 w0; 0 -{lock}; 0 e; ")).collect();
        let found = representatives(&trace(&format!("{round}{round}1 w0")), &options());
        assert_eq!((found.candidates, found.possible), (locks, locks));
        assert_eq!(indices(&found.triples[locks as usize - 1]).0 as u64, 6 * locks - 4, "the first round counts");
    }
}

#[test]
fn non_nested_release_is_noted_once_a_thread() {
    let events = trace("0 +1; 0 +2; 0 -1; 0 +1; 0 -2; 0 -1; 1 +1; 1 -1");
    let profile = profile(events.iter().enumerate(), &options());
    let noted: Vec<_> = profile.non_nested().iter().map(|n| (n.thread.raw(), n.at.0)).collect();
    assert_eq!(noted, [(0, 2)]);
}
