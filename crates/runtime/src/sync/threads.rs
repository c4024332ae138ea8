//! Threads: how they begin, end and are waited for.
//!
//! Stacks are made here, one place for each thread there ever was, because glibc gives the stack of a
//! thread that has ended to the next one as soon as the kernel is done with it, which is anybody's guess.
//! Which place that is depends on who made the thread, not on when.
//!
//! A thread ends, for the scheduler, in the last round of its destructors of thread-specific data:
//! destructors of C++ thread-locals and of the program's keys have run by then, with the token. What glibc does
//! after that is not the program's.

use super::futex::stop;
use super::{Patience, Table};
use crate::call::{Call, export_with_pc, interpose, outward, real};
use crate::current::{current, set_current};
use crate::log::{self, header};
use crate::memory::{STACKS, STACKS_LEN};
use crate::places::{PLACES, Place};
use crate::scheduler;
use crate::shadow;
use crate::sys::{self, syscall};
use crate::thread::{Guarded, Pending, StartRoutine, State, Thread, What, Woken};
use interloper_wire::{Kind, Stop};
use libc::{c_int, c_void, clockid_t, pthread_attr_t, pthread_key_t, pthread_t, timespec};
use rustc_hash::FxBuildHasher;
use std::marker::PhantomPinned;
use std::sync::atomic::{AtomicU32, Ordering::*};

/// What is known of threads beyond what the scheduler knows. Guarded by the token.
struct Threads {
    /// Those that can still be joined or detached, by handle.
    by_handle: Table<u32>,
    /// Where the next stack goes that has no place of its own.
    next_stack: usize,
}

static THREADS: Guarded<Threads> =
    Guarded::new(Threads { by_handle: Table::with_hasher(FxBuildHasher), next_stack: STACKS + PLACES * STACK_ROOM });

/// The key whose destructor ends threads.
static KEY: AtomicU32 = AtomicU32::new(0);

/// A new thread, which nobody knows yet.
pub(crate) fn new_thread() -> *mut Thread {
    const FRAMES: usize = 64;
    let frames = Vec::with_capacity(FRAMES).leak();
    Box::into_raw(Box::new(Thread {
        budget: 0,
        cell_written: 0,
        cell_read: 0,
        inside: 0,
        pending: Pending::NONE,
        branches: 0,
        number: 0,
        frames: frames.as_mut_ptr(),
        depth: 0,
        frame_room: FRAMES,
        logged_depth: 0,
        shared_stack: usize::MAX,
        turn: 0,
        withheld: 0,
        lost_token: false,
        is_helping: false,
        is_before_step: false,
        is_back: false,
        stack_top: 0,
        stack_end: 0,
        shared_places: Vec::new(),
        children: 0,
        place: Place::default(),
        fiber: std::ptr::null_mut(),
        blocks: 0,
        spin: (0, 0),
        state: State::Ready,
        woken: Woken::Notified,
        deadline: None,
        go: AtomicU32::new(0),
        priority: 0,
        kernel_id: 0,
        pthread: 0,
        start: None,
        argument: std::ptr::null_mut(),
        is_detached: false,
        is_joined: false,
        destructor_rounds: 0,
        signals: crate::signals::Arrived::new(),
        is_cancelled: false,
        _shared: PhantomPinned,
    }))
}

/// Prepares what all threads need, and the first one.
pub(crate) unsafe fn begin(main: &mut Thread) {
    let mut key: pthread_key_t = 0;
    // SAFETY: the destructor has the right type.
    unsafe {
        real!(pthread_key_create: fn(*mut pthread_key_t, unsafe extern "C-unwind" fn(*mut c_void)) -> c_int)(
            &mut key,
            end_of_thread,
        );
        KEY.store(key, Relaxed);
        main.pthread = libc::pthread_self();
        THREADS.get().by_handle.insert(main.pthread as usize, 0);
    }
    main.kernel_id = sys::thread_id();
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const pthread_attr_t, state: *mut c_int) -> c_int;
    fn pthread_attr_getstackaddr(attributes: *const pthread_attr_t, address: *mut *mut c_void) -> c_int;
}

const GUARD: usize = 1 << 16;
/// From the stack of one place to that of the next.
const STACK_ROOM: usize = 1 << 28;
const _: () = assert!(PLACES * STACK_ROOM <= STACKS_LEN / 2);

/// Room for a stack; 0 if there is none.
unsafe fn new_stack(place: Place, len: usize) -> usize {
    let len = len.next_multiple_of(4096);
    if let Some(place) = place.number().filter(|_| len <= STACK_ROOM - GUARD) {
        return sys::map(STACKS + place * STACK_ROOM + GUARD, len);
    }
    // SAFETY: the caller has the token.
    let next = unsafe { &mut THREADS.get().next_stack };
    let low = *next + GUARD;
    if low + len > STACKS + STACKS_LEN {
        return 0;
    }
    *next = low + len;
    sys::map(low, len)
}

/// Undoes what was done for a thread that could not be made.
unsafe fn unmake(thread: &Thread, has_own_stack: bool) {
    // SAFETY: the caller has the token; nobody has used the stack.
    unsafe {
        if has_own_stack {
            syscall!(libc::SYS_munmap, thread.stack_end, thread.stack_top - thread.stack_end);
        }
        thread.place.give_back();
    }
}

pub(super) unsafe fn create(
    call: &mut Call,
    handle: *mut pthread_t,
    given: *const pthread_attr_t,
    start: StartRoutine,
    argument: *mut c_void,
    pc: usize,
) -> c_int {
    type Create =
        unsafe extern "C-unwind" fn(*mut pthread_t, *const pthread_attr_t, StartRoutine, *mut c_void) -> c_int;
    let create: Create =
        real!(pthread_create: fn(*mut pthread_t, *const pthread_attr_t, StartRoutine, *mut c_void) -> c_int);
    // SAFETY: the caller has the token; the arguments are as `pthread_create` demands.
    unsafe {
        let thread = &mut *new_thread();
        (thread.start, thread.argument) = (Some(start), argument);
        let mut attributes: pthread_attr_t = std::mem::zeroed();
        let (mut stack, mut len, mut detached) = (std::ptr::null_mut(), 0, libc::PTHREAD_CREATE_JOINABLE);
        if given.is_null() {
            libc::pthread_attr_init(&mut attributes);
        } else {
            attributes = *given;
            pthread_attr_getstackaddr(given, &mut stack);
            pthread_attr_getdetachstate(given, &mut detached);
        }
        libc::pthread_attr_getstacksize(&attributes, &mut len);
        thread.is_detached = detached == libc::PTHREAD_CREATE_DETACHED;
        thread.place = Place::of_child(call);
        let has_own_stack = stack.is_null();
        if has_own_stack {
            let low = new_stack(thread.place, len);
            if low == 0 {
                unmake(thread, false);
                return libc::EAGAIN;
            }
            // On a copy: what the program gave stays as it is.
            libc::pthread_attr_setstack(&mut attributes, low as *mut c_void, len);
            (thread.stack_end, thread.stack_top) = (low, low + len);
        } else {
            // What is asked for is the lowest address, what is told the highest.
            (thread.stack_end, thread.stack_top) = (stack as usize - len, stack as usize);
        }
        let number = scheduler::add(thread, call);
        shadow::meet(thread);
        let mut new_handle = 0;
        let result = create(&mut new_handle, &attributes, run, (thread as *mut Thread).cast());
        if result != 0 {
            scheduler::withdraw(number);
            unmake(thread, has_own_stack);
            return result;
        }
        *handle = new_handle;
        thread.pthread = new_handle;
        THREADS.get().by_handle.insert(new_handle as usize, number);
        let family = [call.number, call.children].map(u64::from);
        call.children += 1;
        call.prepare();
        let words = [family[0], family[1], thread.stack_top as u64, thread.stack_end as u64];
        log::append(header(Kind::Thread, number as usize, pc), words);
        log::append(header(Kind::Fork, number as usize, pc), []);
        scheduler::watch::begin();
        0
    }
}

/// What every thread runs.
unsafe extern "C-unwind" fn run(thread: *mut c_void) -> *mut c_void {
    // SAFETY: `create` passed it, and threads are never freed.
    unsafe {
        let thread = &mut *thread.cast::<Thread>();
        thread.inside = 1;
        thread.kernel_id = sys::thread_id();
        set_current(thread);
        real!(pthread_setspecific: fn(pthread_key_t, *const c_void) -> c_int)(
            KEY.load(Relaxed),
            (thread as *mut Thread).cast(),
        );
        scheduler::begin_thread(thread);
        thread.log(Kind::Start, 0, 0, []);
        thread.inside = 0;
        let Some(start) = thread.start else { return std::ptr::null_mut() };
        start(thread.argument)
    }
}

/// The destructor of our key: asks to be called again until the last round.
unsafe extern "C-unwind" fn end_of_thread(value: *mut c_void) {
    const ROUNDS: u32 = 4;
    // SAFETY: the value is this thread, set by itself.
    unsafe {
        let thread = &mut *value.cast::<Thread>();
        thread.destructor_rounds += 1;
        if thread.destructor_rounds < ROUNDS {
            real!(pthread_setspecific: fn(pthread_key_t, *const c_void) -> c_int)(KEY.load(Relaxed), value);
        } else if !current().is_null() {
            finish(thread);
        }
    }
}

unsafe fn finish(thread: &mut Thread) {
    // SAFETY: the running thread, which has the token.
    unsafe {
        scheduler::step(thread);
        scheduler::stop_if_helping(thread);
        thread.inside = 1;
        thread.depth = 0;
        while thread.logged_depth > 0 {
            thread.settle();
            log::append(header(Kind::Exit, 0, 0), []);
            thread.logged_depth -= 1;
        }
        thread.log(Kind::Finish, 0, 0, []);
        if thread.is_detached {
            THREADS.get().by_handle.remove(&(thread.pthread as usize));
        }
        if scheduler::find(|other| other.number != thread.number && other.state != State::Dead).is_none() {
            scheduler::is_ending(thread);
            // glibc would end the process, but for the thread that watches.
            thread.inside = 0;
            libc::exit(0);
        }
        let number = thread.number as usize;
        scheduler::wake_those_waiting_for(What::Join, number);
        scheduler::finish(thread);
    }
}

/// The thread with this handle, if it can still be joined.
unsafe fn with_handle(handle: pthread_t) -> Option<&'static mut Thread> {
    // SAFETY: the caller has the token; threads are never freed.
    unsafe {
        let number = *THREADS.get().by_handle.get(&(handle as usize))?;
        scheduler::thread(number as usize).map(|thread| &mut *thread)
    }
}

pub(super) unsafe fn join(
    call: &mut Call,
    handle: pthread_t,
    result: *mut *mut c_void,
    patience: Patience,
    pc: usize,
) -> c_int {
    let really = real!(pthread_join: fn(pthread_t, *mut *mut c_void) -> c_int);
    // SAFETY: the caller has the token; the arguments are as the function demands.
    unsafe {
        let Some(other) = with_handle(handle) else { return really(handle, result) };
        if other.number == call.number {
            return libc::EDEADLK;
        }
        if other.is_detached || other.is_joined {
            return libc::EINVAL;
        }
        crate::signals::test_cancel(call);
        while !scheduler::is_dead(other.number) {
            if let Patience::None = patience {
                return libc::EBUSY;
            }
            stop(call, Stop::Join, pc);
            match patience.wait(call, What::Join, other.number as usize) {
                Woken::TimedOut => return libc::ETIMEDOUT,
                Woken::Interrupted => crate::signals::attend(call),
                Woken::Notified => {}
            }
            crate::signals::test_cancel(call);
        }
        other.is_joined = true;
        THREADS.get().by_handle.remove(&(handle as usize));
        call.log(Kind::Join, other.number as usize, pc, []);
        // It has nothing left to do but to end.
        let error = really(handle, result);
        if (STACKS..STACKS + STACKS_LEN).contains(&other.stack_end) {
            shadow::reset(other.stack_end, other.stack_top - other.stack_end);
            syscall!(libc::SYS_munmap, other.stack_end, other.stack_top - other.stack_end);
        }
        error
    }
}

unsafe fn timed_join(
    call: &mut Call,
    handle: pthread_t,
    result: *mut *mut c_void,
    clock: clockid_t,
    time: *const timespec,
    pc: usize,
) -> c_int {
    // SAFETY: the caller has the token; the arguments are as the function demands.
    unsafe {
        match Patience::until(clock, time) {
            Ok(patience) => join(call, handle, result, patience, pc),
            Err(error) => error,
        }
    }
}

pub(super) unsafe fn detach(handle: pthread_t) -> c_int {
    // SAFETY: the caller has the token.
    unsafe {
        if let Some(thread) = with_handle(handle) {
            if thread.is_detached {
                return libc::EINVAL;
            }
            thread.is_detached = true;
            if thread.state == State::Dead {
                THREADS.get().by_handle.remove(&(handle as usize));
            }
        }
        real!(pthread_detach: fn(pthread_t) -> c_int)(handle)
    }
}

unsafe fn cancel(handle: pthread_t) -> c_int {
    // SAFETY: the caller has the token.
    unsafe {
        let result = real!(pthread_cancel: fn(pthread_t) -> c_int)(handle);
        if let Some(thread) = with_handle(handle).filter(|_| result == 0) {
            thread.is_cancelled = true;
            scheduler::wake(thread.number, Woken::Interrupted);
            crate::signals::interrupt_call(thread);
        }
        result
    }
}

interpose! {
    fn pthread_create / 4 (
        handle: *mut pthread_t, attributes: *const pthread_attr_t, start: StartRoutine, argument: *mut c_void,
    ) -> c_int = |call, pc| create(&mut call, handle, attributes, start, argument, pc);
    fn pthread_join / 2 (handle: pthread_t, result: *mut *mut c_void) -> c_int =
        |call, pc| join(&mut call, handle, result, Patience::Endless, pc);
    fn pthread_tryjoin_np / 2 (handle: pthread_t, result: *mut *mut c_void) -> c_int =
        |call, pc| join(&mut call, handle, result, Patience::None, pc);
    fn pthread_timedjoin_np / 3 (handle: pthread_t, result: *mut *mut c_void, time: *const timespec) -> c_int =
        |call, pc| timed_join(&mut call, handle, result, libc::CLOCK_REALTIME, time, pc);
    fn pthread_clockjoin_np / 4 (
        handle: pthread_t, result: *mut *mut c_void, clock: clockid_t, time: *const timespec,
    ) -> c_int = |call, pc| timed_join(&mut call, handle, result, clock, time, pc);
    fn pthread_detach / 1 (handle: pthread_t) -> c_int = |call, pc| detach(handle);
    fn pthread_setname_np / 2 (handle: pthread_t, name: *const libc::c_char) -> c_int = |call, pc| {
        if let Some(thread) = with_handle(handle) {
            let text = std::ffi::CStr::from_ptr(name).to_bytes();
            call.prepare();
            log::append_text(header(Kind::ThreadName, thread.number as usize, pc), [], text);
        }
        real!(pthread_setname_np: fn(pthread_t, *const libc::c_char) -> c_int)(handle, name)
    };
}

outward! {
    fn pthread_cancel / 1 (handle: pthread_t) -> c_int = |call, pc| cancel(handle);
}

/// `pthread_exit`: of the first thread, too, it runs the destructors, in which the thread ends for the scheduler.
pub(super) unsafe extern "C-unwind" fn exit(result: *mut c_void, _pc: usize) {
    let thread = current();
    // SAFETY: the running thread's own data; as the program's call.
    unsafe {
        if !thread.is_null() && (*thread).number == 0 {
            real!(pthread_setspecific: fn(pthread_key_t, *const c_void) -> c_int)(KEY.load(Relaxed), thread.cast());
        }
        real!(pthread_exit: fn(*mut c_void))(result);
    }
}

export_with_pc! {
    fn pthread_exit / 1 = exit;
}
