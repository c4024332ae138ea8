//! Streams (`FILE`): what they read and write for the program, and waiting for it.
//!
//! What libc does within a stream is not seen, so whether a call might wait is found out beforehand: another thread
//! has the stream's lock (`flockfile`), or its buffer does not do and the file is none that is always ready. Then the
//! whole call is made without the token. Streams without a file may call functions of the program's, which
//! run as the program's do.
//!
//! What is missed: a wide stream, or one that is both read and written, may be taken to wait when it does not. A stream
//! that is being opened (`fopen` of a named pipe) waits with the token, and so does more than half a kilobyte that
//! `printf` writes at once where there is room for less; the watchdog frees it. Wide strings (`fgetws`, `fputws`) are
//! not seen at all.

use super::blocking::*;
use crate::call::{Call, outward as interpose, real};
use crate::ranges;
use crate::scheduler;
use crate::sync::Patience;
use crate::sys::syscall;
use crate::thread::What;
use libc::{c_char, c_int, c_void, size_t, ssize_t};

unsafe extern "C" {
    static stdin: Stream;
    static stdout: Stream;
}

/// A stream: the beginning of glibc's structure, which is part of its interface.
#[repr(C)]
pub(super) struct File {
    flags: c_int,
    read_at: usize,
    read_end: usize,
    read_base: usize,
    write_base: usize,
    write_at: usize,
    write_end: usize,
    _others: [usize; 7],
    file: c_int,
    _more: [c_int; 5],
    lock: *const StreamLock,
    _even_more: [usize; 6],
    /// Above 0 if it is of wide characters.
    width: c_int,
}

const _: () = assert!(std::mem::offset_of!(File, file) == 112);
const _: () = assert!(std::mem::offset_of!(File, lock) == 136);
const _: () = assert!(std::mem::offset_of!(File, width) == 192);

#[repr(C)]
struct StreamLock {
    state: c_int,
    depth: c_int,
    owner: usize,
}

pub(super) type Stream = *mut File;

/// The stream that `printf` writes to.
pub(super) unsafe fn standard_output() -> Stream {
    // SAFETY: glibc's variable.
    unsafe { stdout }
}

/// The stream that `scanf` reads.
pub(super) unsafe fn standard_input() -> Stream {
    // SAFETY: glibc's variable.
    unsafe { stdin }
}

/// Whether another thread has the stream's lock.
unsafe fn is_held(stream: Stream) -> bool {
    const NO_LOCK: c_int = 0x8000;
    // SAFETY: the program passes a stream.
    unsafe {
        let lock = (*stream).lock;
        (*stream).flags & NO_LOCK == 0
            && !lock.is_null()
            && (*lock).state != 0
            && (*lock).owner != libc::pthread_self() as usize
    }
}

/// Whether a file is always ready.
unsafe fn is_on_disk(file: c_int) -> bool {
    // SAFETY: any number will do; the kernel fills in what is there for it.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        syscall!(libc::SYS_fstat, file, &raw mut status) != 0
            || matches!(status.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFBLK | libc::S_IFDIR)
    }
}

/// What a call needs of a stream that it reads.
#[derive(Clone, Copy)]
pub(super) enum Need {
    /// That many bytes.
    Bytes(usize),
    /// All up to this byte.
    Until(u8),
    /// Nobody knows.
    Unknown,
}

/// Whether what is needed is in the stream's buffer.
unsafe fn has_enough(stream: Stream, need: Need) -> bool {
    // SAFETY: the program passes a stream.
    unsafe {
        let it = &*stream;
        let has = it.read_end.saturating_sub(it.read_at);
        it.width <= 0
            && has > 0
            && match need {
                Need::Bytes(count) => has >= count,
                Need::Until(byte) => !libc::memchr(it.read_at as *const c_void, c_int::from(byte), has).is_null(),
                Need::Unknown => false,
            }
    }
}

/// Reads from a stream. What its file had to be read for comes from outside: of that, what is in the buffer
/// afterwards is told, because more is not known here.
pub(super) unsafe fn read_stream<R>(
    call: &mut Call,
    stream: Stream,
    need: Need,
    pc: usize,
    action: impl FnOnce() -> R,
) -> R {
    // SAFETY: a `Call` is proof of the token; the program passes a stream.
    unsafe {
        let buffer = |stream: Stream| ((*stream).read_base, (*stream).read_end);
        let (before, had_enough) = (buffer(stream), has_enough(stream, need));
        let result = on_stream(call, stream, reading_waits(stream, need), pc, action);
        let is_unsure = matches!(need, Need::Unknown);
        let file = (*stream).file;
        if file >= 0 && !had_enough && !(is_unsure && buffer(stream) == before) {
            let (base, end) = buffer(stream);
            crate::inputs::from_file(call, file, base, end.saturating_sub(base) as isize, pc);
        }
        result
    }
}

/// Whether reading from a stream could wait.
unsafe fn reading_waits(stream: Stream, need: Need) -> bool {
    // SAFETY: the program passes a stream.
    unsafe {
        if has_enough(stream, need) {
            return false;
        }
        let it = &*stream;
        match need {
            // What is read is one byte at least.
            Need::Bytes(0 | 1) => read_may_block(it.file),
            _ => !is_on_disk(it.file),
        }
    }
}

/// Whether writing that many bytes to a stream could.
pub(super) unsafe fn writing_waits(stream: Stream, len: usize) -> bool {
    // SAFETY: the program passes a stream.
    unsafe {
        let it = &*stream;
        if it.write_end.saturating_sub(it.write_at) > len {
            return false;
        }
        // What is there already is written a buffer at a time.
        write_may_block(it.file, len)
    }
}

/// Whether writing what is in a stream's buffer could.
unsafe fn flushing_waits(stream: Stream) -> bool {
    // SAFETY: the program passes a stream.
    unsafe { (*stream).write_at > (*stream).write_base && write_may_block((*stream).file, 0) }
}

/// Makes a call on a stream.
pub(super) unsafe fn on_stream<R>(
    call: &mut Call,
    stream: Stream,
    waits: bool,
    pc: usize,
    action: impl FnOnce() -> R,
) -> R {
    // SAFETY: a `Call` is proof of the token; the program passes a stream.
    unsafe {
        call.settle();
        wait_for_lock(call, stream);
        let result = if (*stream).file < 0 { call.run(action) } else { outside(call, waits, pc, action) };
        tell_of_lock(stream);
        result
    }
}

/// Waits until no other thread has the stream's lock. It is glibc's own, which must not be waited for with the token,
/// nor without: who gets it would be the kernel's choice.
unsafe fn wait_for_lock(call: &mut Call, stream: Stream) {
    // SAFETY: a `Call` is proof of the token; the program passes a stream.
    unsafe {
        while is_held(stream) {
            Patience::Endless.wait(call, What::Stream, stream as usize);
            crate::signals::attend(call);
        }
    }
}

/// The stream's lock may be free now.
unsafe fn tell_of_lock(stream: Stream) {
    // SAFETY: the caller has the token.
    unsafe { scheduler::wake_those_waiting_for(What::Stream, stream as usize) };
}

/// Functions of one argument, a stream, or none for one that is known, that get a character.
macro_rules! gets_characters {
    ($($name:ident / $count:tt ($($argument:ident: $type:ty)?) = $stream:expr, $need:expr;)*) => {
        interpose! {$(
            fn $name / $count ($($argument: $type)?) -> c_int = |call, pc| {
                let really = real!($name: fn($($type)?) -> c_int);
                let stream = $stream;
                read_stream(&mut call, stream, $need, pc, || really($($argument)?))
            };
        )*}
    };
}

gets_characters! {
    fgetc / 1 (stream: Stream) = stream, Need::Bytes(1);
    getc / 1 (stream: Stream) = stream, Need::Bytes(1);
    _IO_getc / 1 (stream: Stream) = stream, Need::Bytes(1);
    getc_unlocked / 1 (stream: Stream) = stream, Need::Bytes(1);
    fgetc_unlocked / 1 (stream: Stream) = stream, Need::Bytes(1);
    __uflow / 1 (stream: Stream) = stream, Need::Bytes(1);
    __underflow / 1 (stream: Stream) = stream, Need::Bytes(1);
    getw / 1 (stream: Stream) = stream, Need::Bytes(4);
    getchar / 0 () = stdin, Need::Bytes(1);
    getchar_unlocked / 0 () = stdin, Need::Bytes(1);
    fgetwc / 1 (stream: Stream) = stream, Need::Unknown;
    getwc / 1 (stream: Stream) = stream, Need::Unknown;
    getwchar / 0 () = stdin, Need::Unknown;
}

/// Functions that put a character into a stream.
macro_rules! puts_characters {
    ($($name:ident / $count:tt ($($argument:ident: $type:ty),*) = $stream:expr;)*) => {
        interpose! {$(
            fn $name / $count ($($argument: $type),*) -> c_int = |call, pc| {
                let really = real!($name: fn($($type),*) -> c_int);
                let stream = $stream;
                on_stream(&mut call, stream, writing_waits(stream, 1), pc, || really($($argument),*))
            };
        )*}
    };
}

puts_characters! {
    fputc / 2 (byte: c_int, stream: Stream) = stream;
    putc / 2 (byte: c_int, stream: Stream) = stream;
    _IO_putc / 2 (byte: c_int, stream: Stream) = stream;
    fputc_unlocked / 2 (byte: c_int, stream: Stream) = stream;
    putc_unlocked / 2 (byte: c_int, stream: Stream) = stream;
    putchar / 1 (byte: c_int) = stdout;
    putchar_unlocked / 1 (byte: c_int) = stdout;
    putw / 2 (word: c_int, stream: Stream) = stream;
    fputwc / 2 (character: c_int, stream: Stream) = stream;
    putwc / 2 (character: c_int, stream: Stream) = stream;
    putwchar / 1 (character: c_int) = stdout;
}

interpose! {
    fn __overflow / 2 (stream: Stream, byte: c_int) -> c_int = |call, pc| {
        let really = real!(__overflow: fn(Stream, c_int) -> c_int);
        on_stream(&mut call, stream, writing_waits(stream, 1), pc, || really(stream, byte))
    };
}

/// Functions that read a line into a buffer.
macro_rules! gets_lines {
    ($($name:ident / $count:tt ($($argument:ident: $type:ty),*), $stream:ident;)*) => {
        interpose! {$(
            fn $name / $count (buffer: *mut c_char, $($argument: $type),*) -> *mut c_char = |call, pc| {
                let really = real!($name: fn(*mut c_char, $($type),*) -> *mut c_char);
                let need = Need::Until(b'\n');
                let result = read_stream(&mut call, $stream, need, pc, || really(buffer, $($argument),*));
                if !result.is_null() {
                    filled(&mut call, buffer as usize, libc::strlen(buffer) as isize + 1, pc);
                }
                result
            };
        )*}
    };
}

gets_lines! {
    fgets / 3 (len: c_int, stream: Stream), stream;
    fgets_unlocked / 3 (len: c_int, stream: Stream), stream;
    __fgets_chk / 4 (room: size_t, len: c_int, stream: Stream), stream;
    __fgets_unlocked_chk / 4 (room: size_t, len: c_int, stream: Stream), stream;
}

/// Functions that read blocks into a buffer.
macro_rules! reads {
    ($($name:ident / $count:tt ($($before:ident: $before_type:ty)?);)*) => {
        interpose! {$(
            fn $name / $count (
                buffer: *mut c_void, $($before: $before_type,)? size: size_t, count: size_t, stream: Stream,
            ) -> size_t = |call, pc| {
                let really = real!($name: fn(*mut c_void, $($before_type,)? size_t, size_t, Stream) -> size_t);
                let need = Need::Bytes(size.saturating_mul(count));
                let result =
                    read_stream(&mut call, stream, need, pc, || really(buffer, $($before,)? size, count, stream));
                filled(&mut call, buffer as usize, (result * size) as isize, pc);
                result
            };
        )*}
    };
}

reads! {
    fread / 4 ();
    fread_unlocked / 4 ();
    __fread_chk / 5 (room: size_t);
    __fread_unlocked_chk / 5 (room: size_t);
}

/// Functions that write blocks.
macro_rules! writes {
    ($($name:ident)*) => {
        interpose! {$(
            fn $name / 4 (buffer: *const c_void, size: size_t, count: size_t, stream: Stream) -> size_t = |call, pc| {
                call.settle();
                let len = size.saturating_mul(count);
                ranges::read(&mut call, buffer as usize, len, pc);
                let really = real!($name: fn(*const c_void, size_t, size_t, Stream) -> size_t);
                let waits = writing_waits(stream, len);
                on_stream(&mut call, stream, waits, pc, || really(buffer, size, count, stream))
            };
        )*}
    };
}

writes! { fwrite fwrite_unlocked }

/// Functions that write a string.
macro_rules! puts_strings {
    ($($name:ident / $count:tt ($($argument:ident: $type:ty)?) = $stream:expr;)*) => {
        interpose! {$(
            fn $name / $count (text: *const c_char $(, $argument: $type)?) -> c_int = |call, pc| {
                call.settle();
                let (len, stream) = (libc::strlen(text), $stream);
                ranges::read(&mut call, text as usize, len + 1, pc);
                let really = real!($name: fn(*const c_char $(, $type)?) -> c_int);
                let waits = writing_waits(stream, len + 1);
                on_stream(&mut call, stream, waits, pc, || really(text $(, $argument)?))
            };
        )*}
    };
}

puts_strings! {
    fputs / 2 (stream: Stream) = stream;
    fputs_unlocked / 2 (stream: Stream) = stream;
    puts / 1 () = stdout;
}

/// Reads up to a byte into a block of the program's, which is made longer if it has to be.
unsafe fn get_up_to(
    call: &mut Call,
    line: *mut *mut c_char,
    room: *mut size_t,
    byte: c_int,
    stream: Stream,
    pc: usize,
) -> ssize_t {
    let really = real!(__getdelim: fn(*mut *mut c_char, *mut size_t, c_int, Stream) -> ssize_t);
    if line.is_null() || room.is_null() {
        crate::sys::set_errno(libc::EINVAL);
        return -1;
    }
    // SAFETY: a `Call` is proof of the token; the program's pointers are valid.
    unsafe {
        // Into a block of our own, since what is allocated without the token has no place in the program's heap.
        let (mut text, mut text_room) = (std::ptr::null_mut(), 0);
        let need = Need::Until(byte as u8);
        let len = read_stream(call, stream, need, pc, || really(&mut text, &mut text_room, byte, stream));
        let error = *libc::__errno_location();
        if let Ok(len) = usize::try_from(len) {
            let needed = len + 1;
            if (*line).is_null() || *room < needed {
                const LEAST: usize = 120;
                let new_room = needed.max(*room * 2).max(LEAST);
                let block: *mut c_char = call.run(|| libc::realloc((*line).cast(), new_room)).cast();
                if block.is_null() {
                    return -1;
                }
                (*line, *room) = (block, new_room);
                filled_in(call, line, pc);
                filled_in(call, room, pc);
            }
            std::ptr::copy_nonoverlapping(text, *line, needed);
            filled(call, *line as usize, needed as isize, pc);
        }
        libc::free(text.cast());
        *libc::__errno_location() = error;
        len
    }
}

interpose! {
    fn getline / 3 (line: *mut *mut c_char, room: *mut size_t, stream: Stream) -> ssize_t =
        |call, pc| get_up_to(&mut call, line, room, c_int::from(b'\n'), stream, pc);
    fn getdelim / 4 (line: *mut *mut c_char, room: *mut size_t, byte: c_int, stream: Stream) -> ssize_t =
        |call, pc| get_up_to(&mut call, line, room, byte, stream, pc);
    fn __getdelim / 4 (line: *mut *mut c_char, room: *mut size_t, byte: c_int, stream: Stream) -> ssize_t =
        |call, pc| get_up_to(&mut call, line, room, byte, stream, pc);
    fn fflush / 1 (stream: Stream) -> c_int = |call, pc| {
        let really = real!(fflush: fn(Stream) -> c_int);
        // All streams: the one that most likely has something to write stands for them.
        let which = if stream.is_null() { stdout } else { stream };
        on_stream(&mut call, which, flushing_waits(which), pc, || really(stream))
    };
    fn fflush_unlocked / 1 (stream: Stream) -> c_int = |call, pc| {
        let really = real!(fflush_unlocked: fn(Stream) -> c_int);
        let which = if stream.is_null() { stdout } else { stream };
        on_stream(&mut call, which, flushing_waits(which), pc, || really(stream))
    };
    fn fclose / 1 (stream: Stream) -> c_int = |call, pc| {
        call.settle();
        if (*stream).write_at > (*stream).write_base && (*stream).file >= 0 {
            let flush = real!(fflush: fn(Stream) -> c_int);
            outside(&mut call, flushing_waits(stream), pc, || flush(stream));
        }
        // What it frees was allocated as the program's.
        call.run(|| real!(fclose: fn(Stream) -> c_int)(stream))
    };
    fn flockfile / 1 (stream: Stream) = |call, pc| {
        call.settle();
        wait_for_lock(&mut call, stream);
        real!(flockfile: fn(Stream))(stream);
    };
    fn funlockfile / 1 (stream: Stream) = |call, pc| {
        call.settle();
        real!(funlockfile: fn(Stream))(stream);
        tell_of_lock(stream);
    };
}
