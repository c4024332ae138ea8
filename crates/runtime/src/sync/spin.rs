//! `pthread_spinlock_t`. Who would spin waits.

use super::{Patience, mutex, objects};
use crate::call::{Call, interpose};
use libc::{c_int, pthread_spinlock_t};

// A spin lock is an `int`, with no room for the kind of a mutex, so the model must not look for that: the
// table entry is all it uses as long as the owner does not ask again.
unsafe fn lock(call: &mut Call, address: usize, patience: Patience, pc: usize) -> c_int {
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        let is_own = objects().mutexes.get(&address).is_some_and(|state| state.owner == Some(call.number));
        match (is_own, patience) {
            (true, Patience::None) => libc::EBUSY,
            (true, _) => libc::EDEADLK,
            (false, _) => mutex::lock_plain(call, address, patience, pc),
        }
    }
}

interpose! {
    fn pthread_spin_lock / 1 (address: *mut pthread_spinlock_t) -> c_int =
        |call, pc| lock(&mut call, address as usize, Patience::Endless, pc);
    fn pthread_spin_trylock / 1 (address: *mut pthread_spinlock_t) -> c_int =
        |call, pc| lock(&mut call, address as usize, Patience::None, pc);
    fn pthread_spin_unlock / 1 (address: *mut pthread_spinlock_t) -> c_int =
        |call, pc| mutex::unlock_plain(&mut call, address as usize, pc);
    fn pthread_spin_init / 2 (address: *mut pthread_spinlock_t, shared: c_int) -> c_int = |call, pc| {
        objects().mutexes.remove(&(address as usize));
        *address = 0;
        0
    };
    fn pthread_spin_destroy / 1 (address: *mut pthread_spinlock_t) -> c_int = |call, pc| {
        objects().mutexes.remove(&(address as usize));
        0
    };
}
