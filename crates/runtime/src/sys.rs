//! System calls made directly, past the functions this library interposes.

use std::arch::asm;
use std::sync::atomic::{AtomicU32, Ordering::*};

/// Makes a system call. The result is as the kernel gives it: negative numbers are errors.
///
/// # Safety
/// As the call demands of its arguments.
#[inline]
pub(crate) unsafe fn call(number: i64, arguments: [usize; 6]) -> isize {
    let result: isize;
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the kernel's calling convention; it keeps all registers but these three.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// [`call`], with as many arguments as are given.
macro_rules! syscall {
    ($number:expr $(, $argument:expr)* $(,)?) => {{
        let given = [$($argument as usize),*];
        let mut arguments = [0usize; 6];
        arguments[..given.len()].copy_from_slice(&given);
        $crate::sys::call($number, arguments)
    }};
}
pub(crate) use syscall;

/// Waits until the word is no longer `value`, it is woken, or the time is up; false if it was.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, nanoseconds: Option<u64>) -> bool {
    let time = nanoseconds.map(|ns| [ns / 1_000_000_000, ns % 1_000_000_000]);
    let time = time.as_ref().map_or(0, |time| time.as_ptr() as usize);
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word and the time live through the call.
    let result = unsafe { syscall!(libc::SYS_futex, word.as_ptr(), operation, value, time) };
    result != -(libc::ETIMEDOUT as isize)
}

/// Wakes one who waits.
pub(crate) fn futex_wake(word: &AtomicU32) {
    // SAFETY: waking reads nothing.
    unsafe { syscall!(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}

/// A lock for the runtime's own data. It is never held while the program's code runs.
pub(crate) struct Lock(AtomicU32);

impl Lock {
    const FREE: u32 = 0;
    const HELD: u32 = 1;
    const CONTENDED: u32 = 2;

    pub(crate) const fn new() -> Self {
        Lock(AtomicU32::new(Self::FREE))
    }

    #[inline]
    pub(crate) fn lock(&self) {
        if self.0.compare_exchange(Self::FREE, Self::HELD, Acquire, Relaxed).is_err() {
            self.lock_slowly();
        }
    }

    #[cold]
    fn lock_slowly(&self) {
        while self.0.swap(Self::CONTENDED, Acquire) != Self::FREE {
            futex_wait(&self.0, Self::CONTENDED, None);
        }
    }

    #[inline]
    pub(crate) fn unlock(&self) {
        if self.0.swap(Self::FREE, Release) == Self::CONTENDED {
            futex_wake(&self.0);
        }
    }
}

/// Nanoseconds of the real monotonic clock.
pub(crate) fn real_nanoseconds() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the kernel fills in two words.
    unsafe { syscall!(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, time.as_mut_ptr()) };
    time[0] * 1_000_000_000 + time[1]
}

/// The kernel's number of this thread.
pub(crate) fn thread_id() -> i32 {
    // SAFETY: no arguments.
    unsafe { syscall!(libc::SYS_gettid) as i32 }
}

/// Private memory, all zero, at `address` if that is not 0 and then nowhere else; 0 if there is none.
pub(crate) fn map(address: usize, len: usize) -> usize {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let fixed = if address == 0 { 0 } else { libc::MAP_FIXED_NOREPLACE };
    // SAFETY: nothing that is mapped already is replaced.
    let result = unsafe {
        syscall!(libc::SYS_mmap, address, len, libc::PROT_READ | libc::PROT_WRITE, flags | fixed, usize::MAX, 0)
    };
    if result < 0 || (address != 0 && result as usize != address) { 0 } else { result as usize }
}

/// Makes whole pages of private memory zero again, and gives them back.
///
/// # Safety
/// Nothing that matters may be there.
pub(crate) unsafe fn discard(address: usize, len: usize) {
    // SAFETY: as the caller says.
    unsafe { syscall!(libc::SYS_madvise, address, len, libc::MADV_DONTNEED) };
}

/// Writes to standard error, past the program's buffers. Only for when nothing else is possible.
pub(crate) fn complain(message: &str) {
    // SAFETY: the message lives through the call.
    unsafe { syscall!(libc::SYS_write, 2, message.as_ptr(), message.len()) };
}

/// Sets what the program sees as `errno`.
pub(crate) fn set_errno(error: i32) {
    // SAFETY: the location is this thread's own.
    unsafe { *libc::__errno_location() = error };
}

/// A result as libc's functions give it: −1 and `errno` for errors.
pub(crate) fn libc_result(result: isize) -> isize {
    if (-4095..0).contains(&result) {
        set_errno(-result as i32);
        return -1;
    }
    result
}
