//! Chance, reproducible for ever.
//!
//! Nothing here may change what is drawn for a seed: published figures and stored test cases name
//! traces by seed. That is why ranges are cut here and not by a library's distributions, which
//! may improve from one version to the next.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// The source of all chance in a trace.
pub(crate) struct Dice(Pcg64Mcg);

impl Dice {
    /// Dice that always fall the same way for a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Dice(Pcg64Mcg::seed_from_u64(seed))
    }

    /// 32 random bits: the upper half of the generator's output, which is the better mixed one.
    #[inline]
    pub(crate) fn bits(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    /// A number below `end`, which must not be zero.
    ///
    /// A number comes up too often by a share of at most `end`/2³²; for the ranges of a trace that
    /// is less than any test could tell, and it saves the loop that would mend it.
    #[inline]
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        debug_assert!(end > 0);
        ((u64::from(self.bits()) * u64::from(end)) >> 32) as u32
    }

    /// As [`below`](Self::below), for places in a list.
    #[inline]
    pub(crate) fn index(&mut self, length: usize) -> usize {
        debug_assert!(length > 0 && u32::try_from(length).is_ok());
        ((u64::from(self.bits()) * length as u64) >> 32) as usize
    }

    /// True once in `times`.
    #[inline]
    pub(crate) fn once_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dice_are_the_documented_ones() {
        let mut dice = Dice::new(1);
        let first: Vec<u32> = (0..4).map(|_| dice.bits()).collect();
        assert_eq!(first, [3679572066, 590792016, 2020616869, 3119218800]);
    }

    #[test]
    fn all_numbers_of_a_range_come_up_about_equally() {
        let mut dice = Dice::new(7);
        let mut seen = [0_u32; 10];
        for _ in 0..100_000 {
            seen[dice.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (9_500..10_500).contains(count)), "{seen:?}");
    }
}
