//! System calls that may block are made without the token.

use crate::call::{Call, real};
use crate::inputs;
use crate::ranges;
use crate::scheduler;
use crate::sync::futex::stop;
use crate::sys::syscall;
use crate::thread::Thread;
use interloper_wire::{AccessFlags, Stop};
use libc::{POLLIN, POLLOUT, c_int, iovec};

/// Makes a call that may block, or will not. While it is made others run, if it may; it must not touch what the token
/// guards.
pub(crate) unsafe fn outside<R>(call: &mut Call, may_block: bool, pc: usize, action: impl FnOnce() -> R) -> R {
    /// Comes back however the call ends: a thread may be cancelled in it.
    struct Outside(*mut Thread);
    impl Drop for Outside {
        fn drop(&mut self) {
            // SAFETY: the running thread, which has left; what it says with `errno` is kept.
            unsafe {
                let errno = *libc::__errno_location();
                scheduler::come_back(&mut *self.0);
                *libc::__errno_location() = errno;
            }
        }
    }
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        crate::signals::test_cancel(call);
        call.settle();
        if !scheduler::leaves(call, may_block) {
            return action();
        }
        stop(call, Stop::Call, pc);
        scheduler::leave(call);
        let _outside = Outside(&raw mut **call);
        action()
    }
}

/// Waits without the token until the file is ready, and then makes the call with it. So what the call finds is what
/// earlier turns have left there, and is the same when they are taken again; as long as it is this program's
/// threads that talk to each other.
///
/// A signal interrupts the wait. Its handler is run, and if it says so the wait goes on.
pub(crate) unsafe fn when_ready<R: Failure>(
    call: &mut Call,
    file: c_int,
    events: i16,
    pc: usize,
    action: impl FnOnce() -> R,
) -> R {
    // SAFETY: a `Call` is proof of the token; the request lives through the calls.
    unsafe {
        let really = real!(poll: fn(*mut libc::pollfd, libc::nfds_t, c_int) -> c_int);
        let waits = is_blocking(file) && may_block(file, events);
        loop {
            let mut request = libc::pollfd { fd: file, events, revents: 0 };
            let timeout = if waits || scheduler::is_following() { -1 } else { 0 };
            let request = &raw mut request;
            let wait = || {
                if is_blocking(file) { really(request, 1, timeout) } else { 0 }
            };
            if outside(call, waits, pc, wait) >= 0 {
                return action();
            }
            let restarts = crate::signals::all_restart(call);
            crate::signals::attend(call);
            if !restarts {
                crate::sys::set_errno(libc::EINTR);
                return R::FAILED;
            }
        }
    }
}

/// A result that may say that a call failed.
pub(crate) trait Failure {
    const FAILED: Self;
}

impl Failure for c_int {
    const FAILED: c_int = -1;
}

impl Failure for isize {
    const FAILED: isize = -1;
}

/// Writes as `write` would, in parts that do not block once there is room for them.
pub(crate) unsafe fn write_in_parts(
    call: &mut Call,
    file: c_int,
    len: usize,
    pc: usize,
    mut part: impl FnMut(usize, usize) -> isize,
) -> isize {
    let mut done = 0;
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        let limit = if write_may_block(file, len) && is_blocking(file) { libc::PIPE_BUF } else { usize::MAX };
        loop {
            let next = (len - done).min(limit);
            let result = when_ready(call, file, POLLOUT, pc, || part(done, next));
            match usize::try_from(result) {
                Err(_) if done == 0 => return result,
                Err(_) => return done as isize,
                Ok(written) => done += written,
            }
            if done >= len || result == 0 {
                return done as isize;
            }
        }
    }
}

/// Whether a call on this file could wait for something: not on regular files, nor if all is there.
pub(crate) unsafe fn may_block(file: c_int, events: i16) -> bool {
    let mut request = libc::pollfd { fd: file, events, revents: 0 };
    // SAFETY: the request lives through the call.
    unsafe { syscall!(libc::SYS_poll, &raw mut request, 1, 0) == 0 }
}

/// Whether reading this file could.
pub(crate) unsafe fn read_may_block(file: c_int) -> bool {
    // SAFETY: any number will do.
    unsafe { may_block(file, POLLIN) }
}

/// Whether writing that much to this file could. That there is room does not mean that there is enough.
pub(crate) unsafe fn write_may_block(file: c_int, len: usize) -> bool {
    // SAFETY: any number will do; the kernel fills in what is there for it.
    unsafe {
        if may_block(file, POLLOUT) {
            return true;
        }
        let mut status: libc::stat = std::mem::zeroed();
        len > libc::PIPE_BUF
            && syscall!(libc::SYS_fstat, file, &raw mut status) == 0
            && matches!(status.st_mode & libc::S_IFMT, libc::S_IFIFO | libc::S_IFSOCK | libc::S_IFCHR)
    }
}

/// Whether the file waits at all.
pub(crate) unsafe fn is_blocking(file: c_int) -> bool {
    // SAFETY: any number will do.
    unsafe { syscall!(libc::SYS_fcntl, file, libc::F_GETFL) & libc::O_NONBLOCK as isize == 0 }
}

/// The system has filled in `len` bytes, if it has done anything.
pub(crate) unsafe fn filled(call: &mut Call, address: usize, len: isize, pc: usize) {
    if address != 0 {
        // SAFETY: a `Call` is proof of the token; the program gave the place.
        unsafe { ranges::wrote(call, address, usize::try_from(len).unwrap_or(0), pc, AccessFlags::SYSTEM) };
    }
}

/// The program has read `len` bytes from a file.
pub(crate) unsafe fn got(call: &mut Call, file: c_int, address: usize, len: isize, pc: usize) {
    if address != 0 {
        // SAFETY: as for `filled`.
        unsafe {
            call.settle();
            inputs::from_file(call, file, address, len, pc);
            filled(call, address, len, pc);
        }
    }
}

/// The program has read `len` bytes from a file, in pieces.
pub(crate) unsafe fn got_pieces(
    call: &mut Call,
    file: c_int,
    pieces: *const iovec,
    count: usize,
    len: isize,
    pc: usize,
) {
    // SAFETY: as for `filled`.
    unsafe {
        for_pieces(pieces, count, usize::try_from(len).unwrap_or(0), |address, len| {
            got(call, file, address, len as isize, pc);
        });
    }
}

/// The system has filled in a value, if there is a place for it.
pub(crate) unsafe fn filled_in<T>(call: &mut Call, place: *const T, pc: usize) {
    // SAFETY: as for `filled`.
    unsafe { filled(call, place as usize, size_of::<T>() as isize, pc) };
}

/// Does something with each of the pieces that make up `len` bytes.
pub(crate) unsafe fn for_pieces(pieces: *const iovec, count: usize, len: usize, mut action: impl FnMut(usize, usize)) {
    let mut left = len;
    for number in 0..count {
        // SAFETY: the program gave that many.
        let piece = unsafe { &*pieces.add(number) };
        let len = left.min(piece.iov_len);
        if len != 0 {
            action(piece.iov_base as usize, len);
        }
        left -= len;
    }
}

/// All of the pieces are about to be read; how many bytes they are.
pub(crate) unsafe fn read_pieces(call: &mut Call, pieces: *const iovec, count: usize, pc: usize) -> usize {
    let mut total = 0;
    // SAFETY: a `Call` is proof of the token; the program gave the pieces.
    unsafe {
        call.settle();
        ranges::read(call, pieces as usize, count * size_of::<iovec>(), pc);
        for_pieces(pieces, count, usize::MAX, |address, len| {
            ranges::read(call, address, len, pc);
            total += len;
        });
    }
    total
}
