//! Functions of libc that read and write memory: what they touch is logged as ranges.

use crate::call::interpose;
use crate::ranges;
use libc::{c_int, c_void, size_t};

interpose! {
    fn memcpy / 3 (to: *mut c_void, from: *const c_void, len: size_t) -> *mut c_void = |call, pc| {
        call.settle();
        ranges::read(&mut call, from as usize, len, pc);
        let really = crate::call::real!(memmove: fn(*mut c_void, *const c_void, size_t) -> *mut c_void);
        really(to, from, len);
        ranges::wrote(&mut call, to as usize, len, pc, 0);
        to
    };
    fn memmove / 3 (to: *mut c_void, from: *const c_void, len: size_t) -> *mut c_void = |call, pc| {
        call.settle();
        ranges::read(&mut call, from as usize, len, pc);
        let really = crate::call::real!(memmove: fn(*mut c_void, *const c_void, size_t) -> *mut c_void);
        really(to, from, len);
        ranges::wrote(&mut call, to as usize, len, pc, 0);
        to
    };
    fn memset / 3 (to: *mut c_void, byte: c_int, len: size_t) -> *mut c_void = |call, pc| {
        call.settle();
        crate::call::real!(memset: fn(*mut c_void, c_int, size_t) -> *mut c_void)(to, byte, len);
        ranges::wrote(&mut call, to as usize, len, pc, 0);
        to
    };
}
