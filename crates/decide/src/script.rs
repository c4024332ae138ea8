//! What the solver is told and asked, as text for other solvers.

use crate::candidate::{Candidate, query};
use crate::causal::{Instance, Query, Taste};
use crate::outline::Outline;
use crate::verdicts::Limits;
use interloper_order_sat::smtlib::Script;
use interloper_order_sat::{Options, Solver};

/// What [`decide`](crate::decide) would put to the solver if it asked about each of these, in one window and without
/// ruling out anything before. A candidate that needs no solver to be ruled out is not asked about.
///
/// In a large formula constraints are made as far as they turn out to be needed. Here they are those that our solver's
/// answers have needed, within the time for one question each; whatever the solver, what has a model under all of them
/// has one under these.
pub fn script(outline: &Outline, candidates: &[Candidate], limits: &Limits) -> Script {
    let mut options = Options::default();
    options.proof = true;
    let window = 0..outline.len() as u32;
    let solver = Solver::with_options(options);
    let queries: Vec<Query> = candidates.iter().filter_map(|candidate| query(outline, candidate)).collect();
    Instance::with_solver(solver, outline, window, limits.eager, Taste::ShortSchedules)
        .script(&queries, limits.per_question)
}
