//! Bit-vectors against plain arithmetic.

mod common;

use common::bits::{BINARIES, Binary, COMPARISONS, Unary, cut, numbers, unaries};
use interloper_order_sat::bits::BitVector;
use interloper_order_sat::{Answer, Budget, Lit, Solver};
use proptest::prelude::*;

/// The literals that make `vector` equal to `value`.
fn fixed(vector: &BitVector, value: u64) -> Vec<Lit> {
    let bits = vector.bits().iter().enumerate();
    bits.map(|(place, &bit)| if value >> place & 1 == 1 { bit } else { !bit }).collect()
}

/// Under these assumptions the only value of `result` is `expected`.
fn assert_only(solver: &mut Solver, assumptions: &[Lit], result: &BitVector, expected: u64, what: &str) {
    let Answer::Satisfiable(model) = solver.solve(assumptions, &Budget::default()) else {
        panic!("{what} has no value");
    };
    assert_eq!(result.value(&model), expected, "{what}");
    let equal = result.eq(solver, &BitVector::constant(result.width(), expected));
    let mut assumptions = assumptions.to_vec();
    assumptions.push(!equal);
    let other = solver.solve(&assumptions, &Budget::default());
    assert_eq!(other.is_satisfiable(), Some(false), "{what} has a second value");
}

#[test]
fn every_operation_on_every_value_of_few_bits() {
    for width in 1..=4 {
        let mut solver = Solver::new();
        let a = BitVector::fresh(&mut solver, width);
        let b = BitVector::fresh(&mut solver, width);
        let mut unaries = vec![Unary::Not, Unary::Neg];
        for high in 0..width {
            unaries.push(Unary::Rotated(high));
            unaries.extend((0..=high).flat_map(|low| [Unary::ZeroExtended(high, low), Unary::SignExtended(high, low)]));
        }
        let unaries: Vec<_> = unaries.into_iter().map(|unary| (unary, unary.build(&mut solver, &a))).collect();
        let binaries = BINARIES.map(|binary| (binary, binary.build(&mut solver, &a, &b)));
        let comparisons = COMPARISONS.map(|comparison| (comparison, comparison.build(&mut solver, &a, &b)));
        for x in 0..1 << width {
            let given = fixed(&a, x);
            for (unary, result) in &unaries {
                assert_only(&mut solver, &given, result, unary.apply(width, x), &format!("{unary:?} {x} of {width}"));
            }
            for y in 0..1 << width {
                let given = [fixed(&a, x), fixed(&b, y)].concat();
                for (binary, result) in &binaries {
                    let what = format!("{x} {binary:?} {y} of {width}");
                    assert_only(&mut solver, &given, result, binary.apply(width, x, y), &what);
                }
                for (comparison, result) in &comparisons {
                    let result = BitVector::from_bits(vec![*result]);
                    let expected = u64::from(comparison.apply(width, x, y));
                    assert_only(&mut solver, &given, &result, expected, &format!("{x} {comparison:?} {y} of {width}"));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn constants_fold(width in 1..=64_u32, x in numbers(), y in numbers(), unary in unaries()) {
        let mut solver = Solver::new();
        let (x, y) = (cut(width, x), cut(width, y));
        let (a, b) = (BitVector::constant(width, x), BitVector::constant(width, y));
        prop_assert_eq!(unary.build(&mut solver, &a).as_constant(), Some(unary.apply(width, x)));
        for binary in BINARIES {
            let result = binary.build(&mut solver, &a, &b).as_constant();
            prop_assert_eq!(result, Some(binary.apply(width, x, y)), "{:?}", binary);
        }
        for comparison in COMPARISONS {
            let result = comparison.build(&mut solver, &a, &b).as_constant();
            prop_assert_eq!(result, Some(comparison.apply(width, x, y)), "{:?}", comparison);
        }
        prop_assert_eq!(solver.statistics().variables, 1, "constants need no variables");
    }

    /// With one operand known, and with none.
    #[test]
    fn known_operands_give_known_results(
        width in 1..=64_u32,
        x in numbers(),
        y in numbers(),
        binary in prop::sample::select(&BINARIES[..]),
        known in 0..3,
    ) {
        let mut solver = Solver::new();
        let (x, y) = (cut(width, x), cut(width, y));
        let mut operand = |value, constant| {
            if constant { BitVector::constant(width, value) } else { BitVector::fresh(&mut solver, width) }
        };
        let (a, b) = (operand(x, known == 1), operand(y, known == 2));
        let result = binary.build(&mut solver, &a, &b);
        let given = [fixed(&a, x), fixed(&b, y)].concat();
        assert_only(&mut solver, &given, &result, binary.apply(width, x, y), "the result");
    }

    /// The result and one operand are given: the solver looks for the other.
    #[test]
    fn operations_run_backwards(
        width in 1..=10_u32,
        x in numbers(),
        y in numbers(),
        binary in prop::sample::select(&BINARIES[..]),
        left in any::<bool>(),
    ) {
        let mut solver = Solver::new();
        let (x, y) = (cut(width, x), cut(width, y));
        let (a, b) = (BitVector::fresh(&mut solver, width), BitVector::fresh(&mut solver, width));
        let result = binary.build(&mut solver, &a, &b);
        let wanted = binary.apply(width, x, y);
        let known = if left { fixed(&b, y) } else { fixed(&a, x) };
        let answer = solver.solve(&[fixed(&result, wanted), known].concat(), &Budget::default());
        let Answer::Satisfiable(model) = answer else { panic!("there is a model") };
        prop_assert_eq!(binary.apply(width, a.value(&model), b.value(&model)), wanted);
    }
}

#[test]
#[should_panic(expected = "different widths")]
fn operands_must_be_of_one_width() {
    let mut solver = Solver::new();
    Binary::Add.build(&mut solver, &BitVector::constant(3, 1), &BitVector::constant(4, 1));
}
