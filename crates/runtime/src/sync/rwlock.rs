//! `pthread_rwlock_t`. New readers get in while there is no writer, whoever waits.

use super::{Patience, Waiters, mutex::log_lock, objects};
use crate::call::{Call, interpose, real};
use crate::scheduler;
use crate::shadow;
use crate::thread::{Thread, What, Woken};
use interloper_wire::{Kind, LockArg};
use libc::{c_int, c_void, clockid_t, pthread_rwlock_t, timespec};

/// The state of a read-write lock.
#[derive(Default)]
pub(crate) struct RwLock {
    pub(crate) writer: Option<u32>,
    /// Each reader as often as it has locked.
    readers: Vec<u32>,
    waiters: Waiters,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Reader,
    Writer,
}

unsafe fn lock(thread: &mut Thread, address: usize, side: Side, patience: Patience, pc: usize) -> c_int {
    let mut arg = if side == Side::Reader { LockArg::SHARED } else { 0 };
    if !matches!(patience, Patience::Endless) {
        arg |= LockArg::TRY;
    }
    let mut has_asked = false;
    // SAFETY: the caller has the token; no reference into the tables is kept while waiting.
    unsafe {
        if !objects().rwlocks.contains_key(&address) {
            shadow::meet_object(thread, address);
        }
        loop {
            let state = objects().rwlocks.entry(address).or_default();
            let is_free = match side {
                Side::Reader => state.writer.is_none(),
                Side::Writer => state.writer.is_none() && state.readers.is_empty(),
            };
            if is_free {
                match side {
                    Side::Reader => state.readers.push(thread.number),
                    Side::Writer => state.writer = Some(thread.number),
                }
                log_lock(thread, Kind::Acquire, arg, address, pc);
                return 0;
            }
            if let Patience::None = patience {
                log_lock(thread, Kind::TryFailed, arg, address, pc);
                scheduler::spins_at(thread, pc);
                return libc::EBUSY;
            }
            if state.writer == Some(thread.number) {
                return libc::EDEADLK;
            }
            if !has_asked {
                log_lock(thread, Kind::Request, arg, address, pc);
                has_asked = true;
            }
            objects().rwlocks.entry(address).or_default().waiters.add(thread);
            let woken = patience.wait(thread, What::RwLock, address);
            if woken != Woken::Notified {
                objects().rwlocks.entry(address).or_default().waiters.remove(thread);
            }
            if woken == Woken::TimedOut {
                log_lock(thread, Kind::TryFailed, arg, address, pc);
                return libc::ETIMEDOUT;
            }
            crate::signals::attend(thread);
        }
    }
}

unsafe fn timed(
    thread: &mut Thread,
    address: usize,
    side: Side,
    clock: clockid_t,
    time: *const timespec,
    pc: usize,
) -> c_int {
    // SAFETY: the caller has the token and a valid time.
    unsafe {
        match Patience::until(clock, time) {
            Ok(patience) => lock(thread, address, side, patience, pc),
            Err(error) => error,
        }
    }
}

unsafe fn unlock(thread: &mut Thread, address: usize, pc: usize) -> c_int {
    // SAFETY: the caller has the token.
    unsafe {
        let state = objects().rwlocks.entry(address).or_default();
        if state.writer == Some(thread.number) {
            state.writer = None;
            log_lock(thread, Kind::Release, 0, address, pc);
        } else if let Some(at) = state.readers.iter().position(|reader| *reader == thread.number) {
            state.readers.swap_remove(at);
            log_lock(thread, Kind::Release, LockArg::SHARED, address, pc);
        } else if state.writer.take().is_some() || state.readers.pop().is_some() {
            let text = b"a thread unlocked a read-write lock that another had locked";
            scheduler::notice(interloper_wire::Notice::Unsupported, [0; 3], text);
        }
        state.waiters.wake_all();
        0
    }
}

interpose! {
    fn pthread_rwlock_rdlock / 1 (address: *mut pthread_rwlock_t) -> c_int =
        |call, pc| lock(&mut call, address as usize, Side::Reader, Patience::Endless, pc);
    fn pthread_rwlock_wrlock / 1 (address: *mut pthread_rwlock_t) -> c_int =
        |call, pc| lock(&mut call, address as usize, Side::Writer, Patience::Endless, pc);
    fn pthread_rwlock_tryrdlock / 1 (address: *mut pthread_rwlock_t) -> c_int =
        |call, pc| lock(&mut call, address as usize, Side::Reader, Patience::None, pc);
    fn pthread_rwlock_trywrlock / 1 (address: *mut pthread_rwlock_t) -> c_int =
        |call, pc| lock(&mut call, address as usize, Side::Writer, Patience::None, pc);
    fn pthread_rwlock_timedrdlock / 2 (address: *mut pthread_rwlock_t, time: *const timespec) -> c_int =
        |call, pc| timed(&mut call, address as usize, Side::Reader, libc::CLOCK_REALTIME, time, pc);
    fn pthread_rwlock_timedwrlock / 2 (address: *mut pthread_rwlock_t, time: *const timespec) -> c_int =
        |call, pc| timed(&mut call, address as usize, Side::Writer, libc::CLOCK_REALTIME, time, pc);
    fn pthread_rwlock_clockrdlock / 3 (address: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec) -> c_int =
        |call, pc| timed(&mut call, address as usize, Side::Reader, clock, time, pc);
    fn pthread_rwlock_clockwrlock / 3 (address: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec) -> c_int =
        |call, pc| timed(&mut call, address as usize, Side::Writer, clock, time, pc);
    fn pthread_rwlock_unlock / 1 (address: *mut pthread_rwlock_t) -> c_int =
        |call, pc| unlock(&mut call, address as usize, pc);
}

/// Interposes `pthread_rwlock_init`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_rwlock_init(
    address: *mut pthread_rwlock_t,
    attributes: *const c_void,
) -> c_int {
    if let Some(_call) = Call::enter_quietly() {
        // SAFETY: a `Call` is proof of the token.
        unsafe { objects() }.rwlocks.remove(&(address as usize));
    }
    // SAFETY: as the program's call.
    unsafe { real!(pthread_rwlock_init: fn(*mut pthread_rwlock_t, *const c_void) -> c_int)(address, attributes) }
}

/// Interposes `pthread_rwlock_destroy`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_rwlock_destroy(address: *mut pthread_rwlock_t) -> c_int {
    if let Some(_call) = Call::enter_quietly() {
        // SAFETY: a `Call` is proof of the token.
        unsafe { objects() }.rwlocks.remove(&(address as usize));
    }
    // SAFETY: as the program's call.
    unsafe { real!(pthread_rwlock_destroy: fn(*mut pthread_rwlock_t) -> c_int)(address) }
}
