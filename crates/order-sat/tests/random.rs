//! Random scripts: every answer is compared with the reference, every model evaluated.

mod common;

use common::{Formula, Found, Judged, Said, Script, Size, reference, scripts};
use interloper_order_sat::{Answer, Options, Reason};
use proptest::prelude::*;

fn check(script: &Script, options: Options) {
    script.run(options, |said: &Said<'_>, assumed: &[Formula], judged: Judged<'_>| {
        let Judged { names, assumptions, answer, is_glance, .. } = judged;
        match answer {
            Answer::Satisfiable(model) => {
                let found = Found { model: &model, names };
                assert!(said.holds(&found), "the model does not satisfy the formula");
                assert!(assumed.iter().all(|formula| formula.holds(&found)), "an assumption is false in the model");
                assert!(assumptions.iter().all(|&literal| model.value(literal)), "an assumed literal is false");
                assert_eq!(model.order().len(), said.nodes);
                for (position, &node) in model.order().iter().enumerate() {
                    assert_eq!(model.position(node), position);
                }
            }
            Answer::Unsatisfiable(failed) => {
                assert!(failed.iter().all(|literal| assumptions.contains(literal)), "more failed than was assumed");
                let failed: Vec<&Formula> = assumed
                    .iter()
                    .zip(&assumptions)
                    .filter(|(_, literal)| failed.contains(literal))
                    .map(|(formula, _)| formula)
                    .collect();
                assert!(!reference::is_satisfiable(said, &failed), "there is a model of the failed assumptions");
            }
            Answer::Unknown(reason) => assert_eq!((is_glance, reason), (true, Reason::Conflicts)),
        }
    });
}

const ORDERS: Size = Size { nodes: 6, steps: 40, vectors: 0, width: 0 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn answers_are_those_of_the_reference(script in scripts(ORDERS)) {
        check(&script, Options::default());
    }

    #[test]
    fn hints_do_not_change_answers(script in scripts(Size { nodes: 5, steps: 25, ..ORDERS })) {
        let mut options = Options::default();
        options.hints = false;
        check(&script, options);
    }

    #[test]
    fn bits_and_orders_mix(script in scripts(Size { nodes: 4, steps: 20, vectors: 2, width: 3 })) {
        check(&script, Options::default());
    }
}
