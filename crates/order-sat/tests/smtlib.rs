//! A formula as text, read back, gives the same answers.

mod common;

use common::{Size, scripts};
use interloper_order_sat::smtlib::Script;
use interloper_order_sat::{Lit, Options, Solver};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// What was asked in between is asked again in the end, of the same solver and of one that was told from the text.
    #[test]
    fn answers_survive(script in scripts(Size { nodes: 8, steps: 60, vectors: 1, width: 4 })) {
        let mut options = Options::default();
        options.proof = true;
        let mut questions = Vec::new();
        let mut solver = script.run(options, |_, _, judged| questions.push(judged.assumptions));
        let log = solver.take_proof();
        let expected: Vec<_> = questions
            .iter()
            .map(|question| solver.solve(question, &Default::default()).is_satisfiable())
            .collect();
        let written = Script::new(&log, questions);
        let read = Script::read(&written.to_string()).expect("what was written");
        prop_assert_eq!(&read, &written);
        let mut answers = Vec::new();
        read.answer(Options::default(), |answer| answers.push(answer.is_satisfiable()));
        prop_assert_eq!(answers, expected);
    }
}

#[test]
fn text_of_a_small_formula() {
    let mut options = Options::default();
    options.proof = true;
    let mut solver = Solver::with_options(options);
    let [a, b, c] = [(); 3].map(|()| solver.node());
    solver.require_before(a, b);
    let (bc, free) = (solver.before(b, c), solver.fresh());
    solver.clause(&[!bc, free]);
    let script = Script::new(&solver.take_proof(), vec![vec![bc, !free], vec![Lit::FALSE]]);
    let expected = "\
(set-logic QF_IDL)
(declare-const n0 Int)
(declare-const n1 Int)
(declare-const n2 Int)
(declare-const b2 Bool)
(declare-const b3 Bool)
(assert (< n0 n1))
(assert (= b2 (< n1 n2)))
(assert (= (not b2) (< n2 n1)))
(assert (or (not b2) b3 false))
(check-sat-assuming (b2 (not b3)))
(check-sat-assuming (false))
";
    assert_eq!(script.to_string(), expected);
}

#[test]
fn what_was_not_written_here_is_refused() {
    let lines = [
        "(push)",
        "(assert (or b2 b3))",
        "(assert (or b1 false))",
        "(assert (or b2x false))",
        "(assert (= b2 (< n0 m1)))",
        "(assert (= (not b2) (< n0 n1)))",
        "(assert (< n0 n99999999999))",
        "(check-sat-assuming (b2 (not b3))",
    ];
    for line in lines {
        let error = Script::read(&format!("(set-logic QF_IDL)\n{line}\n")).expect_err(line);
        assert_eq!((error.line, error.found.as_str()), (2, line));
    }
}
