//! `pthread_mutex_t`, of every type, and `mtx_t`, which is the same inside.
//!
//! Robust mutexes hand over with `EOWNERDEAD`. Not modelled: mutexes shared between processes, which are
//! controlled within this process only, and priority protocols, which decide nothing that the scheduler would not.

use super::{Patience, Waiters, objects};
use crate::call::{Call, interpose, real};
use crate::log::{self, header};
use crate::scheduler;
use crate::shadow;
use crate::thread::{Thread, What, Woken};
use interloper_wire::{Kind, LockArg, RecordHeader};
use libc::{c_int, clockid_t, pthread_mutex_t, pthread_mutexattr_t, timespec};

/// The state of a mutex.
#[derive(Default)]
pub(crate) struct Mutex {
    pub(crate) owner: Option<u32>,
    pub(crate) depth: u32,
    waiters: Waiters,
}

/// What a mutex does when its owner asks again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Normal,
    Recursive,
    ErrorCheck,
}

/// What kind of lock it is.
#[derive(Clone, Copy)]
struct Traits {
    of: Type,
    /// Whether it outlives its owner.
    is_robust: bool,
    what: What,
}

const KIND_OFFSET: usize = 16;
const KIND_MASK: i32 = 3;
const KIND_ROBUST: i32 = 16;

impl Traits {
    /// A lock without anything special about it.
    const fn plain(what: What) -> Self {
        Traits { of: Type::Normal, is_robust: false, what }
    }

    unsafe fn of(mutex: usize) -> Self {
        // SAFETY: glibc keeps the kind there, on x86-64, for the sake of static initialisers.
        let kind = unsafe { *((mutex + KIND_OFFSET) as *const i32) };
        let of = match kind & KIND_MASK {
            1 => Type::Recursive,
            2 => Type::ErrorCheck,
            _ => Type::Normal,
        };
        Traits { of, is_robust: kind & KIND_ROBUST != 0, what: What::Mutex }
    }
}

/// Logs something about a lock.
pub(crate) unsafe fn log_lock(thread: &mut Thread, kind: Kind, arg: u8, lock: usize, pc: usize) {
    // SAFETY: the caller has the token.
    unsafe {
        thread.prepare();
        log::append(RecordHeader { arg, ..header(kind, lock, pc) }, []);
    }
}

/// Takes the mutex; the result is an error number, as the function's.
pub(crate) unsafe fn lock(thread: &mut Thread, mutex: usize, patience: Patience, pc: usize) -> c_int {
    // SAFETY: the caller has the token.
    unsafe { lock_as(thread, mutex, Traits::of(mutex), patience, pc) }
}

/// Takes a lock that is not a mutex, but behaves like one.
pub(crate) unsafe fn lock_plain(thread: &mut Thread, lock: usize, patience: Patience, pc: usize) -> c_int {
    // SAFETY: the caller has the token.
    unsafe { lock_as(thread, lock, Traits::plain(What::Spin), patience, pc) }
}

/// Gives it back.
pub(crate) unsafe fn unlock_plain(thread: &mut Thread, lock: usize, pc: usize) -> c_int {
    // SAFETY: the caller has the token.
    unsafe { unlock_as(thread, lock, Traits::plain(What::Spin), pc) }
}

unsafe fn lock_as(thread: &mut Thread, mutex: usize, traits: Traits, patience: Patience, pc: usize) -> c_int {
    let arg = if let Patience::Endless = patience { 0 } else { LockArg::TRY };
    let mut has_asked = false;
    // SAFETY: the caller has the token; no reference into the tables is kept while waiting.
    unsafe {
        if !objects().mutexes.contains_key(&mutex) {
            shadow::meet_object(thread, mutex);
        }
        loop {
            let state = objects().mutexes.entry(mutex).or_default();
            match state.owner {
                None => {
                    (state.owner, state.depth) = (Some(thread.number), 1);
                    log_lock(thread, Kind::Acquire, arg, mutex, pc);
                    return 0;
                }
                Some(owner) if owner == thread.number => match traits.of {
                    Type::Recursive => {
                        state.depth += 1;
                        log_lock(thread, Kind::Acquire, arg, mutex, pc);
                        return 0;
                    }
                    Type::ErrorCheck if !matches!(patience, Patience::None) => return libc::EDEADLK,
                    Type::ErrorCheck | Type::Normal => {}
                },
                Some(owner) if traits.is_robust && scheduler::is_dead(owner) => {
                    state.owner = Some(thread.number);
                    // Its dead owner never gave it back, so that it cannot be acquired in the log.
                    return libc::EOWNERDEAD;
                }
                Some(_) => {}
            }
            if let Patience::None = patience {
                log_lock(thread, Kind::TryFailed, arg, mutex, pc);
                scheduler::spins_at(thread, pc);
                return libc::EBUSY;
            }
            if !has_asked {
                log_lock(thread, Kind::Request, arg, mutex, pc);
                has_asked = true;
            }
            objects().mutexes.entry(mutex).or_default().waiters.add(thread);
            let woken = patience.wait(thread, traits.what, mutex);
            if woken != Woken::Notified {
                objects().mutexes.entry(mutex).or_default().waiters.remove(thread);
            }
            if woken == Woken::TimedOut {
                log_lock(thread, Kind::TryFailed, arg, mutex, pc);
                return libc::ETIMEDOUT;
            }
            crate::signals::attend(thread);
        }
    }
}

/// Gives the mutex back, by one level.
pub(crate) unsafe fn unlock(thread: &mut Thread, mutex: usize, pc: usize) -> c_int {
    // SAFETY: the caller has the token.
    unsafe { unlock_as(thread, mutex, Traits::of(mutex), pc) }
}

unsafe fn unlock_as(thread: &mut Thread, mutex: usize, traits: Traits, pc: usize) -> c_int {
    // SAFETY: the caller has the token.
    unsafe {
        let state = objects().mutexes.entry(mutex).or_default();
        if state.owner != Some(thread.number) {
            if traits.of != Type::Normal || traits.is_robust {
                return libc::EPERM;
            }
            if state.owner.is_none() {
                return 0;
            }
            // Undefined, but glibc unlocks it.
            let text = b"a thread unlocked a mutex that another had locked";
            scheduler::notice(interloper_wire::Notice::Unsupported, [0; 3], text);
        } else {
            log_lock(thread, Kind::Release, 0, mutex, pc);
        }
        state.depth = state.depth.saturating_sub(1);
        if state.depth == 0 {
            state.owner = None;
            state.waiters.wake_all();
        }
        0
    }
}

/// Gives the mutex up to wait on a condition: all levels of it. The number is for [`retake`].
pub(crate) unsafe fn give_up(thread: &Thread, mutex: usize) -> u32 {
    // SAFETY: the caller has the token.
    let state = unsafe { objects() }.mutexes.entry(mutex).or_default();
    if state.owner != Some(thread.number) {
        return 0;
    }
    state.owner = None;
    // SAFETY: the caller has the token.
    unsafe { state.waiters.wake_all() };
    std::mem::take(&mut state.depth)
}

/// Takes it again after the wait.
pub(crate) unsafe fn retake(thread: &mut Thread, mutex: usize, depth: u32) {
    if depth == 0 {
        return;
    }
    // SAFETY: the caller has the token; no reference into the tables is kept while waiting.
    unsafe {
        loop {
            let state = objects().mutexes.entry(mutex).or_default();
            if state.owner.is_none() {
                (state.owner, state.depth) = (Some(thread.number), depth);
                return;
            }
            state.waiters.add(thread);
            if Patience::Endless.wait(thread, What::Mutex, mutex) != Woken::Notified {
                objects().mutexes.entry(mutex).or_default().waiters.remove(thread);
            }
        }
    }
}

/// Forgets what is known of a mutex: it is made anew, or destroyed.
unsafe fn forget(mutex: usize) {
    if let Some(_call) = Call::enter_quietly() {
        // SAFETY: the caller has the token.
        unsafe { objects() }.mutexes.remove(&mutex);
    }
}

/// Takes the mutex unless that lasts beyond a time on a clock.
pub(crate) unsafe fn timed_lock(
    thread: &mut Thread,
    mutex: usize,
    clock: clockid_t,
    time: *const timespec,
    pc: usize,
) -> c_int {
    // SAFETY: the caller has the token and a valid time.
    unsafe {
        match Patience::until(clock, time) {
            Ok(patience) => lock(thread, mutex, patience, pc),
            Err(error) => error,
        }
    }
}

interpose! {
    fn pthread_mutex_lock / 1 (mutex: *mut pthread_mutex_t) -> c_int =
        |call, pc| lock(&mut call, mutex as usize, Patience::Endless, pc);
    fn pthread_mutex_trylock / 1 (mutex: *mut pthread_mutex_t) -> c_int =
        |call, pc| lock(&mut call, mutex as usize, Patience::None, pc);
    fn pthread_mutex_timedlock / 2 (mutex: *mut pthread_mutex_t, time: *const timespec) -> c_int =
        |call, pc| timed_lock(&mut call, mutex as usize, libc::CLOCK_REALTIME, time, pc);
    fn pthread_mutex_clocklock / 3 (mutex: *mut pthread_mutex_t, clock: clockid_t, time: *const timespec) -> c_int =
        |call, pc| timed_lock(&mut call, mutex as usize, clock, time, pc);
    fn pthread_mutex_unlock / 1 (mutex: *mut pthread_mutex_t) -> c_int =
        |call, pc| unlock(&mut call, mutex as usize, pc);
}

/// Interposes `pthread_mutex_init`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_mutex_init(
    mutex: *mut pthread_mutex_t,
    attributes: *const pthread_mutexattr_t,
) -> c_int {
    // SAFETY: as the program's call.
    unsafe {
        forget(mutex as usize);
        real!(pthread_mutex_init: fn(*mut pthread_mutex_t, *const pthread_mutexattr_t) -> c_int)(mutex, attributes)
    }
}

/// Interposes `pthread_mutex_destroy`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int {
    if let Some(_call) = Call::enter_quietly() {
        // SAFETY: a `Call` is proof of the token.
        let mutexes = unsafe { &mut objects().mutexes };
        if mutexes.get(&(mutex as usize)).is_some_and(|state| state.owner.is_some()) {
            return libc::EBUSY;
        }
        mutexes.remove(&(mutex as usize));
    }
    // SAFETY: as the program's call.
    unsafe { real!(pthread_mutex_destroy: fn(*mut pthread_mutex_t) -> c_int)(mutex) }
}

/// Interposes `pthread_mutex_consistent`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_mutex_consistent(mutex: *mut pthread_mutex_t) -> c_int {
    match Call::enter_quietly() {
        Some(_) => 0,
        // SAFETY: as the program's call.
        None => unsafe { real!(pthread_mutex_consistent: fn(*mut pthread_mutex_t) -> c_int)(mutex) },
    }
}
