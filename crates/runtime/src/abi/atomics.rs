//! Atomic operations of one to eight bytes: done here, so that their values are known at once.
//!
//! They are done sequentially consistently, whatever order the program asks for. The order asked for is
//! logged.

use crate::call::export_with_pc;
use crate::current::current;
use crate::log::{self, header};
use crate::scheduler::{self, step};
use crate::shadow::{self, Access};
use crate::thread::Thread;
use interloper_wire::{AccessFlags, Kind, RecordHeader};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst, fence};

/// What an operation found, and what it left behind.
#[derive(Clone, Copy)]
pub(super) enum Outcome<V> {
    Read(V),
    Wrote(V),
    Replaced(V, V),
    /// A compare-and-swap that did not find what it expected.
    Kept(V),
}

impl<V> Outcome<V> {
    pub(super) fn map<U>(self, change: impl Fn(V) -> U) -> Outcome<U> {
        match self {
            Outcome::Read(value) => Outcome::Read(change(value)),
            Outcome::Wrote(value) => Outcome::Wrote(change(value)),
            Outcome::Replaced(old, new) => Outcome::Replaced(change(old), change(new)),
            Outcome::Kept(value) => Outcome::Kept(change(value)),
        }
    }
}

/// The thread that does an atomic operation, after the step that it is; `None` if that is none of ours.
#[inline(always)]
pub(super) unsafe fn begin() -> Option<&'static mut Thread> {
    let thread = current();
    // SAFETY: the running thread's own data.
    unsafe {
        if thread.is_null() || (*thread).inside != 0 {
            return None;
        }
        step(thread);
        scheduler::stop_if_helping(thread);
        // A write announced before is done by now, and must not be seen to do what this operation does.
        (*thread).settle();
        Some(&mut *thread)
    }
}

/// Logs an operation of `size` bytes that has been done, if its location is worth it.
#[inline]
pub(super) unsafe fn log(
    thread: &mut Thread,
    address: usize,
    size: u8,
    order: i32,
    outcome: Outcome<u64>,
    flags: u8,
    pc: usize,
) {
    // SAFETY: the running thread, which has the token; the location is mapped, or the operation had failed.
    unsafe {
        let access = if let Outcome::Read(_) | Outcome::Kept(_) = outcome { Access::Read } else { Access::Write };
        let is_logged = shadow::touch(thread, address, usize::from(size), access);
        if is_logged {
            thread.prepare();
            let order = order_code(order);
            let record = |kind, flags: u8| RecordHeader {
                arg: size,
                aux: order | u16::from(flags) << 8,
                ..header(kind, address, pc)
            };
            match outcome {
                Outcome::Read(value) => log::append(record(Kind::AtomicRead, flags), [value]),
                Outcome::Wrote(value) => log::append(record(Kind::AtomicWrite, flags), [value]),
                Outcome::Replaced(old, new) => log::append(record(Kind::ReadModifyWrite, flags), [old, new]),
                Outcome::Kept(value) => {
                    log::append(record(Kind::ReadModifyWrite, flags | AccessFlags::FAILED), [value, value])
                }
            };
        }
        match access {
            Access::Read => scheduler::spins_at(thread, pc),
            Access::Write => thread.spin.0 = 0,
        }
    }
}

/// An order of C11 as one of the event model, which has a plain one before them.
fn order_code(order: i32) -> u16 {
    match order & 7 {
        order @ 0..=5 => order as u16 + 1,
        _ => 6,
    }
}

/// An atomic integer, whatever its size.
pub(super) trait Word {
    type Value: Copy + PartialEq;
    const SIZE: u8;

    fn load(&self) -> Self::Value;
    fn store(&self, value: Self::Value);
    fn compare_exchange(&self, expected: Self::Value, value: Self::Value) -> Result<Self::Value, Self::Value>;
    /// Logs an operation; see [`log`].
    unsafe fn log(&self, thread: &mut Thread, order: i32, outcome: Outcome<Self::Value>, pc: usize);
}

macro_rules! words {
    ($($atomic:ident $value:ident;)*) => {$(
        impl Word for $atomic {
            type Value = $value;
            const SIZE: u8 = size_of::<$value>() as u8;

            #[inline(always)]
            fn load(&self) -> $value {
                self.load(SeqCst)
            }

            #[inline(always)]
            fn store(&self, value: $value) {
                self.store(value, SeqCst);
            }

            #[inline(always)]
            fn compare_exchange(&self, expected: $value, value: $value) -> Result<$value, $value> {
                self.compare_exchange(expected, value, SeqCst, SeqCst)
            }

            #[inline(always)]
            unsafe fn log(&self, thread: &mut Thread, order: i32, outcome: Outcome<$value>, pc: usize) {
                // SAFETY: as the caller's.
                unsafe { log(thread, self.as_ptr() as usize, Self::SIZE, order, outcome.map(u64::from), 0, pc) };
            }
        }
    )*};
}

words! {
    AtomicU8 u8;
    AtomicU16 u16;
    AtomicU32 u32;
    AtomicU64 u64;
}

#[inline(always)]
pub(super) unsafe fn load<W: Word>(place: &W, order: i32, pc: usize) -> W::Value {
    // SAFETY: this is a call of the program's.
    let thread = unsafe { begin() };
    let value = place.load();
    if let Some(thread) = thread {
        // SAFETY: the operation has been done.
        unsafe { place.log(thread, order, Outcome::Read(value), pc) };
    }
    value
}

#[inline(always)]
pub(super) unsafe fn store<W: Word>(place: &W, value: W::Value, order: i32, pc: usize) {
    // SAFETY: this is a call of the program's.
    let thread = unsafe { begin() };
    place.store(value);
    if let Some(thread) = thread {
        // SAFETY: the operation has been done.
        unsafe { place.log(thread, order, Outcome::Wrote(value), pc) };
    }
}

#[inline(always)]
pub(super) unsafe fn update<W: Word>(place: &W, order: i32, pc: usize, new: impl Fn(W::Value) -> W::Value) -> W::Value {
    // SAFETY: this is a call of the program's.
    let thread = unsafe { begin() };
    let mut old = place.load();
    while let Err(now) = place.compare_exchange(old, new(old)) {
        old = now;
    }
    if let Some(thread) = thread {
        // SAFETY: the operation has been done.
        unsafe { place.log(thread, order, Outcome::Replaced(old, new(old)), pc) };
    }
    old
}

#[inline(always)]
pub(super) unsafe fn compare_exchange<W: Word>(
    place: &W,
    expected: W::Value,
    value: W::Value,
    order: i32,
    pc: usize,
) -> W::Value {
    // SAFETY: this is a call of the program's.
    let thread = unsafe { begin() };
    let result = place.compare_exchange(expected, value);
    let (Ok(old) | Err(old)) = result;
    if let Some(thread) = thread {
        let outcome = if result.is_ok() { Outcome::Replaced(old, value) } else { Outcome::Kept(old) };
        // SAFETY: the operation has been done.
        unsafe { place.log(thread, order, outcome, pc) };
    }
    old
}

#[inline(always)]
pub(super) unsafe fn compare_exchange_into<W: Word>(
    place: &W,
    expected: &mut W::Value,
    value: W::Value,
    order: i32,
    pc: usize,
) -> i32 {
    // SAFETY: this is a call of the program's.
    let old = unsafe { compare_exchange(place, *expected, value, order, pc) };
    let is_done = old == *expected;
    *expected = old;
    i32::from(is_done)
}

/// Exports one operation on words of one size.
macro_rules! operation {
    ($name:ident / $count:tt ($($argument:ident: $type:ty),*) $(-> $result:ty)? = |$pc:ident| $body:expr) => {
        const _: () = {
            unsafe extern "C" fn implementation($($argument: $type,)* $pc: usize) $(-> $result)? {
                // SAFETY: a call of the program's, about a location it may access atomically.
                unsafe { $body }
            }
            export_with_pc! { fn $name / $count = implementation; }
        };
    };
}

macro_rules! operations {
    ($($value:ident $atomic:ident:
        $load:ident $store:ident $exchange:ident $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident
        $strong:ident $weak:ident $val:ident;)*) => {$(
        operation!($load / 2 (a: &$atomic, order: i32) -> $value = |pc| load(a, order, pc));
        operation!($store / 3 (a: &$atomic, v: $value, order: i32) = |pc| store(a, v, order, pc));
        operation!($exchange / 3 (a: &$atomic, v: $value, order: i32) -> $value = |pc| update(a, order, pc, |_| v));
        operation!($add / 3 (a: &$atomic, v: $value, order: i32) -> $value =
            |pc| update(a, order, pc, |old| old.wrapping_add(v)));
        operation!($sub / 3 (a: &$atomic, v: $value, order: i32) -> $value =
            |pc| update(a, order, pc, |old| old.wrapping_sub(v)));
        operation!($and / 3 (a: &$atomic, v: $value, order: i32) -> $value = |pc| update(a, order, pc, |old| old & v));
        operation!($or / 3 (a: &$atomic, v: $value, order: i32) -> $value = |pc| update(a, order, pc, |old| old | v));
        operation!($xor / 3 (a: &$atomic, v: $value, order: i32) -> $value = |pc| update(a, order, pc, |old| old ^ v));
        operation!($nand / 3 (a: &$atomic, v: $value, order: i32) -> $value =
            |pc| update(a, order, pc, |old| !(old & v)));
        operation!($strong / 5 (a: &$atomic, c: &mut $value, v: $value, order: i32, _failure: i32) -> i32 =
            |pc| compare_exchange_into(a, c, v, order, pc));
        operation!($weak / 5 (a: &$atomic, c: &mut $value, v: $value, order: i32, _failure: i32) -> i32 =
            |pc| compare_exchange_into(a, c, v, order, pc));
        operation!($val / 5 (a: &$atomic, c: $value, v: $value, order: i32, _failure: i32) -> $value =
            |pc| compare_exchange(a, c, v, order, pc));
    )*};
}

operations! {
    u8 AtomicU8: __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange __tsan_atomic8_fetch_add
        __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or __tsan_atomic8_fetch_xor
        __tsan_atomic8_fetch_nand __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
        __tsan_atomic8_compare_exchange_val;
    u16 AtomicU16: __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange __tsan_atomic16_fetch_add
        __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or __tsan_atomic16_fetch_xor
        __tsan_atomic16_fetch_nand __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
        __tsan_atomic16_compare_exchange_val;
    u32 AtomicU32: __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange __tsan_atomic32_fetch_add
        __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or __tsan_atomic32_fetch_xor
        __tsan_atomic32_fetch_nand __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
        __tsan_atomic32_compare_exchange_val;
    u64 AtomicU64: __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange __tsan_atomic64_fetch_add
        __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or __tsan_atomic64_fetch_xor
        __tsan_atomic64_fetch_nand __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
        __tsan_atomic64_compare_exchange_val;
}

unsafe extern "C" fn thread_fence(order: i32, pc: usize) {
    fence(SeqCst);
    // SAFETY: this is a call of the program's.
    unsafe {
        if let Some(thread) = begin() {
            thread.prepare();
            log::append(RecordHeader { aux: order_code(order), ..header(Kind::Fence, 0, pc) }, []);
        }
    }
}

export_with_pc! {
    fn __tsan_atomic_thread_fence / 1 = thread_fence;
}

/// A fence between a thread and its own signal handlers, which run at steps only.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_signal_fence(_order: i32) {}
