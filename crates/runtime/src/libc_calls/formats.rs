//! `printf`, `scanf` and their kin: what they write for the program, and waiting for the streams they use.
//!
//! The string that `sscanf` reads is not seen to be read. Wide characters are not seen at all, but for strings of them
//! that are printed.

use super::passage::{Arguments, interpose_six, variadic};
use super::printed::read_strings;
use super::streams::{Need, Stream, on_stream, read_stream, standard_input, standard_output, writing_waits};
use super::texts::duplicate;
use crate::call::{Call, outward as interpose, real};
use crate::ranges;
use libc::{c_char, c_int, size_t, wchar_t};

type Text = *const c_char;
/// A `va_list`, as functions get it.
type List = *mut Arguments;

/// Something was printed into a buffer, for which this is the result.
unsafe fn printed(call: &mut Call, buffer: *mut c_char, room: usize, result: c_int, pc: usize) -> c_int {
    if let Ok(len) = usize::try_from(result) {
        // SAFETY: a `Call` is proof of the token; the buffer has been written to.
        unsafe { ranges::wrote(call, buffer as usize, (len + 1).min(room), pc, 0) };
    }
    result
}

/// Prints into a block of the program's.
unsafe fn print_anew(
    call: &mut Call,
    place: *mut *mut c_char,
    pc: usize,
    print: impl FnOnce(*mut *mut c_char) -> c_int,
) -> c_int {
    let mut text = std::ptr::null_mut();
    let result = print(&mut text);
    let Ok(len) = usize::try_from(result) else { return result };
    // SAFETY: a `Call` is proof of the token; the text is that long; the program's pointer is valid.
    unsafe {
        let copy = duplicate(call, text, len, pc);
        libc::free(text.cast());
        *place = copy;
        ranges::wrote(call, place as usize, size_of::<Text>(), pc, 0);
        if copy.is_null() { -1 } else { result }
    }
}

/// Prints to a stream. How much is not known beforehand; more than usual may block with the token.
unsafe fn print_to(call: &mut Call, stream: Stream, pc: usize, print: impl FnOnce() -> c_int) -> c_int {
    const USUAL: usize = 512;
    // SAFETY: a `Call` is proof of the token; the program passes a stream.
    unsafe { on_stream(call, stream, writing_waits(stream, USUAL), pc, print) }
}

/// Prints to a file.
unsafe fn print_to_file(call: &mut Call, file: c_int, pc: usize, print: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        let waits = super::blocking::write_may_block(file, 0);
        super::blocking::outside(call, waits, pc, print)
    }
}

variadic! {
    fn sprintf / 2 (buffer: *mut c_char, format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let result = real!(vsprintf: fn(*mut c_char, Text, List) -> c_int)(buffer, format, list);
        printed(&mut call, buffer, usize::MAX, result, list.pc)
    };
    fn snprintf / 3 (buffer: *mut c_char, room: size_t, format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let result = real!(vsnprintf: fn(*mut c_char, size_t, Text, List) -> c_int)(buffer, room, format, list);
        printed(&mut call, buffer, room, result, list.pc)
    };
    fn __sprintf_chk / 4 (buffer: *mut c_char, flag: c_int, room: size_t, format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let really = real!(__vsprintf_chk: fn(*mut c_char, c_int, size_t, Text, List) -> c_int);
        let result = really(buffer, flag, room, format, list);
        printed(&mut call, buffer, usize::MAX, result, list.pc)
    };
    fn __snprintf_chk / 5 (buffer: *mut c_char, room: size_t, flag: c_int, all: size_t, format: Text; list) -> c_int =
        |call| {
            read_strings(&mut call, format, list.again(), list.pc);
            let really = real!(__vsnprintf_chk: fn(*mut c_char, size_t, c_int, size_t, Text, List) -> c_int);
            let result = really(buffer, room, flag, all, format, list);
            printed(&mut call, buffer, room, result, list.pc)
        };
    fn asprintf / 2 (place: *mut *mut c_char, format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let really = real!(vasprintf: fn(*mut *mut c_char, Text, List) -> c_int);
        let pc = list.pc;
        print_anew(&mut call, place, pc, |place| really(place, format, list))
    };
    fn __asprintf_chk / 3 (place: *mut *mut c_char, flag: c_int, format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let really = real!(__vasprintf_chk: fn(*mut *mut c_char, c_int, Text, List) -> c_int);
        let pc = list.pc;
        print_anew(&mut call, place, pc, |place| really(place, flag, format, list))
    };
    fn printf / 1 (format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let really = real!(vprintf: fn(Text, List) -> c_int);
        let pc = list.pc;
        print_to(&mut call, standard_output(), pc, || really(format, list))
    };
    fn __printf_chk / 2 (flag: c_int, format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let really = real!(__vprintf_chk: fn(c_int, Text, List) -> c_int);
        let pc = list.pc;
        print_to(&mut call, standard_output(), pc, || really(flag, format, list))
    };
    fn fprintf / 2 (stream: Stream, format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let really = real!(vfprintf: fn(Stream, Text, List) -> c_int);
        let pc = list.pc;
        print_to(&mut call, stream, pc, || really(stream, format, list))
    };
    fn __fprintf_chk / 3 (stream: Stream, flag: c_int, format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let really = real!(__vfprintf_chk: fn(Stream, c_int, Text, List) -> c_int);
        let pc = list.pc;
        print_to(&mut call, stream, pc, || really(stream, flag, format, list))
    };
    fn dprintf / 2 (file: c_int, format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let really = real!(vdprintf: fn(c_int, Text, List) -> c_int);
        let pc = list.pc;
        print_to_file(&mut call, file, pc, || really(file, format, list))
    };
    fn __dprintf_chk / 3 (file: c_int, flag: c_int, format: Text; list) -> c_int = |call| {
        read_strings(&mut call, format, list.again(), list.pc);
        let really = real!(__vdprintf_chk: fn(c_int, c_int, Text, List) -> c_int);
        let pc = list.pc;
        print_to_file(&mut call, file, pc, || really(file, flag, format, list))
    };
}

interpose! {
    fn vsprintf / 3 (buffer: *mut c_char, format: Text, list: List) -> c_int = |call, pc| {
        call.settle();
        read_strings(&mut call, format, (*list).again(), pc);
        let result = real!(vsprintf: fn(*mut c_char, Text, List) -> c_int)(buffer, format, list);
        printed(&mut call, buffer, usize::MAX, result, pc)
    };
    fn vsnprintf / 4 (buffer: *mut c_char, room: size_t, format: Text, list: List) -> c_int = |call, pc| {
        call.settle();
        read_strings(&mut call, format, (*list).again(), pc);
        let result = real!(vsnprintf: fn(*mut c_char, size_t, Text, List) -> c_int)(buffer, room, format, list);
        printed(&mut call, buffer, room, result, pc)
    };
    fn __vsprintf_chk / 5 (buffer: *mut c_char, flag: c_int, room: size_t, format: Text, list: List) -> c_int =
        |call, pc| {
            call.settle();
            read_strings(&mut call, format, (*list).again(), pc);
            let really = real!(__vsprintf_chk: fn(*mut c_char, c_int, size_t, Text, List) -> c_int);
            let result = really(buffer, flag, room, format, list);
            printed(&mut call, buffer, usize::MAX, result, pc)
        };
    fn vasprintf / 3 (place: *mut *mut c_char, format: Text, list: List) -> c_int = |call, pc| {
        call.settle();
        read_strings(&mut call, format, (*list).again(), pc);
        let really = real!(vasprintf: fn(*mut *mut c_char, Text, List) -> c_int);
        print_anew(&mut call, place, pc, |place| really(place, format, list))
    };
    fn __vasprintf_chk / 4 (place: *mut *mut c_char, flag: c_int, format: Text, list: List) -> c_int = |call, pc| {
        call.settle();
        read_strings(&mut call, format, (*list).again(), pc);
        let really = real!(__vasprintf_chk: fn(*mut *mut c_char, c_int, Text, List) -> c_int);
        print_anew(&mut call, place, pc, |place| really(place, flag, format, list))
    };
    fn vprintf / 2 (format: Text, list: List) -> c_int = |call, pc| {
        call.settle();
        read_strings(&mut call, format, (*list).again(), pc);
        let really = real!(vprintf: fn(Text, List) -> c_int);
        print_to(&mut call, standard_output(), pc, || really(format, list))
    };
    fn __vprintf_chk / 3 (flag: c_int, format: Text, list: List) -> c_int = |call, pc| {
        call.settle();
        read_strings(&mut call, format, (*list).again(), pc);
        let really = real!(__vprintf_chk: fn(c_int, Text, List) -> c_int);
        print_to(&mut call, standard_output(), pc, || really(flag, format, list))
    };
    fn vfprintf / 3 (stream: Stream, format: Text, list: List) -> c_int = |call, pc| {
        call.settle();
        read_strings(&mut call, format, (*list).again(), pc);
        let really = real!(vfprintf: fn(Stream, Text, List) -> c_int);
        print_to(&mut call, stream, pc, || really(stream, format, list))
    };
    fn __vfprintf_chk / 4 (stream: Stream, flag: c_int, format: Text, list: List) -> c_int = |call, pc| {
        call.settle();
        read_strings(&mut call, format, (*list).again(), pc);
        let really = real!(__vfprintf_chk: fn(Stream, c_int, Text, List) -> c_int);
        print_to(&mut call, stream, pc, || really(stream, flag, format, list))
    };
    fn vdprintf / 3 (file: c_int, format: Text, list: List) -> c_int = |call, pc| {
        call.settle();
        read_strings(&mut call, format, (*list).again(), pc);
        let really = real!(vdprintf: fn(c_int, Text, List) -> c_int);
        print_to_file(&mut call, file, pc, || really(file, format, list))
    };
}

interpose_six! {
    fn __vsnprintf_chk (
        buffer: *mut c_char, room: size_t, flag: c_int, all: size_t, format: Text, list: List,
    ) -> c_int = |call, pc| {
        call.settle();
        read_strings(&mut call, format, (*list).again(), pc);
        let really = real!(__vsnprintf_chk: fn(*mut c_char, size_t, c_int, size_t, Text, List) -> c_int);
        let result = really(buffer, room, flag, all, format, list);
        printed(&mut call, buffer, room, result, pc)
    };
}

/// Logs what was read by this format: the first `count` of what it asks for. Places given by number are not seen.
unsafe fn scanned(call: &mut Call, format: Text, mut list: Arguments, count: c_int, pc: usize) {
    let mut left = count;
    let mut at = format.cast::<u8>();
    // SAFETY: the format ends with a zero byte, and tells what the arguments are.
    unsafe {
        loop {
            match *at {
                0 => return,
                b'%' => at = at.add(1),
                _ => {
                    at = at.add(1);
                    continue;
                }
            }
            let is_kept = *at != b'*';
            if !is_kept {
                at = at.add(1);
            }
            let mut width = 0;
            while (*at).is_ascii_digit() {
                width = width * 10 + usize::from(*at - b'0');
                at = at.add(1);
            }
            let (mut is_allocated, mut longs, mut shorts) = (false, 0, 0);
            loop {
                match *at {
                    b'm' => is_allocated = true,
                    b'l' => longs += 1,
                    b'L' | b'q' | b'j' | b'z' | b't' => longs += 2,
                    b'h' => shorts += 1,
                    _ => break,
                }
                at = at.add(1);
            }
            let what = *at;
            if what == 0 || what == b'$' {
                return;
            }
            at = at.add(1);
            if what == b'[' {
                at = end_of_set(at);
            }
            if what == b'%' || !is_kept {
                continue;
            }
            if left == 0 && (what != b'n' || count <= 0) {
                return;
            }
            let place = list.next();
            let is_wide = longs > 0 || matches!(what, b'C' | b'S');
            let len = match what {
                _ if is_allocated => size_of::<Text>(),
                b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'n' => match (shorts, longs) {
                    (1, _) => 2,
                    (2.., _) => 1,
                    (_, 0) => 4,
                    _ => 8,
                },
                b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' => [4, 8, 10][longs.min(2)],
                b'c' | b'C' => width.max(1) * if is_wide { size_of::<wchar_t>() } else { 1 },
                b's' | b'S' | b'[' if is_wide => (libc::wcslen(place as *const wchar_t) + 1) * size_of::<wchar_t>(),
                b's' | b'S' | b'[' => libc::strlen(place as Text) + 1,
                b'p' => 8,
                _ => return,
            };
            ranges::wrote(call, place, len, pc, 0);
            if what != b'n' {
                left -= 1;
            }
        }
    }
}

/// Where the set of characters that begins here ends.
unsafe fn end_of_set(mut at: *const u8) -> *const u8 {
    // SAFETY: the format ends with a zero byte.
    unsafe {
        if *at == b'^' {
            at = at.add(1);
        }
        // A bracket at the beginning is one of the characters.
        if *at == b']' {
            at = at.add(1);
        }
        while *at != b']' && *at != 0 {
            at = at.add(1);
        }
        if *at == 0 { at } else { at.add(1) }
    }
}

/// Functions that read by a format: with arguments, and with a list of them.
macro_rules! scans {
    ($($name:ident / $count:tt, $with_list:ident / $listed:tt ($($argument:ident: $type:ty)?) = $stream:expr;)*) => {
        variadic! {$(
            fn $name / $count ($($argument: $type,)? format: Text; list) -> c_int = |call| {
                let really = real!($with_list: fn($($type,)? Text, List) -> c_int);
                let (again, pc, list): (_, _, List) = (list.again(), list.pc, list);
                let read = || really($($argument,)? format, list);
                let stream: Option<Stream> = $stream;
                let count = match stream {
                    Some(stream) => read_stream(&mut call, stream, Need::Unknown, pc, read),
                    None => read(),
                };
                scanned(&mut call, format, again, count, pc);
                count
            };
        )*}
        interpose! {$(
            fn $with_list / $listed ($($argument: $type,)? format: Text, list: List) -> c_int = |call, pc| {
                call.settle();
                let really = real!($with_list: fn($($type,)? Text, List) -> c_int);
                let again = (*list).again();
                let read = || really($($argument,)? format, list);
                let stream: Option<Stream> = $stream;
                let count = match stream {
                    Some(stream) => read_stream(&mut call, stream, Need::Unknown, pc, read),
                    None => read(),
                };
                scanned(&mut call, format, again, count, pc);
                count
            };
        )*}
    };
}

scans! {
    scanf / 1, vscanf / 2 () = Some(standard_input());
    fscanf / 2, vfscanf / 3 (stream: Stream) = Some(stream);
    sscanf / 2, vsscanf / 3 (text: Text) = None;
    __isoc99_scanf / 1, __isoc99_vscanf / 2 () = Some(standard_input());
    __isoc99_fscanf / 2, __isoc99_vfscanf / 3 (stream: Stream) = Some(stream);
    __isoc99_sscanf / 2, __isoc99_vsscanf / 3 (text: Text) = None;
    __isoc23_scanf / 1, __isoc23_vscanf / 2 () = Some(standard_input());
    __isoc23_fscanf / 2, __isoc23_vfscanf / 3 (stream: Stream) = Some(stream);
    __isoc23_sscanf / 2, __isoc23_vsscanf / 3 (text: Text) = None;
}
