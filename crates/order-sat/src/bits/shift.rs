//! Shifts by amounts that need not be known.

use super::BitVector;
use crate::{Lit, Solver};

impl BitVector {
    /// `bvshl`: shifted towards the high end. Zero if the amount, unsigned, is the width or more.
    pub fn shl(&self, solver: &mut Solver, amount: &Self) -> Self {
        // The same as towards the low end, seen in a mirror.
        let mut mirrored = self.clone();
        mirrored.bits.reverse();
        let mut shifted = mirrored.shift(solver, amount, Lit::FALSE);
        shifted.bits.reverse();
        shifted
    }

    /// `bvlshr`: shifted towards the low end. Zero if the amount, unsigned, is the width or more.
    pub fn lshr(&self, solver: &mut Solver, amount: &Self) -> Self {
        self.shift(solver, amount, Lit::FALSE)
    }

    /// `bvashr`: shifted towards the low end, with copies of the sign coming in. All signs if the amount,
    /// unsigned, is the width or more.
    pub fn ashr(&self, solver: &mut Solver, amount: &Self) -> Self {
        self.shift(solver, amount, self.sign())
    }

    /// One stage for each bit of the amount that is worth less than the width; if any other bit is set, everything
    /// is shifted out.
    fn shift(&self, solver: &mut Solver, amount: &Self, fill: Lit) -> Self {
        self.require_width(amount);
        let width = self.bits.len();
        let mut present = self.clone();
        let mut beyond = Vec::new();
        for (place, &bit) in amount.bits.iter().enumerate() {
            let distance = 1_usize.checked_shl(place as u32).filter(|&distance| distance < width);
            let Some(distance) = distance else {
                beyond.push(bit);
                continue;
            };
            let mut shifted = present.bits[distance..].to_vec();
            shifted.resize(width, fill);
            present = Self::ite(solver, bit, &Self { bits: shifted }, &present);
        }
        let beyond = solver.or(&beyond);
        Self::ite(solver, beyond, &Self { bits: vec![fill; width] }, &present)
    }
}
