//! Appending records to the ring that the recorder reads.
//!
//! There is one ring for all threads, because only one thread runs at a time: whoever has the token
//! may append, nobody else. A record is complete before the cursor moves past it, and both are in
//! shared memory, so they outlive the program whatever kills it.
//!
//! A directed run waits for a certain record of the running thread. Here is where it is seen to come.

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
    /// What is waited for, as [`key`] has it.
    awaited: u64,
    /// How often it has to come until the scheduler is told.
    times: u32,
}

/// The key of nothing that is ever logged.
const NOTHING: u64 = u64::MAX;

/// Kind and place of a record in one word.
#[inline(always)]
const fn key(kind: u64, second_word: u64) -> u64 {
    // What stands above the place falls off.
    second_word << 16 | kind & 0xff
}

struct Shared(UnsafeCell<Log>);

// SAFETY: only the thread that has the token touches it.
unsafe impl Sync for Shared {}

static LOG: Shared = Shared(UnsafeCell::new(Log {
    cursor: 0,
    limit: 0,
    ring_len: 0,
    produced: 0,
    parent: 0,
    is_orphan: false,
    awaited: NOTHING,
    times: 0,
}));

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
            awaited: NOTHING,
            times: 0,
        };
    }
}

/// How many bytes have been logged.
pub(crate) unsafe fn produced() -> u64 {
    // SAFETY: the caller has the token.
    unsafe { (*LOG.0.get()).produced }
}

/// Has the scheduler told when a record of this kind and place has come so often; nothing else is waited for then.
pub(crate) unsafe fn wait_for_record(kind: Kind, pc: u64, times: u32) {
    // SAFETY: the caller has the token, or nobody has and it holds the scheduler's lock.
    let log = unsafe { &mut *LOG.0.get() };
    (log.awaited, log.times) = (key(kind as u64, pc), times);
}

/// How often what is waited for still has to come; it is not waited for any more.
pub(crate) unsafe fn stop_waiting() -> u32 {
    // SAFETY: as for `wait_for_record`.
    let log = unsafe { &mut *LOG.0.get() };
    log.awaited = NOTHING;
    std::mem::take(&mut log.times)
}

/// What is waited for has come.
#[cold]
#[inline(never)]
unsafe fn met(times: u32) {
    // SAFETY: the caller has the token; there is no other reference to the log.
    unsafe {
        let log = &mut *LOG.0.get();
        log.times = log.times.saturating_sub(times);
        if log.times == 0 {
            log.awaited = NOTHING;
            crate::scheduler::reached();
        }
    }
}

/// So many records will be logged of a write that has been announced, by [`append_announced`].
#[inline(always)]
pub(crate) unsafe fn announce(pc: usize, records: impl FnOnce() -> u32) {
    // SAFETY: the caller has the token.
    unsafe {
        if (*LOG.0.get()).awaited == key(Kind::Write as u64, pc as u64) {
            met(records());
        }
    }
}

/// Appends a record.
///
/// # Safety
/// The caller has the token, and `WORDS` is what the kind has.
#[inline(always)]
pub(crate) unsafe fn append<const WORDS: usize>(header: RecordHeader, words: [u64; WORDS]) {
    // SAFETY: as the caller says.
    unsafe {
        append_announced(header, words);
        let [first, second] = header.to_words();
        if (*LOG.0.get()).awaited == key(first, second) {
            met(1);
        }
    }
}

/// Appends a record that was counted when it was announced.
///
/// # Safety
/// As for [`append`].
#[inline(always)]
pub(crate) unsafe fn append_announced<const WORDS: usize>(header: RecordHeader, words: [u64; WORDS]) {
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
