//! Accesses of any length: what they touch, and how they are logged.
//!
//! In the log a range is a run of accesses of at most eight bytes, within cells, of which only those of
//! logged cells are there.

use crate::log::{self, header};
use crate::scheduler;
use crate::shadow::{self, Access};
use crate::thread::{Pending, Thread, load};
use interloper_wire::{AccessFlags, Kind, RecordHeader};

/// A range is about to be read.
pub(crate) unsafe fn read(thread: &mut Thread, address: usize, len: usize, pc: usize) {
    // SAFETY: the caller has the token; the range is what the program reads.
    unsafe {
        if len != 0 && touch(thread, address, len, Access::Read) {
            scheduler::stop_if_helping(thread);
            thread.prepare();
            log::<false>(Kind::Read, address, len, pc, AccessFlags::RANGE);
        }
    }
}

/// A range is about to be written by the program.
pub(crate) unsafe fn will_write(thread: &mut Thread, address: usize, len: usize, pc: usize) {
    // SAFETY: the caller has the token.
    unsafe {
        if len != 0 && touch(thread, address, len, Access::Write) {
            scheduler::stop_if_helping(thread);
            thread.prepare();
            thread.pending = Pending { address, len, pc };
            log::announce(pc, || logged_pieces(address, len).count() as u32);
        }
    }
}

/// A range has been written, by a function of libc or by the system (`flags` of the accesses).
pub(crate) unsafe fn wrote(thread: &mut Thread, address: usize, len: usize, pc: usize, flags: u8) {
    // SAFETY: the caller has the token; the range has just been written.
    unsafe {
        if len != 0 && touch(thread, address, len, Access::Write) {
            thread.prepare();
            log::<false>(Kind::Write, address, len, pc, AccessFlags::RANGE | flags);
        }
    }
}

/// Notes who touches a range; whether any of it may be logged.
unsafe fn touch(thread: &mut Thread, address: usize, len: usize, access: Access) -> bool {
    // SAFETY: the caller has the token.
    unsafe {
        if shadow::is_own_range(thread, address, len, access) {
            return false;
        }
        let mut is_logged = false;
        for (address, len) in pieces(address, len) {
            is_logged |= shadow::touch(thread, address, len, access);
        }
        is_logged
    }
}

/// Logs the accesses of a range, with the values that are there; `ANNOUNCED` if they are of a write that was.
///
/// # Safety
/// The caller has the token, and the range is readable.
pub(crate) unsafe fn log<const ANNOUNCED: bool>(kind: Kind, address: usize, len: usize, pc: usize, flags: u8) {
    // SAFETY: as the caller says.
    unsafe {
        if len <= 8 {
            append::<ANNOUNCED>(kind, address, len, pc, flags);
            return;
        }
        // An access of sixteen bytes is one step; longer ones are not.
        let more = if len == 16 && flags & AccessFlags::RANGE == 0 { AccessFlags::MORE } else { AccessFlags::RANGE };
        let mut at = logged_pieces(address, len).peekable();
        while let Some((address, len)) = at.next() {
            let is_last = more == AccessFlags::MORE && at.peek().is_none();
            append::<ANNOUNCED>(kind, address, len, pc, flags | if is_last { 0 } else { more });
        }
    }
}

unsafe fn append<const ANNOUNCED: bool>(kind: Kind, address: usize, len: usize, pc: usize, flags: u8) {
    // SAFETY: as the caller of `log` says.
    unsafe {
        let value = load(address, len);
        let record = RecordHeader { arg: len as u8, aux: u16::from(flags), ..header(kind, address, pc) };
        if ANNOUNCED {
            log::append_announced(record, [value]);
        } else {
            log::append(record, [value]);
        }
    }
}

/// The parts of a range that have a record each. The caller has the token.
fn logged_pieces(address: usize, len: usize) -> impl Iterator<Item = (usize, usize)> {
    // One that fits into a record is not taken apart.
    let whole = (len <= 8).then_some((address, len));
    let parts = if len <= 8 { 0 } else { len };
    // SAFETY: as said above.
    let logged = pieces(address, parts).filter(|(address, _)| unsafe { shadow::is_logged(*address) });
    whole.into_iter().chain(logged)
}

/// The parts of a range in each of its cells.
fn pieces(address: usize, len: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = address + len;
    let mut at = address;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let next = ((at & !7) + 8).min(end);
        let piece = (at, next - at);
        at = next;
        Some(piece)
    })
}
