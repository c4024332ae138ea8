//! Numbers of variable length, and reading them off a slice.
//!
//! A varint is unsigned LEB128 of at most 64 bits: seven bits to a byte, the low ones first, the
//! high bit set on all bytes but the last. Differences are zigzag-coded first, so that small ones
//! of either sign are short; those of ids are taken modulo 2³², so that none can overflow.

use super::Defect;

/// The longest varint: ⌈64 / 7⌉ bytes.
const LONGEST: usize = 10;

/// Appends a varint.
#[inline]
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the difference of two ids.
#[inline]
pub(super) fn put_delta(out: &mut Vec<u8>, id: u32, previous: u32) {
    put(out, u64::from(zigzag(id.wrapping_sub(previous))));
}

/// Appends a signed number.
pub(super) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, (number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned());
}

/// Undoes [`put_delta`].
#[inline]
pub(super) fn apply_delta(zigzag: u32, previous: u32) -> u32 {
    previous.wrapping_add((zigzag >> 1) ^ (zigzag & 1).wrapping_neg())
}

#[inline]
fn zigzag(difference: u32) -> u32 {
    (difference << 1) ^ (difference.cast_signed() >> 31).cast_unsigned()
}

/// A slice being read from its front. What is asked for is named, so that errors can name it.
#[derive(Debug)]
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
    /// What ends where the slice ends, for errors.
    whole: &'static str,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8], whole: &'static str) -> Self {
        Bytes { rest: bytes, whole }
    }

    /// How many bytes remain.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    /// The next `count` bytes.
    #[inline]
    pub(super) fn take(&mut self, count: u64, what: &str) -> Result<&'a [u8], Defect> {
        let split = usize::try_from(count).ok().and_then(|count| self.rest.split_at_checked(count));
        let Some((taken, rest)) = split else { return Err(self.cut(what)) };
        self.rest = rest;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Defect> {
        let Some((taken, rest)) = self.rest.split_first_chunk() else { return Err(self.cut(what)) };
        self.rest = rest;
        Ok(*taken)
    }

    /// One byte.
    #[inline]
    pub(super) fn byte(&mut self, what: &str) -> Result<u8, Defect> {
        let Some((&byte, rest)) = self.rest.split_first() else { return Err(self.cut(what)) };
        self.rest = rest;
        Ok(byte)
    }

    /// A varint.
    #[inline]
    pub(super) fn varint(&mut self, what: &str) -> Result<u64, Defect> {
        match self.rest.split_first() {
            Some((&byte, rest)) if byte < 0x80 => {
                self.rest = rest;
                Ok(u64::from(byte))
            }
            _ => self.long_varint(what),
        }
    }

    fn long_varint(&mut self, what: &str) -> Result<u64, Defect> {
        let mut number = 0;
        for position in 0..LONGEST {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 0x7f);
            let shift = 7 * position;
            number |= bits << shift;
            if (number >> shift) != bits {
                break; // The tenth byte has room for one bit only.
            }
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Defect::new(format!("a number of more than 64 bits as {what}"), "at most 64 bits"))
    }

    /// A varint of at most 32 bits.
    #[inline]
    pub(super) fn varint32(&mut self, what: &str) -> Result<u32, Defect> {
        let number = self.varint(what)?;
        u32::try_from(number).map_err(|_| Defect::new(format!("{number} as {what}"), "a number of at most 32 bits"))
    }

    /// A signed number.
    pub(super) fn signed(&mut self, what: &str) -> Result<i64, Defect> {
        let zigzag = self.varint(what)?;
        Ok(((zigzag >> 1) ^ (zigzag & 1).wrapping_neg()).cast_signed())
    }

    /// An id relative to another.
    #[inline]
    pub(super) fn delta(&mut self, previous: u32, what: &str) -> Result<u32, Defect> {
        Ok(apply_delta(self.varint32(what)?, previous))
    }

    /// An id of a table with `limit` entries.
    #[inline]
    pub(super) fn id(&mut self, limit: u64, what: &str) -> Result<u32, Defect> {
        let number = self.varint(what)?;
        match u32::try_from(number) {
            Ok(id) if number < limit => Ok(id),
            _ => Err(out_of_table(number, limit, what)),
        }
    }

    #[cold]
    fn cut(&self, what: &str) -> Defect {
        Defect::new(format!("the end of the {}", self.whole), format!("more of it: {what} is missing or cut off"))
    }
}

/// An id that its table does not have.
#[cold]
pub(super) fn out_of_table(number: u64, limit: u64, what: &str) -> Defect {
    Defect::new(format!("{what} {number}"), format!("one of the {limit} that the tables have so far, counted from 0"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<(u64, usize), Defect> {
        let mut input = Bytes::new(bytes, "test");
        input.varint("number").map(|number| (number, bytes.len() - input.len()))
    }

    #[test]
    fn varints_round_trip_at_every_length() {
        for bits in 0..64 {
            for number in [(1u64 << bits) - 1, 1 << bits, (1 << bits) | 1, u64::MAX >> bits] {
                let mut out = Vec::new();
                put(&mut out, number);
                assert_eq!(read(&out).unwrap(), (number, out.len()));
                assert_eq!(out.len(), (64 - number.leading_zeros() as usize).div_ceil(7).max(1));
            }
        }
    }

    #[test]
    fn numbers_that_do_not_fit_or_end_are_refused() {
        assert!(read(&[]).is_err());
        assert!(read(&[0x80]).is_err());
        assert!(read(&[0xff; 9]).is_err());
        assert!(read(&[0xff; 12]).is_err());
        let largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(read(&largest).unwrap(), (u64::MAX, 10));
        let larger = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert!(read(&larger).is_err());
        // Longer than need be is allowed: a recorder may leave room and fill it in later.
        assert_eq!(read(&[0x85, 0x80, 0x00]).unwrap(), (5, 3));
    }

    #[test]
    fn differences_round_trip_and_small_ones_are_short() {
        let ids = [0, 1, 2, 63, 64, 65, 1000, 1 << 31, (1 << 31) + 1, u32::MAX - 1, u32::MAX];
        for id in ids {
            for previous in ids {
                let mut out = Vec::new();
                put_delta(&mut out, id, previous);
                assert_eq!(Bytes::new(&out, "test").delta(previous, "id").unwrap(), id);
                if (-64..64).contains(&(i64::from(id) - i64::from(previous))) {
                    assert_eq!(out.len(), 1);
                }
            }
        }
    }

    #[test]
    fn signed_numbers_round_trip() {
        for number in [0, 1, -1, 63, -64, 64, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            put_signed(&mut out, number);
            assert_eq!(Bytes::new(&out, "test").signed("number").unwrap(), number);
        }
    }
}
