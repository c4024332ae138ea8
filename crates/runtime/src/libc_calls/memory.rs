//! `malloc` and its kin, and mappings.
//!
//! Allocating and freeing are steps if it is the program's own code that calls. Libraries may call while they hold a lock
//! that we do not see, and nobody must run then who would wait for it.

use crate::call::{Call, export_with_pc, interpose, real};
use crate::current::current;
use crate::heap::{self, NO_NUMBER};
use crate::log::{self, header};
use crate::memory::{HEAP, STACKS};
use crate::ranges;
use crate::scheduler;
use crate::shadow;
use crate::start::{is_programs, is_recording};
use crate::sys::{self, set_errno, syscall};
use crate::thread::{Guarded, Thread};
use interloper_wire::{BLOCK_BITS, Kind};
use libc::{c_int, c_void, off_t, size_t};
use std::collections::BTreeMap;

unsafe extern "C" {
    fn __libc_malloc(len: size_t) -> *mut c_void;
    fn __libc_calloc(count: size_t, len: size_t) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, len: size_t) -> *mut c_void;
    fn __libc_memalign(alignment: size_t, len: size_t) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// The number of the next block this thread allocates.
fn number(thread: &Thread) -> u64 {
    u64::from(thread.number) << BLOCK_BITS | thread.blocks
}

/// The same, which is not the next any more.
fn next_number(thread: &mut Thread) -> u64 {
    let number = number(thread);
    thread.blocks += 1;
    number
}

/// Takes the step that a call of one of these functions is.
#[inline]
unsafe fn step(pc: usize) {
    let thread = current();
    // SAFETY: the running thread's own data.
    unsafe {
        if !thread.is_null() && (*thread).inside == 0 && is_programs(pc) {
            scheduler::step(thread);
            if (*thread).is_helping && shadow::is_block_logged(number(&*thread)) {
                scheduler::stop_if_helping(thread);
            }
        }
    }
}

/// Says that a block has come into being.
unsafe fn announce(thread: &mut Thread, address: usize, len: usize, number: u64, pc: usize) {
    // SAFETY: the caller has the token.
    unsafe {
        if shadow::born(address, len, number) {
            thread.prepare();
            // Where the function that allocates was called from, and its caller in turn.
            let caller = |above: usize| {
                let frame = thread.depth.checked_sub(above + 1).map(|at| (*thread.frames.add(at)).caller);
                frame.unwrap_or(0) as u64
            };
            let words = [len as u64, number, caller(0), caller(1)];
            log::append(header(Kind::Allocate, address, pc), words);
        }
    }
}

/// Says that a block ceases to be.
unsafe fn bury(thread: &mut Thread, address: usize, len: usize, number: u64, pc: usize) {
    // SAFETY: the caller has the token.
    unsafe {
        // The last write may have been to this block, whose memory is about to change.
        thread.settle();
        if shadow::is_block_logged(number) {
            thread.log(Kind::Free, address, pc, [number]);
        }
        shadow::dead(address, len);
    }
}

/// Allocates for the program.
unsafe fn allocate(len: usize, alignment: usize, zeroed: bool, pc: usize) -> usize {
    if !is_recording() {
        // SAFETY: as the program's call.
        return unsafe {
            match (zeroed, alignment) {
                (true, _) => __libc_calloc(len, 1),
                (false, 0..=16) => __libc_malloc(len),
                (false, _) => __libc_memalign(alignment, len),
            }
        } as usize;
    }
    let address = match Call::enter_quietly() {
        Some(mut call) => {
            let number = next_number(&mut call);
            let address = heap::allocate(len, alignment, number, Some(call.place), zeroed);
            if address != 0 {
                // SAFETY: a `Call` is proof of the token.
                unsafe { announce(&mut call, address, len, number, pc) };
            }
            address
        }
        None => heap::allocate(len, alignment, NO_NUMBER, None, zeroed),
    };
    if address == 0 {
        set_errno(libc::ENOMEM);
    }
    address
}

unsafe fn release(block: usize, called: &str, pc: usize) {
    if block == 0 {
        return;
    }
    if !(HEAP..STACKS).contains(&block) {
        // SAFETY: it was glibc's: from before there was a recorder, or there is none.
        unsafe { __libc_free(block as *mut c_void) };
        return;
    }
    // SAFETY: the program frees what it has allocated, or is ended.
    unsafe {
        let known = heap::block_at(block, called);
        match Call::enter_quietly() {
            Some(mut call) => {
                if known.number != NO_NUMBER {
                    bury(&mut call, block, known.len, known.number, pc);
                }
                heap::free(block, known, Some(call.place));
            }
            None => heap::free(block, known, None),
        }
    }
}

/// Whether it is logged when a block is freed.
unsafe fn is_logged(block: usize) -> bool {
    // SAFETY: the program frees what it has allocated, or is ended; the caller has the token.
    unsafe { (HEAP..STACKS).contains(&block) && shadow::is_block_logged(heap::block_at(block, "free").number) }
}

unsafe extern "C-unwind" fn malloc_at(len: size_t, pc: usize) -> usize {
    // SAFETY: as the program's call.
    unsafe {
        step(pc);
        allocate(len, 0, false, pc)
    }
}

unsafe extern "C-unwind" fn calloc_at(count: size_t, len: size_t, pc: usize) -> usize {
    let Some(total) = count.checked_mul(len) else {
        set_errno(libc::ENOMEM);
        return 0;
    };
    // SAFETY: as the program's call.
    unsafe {
        step(pc);
        allocate(total, 0, true, pc)
    }
}

unsafe extern "C-unwind" fn free_at(block: usize, pc: usize) {
    // SAFETY: as the program's call.
    unsafe {
        step(pc);
        let thread = current();
        if !thread.is_null() && (*thread).is_helping && is_programs(pc) && is_logged(block) {
            scheduler::stop_if_helping(thread);
        }
        release(block, "free", pc);
    }
}

unsafe extern "C-unwind" fn realloc_at(block: usize, len: size_t, pc: usize) -> usize {
    // SAFETY: as the program's call.
    unsafe {
        step(pc);
        if block == 0 {
            return allocate(len, 0, false, pc);
        }
        if !(HEAP..STACKS).contains(&block) {
            return __libc_realloc(block as *mut c_void, len) as usize;
        }
        if len == 0 {
            release(block, "realloc", pc);
            return 0;
        }
        let known = heap::block_at(block, "realloc");
        let new = allocate(len, 0, false, pc);
        if new != 0 {
            let kept = known.len.min(len);
            if let Some(mut call) = Call::enter_quietly() {
                call.settle();
                ranges::read(&mut call, block, kept, pc);
                std::ptr::copy_nonoverlapping(block as *const u8, new as *mut u8, kept);
                ranges::wrote(&mut call, new, kept, pc, 0);
            } else {
                std::ptr::copy_nonoverlapping(block as *const u8, new as *mut u8, kept);
            }
            release(block, "realloc", pc);
        }
        new
    }
}

unsafe extern "C-unwind" fn reallocarray_at(block: usize, count: size_t, len: size_t, pc: usize) -> usize {
    let Some(total) = count.checked_mul(len) else {
        set_errno(libc::ENOMEM);
        return 0;
    };
    // SAFETY: as the program's call.
    unsafe { realloc_at(block, total, pc) }
}

unsafe extern "C-unwind" fn memalign_at(alignment: size_t, len: size_t, pc: usize) -> usize {
    if !alignment.is_power_of_two() {
        set_errno(libc::EINVAL);
        return 0;
    }
    // SAFETY: as the program's call.
    unsafe {
        step(pc);
        allocate(len, alignment, false, pc)
    }
}

unsafe extern "C-unwind" fn posix_memalign_at(result: *mut usize, alignment: size_t, len: size_t, pc: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(8) {
        return libc::EINVAL;
    }
    // SAFETY: as the program's call.
    unsafe {
        step(pc);
        let errno = *libc::__errno_location();
        let block = allocate(len, alignment, false, pc);
        if block == 0 {
            set_errno(errno);
            return libc::ENOMEM;
        }
        *result = block;
    }
    0
}

unsafe extern "C-unwind" fn valloc_at(len: size_t, pc: usize) -> usize {
    // SAFETY: as the program's call.
    unsafe { memalign_at(4096, len, pc) }
}

unsafe extern "C-unwind" fn pvalloc_at(len: size_t, pc: usize) -> usize {
    // SAFETY: as the program's call.
    unsafe { memalign_at(4096, len.next_multiple_of(4096), pc) }
}

export_with_pc! {
    fn malloc / 1 = malloc_at;
    fn calloc / 2 = calloc_at;
    fn free / 1 = free_at;
    fn cfree / 1 = free_at;
    fn realloc / 2 = realloc_at;
    fn reallocarray / 3 = reallocarray_at;
    fn memalign / 2 = memalign_at;
    fn aligned_alloc / 2 = memalign_at;
    fn posix_memalign / 3 = posix_memalign_at;
    fn valloc / 1 = valloc_at;
    fn pvalloc / 1 = pvalloc_at;
}

/// How many bytes of a block may be used.
/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> size_t {
    if block.is_null() {
        return 0;
    }
    if !(HEAP..STACKS).contains(&(block as usize)) {
        // SAFETY: as the program's call.
        return unsafe { real!(malloc_usable_size: fn(*mut c_void) -> size_t)(block) };
    }
    // SAFETY: the program asks about what it has allocated, or is ended.
    unsafe { heap::block_at(block as usize, "malloc_usable_size").room() }
}

/// `operator new`, so that it is the program that is seen to allocate and not the library. If there is no
/// memory, the library's own one knows what to do.
macro_rules! operators_new {
    ($($name:ident / $count:tt ($($argument:ident: $type:ty),*) = $len:expr, $alignment:expr;)*) => {$(
        const _: () = {
            unsafe extern "C-unwind" fn implementation($($argument: $type,)* pc: usize) -> usize {
                // SAFETY: as the program's call.
                unsafe {
                    if is_recording() {
                        step(pc);
                        let block = allocate($len, $alignment, false, pc);
                        if block != 0 {
                            return block;
                        }
                    }
                    real!($name: fn($($type),*) -> usize)($($argument),*)
                }
            }
            export_with_pc! { fn $name / $count = implementation; }
        };
    )*};
}

operators_new! {
    _Znwm / 1 (len: usize) = len, 0;
    _Znam / 1 (len: usize) = len, 0;
    _ZnwmRKSt9nothrow_t / 2 (len: usize, nothrow: usize) = len, 0;
    _ZnamRKSt9nothrow_t / 2 (len: usize, nothrow: usize) = len, 0;
    _ZnwmSt11align_val_t / 2 (len: usize, alignment: usize) = len, alignment;
    _ZnamSt11align_val_t / 2 (len: usize, alignment: usize) = len, alignment;
    _ZnwmSt11align_val_tRKSt9nothrow_t / 3 (len: usize, alignment: usize, nothrow: usize) = len, alignment;
    _ZnamSt11align_val_tRKSt9nothrow_t / 3 (len: usize, alignment: usize, nothrow: usize) = len, alignment;
}

/// `operator delete` in all its forms.
macro_rules! operators_delete {
    ($($name:ident / $count:tt ($($argument:ident: $type:ty),*);)*) => {$(
        const _: () = {
            unsafe extern "C-unwind" fn implementation(block: usize, $($argument: $type,)* pc: usize) {
                // SAFETY: as the program's call.
                unsafe { free_at(block, pc) };
            }
            export_with_pc! { fn $name / $count = implementation; }
        };
    )*};
}

operators_delete! {
    _ZdlPv / 1 ();
    _ZdaPv / 1 ();
    _ZdlPvm / 2 (_len: usize);
    _ZdaPvm / 2 (_len: usize);
    _ZdlPvRKSt9nothrow_t / 2 (_nothrow: usize);
    _ZdaPvRKSt9nothrow_t / 2 (_nothrow: usize);
    _ZdlPvSt11align_val_t / 2 (_alignment: usize);
    _ZdaPvSt11align_val_t / 2 (_alignment: usize);
    _ZdlPvmSt11align_val_t / 3 (_len: usize, _alignment: usize);
    _ZdaPvmSt11align_val_t / 3 (_len: usize, _alignment: usize);
    _ZdlPvSt11align_val_tRKSt9nothrow_t / 3 (_alignment: usize, _nothrow: usize);
    _ZdaPvSt11align_val_tRKSt9nothrow_t / 3 (_alignment: usize, _nothrow: usize);
}

/// Mappings the program has made: length and number, by address. Guarded by the token.
static MAPPINGS: Guarded<BTreeMap<usize, (usize, u64)>> = Guarded::new(BTreeMap::new());

/// The mapping around an address: where it begins, and its number.
pub(crate) unsafe fn mapping_around(address: usize) -> Option<(usize, u64)> {
    // SAFETY: the caller has the token.
    let (&start, &(len, number)) = unsafe { MAPPINGS.get() }.range(..=address).next_back()?;
    (address - start < len).then_some((start, number))
}

unsafe fn mapped(thread: &mut Thread, start: isize, len: usize, pc: usize) {
    if !(-4095..=0).contains(&start) {
        let (start, number) = (start as usize, next_number(thread));
        // SAFETY: the caller has the token.
        unsafe {
            MAPPINGS.get().insert(start, (len, number));
            announce(thread, start, len, number, pc);
        }
    }
}

unsafe fn unmapped(thread: &mut Thread, start: usize, len: usize, pc: usize) {
    // SAFETY: the caller has the token.
    unsafe {
        thread.settle();
        let within: Vec<usize> =
            MAPPINGS.get().range(start..start.saturating_add(len)).map(|(start, _)| *start).collect();
        for start in within {
            if let Some((len, number)) = MAPPINGS.get().remove(&start) {
                bury(thread, start, len, number, pc);
            }
        }
        shadow::reset(start, len);
    }
}

unsafe fn map(
    call: &mut Call,
    address: usize,
    len: size_t,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> usize {
    // SAFETY: as the program's call; the caller has the token.
    unsafe {
        let result = syscall!(libc::SYS_mmap, address, len, protection, flags, file as isize, offset);
        mapped(call, result, len, 0);
        sys::libc_result(result) as usize
    }
}

/// Maps; six arguments leave no register for where it is called from.
macro_rules! maps {
    ($($name:ident)*) => {$(
        #[doc = concat!("Interposes `", stringify!($name), "`.")]
        /// # Safety
        /// As for the function of this name.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(
            address: usize, len: size_t, protection: c_int, flags: c_int, file: c_int, offset: off_t,
        ) -> usize {
            // SAFETY: as the program's call.
            unsafe {
                match Call::enter() {
                    Some(mut call) => map(&mut call, address, len, protection, flags, file, offset),
                    None => sys::libc_result(
                        syscall!(libc::SYS_mmap, address, len, protection, flags, file as isize, offset)) as usize,
                }
            }
        }
    )*};
}

maps! { mmap mmap64 }

interpose! {
    fn munmap / 2 (address: usize, len: size_t) -> c_int = |call, pc| {
        unmapped(&mut call, address, len, pc);
        sys::libc_result(syscall!(libc::SYS_munmap, address, len)) as c_int
    };
    fn mremap / 5 (address: usize, old: size_t, new: size_t, flags: c_int, target: usize) -> usize = |call, pc| {
        unmapped(&mut call, address, old, pc);
        let result = syscall!(libc::SYS_mremap, address, old, new, flags, target);
        mapped(&mut call, result, new, pc);
        sys::libc_result(result) as usize
    };
}
