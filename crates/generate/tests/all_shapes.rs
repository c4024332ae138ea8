//! What holds for every shape: well-formed, of exactly the length asked for, the same for ever.

#![allow(clippy::unwrap_used)]

mod common;

use common::{check, hash, line, trace};
use interloper_generate::{Generator, Mix, Options, OptionsError, Shape};

fn options(events: u64, seed: u64) -> Options {
    Options { events: Some(events), seed, ..Options::default() }
}

#[test]
fn every_shape_is_well_formed_and_of_the_length_asked_for() {
    for shape in Shape::ALL {
        for events in [0, 1, 2, 17, 4095, 4096, 4097, 20_000] {
            for seed in 0..4 {
                let trace = trace(shape, options(events, seed));
                assert_eq!(trace.events.len() as u64, events);
                check(&trace);
            }
        }
    }
}

#[test]
fn every_shape_takes_many_threads_and_locks() {
    for shape in Shape::ALL {
        for (threads, locks) in [(1, 2), (2, 1), (1000, 2), (1000, 10_000), (3, 10_000)] {
            let threads = if shape == Shape::Needles { threads.max(3) } else { threads };
            let locks = match shape {
                Shape::Raytracer => None,
                Shape::Elevator => Some(u32::max(locks, 2)),
                _ => Some(locks),
            };
            let options = Options { threads: Some(threads), locks, ..options(100_000, 5) };
            check(&trace(shape, options));
        }
    }
}

/// These never change. A change that moves one breaks every figure and test case named by seed.
#[test]
fn the_traces_of_a_seed_are_the_same_for_ever() {
    let wide = Options { widen: 4, ..options(10_000, 1) };
    let crossed = Options { non_nested: true, forks: false, ..options(10_000, 1) };
    let traces = [
        ("bank", Shape::Bank, options(10_000, 1), 0xbb3a_e84a_633a_da92),
        ("bank, seed 2", Shape::Bank, options(10_000, 2), 0xe68b_e09b_f57a_bb35),
        ("bank, widened", Shape::Bank, wide, 0xf300_2ec1_c074_ac27),
        ("raytracer", Shape::Raytracer, options(10_000, 1), 0xd132_1b92_e5d8_42e6),
        ("elevator", Shape::Elevator, options(10_000, 1), 0x1d3f_7e94_c5ee_2506),
        ("needles", Shape::Needles, options(10_000, 1), 0xef32_09c9_168d_9d9b),
        ("random", Shape::Random, options(10_000, 1), 0xbf54_a4e3_7e28_c545),
        ("random, not nested, no forks", Shape::Random, crossed, 0x99f6_50b2_79c9_79ed),
    ];
    for (name, shape, options, expected) in traces {
        let found = hash(&trace(shape, options));
        assert_eq!(found, expected, "{name}: {found:#018x}");
    }
}

#[test]
fn shorter_traces_are_prefixes_of_longer_ones() {
    // Not so for random traces, which spread their forks and joins over their length.
    for shape in [Shape::Bank, Shape::Raytracer, Shape::Elevator] {
        let (short, long) = (trace(shape, options(5_000, 3)), trace(shape, options(9_000, 3)));
        assert_eq!(short.events, long.events[..5_000]);
    }
}

#[test]
fn other_seeds_give_other_traces() {
    for shape in Shape::ALL {
        assert_ne!(trace(shape, options(500, 1)).events, trace(shape, options(500, 2)).events);
    }
}

#[test]
fn the_defaults_are_as_documented() {
    let sizes = |shape| {
        let trace = trace(shape, Options::default());
        let tables = &trace.tables;
        (trace.events.len(), tables.thread_count(), tables.lock_count(), tables.location_count())
    };
    assert_eq!(sizes(Shape::Bank), (1_000_000, 8, 16, 1024));
    assert_eq!(sizes(Shape::Raytracer), (60, 10, 10, 1));
    let (events, threads, locks, variables) = sizes(Shape::Elevator);
    assert_eq!((events, threads, variables), (78_000, 5, 200));
    assert!(locks >= 45, "{locks}: a few locks may be in no shaft");
    assert_eq!(sizes(Shape::Random).0, 1_000);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |shape, options| Generator::new(shape, options).err().unwrap().to_string();
    let default = Options::default;
    assert_eq!(
        refused(Shape::Bank, Options { variables: Some(3), ..default() }),
        "3 variables for the shape bank; it takes 16 to 16777216"
    );
    assert_eq!(
        refused(Shape::Random, Options { threads: Some(0), ..default() }),
        "0 threads for the shape random; it takes 1 to 16777216"
    );
    assert_eq!(
        refused(Shape::Raytracer, Options { locks: Some(3), ..default() }),
        "3 locks for the shape raytracer; it takes 10 to 10"
    );
    assert_eq!(
        refused(Shape::Elevator, Options { widen: 2, ..default() }),
        "the shape elevator has no option \"widen\""
    );
    assert_eq!(
        refused(Shape::Bank, Options { non_nested: true, ..default() }),
        "the shape bank has no option \"non-nested\""
    );
    let nothing = Mix { reads: 0, writes: 0, locking: 0, regions: 0 };
    assert_eq!(
        Generator::new(Shape::Random, Options { mix: nothing, ..default() }).err(),
        Some(OptionsError::EmptyMix)
    );
    assert_eq!("bank".parse(), Ok(Shape::Bank));
    assert!("Bank\n".parse::<Shape>().unwrap_err().to_string().contains("\"Bank\\n\""));
}

#[test]
fn random_traces_hold_everything() {
    let seen = check(&trace(Shape::Random, Options { threads: Some(20), ..options(20_000, 4) }));
    assert!(seen.reentrant > 50 && seen.nested_regions > 50 && seen.deepest == 5, "{seen:?}");
    assert!(seen.forks > 10 && seen.joins > 3, "{seen:?}");
    assert_eq!(seen.non_nested, 0);

    let crossed = Options { non_nested: true, forks: false, ..options(5_000, 4) };
    let seen = check(&trace(Shape::Random, crossed));
    assert!(seen.non_nested > 50 && seen.forks + seen.joins == 0, "{seen:?}");

    let locks_only = Mix { reads: 0, writes: 0, locking: 1, regions: 0 };
    let seen = check(&trace(Shape::Random, Options { mix: locks_only, ..options(5_000, 4) }));
    assert!(seen.accesses < 1_500 && seen.regions == 0, "{seen:?}");
}

/// As many candidates as asked for, if there is room.
#[test]
fn needles_are_counted() {
    let trace = trace(Shape::Needles, Options { variables: Some(50), ..options(5_000, 1) });
    let at = |line: u64| {
        let site = interloper_trace::SiteId::bare_line(line).unwrap();
        trace.events.iter().filter(|event| event.site == site).count()
    };
    assert_eq!((at(2011), at(2012), at(2030), at(2031)), (50, 50, 25, 50));
}

#[test]
fn small_random_traces_fork_too() {
    let with_forks = (0..100).filter(|&seed| check(&trace(Shape::Random, options(20, seed))).forks > 0).count();
    assert!(with_forks > 50, "{with_forks} of 100");
}

#[test]
fn the_elevator_is_deep_and_varied() {
    let seen = check(&trace(Shape::Elevator, Options::default()));
    assert!((240..310).contains(&seen.regions), "{seen:?}");
    assert!(seen.deepest == 7 && seen.reentrant > 100 && seen.non_nested == 0, "{seen:?}");
}

#[test]
fn events_are_of_the_size_that_figures_assume() {
    let trace = trace(Shape::Bank, options(100_000, 1));
    let bytes: usize = trace.events.iter().map(|event| line(event, &trace.tables).len()).sum();
    assert!((1_500_000..1_650_000).contains(&bytes), "{bytes} bytes for 100,000 events");
}
