//! Signals and cancellation: handlers run at steps, with the token.
//!
//! A handler that ran whenever a signal comes would run beside the thread that has the token. So the real handler
//! only notes that the signal has come, and sees to it that the thread attends to it at its next step, or
//! when it comes back from the system call or wait that the signal interrupted. Signals that a thread
//! causes itself, by an access that faults, say, are handled on the spot.
//!
//! When a signal comes is not repeatable: a run in which one was handled is said to have had one.

use crate::call::{interpose, outward, real};
use crate::current::current;
use crate::scheduler;
use crate::sys::syscall;
use crate::thread::{Guarded, Pending, State, Thread};
use interloper_wire::Notice;
use libc::{c_int, c_void, sighandler_t, siginfo_t};
use std::sync::atomic::{AtomicU64, Ordering::*};

/// Signals that have come, as bits.
pub(crate) struct Arrived(AtomicU64);

impl Arrived {
    pub(crate) const fn new() -> Self {
        Arrived(AtomicU64::new(0))
    }

    #[inline(always)]
    pub(crate) fn any(&self) -> bool {
        self.0.load(Relaxed) != 0
    }

    fn add(&self, signal: c_int) {
        self.0.fetch_or(1 << (signal - 1), Relaxed);
    }

    fn take(&self) -> u64 {
        self.0.swap(0, Relaxed)
    }
}

const SIGNALS: usize = 65;

/// What the program wants done about each signal. Written with the token; the real handler reads.
static ACTIONS: Guarded<[Option<libc::sigaction>; SIGNALS]> = Guarded::new([None; SIGNALS]);

/// What the kernel said about each signal, the last time it came.
static INFOS: Guarded<[Option<siginfo_t>; SIGNALS]> = Guarded::new([None; SIGNALS]);

/// The signals that a thread causes itself.
fn is_own_doing(signal: c_int, info: *const siginfo_t) -> bool {
    match signal {
        // `abort` does not come back to a step.
        libc::SIGABRT => true,
        libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGTRAP | libc::SIGSYS => {
            // SAFETY: the kernel passes it.
            unsafe { (*info).si_code > 0 }
        }
        _ => false,
    }
}

/// The real handler of all signals that the program handles.
unsafe extern "C" fn arrive(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let thread = current();
    // SAFETY: the running thread's own data, as it is between two instructions.
    unsafe {
        if thread.is_null() {
            handle(signal, info, context);
            return;
        }
        let thread = &mut *thread;
        if is_own_doing(signal, info) {
            let inside = std::mem::replace(&mut thread.inside, 0);
            // It may be the very write that was announced last, and is not done, that faults.
            let pending = std::mem::replace(&mut thread.pending, Pending::NONE);
            handle(signal, info, context);
            thread.pending = pending;
            thread.inside = inside;
            return;
        }
        // Two threads may get the same signal at once; each is told about one of them.
        INFOS.get()[signal as usize] = Some(*info);
        thread.signals.add(signal);
        if thread.inside == 0 {
            withhold(thread);
        }
    }
}

/// Makes the next step the last, so that the thread attends to what has come.
pub(crate) fn withhold(thread: &mut Thread) {
    thread.withheld += thread.budget;
    thread.turn -= thread.budget;
    thread.budget = 0;
}

/// Runs the program's handler.
unsafe fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: actions are whole; see `install`.
    let Some(action) = (unsafe { ACTIONS.get() })[signal as usize] else { return };
    // SAFETY: the program says that it is a handler of the kind that the flags tell.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            let handler: extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void) =
                std::mem::transmute(action.sa_sigaction);
            handler(signal, info, context);
        } else {
            let handler: extern "C-unwind" fn(c_int) = std::mem::transmute(action.sa_sigaction);
            handler(signal);
        }
    }
}

/// Sees to what has come since the last step: the loss of the token, and signals. The thread is
/// in the runtime, and has the token afterwards.
pub(crate) unsafe fn attend(thread: &mut Thread) {
    // SAFETY: the running thread.
    unsafe {
        if thread.lost_token {
            thread.lost_token = false;
            scheduler::come_back(thread);
        }
        while thread.signals.any() {
            let arrived = thread.signals.take();
            for signal in (1..SIGNALS as c_int).filter(|signal| arrived & 1 << (signal - 1) != 0) {
                thread.settle();
                scheduler::notice(Notice::Signal, [signal as u64, u64::from(thread.number), 0], b"");
                let errno = *libc::__errno_location();
                let mut info = INFOS.get()[signal as usize].unwrap_or_else(|| std::mem::zeroed());
                let inside = std::mem::replace(&mut thread.inside, 0);
                // A handler may look at the context, but there is none any more.
                let mut context: libc::ucontext_t = std::mem::zeroed();
                handle(signal, &mut info, (&raw mut context).cast());
                thread.inside = inside;
                *libc::__errno_location() = errno;
            }
        }
        thread.turn += thread.withheld;
        thread.budget += thread.withheld;
        thread.withheld = 0;
    }
}

/// Whether the program wants system calls to go on after all the signals that have come.
pub(crate) unsafe fn all_restart(thread: &Thread) -> bool {
    let arrived = thread.signals.0.load(Relaxed);
    // SAFETY: the caller has the token.
    let actions = unsafe { ACTIONS.get() };
    let mut signals = (1..SIGNALS).filter(|signal| arrived & 1 << (signal - 1) != 0);
    signals.all(|signal| actions[signal].is_some_and(|action| action.sa_flags & libc::SA_RESTART != 0))
}

/// A point at which a thread may be cancelled. The thread is in the runtime.
pub(crate) unsafe fn test_cancel(thread: &mut Thread) {
    // SAFETY: the running thread; what it unwinds through is prepared for that.
    unsafe {
        if thread.is_cancelled {
            let inside = std::mem::replace(&mut thread.inside, 0);
            real!(pthread_testcancel: fn())();
            thread.inside = inside;
        }
        attend(thread);
    }
}

/// The signal that makes a system call return early: the last of those that are the program's to use.
const INTERRUPT: c_int = 64;

/// Makes a thread that is in a system call come back from it.
pub(crate) unsafe fn interrupt_call(thread: &Thread) {
    unsafe extern "C" fn nothing(_signal: c_int, _info: *mut siginfo_t, _context: *mut c_void) {}
    // SAFETY: plain data, all of which may be zero; the handler is of the right type.
    unsafe {
        if thread.state == State::Outside {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            real!(sigaction: fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int)(
                INTERRUPT,
                &action,
                std::ptr::null_mut(),
            );
            syscall!(libc::SYS_tgkill, syscall!(libc::SYS_getpid), thread.kernel_id, INTERRUPT);
        }
    }
}

/// Remembers what the program wants done about a signal, and has the kernel tell us instead.
unsafe fn install(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    let really = real!(sigaction: fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int);
    // SAFETY: the caller has the token; the pointers are valid or null, as the function demands.
    unsafe {
        if !(1..SIGNALS as c_int).contains(&signal) {
            return really(signal, new, old);
        }
        let slot = &mut ACTIONS.get()[signal as usize];
        let before = *slot;
        let result = match new.as_ref() {
            None => really(signal, std::ptr::null(), old),
            Some(action) if matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) => {
                let result = really(signal, new, old);
                if result == 0 {
                    *slot = None;
                }
                result
            }
            Some(action) => {
                let mut ours = *action;
                ours.sa_sigaction = arrive as *const () as usize;
                ours.sa_flags |= libc::SA_SIGINFO;
                *slot = Some(*action);
                let result = really(signal, &ours, old);
                if result != 0 {
                    *slot = before;
                }
                result
            }
        };
        if let (0, Some(before), Some(old)) = (result, before, old.as_mut()) {
            *old = before;
        }
        result
    }
}

unsafe fn install_simply(signal: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: plain data, all of which may be zero; the caller has the token.
    unsafe {
        let (mut new, mut old): (libc::sigaction, libc::sigaction) = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        if install(signal, &new, &mut old) == 0 { old.sa_sigaction } else { libc::SIG_ERR }
    }
}

interpose! {
    fn sigaction / 3 (signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int =
        |call, pc| install(signal, new, old);
    fn signal / 2 (signal: c_int, handler: sighandler_t) -> sighandler_t = |call, pc| install_simply(signal, handler);
    fn pthread_testcancel / 0 () = |call, pc| test_cancel(&mut call);
}

outward! {
    // What a thread sends to itself has been handled when these return: a `Call` attends at its end.
    fn raise / 1 (signal: c_int) -> c_int = |call, pc| {
        call.settle();
        let (process, thread) = (syscall!(libc::SYS_getpid), syscall!(libc::SYS_gettid));
        crate::sys::libc_result(syscall!(libc::SYS_tgkill, process, thread, signal)) as c_int
    };
    fn kill / 2 (process: libc::pid_t, signal: c_int) -> c_int = |call, pc| {
        call.settle();
        crate::sys::libc_result(syscall!(libc::SYS_kill, process, signal)) as c_int
    };
    fn pthread_kill / 2 (thread: libc::pthread_t, signal: c_int) -> c_int = |call, pc| {
        call.settle();
        real!(pthread_kill: fn(libc::pthread_t, c_int) -> c_int)(thread, signal)
    };
}

/// For the functions that call the real `sigaction` before the program's handlers matter.
pub(crate) unsafe fn install_own(signal: c_int, handler: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void)) {
    // SAFETY: plain data, all of which may be zero.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        real!(sigaction: fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int)(
            signal,
            &action,
            std::ptr::null_mut(),
        );
    }
}
