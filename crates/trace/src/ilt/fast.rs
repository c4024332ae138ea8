//! Reading the events that are most of a trace, plain accesses, lock operations and the edges of
//! annotated regions, quickly.
//!
//! Threads take turns at random, so a branch on whether an access reads or writes, or on how long a
//! difference is, would be mispredicted all the time, and that costs more than everything else
//! here: such things are computed. Whatever is unusual or wrong is left to `decode`, which reads
//! the event again from its start.

use super::tags;
use super::varint::apply_delta;
use super::{Limits, Previous};
use crate::event::{Access, Attempt, Event, LockMode, MemoryOrder, Op, Region, RegionSource, Value};
use crate::ids::{LocationId, LockId, SiteId, ThreadId};

/// How many bytes must be there to look at, though some may belong to something else.
pub(super) const WINDOW: usize = 32;

/// What ids must be below, in the form in which that is checked fastest.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastLimits {
    locations: u64,
    locks: u64,
    /// Sites from here on up to the bare lines do not exist.
    first_bad_site: u32,
    bad_sites: u32,
}

impl FastLimits {
    pub(super) fn new(limits: &Limits) -> Self {
        const BARE_LINES: u32 = 1 << 31;
        let first_bad_site = u32::try_from(limits.sites).unwrap_or(BARE_LINES).min(BARE_LINES);
        let bad_sites = BARE_LINES - first_bad_site;
        FastLimits { locations: limits.locations, locks: limits.locks, first_bad_site, bad_sites }
    }

    #[inline(always)]
    fn has_site(&self, site: u32) -> bool {
        site.wrapping_sub(self.first_bad_site) >= self.bad_sites
    }
}

/// Reads the event at the start of the window into `out` and tells its length, if it is of a frequent kind and
/// form. If it is not, `previous` and `out` stay as they were.
#[inline(always)]
pub(super) fn event(
    window: &[u8; WINDOW],
    thread: ThreadId,
    previous: &mut Previous,
    limits: &FastLimits,
    out: &mut Event,
) -> Option<usize> {
    match bare_event(load(window, 0), thread, previous, limits, out) {
        Some(length) => Some(length),
        None => longer_event(window, thread, previous, limits, out),
    }
}

/// Events with numbers of any length, sizes and values.
#[inline(never)] // It would leave no registers to the loop that reads the others.
fn longer_event(
    window: &[u8; WINDOW],
    thread: ThreadId,
    previous: &mut Previous,
    limits: &FastLimits,
    out: &mut Event,
) -> Option<usize> {
    let tag = window[0];
    let (site_zigzag, site_len) = short_varint(load(window, 1) as u32);
    let site = apply_delta(site_zigzag, previous.site);
    if site_len > 4 || !limits.has_site(site) {
        return None;
    }
    let rest = 1 + site_len;
    let (op, length) = if tag < tags::ATOMIC {
        access(window, tag, rest, &mut previous.location, limits)?
    } else if tag < tags::REGION_BEGIN_ANNOTATED {
        lock_operation(window, tag, rest, limits)?
    } else {
        region_edge(window, tag, rest)?
    };
    previous.site = site;
    *out = Event { thread, site: SiteId::from_raw(site), op };
    Some(length)
}

/// The shortest events: what STD can say, with numbers of one or two bytes.
///
/// Each kind writes its event by itself: brought together first, events are copied in a dozen pieces.
#[inline(always)]
fn bare_event(
    bytes: u64,
    thread: ThreadId,
    previous: &mut Previous,
    limits: &FastLimits,
    out: &mut Event,
) -> Option<usize> {
    let tag = bytes as u8;
    let (site_zigzag, site_len, site_is_longer) = tiny_varint(bytes >> 8);
    let (operand, operand_len, operand_is_longer) = tiny_varint(bytes >> (8 + 8 * site_len));
    let site = apply_delta(site_zigzag, previous.site);
    if site_is_longer | operand_is_longer | !limits.has_site(site) {
        return None;
    }
    let event = |op| Event { thread, site: SiteId::from_raw(site), op };
    if tag & !tags::IS_WRITE == 0 {
        let location = apply_delta(operand, previous.location);
        if u64::from(location) >= limits.locations {
            return None;
        }
        previous.location = location;
        let access = Access::bare(LocationId::new(location));
        *out = event(if tag & tags::IS_WRITE != 0 { Op::Write(access) } else { Op::Read(access) });
    } else {
        let lock = LockId::new(operand);
        let is_lock = u64::from(operand) < limits.locks;
        match tag {
            tags::ACQUIRE_EXCLUSIVE if is_lock => {
                *out = event(Op::Acquire { lock, mode: LockMode::Exclusive, by: Attempt::Blocking });
            }
            tags::RELEASE_EXCLUSIVE if is_lock => *out = event(Op::Release { lock, mode: LockMode::Exclusive }),
            tags::REGION_BEGIN_ANNOTATED if operand == 0 => *out = event(REGION_BEGIN),
            tags::REGION_END_ANNOTATED if operand == 0 => *out = event(REGION_END),
            _ => return None,
        }
    }
    previous.site = site;
    Some((1 + site_len + operand_len) as usize)
}

#[inline(always)]
fn access(window: &[u8; WINDOW], tag: u8, rest: usize, previous: &mut u32, limits: &FastLimits) -> Option<(Op, usize)> {
    let size_code = usize::from(tag & tags::SIZE_CODE);
    let (zigzag, location_len) = short_varint(load(window, rest) as u32);
    let location = apply_delta(zigzag, *previous);
    let is_usual = (size_code < tags::SIZES.len()) & (location_len <= 4) & (u64::from(location) < limits.locations);
    if !is_usual {
        return None;
    }
    let mut length = rest + location_len;
    let mut value = Value::UNKNOWN;
    if tag & tags::HAS_VALUE != 0 {
        let bytes = load(window, length);
        let (short, short_len) = short_varint(bytes as u32);
        let (mut bits, mut value_len) = (u64::from(short), short_len);
        if short_len > 4 {
            (bits, value_len) = long_varint(bytes)?;
        }
        if bits & TOO_BIG[size_code] != 0 {
            return None;
        }
        value = Value::known(bits);
        length += value_len;
    }
    *previous = location;
    let access = Access {
        location: LocationId::new(location),
        size: SIZES[size_code],
        order: MemoryOrder::Plain,
        more: tag & tags::PLAIN_MORE != 0,
        value,
    };
    Some((if tag & tags::IS_WRITE != 0 { Op::Write(access) } else { Op::Read(access) }, length))
}

#[inline(always)]
fn lock_operation(window: &[u8; WINDOW], tag: u8, rest: usize, limits: &FastLimits) -> Option<(Op, usize)> {
    let (lock, lock_len) = short_varint(load(window, rest) as u32);
    if lock_len > 4 || u64::from(lock) >= limits.locks {
        return None;
    }
    let lock = LockId::new(lock);
    let mode = if tag & 1 == 0 { LockMode::Exclusive } else { LockMode::Shared };
    let op = match tag {
        tags::REQUEST => Op::Request(lock),
        tags::ACQUIRE_EXCLUSIVE | tags::ACQUIRE_SHARED => Op::Acquire { lock, mode, by: Attempt::Blocking },
        tags::RELEASE_EXCLUSIVE | tags::RELEASE_SHARED => Op::Release { lock, mode },
        _ => return None,
    };
    Some((op, rest + lock_len))
}

/// The begin or end of an annotated region without a name.
#[inline(always)]
fn region_edge(window: &[u8; WINDOW], tag: u8, rest: usize) -> Option<(Op, usize)> {
    let op = match (tag, window[rest % WINDOW]) {
        (tags::REGION_BEGIN_ANNOTATED, 0) => REGION_BEGIN,
        (tags::REGION_END_ANNOTATED, 0) => REGION_END,
        _ => return None,
    };
    Some((op, rest + 1))
}

const REGION_BEGIN: Op = Op::RegionBegin(Region { name: None, source: RegionSource::Annotated });
const REGION_END: Op = Op::RegionEnd(Region { name: None, source: RegionSource::Annotated });

// The lowest bit of the tag is the mode.
const _: () = assert!(tags::ACQUIRE_EXCLUSIVE & 1 == 0 && tags::ACQUIRE_SHARED == tags::ACQUIRE_EXCLUSIVE + 1);
const _: () = assert!(tags::RELEASE_EXCLUSIVE & 1 == 0 && tags::RELEASE_SHARED == tags::RELEASE_EXCLUSIVE + 1);

/// [`tags::SIZES`], padded so that three bits always are in range.
const SIZES: [u32; 8] = [0, 1, 2, 4, 8, 0, 0, 0];

/// The bits that the value of an access of each size must not have.
const TOO_BIG: [u64; 8] = [0, !0xff, !0xffff, !0xffff_ffff, 0, 0, 0, 0];

/// Eight bytes of the window. None that is asked for begins after the ninth.
#[inline(always)]
fn load(window: &[u8; WINDOW], at: usize) -> u64 {
    let bytes = window[at % (WINDOW / 2)..].first_chunk().unwrap_or(&[0x80; 8]);
    u64::from_le_bytes(*bytes)
}

/// The varint of one or two bytes at the low end of these, its length, and whether it is longer than that.
#[inline(always)]
fn tiny_varint(bytes: u64) -> (u32, u32, bool) {
    let bytes = bytes as u32;
    let long = bytes >> 7 & 1;
    // The second byte counts only if the first says so.
    let second = bytes >> 8 & long.wrapping_neg();
    (bytes & 0x7f | (second & 0x7f) << 7, 1 + long, second & 0x80 != 0)
}

/// The varint at the low end of these bytes and its length. If it is longer than they are, the
/// length is five and the number means nothing.
#[inline(always)]
fn short_varint(bytes: u32) -> (u32, usize) {
    const CONTINUES: u32 = 0x8080_8080;
    let ends = !bytes & CONTINUES;
    let own = bytes & (ends ^ ends.wrapping_sub(1)) & !CONTINUES;
    // Close the gaps of one bit between eights, then those of two between sixteens.
    let pairs = (own & 0x007f_007f) | ((own & 0x7f00_7f00) >> 1);
    let number = (pairs & 0x0000_3fff) | ((pairs & 0x3fff_0000) >> 2);
    (number, ends.trailing_zeros() as usize / 8 + 1)
}

/// The same for up to eight bytes; `None` for more.
#[inline(always)]
fn long_varint(bytes: u64) -> Option<(u64, usize)> {
    const CONTINUES: u64 = 0x8080_8080_8080_8080;
    let ends = !bytes & CONTINUES;
    if ends == 0 {
        return None;
    }
    let own = bytes & (ends ^ (ends - 1)) & !CONTINUES;
    let pairs = (own & 0x007f_007f_007f_007f) | ((own & 0x7f00_7f00_7f00_7f00) >> 1);
    let fours = (pairs & 0x0000_3fff_0000_3fff) | ((pairs & 0x3fff_0000_3fff_0000) >> 2);
    let number = (fours & 0x0fff_ffff) | ((fours & 0x0fff_ffff_0000_0000) >> 4);
    Some((number, ends.trailing_zeros() as usize / 8 + 1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::varint::put;
    use super::*;

    #[test]
    fn varints_are_read_as_they_are_elsewhere() {
        for bits in 0..64 {
            for number in [(1u64 << bits) - 1, 1 << bits, (1 << bits) | 1, 0x5555_5555_5555_5555 >> bits] {
                for behind in [0x00, 0xff] {
                    let mut out = Vec::new();
                    put(&mut out, number);
                    let length = out.len();
                    out.resize(8.max(length), behind);
                    let loaded = u64::from_le_bytes(*out.first_chunk().unwrap());
                    assert_eq!(long_varint(loaded), (length <= 8).then_some((number, length)));
                    let (short, short_len) = short_varint(loaded as u32);
                    if length <= 4 {
                        assert_eq!((u64::from(short), short_len), (number, length));
                    } else {
                        assert_eq!(short_len, 5);
                    }
                }
            }
        }
    }

    #[test]
    fn sites_are_checked_as_they_are_elsewhere() {
        for sites in [1, 2, 1000, (1 << 31) - 1, 1 << 31] {
            let limits = Limits { sites, ..Limits::of(&crate::Tables::new()) };
            let fast = FastLimits::new(&limits);
            for site in [0, 1, 2, 999, 1000, (1 << 31) - 2, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, u32::MAX] {
                assert_eq!(fast.has_site(site), limits.has_site(site), "site {site} of {sites}");
            }
        }
    }
}
