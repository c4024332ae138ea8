//! Time: what the program sees of it, and sleeping.

use super::blocking;
use crate::call::{Call, interpose};
use crate::clock;
use crate::ranges;
use crate::scheduler;
use crate::sync::futex::stop;
use crate::sync::{Patience, nanoseconds};
use crate::sys::{set_errno, syscall};
use crate::thread::{What, Woken};
use interloper_wire::{AccessFlags, Stop};
use libc::{c_int, c_uint, clockid_t, time_t, timespec, timeval, useconds_t};

const SECOND: u64 = 1_000_000_000;

/// Sleeps; how much is left if it was interrupted.
unsafe fn sleep_until(call: &mut Call, deadline: u64, pc: usize) -> Result<(), u64> {
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        crate::signals::test_cancel(call);
        stop(call, Stop::Sleep, pc);
        let woken = Patience::Until(deadline).wait(call, What::Time, 0);
        crate::signals::test_cancel(call);
        match woken {
            Woken::Interrupted => Err(deadline.saturating_sub(clock::elapsed())),
            Woken::Notified | Woken::TimedOut => Ok(()),
        }
    }
}

unsafe fn sleep_for(call: &mut Call, time: *const timespec, left: *mut timespec, pc: usize) -> c_int {
    // SAFETY: the program's times are valid or null; a `Call` is proof of the token.
    unsafe {
        let Some(length) = nanoseconds(time) else { return libc::EINVAL };
        match sleep_until(call, clock::deadline_in(length), pc) {
            Ok(()) => 0,
            Err(rest) => {
                if let Some(left) = left.as_mut() {
                    *left = timespec { tv_sec: (rest / SECOND) as time_t, tv_nsec: (rest % SECOND) as i64 };
                }
                libc::EINTR
            }
        }
    }
}

fn fail(error: c_int) -> c_int {
    if error == 0 {
        return 0;
    }
    set_errno(error);
    -1
}

/// The time of day, without a step: programs look at it very often.
unsafe fn look(clock: clockid_t) -> Option<u64> {
    let _call = Call::enter_quietly()?;
    // SAFETY: a `Call` is proof of the token.
    unsafe { clock::look(clock) }
}

interpose! {
    fn nanosleep / 2 (time: *const timespec, left: *mut timespec) -> c_int =
        |call, pc| fail(sleep_for(&mut call, time, left, pc));
    fn thrd_sleep / 2 (time: *const timespec, left: *mut timespec) -> c_int =
        |call, pc| if sleep_for(&mut call, time, left, pc) == 0 { 0 } else { -1 };
    fn clock_nanosleep / 4 (clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int =
        |call, pc| {
            if flags & libc::TIMER_ABSTIME == 0 {
                return sleep_for(&mut call, time, left, pc);
            }
            match nanoseconds(time) {
                None => libc::EINVAL,
                Some(time) => match sleep_until(&mut call, clock::deadline_at(clock, time), pc) {
                    Ok(()) => 0,
                    Err(_) => libc::EINTR,
                },
            }
        };
    fn usleep / 1 (time: useconds_t) -> c_int = |call, pc| {
        let deadline = clock::deadline_in(u64::from(time) * 1000);
        if sleep_until(&mut call, deadline, pc).is_ok() { 0 } else { fail(libc::EINTR) }
    };
    fn sleep / 1 (time: c_uint) -> c_uint = |call, pc| {
        let deadline = clock::deadline_in(u64::from(time) * SECOND);
        match sleep_until(&mut call, deadline, pc) {
            Ok(()) => 0,
            Err(left) => left.div_ceil(SECOND) as c_uint,
        }
    };
    fn sched_yield / 0 () -> c_int = |call, pc| {
        stop(&mut call, Stop::Yield, pc);
        scheduler::give_way(&mut call);
        0
    };
    fn pthread_yield / 0 () -> c_int = |call, pc| {
        stop(&mut call, Stop::Yield, pc);
        scheduler::give_way(&mut call);
        0
    };
    fn thrd_yield / 0 () = |call, pc| {
        stop(&mut call, Stop::Yield, pc);
        scheduler::give_way(&mut call);
    };
    fn pause / 0 () -> c_int = |call, pc| {
        blocking::outside(&mut call, true, pc, || crate::sys::libc_result(syscall!(libc::SYS_pause)) as c_int)
    };
}

/// Fills in a time, and says so.
unsafe fn fill<T>(place: *mut T, value: T) {
    // SAFETY: the program's pointer is valid.
    unsafe {
        if let Some(mut call) = Call::enter_quietly() {
            call.settle();
            place.write(value);
            ranges::wrote(&mut call, place as usize, size_of::<T>(), 0, AccessFlags::SYSTEM);
        }
    }
}

/// Interposes `clock_gettime`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn clock_gettime(clock: clockid_t, place: *mut timespec) -> c_int {
    // SAFETY: as the program's call.
    unsafe {
        match look(clock) {
            Some(now) => {
                fill(place, timespec { tv_sec: (now / SECOND) as time_t, tv_nsec: (now % SECOND) as i64 });
                0
            }
            None => {
                // The fast way through the kernel's page is not worth finding for the few that get here.
                crate::sys::libc_result(syscall!(libc::SYS_clock_gettime, clock as isize, place)) as c_int
            }
        }
    }
}

/// Interposes `timespec_get`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timespec_get(place: *mut timespec, base: c_int) -> c_int {
    const UTC: c_int = 1;
    // SAFETY: as the program's call.
    if base == UTC && unsafe { clock_gettime(libc::CLOCK_REALTIME, place) } == 0 { base } else { 0 }
}

/// Interposes `gettimeofday`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn gettimeofday(place: *mut timeval, zone: *mut libc::c_void) -> c_int {
    // SAFETY: as the program's call.
    unsafe {
        match look(libc::CLOCK_REALTIME) {
            Some(now) => {
                if !place.is_null() {
                    fill(place, timeval { tv_sec: (now / SECOND) as time_t, tv_usec: (now % SECOND / 1000) as i64 });
                }
                0
            }
            None => crate::sys::libc_result(syscall!(libc::SYS_gettimeofday, place, zone)) as c_int,
        }
    }
}

/// Interposes `time`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn time(place: *mut time_t) -> time_t {
    // SAFETY: as the program's call.
    unsafe {
        let now = match look(libc::CLOCK_REALTIME) {
            Some(now) => (now / SECOND) as time_t,
            None => syscall!(libc::SYS_time, 0) as time_t,
        };
        if !place.is_null() {
            place.write(now);
        }
        now
    }
}

/// Interposes `clock`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn clock() -> libc::clock_t {
    // SAFETY: as the program's call.
    unsafe {
        match look(libc::CLOCK_PROCESS_CPUTIME_ID) {
            Some(now) => (now / 1000) as libc::clock_t,
            None => crate::call::real!(clock: fn() -> libc::clock_t)(),
        }
    }
}

/// Interposes `times`: all of the time that has passed is the program's own.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn times(place: *mut libc::tms) -> libc::clock_t {
    const TICK: u64 = SECOND / 100;
    // SAFETY: as the program's call.
    unsafe {
        let Some(now) = look(libc::CLOCK_MONOTONIC) else {
            return crate::sys::libc_result(syscall!(libc::SYS_times, place)) as libc::clock_t;
        };
        if !place.is_null() {
            let worked = (clock::elapsed() / TICK) as libc::clock_t;
            fill(place, libc::tms { tms_utime: worked, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 });
        }
        (now / TICK) as libc::clock_t
    }
}
