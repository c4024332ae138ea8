//! The way into the runtime for functions the program calls, and the way on to the real ones.

use crate::current::current;
use crate::scheduler;
use crate::thread::Thread;
use std::ops::{Deref, DerefMut};

/// The running thread while it is in the runtime. It has the token.
pub(crate) struct Call(*mut Thread);

impl Call {
    /// Takes a step into the runtime; `None` if this call is none of the program's: nothing is
    /// recorded, the thread is not one of ours, or the runtime itself makes it.
    #[inline]
    pub(crate) fn enter() -> Option<Call> {
        let thread = current();
        // SAFETY: the running thread's own data.
        unsafe {
            if thread.is_null() || (*thread).inside != 0 {
                return None;
            }
            scheduler::step(thread);
            scheduler::stop_if_helping(thread);
            (*thread).inside = 1;
        }
        Some(Call(thread))
    }

    /// For what no event is made of, and others may wait for: a thread that helps goes on.
    #[inline]
    pub(crate) fn enter_outward() -> Option<Call> {
        let thread = current();
        // SAFETY: the running thread's own data.
        unsafe {
            if thread.is_null() || (*thread).inside != 0 {
                return None;
            }
            scheduler::step(thread);
            (*thread).inside = 1;
        }
        Some(Call(thread))
    }

    /// Without a step: for what never is a reason to switch.
    #[inline]
    pub(crate) fn enter_quietly() -> Option<Call> {
        let thread = current();
        // SAFETY: the running thread's own data.
        unsafe {
            if thread.is_null() || (*thread).inside != 0 {
                return None;
            }
            (*thread).inside = 1;
        }
        Some(Call(thread))
    }

    /// Runs the program's code in between.
    pub(crate) fn run<R>(&mut self, code: impl FnOnce() -> R) -> R {
        /// Undoes what was done even if the code is left by an exception.
        struct Within(*mut Thread);
        impl Drop for Within {
            fn drop(&mut self) {
                // SAFETY: the running thread's own data.
                unsafe { (*self.0).inside = 1 };
            }
        }
        // SAFETY: the running thread's own data.
        unsafe { (*self.0).inside = 0 };
        let _within = Within(self.0);
        code()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // SAFETY: the running thread's own data.
        unsafe {
            if (*self.0).signals.any() {
                crate::signals::attend(&mut *self.0);
            }
            (*self.0).inside = 0;
        }
    }
}

impl Deref for Call {
    type Target = Thread;

    fn deref(&self) -> &Thread {
        // SAFETY: the running thread's own data.
        unsafe { &*self.0 }
    }
}

impl DerefMut for Call {
    fn deref_mut(&mut self) -> &mut Thread {
        // SAFETY: the running thread's own data.
        unsafe { &mut *self.0 }
    }
}

/// The function of that name that would have been called without us.
///
/// `real!(close: fn(i32) -> i32)` is a function pointer. Looked up once; a missing one is fatal,
/// because glibc has all that we ask for.
macro_rules! real {
    ($name:ident: fn($($argument:ty),* $(,)?) $(-> $result:ty)?) => {{
        static PLACE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let mut place = PLACE.load(std::sync::atomic::Ordering::Relaxed);
        if place == 0 {
            place = $crate::call::next_definition(concat!(stringify!($name), "\0"));
            PLACE.store(place, std::sync::atomic::Ordering::Relaxed);
        }
        // SAFETY: the type is that of the function with this name.
        #[allow(unused_unsafe)]
        let function = unsafe {
            std::mem::transmute::<usize, unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?>(place)
        };
        function
    }};
}
pub(crate) use real;

/// Where the next definition of a symbol after ours is.
#[cold]
pub(crate) fn next_definition(name: &str) -> usize {
    // SAFETY: the name ends with a zero byte.
    let place = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast()) };
    if place.is_null() {
        crate::sys::complain("interloper: the system's libraries lack the function ");
        crate::sys::complain(name);
        crate::sys::complain("\n");
        std::process::abort();
    }
    place as usize
}

/// Exports functions that also get the address they are called from, after their arguments.
///
/// `fn name / 2 = implementation;` for a function of two arguments in integer registers.
macro_rules! export_with_pc {
    ($(fn $name:ident / $count:tt = $implementation:path;)*) => {$(
        #[doc = concat!("Interposes `", stringify!($name), "`.")]
        /// # Safety
        /// As for the function of this name.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() {
            std::arch::naked_asm!(
                concat!("mov ", $crate::call::register!($count), ", [rsp]"),
                "jmp {implementation}",
                implementation = sym $implementation,
            )
        }
    )*};
}
pub(crate) use export_with_pc;

/// Interposes functions of libc: what they do when the program's threads are controlled, and else
/// what they always did.
///
/// `fn name / 2 (a: A, b: B) -> R = |call, pc| …;` for a function of two arguments. The body is
/// evaluated as a step of the thread `call`, which has the token; `pc` is where the call returns to.
macro_rules! interpose {
    ($($functions:tt)*) => { $crate::call::interpose_as! { enter; $($functions)* } };
}
pub(crate) use interpose;

/// As [`interpose!`], for functions by which a program acts on what is outside of its memory.
macro_rules! outward {
    ($($functions:tt)*) => { $crate::call::interpose_as! { enter_outward; $($functions)* } };
}
pub(crate) use outward;

macro_rules! interpose_as {
    ($enter:ident; $(fn $name:ident / $count:tt ($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? =
        |$call:ident, $pc:ident| $body:expr;)*) => {$(
        const _: () = {
            #[allow(unused_variables)]
            unsafe extern "C-unwind" fn implementation($($argument: $type,)* $pc: usize) $(-> $result)? {
                match $crate::call::Call::$enter() {
                    // SAFETY: a `Call` is proof of the token; the arguments are as the function demands.
                    #[allow(unused_mut, unused_variables, unused_unsafe)]
                    Some(mut $call) => unsafe { $body },
                    // SAFETY: as the program's call.
                    None => unsafe { $crate::call::real!($name: fn($($type),*) $(-> $result)?)($($argument),*) },
                }
            }
            $crate::call::export_with_pc! { fn $name / $count = implementation; }
        };
    )*};
}
pub(crate) use interpose_as;

/// The register of the argument with this number.
macro_rules! register {
    (0) => {
        "rdi"
    };
    (1) => {
        "rsi"
    };
    (2) => {
        "rdx"
    };
    (3) => {
        "rcx"
    };
    (4) => {
        "r8"
    };
    (5) => {
        "r9"
    };
}
pub(crate) use register;
