//! What the solver would be asked about a trace, for other solvers to answer.

use crate::candidates::{Candidates, Grouping};
use crate::trace::Trace;
use interloper_decide::{Candidate, Limits, Outline, script};
use interloper_model::RegionSources;
use interloper_order_sat::smtlib::Script;

/// The formula of a trace, and questions about its possible triples: all of them, or so many from all over it.
pub fn formula(trace: &Trace, regions: RegionSources, most: usize, limits: &Limits) -> Script {
    let candidates = Candidates::new(trace, regions, Grouping::Triples, usize::MAX);
    let all: Vec<Candidate> = candidates.sets.iter().flat_map(|set| set.candidates.clone()).collect();
    let stride = all.len().div_ceil(most.max(1)).max(1);
    let asked: Vec<Candidate> = all.into_iter().step_by(stride).collect();
    let outline = Outline::new(&trace.events, &trace.tables, trace.initial_values());
    script(&outline, &asked, limits)
}
