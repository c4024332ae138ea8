//! Addition to division, as circuits.

use super::BitVector;
use crate::{Lit, Solver};

impl BitVector {
    /// `bvadd`: the sum, modulo 2 to the width.
    pub fn add(&self, solver: &mut Solver, other: &Self) -> Self {
        self.require_width(other);
        self.add_with_carry(solver, other, Lit::FALSE)
    }

    /// `bvsub`: the difference, modulo 2 to the width.
    pub fn sub(&self, solver: &mut Solver, other: &Self) -> Self {
        self.require_width(other);
        self.add_with_carry(solver, &other.not(), Lit::TRUE)
    }

    /// `bvneg`: the two's complement.
    pub fn neg(&self, solver: &mut Solver) -> Self {
        Self::constant(self.width(), 0).sub(solver, self)
    }

    /// `bvmul`: the product, modulo 2 to the width.
    pub fn mul(&self, solver: &mut Solver, other: &Self) -> Self {
        self.require_width(other);
        // A row for each bit of the multiplier: the one with more bits known to be zero makes fewer.
        let zeros = |vector: &Self| vector.bits.iter().filter(|&&bit| bit == Lit::FALSE).count();
        let (multiplier, multiplicand) = if zeros(self) > zeros(other) { (self, other) } else { (other, self) };
        let width = self.bits.len();
        let mut product = Self::constant(self.width(), 0);
        for (place, &bit) in multiplier.bits.iter().enumerate() {
            if bit == Lit::FALSE {
                continue;
            }
            let mut row = vec![Lit::FALSE; place];
            row.extend(multiplicand.bits[..width - place].iter().map(|&other| solver.and(&[bit, other])));
            product = product.add(solver, &Self { bits: row });
        }
        product
    }

    /// `bvudiv`: the quotient of unsigned numbers. All ones if the divisor is zero.
    pub fn udiv(&self, solver: &mut Solver, divisor: &Self) -> Self {
        self.divide(solver, divisor).0
    }

    /// `bvurem`: the remainder of unsigned numbers. The dividend if the divisor is zero.
    pub fn urem(&self, solver: &mut Solver, divisor: &Self) -> Self {
        self.divide(solver, divisor).1
    }

    /// `bvsdiv`: the quotient of two's complement numbers, rounded towards zero. If the divisor is zero: 1 if the
    /// dividend is negative, else -1.
    pub fn sdiv(&self, solver: &mut Solver, divisor: &Self) -> Self {
        let negative = solver.xor(self.sign(), divisor.sign());
        let (dividend, divisor) = (self.magnitude(solver), divisor.magnitude(solver));
        let quotient = dividend.udiv(solver, &divisor);
        quotient.negate_if(solver, negative)
    }

    /// `bvsrem`: the remainder that belongs to [`BitVector::sdiv`]; its sign is that of the dividend, which it is
    /// if the divisor is zero.
    pub fn srem(&self, solver: &mut Solver, divisor: &Self) -> Self {
        let negative = self.sign();
        let (dividend, divisor) = (self.magnitude(solver), divisor.magnitude(solver));
        let remainder = dividend.urem(solver, &divisor);
        remainder.negate_if(solver, negative)
    }

    fn magnitude(&self, solver: &mut Solver) -> Self {
        self.negate_if(solver, self.sign())
    }

    fn negate_if(&self, solver: &mut Solver, condition: Lit) -> Self {
        let negated = self.neg(solver);
        Self::ite(solver, condition, &negated, self)
    }

    fn add_with_carry(&self, solver: &mut Solver, other: &Self, mut carry: Lit) -> Self {
        let last = self.bits.len() - 1;
        let mut sum = Vec::with_capacity(self.bits.len());
        for (place, (&a, &b)) in self.bits.iter().zip(&other.bits).enumerate() {
            sum.push(solver.xor3(a, b, carry));
            if place < last {
                carry = solver.majority(a, b, carry);
            }
        }
        Self { bits: sum }
    }

    /// Quotient and remainder by long division. If the divisor is zero it always goes, so every bit of the
    /// quotient is one and nothing is ever taken from the dividend: just what SMT-LIB demands.
    fn divide(&self, solver: &mut Solver, divisor: &Self) -> (Self, Self) {
        self.require_width(divisor);
        let width = self.bits.len();
        let mut remainder = vec![Lit::FALSE; width];
        let mut quotient = vec![Lit::FALSE; width];
        for place in (0..width).rev() {
            remainder.rotate_right(1);
            remainder[0] = self.bits[place];
            let present = Self { bits: remainder };
            let goes = divisor.ule(solver, &present);
            quotient[place] = goes;
            // The remainder is never longer than what has come in, and nor is the divisor where it goes.
            let highest = self.width() - place as u32 - 1;
            let short = present.extract(highest, 0);
            let reduced = short.sub(solver, &divisor.extract(highest, 0));
            remainder = Self::ite(solver, goes, &reduced, &short).zero_extend(self.width()).bits;
        }
        (Self { bits: quotient }, Self { bits: remainder })
    }
}
