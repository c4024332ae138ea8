//! Atomic operations of sixteen bytes, by `cmpxchg16b`. In the log they are two that belong together.
//!
//! Compare-and-exchange has no register left for where it is called from; that goes through a
//! thread-local variable.

use super::atomics::{self, Outcome, Word};
use crate::call::export_with_pc;
use crate::thread::Thread;
use interloper_wire::AccessFlags;
use std::arch::{asm, global_asm, naked_asm};
use std::cell::UnsafeCell;

/// Sixteen bytes, aligned.
#[repr(C, align(16))]
struct AtomicU128(UnsafeCell<u128>);

impl Word for AtomicU128 {
    type Value = u128;
    const SIZE: u8 = 16;

    fn load(&self) -> u128 {
        // Expecting 0 and writing 0 changes nothing.
        let (Ok(value) | Err(value)) = self.compare_exchange(0, 0);
        value
    }

    fn store(&self, value: u128) {
        let mut old = self.load();
        while let Err(now) = self.compare_exchange(old, value) {
            old = now;
        }
    }

    fn compare_exchange(&self, expected: u128, value: u128) -> Result<u128, u128> {
        let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
        let is_done: u8;
        // SAFETY: the location is aligned and writable, as the program's call demands. `rbx`, which holds the
        // lower half of the value, is the compiler's own, so it is put aside.
        unsafe {
            asm!(
                "xchg rsi, rbx",
                "lock cmpxchg16b [rdi]",
                "mov rbx, rsi",
                "sete {is_done}",
                is_done = lateout(reg_byte) is_done,
                in("rdi") self.0.get(),
                inout("rsi") value as u64 => _,
                inout("rax") low,
                inout("rdx") high,
                in("rcx") (value >> 64) as u64,
                options(nostack),
            );
        }
        let found = u128::from(low) | u128::from(high) << 64;
        if is_done != 0 { Ok(found) } else { Err(found) }
    }

    unsafe fn log(&self, thread: &mut Thread, order: i32, outcome: Outcome<u128>, pc: usize) {
        let address = self.0.get() as usize;
        // SAFETY: as the caller's.
        unsafe {
            atomics::log(thread, address, 8, order, outcome.map(|value| value as u64), AccessFlags::MORE, pc);
            atomics::log(thread, address + 8, 8, order, outcome.map(|value| (value >> 64) as u64), 0, pc);
        }
    }
}

macro_rules! operations {
    ($($name:ident / $count:tt ($($argument:ident: $type:ty),*) $(-> $result:ty)? = |$pc:ident| $body:expr;)*) => {$(
        const _: () = {
            unsafe extern "C" fn implementation($($argument: $type,)* $pc: usize) $(-> $result)? {
                // SAFETY: a call of the program's, about a location it may access atomically.
                unsafe { $body }
            }
            export_with_pc! { fn $name / $count = implementation; }
        };
    )*};
}

operations! {
    __tsan_atomic128_load / 2 (a: &AtomicU128, order: i32) -> u128 = |pc| atomics::load(a, order, pc);
    __tsan_atomic128_store / 4 (a: &AtomicU128, v: u128, order: i32) = |pc| atomics::store(a, v, order, pc);
    __tsan_atomic128_exchange / 4 (a: &AtomicU128, v: u128, order: i32) -> u128 =
        |pc| atomics::update(a, order, pc, |_| v);
    __tsan_atomic128_fetch_add / 4 (a: &AtomicU128, v: u128, order: i32) -> u128 =
        |pc| atomics::update(a, order, pc, |old| old.wrapping_add(v));
    __tsan_atomic128_fetch_sub / 4 (a: &AtomicU128, v: u128, order: i32) -> u128 =
        |pc| atomics::update(a, order, pc, |old| old.wrapping_sub(v));
    __tsan_atomic128_fetch_and / 4 (a: &AtomicU128, v: u128, order: i32) -> u128 =
        |pc| atomics::update(a, order, pc, |old| old & v);
    __tsan_atomic128_fetch_or / 4 (a: &AtomicU128, v: u128, order: i32) -> u128 =
        |pc| atomics::update(a, order, pc, |old| old | v);
    __tsan_atomic128_fetch_xor / 4 (a: &AtomicU128, v: u128, order: i32) -> u128 =
        |pc| atomics::update(a, order, pc, |old| old ^ v);
    __tsan_atomic128_fetch_nand / 4 (a: &AtomicU128, v: u128, order: i32) -> u128 =
        |pc| atomics::update(a, order, pc, |old| !(old & v));
}

global_asm!(
    ".section .tbss.interloper_call_site,\"awT\",@nobits",
    ".p2align 3",
    ".globl interloper_call_site",
    ".hidden interloper_call_site",
    ".type interloper_call_site,@object",
    ".size interloper_call_site,8",
    "interloper_call_site:",
    ".zero 8",
    ".text",
);

fn call_site() -> usize {
    let site: usize;
    // SAFETY: reads a variable of this thread.
    unsafe {
        asm!(
            "mov {site}, qword ptr [rip + interloper_call_site@GOTTPOFF]",
            "mov {site}, qword ptr fs:[{site}]",
            site = out(reg) site,
            options(readonly, nostack, preserves_flags),
        );
    }
    site
}

macro_rules! export_with_site {
    ($($name:ident = $implementation:ident;)*) => {$(
        /// A compare-and-exchange of sixteen bytes.
        /// # Safety
        /// A call of the program's, about a location it may access atomically.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                "mov rax, [rsp]",
                "mov r10, qword ptr [rip + interloper_call_site@GOTTPOFF]",
                "mov qword ptr fs:[r10], rax",
                "jmp {implementation}",
                implementation = sym $implementation,
            )
        }
    )*};
}

unsafe extern "C" fn compare_exchange(a: &AtomicU128, c: u128, v: u128, order: i32, _failure: i32) -> u128 {
    // SAFETY: a call of the program's.
    unsafe { atomics::compare_exchange(a, c, v, order, call_site()) }
}

unsafe extern "C" fn compare_exchange_into(a: &AtomicU128, c: &mut u128, v: u128, order: i32, _failure: i32) -> i32 {
    // SAFETY: a call of the program's.
    unsafe { atomics::compare_exchange_into(a, c, v, order, call_site()) }
}

export_with_site! {
    __tsan_atomic128_compare_exchange_val = compare_exchange;
    __tsan_atomic128_compare_exchange_strong = compare_exchange_into;
    __tsan_atomic128_compare_exchange_weak = compare_exchange_into;
}
