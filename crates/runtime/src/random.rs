//! Random numbers that the program asks the system for: the same in every run with the same seed.
//!
//! The processor's own instruction for random numbers cannot be interposed; `std::random_device` uses it.

use crate::call::interpose;
use crate::ranges;
use crate::scheduler::Random;
use crate::thread::Guarded;
use libc::{c_int, c_uint, c_void, size_t, ssize_t};

/// Guarded by the token.
static SOURCE: Guarded<Random> = Guarded::new(Random::new(0));

/// Sets the seed.
pub(crate) unsafe fn begin(seed: u64) {
    // SAFETY: the program has one thread yet. Not the scheduler's own sequence.
    unsafe { *SOURCE.get() = Random::new(!seed) };
}

unsafe fn fill(buffer: *mut c_void, len: usize) {
    // SAFETY: the caller has the token and a buffer of this length.
    unsafe {
        let source = SOURCE.get();
        for at in 0..len {
            *buffer.cast::<u8>().add(at) = source.next() as u8;
        }
    }
}

interpose! {
    fn getrandom / 3 (buffer: *mut c_void, len: size_t, flags: c_uint) -> ssize_t = |call, pc| {
        call.settle();
        fill(buffer, len);
        ranges::wrote(&mut call, buffer as usize, len, pc, interloper_wire::AccessFlags::SYSTEM);
        len as ssize_t
    };
    fn getentropy / 2 (buffer: *mut c_void, len: size_t) -> c_int = |call, pc| {
        call.settle();
        fill(buffer, len);
        ranges::wrote(&mut call, buffer as usize, len, pc, interloper_wire::AccessFlags::SYSTEM);
        0
    };
}

/// `getrandom` as a system call.
pub(crate) unsafe fn getrandom_call(buffer: usize, len: usize) -> isize {
    match crate::call::Call::enter_quietly() {
        Some(mut call) => {
            // SAFETY: the program's buffer; a `Call` is proof of the token.
            unsafe {
                call.settle();
                fill(buffer as *mut c_void, len);
                ranges::wrote(&mut call, buffer, len, 0, interloper_wire::AccessFlags::SYSTEM);
            }
            len as isize
        }
        // SAFETY: as the program's call.
        None => crate::sys::libc_result(unsafe { crate::sys::syscall!(libc::SYS_getrandom, buffer, len, 0) }),
    }
}
