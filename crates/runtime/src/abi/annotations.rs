//! What programs say about themselves: regions meant to be atomic, locks of their own making, and what comes before
//! what.
//!
//! What they say is taken for true, and logged where it is said. Nobody is made to wait by it.

use crate::call::Call;
use crate::log::{self, header};
use crate::sync::Table;
use crate::sync::mutex::log_lock;
use crate::thread::Guarded;
use interloper_wire::{Kind, LockArg};
use libc::{c_char, c_int, c_uint};
use rustc_hash::FxBuildHasher;

/// Names of regions whose text is in the log already, by address. Guarded by the token.
static NAMED: Guarded<Vec<usize>> = Guarded::new(Vec::new());

unsafe fn region(kind: Kind, name: *const c_char, pc: usize) {
    let Some(mut call) = Call::enter_quietly() else { return };
    // SAFETY: a `Call` is proof of the token; the name is a string literal.
    unsafe {
        let named = NAMED.get();
        if !name.is_null() && !named.contains(&(name as usize)) {
            named.push(name as usize);
            let text = std::ffi::CStr::from_ptr(name).to_bytes();
            log::append_text(header(Kind::Text, name as usize, 0), [], text);
        }
        call.log(kind, name as usize, pc, []);
    }
}

unsafe extern "C" fn region_begin(name: *const c_char, pc: usize) {
    // SAFETY: as the program's call.
    unsafe { region(Kind::RegionBegin, name, pc) };
}

unsafe extern "C" fn region_end(name: *const c_char, pc: usize) {
    // SAFETY: as the program's call.
    unsafe { region(Kind::RegionEnd, name, pc) };
}

const READ_LOCK: c_uint = 1 << 3;
const TRY_LOCK: c_uint = 1 << 4;
const TRY_LOCK_FAILED: c_uint = 1 << 5;
const ALL_LEVELS_LOCK: c_uint = 1 << 6;
const ALL_LEVELS_UNLOCK: c_uint = 1 << 7;

/// How many levels of locks of the program's own making are held exclusively. Guarded by the token.
static LEVELS: Guarded<Table<u32>> = Guarded::new(Table::with_hasher(FxBuildHasher));

fn lock_arg(flags: c_uint) -> u8 {
    (if flags & READ_LOCK != 0 { LockArg::SHARED } else { 0 }) | if flags & TRY_LOCK != 0 { LockArg::TRY } else { 0 }
}

unsafe extern "C" fn post_lock(lock: usize, flags: c_uint, levels: c_int, pc: usize) {
    let Some(mut call) = Call::enter_quietly() else { return };
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        if flags & TRY_LOCK_FAILED != 0 {
            return log_lock(&mut call, Kind::TryFailed, lock_arg(flags), lock, pc);
        }
        // A lock that was left altogether for a while is taken as often as it was held.
        let levels = if flags & ALL_LEVELS_LOCK != 0 { levels.max(1) as u32 } else { 1 };
        for _ in 0..levels {
            log_lock(&mut call, Kind::Acquire, lock_arg(flags), lock, pc);
        }
        if flags & READ_LOCK == 0 {
            *LEVELS.get().entry(lock).or_insert(0) += levels;
        }
    }
}

/// The result is how many levels are left, of an exclusive lock.
unsafe extern "C" fn pre_unlock(lock: usize, flags: c_uint, pc: usize) -> c_int {
    let Some(mut call) = Call::enter_quietly() else { return 1 };
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        let mut levels = 1;
        if flags & READ_LOCK == 0 {
            let held = LEVELS.get().entry(lock).or_insert(1);
            if flags & ALL_LEVELS_UNLOCK != 0 {
                levels = (*held).max(1);
            }
            *held = held.saturating_sub(levels);
            if *held == 0 {
                LEVELS.get().remove(&lock);
            }
        }
        for _ in 0..levels {
            log_lock(&mut call, Kind::Release, lock_arg(flags), lock, pc);
        }
        if flags & READ_LOCK == 0 { levels as c_int } else { 0 }
    }
}

unsafe extern "C" fn lock_acquired(_file: *const c_char, _line: c_int, lock: usize, is_writer: usize, pc: usize) {
    // SAFETY: as the program's call.
    unsafe { post_lock(lock, if is_writer == 0 { READ_LOCK } else { 0 }, 1, pc) };
}

unsafe extern "C" fn lock_released(_file: *const c_char, _line: c_int, lock: usize, is_writer: usize, pc: usize) {
    // SAFETY: as the program's call.
    unsafe { pre_unlock(lock, if is_writer == 0 { READ_LOCK } else { 0 }, pc) };
}

/// Who has announced something at an address, and how often. Guarded by the token.
static ANNOUNCED: Guarded<Table<Vec<(u32, u64)>>> = Guarded::new(Table::with_hasher(FxBuildHasher));

/// All that the thread has done comes before whatever is said to come after.
unsafe extern "C" fn happens_before(address: usize, pc: usize) {
    let Some(mut call) = Call::enter() else { return };
    let number = call.number;
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        let all = ANNOUNCED.get().entry(address).or_default();
        let times = match all.iter_mut().find(|(thread, _)| *thread == number) {
            Some((_, times)) => {
                *times += 1;
                *times
            }
            None => {
                all.push((number, 1));
                1
            }
        };
        call.log(Kind::HappensBefore, address, pc, [times]);
    }
}

/// All that the thread does from here on comes after what was announced. What a thread announced earlier goes
/// without saying.
unsafe extern "C" fn happens_after(address: usize, pc: usize) {
    let Some(mut call) = Call::enter() else { return };
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        let Some(all) = ANNOUNCED.get().get(&address) else { return };
        let number = call.number;
        for &(thread, times) in all.iter().filter(|(thread, _)| *thread != number) {
            call.log(Kind::HappensAfter, address, pc, [u64::from(thread), times]);
        }
    }
}

unsafe extern "C" fn said_to_happen_before(_file: *const c_char, _line: c_int, address: usize, pc: usize) {
    // SAFETY: as the program's call.
    unsafe { happens_before(address, pc) };
}

unsafe extern "C" fn said_to_happen_after(_file: *const c_char, _line: c_int, address: usize, pc: usize) {
    // SAFETY: as the program's call.
    unsafe { happens_after(address, pc) };
}

unsafe extern "C" fn thread_name(_file: *const c_char, _line: c_int, name: *const c_char, pc: usize) {
    let Some(mut call) = Call::enter_quietly() else { return };
    if name.is_null() {
        return;
    }
    // SAFETY: a `Call` is proof of the token; the program passes a string.
    unsafe {
        let number = call.number as usize;
        call.prepare();
        let text = std::ffi::CStr::from_ptr(name).to_bytes();
        log::append_text(header(Kind::ThreadName, number, pc), [], text);
    }
}

crate::call::export_with_pc! {
    fn __interloper_region_begin / 1 = region_begin;
    fn __interloper_region_end / 1 = region_end;
    fn __tsan_mutex_post_lock / 3 = post_lock;
    fn __tsan_mutex_pre_unlock / 2 = pre_unlock;
    fn __tsan_release / 1 = happens_before;
    fn __tsan_acquire / 1 = happens_after;
    fn AnnotateRWLockAcquired / 4 = lock_acquired;
    fn AnnotateRWLockReleased / 4 = lock_released;
    fn AnnotateHappensBefore / 3 = said_to_happen_before;
    fn AnnotateHappensAfter / 3 = said_to_happen_after;
    fn WTFAnnotateHappensBefore / 3 = said_to_happen_before;
    fn WTFAnnotateHappensAfter / 3 = said_to_happen_after;
    fn AnnotateThreadName / 3 = thread_name;
}
