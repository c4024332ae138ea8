//! Whether random traces are what they are to be.

use super::{Shape, census, traces};
use interloper_trace::wellformed::{Rules, WellFormed};
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #[test]
    fn traces_are_well_formed(trace in traces(Shape { events: 60, bound: true, ..Shape::ALL })) {
        let mut check = WellFormed::new(Rules::General);
        for event in &trace.events {
            prop_assert_eq!(check.check(event, &trace.tables), Ok(()));
        }
    }
}

/// Whatever a shape allows does happen.
#[test]
fn everything_occurs() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut total: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..500 {
        let tree = traces(Shape { events: 60, bound: true, ..Shape::ALL }).new_tree(&mut runner).expect("a trace");
        for (name, times) in census(&proptest::strategy::ValueTree::current(&tree).events) {
            *total.entry(name).or_default() += times;
        }
    }
    let wanted = "read write rmw rmw_failed piece rmw_piece acquire acquire_shared release release_shared \
        try_acquire wait_begin wait_end timed_out spurious signal broadcast sem_wait sem_post barrier \
        barrier_leave once fork join alloc free begin end branch define bind assume";
    for name in wanted.split_whitespace() {
        assert!(total.get(name).is_some_and(|&times| times >= 20), "{name}: {total:?}");
    }
}
