//! A thread of our own that sees to what no thread of the program can.
//!
//! - While every thread is in a system call, virtual time moves as real time does: somebody has to
//!   wake those whose time comes.
//! - A signal may come just before the system call it should interrupt.
//! - A thread may block where we cannot see it, inside libc (a lock of `stdio`, a pipe that is full), and have
//!   the token. After some time without a step, if the kernel says that it sleeps, it is sent a signal,
//!   whose handler gives the token to another. From there on two threads may run at a time, so the order of
//!   events is not certain any more, and the log says so.

use super::{LOCK, SCHEDULER, fill_vacancy, hand_over, notice, scheduler};
use crate::call::real;
use crate::clock;
use crate::current::current;
use crate::signals;
use crate::sys::{self, syscall};
use crate::thread::{State, Thread};
use interloper_wire::{Notice, SegmentEnd};
use libc::{c_int, c_void, pthread_attr_t, pthread_t, siginfo_t};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*};

/// The signal that takes the token away: one that Linux never sends.
const ATTENTION: c_int = libc::SIGSTKFLT;

/// How often we look, in nanoseconds.
const PERIOD: u64 = 20_000_000;
/// After how many looks without a step a sleeping thread is taken to be stuck.
const PATIENCE: u32 = 5;

/// The least time between two looks.
const MOMENT: u64 = 100_000;
/// After how long others may help a thread that directions wait for.
const SOON: u64 = 10_000_000;
/// How long a plan's thread may be in a system call while others could run.
const LONG: u64 = 3_000_000_000;

/// Changes when nobody has the token.
static NUDGE: AtomicU32 = AtomicU32::new(0);
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
/// Where the runtime's own code is: a thread that is there is not stuck.
static TEXT: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Begins to watch, once there is a second thread.
pub(crate) unsafe fn begin() {
    if HAS_BEGUN.swap(true, Relaxed) {
        return;
    }
    type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
    // SAFETY: the handler and the routine are of the right types; no signal of the program's is to
    // be handled in our thread.
    unsafe {
        find_own_code();
        signals::install_own(ATTENTION, give_token_away);
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let mut attributes: pthread_attr_t = std::mem::zeroed();
        libc::pthread_attr_init(&mut attributes);
        libc::pthread_attr_setstacksize(&mut attributes, 1 << 17);
        libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED);
        let mut handle: pthread_t = 0;
        real!(pthread_create: fn(*mut pthread_t, *const pthread_attr_t, Start, *mut c_void) -> c_int)(
            &mut handle,
            &attributes,
            watch,
            std::ptr::null_mut(),
        );
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
    }
}

unsafe fn find_own_code() {
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, _data: *mut c_void) -> c_int {
        // SAFETY: the loader passes valid data.
        unsafe {
            let info = &*info;
            let here = find_own_code as *const () as usize;
            for number in 0..usize::from(info.dlpi_phnum) {
                let part = &*info.dlpi_phdr.add(number);
                let start = info.dlpi_addr as usize + part.p_vaddr as usize;
                let range = start..start + part.p_memsz as usize;
                if part.p_type == libc::PT_LOAD && part.p_flags & libc::PF_X != 0 && range.contains(&here) {
                    TEXT[0].store(range.start, Relaxed);
                    TEXT[1].store(range.end, Relaxed);
                }
            }
        }
        0
    }
    // SAFETY: the visitor is of the right type.
    unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::null_mut()) };
}

unsafe extern "C-unwind" fn watch(_nothing: *mut c_void) -> *mut c_void {
    let mut last = (0, u32::MAX, 0);
    let mut unchanged = 0;
    let mut pause = PERIOD;
    loop {
        let nudge = NUDGE.load(Acquire);
        sys::futex_wait(&NUDGE, nudge, Some(pause));
        if !crate::start::is_recording() {
            return std::ptr::null_mut();
        }
        LOCK.lock();
        // SAFETY: the lock is held; steps are read while they may change, which does not matter.
        let stuck = unsafe {
            let Some(state) = SCHEDULER.get() else { return std::ptr::null_mut() };
            remind(&state.threads);
            match state.holder {
                None => {
                    pause = fire_timers().unwrap_or(PERIOD).clamp(MOMENT, PERIOD);
                    give_up_waiting();
                    None
                }
                Some(holder) => {
                    pause = PERIOD;
                    let thread = &*state.threads[holder as usize];
                    let now = (state.turns, holder, thread.steps());
                    unchanged = if now == last { unchanged + 1 } else { 0 };
                    last = now;
                    (unchanged >= PATIENCE && thread.inside == 0).then_some(thread.kernel_id)
                }
            }
        };
        LOCK.unlock();
        if let Some(kernel_id) = stuck
            && is_asleep(kernel_id)
        {
            unchanged = 0;
            // SAFETY: no memory is involved.
            unsafe { syscall!(libc::SYS_tgkill, syscall!(libc::SYS_getpid), kernel_id, ATTENTION) };
        }
    }
}

/// A signal that comes just before the system call it should interrupt is lost on it: sent again.
unsafe fn remind(threads: &[*mut Thread]) {
    for thread in threads {
        // SAFETY: threads are never freed; the lock is held.
        unsafe {
            let thread = &**thread;
            if thread.is_cancelled || thread.signals.any() {
                signals::interrupt_call(thread);
            }
        }
    }
}

/// Wakes those whose time has come while nobody has the token, and tells how long it is until the next. The
/// lock is held.
unsafe fn fire_timers() -> Option<u64> {
    // SAFETY: the lock is held, and nobody has the token.
    unsafe {
        let scheduler = scheduler();
        if scheduler.is_guided() {
            return None;
        }
        let (deadline, number) = scheduler.first_deadline()?;
        let now = clock::elapsed() + (sys::real_nanoseconds() - scheduler.idle_since);
        if now >= deadline {
            scheduler.time_out(number);
            fill_vacancy();
            return None;
        }
        Some(deadline - now)
    }
}

/// A plan or a direction may say that a thread is next whose system call does not return this time. The lock is held.
unsafe fn give_up_waiting() {
    // SAFETY: the lock is held, and nobody has the token; threads are never freed.
    unsafe {
        let scheduler = scheduler();
        let is_any_ready = scheduler.threads.iter().any(|thread| (**thread).state == State::Ready);
        if is_any_ready
            && sys::real_nanoseconds() - scheduler.idle_since > SOON
            && let Some(helper) = scheduler.call_help()
        {
            let (end, steps) = scheduler.unlogged;
            scheduler.pass_to(helper, end, steps);
            return;
        }
        if scheduler.is_guided() && is_any_ready && sys::real_nanoseconds() - scheduler.idle_since > LONG {
            let how = "the thread was to run, but its system call does not return";
            if scheduler.plan.is_active() {
                scheduler.stop_following(how);
            } else {
                scheduler.stray(how);
            }
            fill_vacancy();
        }
    }
}

/// Nobody has the token from now on: there may be timers to watch.
pub(super) fn nudge() {
    NUDGE.fetch_add(1, Release);
    sys::futex_wake(&NUDGE);
}

fn is_asleep(kernel_id: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/self/task/{kernel_id}/stat")) else { return false };
    let state = stat.rsplit(')').next().map(str::trim_start).and_then(|rest| rest.chars().next());
    matches!(state, Some('S' | 'D'))
}

/// Runs in the thread that has the token and does not use it.
unsafe extern "C" fn give_token_away(_signal: c_int, _info: *mut siginfo_t, context: *mut c_void) {
    let thread = current();
    // SAFETY: the running thread's own data, as it is between two instructions of code that is not ours: it neither
    // holds the lock nor is it about to log.
    unsafe {
        if thread.is_null() || (*thread).inside != 0 || (*thread).lost_token {
            return;
        }
        let at = (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        if (TEXT[0].load(Relaxed)..TEXT[1].load(Relaxed)).contains(&at) {
            return;
        }
        let thread = &mut *thread;
        let errno = *libc::__errno_location();
        thread.inside = 1;
        signals::withhold(thread);
        LOCK.lock();
        if scheduler().holder == Some(thread.number) {
            thread.lost_token = true;
            thread.settle();
            notice(Notice::Uncontrolled, [u64::from(thread.number), 0, 0], b"");
            thread.state = State::Outside;
            hand_over(thread, SegmentEnd::Outside, false);
            // The rest of its turn is another turn.
            thread.withheld = 0;
        } else {
            LOCK.unlock();
        }
        thread.inside = 0;
        *libc::__errno_location() = errno;
    }
}
