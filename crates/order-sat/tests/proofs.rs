//! Every "no" is checked from its proof.

mod common;

use common::{Script, Size, scripts};
use interloper_order_sat::check::{CheckError, Checker};
use interloper_order_sat::proof::{ClauseId, Step};
use interloper_order_sat::{Answer, Budget, Lit, Options, Solver};
use proptest::prelude::*;

fn options() -> Options {
    let mut options = Options::default();
    options.proof = true;
    options
}

fn check(script: &Script) {
    let mut checker = Checker::new();
    let mut refutations = 0;
    script.run(options(), |_, assumed, judged| {
        if let Answer::Unsatisfiable(failed) = judged.answer {
            // An assumption that is false as it stands is refuted without the solver.
            refutations += u64::from(failed.iter().all(|literal| literal.as_constant().is_none()));
        }
        if let Err(error) = checker.check(&judged.solver.take_proof()) {
            panic!("under {assumed:?}: {error}");
        }
        assert_eq!(checker.refutations(), refutations);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn small_proofs(script in scripts(Size { nodes: 7, steps: 60, vectors: 0, width: 0 })) {
        check(&script);
    }

    #[test]
    fn proofs_with_bits(script in scripts(Size { nodes: 4, steps: 20, vectors: 3, width: 8 })) {
        check(&script);
    }
}

/// A formula without a model, where it takes both lemmas and a search to find that out; and its proof.
fn refuted() -> Vec<Step> {
    let mut solver = Solver::with_options(options());
    let nodes: Vec<_> = (0..6).map(|_| solver.node()).collect();
    solver.require_before(nodes[0], nodes[1]);
    let choices: Vec<Lit> = (0..3).map(|_| solver.fresh()).collect();
    // Whichever way each choice goes, the nodes go round.
    for (place, &choice) in choices.iter().enumerate() {
        let (a, b) = (nodes[place + 1], nodes[place + 2]);
        let (direct, after_last) = (solver.before(a, b), solver.before(nodes[5], b));
        let last_after = solver.before(a, nodes[5]);
        solver.clause(&[choice, direct]);
        solver.clause(&[!choice, last_after]);
        solver.clause(&[!choice, after_last]);
    }
    let back = solver.before(nodes[4], nodes[0]);
    solver.clause(&[back]);
    assert_eq!(solver.solve(&[], &Budget::default()).is_satisfiable(), Some(false));
    let steps = solver.take_proof();
    assert_eq!(Checker::new().check(&steps), Ok(()));
    steps
}

/// What the checker says if one step after the other is tampered with. `tamper` says whether it did.
fn errors(tamper: impl Fn(&mut Step) -> bool) -> Vec<CheckError> {
    let steps = refuted();
    let outcomes = (0..steps.len()).filter_map(|place| {
        let mut steps = steps.clone();
        tamper(&mut steps[place]).then(|| Checker::new().check(&steps))
    });
    outcomes.filter_map(Result::err).collect()
}

/// The error of a log made by hand.
fn error(steps: &[Step]) -> CheckError {
    Checker::new().check(steps).expect_err("it is wrong")
}

#[test]
fn a_lemma_must_be_a_cycle() {
    let shortened = errors(|step| match step {
        Step::Lemma(lemma) => lemma.pop().is_some(),
        _ => false,
    });
    assert!(!shortened.is_empty());
    assert!(shortened.iter().all(|error| matches!(error, CheckError::NoCycle(_))), "{shortened:?}");
    let turned = errors(|step| match step {
        Step::Lemma(lemma) => lemma.first_mut().map(|literal| *literal = !*literal).is_some(),
        _ => false,
    });
    assert!(!turned.is_empty());
    assert!(turned.iter().all(|error| matches!(error, CheckError::NoCycle(_))), "{turned:?}");
    assert!(matches!(error(&[Step::Lemma(vec![])]), CheckError::NoCycle(_)));
    assert!(matches!(error(&[Step::Lemma(vec![Lit::TRUE])]), CheckError::NoAtom(..)));
}

#[test]
fn a_lemma_needs_its_edges() {
    let mut steps = refuted();
    steps.retain(|step| !matches!(step, Step::Edge(..)));
    assert!(matches!(error(&steps), CheckError::NoCycle(_)));
}

#[test]
fn what_is_given_must_have_been_given() {
    let unfounded = errors(|step| {
        let is_source = matches!(step, Step::Lemma(_) | Step::Input(_));
        if is_source {
            *step = Step::Input(vec![Lit::TRUE]);
        }
        is_source
    });
    assert!(unfounded.len() > 9);
    assert!(unfounded.iter().all(|error| matches!(error, CheckError::Unfounded(_))), "{unfounded:?}");
}

#[test]
fn what_is_derived_must_follow() {
    let unfollowing = errors(|step| match step {
        Step::Derived { antecedents, .. } => antecedents.pop().is_some(),
        _ => false,
    });
    assert!(!unfollowing.is_empty());
    assert!(unfollowing.iter().all(|error| matches!(error, CheckError::NotImplied(_))), "{unfollowing:?}");
    let missing = errors(|step| match step {
        Step::Derived { antecedents, .. } => antecedents.first_mut().map(|id| *id = ClauseId(i64::MAX)).is_some(),
        _ => false,
    });
    assert!(!missing.is_empty());
    assert!(missing.iter().all(|error| matches!(error, CheckError::Missing(_))), "{missing:?}");
}

#[test]
fn an_answer_needs_a_clause_that_shows_it() {
    let steps = refuted();
    let Some(Step::Refuted(failed)) = steps.last() else { panic!("the answer comes last") };
    assert_eq!(failed, &[]);
    assert!(matches!(error(&[Step::Refuted(vec![])]), CheckError::NotRefuted(_)));
    let unshown = errors(|step| match step {
        Step::Concluded(ids) => ids.first_mut().map(|id| *id = ClauseId(1)).is_some(),
        _ => false,
    });
    assert!(matches!(unshown[..], [CheckError::NotRefuted(_)]), "{unshown:?}");
    let clause = vec![Lit::TRUE];
    let restored =
        [Step::Input(clause.clone()), Step::Original(ClauseId(1), clause.clone()), Step::Restored(ClauseId(1), clause)];
    assert_eq!(error(&restored), CheckError::NotWeakened(ClauseId(1)));
}

#[test]
fn only_what_follows_from_what_is_there() {
    let mut solver = Solver::new();
    let (a, b) = (solver.fresh(), solver.fresh());
    let (first, second, third) = (vec![a, b], vec![a, !b], vec![!a]);
    let [one, two, three, four] = [1, 2, 3, 4].map(ClauseId);
    let derived = Step::Derived { id: four, clause: vec![], antecedents: vec![three, one, two] };
    let inputs = [first.clone(), second.clone(), third.clone()].map(Step::Input);
    let originals = [Step::Original(one, first.clone()), Step::Original(two, second), Step::Original(three, third)];
    let gone = [Step::Weakened(one), Step::Deleted(one)];
    let steps = [&inputs[..], &originals, &gone].concat();
    let mut checker = Checker::new();
    assert_eq!(checker.check(&steps), Ok(()));
    assert_eq!(checker.check(std::slice::from_ref(&derived)), Err(CheckError::Missing(one)));
    let leap = Step::Derived { id: four, clause: vec![a], antecedents: vec![two] };
    assert_eq!(checker.check(&[leap]), Err(CheckError::NotImplied(four)));
    let leap = Step::Derived { id: four, clause: vec![], antecedents: vec![two, three] };
    assert_eq!(checker.check(&[leap]), Err(CheckError::NotImplied(four)));
    let end = [Step::Restored(one, first), derived, Step::Concluded(vec![four]), Step::Refuted(vec![])];
    assert_eq!(checker.check(&end), Ok(()));
    assert_eq!(checker.refutations(), 1);
}
