//! Plain accesses: the compiler announces each, just before it is done.
//!
//! This is the hot path of everything. An access that is not logged counts as a step, finds its cell to be the
//! thread's own, and returns: about ten instructions.

use crate::current::current;
use crate::log::{self, header};
use crate::ranges;
use crate::scheduler::{count_step, out_of_steps, step, stop_if_helping};
use crate::shadow::{self, Access, cell_at};
use crate::thread::{Pending, Thread, load};
use interloper_wire::{Kind, RecordHeader};

/// An access within one cell.
///
/// What is rare is left to functions called last, so that nothing has to be saved for the common case.
#[inline(always)]
unsafe fn access<const WRITE: bool, const SIZE: usize>(address: usize, pc: usize) {
    let thread = current();
    if thread.is_null() {
        return;
    }
    // SAFETY: the running thread's own data; its cell is mapped since there is a thread.
    unsafe {
        if count_step(thread) {
            return after_switch::<WRITE, SIZE>(thread, address, pc);
        }
        let cell = *cell_at(address);
        if cell != (*thread).cell_written && (WRITE || cell != (*thread).cell_read) {
            foreign_cell::<WRITE, SIZE>(&mut *thread, address, pc);
        }
    }
}

/// An access before which others had their turn.
#[cold]
#[inline(never)]
unsafe fn after_switch<const WRITE: bool, const SIZE: usize>(thread: *mut Thread, address: usize, pc: usize) {
    // SAFETY: as for `access`.
    unsafe {
        out_of_steps(thread);
        let cell = *cell_at(address);
        if cell != (*thread).cell_written && (WRITE || cell != (*thread).cell_read) {
            foreign_cell::<WRITE, SIZE>(&mut *thread, address, pc);
        }
    }
}

/// An access of a cell that is not known to be the thread's own.
#[inline(never)]
unsafe fn foreign_cell<const WRITE: bool, const SIZE: usize>(thread: &mut Thread, address: usize, pc: usize) {
    // SAFETY: the running thread, which has the token unless it is in the runtime.
    unsafe {
        let access = if WRITE { Access::Write } else { Access::Read };
        if thread.inside != 0 || !shadow::touch(thread, address, SIZE, access) {
            return;
        }
        stop_if_helping(thread);
        thread.prepare();
        if WRITE {
            thread.pending = Pending { address, len: SIZE, pc };
            log::announce(pc, || 1);
        } else {
            let value = load(address, SIZE);
            log::append(RecordHeader { arg: SIZE as u8, ..header(Kind::Read, address, pc) }, [value]);
        }
    }
}

/// An access that may be in several cells.
unsafe fn range<const WRITE: bool>(address: usize, len: usize, pc: usize) {
    let thread = current();
    // SAFETY: the running thread, which has the token unless it is in the runtime.
    unsafe {
        if thread.is_null() || (*thread).inside != 0 {
            return;
        }
        step(thread);
        if WRITE {
            ranges::will_write(&mut *thread, address, len, pc);
        } else {
            ranges::read(&mut *thread, address, len, pc);
        }
    }
}

/// Exports the callbacks of accesses within one cell.
macro_rules! callbacks {
    ($($name:ident = $write:literal, $size:literal;)*) => {$(
        const _: () = {
            unsafe extern "C" fn implementation(address: usize, pc: usize) {
                // SAFETY: called by the program before the access.
                unsafe { access::<$write, $size>(address, pc) }
            }
            crate::call::export_with_pc! { fn $name / 1 = implementation; }
        };
    )*};
}

callbacks! {
    __tsan_read1 = false, 1;
    __tsan_read2 = false, 2;
    __tsan_read4 = false, 4;
    __tsan_read8 = false, 8;
    __tsan_write1 = true, 1;
    __tsan_write2 = true, 2;
    __tsan_write4 = true, 4;
    __tsan_write8 = true, 8;
    __tsan_volatile_read1 = false, 1;
    __tsan_volatile_read2 = false, 2;
    __tsan_volatile_read4 = false, 4;
    __tsan_volatile_read8 = false, 8;
    __tsan_volatile_write1 = true, 1;
    __tsan_volatile_write2 = true, 2;
    __tsan_volatile_write4 = true, 4;
    __tsan_volatile_write8 = true, 8;
    __tsan_vptr_read = false, 8;
}

/// Exports the callbacks of accesses that may lie in several cells.
macro_rules! wide_callbacks {
    ($($name:ident = $write:literal, $size:literal;)*) => {$(
        const _: () = {
            unsafe extern "C" fn implementation(address: usize, pc: usize) {
                // SAFETY: called by the program before the access.
                unsafe { range::<$write>(address, $size, pc) }
            }
            crate::call::export_with_pc! { fn $name / 1 = implementation; }
        };
    )*};
}

wide_callbacks! {
    __tsan_read16 = false, 16;
    __tsan_write16 = true, 16;
    __tsan_volatile_read16 = false, 16;
    __tsan_volatile_write16 = true, 16;
    __tsan_unaligned_read2 = false, 2;
    __tsan_unaligned_read4 = false, 4;
    __tsan_unaligned_read8 = false, 8;
    __tsan_unaligned_read16 = false, 16;
    __tsan_unaligned_write2 = true, 2;
    __tsan_unaligned_write4 = true, 4;
    __tsan_unaligned_write8 = true, 8;
    __tsan_unaligned_write16 = true, 16;
    __tsan_unaligned_volatile_read2 = false, 2;
    __tsan_unaligned_volatile_read4 = false, 4;
    __tsan_unaligned_volatile_read8 = false, 8;
    __tsan_unaligned_volatile_read16 = false, 16;
    __tsan_unaligned_volatile_write2 = true, 2;
    __tsan_unaligned_volatile_write4 = true, 4;
    __tsan_unaligned_volatile_write8 = true, 8;
    __tsan_unaligned_volatile_write16 = true, 16;
}

/// Exports the callbacks of statements that read and then write the same place.
macro_rules! compound_callbacks {
    ($($name:ident = $size:literal;)*) => {$(
        const _: () = {
            unsafe extern "C" fn implementation(address: usize, pc: usize) {
                // SAFETY: called by the program before the accesses.
                unsafe {
                    range::<false>(address, $size, pc);
                    range::<true>(address, $size, pc);
                }
            }
            crate::call::export_with_pc! { fn $name / 1 = implementation; }
        };
    )*};
}

compound_callbacks! {
    __tsan_read_write1 = 1;
    __tsan_read_write2 = 2;
    __tsan_read_write4 = 4;
    __tsan_read_write8 = 8;
    __tsan_read_write16 = 16;
    __tsan_unaligned_read_write2 = 2;
    __tsan_unaligned_read_write4 = 4;
    __tsan_unaligned_read_write8 = 8;
    __tsan_unaligned_read_write16 = 16;
}

unsafe extern "C" fn read_range(address: usize, len: usize, pc: usize) {
    // SAFETY: called by the program before the access.
    unsafe { range::<false>(address, len, pc) }
}

unsafe extern "C" fn write_range(address: usize, len: usize, pc: usize) {
    // SAFETY: called by the program before the access.
    unsafe { range::<true>(address, len, pc) }
}

unsafe extern "C" fn vptr_update(address: usize, _value: usize, pc: usize) {
    // SAFETY: called by the program before the access.
    unsafe { access::<true, 8>(address, pc) }
}

crate::call::export_with_pc! {
    fn __tsan_read_range / 2 = read_range;
    fn __tsan_write_range / 2 = write_range;
    fn __tsan_vptr_update / 2 = vptr_update;
}

/// A range of bytes is about to be read, by code that knows its own address.
/// # Safety
/// Called by the program before the access.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_read_range_pc(address: usize, len: usize, pc: usize) {
    // SAFETY: as the caller says.
    unsafe { range::<false>(address, len, pc) }
}

/// A range of bytes is about to be written likewise.
/// # Safety
/// Called by the program before the access.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_write_range_pc(address: usize, len: usize, pc: usize) {
    // SAFETY: as the caller says.
    unsafe { range::<true>(address, len, pc) }
}

/// Exports functions by which programs read and write at any address.
macro_rules! unaligned {
    ($($load:ident, $store:ident = $type:ty;)*) => {$(
        const _: () = {
            unsafe extern "C" fn load(address: usize, pc: usize) -> $type {
                // SAFETY: the program reads there.
                unsafe {
                    range::<false>(address, size_of::<$type>(), pc);
                    (address as *const $type).read_unaligned()
                }
            }
            unsafe extern "C" fn store(address: usize, value: $type, pc: usize) {
                // SAFETY: the program writes there.
                unsafe {
                    range::<true>(address, size_of::<$type>(), pc);
                    (address as *mut $type).write_unaligned(value);
                }
            }
            crate::call::export_with_pc! {
                fn $load / 1 = load;
                fn $store / 2 = store;
            }
        };
    )*};
}

unaligned! {
    __sanitizer_unaligned_load16, __sanitizer_unaligned_store16 = u16;
    __sanitizer_unaligned_load32, __sanitizer_unaligned_store32 = u32;
    __sanitizer_unaligned_load64, __sanitizer_unaligned_store64 = u64;
}

/// Exports the callbacks that are told where they come from.
macro_rules! callbacks_with_pc {
    ($($name:ident = $write:literal, $size:literal;)*) => {$(
        /// An access, as announced by code that knows its own address.
        /// # Safety
        /// Called by the program before the access.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(address: usize, pc: usize) {
            // SAFETY: as the caller says.
            unsafe { range::<$write>(address, $size, pc) }
        }
    )*};
}

callbacks_with_pc! {
    __tsan_read1_pc = false, 1;
    __tsan_read2_pc = false, 2;
    __tsan_read4_pc = false, 4;
    __tsan_read8_pc = false, 8;
    __tsan_read16_pc = false, 16;
    __tsan_write1_pc = true, 1;
    __tsan_write2_pc = true, 2;
    __tsan_write4_pc = true, 4;
    __tsan_write8_pc = true, 8;
    __tsan_write16_pc = true, 16;
}
