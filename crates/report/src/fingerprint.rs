//! Ids of findings: the same for the same finding, run after run.

use rustc_hash::FxHashMap;

/// Gives out ids made of what a finding is about, never of addresses or positions.
///
/// Findings that agree in all of that are told apart by how many came before, so the ids of a
/// result are unique as long as 64 bits do not collide.
#[derive(Debug, Default)]
pub struct Fingerprints {
    seen: FxHashMap<u64, u64>,
}

impl Fingerprints {
    /// The id of the next finding about these things.
    pub(crate) fn next(&mut self, parts: &[&str]) -> String {
        let base = parts.iter().fold(Fnv::new(), |hash, part| hash.text(part));
        let ordinal = self.seen.entry(base.0).or_default();
        let id = base.number(*ordinal);
        *ordinal += 1;
        format!("{:016x}", id.0)
    }
}

/// FNV-1a, 64 bits: fixed for ever, so that ids in suppression files and baselines stay valid.
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn byte(self, byte: u8) -> Self {
        Fnv((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    /// The text and an end mark, which no text contains: parts cannot run into each other.
    fn text(self, text: &str) -> Self {
        text.bytes().fold(self, Fnv::byte).byte(0xff)
    }

    fn number(self, number: u64) -> Self {
        number.to_le_bytes().into_iter().fold(self, Fnv::byte)
    }
}

#[cfg(test)]
mod tests {
    use super::Fingerprints;

    /// Pinned: a change would orphan every id that users have written down.
    #[test]
    fn ids_are_stable_and_unique() {
        let mut ids = Fingerprints::default();
        assert_eq!(ids.next(&["RWR", "a"]), "56775b21a12160f5");
        assert_ne!(ids.next(&["RWR", "a"]), "56775b21a12160f5");
        assert_ne!(Fingerprints::default().next(&["RW", "Ra"]), "56775b21a12160f5");
    }
}
