//! Every triple that any schedule shows, by brute force.
//!
//! The machine of [`interpret`](crate::interpret) is run through every state that it can reach, with every
//! choice of its signals. An access f shows a triple (e1, f, e2) if e1 has been executed in the state before,
//! and e2 can be executed in some future of the state after. Small traces only: there may be as many states
//! as there are orders, and all are kept.

use crate::interpret::{Program, State};
use interloper_model::{AccessKind, Pattern, RegionEdge, RegionSources, Regions, access_of};
use interloper_trace::{LocationId, Op, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Every triple of positions in the trace (first, remote, second) that some schedule shows.
pub fn feasible_triples(program: &Program<'_>, sources: RegionSources) -> BTreeSet<(usize, usize, usize)> {
    feasible_triples_within(program, sources, usize::MAX).unwrap_or_default()
}

/// The same, or nothing if there are more states than that.
pub fn feasible_triples_within(
    program: &Program<'_>,
    sources: RegionSources,
    states: usize,
) -> Option<BTreeSet<(usize, usize, usize)>> {
    let mut explorer = Explorer {
        program,
        regions: regions(program, sources),
        limit: states,
        known: FxHashMap::default(),
        futures: Vec::new(),
        found: BTreeSet::new(),
    };
    explorer.explore(&program.start())?;
    Some(explorer.found)
}

/// The outermost region each event is in, by the event that begins it.
pub(crate) fn regions(program: &Program<'_>, sources: RegionSources) -> Vec<Option<usize>> {
    let mut nesting = Regions::new(sources);
    let mut open: Vec<Option<usize>> = vec![None; program.thread_count()];
    let mut regions = Vec::with_capacity(program.events().len());
    for (at, event) in program.events().iter().enumerate() {
        let open = &mut open[event.thread.index()];
        if let Op::RegionBegin(region) = event.op
            && nesting.begin(event.thread, region.source) == RegionEdge::Outermost
        {
            *open = Some(at);
        }
        regions.push(*open);
        if let Op::RegionEnd(region) = event.op
            && nesting.end(event.thread, region.source) == RegionEdge::Outermost
        {
            *open = None;
        }
    }
    regions
}

/// The accesses that may be executed from some state on, as they would be: the event, and its kind.
type Future = BTreeSet<(usize, AccessKind)>;

struct Explorer<'a, 't> {
    program: &'a Program<'t>,
    regions: Vec<Option<usize>>,
    limit: usize,
    /// The futures of states, by number.
    known: FxHashMap<State, usize>,
    futures: Vec<Future>,
    found: BTreeSet<(usize, usize, usize)>,
}

impl Explorer<'_, '_> {
    /// The number of a state's future.
    fn explore(&mut self, state: &State) -> Option<usize> {
        if let Some(&known) = self.known.get(state) {
            return Some(known);
        }
        let mut future = Future::new();
        for thread in (0..self.program.thread_count()).filter_map(ThreadId::from_index) {
            if !self.program.enabled(state, thread) {
                continue;
            }
            let choices = self.program.choices(state, thread);
            let choices = if choices.is_empty() { vec![None] } else { choices.into_iter().map(Some).collect() };
            for choice in choices {
                let executed: Vec<usize> = self.program.next_events(state, thread).collect();
                let mut next = state.clone();
                let Ok(outcome) = self.program.step(&mut next, thread, choice) else { continue };
                let after = self.explore(&next)?;
                for event in executed {
                    if let Some(kind) = self.program.access_kind(event, outcome.satisfied) {
                        self.show(state, event, kind, after);
                        future.insert((event, kind));
                    }
                }
                future.extend(&self.futures[after]);
            }
        }
        if self.futures.len() >= self.limit {
            return None;
        }
        self.futures.push(future);
        self.known.insert(state.clone(), self.futures.len() - 1);
        Some(self.futures.len() - 1)
    }

    /// Notes every triple with this remote access: what came before it, and what can still come.
    fn show(&mut self, before: &State, remote: usize, kind: AccessKind, after: usize) {
        let location = self.location(remote);
        for &(second, second_kind) in &self.futures[after] {
            if self.regions[second].is_none() || self.location(second) != location {
                continue;
            }
            let thread = self.program.events()[second].thread;
            if thread == self.program.events()[remote].thread {
                continue;
            }
            for first in (0..second).filter(|&first| self.program.events()[first].thread == thread) {
                // The thread goes on after it, so it was satisfied.
                let Some(first_kind) = self.program.access_kind(first, true) else { continue };
                let fits = self.location(first) == location
                    && self.regions[first] == self.regions[second]
                    && Pattern::of(first_kind, kind, second_kind).is_some();
                if fits && self.program.is_done(before, first) {
                    self.found.insert((first, remote, second));
                }
            }
        }
    }

    fn location(&self, event: usize) -> Option<LocationId> {
        access_of(&self.program.events()[event].op).map(|(location, _)| location)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::InitialValues;
    use crate::testing::{Shape, Trace, order_showing, traces};
    use proptest::prelude::*;
    use std::cell::Cell;

    fn sources() -> RegionSources {
        RegionSources::default_choice()
    }

    fn compare(trace: &Trace, initial: InitialValues, counts: &Cell<[usize; 2]>) -> Result<(), TestCaseError> {
        let program = Program::new(&trace.events, &trace.tables, initial);
        let Some(found) = feasible_triples_within(&program, sources(), 3000) else { return Ok(()) };
        let regions = regions(&program, sources());
        for first in 0..trace.events.len() {
            for second in first + 1..trace.events.len() {
                for remote in 0..trace.events.len() {
                    let triple = [first, remote, second];
                    let accesses = triple.map(|event| access_of(&trace.events[event].op));
                    let [Some((x, a)), Some((y, b)), Some((z, c))] = accesses else { continue };
                    let threads = triple.map(|event| trace.events[event].thread);
                    let candidate = x == y
                        && y == z
                        && threads[0] == threads[2]
                        && threads[0] != threads[1]
                        && regions[first].is_some()
                        && regions[first] == regions[second]
                        && Pattern::of(a, b, c).is_some();
                    if !candidate {
                        prop_assert!(!found.contains(&(first, remote, second)));
                        continue;
                    }
                    let order = order_showing(&program, triple);
                    let [yes, no] = counts.get();
                    counts.set(if order.is_some() { [yes + 1, no] } else { [yes, no + 1] });
                    prop_assert_eq!(order.is_some(), found.contains(&(first, remote, second)), "{:?}", triple);
                }
            }
        }
        Ok(())
    }

    /// The sweep over all states against a search for each triple; both answers are common.
    #[test]
    fn the_sweep_finds_what_searches_find() {
        let shapes = [Shape::PLAIN, Shape::BOUND, Shape::MEMORY, Shape::WAITING, Shape::ALL];
        for (shape, cases) in shapes.into_iter().zip([300, 300, 300, 300, 500]) {
            let counts = Cell::new([0, 0]);
            let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
                failure_persistence: None,
                ..ProptestConfig::with_cases(cases)
            });
            runner
                .run(&traces(shape), |trace| {
                    compare(&trace, InitialValues::Zero, &counts)?;
                    compare(&trace, InitialValues::Unknown, &counts)
                })
                .unwrap_or_else(|error| panic!("{error}"));
            assert!(counts.get().iter().all(|&count| count >= 10), "{:?}", counts.get());
        }
    }
}
