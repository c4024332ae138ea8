//! Threads, mutexes and conditions of C11, which in glibc are those of POSIX under other names.
//!
//! glibc's own functions call POSIX ones past us, so they are all here.

use super::{Patience, condition, mutex, once, threads};
use crate::call::{interpose, real};
use libc::{c_int, c_void, pthread_t, timespec};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;

/// What C11 calls an error number of POSIX.
fn outcome(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ENOMEM | libc::EAGAIN => NO_MEMORY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// A start routine of C11 and what to pass to it.
struct Task(Start, *mut c_void);

unsafe extern "C-unwind" fn run(task: *mut c_void) -> *mut c_void {
    // SAFETY: `thrd_create` passed it, once.
    let Task(start, argument) = *unsafe { Box::from_raw(task.cast::<Task>()) };
    // SAFETY: the program's own routine and argument.
    unsafe { start(argument) as isize as *mut c_void }
}

interpose! {
    fn thrd_create / 3 (handle: *mut pthread_t, start: Start, argument: *mut c_void) -> c_int = |call, pc| {
        let task = Box::into_raw(Box::new(Task(start, argument)));
        let error = threads::create(&mut call, handle, std::ptr::null(), run, task.cast(), pc);
        if error != 0 {
            drop(Box::from_raw(task));
        }
        outcome(error)
    };
    fn thrd_join / 2 (handle: pthread_t, result: *mut c_int) -> c_int = |call, pc| {
        let mut value = std::ptr::null_mut();
        let error = threads::join(&mut call, handle, &mut value, Patience::Endless, pc);
        if error == 0 && !result.is_null() {
            *result = value as isize as c_int;
        }
        outcome(error)
    };
    fn thrd_detach / 1 (handle: pthread_t) -> c_int = |call, pc| outcome(threads::detach(handle));
    fn thrd_exit / 1 (result: c_int) = |call, pc| {
        drop(call);
        threads::exit(result as isize as *mut c_void, pc)
    };

    fn mtx_init / 2 (address: *mut libc::pthread_mutex_t, kind: c_int) -> c_int = |call, pc| {
        super::objects().mutexes.remove(&(address as usize));
        real!(mtx_init: fn(*mut libc::pthread_mutex_t, c_int) -> c_int)(address, kind)
    };
    fn mtx_destroy / 1 (address: *mut libc::pthread_mutex_t) = |call, pc| {
        super::objects().mutexes.remove(&(address as usize));
    };
    fn mtx_lock / 1 (address: usize) -> c_int =
        |call, pc| outcome(mutex::lock(&mut call, address, Patience::Endless, pc));
    fn mtx_trylock / 1 (address: usize) -> c_int =
        |call, pc| outcome(mutex::lock(&mut call, address, Patience::None, pc));
    fn mtx_timedlock / 2 (address: usize, time: *const timespec) -> c_int =
        |call, pc| outcome(mutex::timed_lock(&mut call, address, libc::CLOCK_REALTIME, time, pc));
    fn mtx_unlock / 1 (address: usize) -> c_int = |call, pc| outcome(mutex::unlock(&mut call, address, pc));

    fn cnd_init / 1 (address: usize) -> c_int = |call, pc| {
        super::objects().conditions.remove(&address);
        SUCCESS
    };
    fn cnd_destroy / 1 (address: usize) = |call, pc| {
        super::objects().conditions.remove(&address);
    };
    fn cnd_wait / 2 (address: usize, lock: usize) -> c_int =
        |call, pc| outcome(condition::wait(&mut call, address, lock, Patience::Endless, pc));
    fn cnd_timedwait / 3 (address: usize, lock: usize, time: *const timespec) -> c_int =
        |call, pc| outcome(condition::wait_until(&mut call, address, lock, None, time, pc));
    fn cnd_signal / 1 (address: usize) -> c_int = |call, pc| outcome(condition::notify(&mut call, address, false, pc));
    fn cnd_broadcast / 1 (address: usize) -> c_int = |call, pc| outcome(condition::notify(&mut call, address, true, pc));

    fn call_once / 2 (flag: *mut c_int, initialiser: once::Initialiser) = |call, pc| {
        once::run_once(call, flag, initialiser, pc);
    };
}
