//! Futexes, as code that brings its own locks uses them: libstdc++'s `atomic::wait`, Rust's `std`,
//! anything that calls `syscall(SYS_futex, …)`.
//!
//! Modelled: wait and wake, with and without bit sets, and requeue. The others are passed on to the kernel,
//! which knows nothing of those who wait here; they are said to be unsupported.

use super::{Patience, Waiters, nanoseconds, objects};
use crate::clock;
use crate::scheduler;
use crate::thread::{Thread, What, Woken};
use interloper_wire::{Kind, Notice, Stop};
use libc::{c_int, timespec};

/// Does what the system call would; `None` if it is for the kernel. Errors are negative.
pub(crate) unsafe fn call(thread: &mut Thread, arguments: [usize; 6], pc: usize) -> Option<isize> {
    let [word, operation, value, time, other, _] = arguments;
    let operation = operation as c_int;
    let clock = if operation & libc::FUTEX_CLOCK_REALTIME != 0 { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
    // SAFETY: the caller has the token; the program's arguments are valid, or it would get EFAULT.
    unsafe {
        match operation & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
            libc::FUTEX_WAIT => {
                let patience = relative(time as *const timespec);
                Some(wait(thread, word, value as u32, patience, pc))
            }
            libc::FUTEX_WAIT_BITSET => {
                let patience = match (time as *const timespec).as_ref() {
                    None => Patience::Endless,
                    Some(time) => Patience::until(clock, time).ok()?,
                };
                Some(wait(thread, word, value as u32, patience, pc))
            }
            libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => Some(wake(thread, word, value as i32)),
            libc::FUTEX_REQUEUE => {
                let woken = wake(thread, word, value as i32);
                Some(woken + requeue(word, other, time as i32))
            }
            libc::FUTEX_CMP_REQUEUE => {
                if *(word as *const u32) != arguments[5] as u32 {
                    return Some(-(libc::EAGAIN as isize));
                }
                let woken = wake(thread, word, value as i32);
                Some(woken + requeue(word, other, time as i32))
            }
            _ => {
                scheduler::notice(Notice::Unsupported, [0; 3], b"a futex operation other than wait, wake and requeue");
                None
            }
        }
    }
}

unsafe fn relative(time: *const timespec) -> Patience {
    // SAFETY: the program passes null or a valid time; the caller has the token.
    unsafe {
        if time.is_null() {
            return Patience::Endless;
        }
        Patience::Until(clock::deadline_in(nanoseconds(time).unwrap_or(0)))
    }
}

unsafe fn wait(thread: &mut Thread, word: usize, expected: u32, patience: Patience, pc: usize) -> isize {
    // SAFETY: the caller has the token; no reference into the tables is kept while waiting.
    unsafe {
        if *(word as *const u32) != expected {
            return -(libc::EAGAIN as isize);
        }
        stop(thread, Stop::Wait, pc);
        objects().futexes.entry(word).or_default().add(thread);
        let woken = patience.wait(thread, What::Futex, word);
        if woken != Woken::Notified {
            for waiters in objects().futexes.values_mut() {
                waiters.remove(thread);
            }
        }
        match woken {
            Woken::Notified => 0,
            Woken::TimedOut => -(libc::ETIMEDOUT as isize),
            Woken::Interrupted => -(libc::EINTR as isize),
        }
    }
}

/// Wakes up to `count` of those who wait, and returns how many.
pub(crate) unsafe fn wake(thread: &mut Thread, word: usize, count: i32) -> isize {
    let mut woken = 0;
    // SAFETY: the caller has the token.
    unsafe {
        if let Some(waiters) = objects().futexes.get_mut(&word) {
            while woken < count as isize && waiters.wake_one(thread) {
                woken += 1;
            }
            if waiters.is_empty() {
                objects().futexes.remove(&word);
            }
        }
    }
    woken
}

unsafe fn requeue(from: usize, to: usize, count: i32) -> isize {
    // SAFETY: the caller has the token.
    let futexes = unsafe { &mut objects().futexes };
    let Some(Waiters(waiting)) = futexes.get_mut(&from) else { return 0 };
    let moved: Vec<u32> = waiting.drain(..waiting.len().min(count.max(0) as usize)).collect();
    let count = moved.len() as isize;
    futexes.entry(to).or_default().0.extend(moved);
    count
}

/// Logs that nobody expects to be alone from here to the next event.
pub(crate) unsafe fn stop(thread: &mut Thread, why: Stop, pc: usize) {
    use crate::log::{self, header};
    // SAFETY: the caller has the token.
    unsafe {
        thread.prepare();
        log::append(interloper_wire::RecordHeader { arg: why as u8, ..header(Kind::Stop, 0, pc) }, []);
    }
}
