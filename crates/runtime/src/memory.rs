//! Where things are in the address space, and the runtime's own memory.
//!
//! All places are fixed and far from where Linux puts programs, libraries, stacks and mappings on
//! x86-64. So they are the same in every run, and constants in the code of the hot path.

use crate::sys;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::*};

const TERABYTE: usize = 1 << 40;

/// The file shared with the recorder.
pub(crate) const CONTROL: usize = 16 * TERABYTE;
/// The runtime's own memory.
const OWN: usize = 24 * TERABYTE;
const OWN_LEN: usize = TERABYTE / 4;
/// One cell of two bytes for every eight of the program's 128 terabytes.
pub(crate) const SHADOW: usize = 32 * TERABYTE;
pub(crate) const SHADOW_LEN: usize = 32 * TERABYTE;
/// The program's heap.
pub(crate) const HEAP: usize = 96 * TERABYTE;
pub(crate) const HEAP_LEN: usize = 4 * TERABYTE;
/// The heap of threads that are outside of the scheduler's control.
pub(crate) const OUTSIDE_HEAP: usize = 100 * TERABYTE;
pub(crate) const OUTSIDE_LEN: usize = 2 * TERABYTE;
/// The stacks of the program's threads, except the first.
pub(crate) const STACKS: usize = 104 * TERABYTE;
pub(crate) const STACKS_LEN: usize = 8 * TERABYTE;

/// Ends the process, which is dying already.
pub(crate) fn stop() -> ! {
    loop {
        // SAFETY: nothing is left to be broken.
        unsafe { sys::syscall!(libc::SYS_exit_group, 127) };
    }
}

/// The runtime's own memory: it must never come from the program's heap, whose addresses would
/// depend on what the runtime does.
///
/// Blocks are powers of two. A freed one is kept for the next of its size.
struct Own {
    lock: sys::Lock,
    top: AtomicUsize,
    free: [AtomicUsize; 48],
}

#[global_allocator]
static OWN_MEMORY: Own =
    Own { lock: sys::Lock::new(), top: AtomicUsize::new(0), free: [const { AtomicUsize::new(0) }; 48] };

// SAFETY: blocks are disjoint, large enough for the layout and aligned to their size or a page.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let len = layout.size().max(layout.align()).max(16).next_power_of_two();
        let list = &self.free[len.trailing_zeros() as usize];
        self.lock.lock();
        let mut block = list.load(Relaxed);
        if block != 0 {
            // SAFETY: a free block holds the address of the next one.
            list.store(unsafe { *(block as *const usize) }, Relaxed);
        } else {
            let mut top = self.top.load(Relaxed);
            if top == 0 {
                top = sys::map(OWN, OWN_LEN);
            }
            if top != 0 {
                block = top.next_multiple_of(len.min(4096));
                top = block + len;
                if top > OWN + OWN_LEN {
                    block = 0;
                } else {
                    self.top.store(top, Relaxed);
                }
            }
        }
        self.lock.unlock();
        block as *mut u8
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let len = layout.size().max(layout.align()).max(16).next_power_of_two();
        let list = &self.free[len.trailing_zeros() as usize];
        self.lock.lock();
        // SAFETY: the block is not used any more, and has room for an address.
        unsafe { *block.cast::<usize>() = list.load(Relaxed) };
        list.store(block as usize, Relaxed);
        self.lock.unlock();
    }
}
