//! The ladder against all schedules of small traces.

use crate::{Grouping, Options, Standing, Trace, climb};
use interloper_model::{InitialValues, RegionSources};
use interloper_witness::interpret::Program;
use interloper_witness::reference::feasible_triples_within;
use interloper_witness::testing::{Shape, traces};
use proptest::prelude::*;
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
