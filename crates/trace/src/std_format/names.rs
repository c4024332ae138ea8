//! From a name's bytes to its id, fast: most lines name what an earlier line named.

use super::line::ShortName;
use rustc_hash::FxHashMap;

/// A memo of the ids of one name space.
///
/// Short names are first looked up in a small direct-mapped cache, which is a multiplication and
/// one compare; then in a map. Long ones have a map of their own.
pub(super) struct NameCache {
    recent: Box<[(u64, u32); Self::RECENT]>,
    short: FxHashMap<u64, u32>,
    long: FxHashMap<Box<[u8]>, u32>,
}

impl NameCache {
    const RECENT_BITS: u32 = 13;
    const RECENT: usize = 1 << Self::RECENT_BITS;

    pub(super) fn new() -> Self {
        // The word zero is no name: every name has its length in the top byte.
        NameCache { recent: Box::new([(0, 0); Self::RECENT]), short: FxHashMap::default(), long: FxHashMap::default() }
    }

    /// The id of a short name seen before.
    #[inline]
    pub(super) fn get_short(&mut self, name: ShortName) -> Option<u32> {
        let slot = &mut self.recent[Self::slot(name)];
        if slot.0 == name.word() {
            return Some(slot.1);
        }
        let id = *self.short.get(&name.word())?;
        *slot = (name.word(), id);
        Some(id)
    }

    /// The id of any name seen before.
    pub(super) fn get(&mut self, name: &[u8]) -> Option<u32> {
        match ShortName::of_bytes(name) {
            Some(short) => self.get_short(short),
            None => self.long.get(name).copied(),
        }
    }

    /// Remembers a name's id.
    pub(super) fn insert(&mut self, name: &[u8], id: u32) {
        match ShortName::of_bytes(name) {
            Some(short) => {
                self.recent[Self::slot(short)] = (short.word(), id);
                self.short.insert(short.word(), id);
            }
            None => {
                self.long.insert(name.into(), id);
            }
        }
    }

    #[inline]
    fn slot(name: ShortName) -> usize {
        // Fibonacci hashing: the top bits of the product depend on all bytes of the word.
        (name.word().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Self::RECENT_BITS)) as usize
    }
}
