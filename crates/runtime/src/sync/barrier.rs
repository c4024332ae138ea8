//! `pthread_barrier_t`. The last to arrive lets the others go, and is the serial thread.

use super::{Patience, Waiters, objects};
use crate::call::{Call, interpose, real};
use crate::shadow;
use crate::thread::{Thread, What, Woken};
use interloper_wire::Kind;
use libc::{c_int, c_uint, c_void, pthread_barrier_t};

/// The state of a barrier.
pub(crate) struct Barrier {
    needed: u32,
    arrived: u32,
    round: u64,
    waiters: Waiters,
}

unsafe fn wait(thread: &mut Thread, barrier: usize, pc: usize) -> Option<c_int> {
    // SAFETY: the caller has the token; no reference into the tables is kept while waiting.
    unsafe {
        shadow::meet_object(thread, barrier);
        let state = objects().barriers.get_mut(&barrier)?;
        thread.log(Kind::BarrierArrive, barrier, pc, []);
        state.arrived += 1;
        let round = state.round;
        let is_last = state.arrived == state.needed;
        if is_last {
            state.arrived = 0;
            state.round += 1;
            state.waiters.wake_all();
        }
        while let Some(state) = objects().barriers.get_mut(&barrier)
            && state.round == round
        {
            state.waiters.add(thread);
            if Patience::Endless.wait(thread, What::Barrier, barrier) != Woken::Notified {
                if let Some(state) = objects().barriers.get_mut(&barrier) {
                    state.waiters.remove(thread);
                }
                crate::signals::attend(thread);
            }
        }
        thread.log(Kind::BarrierLeave, barrier, pc, []);
        Some(if is_last { libc::PTHREAD_BARRIER_SERIAL_THREAD } else { 0 })
    }
}

interpose! {
    fn pthread_barrier_wait / 1 (barrier: *mut pthread_barrier_t) -> c_int =
        |call, pc| wait(&mut call, barrier as usize, pc).unwrap_or(libc::EINVAL);
}

/// Interposes `pthread_barrier_init`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_barrier_init(
    barrier: *mut pthread_barrier_t,
    attributes: *const c_void,
    count: c_uint,
) -> c_int {
    // SAFETY: as the program's call.
    let result = unsafe {
        real!(pthread_barrier_init: fn(*mut pthread_barrier_t, *const c_void, c_uint) -> c_int)(
            barrier, attributes, count,
        )
    };
    if result == 0
        && let Some(_call) = Call::enter_quietly()
    {
        let state = Barrier { needed: count, arrived: 0, round: 0, waiters: Waiters::default() };
        // SAFETY: a `Call` is proof of the token.
        unsafe { objects() }.barriers.insert(barrier as usize, state);
    }
    result
}

/// Interposes `pthread_barrier_destroy`.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
    if let Some(_call) = Call::enter_quietly() {
        // SAFETY: a `Call` is proof of the token.
        unsafe { objects() }.barriers.remove(&(barrier as usize));
        return 0;
    }
    // SAFETY: as the program's call.
    unsafe { real!(pthread_barrier_destroy: fn(*mut pthread_barrier_t) -> c_int)(barrier) }
}
