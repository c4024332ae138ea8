//! Reading and writing files, sockets and pipes: made without the token where they may block, and what the
//! system fills in is logged as written.

use super::blocking::{may_block, outside};
use crate::call::interpose;
use crate::ranges;
use crate::sys::{libc_result, syscall};
use interloper_wire::AccessFlags;
use libc::{POLLIN, POLLOUT, c_int, c_void, nfds_t, pollfd, size_t, ssize_t};

interpose! {
    fn read / 3 (file: c_int, buffer: *mut c_void, len: size_t) -> ssize_t = |call, pc| {
        let waits = may_block(file, POLLIN);
        let result = outside(&mut call, waits, pc, || libc_result(syscall!(libc::SYS_read, file, buffer, len)));
        ranges::wrote(&mut call, buffer as usize, usize::try_from(result).unwrap_or(0), pc, AccessFlags::SYSTEM);
        result
    };
    fn write / 3 (file: c_int, buffer: *const c_void, len: size_t) -> ssize_t = |call, pc| {
        ranges::read(&mut call, buffer as usize, len, pc);
        let waits = may_block(file, POLLOUT);
        outside(&mut call, waits, pc, || libc_result(syscall!(libc::SYS_write, file, buffer, len)))
    };
    fn poll / 3 (files: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int = |call, pc| {
        let result = outside(&mut call, timeout != 0, pc, || {
            libc_result(syscall!(libc::SYS_poll, files, count, timeout as isize)) as c_int
        });
        ranges::wrote(&mut call, files as usize, count as usize * size_of::<pollfd>(), pc, AccessFlags::SYSTEM);
        result
    };
}
