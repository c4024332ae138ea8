//! Bit-vectors of fixed width, as literals: everything is turned into gates at once (bit-blasting).
//!
//! The meaning of each operation is that of SMT-LIB's theory `FixedSizeBitVectors`; in particular division
//! and shifts are total. Bits that are known fold away, and equal gates are shared, so what is said twice, or
//! of constants, costs nothing.
//!
//! Vectors have 1 to 64 bits, and two operands the same width unless said otherwise. Anything else is a
//! mistake of the caller, and panics.

mod arithmetic;
mod shift;

use crate::{Lit, Model, Solver};

/// The widest vector.
pub const MAX_WIDTH: u32 = 64;

/// A vector of bits, each a literal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BitVector {
    /// The least significant first.
    bits: Vec<Lit>,
}

impl BitVector {
    /// The low `width` bits of `value`.
    pub fn constant(width: u32, value: u64) -> Self {
        Self::from_bits((0..width).map(|place| Lit::constant(value >> place & 1 == 1)).collect())
    }

    /// A vector of new booleans.
    pub fn fresh(solver: &mut Solver, width: u32) -> Self {
        Self::from_bits((0..width).map(|_| solver.fresh()).collect())
    }

    /// A vector of these bits, the least significant first.
    ///
    /// # Panics
    ///
    /// If there are none, or more than 64.
    pub fn from_bits(bits: Vec<Lit>) -> Self {
        assert!((1..=MAX_WIDTH as usize).contains(&bits.len()), "a bit-vector of {} bits", bits.len());
        Self { bits }
    }

    /// How many bits there are.
    pub fn width(&self) -> u32 {
        self.bits.len() as u32
    }

    /// The bits, the least significant first.
    pub fn bits(&self) -> &[Lit] {
        &self.bits
    }

    /// The most significant bit: the sign, if read as a two's complement number.
    pub fn sign(&self) -> Lit {
        self.bits[self.bits.len() - 1]
    }

    /// The value, if every bit is a constant.
    pub fn as_constant(&self) -> Option<u64> {
        self.bits.iter().rev().try_fold(0, |value, bit| Some(value << 1 | u64::from(bit.as_constant()?)))
    }

    /// The value in a model.
    pub fn value(&self, model: &Model) -> u64 {
        self.bits.iter().rev().fold(0, |value, &bit| value << 1 | u64::from(model.value(bit)))
    }

    /// `bvnot`: each bit negated.
    pub fn not(&self) -> Self {
        Self { bits: self.bits.iter().map(|&bit| !bit).collect() }
    }

    /// `bvand`, bit by bit.
    pub fn and(&self, solver: &mut Solver, other: &Self) -> Self {
        self.zip(other, |a, b| solver.and(&[a, b]))
    }

    /// `bvor`, bit by bit.
    pub fn or(&self, solver: &mut Solver, other: &Self) -> Self {
        self.zip(other, |a, b| solver.or(&[a, b]))
    }

    /// `bvxor`, bit by bit.
    pub fn xor(&self, solver: &mut Solver, other: &Self) -> Self {
        self.zip(other, |a, b| solver.xor(a, b))
    }

    /// `ite`: `then` if the condition is true, else `otherwise`.
    pub fn ite(solver: &mut Solver, condition: Lit, then: &Self, otherwise: &Self) -> Self {
        then.zip(otherwise, |a, b| solver.ite(condition, a, b))
    }

    /// `=`: are they equal?
    pub fn eq(&self, solver: &mut Solver, other: &Self) -> Lit {
        let equal = self.zip(other, |a, b| solver.iff(a, b));
        solver.and(&equal.bits)
    }

    /// `bvult`: less, unsigned.
    pub fn ult(&self, solver: &mut Solver, other: &Self) -> Lit {
        self.require_width(other);
        // What is less below, and not greater here; or less here. The carry of `other - self - 1`.
        self.bits.iter().zip(&other.bits).fold(Lit::FALSE, |less, (&a, &b)| solver.majority(!a, b, less))
    }

    /// `bvule`: less or equal, unsigned.
    pub fn ule(&self, solver: &mut Solver, other: &Self) -> Lit {
        !other.ult(solver, self)
    }

    /// `bvslt`: less, as two's complement numbers.
    pub fn slt(&self, solver: &mut Solver, other: &Self) -> Lit {
        self.with_sign_negated().ult(solver, &other.with_sign_negated())
    }

    /// `bvsle`: less or equal, as two's complement numbers.
    pub fn sle(&self, solver: &mut Solver, other: &Self) -> Lit {
        !other.slt(solver, self)
    }

    /// `(_ extract high low)`: the bits from `low` to `high`, both included.
    ///
    /// # Panics
    ///
    /// If there are no such bits.
    pub fn extract(&self, high: u32, low: u32) -> Self {
        assert!(low <= high && high < self.width(), "bits {low} to {high} of {}", self.width());
        Self { bits: self.bits[low as usize..=high as usize].to_vec() }
    }

    /// `concat`: these bits above those of `low`.
    ///
    /// # Panics
    ///
    /// If that is more than 64 bits.
    pub fn concat(&self, low: &Self) -> Self {
        Self::from_bits(low.bits.iter().chain(&self.bits).copied().collect())
    }

    /// The same unsigned number in `width` bits.
    ///
    /// # Panics
    ///
    /// If it is narrower than this, or more than 64.
    pub fn zero_extend(&self, width: u32) -> Self {
        self.extend(width, Lit::FALSE)
    }

    /// The same two's complement number in `width` bits.
    ///
    /// # Panics
    ///
    /// If it is narrower than this, or more than 64.
    pub fn sign_extend(&self, width: u32) -> Self {
        self.extend(width, self.sign())
    }

    fn extend(&self, width: u32, bit: Lit) -> Self {
        assert!(width >= self.width(), "{} bits extended to {width}", self.width());
        let mut bits = self.bits.clone();
        bits.resize(width as usize, bit);
        Self::from_bits(bits)
    }

    fn with_sign_negated(&self) -> Self {
        let mut bits = self.bits.clone();
        if let Some(sign) = bits.last_mut() {
            *sign = !*sign;
        }
        Self { bits }
    }

    fn zip(&self, other: &Self, mut combine: impl FnMut(Lit, Lit) -> Lit) -> Self {
        self.require_width(other);
        Self { bits: self.bits.iter().zip(&other.bits).map(|(&a, &b)| combine(a, b)).collect() }
    }

    fn require_width(&self, other: &Self) {
        assert_eq!(self.width(), other.width(), "operands of different widths");
    }
}
