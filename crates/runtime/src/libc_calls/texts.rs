//! Functions of libc about strings: what they read and write is logged as ranges.
//!
//! As in [`strings`](super::strings), a call is one step, and what is read is what has to be looked at: up to and
//! with the zero byte at a string's end, or what was found before it.
//!
//! What is not seen: strings that are turned into numbers (`strtol`, `atoi`), compared by the rules of a
//! language (`strcoll`, `strxfrm`), or converted (`mbstowcs`, `iconv`); ThreadSanitizer does not see most of these.

use super::passage::watch;
use super::strings::{early_length, wide};
use crate::call::{Call, real};
use crate::ranges::{read, wrote};
use crate::thread::Guarded;
use libc::{c_char, c_int, size_t, wchar_t};

/// The length of a string with the byte that ends it.
unsafe fn whole(text: *const c_char) -> usize {
    // SAFETY: the program passes a string.
    unsafe { libc::strlen(text) + 1 }
}

/// The same if no more than `limit` bytes are looked at.
unsafe fn whole_within(text: *const c_char, limit: usize) -> usize {
    // SAFETY: the program passes a string, or that many bytes.
    unsafe { (libc::strnlen(text, limit) + 1).min(limit) }
}

/// How much of a string was looked at to find this, or nothing.
unsafe fn up_to(text: *const c_char, found: *const c_char) -> usize {
    // SAFETY: the program passes a string.
    if found.is_null() { unsafe { whole(text) } } else { found as usize - text as usize + 1 }
}

/// How many bytes a comparison of two strings looks at.
unsafe fn compared(a: *const c_char, b: *const c_char, limit: usize, same: impl Fn(c_char, c_char) -> bool) -> usize {
    for at in 0..limit {
        // SAFETY: the program compares them; neither has ended before.
        let (a, b) = unsafe { (*a.add(at), *b.add(at)) };
        if a == 0 || !same(a, b) {
            return at + 1;
        }
    }
    limit
}

/// Whether two bytes are the same letter.
fn same_letter(a: c_char, b: c_char) -> bool {
    // SAFETY: any byte will do.
    a == b || unsafe { libc::tolower(c_int::from(a as u8)) == libc::tolower(c_int::from(b as u8)) }
}

watch! {
    fn strlen / 1 (text: *const c_char) -> size_t [early early_length] = |call, pc, really| {
        let len = really(text);
        read(&mut call, text as usize, len + 1, pc);
        len
    };
    fn strnlen / 2 (text: *const c_char, limit: size_t) -> size_t = |call, pc, really| {
        let len = really(text, limit);
        read(&mut call, text as usize, (len + 1).min(limit), pc);
        len
    };
    fn strcmp / 2 (a: *const c_char, b: *const c_char) -> c_int = |call, pc, really| {
        let len = compared(a, b, usize::MAX, |a, b| a == b);
        read(&mut call, a as usize, len, pc);
        read(&mut call, b as usize, len, pc);
        really(a, b)
    };
    fn strncmp / 3 (a: *const c_char, b: *const c_char, limit: size_t) -> c_int = |call, pc, really| {
        let len = compared(a, b, limit, |a, b| a == b);
        read(&mut call, a as usize, len, pc);
        read(&mut call, b as usize, len, pc);
        really(a, b, limit)
    };
    fn strcasecmp / 2 (a: *const c_char, b: *const c_char) -> c_int = |call, pc, really| {
        let len = compared(a, b, usize::MAX, same_letter);
        read(&mut call, a as usize, len, pc);
        read(&mut call, b as usize, len, pc);
        really(a, b)
    };
    fn strncasecmp / 3 (a: *const c_char, b: *const c_char, limit: size_t) -> c_int = |call, pc, really| {
        let len = compared(a, b, limit, same_letter);
        read(&mut call, a as usize, len, pc);
        read(&mut call, b as usize, len, pc);
        really(a, b, limit)
    };
}

/// Functions that look for a byte from the front.
macro_rules! searches {
    ($($name:ident)*) => {
        watch! {$(
            fn $name / 2 (text: *const c_char, byte: c_int) -> *mut c_char = |call, pc, really| {
                let found = really(text, byte);
                let len = up_to(text, found);
                read(&mut call, text as usize, len, pc);
                found
            };
        )*}
    };
}

searches! { strchr index strchrnul }

/// Functions that look for the last such byte.
macro_rules! searches_from_the_end {
    ($($name:ident)*) => {
        watch! {$(
            fn $name / 2 (text: *const c_char, byte: c_int) -> *mut c_char = |call, pc, really| {
                let len = whole(text);
                read(&mut call, text as usize, len, pc);
                really(text, byte)
            };
        )*}
    };
}

searches_from_the_end! { strrchr rindex }

/// Functions that look for a string in another.
macro_rules! searches_for_strings {
    ($($name:ident)*) => {
        watch! {$(
            fn $name / 2 (text: *const c_char, needle: *const c_char) -> *mut c_char = |call, pc, really| {
                let found = really(text, needle);
                let needle_len = whole(needle);
                let len =
                    if found.is_null() { whole(text) } else { found as usize - text as usize + needle_len - 1 };
                read(&mut call, text as usize, len, pc);
                read(&mut call, needle as usize, needle_len, pc);
                found
            };
        )*}
    };
}

searches_for_strings! { strstr strcasestr }

/// Functions that count bytes which are in a set, or are not.
macro_rules! spans {
    ($($name:ident)*) => {
        watch! {$(
            fn $name / 2 (text: *const c_char, set: *const c_char) -> size_t = |call, pc, really| {
                let len = really(text, set);
                read(&mut call, text as usize, len + 1, pc);
                let set_len = whole(set);
                read(&mut call, set as usize, set_len, pc);
                len
            };
        )*}
    };
}

spans! { strspn strcspn }

watch! {
    fn strpbrk / 2 (text: *const c_char, set: *const c_char) -> *mut c_char = |call, pc, really| {
        let found = really(text, set);
        let (len, set_len) = (up_to(text, found), whole(set));
        read(&mut call, text as usize, len, pc);
        read(&mut call, set as usize, set_len, pc);
        found
    };
}

/// Functions that copy a string; those that are told how much room there is have one argument more.
macro_rules! copies {
    ($($name:ident / $count:tt $(, $room:ident)?;)*) => {
        watch! {$(
            fn $name / $count (to: *mut c_char, from: *const c_char $(, $room: size_t)?) -> *mut c_char =
                |call, pc, really| {
                    let len = whole(from);
                    read(&mut call, from as usize, len, pc);
                    let result = really(to, from $(, $room)?);
                    wrote(&mut call, to as usize, len, pc, 0);
                    result
                };
        )*}
    };
}

copies! {
    strcpy / 2;
    stpcpy / 2;
    __stpcpy / 2;
    __strcpy_chk / 3, room;
    __stpcpy_chk / 3, room;
}

/// Functions that copy up to `len` bytes of a string, and fill up with zeros.
macro_rules! bounded_copies {
    ($($name:ident / $count:tt $(, $room:ident)?;)*) => {
        watch! {$(
            fn $name / $count (to: *mut c_char, from: *const c_char, len: size_t $(, $room: size_t)?) -> *mut c_char =
                |call, pc, really| {
                    let read_len = whole_within(from, len);
                    read(&mut call, from as usize, read_len, pc);
                    let result = really(to, from, len $(, $room)?);
                    wrote(&mut call, to as usize, len, pc, 0);
                    result
                };
        )*}
    };
}

bounded_copies! {
    strncpy / 3;
    stpncpy / 3;
    __stpncpy / 3;
    __strncpy_chk / 4, room;
    __stpncpy_chk / 4, room;
}

/// Functions that append a string.
macro_rules! appends {
    ($($name:ident / $count:tt $(, $room:ident)?;)*) => {
        watch! {$(
            fn $name / $count (to: *mut c_char, from: *const c_char $(, $room: size_t)?) -> *mut c_char =
                |call, pc, really| {
                    let (before, len) = (whole(to), whole(from));
                    read(&mut call, to as usize, before, pc);
                    read(&mut call, from as usize, len, pc);
                    let result = really(to, from $(, $room)?);
                    wrote(&mut call, to as usize + before - 1, len, pc, 0);
                    result
                };
        )*}
    };
}

appends! {
    strcat / 2;
    __strcat_chk / 3, room;
}

/// Functions that append up to `limit` bytes of a string.
macro_rules! bounded_appends {
    ($($name:ident / $count:tt $(, $room:ident)?;)*) => {
        watch! {$(
            fn $name / $count (to: *mut c_char, from: *const c_char, limit: size_t $(, $room: size_t)?)
                -> *mut c_char = |call, pc, really| {
                    let (before, len) = (whole(to), libc::strnlen(from, limit));
                    let read_len = whole_within(from, limit);
                    read(&mut call, to as usize, before, pc);
                    read(&mut call, from as usize, read_len, pc);
                    let result = really(to, from, limit $(, $room)?);
                    wrote(&mut call, to as usize + before - 1, len + 1, pc, 0);
                    result
                };
        )*}
    };
}

bounded_appends! {
    strncat / 3;
    __strncat_chk / 4, room;
}

/// A copy of `len` bytes in a block of the program's, with a zero byte after them.
pub(super) unsafe fn duplicate(call: &mut Call, from: *const c_char, len: usize, pc: usize) -> *mut c_char {
    // SAFETY: a `Call` is proof of the token; that many bytes are there.
    unsafe {
        let copy: *mut c_char = call.run(|| libc::malloc(len + 1)).cast();
        if !copy.is_null() {
            std::ptr::copy_nonoverlapping(from, copy, len);
            *copy.add(len) = 0;
            wrote(call, copy as usize, len + 1, pc, 0);
        }
        copy
    }
}

watch! {
    fn strdup / 1 (text: *const c_char) -> *mut c_char = |call, pc, really| {
        let len = whole(text);
        read(&mut call, text as usize, len, pc);
        duplicate(&mut call, text, len - 1, pc)
    };
    fn __strdup / 1 (text: *const c_char) -> *mut c_char = |call, pc, really| {
        let len = whole(text);
        read(&mut call, text as usize, len, pc);
        duplicate(&mut call, text, len - 1, pc)
    };
    fn strndup / 2 (text: *const c_char, limit: size_t) -> *mut c_char = |call, pc, really| {
        let (len, read_len) = (libc::strnlen(text, limit), whole_within(text, limit));
        read(&mut call, text as usize, read_len, pc);
        duplicate(&mut call, text, len, pc)
    };
    fn __strndup / 2 (text: *const c_char, limit: size_t) -> *mut c_char = |call, pc, really| {
        let (len, read_len) = (libc::strnlen(text, limit), whole_within(text, limit));
        read(&mut call, text as usize, read_len, pc);
        duplicate(&mut call, text, len, pc)
    };
}

/// The next word of a string, which is cut out of it.
unsafe fn cut(
    call: &mut Call,
    text: *mut c_char,
    set: *const c_char,
    rest: &mut *mut c_char,
    pc: usize,
) -> *mut c_char {
    let text = if text.is_null() { *rest } else { text };
    // SAFETY: a `Call` is proof of the token; these are strings.
    unsafe {
        let set_len = whole(set);
        read(call, set as usize, set_len, pc);
        if text.is_null() {
            return text;
        }
        let word = text.add(libc::strspn(text, set));
        let end = word.add(libc::strcspn(word, set));
        read(call, text as usize, end as usize - text as usize + 1, pc);
        let is_last = *end == 0;
        let result = real!(strtok_r: fn(*mut c_char, *const c_char, *mut *mut c_char) -> *mut c_char)(text, set, rest);
        if !is_last {
            wrote(call, end as usize, 1, pc, 0);
        }
        result
    }
}

/// What `strtok` has left. Guarded by the token.
static REST: Guarded<*mut c_char> = Guarded::new(std::ptr::null_mut());

/// Functions that cut words out of a string, and keep where they are in a place that they are given.
macro_rules! cutters {
    ($($name:ident)*) => {
        watch! {$(
            fn $name / 3 (text: *mut c_char, set: *const c_char, rest: *mut *mut c_char) -> *mut c_char =
                |call, pc, really| {
                    if text.is_null() {
                        read(&mut call, rest as usize, size_of::<usize>(), pc);
                    }
                    let word = cut(&mut call, text, set, &mut *rest, pc);
                    wrote(&mut call, rest as usize, size_of::<usize>(), pc, 0);
                    word
                };
        )*}
    };
}

cutters! { strtok_r __strtok_r }

watch! {
    fn strtok / 2 (text: *mut c_char, set: *const c_char) -> *mut c_char =
        |call, pc, really| cut(&mut call, text, set, REST.get(), pc);
    fn wcslen / 1 (text: *const wchar_t) -> size_t = |call, pc, really| {
        let len = really(text);
        read(&mut call, text as usize, wide(len + 1), pc);
        len
    };
    fn wcsnlen / 2 (text: *const wchar_t, limit: size_t) -> size_t = |call, pc, really| {
        let len = really(text, limit);
        read(&mut call, text as usize, wide((len + 1).min(limit)), pc);
        len
    };
    fn wcscpy / 2 (to: *mut wchar_t, from: *const wchar_t) -> *mut wchar_t = |call, pc, really| {
        let len = wide(libc::wcslen(from) + 1);
        read(&mut call, from as usize, len, pc);
        let result = really(to, from);
        wrote(&mut call, to as usize, len, pc, 0);
        result
    };
    fn wcscat / 2 (to: *mut wchar_t, from: *const wchar_t) -> *mut wchar_t = |call, pc, really| {
        let (before, len) = (wide(libc::wcslen(to)), wide(libc::wcslen(from) + 1));
        read(&mut call, to as usize, before + wide(1), pc);
        read(&mut call, from as usize, len, pc);
        let result = really(to, from);
        wrote(&mut call, to as usize + before, len, pc, 0);
        result
    };
}
