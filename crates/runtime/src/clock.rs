//! Virtual time.
//!
//! It moves when every thread waits for it, then straight to the first deadline; while every thread is in
//! a system call, as fast as real time; and a little whenever the program looks at it, so that loops that
//! wait for it come to an end. The same schedule sees the same times.

use crate::thread::Guarded;

/// How much later it is each time the program looks, in nanoseconds.
const LOOK: u64 = 1000;

/// Nanoseconds since 1970, and since the run began. Guarded by the token, or by the scheduler's lock while
/// nobody has that.
static NOW: Guarded<(u64, u64)> = Guarded::new((0, 0));

/// Where the monotonic clock begins: not at 0, which programs take for "never".
const MONOTONIC_START: u64 = 1_000_000_000_000;

/// Sets the time of day.
pub(crate) unsafe fn begin(start_time: u64) {
    // SAFETY: the program has one thread yet.
    unsafe { *NOW.get() = (start_time, 0) };
}

/// What the program sees on the clock with this number; `None` for those that we know nothing of, such as another
/// process's. The time that the processor has worked is the time that has passed, so that it is the same in every run.
pub(crate) unsafe fn look(clock: libc::clockid_t) -> Option<u64> {
    // SAFETY: the caller has the token.
    let (start, elapsed) = unsafe { NOW.get() };
    let base = match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => *start,
        libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_BOOTTIME => {
            MONOTONIC_START
        }
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => 0,
        _ => return None,
    };
    *elapsed += LOOK;
    Some(base + *elapsed)
}

/// The deadline, as the scheduler has it, for a time on the clock with this number.
pub(crate) unsafe fn deadline_at(clock: libc::clockid_t, time: u64) -> u64 {
    // SAFETY: the caller has the token.
    let start = unsafe { NOW.get() }.0;
    time.saturating_sub(if clock == libc::CLOCK_REALTIME { start } else { MONOTONIC_START })
}

/// The deadline for so many nanoseconds from now.
pub(crate) unsafe fn deadline_in(nanoseconds: u64) -> u64 {
    // SAFETY: the caller has the token.
    unsafe { NOW.get() }.1.saturating_add(nanoseconds)
}

/// Nanoseconds since the run began.
pub(crate) unsafe fn elapsed() -> u64 {
    // SAFETY: the caller has the token, or nobody has and it holds the lock.
    unsafe { NOW.get() }.1
}

/// Moves on.
pub(crate) unsafe fn advance(nanoseconds: u64) {
    // SAFETY: the caller has the token, or nobody has and it holds the lock.
    let now = unsafe { NOW.get() };
    now.1 = now.1.saturating_add(nanoseconds);
}

/// Moves on to a deadline.
pub(crate) unsafe fn advance_to(deadline: u64) {
    // SAFETY: the caller has the token, or nobody has and it holds the lock.
    let now = unsafe { NOW.get() };
    now.1 = now.1.max(deadline);
}
