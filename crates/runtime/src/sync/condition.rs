//! `pthread_cond_t`. A signal wakes the one who has waited longest, unless directions say otherwise.
//!
//! Which clock a condition's times are on is noted when it is initialised; it is not kept where
//! we could look it up.

use super::{Patience, Waiters, mutex, objects};
use crate::call::{Call, interpose, real};
use crate::log::{self, header};
use crate::shadow;
use crate::thread::{Thread, What, Woken};
use interloper_wire::{Kind, RecordHeader, WaitArg};
use libc::{c_int, clockid_t, pthread_cond_t, pthread_condattr_t, pthread_mutex_t, timespec};

/// The state of a condition.
pub(crate) struct Condition {
    waiters: Waiters,
    clock: clockid_t,
}

impl Default for Condition {
    fn default() -> Self {
        Condition { waiters: Waiters::default(), clock: libc::CLOCK_REALTIME }
    }
}

/// Waits on a condition: gives the mutex up meanwhile.
pub(crate) unsafe fn wait(thread: &mut Thread, condition: usize, mutex: usize, patience: Patience, pc: usize) -> c_int {
    // SAFETY: the caller has the token; no reference into the tables is kept while waiting.
    unsafe {
        crate::signals::test_cancel(thread);
        shadow::meet_object(thread, condition);
        thread.log(Kind::WaitBegin, condition, pc, [mutex as u64]);
        let depth = mutex::give_up(thread, mutex);
        objects().conditions.entry(condition).or_default().waiters.add(thread);
        let woken = patience.wait(thread, What::Condition, condition);
        if woken != Woken::Notified {
            objects().conditions.entry(condition).or_default().waiters.remove(thread);
        }
        mutex::retake(thread, mutex, depth);
        let arg = match woken {
            Woken::Notified => WaitArg::Notified,
            Woken::TimedOut => WaitArg::TimedOut,
            Woken::Interrupted => WaitArg::Spurious,
        };
        thread.prepare();
        log::append(RecordHeader { arg: arg as u8, ..header(Kind::WaitEnd, condition, pc) }, [mutex as u64]);
        crate::signals::test_cancel(thread);
        if woken == Woken::TimedOut { libc::ETIMEDOUT } else { 0 }
    }
}

/// Waits until a time on a clock; without one, on the condition's.
pub(crate) unsafe fn wait_until(
    thread: &mut Thread,
    condition: usize,
    mutex: usize,
    clock: Option<clockid_t>,
    time: *const timespec,
    pc: usize,
) -> c_int {
    // SAFETY: the caller has the token and a valid time.
    unsafe {
        let clock = clock.unwrap_or_else(|| objects().conditions.entry(condition).or_default().clock);
        match Patience::until(clock, time) {
            Ok(patience) => wait(thread, condition, mutex, patience, pc),
            Err(error) => error,
        }
    }
}

/// Wakes one who waits, or all.
pub(crate) unsafe fn notify(thread: &mut Thread, condition: usize, all: bool, pc: usize) -> c_int {
    // SAFETY: the caller has the token.
    unsafe {
        thread.log(if all { Kind::Broadcast } else { Kind::Signal }, condition, pc, []);
        let state = objects().conditions.entry(condition).or_default();
        if all {
            state.waiters.wake_all();
        } else {
            state.waiters.wake_one(thread);
        }
        0
    }
}

interpose! {
    fn pthread_cond_wait / 2 (condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int =
        |call, pc| wait(&mut call, condition as usize, mutex as usize, Patience::Endless, pc);
    fn pthread_cond_timedwait / 3 (condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, time: *const timespec) -> c_int =
        |call, pc| wait_until(&mut call, condition as usize, mutex as usize, None, time, pc);
    fn pthread_cond_clockwait / 4 (
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, time: *const timespec,
    ) -> c_int = |call, pc| wait_until(&mut call, condition as usize, mutex as usize, Some(clock), time, pc);
    fn pthread_cond_signal / 1 (condition: *mut pthread_cond_t) -> c_int =
        |call, pc| notify(&mut call, condition as usize, false, pc);
    fn pthread_cond_broadcast / 1 (condition: *mut pthread_cond_t) -> c_int =
        |call, pc| notify(&mut call, condition as usize, true, pc);
}

/// Interposes `pthread_cond_init`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_init(
    condition: *mut pthread_cond_t,
    attributes: *const pthread_condattr_t,
) -> c_int {
    if let Some(_call) = Call::enter_quietly() {
        let mut clock = libc::CLOCK_REALTIME;
        if !attributes.is_null() {
            // SAFETY: the attributes are valid, as the function demands.
            unsafe { libc::pthread_condattr_getclock(attributes, &mut clock) };
        }
        let state = Condition { waiters: Waiters::default(), clock };
        // SAFETY: a `Call` is proof of the token.
        unsafe { objects() }.conditions.insert(condition as usize, state);
    }
    // SAFETY: as the program's call.
    unsafe {
        real!(pthread_cond_init: fn(*mut pthread_cond_t, *const pthread_condattr_t) -> c_int)(condition, attributes)
    }
}

/// Interposes `pthread_cond_destroy`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_destroy(condition: *mut pthread_cond_t) -> c_int {
    if let Some(_call) = Call::enter_quietly() {
        // SAFETY: a `Call` is proof of the token.
        unsafe { objects() }.conditions.remove(&(condition as usize));
        return 0;
    }
    // SAFETY: as the program's call.
    unsafe { real!(pthread_cond_destroy: fn(*mut pthread_cond_t) -> c_int)(condition) }
}
