//! Locations that two threads touch, one of them writing.

use interloper_wire::{HotRange, Space};

/// Ranges, merged.
///
/// Inside, a place on a stack is the negative of its distance from the top, so that here, too, what
/// follows in memory has a higher number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HotSet {
    ranges: Vec<HotRange>,
}

impl HotSet {
    /// The set of what is in any of these.
    pub(crate) fn new(ranges: Vec<HotRange>) -> Self {
        let mut ranges: Vec<HotRange> = ranges.into_iter().filter(|range| range.len > 0).map(turned).collect();
        ranges.sort_unstable();
        let mut merged: Vec<HotRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match merged.last_mut() {
                Some(last)
                    if (last.space, last.number) == (range.space, range.number)
                        && range.offset - last.offset <= last.len =>
                {
                    last.len = last.len.max((range.offset - last.offset).saturating_add(range.len));
                }
                _ => merged.push(range),
            }
        }
        HotSet { ranges: merged }
    }

    /// Whether the cell that begins at a place is in it.
    pub(crate) fn contains(&self, place: HotRange) -> bool {
        let HotRange { space, number, offset, .. } = turned(place);
        let after =
            self.ranges.partition_point(|range| (range.space, range.number, range.offset) <= (space, number, offset));
        after.checked_sub(1).is_some_and(|last| {
            let range = &self.ranges[last];
            (range.space, range.number) == (space, number) && offset - range.offset < range.len
        })
    }

    /// Whether anything in the block with this number is in it.
    pub(crate) fn has_block(&self, number: u64) -> bool {
        let key = (Space::Heap as u8, number);
        let from = self.ranges.partition_point(|range| (range.space, range.number) < key);
        self.ranges.get(from).is_some_and(|range| (range.space, range.number) == key)
    }

    /// As the runtime wants them: sorted.
    pub(crate) fn to_ranges(&self) -> Vec<HotRange> {
        let mut ranges: Vec<HotRange> = self.ranges.iter().copied().map(turned).collect();
        ranges.sort_unstable();
        ranges
    }
}

/// Turns distances on stacks into places, and back.
fn turned(range: HotRange) -> HotRange {
    let is_stack = range.space == Space::Stack as u8;
    HotRange { offset: if is_stack { range.offset.wrapping_neg() } else { range.offset }, ..range }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bytes of a range as the runtime understands it, for a stack that begins at 1000.
    fn bytes(range: &HotRange) -> impl Iterator<Item = (u8, u64, u64)> + use<> {
        let HotRange { space, number, offset, len } = *range;
        let first = if space == Space::Stack as u8 { 1000 - offset } else { offset };
        (first..first + len).map(move |byte| (space, number, byte))
    }

    proptest! {
        #[test]
        fn it_holds_what_was_put_in(
            ranges in prop::collection::vec((0..3_u8, 0..2_u64, 10..40_u64, 0..9_u64), 0..12),
        ) {
            let ranges: Vec<HotRange> = ranges
                .into_iter()
                .map(|(space, number, offset, len)| HotRange { space, number, offset, len })
                .collect();
            let set = HotSet::new(ranges.clone());
            let all = |ranges: &[HotRange]| {
                let mut all: Vec<_> = ranges.iter().flat_map(bytes).collect();
                all.sort_unstable();
                let len = all.len();
                all.dedup();
                let is_disjoint = all.len() == len;
                (all, is_disjoint)
            };
            let merged = set.to_ranges();
            prop_assert!(merged.is_sorted());
            let (expected, _) = all(&ranges);
            prop_assert_eq!(all(&merged), (expected.clone(), true));
            prop_assert_eq!(&HotSet::new(merged), &set);
            for (space, number) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
                for offset in 0..60 {
                    let place = HotRange { space, number, offset, len: 1 };
                    let byte = bytes(&place).next().expect("one");
                    prop_assert_eq!(set.contains(place), expected.binary_search(&byte).is_ok());
                }
                let has_block = ranges.iter().any(|range| (range.space, range.number) == (1, number) && range.len > 0);
                prop_assert_eq!(set.has_block(number), has_block);
            }
        }
    }
}
