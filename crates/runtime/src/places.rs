//! Which part of the address space is a thread's own: its stack and what it allocates lie there.
//!
//! A thread's *place* is told by where it is in the tree of forks, so that it is the same in every run in which it
//! comes into being, whenever that is: the children of the first thread have places in the order in which they
//! are made, all others by a hash. Two that meet in one place are told apart by which came first; with a hundred
//! of those others that happens in half of all programs, with twenty in one of forty.
//!
//! Places are not given twice. Threads for which there is none left share what is left over.

use crate::thread::{Guarded, Thread};

/// How many there are.
pub(crate) const PLACES: usize = 1 << 14;
/// The first thread's, and those of its children.
const DIRECT: usize = PLACES / 2;
/// How many places are tried for one who finds his taken.
const TRIES: usize = 64;

/// Where a thread is in the tree of forks, and in memory.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    /// A hash of the way down to it; 0 is the first thread's.
    lineage: u64,
    /// Which part of memory is its own; 0 for the first thread, and for those that have none.
    number: u16,
}

/// Which are taken, as bits. Guarded by the token.
static TAKEN: Guarded<[u64; PLACES / 64]> = Guarded::new([0; PLACES / 64]);

impl Place {
    /// Its number; `None` if it is none of its own.
    pub(crate) fn number(self) -> Option<usize> {
        (self.number != 0 || self.lineage == 0).then_some(usize::from(self.number))
    }

    /// The place of the next thread that this one makes.
    pub(crate) unsafe fn of_child(parent: &Thread) -> Place {
        let child = parent.children as usize + 1;
        let lineage = mixed(parent.place.lineage ^ mixed(child as u64)) | 1;
        // SAFETY: the caller has the token.
        let taken = unsafe { TAKEN.get() };
        let first = if parent.place.lineage == 0 && child < DIRECT {
            child
        } else {
            DIRECT + lineage as usize % (PLACES - DIRECT)
        };
        let free = (first..PLACES).take(TRIES).find(|number| taken[number / 64] & 1 << (number % 64) == 0);
        if let Some(number) = free {
            taken[number / 64] |= 1 << (number % 64);
        }
        Place { lineage, number: free.unwrap_or(0) as u16 }
    }

    /// Gives back the place of a thread that never was.
    pub(crate) unsafe fn give_back(self) {
        let number = usize::from(self.number);
        // SAFETY: the caller has the token.
        let taken = unsafe { TAKEN.get() };
        taken[number / 64] &= !(1 << (number % 64));
    }
}

/// The mixing of SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
