//! `sem_t`. The count is kept here; the real one is what it was initialised to.
//!
//! Named semaphores (`sem_open`) are for other processes, too, and are controlled within this one only.

use super::{Patience, Waiters, objects};
use crate::call::{Call, interpose, real};
use crate::scheduler;
use crate::shadow;
use crate::sys::set_errno;
use crate::thread::{Thread, What, Woken};
use interloper_wire::Kind;
use libc::{c_int, c_uint, clockid_t, sem_t, timespec};

/// The state of a semaphore.
pub(crate) struct Semaphore {
    count: u32,
    waiters: Waiters,
}

unsafe fn state(semaphore: usize) -> &'static mut Semaphore {
    // SAFETY: the caller has the token. The count of a semaphore that nobody waits for is the lower half
    // of glibc's first word.
    unsafe {
        objects()
            .semaphores
            .entry(semaphore)
            .or_insert_with(|| Semaphore { count: *(semaphore as *const u32), waiters: Waiters::default() })
    }
}

fn fail(error: c_int) -> c_int {
    set_errno(error);
    -1
}

unsafe fn wait(thread: &mut Thread, semaphore: usize, patience: Patience, pc: usize) -> c_int {
    // SAFETY: the caller has the token; no reference into the tables is kept while waiting.
    unsafe {
        crate::signals::test_cancel(thread);
        shadow::meet_object(thread, semaphore);
        loop {
            let this = state(semaphore);
            if this.count > 0 {
                this.count -= 1;
                thread.log(Kind::SemaphoreWait, semaphore, pc, []);
                return 0;
            }
            if let Patience::None = patience {
                scheduler::spins_at(thread, pc);
                return fail(libc::EAGAIN);
            }
            this.waiters.add(thread);
            let woken = patience.wait(thread, What::Semaphore, semaphore);
            if woken != Woken::Notified {
                state(semaphore).waiters.remove(thread);
            }
            crate::signals::test_cancel(thread);
            match woken {
                Woken::Notified => {}
                Woken::TimedOut => return fail(libc::ETIMEDOUT),
                Woken::Interrupted => return fail(libc::EINTR),
            }
        }
    }
}

unsafe fn wait_until(
    thread: &mut Thread,
    semaphore: usize,
    clock: clockid_t,
    time: *const timespec,
    pc: usize,
) -> c_int {
    // SAFETY: the caller has the token and a valid time.
    unsafe {
        match Patience::until(clock, time) {
            Ok(patience) => wait(thread, semaphore, patience, pc),
            Err(error) => fail(error),
        }
    }
}

unsafe fn post(thread: &mut Thread, semaphore: usize, pc: usize) -> c_int {
    // SAFETY: the caller has the token.
    unsafe {
        let this = state(semaphore);
        if this.count >= i32::MAX as u32 {
            return fail(libc::EOVERFLOW);
        }
        this.count += 1;
        thread.log(Kind::SemaphorePost, semaphore, pc, []);
        this.waiters.wake_all();
        0
    }
}

interpose! {
    fn sem_wait / 1 (semaphore: *mut sem_t) -> c_int =
        |call, pc| wait(&mut call, semaphore as usize, Patience::Endless, pc);
    fn sem_trywait / 1 (semaphore: *mut sem_t) -> c_int =
        |call, pc| wait(&mut call, semaphore as usize, Patience::None, pc);
    fn sem_timedwait / 2 (semaphore: *mut sem_t, time: *const timespec) -> c_int =
        |call, pc| wait_until(&mut call, semaphore as usize, libc::CLOCK_REALTIME, time, pc);
    fn sem_clockwait / 3 (semaphore: *mut sem_t, clock: clockid_t, time: *const timespec) -> c_int =
        |call, pc| wait_until(&mut call, semaphore as usize, clock, time, pc);
    fn sem_post / 1 (semaphore: *mut sem_t) -> c_int =
        |call, pc| post(&mut call, semaphore as usize, pc);
    fn sem_getvalue / 2 (semaphore: *mut sem_t, value: *mut c_int) -> c_int = |call, pc| {
        *value = state(semaphore as usize).count as c_int;
        0
    };
}

/// Interposes `sem_init`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_init(semaphore: *mut sem_t, shared: c_int, value: c_uint) -> c_int {
    // SAFETY: as the program's call.
    let result = unsafe { real!(sem_init: fn(*mut sem_t, c_int, c_uint) -> c_int)(semaphore, shared, value) };
    if result == 0
        && let Some(_call) = Call::enter_quietly()
    {
        // SAFETY: a `Call` is proof of the token.
        unsafe { objects() }.semaphores.remove(&(semaphore as usize));
    }
    result
}

/// Interposes `sem_destroy`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_destroy(semaphore: *mut sem_t) -> c_int {
    if let Some(_call) = Call::enter_quietly() {
        // SAFETY: a `Call` is proof of the token.
        unsafe { objects() }.semaphores.remove(&(semaphore as usize));
    }
    // SAFETY: as the program's call.
    unsafe { real!(sem_destroy: fn(*mut sem_t) -> c_int)(semaphore) }
}
