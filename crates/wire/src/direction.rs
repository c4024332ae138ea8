//! Who is to run until what, told by what threads do rather than by how many steps they take.
//!
//! A run that takes another path than the one that was recorded takes other numbers of steps, and makes its
//! threads in another order. So a turn here ends with something that the thread logs, and a thread goes by its
//! place in the tree of forks, which has a number in the table of births.

use crate::record::Kind;

/// What is in the shared file beside the settings: where the directions and the births are.
///
/// It lies at [`GUIDANCE_AT`](crate::GUIDANCE_AT); all zero if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guidance {
    /// Where the directions begin ([`Direction`]).
    pub directions_at: u64,
    /// How many there are.
    pub directions: u64,
    /// Where the births begin ([`Birth`]), sorted.
    pub births_at: u64,
    /// How many there are.
    pub births: u64,
}

/// Its length in bytes.
pub const GUIDANCE_LEN: usize = 32;

impl Guidance {
    /// As it is in the shared file.
    pub fn to_bytes(self) -> [u8; GUIDANCE_LEN] {
        bytes_of([self.directions_at, self.directions, self.births_at, self.births])
    }

    /// What is written like this.
    pub const fn from_words([directions_at, directions, births_at, births]: [u64; 4]) -> Self {
        Guidance { directions_at, directions, births_at, births }
    }
}

/// One turn of a directed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Direction {
    /// Who runs.
    pub thread: u32,
    /// Until when.
    pub until: Until,
    /// It waits on a condition before, and nobody is to wake it: its time will be up.
    pub unwoken: bool,
    /// About how many records it logs. One that logs far more, or gives way far more often, does not get there.
    pub records: u32,
}

/// When a turn of a directed run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Until {
    /// When the thread has logged a record of this kind from this place, for this many times in the turn.
    ///
    /// A plain write counts when it is announced, just before it is done.
    Done {
        /// The record's kind.
        kind: Kind,
        /// Its `pc`, of which 48 bits matter.
        pc: u64,
        /// How often, at least once.
        times: u32,
    },
    /// When the thread has ended.
    Ended,
}

/// The length of a direction in bytes.
pub const DIRECTION_LEN: usize = 24;
const DONE: u8 = 1;
const ENDED: u8 = 2;

impl Direction {
    /// As it is in the shared file.
    pub fn to_bytes(self) -> [u8; DIRECTION_LEN] {
        let (code, kind, pc, times) = match self.until {
            Until::Done { kind, pc, times } => (DONE, kind as u8, pc, times),
            Until::Ended => (ENDED, 0, 0, 0),
        };
        let head =
            u64::from(code) | u64::from(kind) << 8 | u64::from(self.unwoken) << 16 | u64::from(self.thread) << 32;
        bytes_of([head, pc, u64::from(times) | u64::from(self.records) << 32])
    }

    /// The direction that is written like this.
    pub fn from_words([head, pc, counts]: [u64; 3]) -> Option<Self> {
        let until = match (head as u8, counts as u32) {
            (DONE, times @ 1..) => Until::Done { kind: Kind::from_code((head >> 8) as u8)?, pc, times },
            (ENDED, 0) => Until::Ended,
            _ => return None,
        };
        let (thread, records) = ((head >> 32) as u32, (counts >> 32) as u32);
        Some(Direction { thread, until, unwoken: head >> 16 & 1 != 0, records })
    }
}

/// The number that a thread gets, whenever it comes into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Birth {
    /// The number of the thread that makes it.
    pub parent: u32,
    /// How many that has made before.
    pub children_before: u32,
    /// Its number.
    pub number: u32,
}

/// The length of a birth in bytes.
pub const BIRTH_LEN: usize = 16;

impl Birth {
    /// As it is in the shared file. The first word is what births are sorted by.
    pub fn to_bytes(self) -> [u8; BIRTH_LEN] {
        bytes_of([Birth::key(self.parent, self.children_before), u64::from(self.number)])
    }

    /// The first word of the birth of a parent's child.
    pub const fn key(parent: u32, children_before: u32) -> u64 {
        (parent as u64) << 32 | children_before as u64
    }

    /// The birth that is written like this.
    pub const fn from_words([key, number]: [u64; 2]) -> Self {
        Birth { parent: (key >> 32) as u32, children_before: key as u32, number: number as u32 }
    }
}

fn bytes_of<const WORDS: usize, const BYTES: usize>(words: [u64; WORDS]) -> [u8; BYTES] {
    const { assert!(BYTES == WORDS * 8, "words of eight bytes") };
    let mut bytes = [0; BYTES];
    for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<const WORDS: usize>(bytes: &[u8]) -> [u64; WORDS] {
        let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        words.try_into().expect("so many words")
    }

    #[test]
    fn directions_survive() {
        for &kind in Kind::ALL {
            for unwoken in [false, true] {
                let until = Until::Done { kind, pc: (1 << 48) - 1, times: u32::MAX };
                for until in [until, Until::Ended] {
                    let direction = Direction { thread: u32::MAX - 1, until, unwoken, records: u32::MAX };
                    assert_eq!(Direction::from_words(words(&direction.to_bytes())), Some(direction));
                }
            }
        }
        for nonsense in [[0, 0, 0], [0xff01, 0, 1], [0x0201, 0, 0], [0x0201, 0, 1 << 32], [2, 0, 1]] {
            assert_eq!(Direction::from_words(nonsense), None);
        }
    }

    #[test]
    fn births_survive_and_sort_by_their_first_word() {
        let births = [(0, 0, 1), (0, u32::MAX, 9), (1, 0, 2), (u32::MAX, 7, u32::MAX)];
        let births = births.map(|(parent, children_before, number)| Birth { parent, children_before, number });
        assert!(births.is_sorted());
        assert!(births.map(|birth| words::<2>(&birth.to_bytes())[0]).is_sorted());
        for birth in births {
            assert_eq!(Birth::from_words(words(&birth.to_bytes())), birth);
        }
    }

    #[test]
    fn guidance_survives() {
        let guidance = Guidance { directions_at: 1, directions: 2, births_at: 3, births: 4 };
        assert_eq!(Guidance::from_words(words(&guidance.to_bytes())), guidance);
        assert_eq!(Guidance::from_words([0; 4]), Guidance::default());
    }
}
