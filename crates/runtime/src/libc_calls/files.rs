//! Reading and writing files: made without the token where that may block, and what the system fills in is logged as
//! written.
//!
//! The real functions are called, not the kernel, so that a thread may be cancelled while it is in one.
//!
//! Disks do not make others wait, except where a program asks for that (`fsync`, locks), and named pipes that it
//! opens. What is not seen: `ioctl`, `splice` and their like, asynchronous input and output (`aio_read`, rings), and
//! directories.

use super::blocking::*;
use super::passage::watch;
use crate::call::{outward as interpose, real};
use crate::inputs;
use crate::ranges;
use crate::sys::syscall;
use libc::{POLLIN, c_char, c_int, c_void, iovec, mode_t, off_t, size_t, ssize_t};

interpose! {
    fn read / 3 (file: c_int, buffer: *mut c_void, len: size_t) -> ssize_t = |call, pc| {
        let really = real!(read: fn(c_int, *mut c_void, size_t) -> ssize_t);
        let result = when_ready(&mut call, file, POLLIN, pc, || really(file, buffer, len));
        got(&mut call, file, buffer as usize, result, pc);
        result
    };
    fn __read_chk / 4 (file: c_int, buffer: *mut c_void, len: size_t, room: size_t) -> ssize_t = |call, pc| {
        let really = real!(__read_chk: fn(c_int, *mut c_void, size_t, size_t) -> ssize_t);
        let result = when_ready(&mut call, file, POLLIN, pc, || really(file, buffer, len, room));
        got(&mut call, file, buffer as usize, result, pc);
        result
    };
    fn readv / 3 (file: c_int, pieces: *const iovec, count: c_int) -> ssize_t = |call, pc| {
        let really = real!(readv: fn(c_int, *const iovec, c_int) -> ssize_t);
        let result = when_ready(&mut call, file, POLLIN, pc, || really(file, pieces, count));
        got_pieces(&mut call, file, pieces, count as usize, result, pc);
        result
    };
    fn write / 3 (file: c_int, buffer: *const c_void, len: size_t) -> ssize_t = |call, pc| {
        call.settle();
        ranges::read(&mut call, buffer as usize, len, pc);
        let really = real!(write: fn(c_int, *const c_void, size_t) -> ssize_t);
        write_in_parts(&mut call, file, len, pc, |from, len| really(file, buffer.byte_add(from), len))
    };
    fn writev / 3 (file: c_int, pieces: *const iovec, count: c_int) -> ssize_t = |call, pc| {
        let len = read_pieces(&mut call, pieces, count as usize, pc);
        let really = real!(writev: fn(c_int, *const iovec, c_int) -> ssize_t);
        outside(&mut call, write_may_block(file, len), pc, || really(file, pieces, count))
    };
    fn eventfd_read / 2 (file: c_int, value: *mut u64) -> c_int = |call, pc| {
        let really = real!(eventfd_read: fn(c_int, *mut u64) -> c_int);
        let result = when_ready(&mut call, file, POLLIN, pc, || really(file, value));
        if result == 0 {
            filled_in(&mut call, value, pc);
        }
        result
    };
    fn eventfd_write / 2 (file: c_int, value: u64) -> c_int = |call, pc| {
        let really = real!(eventfd_write: fn(c_int, u64) -> c_int);
        outside(&mut call, write_may_block(file, 0), pc, || really(file, value))
    };
    fn sendfile / 4 (to: c_int, from: c_int, offset: *mut off_t, len: size_t) -> ssize_t = |call, pc| {
        let really = real!(sendfile: fn(c_int, c_int, *mut off_t, size_t) -> ssize_t);
        let waits = write_may_block(to, len) || read_may_block(from);
        let result = outside(&mut call, waits, pc, || really(to, from, offset, len));
        filled_in(&mut call, offset, pc);
        result
    };
    fn sendfile64 / 4 (to: c_int, from: c_int, offset: *mut off_t, len: size_t) -> ssize_t = |call, pc| {
        let really = real!(sendfile64: fn(c_int, c_int, *mut off_t, size_t) -> ssize_t);
        let waits = write_may_block(to, len) || read_may_block(from);
        let result = outside(&mut call, waits, pc, || really(to, from, offset, len));
        filled_in(&mut call, offset, pc);
        result
    };
}

/// Functions that read at a place in the file; the ones with `$more` have one argument more.
macro_rules! reads_at {
    ($($name:ident / $count:tt $(, $more:ident: $type:ty)?;)*) => {
        interpose! {$(
            fn $name / $count (file: c_int, buffer: *mut c_void, len: size_t, at: off_t $(, $more: $type)?) -> ssize_t =
                |call, pc| {
                    let really = real!($name: fn(c_int, *mut c_void, size_t, off_t $(, $type)?) -> ssize_t);
                    let result = when_ready(&mut call, file, POLLIN, pc, || really(file, buffer, len, at $(, $more)?));
                    got(&mut call, file, buffer as usize, result, pc);
                    result
                };
        )*}
    };
}

reads_at! {
    pread / 4;
    pread64 / 4;
    __pread_chk / 5, room: size_t;
    __pread64_chk / 5, room: size_t;
}

/// Functions that read pieces at a place in the file.
macro_rules! reads_pieces_at {
    ($($name:ident / $count:tt $(, $more:ident: $type:ty)?;)*) => {
        interpose! {$(
            fn $name / $count (file: c_int, pieces: *const iovec, count: c_int, at: off_t $(, $more: $type)?)
                -> ssize_t = |call, pc| {
                    let really = real!($name: fn(c_int, *const iovec, c_int, off_t $(, $type)?) -> ssize_t);
                    let result = when_ready(&mut call, file, POLLIN, pc, || really(file, pieces, count, at $(, $more)?));
                    got_pieces(&mut call, file, pieces, count as usize, result, pc);
                    result
                };
        )*}
    };
}

reads_pieces_at! {
    preadv / 4;
    preadv64 / 4;
    preadv2 / 5, flags: c_int;
    preadv64v2 / 5, flags: c_int;
}

/// Functions that write at a place in the file.
macro_rules! writes_at {
    ($($name:ident)*) => {
        interpose! {$(
            fn $name / 4 (file: c_int, buffer: *const c_void, len: size_t, at: off_t) -> ssize_t = |call, pc| {
                call.settle();
                ranges::read(&mut call, buffer as usize, len, pc);
                let really = real!($name: fn(c_int, *const c_void, size_t, off_t) -> ssize_t);
                outside(&mut call, write_may_block(file, len), pc, || really(file, buffer, len, at))
            };
        )*}
    };
}

writes_at! { pwrite pwrite64 }

/// Functions that write pieces at a place in the file.
macro_rules! writes_pieces_at {
    ($($name:ident / $count:tt $(, $more:ident: $type:ty)?;)*) => {
        interpose! {$(
            fn $name / $count (file: c_int, pieces: *const iovec, count: c_int, at: off_t $(, $more: $type)?)
                -> ssize_t = |call, pc| {
                    let len = read_pieces(&mut call, pieces, count as usize, pc);
                    let really = real!($name: fn(c_int, *const iovec, c_int, off_t $(, $type)?) -> ssize_t);
                    outside(&mut call, write_may_block(file, len), pc, || really(file, pieces, count, at $(, $more)?))
                };
        )*}
    };
}

writes_pieces_at! {
    pwritev / 4;
    pwritev64 / 4;
    pwritev2 / 5, flags: c_int;
    pwritev64v2 / 5, flags: c_int;
}

/// Whether a path is that of a named pipe, whose other end somebody has to open.
unsafe fn is_named_pipe(directory: c_int, path: *const c_char, flags: c_int) -> bool {
    if flags & (libc::O_NONBLOCK | libc::O_PATH) != 0 {
        return false;
    }
    // SAFETY: the kernel looks at the path, and fills in what is there for it.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let found = syscall!(libc::SYS_newfstatat, directory as isize, path, &raw mut status, 0);
        found == 0 && status.st_mode & libc::S_IFMT == libc::S_IFIFO
    }
}

/// Functions that open a file. The mode is there or it is not; nobody looks at it if not.
macro_rules! opens {
    ($($name:ident)*) => {
        interpose! {$(
            fn $name / 3 (path: *const c_char, flags: c_int, mode: mode_t) -> c_int = |call, pc| {
                let really = real!($name: fn(*const c_char, c_int, mode_t) -> c_int);
                let waits = is_named_pipe(libc::AT_FDCWD, path, flags);
                outside(&mut call, waits, pc, || really(path, flags, mode))
            };
        )*}
    };
}

opens! { open open64 }

/// The same relative to a directory.
macro_rules! opens_at {
    ($($name:ident)*) => {
        interpose! {$(
            fn $name / 4 (directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int = |call, pc| {
                let really = real!($name: fn(c_int, *const c_char, c_int, mode_t) -> c_int);
                let waits = is_named_pipe(directory, path, flags);
                outside(&mut call, waits, pc, || really(directory, path, flags, mode))
            };
        )*}
    };
}

opens_at! { openat openat64 }

/// Functions that do all sorts of things to a file, of which only locks are of interest.
macro_rules! controls {
    ($($name:ident)*) => {
        interpose! {$(
            fn $name / 3 (file: c_int, command: c_int, argument: usize) -> c_int = |call, pc| {
                let really = real!($name: fn(c_int, c_int, usize) -> c_int);
                let waits = matches!(command, libc::F_SETLKW | libc::F_OFD_SETLKW);
                let result = outside(&mut call, waits, pc, || really(file, command, argument));
                if result == 0 && matches!(command, libc::F_GETLK | libc::F_OFD_GETLK) {
                    filled_in(&mut call, argument as *const libc::flock, pc);
                }
                result
            };
        )*}
    };
}

controls! { fcntl fcntl64 }

/// Functions of one file that last until a disk or terminal has done what it has to.
macro_rules! waits_for_devices {
    ($($name:ident)*) => {
        interpose! {$(
            fn $name / 1 (file: c_int) -> c_int = |call, pc| {
                let really = real!($name: fn(c_int) -> c_int);
                outside(&mut call, true, pc, || really(file))
            };
        )*}
    };
}

waits_for_devices! { fsync fdatasync syncfs tcdrain }

interpose! {
    fn flock / 2 (file: c_int, operation: c_int) -> c_int = |call, pc| {
        let really = real!(flock: fn(c_int, c_int) -> c_int);
        let waits = operation & (libc::LOCK_NB | libc::LOCK_UN) == 0;
        outside(&mut call, waits, pc, || really(file, operation))
    };
    fn lockf / 3 (file: c_int, command: c_int, len: off_t) -> c_int = |call, pc| {
        let really = real!(lockf: fn(c_int, c_int, off_t) -> c_int);
        outside(&mut call, command == libc::F_LOCK, pc, || really(file, command, len))
    };
    fn lockf64 / 3 (file: c_int, command: c_int, len: off_t) -> c_int = |call, pc| {
        let really = real!(lockf64: fn(c_int, c_int, off_t) -> c_int);
        outside(&mut call, command == libc::F_LOCK, pc, || really(file, command, len))
    };
}

/// Functions of the system that fill in a structure at once.
macro_rules! fills {
    ($($name:ident / $count:tt ($($argument:ident: $type:ty),*), $place:ident;)*) => {
        watch! {$(
            fn $name / $count ($($argument: $type),*) -> c_int = |call, pc, really| {
                let result = really($($argument),*);
                if result == 0 {
                    filled_in(&mut call, $place, pc);
                }
                result
            };
        )*}
    };
}

/// The same for what may be something else in the next run.
macro_rules! tells {
    ($($name:ident / $count:tt ($($argument:ident: $type:ty),*), $place:ident;)*) => {
        watch! {$(
            fn $name / $count ($($argument: $type),*) -> c_int = |call, pc, really| {
                let result = really($($argument),*);
                if result == 0 {
                    inputs::structure(&mut call, stringify!($name), size_of_val(&*$place), pc);
                    filled_in(&mut call, $place, pc);
                }
                result
            };
        )*}
    };
}

fills! {
    pipe / 1 (ends: *mut [c_int; 2]), ends;
    pipe2 / 2 (ends: *mut [c_int; 2], flags: c_int), ends;
    socketpair / 4 (domain: c_int, kind: c_int, protocol: c_int, ends: *mut [c_int; 2]), ends;
    getrlimit / 2 (what: c_int, limit: *mut libc::rlimit), limit;
    uname / 1 (names: *mut libc::utsname), names;
}

tells! {
    stat / 2 (path: *const c_char, status: *mut libc::stat), status;
    stat64 / 2 (path: *const c_char, status: *mut libc::stat), status;
    lstat / 2 (path: *const c_char, status: *mut libc::stat), status;
    lstat64 / 2 (path: *const c_char, status: *mut libc::stat), status;
    fstat / 2 (file: c_int, status: *mut libc::stat), status;
    fstat64 / 2 (file: c_int, status: *mut libc::stat), status;
    fstatat / 4 (directory: c_int, path: *const c_char, status: *mut libc::stat, flags: c_int), status;
    fstatat64 / 4 (directory: c_int, path: *const c_char, status: *mut libc::stat, flags: c_int), status;
    __xstat / 3 (version: c_int, path: *const c_char, status: *mut libc::stat), status;
    __xstat64 / 3 (version: c_int, path: *const c_char, status: *mut libc::stat), status;
    __lxstat / 3 (version: c_int, path: *const c_char, status: *mut libc::stat), status;
    __lxstat64 / 3 (version: c_int, path: *const c_char, status: *mut libc::stat), status;
    __fxstat / 3 (version: c_int, file: c_int, status: *mut libc::stat), status;
    __fxstat64 / 3 (version: c_int, file: c_int, status: *mut libc::stat), status;
    getrusage / 2 (who: c_int, usage: *mut libc::rusage), usage;
    sysinfo / 1 (info: *mut libc::sysinfo), info;
}

watch! {
    fn readlink / 3 (path: *const c_char, buffer: *mut c_char, len: size_t) -> ssize_t = |call, pc, really| {
        let result = really(path, buffer, len);
        filled(&mut call, buffer as usize, result, pc);
        result
    };
    fn gethostname / 2 (buffer: *mut c_char, len: size_t) -> c_int = |call, pc, really| {
        let result = really(buffer, len);
        if result == 0 {
            let len = (libc::strnlen(buffer, len) + 1).min(len);
            filled(&mut call, buffer as usize, len as isize, pc);
        }
        result
    };
}
