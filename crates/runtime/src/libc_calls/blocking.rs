//! System calls that may block are made without the token.

use crate::call::Call;
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

/// The system has filled in `len` bytes, in pieces.
pub(crate) unsafe fn filled_pieces(call: &mut Call, pieces: *const iovec, count: usize, len: isize, pc: usize) {
    // SAFETY: as for `filled`.
    unsafe {
        for_pieces(pieces, count, usize::try_from(len).unwrap_or(0), |address, len| {
            filled(call, address, len as isize, pc);
        });
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
