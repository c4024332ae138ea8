//! Processes and modules: what begins and ends them, and what they are told of the machine.

use super::blocking::outside;
use crate::call::{Call, interpose, real};
use crate::current::current;
use crate::inputs;
use crate::scheduler;
use crate::start;
use crate::sync::futex;
use crate::sys::{self, syscall};
use interloper_wire::{AccessFlags, Notice};
use libc::{c_char, c_int, c_long, c_uint, c_void, pid_t, size_t};

/// The last words of a program that ends without running its destructors.
fn last_words() {
    let thread = current();
    if !thread.is_null() && start::is_recording() {
        // SAFETY: the running thread; if it is in the runtime, it has the token all the same.
        unsafe { start::end_log(&mut *thread) };
    }
}

unsafe fn exit_at_once(status: c_int) -> ! {
    last_words();
    loop {
        // SAFETY: does not return.
        unsafe { syscall!(libc::SYS_exit_group, status) };
    }
}

/// Interposes `_exit`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(status: c_int) -> ! {
    // SAFETY: as the program's call.
    unsafe { exit_at_once(status) }
}

/// Interposes `_Exit`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Exit(status: c_int) -> ! {
    // SAFETY: as the program's call.
    unsafe { exit_at_once(status) }
}

unsafe fn fork_and_tell(call: &mut Call) -> pid_t {
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        call.settle();
        let child = real!(fork: fn() -> pid_t)();
        if child > 0 {
            scheduler::notice(Notice::Forked, [child as u64, 0, 0], b"");
        }
        child
    }
}

unsafe fn load(call: &mut Call, path: *const c_char, flags: c_int) -> *mut c_void {
    let really = real!(dlopen: fn(*const c_char, c_int) -> *mut c_void);
    // SAFETY: a `Call` is proof of the token. The module's constructors are the program's.
    unsafe {
        call.settle();
        let module = call.run(|| really(path, flags));
        if !module.is_null() {
            start::log_modules();
        }
        module
    }
}

interpose! {
    fn fork / 0 () -> pid_t = |call, pc| {
        let child = fork_and_tell(&mut call);
        if child == 0 {
            // This is another process now, which the runtime has nothing to do with.
            std::mem::forget(call);
        }
        child
    };
    // A child that shares its parent's memory could not be told that it is not recorded.
    fn vfork / 0 () -> pid_t = |call, pc| {
        let child = fork_and_tell(&mut call);
        if child == 0 {
            std::mem::forget(call);
        }
        child
    };
    fn dlopen / 2 (path: *const c_char, flags: c_int) -> *mut c_void = |call, pc| load(&mut call, path, flags);
    fn sched_getcpu / 0 () -> c_int = |call, pc| 0;
    fn getcpu / 2 (processor: *mut c_uint, node: *mut c_uint) -> c_int =
        |call, pc| on_first_processor(&mut call, processor, node, pc);
    fn sched_getaffinity / 3 (process: pid_t, len: size_t, mask: *mut c_void) -> c_int = |call, pc| {
        let all = start::processors();
        let len = len.min(size_of_val(&all));
        std::ptr::copy_nonoverlapping(all.as_ptr().cast::<u8>(), mask.cast(), len);
        crate::ranges::wrote(&mut call, mask as usize, len, pc, AccessFlags::SYSTEM);
        0
    };
    fn pthread_getaffinity_np / 3 (thread: libc::pthread_t, len: size_t, mask: *mut c_void) -> c_int = |call, pc| {
        let all = start::processors();
        std::ptr::copy_nonoverlapping(all.as_ptr().cast::<u8>(), mask.cast(), len.min(size_of_val(&all)));
        0
    };
    fn sched_setaffinity / 3 (process: pid_t, len: size_t, mask: *const c_void) -> c_int = |call, pc| 0;
    fn pthread_setaffinity_np / 3 (thread: libc::pthread_t, len: size_t, mask: *const c_void) -> c_int = |call, pc| 0;
    fn get_nprocs / 0 () -> c_int = |call, pc| processor_count();
    fn sysconf / 1 (name: c_int) -> c_long = |call, pc| {
        if name == libc::_SC_NPROCESSORS_ONLN {
            return c_long::from(processor_count());
        }
        real!(sysconf: fn(c_int) -> c_long)(name)
    };
    fn waitpid / 3 (process: pid_t, status: *mut c_int, options: c_int) -> pid_t = |call, pc| {
        let really = real!(waitpid: fn(pid_t, *mut c_int, c_int) -> pid_t);
        let result = outside(&mut call, options & libc::WNOHANG == 0, pc, || really(process, status, options));
        if result > 0 && !status.is_null() {
            crate::ranges::wrote(&mut call, status as usize, size_of::<c_int>(), pc, AccessFlags::SYSTEM);
        }
        result
    };
    fn wait / 1 (status: *mut c_int) -> pid_t = |call, pc| {
        let really = real!(wait: fn(*mut c_int) -> pid_t);
        let result = outside(&mut call, true, pc, || really(status));
        if result > 0 && !status.is_null() {
            crate::ranges::wrote(&mut call, status as usize, size_of::<c_int>(), pc, AccessFlags::SYSTEM);
        }
        result
    };
}

/// Says that the thread is on the first processor.
unsafe fn on_first_processor(call: &mut Call, processor: *mut c_uint, node: *mut c_uint, pc: usize) -> c_int {
    for place in [processor, node] {
        // SAFETY: a `Call` is proof of the token; the program's places are valid or null.
        unsafe {
            if let Some(place) = place.as_mut() {
                call.settle();
                *place = 0;
                crate::ranges::wrote(call, &raw const *place as usize, size_of::<c_uint>(), pc, AccessFlags::SYSTEM);
            }
        }
    }
    0
}

fn processor_count() -> c_int {
    start::processors().iter().map(|word| word.count_ones()).sum::<u32>().max(1) as c_int
}

/// Interposes `syscall`: futexes are modelled, time and processors as by the functions for them, everything else is the
/// kernel's. The last argument and where it is called from are passed on the stack.
/// # Safety
/// As for the function of this name.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn syscall() {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "mov rax, [rsp + 8]",
        "mov r11, [rsp]",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "push r11",
        ".cfi_adjust_cfa_offset 8",
        "push rax",
        ".cfi_adjust_cfa_offset 8",
        "call {implementation}",
        "add rsp, 24",
        ".cfi_adjust_cfa_offset -24",
        "ret",
        ".cfi_endproc",
        implementation = sym system_call,
    )
}

#[allow(clippy::too_many_arguments)] // As many as the kernel takes.
unsafe extern "C-unwind" fn system_call(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    pc: usize,
) -> c_long {
    // SAFETY: as the program's call.
    unsafe {
        if let Some(mut call) = Call::enter_outward() {
            call.settle();
            let arguments = [a, b, c, d, e, f];
            match number {
                libc::SYS_futex => {
                    if let Some(result) = futex::call(&mut call, arguments, pc) {
                        return sys::libc_result(result) as c_long;
                    }
                }
                libc::SYS_exit_group => exit_at_once(a as c_int),
                libc::SYS_getrandom => {
                    drop(call);
                    return crate::random::getrandom_call(a, b) as c_long;
                }
                libc::SYS_sched_yield => {
                    scheduler::give_way(&mut call);
                    return 0;
                }
                libc::SYS_gettid => {
                    let id = sys::thread_id();
                    inputs::number(&mut call, "tid", u64::from(id.unsigned_abs()), 4, pc);
                    return c_long::from(id);
                }
                libc::SYS_getpid => {
                    let id = sys::call(number, [0; 6]);
                    inputs::number(&mut call, "pid", id as u64, 4, pc);
                    return id as c_long;
                }
                libc::SYS_getcpu => return c_long::from(on_first_processor(&mut call, a as *mut _, b as *mut _, pc)),
                libc::SYS_clock_gettime => {
                    drop(call);
                    return c_long::from(super::time::clock_gettime(a as libc::clockid_t, b as *mut libc::timespec));
                }
                libc::SYS_gettimeofday => {
                    drop(call);
                    return c_long::from(super::time::gettimeofday(a as *mut libc::timeval, b as *mut c_void));
                }
                libc::SYS_time => {
                    drop(call);
                    return super::time::time(a as *mut libc::time_t);
                }
                _ => {}
            }
        }
        sys::libc_result(sys::call(number, [a, b, c, d, e, f])) as c_long
    }
}
