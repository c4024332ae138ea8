//! Which of our threads the running one is.
//!
//! A thread-local variable of the initial-exec kind: an access is two instructions and calls nothing,
//! which Rust's own thread-locals do not promise in a shared library.

use crate::thread::Thread;
use std::arch::{asm, global_asm};

global_asm!(
    ".section .tbss.interloper_current,\"awT\",@nobits",
    ".p2align 3",
    ".globl interloper_current",
    ".hidden interloper_current",
    ".type interloper_current,@object",
    ".size interloper_current,8",
    "interloper_current:",
    ".zero 8",
    ".text",
);

/// The running thread; null before the runtime has begun, after it has ended, and in threads that
/// are not the program's.
#[inline(always)]
pub(crate) fn current() -> *mut Thread {
    let thread: *mut Thread;
    // SAFETY: reads a variable of this thread.
    unsafe {
        asm!(
            "mov {thread}, qword ptr [rip + interloper_current@GOTTPOFF]",
            "mov {thread}, qword ptr fs:[{thread}]",
            thread = out(reg) thread,
            options(readonly, nostack, preserves_flags),
        );
    }
    thread
}

/// Makes `thread` the running one.
pub(crate) fn set_current(thread: *mut Thread) {
    // SAFETY: writes a variable of this thread.
    unsafe {
        asm!(
            "mov {offset}, qword ptr [rip + interloper_current@GOTTPOFF]",
            "mov qword ptr fs:[{offset}], {thread}",
            offset = out(reg) _,
            thread = in(reg) thread,
            options(nostack, preserves_flags),
        );
    }
}
