//! The ray tracer's structure, which is what its number of findings rests on.

#![allow(clippy::unwrap_used)]

mod common;

use common::{check, line, trace};
use interloper_generate::{Options, Shape};

#[test]
fn every_thread_adds_once_under_its_own_lock() {
    for threads in [1, 2, 10, 20, 40] {
        let trace = trace(Shape::Raytracer, Options { threads: Some(threads), seed: 9, ..Options::default() });
        check(&trace);
        for thread in 0..threads {
            let name = format!("T{thread}|");
            let text: String = trace
                .events
                .iter()
                .map(|event| line(event, &trace.tables))
                .filter_map(|line| line.strip_prefix(&name).map(str::to_owned))
                .collect();
            let expected = format!("begin|10\nacq(L{thread})|11\nr(V0)|12\nw(V0)|13\nrel(L{thread})|14\nend|15\n");
            assert_eq!(text, expected);
        }
    }
}

#[test]
fn rounds_repeat_until_the_length_is_reached() {
    let trace = trace(Shape::Raytracer, Options { events: Some(605), ..Options::default() });
    let seen = check(&trace);
    assert_eq!(seen.accesses / 20, 10, "ten whole rounds of ten threads, and a bit");
    let first_round = &trace.events[..60];
    let begins = first_round.iter().filter(|event| line(event, &trace.tables).contains("begin")).count();
    assert_eq!(begins, 10, "nobody begins again before all have finished");
}

#[test]
fn threads_interleave() {
    let trace = trace(Shape::Raytracer, Options { seed: 1, ..Options::default() });
    let switches = trace.events.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count();
    assert!(switches > 40, "{switches} switches in 60 events");
}
