//! The well-formedness checker on generated traces: it accepts all of them, and rejects what is
//! done to them on purpose, at the very event.

#![allow(clippy::unwrap_used)]

use interloper_generate::{Generator, Options, Shape};
use interloper_trace::wellformed::{Rules, WellFormed};
use interloper_trace::{
    Attempt, Event, EventSource as _, LockId, LockMode, Op, Region, RegionSource, SiteId, Tables, ThreadId,
};
use proptest::prelude::*;

fn generated(shape: Shape, options: Options) -> (Vec<Event>, Tables) {
    let mut generator = Generator::new(shape, options).unwrap();
    let (mut events, mut batch) = (Vec::new(), Vec::new());
    loop {
        generator.next_batch(&mut batch).unwrap();
        if batch.is_empty() {
            return (events, generator.tables().clone());
        }
        events.append(&mut batch);
    }
}

/// The index of the event at which the checker stops.
fn first_breach(events: &[Event], tables: &Tables) -> Option<usize> {
    let mut checker = WellFormed::new(Rules::Std);
    events.iter().position(|event| checker.check(event, tables).is_err())
}

fn event(thread: ThreadId, op: Op) -> Event {
    Event { thread, site: SiteId::UNKNOWN, op }
}

/// What is true just before an event of a generated trace, found out the slow and obvious way.
struct Before<'t> {
    past: &'t [Event],
    tables: &'t Tables,
}

impl Before<'_> {
    fn threads(&self) -> impl Iterator<Item = ThreadId> + use<'_> {
        (0..self.tables.thread_count()).filter_map(ThreadId::from_index)
    }

    fn has_acted(&self, thread: ThreadId) -> bool {
        self.past.iter().any(|event| event.thread == thread)
    }

    fn is_joined(&self, thread: ThreadId) -> bool {
        self.past.iter().any(|event| event.op == Op::Join(thread))
    }

    fn is_forked(&self, thread: ThreadId) -> bool {
        self.past.iter().any(|event| event.op == Op::Fork(thread))
    }

    fn depth(&self, thread: ThreadId, lock: LockId) -> usize {
        let mine = self.past.iter().filter(|event| event.thread == thread);
        mine.fold(0, |depth, event| match event.op {
            Op::Acquire { lock: taken, .. } if taken == lock => depth + 1,
            Op::Release { lock: left, .. } if left == lock => depth - 1,
            _ => depth,
        })
    }

    fn open_regions(&self, thread: ThreadId) -> usize {
        let mine = self.past.iter().filter(|event| event.thread == thread);
        mine.fold(0, |open, event| match event.op {
            Op::RegionBegin(_) => open + 1,
            Op::RegionEnd(_) => open - 1,
            _ => open,
        })
    }

    /// Events that must not come here.
    fn forbidden(&self) -> Vec<Event> {
        let region = Region { name: None, source: RegionSource::Annotated };
        let mut forbidden = Vec::new();
        for thread in self.threads() {
            if self.is_joined(thread) {
                forbidden.push(event(thread, Op::Exit));
                continue;
            }
            forbidden.push(event(thread, Op::Fork(thread)));
            forbidden.push(event(thread, Op::Join(thread)));
            if self.open_regions(thread) == 0 {
                forbidden.push(event(thread, Op::RegionEnd(region)));
            }
            for other in self.threads().filter(|&other| other != thread) {
                if self.has_acted(other) || self.is_forked(other) {
                    forbidden.push(event(thread, Op::Fork(other)));
                }
            }
            for lock in (0..self.tables.lock_count()).filter_map(LockId::from_index) {
                let held_by_other = self.threads().any(|other| other != thread && self.depth(other, lock) > 0);
                if self.depth(thread, lock) == 0 {
                    forbidden.push(event(thread, Op::Release { lock, mode: LockMode::Exclusive }));
                }
                if held_by_other {
                    for mode in [LockMode::Exclusive, LockMode::Shared] {
                        forbidden.push(event(thread, Op::Acquire { lock, mode, by: Attempt::Blocking }));
                    }
                }
            }
        }
        forbidden
    }
}

fn random_options() -> impl Strategy<Value = Options> {
    (1u64..200, 1u32..6, 0u32..5, any::<u64>(), any::<bool>(), any::<bool>()).prop_map(
        |(events, threads, locks, seed, forks, non_nested)| Options {
            events: Some(events),
            threads: Some(threads),
            locks: Some(locks),
            seed,
            forks,
            non_nested,
            ..Options::default()
        },
    )
}

proptest! {
    #[test]
    fn random_traces_are_accepted_and_forbidden_events_are_not(
        options in random_options(),
        place in any::<prop::sample::Index>(),
    ) {
        let (events, tables) = generated(Shape::Random, options);
        prop_assert_eq!(first_breach(&events, &tables), None);
        let at = place.index(events.len() + 1);
        for wrong in (Before { past: &events[..at], tables: &tables }).forbidden() {
            let mut mutated = events.clone();
            mutated.insert(at, wrong);
            prop_assert_eq!(first_breach(&mutated, &tables), Some(at), "{:?} at {}", wrong, at);
        }
    }

    /// An acquisition that is missing is noticed where the lock is left for good, at the latest.
    #[test]
    fn a_missing_acquisition_is_noticed(options in random_options(), place in any::<prop::sample::Index>()) {
        let (events, tables) = generated(Shape::Random, options);
        let acquisitions: Vec<usize> =
            (0..events.len()).filter(|&at| matches!(events[at].op, Op::Acquire { .. })).collect();
        if acquisitions.is_empty() {
            return Ok(());
        }
        let at = acquisitions[place.index(acquisitions.len())];
        let Op::Acquire { lock, .. } = events[at].op else { unreachable!("it is an acquisition") };
        let left = (at + 1..=events.len()).find(|&end| {
            (Before { past: &events[..end], tables: &tables }).depth(events[at].thread, lock) == 0
        });
        let mut mutated = events.clone();
        mutated.remove(at);
        // One event less before it, and the release is the last of those counted.
        prop_assert_eq!(first_breach(&mutated, &tables), left.map(|end| end - 2));
    }

    #[test]
    fn all_shapes_are_accepted(seed in any::<u64>(), events in 0u64..5000) {
        for shape in [Shape::Bank, Shape::Raytracer, Shape::Elevator] {
            let options = Options { events: Some(events), seed, ..Options::default() };
            let (events, tables) = generated(shape, options);
            prop_assert_eq!(first_breach(&events, &tables), None, "{}", shape);
        }
    }
}
