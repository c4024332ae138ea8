//! System calls that may block are made without the token.

use crate::call::Call;
use crate::scheduler;
use crate::sync::futex::stop;
use crate::sys::syscall;
use crate::thread::Thread;
use interloper_wire::Stop;
use libc::c_int;

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
