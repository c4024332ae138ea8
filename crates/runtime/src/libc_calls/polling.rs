//! Waiting for files, signals, child processes and names: made without the token, if nothing is there yet.
//!
//! A time limit is one of real time, since what is waited for comes from outside. Where nothing but the time is waited
//! for, it is a sleep, and virtual.

use super::blocking::*;
use super::passage::interpose_six;
use crate::call::{Call, interpose, real};
use crate::clock;
use crate::inputs;
use crate::sync::futex::stop;
use crate::sync::{Patience, nanoseconds};
use crate::sys::{set_errno, syscall};
use crate::thread::{What, Woken};
use interloper_wire::Stop;
use libc::{
    c_char, c_int, c_void, epoll_event, fd_set, id_t, idtype_t, nfds_t, pid_t, pollfd, rusage, siginfo_t, sigset_t,
    size_t, socklen_t, timespec, timeval,
};

/// Waits that long, and for nothing else; as `poll` without files.
unsafe fn sleep(call: &mut Call, length: u64, pc: usize) -> c_int {
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        crate::signals::test_cancel(call);
        stop(call, Stop::Sleep, pc);
        let woken = Patience::Until(clock::deadline_in(length)).wait(call, What::Time, 0);
        crate::signals::test_cancel(call);
        if woken == Woken::Interrupted {
            set_errno(libc::EINTR);
            return -1;
        }
    }
    0
}

/// Whether none of these files has anything to tell yet.
unsafe fn all_quiet(call: &mut Call, files: *mut pollfd, count: nfds_t) -> bool {
    // SAFETY: the program gave them; what is filled in is filled in again by the call itself.
    unsafe {
        call.settle();
        syscall!(libc::SYS_poll, files, count, 0) == 0
    }
}

/// The system has filled in what happened to files.
unsafe fn filled_files(call: &mut Call, files: *const pollfd, count: nfds_t, pc: usize) {
    for number in 0..count as usize {
        // SAFETY: a `Call` is proof of the token; the program gave that many.
        unsafe { filled_in(call, &raw const (*files.add(number)).revents, pc) };
    }
}

const MILLISECOND: u64 = 1_000_000;

interpose! {
    fn poll / 3 (files: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int = |call, pc| {
        if let (0, 1..) = (count, timeout) {
            return sleep(&mut call, timeout as u64 * MILLISECOND, pc);
        }
        let really = real!(poll: fn(*mut pollfd, nfds_t, c_int) -> c_int);
        let waits = timeout != 0 && all_quiet(&mut call, files, count);
        // Asked again with the token, so that the answer is that of the turns before, not of the moment.
        let mut result;
        loop {
            result = outside(&mut call, waits, pc, || really(files, count, timeout));
            if result > 0 {
                result = really(files, count, 0);
            }
            if result != 0 || timeout >= 0 {
                break;
            }
        }
        inputs::number(&mut call, "poll", result as u64, 4, pc);
        if result >= 0 {
            filled_files(&mut call, files, count, pc);
        }
        result
    };
    fn __poll_chk / 4 (files: *mut pollfd, count: nfds_t, timeout: c_int, room: size_t) -> c_int = |call, pc| {
        if let (0, 1..) = (count, timeout) {
            return sleep(&mut call, timeout as u64 * MILLISECOND, pc);
        }
        let really = real!(__poll_chk: fn(*mut pollfd, nfds_t, c_int, size_t) -> c_int);
        let waits = timeout != 0 && all_quiet(&mut call, files, count);
        let result = outside(&mut call, waits, pc, || really(files, count, timeout, room));
        inputs::number(&mut call, "poll", result as u64, 4, pc);
        if result >= 0 {
            filled_files(&mut call, files, count, pc);
        }
        result
    };
    fn ppoll / 4 (files: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int =
        |call, pc| {
            let time = if timeout.is_null() { None } else { nanoseconds(timeout) };
            if let (0, Some(time @ 1..), true) = (count, time, mask.is_null()) {
                return sleep(&mut call, time, pc);
            }
            let really = real!(ppoll: fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t) -> c_int);
            let waits = time != Some(0) && all_quiet(&mut call, files, count);
            let result = outside(&mut call, waits, pc, || really(files, count, timeout, mask));
            inputs::number(&mut call, "poll", result as u64, 4, pc);
            if result >= 0 {
                filled_files(&mut call, files, count, pc);
            }
            result
        };
    fn __ppoll_chk / 5 (
        files: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t, room: size_t,
    ) -> c_int = |call, pc| {
        let really = real!(__ppoll_chk: fn(*mut pollfd, nfds_t, *const timespec, *const sigset_t, size_t) -> c_int);
        let waits = (timeout.is_null() || nanoseconds(timeout) != Some(0)) && all_quiet(&mut call, files, count);
        let result = outside(&mut call, waits, pc, || really(files, count, timeout, mask, room));
        inputs::number(&mut call, "poll", result as u64, 4, pc);
        if result >= 0 {
            filled_files(&mut call, files, count, pc);
        }
        result
    };
}

/// Three sets of files, as `select` takes them.
type Sets = [*mut fd_set; 3];

/// How many bytes a set of that many files has.
fn set_len(count: c_int) -> usize {
    usize::try_from(count).unwrap_or(0).div_ceil(64) * 8
}

/// Whether there is nothing to tell about any of these files yet. The sets are not touched.
unsafe fn all_sets_quiet(count: c_int, sets: Sets) -> bool {
    const ROOM: usize = 8192;
    let len = set_len(count);
    if len > ROOM {
        return true;
    }
    let mut copies = [[0u8; ROOM]; 3];
    // SAFETY: the program gave sets for so many files.
    unsafe {
        let mut places = [0usize; 3];
        for ((set, copy), place) in sets.into_iter().zip(&mut copies).zip(&mut places) {
            if !set.is_null() {
                std::ptr::copy_nonoverlapping(set.cast::<u8>(), copy.as_mut_ptr(), len);
                *place = copy.as_mut_ptr() as usize;
            }
        }
        let time = [0u64; 2];
        syscall!(libc::SYS_select, count as isize, places[0], places[1], places[2], time.as_ptr()) == 0
    }
}

unsafe fn filled_sets(call: &mut Call, count: c_int, sets: Sets, pc: usize) {
    for set in sets {
        // SAFETY: a `Call` is proof of the token; the program gave sets for so many files.
        unsafe { filled(call, set as usize, set_len(count) as isize, pc) };
    }
}

interpose! {
    fn select / 5 (
        count: c_int, reading: *mut fd_set, writing: *mut fd_set, failing: *mut fd_set, timeout: *mut timeval,
    ) -> c_int = |call, pc| {
        let sets = [reading, writing, failing];
        let time = timeout.as_ref().map(|time| {
            (time.tv_sec.max(0) as u64).saturating_mul(1000 * MILLISECOND) + time.tv_usec.max(0) as u64 * 1000
        });
        if let Some(time @ 1..) = time
            && (count == 0 || sets.iter().all(|set| set.is_null()))
        {
            let result = sleep(&mut call, time, pc);
            if result == 0 {
                *timeout = timeval { tv_sec: 0, tv_usec: 0 };
                filled_in(&mut call, timeout, pc);
            }
            return result;
        }
        let really = real!(select: fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *mut timeval) -> c_int);
        let waits = time != Some(0) && all_sets_quiet(count, sets);
        let result = outside(&mut call, waits, pc, || really(count, reading, writing, failing, timeout));
        inputs::number(&mut call, "select", result as u64, 4, pc);
        if result >= 0 {
            filled_sets(&mut call, count, sets, pc);
            filled_in(&mut call, timeout, pc);
        }
        result
    };
    fn epoll_wait / 4 (poller: c_int, events: *mut epoll_event, count: c_int, timeout: c_int) -> c_int = |call, pc| {
        let really = real!(epoll_wait: fn(c_int, *mut epoll_event, c_int, c_int) -> c_int);
        let waits = timeout != 0 && read_may_block(poller);
        let result = outside(&mut call, waits, pc, || really(poller, events, count, timeout));
        inputs::number(&mut call, "epoll", result as u64, 4, pc);
        filled(&mut call, events as usize, result as isize * size_of::<epoll_event>() as isize, pc);
        result
    };
    fn epoll_pwait / 5 (
        poller: c_int, events: *mut epoll_event, count: c_int, timeout: c_int, mask: *const sigset_t,
    ) -> c_int = |call, pc| {
        let really = real!(epoll_pwait: fn(c_int, *mut epoll_event, c_int, c_int, *const sigset_t) -> c_int);
        let waits = timeout != 0 && read_may_block(poller);
        let result = outside(&mut call, waits, pc, || really(poller, events, count, timeout, mask));
        inputs::number(&mut call, "epoll", result as u64, 4, pc);
        filled(&mut call, events as usize, result as isize * size_of::<epoll_event>() as isize, pc);
        result
    };
    fn epoll_pwait2 / 5 (
        poller: c_int, events: *mut epoll_event, count: c_int, timeout: *const timespec, mask: *const sigset_t,
    ) -> c_int = |call, pc| {
        let really =
            real!(epoll_pwait2: fn(c_int, *mut epoll_event, c_int, *const timespec, *const sigset_t) -> c_int);
        let waits = (timeout.is_null() || nanoseconds(timeout) != Some(0)) && read_may_block(poller);
        let result = outside(&mut call, waits, pc, || really(poller, events, count, timeout, mask));
        inputs::number(&mut call, "epoll", result as u64, 4, pc);
        filled(&mut call, events as usize, result as isize * size_of::<epoll_event>() as isize, pc);
        result
    };
}

interpose_six! {
    fn pselect (
        count: c_int, reading: *mut fd_set, writing: *mut fd_set, failing: *mut fd_set, timeout: *const timespec,
        mask: *const sigset_t,
    ) -> c_int = |call, pc| {
        let sets = [reading, writing, failing];
        let time = if timeout.is_null() { None } else { nanoseconds(timeout) };
        if let (Some(time @ 1..), true) = (time, mask.is_null())
            && (count == 0 || sets.iter().all(|set| set.is_null()))
        {
            return sleep(&mut call, time, pc);
        }
        let really = real!(
            pselect: fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *const timespec, *const sigset_t) -> c_int);
        let waits = time != Some(0) && all_sets_quiet(count, sets);
        let result = outside(&mut call, waits, pc, || really(count, reading, writing, failing, timeout, mask));
        inputs::number(&mut call, "select", result as u64, 4, pc);
        if result >= 0 {
            filled_sets(&mut call, count, sets, pc);
        }
        result
    };
}

interpose! {
    fn sigwait / 2 (set: *const sigset_t, signal: *mut c_int) -> c_int = |call, pc| {
        let really = real!(sigwait: fn(*const sigset_t, *mut c_int) -> c_int);
        let result = outside(&mut call, true, pc, || really(set, signal));
        if result == 0 {
            filled_in(&mut call, signal, pc);
        }
        result
    };
    fn sigwaitinfo / 2 (set: *const sigset_t, info: *mut siginfo_t) -> c_int = |call, pc| {
        let really = real!(sigwaitinfo: fn(*const sigset_t, *mut siginfo_t) -> c_int);
        let result = outside(&mut call, true, pc, || really(set, info));
        if result >= 0 {
            filled_in(&mut call, info, pc);
        }
        result
    };
    fn sigtimedwait / 3 (set: *const sigset_t, info: *mut siginfo_t, time: *const timespec) -> c_int = |call, pc| {
        let really = real!(sigtimedwait: fn(*const sigset_t, *mut siginfo_t, *const timespec) -> c_int);
        let waits = time.is_null() || nanoseconds(time) != Some(0);
        let result = outside(&mut call, waits, pc, || really(set, info, time));
        if result >= 0 {
            filled_in(&mut call, info, pc);
        }
        result
    };
    fn sigsuspend / 1 (mask: *const sigset_t) -> c_int = |call, pc| {
        let really = real!(sigsuspend: fn(*const sigset_t) -> c_int);
        outside(&mut call, true, pc, || really(mask))
    };
    fn waitid / 4 (kind: idtype_t, id: id_t, info: *mut siginfo_t, options: c_int) -> c_int = |call, pc| {
        let really = real!(waitid: fn(idtype_t, id_t, *mut siginfo_t, c_int) -> c_int);
        let waits = options & libc::WNOHANG == 0;
        let result = outside(&mut call, waits, pc, || really(kind, id, info, options));
        if result == 0 {
            filled_in(&mut call, info, pc);
        }
        result
    };
    fn wait3 / 3 (status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t = |call, pc| {
        let really = real!(wait3: fn(*mut c_int, c_int, *mut rusage) -> pid_t);
        let waits = options & libc::WNOHANG == 0;
        let result = outside(&mut call, waits, pc, || really(status, options, usage));
        if result > 0 {
            filled_in(&mut call, status, pc);
            filled_in(&mut call, usage, pc);
        }
        result
    };
    fn wait4 / 4 (process: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t = |call, pc| {
        let really = real!(wait4: fn(pid_t, *mut c_int, c_int, *mut rusage) -> pid_t);
        let waits = options & libc::WNOHANG == 0;
        let result = outside(&mut call, waits, pc, || really(process, status, options, usage));
        if result > 0 {
            filled_in(&mut call, status, pc);
            filled_in(&mut call, usage, pc);
        }
        result
    };
    fn system / 1 (command: *const c_char) -> c_int = |call, pc| {
        let really = real!(system: fn(*const c_char) -> c_int);
        outside(&mut call, true, pc, || really(command))
    };
    fn pclose / 1 (stream: *mut c_void) -> c_int = |call, pc| {
        let really = real!(pclose: fn(*mut c_void) -> c_int);
        outside(&mut call, true, pc, || really(stream))
    };
}

// Names are asked of servers; what comes back is in memory of libc's own.
interpose! {
    fn getaddrinfo / 4 (node: *const c_char, service: *const c_char, hints: *const c_void, result: *mut usize)
        -> c_int = |call, pc| {
            let really = real!(getaddrinfo: fn(*const c_char, *const c_char, *const c_void, *mut usize) -> c_int);
            let error = outside(&mut call, true, pc, || really(node, service, hints, result));
            if error == 0 {
                filled_in(&mut call, result, pc);
            }
            error
        };
    fn gethostbyname / 1 (name: *const c_char) -> *mut c_void = |call, pc| {
        let really = real!(gethostbyname: fn(*const c_char) -> *mut c_void);
        outside(&mut call, true, pc, || really(name))
    };
    fn gethostbyname2 / 2 (name: *const c_char, family: c_int) -> *mut c_void = |call, pc| {
        let really = real!(gethostbyname2: fn(*const c_char, c_int) -> *mut c_void);
        outside(&mut call, true, pc, || really(name, family))
    };
    fn gethostbyaddr / 3 (address: *const c_void, len: socklen_t, family: c_int) -> *mut c_void = |call, pc| {
        let really = real!(gethostbyaddr: fn(*const c_void, socklen_t, c_int) -> *mut c_void);
        outside(&mut call, true, pc, || really(address, len, family))
    };
}
