//! Satisfiability modulo a strict total order, with bit-vectors.
//!
//! A formula is a conjunction of clauses over booleans and atoms `a < b`, where `a` and `b` are nodes, and all nodes
//! are in one strict total order: of two different nodes, one is before the other. [`bits`] turns arithmetic into
//! clauses. [`Solver`] looks for a model under assumptions, as often as wanted, while the formula grows. [`smtlib`]
//! writes formulas for other solvers.
//!
//! This crate knows nothing of traces, programs or events.
//!
//! ```
//! use interloper_order_sat::{Answer, Budget, Solver};
//!
//! let mut solver = Solver::new();
//! let [a, b, c] = [(); 3].map(|()| solver.node());
//! let (ab, bc, ca) = (solver.before(a, b), solver.before(b, c), solver.before(c, a));
//! solver.clause(&[ab, bc]);
//! let answer = solver.solve(&[!ab, ca], &Budget::default());
//! let Answer::Satisfiable(model) = answer else { panic!("b < c < a is a model") };
//! assert_eq!(model.order(), [b, c, a]);
//! assert!(matches!(solver.solve(&[ab, bc, ca], &Budget::default()), Answer::Unsatisfiable(_)));
//! ```
//!
//! # Claims
//!
//! - **A model is one**: its order is total, and agrees with every atom's value and every required edge.
//! - **"No" is right**, and with [`Options::proof`] it can be shown to be: see [`check`].
//! - Without a budget there is always an answer, if one waits for it.
//!
//! # How
//!
//! The search is CaDiCaL's; it asks the theory (`theory.rs`), as its external propagator, whether the atoms assigned
//! so far have an order. They have one iff they and the required edges form no cycle, which a topological order
//! tells that is kept up to date edge by edge (`graph.rs`). A solver is not [`Send`]: a thread that wants
//! one makes one.

mod answer;
pub mod bits;
pub mod check;
mod gates;
mod graph;
mod lit;
pub mod proof;
pub mod smtlib;
mod solver;
mod theory;

pub use answer::{Answer, Budget, Model, Reason};
pub use lit::{Lit, Node};
pub use solver::{Options, Solver, Statistics};
pub use theory::OrderStatistics;
