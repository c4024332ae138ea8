//! The schedule a run follows, and the locations it logs.

use crate::settings::coded;

coded! {
    /// How a thread's turn ended.
    SegmentEnd {
        /// The scheduler's choice, between two steps.
        Preempted = 0,
        /// It waits for another thread, or for a time.
        Blocked = 1,
        /// It left for a system call, and runs outside until that returns.
        Outside = 2,
        /// It ended.
        Finished = 3,
        /// It gave way by itself (`sched_yield`, or it was found spinning).
        Yielded = 4,
    }
}

/// One turn of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlanEntry {
    /// A thread takes this many steps.
    ///
    /// A thread that waits for a time, and is not woken by another, finds the time come.
    Run {
        /// Which, in the order of creation.
        thread: u32,
        /// How many.
        steps: u64,
        /// How its turn ends.
        end: SegmentEnd,
    },
    /// The virtual clock moves on while every thread is outside.
    Advance {
        /// By how many nanoseconds.
        nanoseconds: u64,
    },
}

/// The length of an entry in bytes.
pub const PLAN_ENTRY_LEN: usize = 16;
const ADVANCE: u8 = 0xff;

impl PlanEntry {
    /// As it is in the shared file.
    pub fn to_bytes(self) -> [u8; PLAN_ENTRY_LEN] {
        let (head, tail) = match self {
            PlanEntry::Run { thread, steps, end } => (u64::from(thread) << 8 | end as u64, steps),
            PlanEntry::Advance { nanoseconds } => (u64::from(ADVANCE), nanoseconds),
        };
        let mut bytes = [0; PLAN_ENTRY_LEN];
        bytes[..8].copy_from_slice(&head.to_le_bytes());
        bytes[8..].copy_from_slice(&tail.to_le_bytes());
        bytes
    }

    /// The entry that is written like this.
    pub fn from_words(head: u64, tail: u64) -> Option<Self> {
        if head == u64::from(ADVANCE) {
            return Some(PlanEntry::Advance { nanoseconds: tail });
        }
        let end = SegmentEnd::from_code(head as u8)?;
        Some(PlanEntry::Run { thread: u32::try_from(head >> 8).ok()?, steps: tail, end })
    }
}

coded! {
    /// Where a location is, in terms that survive another run of the same schedule.
    Space {
        /// Static memory: offset is the address, the program being loaded where it was.
        Static = 0,
        /// A block of the heap or a mapping: its number, and the offset in it. The number is made of that of
        /// the thread that allocated it, above [`BLOCK_BITS`] bits for how many it had allocated before.
        Heap = 1,
        /// A thread's stack: its number, and the distance down from the stack's beginning.
        Stack = 2,
    }
}

/// How many bits of a block's number count the blocks of one thread.
pub const BLOCK_BITS: u32 = 44;

/// Some bytes that two threads touch, one of them writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HotRange {
    /// [`Space`], as its code.
    pub space: u8,
    /// The number of the block or thread; 0 for static memory.
    pub number: u64,
    /// Where they begin.
    pub offset: u64,
    /// How many there are.
    pub len: u64,
}

/// The length of an entry in bytes.
pub const HOT_ENTRY_LEN: usize = 32;

impl HotRange {
    /// As it is in the shared file.
    pub fn to_bytes(self) -> [u8; HOT_ENTRY_LEN] {
        let mut bytes = [0; HOT_ENTRY_LEN];
        for (slot, word) in bytes.chunks_exact_mut(8).zip([u64::from(self.space), self.number, self.offset, self.len]) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The entry that is written like this.
    pub fn from_words(words: [u64; 4]) -> Option<Self> {
        let space = Space::from_code(u8::try_from(words[0]).ok()?)? as u8;
        Some(HotRange { space, number: words[1], offset: words[2], len: words[3] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<u64> {
        bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }

    #[test]
    fn entries_survive() {
        for &end in SegmentEnd::ALL {
            let entry = PlanEntry::Run { thread: u32::MAX, steps: u64::MAX, end };
            let words = words(&entry.to_bytes());
            assert_eq!(PlanEntry::from_words(words[0], words[1]), Some(entry));
        }
        let entry = PlanEntry::Advance { nanoseconds: 12 };
        let words = words(&entry.to_bytes());
        assert_eq!(PlanEntry::from_words(words[0], words[1]), Some(entry));
        assert_eq!(PlanEntry::from_words(0x77, 0), None);
    }

    #[test]
    fn hot_ranges_survive() {
        for &space in Space::ALL {
            let range = HotRange { space: space as u8, number: 3, offset: 16, len: 8 };
            let words: [u64; 4] = words(&range.to_bytes()).try_into().expect("four words");
            assert_eq!(HotRange::from_words(words), Some(range));
        }
    }
}
