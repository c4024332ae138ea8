//! `pthread_once` (and with it `std::call_once`), and the guards of C++ statics.
//!
//! An initialiser that is left by an exception has not run; the next thread tries again.

use super::{Patience, Waiters, objects};
use crate::call::{Call, interpose};
use crate::thread::{Thread, What, Woken};
use interloper_wire::Kind;
use libc::c_int;

/// Whether an initialisation is under way.
#[derive(Default)]
enum Progress {
    #[default]
    None,
    RunBy(u32),
}

/// The state of a once flag or guard.
#[derive(Default)]
pub(crate) struct Once {
    progress: Progress,
    waiters: Waiters,
}

impl Once {
    /// Who runs the initialiser.
    pub(crate) fn runner(&self) -> Option<u32> {
        match self.progress {
            Progress::RunBy(number) => Some(number),
            Progress::None => None,
        }
    }
}

/// Whether this thread is to run the initialiser; if not, it has been run.
///
/// The flag itself says whether it has: one that does not is new, whatever was at this address before.
unsafe fn begin(thread: &mut Thread, flag: usize, is_done: impl Fn() -> bool, pc: usize) -> bool {
    // SAFETY: the caller has the token; no reference into the tables is kept while waiting.
    unsafe {
        loop {
            if is_done() {
                thread.log(Kind::OncePass, flag, pc, []);
                return false;
            }
            let state = objects().onces.entry(flag).or_default();
            match state.progress {
                Progress::None => {
                    state.progress = Progress::RunBy(thread.number);
                    thread.log(Kind::OnceBegin, flag, pc, []);
                    return true;
                }
                Progress::RunBy(_) => {
                    state.waiters.add(thread);
                    if Patience::Endless.wait(thread, What::Once, flag) != Woken::Notified {
                        objects().onces.entry(flag).or_default().waiters.remove(thread);
                        crate::signals::attend(thread);
                    }
                }
            }
        }
    }
}

unsafe fn end(thread: &mut Thread, flag: usize, pc: usize) {
    // SAFETY: the caller has the token.
    unsafe {
        thread.log(Kind::OnceEnd, flag, pc, []);
        let state = objects().onces.entry(flag).or_default();
        state.progress = Progress::None;
        state.waiters.wake_all();
    }
}

pub(super) type Initialiser = unsafe extern "C-unwind" fn();

pub(super) unsafe fn run_once(
    mut call: Call,
    flag: *mut libc::pthread_once_t,
    initialiser: Initialiser,
    pc: usize,
) -> c_int {
    /// Says that it is over, also if the initialiser is left by an exception and has not run.
    struct Attempt<'a>(&'a mut Call, usize, usize);
    impl Drop for Attempt<'_> {
        fn drop(&mut self) {
            // SAFETY: a `Call` is proof of the token.
            unsafe { end(self.0, self.1, self.2) };
        }
    }
    /// What glibc leaves in a flag when all is done; code that was not compiled for us may look there.
    const DONE: c_int = 2;
    // SAFETY: a `Call` is proof of the token; the flag is valid, as the function demands.
    unsafe {
        if begin(&mut call, flag as usize, || *flag == DONE, pc) {
            let attempt = Attempt(&mut call, flag as usize, pc);
            attempt.0.run(|| initialiser());
            *flag = DONE;
        }
    }
    0
}

/// Guards are one byte that says whether all is done, and others that are the library's.
unsafe fn is_guard_done(guard: usize) -> bool {
    // SAFETY: a guard is eight bytes.
    unsafe { *(guard as *const u8) != 0 }
}

interpose! {
    fn pthread_once / 2 (flag: *mut libc::pthread_once_t, initialiser: Initialiser) -> c_int =
        |call, pc| run_once(call, flag, initialiser, pc);
    fn __cxa_guard_acquire / 1 (guard: usize) -> c_int =
        |call, pc| c_int::from(begin(&mut call, guard, || is_guard_done(guard), pc));
    fn __cxa_guard_release / 1 (guard: usize) = |call, pc| {
        *(guard as *mut u8) = 1;
        end(&mut call, guard, pc);
    };
    fn __cxa_guard_abort / 1 (guard: usize) = |call, pc| end(&mut call, guard, pc);
}
