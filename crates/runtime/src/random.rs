//! Random numbers that the program asks the system for: the same in every run with the same seed.
//!
//! The processor's own instruction for random numbers cannot be interposed; `std::random_device`, which uses it, is.

use crate::call::{Call, interpose, outward, real};
use crate::inputs;
use crate::ranges;
use crate::scheduler::Random;
use crate::thread::Guarded;
use libc::{c_char, c_int, c_uint, c_void, size_t, ssize_t};

/// Guarded by the token.
static SOURCE: Guarded<Random> = Guarded::new(Random::new(0));

/// Sets the seed.
pub(crate) unsafe fn begin(seed: u64) {
    // SAFETY: the program has one thread yet. Not the scheduler's own sequence.
    unsafe { *SOURCE.get() = Random::new(!seed) };
}

/// Fills a place with random bytes.
pub(crate) unsafe fn fill(buffer: *mut c_void, len: usize) {
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
    fn arc4random / 0 () -> u32 = |call, pc| next();
    fn arc4random_uniform / 1 (bound: u32) -> u32 = |call, pc| below(bound);
    fn arc4random_buf / 2 (buffer: *mut c_void, len: size_t) = |call, pc| {
        call.settle();
        fill(buffer, len);
        ranges::wrote(&mut call, buffer as usize, len, pc, interloper_wire::AccessFlags::SYSTEM);
    };
}

unsafe fn next() -> u32 {
    // SAFETY: the caller has the token.
    unsafe { (SOURCE.get().next() >> 32) as u32 }
}

/// A number below a bound, each as likely as the others.
unsafe fn below(bound: u32) -> u32 {
    if bound < 2 {
        return 0;
    }
    // Beyond the last multiple of the bound, some numbers would come more often.
    let excess = (u32::MAX % bound + 1) % bound;
    loop {
        // SAFETY: the caller has the token.
        let number = unsafe { next() };
        if number <= u32::MAX - excess {
            return number % bound;
        }
    }
}

/// `std::random_device::operator()`, wherever it gets its numbers from.
#[allow(non_snake_case)]
mod random_device {
    use super::{c_uint, c_void, interpose, next};

    interpose! {
        fn _ZNSt13random_device9_M_getvalEv / 1 (device: *mut c_void) -> c_uint = |call, pc| next();
    }
}

/// Functions that open a stream. That of random numbers is one without a file, which calls us.
macro_rules! opens_streams {
    ($($name:ident)*) => {
        outward! {$(
            fn $name / 2 (path: *const c_char, mode: *const c_char) -> *mut c_void = |call, pc| {
                call.settle();
                // What is allocated is the program's.
                if !path.is_null() && inputs::is_random(std::ffi::CStr::from_ptr(path).to_bytes()) {
                    return call.run(|| fopencookie(std::ptr::null_mut(), mode, STREAM));
                }
                let really = real!($name: fn(*const c_char, *const c_char) -> *mut c_void);
                call.run(|| really(path, mode))
            };
        )*}
    };
}

opens_streams! { fopen fopen64 }

/// What a stream without a file does, as `fopencookie` takes it.
#[repr(C)]
#[derive(Clone, Copy)]
struct StreamFunctions {
    read: unsafe extern "C" fn(*mut c_void, *mut c_char, size_t) -> ssize_t,
    write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, size_t) -> ssize_t>,
    seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

/// What is written to it is taken, and nothing comes of it.
const STREAM: StreamFunctions = StreamFunctions { read: read_stream, write: None, seek: None, close: None };

unsafe extern "C" {
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: StreamFunctions) -> *mut c_void;
}

unsafe extern "C" fn read_stream(_: *mut c_void, buffer: *mut c_char, len: size_t) -> ssize_t {
    let Some(_call) = Call::enter_quietly() else {
        // SAFETY: the stream's buffer. It outlives the recording, or somebody else reads it.
        return crate::sys::libc_result(unsafe { crate::sys::syscall!(libc::SYS_getrandom, buffer, len, 0) });
    };
    // SAFETY: the stream's buffer; a `Call` is proof of the token.
    unsafe { fill(buffer.cast(), len) };
    len as ssize_t
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
