//! Functions of libc that read and write memory of a known length: what they touch is logged as ranges.
//!
//! Each is one step. What is read is what the function has to look at to come to its result: a comparison up to the
//! first difference, a search up to what it found. Those of strings are in [`texts`](super::texts).
//!
//! The compiler makes calls of `memcpy` and its like from this library's code, too; [`watch!`] tells them apart.
//! While the real functions are being looked up, there are others that are slow and need nothing.

use super::passage::watch;
use crate::ranges::{read, wrote};
use libc::{c_char, c_int, c_void, size_t, wchar_t};
use std::arch::asm;

/// How many bytes a comparison of up to `limit` looks at.
unsafe fn compared(a: usize, b: usize, limit: usize) -> usize {
    let mut at = 0;
    // SAFETY: the program compares them.
    unsafe {
        while at + 8 <= limit && ((a + at) as *const u64).read_unaligned() == ((b + at) as *const u64).read_unaligned()
        {
            at += 8;
        }
        while at < limit {
            let is_equal = ((a + at) as *const u8).read() == ((b + at) as *const u8).read();
            at += 1;
            if !is_equal {
                break;
            }
        }
    }
    at
}

/// Functions that copy `len` bytes.
macro_rules! copies {
    ($($name:ident $(as $real:ident)? $([early $early:path])?;)*) => {
        watch! {$(
            fn $name $(as $real)? / 3 (to: *mut c_void, from: *const c_void, len: size_t) -> *mut c_void
                $([early $early])? = |call, pc, really| {
                read(&mut call, from as usize, len, pc);
                let result = really(to, from, len);
                wrote(&mut call, to as usize, len, pc, 0);
                result
            };
        )*}
    };
}

copies! {
    memcpy [early early_copy];
    memmove [early early_copy];
    mempcpy;
    __mempcpy as mempcpy;
    __tsan_memcpy as memcpy [early early_copy];
    __tsan_memmove as memmove [early early_copy];
}

/// The same for those that are told how much room there is.
macro_rules! checked_copies {
    ($($name:ident)*) => {
        watch! {$(
            fn $name / 4 (to: *mut c_void, from: *const c_void, len: size_t, room: size_t) -> *mut c_void =
                |call, pc, really| {
                    if len <= room {
                        read(&mut call, from as usize, len, pc);
                    }
                    let result = really(to, from, len, room);
                    wrote(&mut call, to as usize, len, pc, 0);
                    result
                };
        )*}
    };
}

checked_copies! { __memcpy_chk __memmove_chk __mempcpy_chk }

watch! {
    fn memset / 3 (to: *mut c_void, byte: c_int, len: size_t) -> *mut c_void [early early_fill] = |call, pc, really| {
        let result = really(to, byte, len);
        wrote(&mut call, to as usize, len, pc, 0);
        result
    };
    fn __tsan_memset as memset / 3 (to: *mut c_void, byte: c_int, len: size_t) -> *mut c_void [early early_fill] =
        |call, pc, really| {
            let result = really(to, byte, len);
            wrote(&mut call, to as usize, len, pc, 0);
            result
        };
    fn __memset_chk / 4 (to: *mut c_void, byte: c_int, len: size_t, room: size_t) -> *mut c_void =
        |call, pc, really| {
            let result = really(to, byte, len, room);
            wrote(&mut call, to as usize, len, pc, 0);
            result
        };
    fn explicit_bzero / 2 (to: *mut c_void, len: size_t) -> () = |call, pc, really| {
        really(to, len);
        wrote(&mut call, to as usize, len, pc, 0);
    };
    fn __explicit_bzero_chk / 3 (to: *mut c_void, len: size_t, room: size_t) -> () = |call, pc, really| {
        really(to, len, room);
        wrote(&mut call, to as usize, len, pc, 0);
    };
    fn bzero / 2 (to: *mut c_void, len: size_t) -> () = |call, pc, really| {
        really(to, len);
        wrote(&mut call, to as usize, len, pc, 0);
    };
    fn __bzero / 2 (to: *mut c_void, len: size_t) -> () = |call, pc, really| {
        really(to, len);
        wrote(&mut call, to as usize, len, pc, 0);
    };
    fn bcopy / 3 (from: *const c_void, to: *mut c_void, len: size_t) -> () = |call, pc, really| {
        read(&mut call, from as usize, len, pc);
        really(from, to, len);
        wrote(&mut call, to as usize, len, pc, 0);
    };
    fn memccpy / 4 (to: *mut c_void, from: *const c_void, byte: c_int, len: size_t) -> *mut c_void =
        |call, pc, really| {
            let found = libc::memchr(from, byte, len);
            let len = if found.is_null() { len } else { found as usize - from as usize + 1 };
            read(&mut call, from as usize, len, pc);
            let result = really(to, from, byte, len);
            wrote(&mut call, to as usize, len, pc, 0);
            result
        };
    fn swab / 3 (from: *const c_void, to: *mut c_void, len: libc::ssize_t) -> () = |call, pc, really| {
        let touched = usize::try_from(len).unwrap_or(0) & !1;
        read(&mut call, from as usize, touched, pc);
        really(from, to, len);
        wrote(&mut call, to as usize, touched, pc, 0);
    };
}

/// Functions that compare up to `len` bytes.
macro_rules! comparisons {
    ($($name:ident $([early $early:path])?;)*) => {
        watch! {$(
            fn $name / 3 (a: *const c_void, b: *const c_void, len: size_t) -> c_int $([early $early])? =
                |call, pc, really| {
                    let result = really(a, b, len);
                    let len = if result == 0 { len } else { compared(a as usize, b as usize, len) };
                    read(&mut call, a as usize, len, pc);
                    read(&mut call, b as usize, len, pc);
                    result
                };
        )*}
    };
}

comparisons! {
    memcmp [early early_compare];
    bcmp [early early_compare];
    __memcmpeq;
}

watch! {
    fn memchr / 3 (at: *const c_void, byte: c_int, len: size_t) -> *mut c_void = |call, pc, really| {
        let found = really(at, byte, len);
        let len = if found.is_null() { len } else { found as usize - at as usize + 1 };
        read(&mut call, at as usize, len, pc);
        found
    };
    fn rawmemchr / 2 (at: *const c_void, byte: c_int) -> *mut c_void = |call, pc, really| {
        let found = really(at, byte);
        read(&mut call, at as usize, found as usize - at as usize + 1, pc);
        found
    };
    fn memrchr / 3 (at: *const c_void, byte: c_int, len: size_t) -> *mut c_void = |call, pc, really| {
        let found = really(at, byte, len);
        let from = if found.is_null() { at as usize } else { found as usize };
        read(&mut call, from, at as usize + len - from, pc);
        found
    };
    fn memmem / 4 (hay: *const c_void, len: size_t, needle: *const c_void, needle_len: size_t) -> *mut c_void =
        |call, pc, really| {
            let found = really(hay, len, needle, needle_len);
            let len = if found.is_null() { len } else { found as usize - hay as usize + needle_len };
            read(&mut call, hay as usize, len, pc);
            read(&mut call, needle as usize, needle_len, pc);
            found
        };
}

/// How many bytes that many wide characters are.
pub(super) const fn wide(count: usize) -> usize {
    count.saturating_mul(size_of::<wchar_t>())
}

watch! {
    fn wmemcpy / 3 (to: *mut wchar_t, from: *const wchar_t, count: size_t) -> *mut wchar_t = |call, pc, really| {
        read(&mut call, from as usize, wide(count), pc);
        let result = really(to, from, count);
        wrote(&mut call, to as usize, wide(count), pc, 0);
        result
    };
    fn wmemmove / 3 (to: *mut wchar_t, from: *const wchar_t, count: size_t) -> *mut wchar_t = |call, pc, really| {
        read(&mut call, from as usize, wide(count), pc);
        let result = really(to, from, count);
        wrote(&mut call, to as usize, wide(count), pc, 0);
        result
    };
    fn wmemset / 3 (to: *mut wchar_t, value: wchar_t, count: size_t) -> *mut wchar_t = |call, pc, really| {
        let result = really(to, value, count);
        wrote(&mut call, to as usize, wide(count), pc, 0);
        result
    };
}

/// Copies, also to where it overlaps.
unsafe extern "C" fn early_copy(to: *mut c_char, from: *const c_char, len: size_t) -> *mut c_char {
    // SAFETY: as the caller says.
    unsafe {
        if (to as usize).wrapping_sub(from as usize) >= len {
            asm!("rep movsb", inout("rcx") len => _, inout("rdi") to => _, inout("rsi") from => _,
                options(nostack, preserves_flags));
        } else {
            let last = len - 1;
            asm!("std", "rep movsb", "cld", inout("rcx") len => _, inout("rdi") to.add(last) => _,
                inout("rsi") from.add(last) => _, options(nostack));
        }
    }
    to
}

unsafe extern "C" fn early_fill(to: *mut c_char, byte: c_int, len: size_t) -> *mut c_char {
    // SAFETY: as the caller says.
    unsafe {
        asm!("rep stosb", inout("rcx") len => _, inout("rdi") to => _, in("al") byte as u8,
            options(nostack, preserves_flags));
    }
    to
}

unsafe extern "C" fn early_compare(a: *const u8, b: *const u8, len: size_t) -> c_int {
    for at in 0..len {
        // Volatile, so that this does not become a call of what it stands in for.
        // SAFETY: as the caller says.
        let (a, b) = unsafe { (a.add(at).read_volatile(), b.add(at).read_volatile()) };
        if a != b {
            return c_int::from(a) - c_int::from(b);
        }
    }
    0
}

/// The length of a string.
pub(super) unsafe extern "C" fn early_length(text: *const u8) -> size_t {
    let mut len = 0;
    // SAFETY: as the caller says.
    while unsafe { text.add(len).read_volatile() } != 0 {
        len += 1;
    }
    len
}
