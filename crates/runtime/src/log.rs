//! Appending records to the ring that the recorder reads.
//!
//! There is one ring for all threads, because only one thread runs at a time: whoever has the token
//! may append, nobody else. A record is complete before the cursor moves past it, and both are in
//! shared memory, so they outlive the program whatever kills it.

use crate::memory::CONTROL;
use crate::sys::{self, syscall};
use interloper_wire::{CONSUMED_AT, Kind, PRODUCED_AT, RING_AT, RecordHeader, Settings};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering::*};

struct Log {
    /// Where the next record goes.
    cursor: usize,
    /// Up to where there is room.
    limit: usize,
    ring_len: usize,
    produced: u64,
    parent: isize,
    /// The recorder is gone; what is logged goes nowhere.
    is_orphan: bool,
}

struct Shared(UnsafeCell<Log>);

// SAFETY: only the thread that has the token touches it.
unsafe impl Sync for Shared {}

static LOG: Shared =
    Shared(UnsafeCell::new(Log { cursor: 0, limit: 0, ring_len: 0, produced: 0, parent: 0, is_orphan: false }));

const RING: usize = CONTROL + RING_AT;

/// Begins, once the shared file is mapped.
pub(crate) unsafe fn begin(settings: &Settings) {
    // SAFETY: the program has one thread yet.
    unsafe {
        *LOG.0.get() = Log {
            cursor: RING,
            limit: RING + settings.ring_len as usize,
            ring_len: settings.ring_len as usize,
            produced: 0,
            parent: syscall!(libc::SYS_getppid),
            is_orphan: false,
        };
    }
}

/// How many bytes have been logged.
pub(crate) unsafe fn produced() -> u64 {
    // SAFETY: the caller has the token.
    unsafe { (*LOG.0.get()).produced }
}

/// Appends a record, and returns where its words are.
///
/// # Safety
/// The caller has the token, and `WORDS` is what the kind has.
#[inline(always)]
pub(crate) unsafe fn append<const WORDS: usize>(header: RecordHeader, words: [u64; WORDS]) -> *mut u64 {
    debug_assert_eq!(header.kind.words(), WORDS);
    let len = 16 + WORDS * 8;
    // SAFETY: the caller has the token; room is made for the whole record.
    unsafe {
        let log = &mut *LOG.0.get();
        if log.limit - log.cursor < len {
            make_room(log, len);
        }
        let at = log.cursor as *mut u64;
        let [first, second] = header.to_words();
        at.write(first);
        at.add(1).write(second);
        for (number, word) in words.into_iter().enumerate() {
            at.add(2 + number).write(word);
        }
        advance(log, len);
        at.add(2)
    }
}

/// Appends a record that has text, cut to what a record holds.
///
/// # Safety
/// As for [`append`].
pub(crate) unsafe fn append_text<const WORDS: usize>(header: RecordHeader, words: [u64; WORDS], text: &[u8]) {
    let text = &text[..text.len().min(interloper_wire::MAX_RECORD_LEN - 64)];
    let header = RecordHeader { aux: text.len() as u16, ..header };
    let len = header.len();
    // SAFETY: as in `append`; text is filled up to whole words, for which there is room.
    unsafe {
        let log = &mut *LOG.0.get();
        if log.limit - log.cursor < len {
            make_room(log, len);
        }
        let at = log.cursor as *mut u64;
        let [first, second] = header.to_words();
        at.write(first);
        at.add(1).write(second);
        for (number, word) in words.into_iter().enumerate() {
            at.add(2 + number).write(word);
        }
        let place = at.add(2 + WORDS).cast::<u8>();
        for (number, byte) in text.iter().enumerate() {
            place.add(number).write(*byte);
        }
        for number in text.len()..text.len().next_multiple_of(8) {
            place.add(number).write(0);
        }
        advance(log, len);
    }
}

/// A header of which only these matter.
#[inline(always)]
pub(crate) const fn header(kind: Kind, address: usize, pc: usize) -> RecordHeader {
    RecordHeader { kind, arg: 0, address: address as u64, pc: pc as u64, aux: 0 }
}

#[inline(always)]
unsafe fn advance(log: &mut Log, len: usize) {
    log.cursor += len;
    log.produced += len as u64;
    // SAFETY: the cursor is in the shared file, which stays mapped.
    let produced = unsafe { &*((CONTROL + PRODUCED_AT) as *const AtomicU64) };
    // Not before the record itself is there.
    produced.store(log.produced, Release);
}

/// Goes on at the beginning of the ring if its end is near, and waits for the recorder if it is full.
#[cold]
#[inline(never)]
unsafe fn make_room(log: &mut Log, len: usize) {
    let end = RING + log.ring_len;
    if end - log.cursor < len && end > log.cursor {
        let rest = end - log.cursor;
        wait_for(log, rest);
        // SAFETY: records are made of words, so there is room for one before the end of the ring.
        unsafe {
            *(log.cursor as *mut u64) = Kind::Skip as u64 | (rest as u64) << 16;
            advance(log, rest);
        }
    }
    if log.cursor == end {
        log.cursor = RING;
    }
    let room = wait_for(log, len);
    log.limit = (log.cursor + room).min(end);
}

/// How much room there is, once it is at least `len`.
fn wait_for(log: &mut Log, len: usize) -> usize {
    for round in 1u64.. {
        // SAFETY: the cursor is in the shared file, which stays mapped.
        let consumed = unsafe { (*((CONTROL + CONSUMED_AT) as *const AtomicU64)).load(Acquire) };
        let room = log.ring_len - (log.produced - consumed) as usize;
        if log.is_orphan {
            return log.ring_len;
        }
        if room >= len {
            return room;
        }
        let pause = [0u64, 100_000];
        // SAFETY: the time lives through the call.
        unsafe { syscall!(libc::SYS_nanosleep, pause.as_ptr(), 0) };
        // SAFETY: no arguments.
        if round.is_multiple_of(1000) && unsafe { syscall!(libc::SYS_getppid) } != log.parent {
            log.is_orphan = true;
            sys::complain("interloper: the recorder is gone; the program goes on unrecorded\n");
        }
    }
    unreachable!("an endless loop")
}
