//! The slow and obvious way: try every order and every assignment.

use super::bits::cut;
use super::{Formula, Interpretation, Said};

/// Is there a model of what was said, and of the assumptions?
pub fn is_satisfiable(said: &Said<'_>, assumed: &[&Formula]) -> bool {
    let mut positions: Vec<usize> = (0..said.nodes).collect();
    let vectors = said.width * said.vectors as u32;
    any_permutation(&mut positions, 0, &mut |positions| {
        (0..1_u64 << (said.booleans as u32 + vectors)).any(|bits| {
            let tried = Tried { positions, bits, said };
            said.holds(&tried) && assumed.iter().all(|formula| formula.holds(&tried))
        })
    })
}

struct Tried<'a> {
    positions: &'a [usize],
    /// The booleans, and above them the vectors.
    bits: u64,
    said: &'a Said<'a>,
}

impl Interpretation for Tried<'_> {
    fn boolean(&self, index: usize) -> bool {
        self.bits >> index & 1 == 1
    }

    fn before(&self, a: usize, b: usize) -> bool {
        self.positions[a] < self.positions[b]
    }

    fn vector(&self, index: usize) -> u64 {
        cut(self.said.width, self.bits >> self.said.booleans >> (index as u32 * self.said.width))
    }

    fn width(&self) -> u32 {
        self.said.width
    }
}

fn any_permutation(items: &mut [usize], fixed: usize, accept: &mut impl FnMut(&[usize]) -> bool) -> bool {
    if fixed == items.len() {
        return accept(items);
    }
    for place in fixed..items.len() {
        items.swap(fixed, place);
        let accepted = any_permutation(items, fixed + 1, accept);
        items.swap(fixed, place);
        if accepted {
            return true;
        }
    }
    false
}
