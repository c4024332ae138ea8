//! Functions entered and left.
//!
//! A thread keeps the stack of functions it is in. Entering is logged late, when something in the
//! function is logged, and leaving only if entering was: most functions never touch anything shared.
//!
//! Not every function that is left says so (`longjmp`; exceptions, in C code) and some say so after
//! they have taken their frame down (a tail call). Frames are therefore told apart by the stack pointer, which
//! grows downwards: one that is not below the current one any more has been left.

use crate::current::current;
use crate::log::{self, header};
use crate::shadow;
use crate::thread::{Frame, Thread};
use interloper_wire::Kind;
use std::arch::naked_asm;

unsafe extern "C" fn enter(caller: usize, function: usize, stack: usize) {
    let thread = current();
    if thread.is_null() {
        return;
    }
    // SAFETY: the running thread's own data.
    unsafe {
        let thread = &mut *thread;
        if thread.depth > 0 && (*thread.frames.add(thread.depth - 1)).stack <= stack {
            leave_below(thread, stack + 1);
        }
        if thread.depth == thread.frame_room {
            make_room(thread);
        }
        thread.frames.add(thread.depth).write(Frame { stack, function, caller });
        thread.depth += 1;
    }
}

unsafe extern "C" fn exit(stack: usize) {
    let thread = current();
    if thread.is_null() {
        return;
    }
    // SAFETY: the running thread's own data.
    unsafe {
        let thread = &mut *thread;
        if thread.depth == 0 {
            return;
        }
        let top = (*thread.frames.add(thread.depth - 1)).stack;
        if top == stack {
            thread.depth -= 1;
            if thread.logged_depth > thread.depth {
                log_exits(thread, stack);
            }
        } else if top < stack {
            leave_below(thread, stack);
        }
        let free = below_caller(thread, stack);
        if free > thread.shared_stack {
            shadow::leave_stack(thread, free);
        }
    }
}

/// Up to where the stack is free once the innermost function has been left: its frame is above its stack
/// pointer, up to that of its caller.
unsafe fn below_caller(thread: &Thread, stack: usize) -> usize {
    if thread.depth == 0 {
        return stack;
    }
    // SAFETY: there are `depth` frames.
    unsafe { (*thread.frames.add(thread.depth - 1)).stack }
}

/// Leaves all functions whose stack pointer is below this.
#[cold]
unsafe fn leave_below(thread: &mut Thread, stack: usize) {
    // SAFETY: the running thread's own data.
    unsafe {
        while thread.depth > 0 && (*thread.frames.add(thread.depth - 1)).stack < stack {
            thread.depth -= 1;
        }
        if thread.logged_depth > thread.depth {
            log_exits(thread, stack);
        }
    }
}

#[inline(never)]
unsafe fn log_exits(thread: &mut Thread, stack: usize) {
    if thread.inside != 0 {
        return;
    }
    // SAFETY: the running thread, which has the token.
    unsafe {
        thread.settle();
        while thread.logged_depth > thread.depth {
            log::append(header(Kind::Exit, 0, 0), []);
            thread.logged_depth -= 1;
        }
        log::append(header(Kind::StackDrop, below_caller(thread, stack), 0), []);
    }
}

#[cold]
unsafe fn make_room(thread: &mut Thread) {
    // SAFETY: the frames came from a vector of this capacity, of which `depth` are initialised.
    unsafe {
        let mut frames = Vec::from_raw_parts(thread.frames, thread.depth, thread.frame_room);
        frames.reserve(thread.frame_room);
        thread.frame_room = frames.capacity();
        thread.frames = frames.leak().as_mut_ptr();
    }
}

/// A function has been entered, called from `caller`.
/// # Safety
/// Called by the program.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_entry(caller: usize) {
    naked_asm!("mov rsi, [rsp]", "lea rdx, [rsp + 8]", "jmp {enter}", enter = sym enter)
}

/// A function is about to be left.
/// # Safety
/// Called by the program.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_exit() {
    naked_asm!("lea rdi, [rsp + 8]", "jmp {exit}", exit = sym exit)
}
