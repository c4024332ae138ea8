//! Which events touch memory, and which three accesses are a violation.

use interloper_trace::{LocationId, Op};

/// How an event touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// A load, or a compare-and-swap that failed.
    Read,
    /// A store.
    Write,
    /// A read-modify-write that wrote: both, in one step.
    ReadWrite,
}

impl AccessKind {
    /// Whether it reads.
    #[inline]
    pub const fn reads(self) -> bool {
        matches!(self, AccessKind::Read | AccessKind::ReadWrite)
    }

    /// Whether it writes.
    #[inline]
    pub const fn writes(self) -> bool {
        matches!(self, AccessKind::Write | AccessKind::ReadWrite)
    }

    /// The word for it in results.
    pub const fn name(self) -> &'static str {
        match self {
            AccessKind::Read => "r",
            AccessKind::Write => "w",
            AccessKind::ReadWrite => "rw",
        }
    }
}

/// What an event accesses, if anything.
///
/// Locations are told apart by identity: two accesses that overlap in part are accesses of two
/// locations here. Traces in which that happens must be split by bytes first.
#[inline]
pub fn access_of(op: &Op) -> Option<(LocationId, AccessKind)> {
    match op {
        Op::Read(access) => Some((access.location, AccessKind::Read)),
        Op::Write(access) => Some((access.location, AccessKind::Write)),
        Op::ReadModifyWrite(rmw) if rmw.success => Some((rmw.location, AccessKind::ReadWrite)),
        Op::ReadModifyWrite(rmw) => Some((rmw.location, AccessKind::Read)),
        _ => None,
    }
}

/// The three-access patterns that no serial order explains: local, remote, local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// Two reads see different values.
    Rwr,
    /// A read is out of date when its write comes.
    Rww,
    /// An intermediate value is seen.
    Wrw,
    /// A write is lost before it is read back.
    Wwr,
    /// A write is lost between two.
    Www,
}

impl Pattern {
    /// All five.
    pub const ALL: [Pattern; 5] = [Pattern::Rwr, Pattern::Rww, Pattern::Wrw, Pattern::Wwr, Pattern::Www];

    /// The first pattern that three accesses fit; a read-modify-write fits as either of its halves.
    pub fn of(first: AccessKind, remote: AccessKind, second: AccessKind) -> Option<Pattern> {
        Self::ALL.into_iter().find(|pattern| pattern.fits(first, remote, second))
    }

    /// Whether three accesses fit this pattern.
    pub fn fits(self, first: AccessKind, remote: AccessKind, second: AccessKind) -> bool {
        let [a, b, c] = self.writes();
        let fit = |kind: AccessKind, write: bool| if write { kind.writes() } else { kind.reads() };
        fit(first, a) && fit(remote, b) && fit(second, c)
    }

    const fn writes(self) -> [bool; 3] {
        match self {
            Pattern::Rwr => [false, true, false],
            Pattern::Rww => [false, true, true],
            Pattern::Wrw => [true, false, true],
            Pattern::Wwr => [true, true, false],
            Pattern::Www => [true, true, true],
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Pattern::Rwr => "RWR",
            Pattern::Rww => "RWW",
            Pattern::Wrw => "WRW",
            Pattern::Wwr => "WWR",
            Pattern::Www => "WWW",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessKind, Pattern};
    use AccessKind::{Read, ReadWrite, Write};

    /// The three serializable combinations fit nothing, the five others themselves.
    #[test]
    fn five_of_eight_combinations_are_patterns() {
        let name = |a, b, c| Pattern::of(a, b, c).map(Pattern::name);
        assert_eq!(name(Read, Read, Read), None);
        assert_eq!(name(Read, Read, Write), None);
        assert_eq!(name(Write, Read, Read), None);
        assert_eq!(name(Read, Write, Read), Some("RWR"));
        assert_eq!(name(Read, Write, Write), Some("RWW"));
        assert_eq!(name(Write, Read, Write), Some("WRW"));
        assert_eq!(name(Write, Write, Read), Some("WWR"));
        assert_eq!(name(Write, Write, Write), Some("WWW"));
    }

    #[test]
    fn a_read_modify_write_fits_as_either_half() {
        assert_eq!(Pattern::of(ReadWrite, Write, Read), Some(Pattern::Rwr));
        assert_eq!(Pattern::of(ReadWrite, Read, ReadWrite), Some(Pattern::Wrw));
        assert_eq!(Pattern::of(Read, Read, ReadWrite), None);
        assert!(Pattern::Wrw.fits(ReadWrite, ReadWrite, ReadWrite));
    }
}
