//! The program's heap: the same calls give the same addresses in every run.
//!
//! Blocks belong to size classes. Each class hands out its free blocks last in, first out, and else new ones
//! from a *run* of its own: a stretch of the heap that holds blocks of one class only. A table tells
//! of every 64 kilobytes which run they belong to, and thereby what block any address is in.
//!
//! Only who has the token allocates here. Threads that are outside of the scheduler's control (in a
//! system call that allocates, ending, or not ours) have a second heap, about whose addresses nobody promises
//! anything.
//!
//! Every block has a header before it, with its size and a number that survives another run: the thread
//! that allocated it, and how many that had allocated before.
//!
//! A block freed twice, or never allocated, ends the program as glibc would.

use crate::memory::{HEAP, HEAP_LEN, OUTSIDE_HEAP};
use crate::sys::{self, Lock};
use crate::thread::Guarded;

/// What comes before a block.
#[repr(C)]
struct Header {
    /// The size asked for: 48 bits; the size class: 8 bits; the state: 8 bits.
    word: u64,
    /// Its number; of a free block the next free one, of an aligned block's beginning where the block is.
    number: u64,
}

const HEADER: usize = size_of::<Header>();
const LIVE: u8 = 0xa5;
/// As `LIVE`, but the word before the header says where the block really begins: it is aligned.
const LIVE_ALIGNED: u8 = 0xa6;
/// What an aligned block really begins with.
const FORWARD: u8 = 0xa7;
const FREED: u8 = 0x5a;

/// The number of a block allocated by a thread that is not controlled.
pub(crate) const NO_NUMBER: u64 = u64::MAX;

/// Blocks of up to this size, header included, are in classes 16 bytes apart.
const SMALL: usize = 1024;
const SMALL_CLASSES: usize = SMALL / 16;
/// Beyond, there are four classes between one power of two and the next.
const CLASSES: usize = SMALL_CLASSES + 4 * 32;
/// Runs are multiples of this.
const SPAN: usize = 1 << 16;
/// Blocks of up to this size share a run.
const SHARING: usize = SPAN / 8;

/// One of the two heaps.
struct Heap {
    start: usize,
    lock: Lock,
    inner: Guarded<Inner>,
}

struct Inner {
    top: usize,
    /// For each class its free blocks.
    free: [usize; CLASSES],
    /// For each class the rest of its latest run.
    fresh: [(usize, usize); CLASSES],
    /// For each span the beginning of its run, plus the class; 0 if it has none.
    spans: usize,
}

static INSIDE: Heap = Heap::new(HEAP);
static OUTSIDE: Heap = Heap::new(OUTSIDE_HEAP);

/// The class of blocks of this size.
const fn class_of(len: usize) -> usize {
    if len <= SMALL {
        return len.div_ceil(16) - 1;
    }
    let power = len.ilog2() as usize;
    let quarter = (len - (1 << power)).div_ceil(1 << (power - 2));
    SMALL_CLASSES - 1 + (power - 10) * 4 + quarter
}

/// How large the blocks of a class are.
const fn len_of(class: usize) -> usize {
    if class < SMALL_CLASSES {
        return (class + 1) * 16;
    }
    let beyond = class + 1 - SMALL_CLASSES;
    let (power, quarter) = (10 + beyond / 4, beyond % 4);
    (1 << power) + quarter * (1 << (power - 2))
}

impl Heap {
    const fn new(start: usize) -> Self {
        let inner = Inner { top: 0, free: [0; CLASSES], fresh: [(0, 0); CLASSES], spans: 0 };
        Heap { start, lock: Lock::new(), inner: Guarded::new(inner) }
    }

    /// A block of a class, and whether it is new, hence all zero; 0 if there is none.
    fn take(&self, class: usize) -> (usize, bool) {
        self.lock.lock();
        // SAFETY: the lock is held; free blocks hold the address of the next one.
        let taken = unsafe {
            let inner = self.inner.get();
            let free = inner.free[class];
            if free != 0 {
                inner.free[class] = (*(free as *const Header)).number as usize;
                (free, false)
            } else {
                (self.take_new(inner, class), true)
            }
        };
        self.lock.unlock();
        taken
    }

    unsafe fn take_new(&self, inner: &mut Inner, class: usize) -> usize {
        let len = len_of(class);
        let (next, end) = inner.fresh[class];
        if end - next >= len {
            inner.fresh[class].0 += len;
            return next;
        }
        if inner.top == 0 {
            let spans = sys::map(0, HEAP_LEN / SPAN * 8);
            if spans == 0 || sys::map(self.start, HEAP_LEN) == 0 {
                return 0;
            }
            (inner.top, inner.spans) = (self.start, spans);
        }
        let run = inner.top;
        let run_len = if len <= SHARING { SPAN } else { len.next_multiple_of(SPAN) };
        if run_len > self.start + HEAP_LEN - run {
            return 0;
        }
        inner.top += run_len;
        for span in 0..run_len / SPAN {
            let entry = (inner.spans + ((run - self.start) / SPAN + span) * 8) as *mut usize;
            // SAFETY: the table covers the whole heap.
            unsafe { *entry = run + class + 1 };
        }
        if len <= SHARING {
            inner.fresh[class] = (run + len, run + run_len);
        }
        run
    }

    /// Takes a block back.
    unsafe fn put(&self, block: usize, class: usize) {
        self.lock.lock();
        // SAFETY: the lock is held, and the block is not used any more.
        unsafe {
            let inner = self.inner.get();
            (*(block as *mut Header)).number = inner.free[class] as u64;
            inner.free[class] = block;
        }
        self.lock.unlock();
    }
}

/// Allocates; 0 if there is no memory. `is_inside` if the caller has the token.
pub(crate) fn allocate(len: usize, alignment: usize, number: u64, is_inside: bool, zeroed: bool) -> usize {
    let extra = if alignment > 16 { alignment + 32 } else { 0 };
    let Some(total) = len.max(1).checked_add(HEADER + extra).filter(|total| *total < HEAP_LEN / 2) else { return 0 };
    let class = class_of(total);
    let (block, is_new) = if is_inside { INSIDE.take(class) } else { OUTSIDE.take(class) };
    if block == 0 {
        return 0;
    }
    let mut state = LIVE;
    let mut address = block + HEADER;
    // SAFETY: the block is ours, and has room for what is written before the address.
    unsafe {
        if extra != 0 {
            address = (block + HEADER + 32).next_multiple_of(alignment);
            *((address - HEADER - 8) as *mut usize) = block;
            state = LIVE_ALIGNED;
            *(block as *mut Header) = Header { word: u64::from(FORWARD) << 56, number: address as u64 };
        }
        *((address - HEADER) as *mut Header) =
            Header { word: len as u64 | (class as u64) << 48 | u64::from(state) << 56, number };
        if zeroed && !is_new {
            std::ptr::write_bytes(address as *mut u8, 0, len);
        }
    }
    address
}

/// What is known of a block.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) len: usize,
    pub(crate) number: u64,
    class: usize,
    state: u8,
}

impl Block {
    /// How many bytes there is room for.
    pub(crate) fn room(&self) -> usize {
        if self.state == LIVE { len_of(self.class) - HEADER } else { self.len }
    }
}

fn is_ours(address: usize) -> bool {
    (HEAP..HEAP + HEAP_LEN).contains(&address) || (OUTSIDE_HEAP..OUTSIDE_HEAP + HEAP_LEN).contains(&address)
}

unsafe fn read(address: usize) -> Block {
    // SAFETY: the caller knows that there is a header.
    let header = unsafe { &*((address - HEADER) as *const Header) };
    Block {
        len: (header.word & ((1 << 48) - 1)) as usize,
        number: header.number,
        class: (header.word >> 48 & 0xff) as usize,
        state: (header.word >> 56) as u8,
    }
}

/// What is known of the live block at this address; ends the program if there is none.
pub(crate) unsafe fn block_at(address: usize, called: &str) -> Block {
    if !is_ours(address) || !address.is_multiple_of(16) {
        die(called, "invalid pointer");
    }
    // SAFETY: both heaps are mapped as a whole.
    let block = unsafe { read(address) };
    match block.state {
        LIVE | LIVE_ALIGNED => block,
        FREED => die(called, "double free detected in tcache 2"),
        _ => die(called, "invalid pointer"),
    }
}

/// Frees a live block.
pub(crate) unsafe fn free(address: usize, block: Block, is_inside: bool) {
    const LARGE: usize = 1 << 17;
    // SAFETY: the block is live, hence has a header, and is not used any more.
    unsafe {
        let header = (address - HEADER) as *mut Header;
        (*header).word = (*header).word & !(0xff << 56) | u64::from(FREED) << 56;
        let start =
            if block.state == LIVE_ALIGNED { *((address - HEADER - 8) as *const usize) } else { address - HEADER };
        if block.len >= LARGE {
            let (low, high) = (address.next_multiple_of(4096), (address + block.len) & !4095);
            sys::discard(low, high - low);
        }
        if start >= OUTSIDE_HEAP {
            OUTSIDE.put(start, block.class);
        } else if is_inside {
            INSIDE.put(start, block.class);
        }
        // A block of the inner heap that an uncontrolled thread frees is lost: taking it back now
        // would make addresses depend on when that is.
    }
}

/// The live block of the inner heap around an address: where it begins, and its number.
pub(crate) unsafe fn block_around(address: usize) -> Option<(usize, u64)> {
    if !(HEAP..HEAP + HEAP_LEN).contains(&address) {
        return None;
    }
    // SAFETY: the caller has the token, so nobody changes the inner heap; the table covers all of it.
    unsafe {
        let inner = INSIDE.inner.get();
        if address >= inner.top {
            return None;
        }
        let entry = *((inner.spans + (address - HEAP) / SPAN * 8) as *const usize);
        let (run, class) = (entry & !(SPAN - 1), (entry & (SPAN - 1)).checked_sub(1)?);
        let len = len_of(class);
        let start = if len <= SHARING { run + (address - run) / len * len } else { run };
        let mut user = start + HEADER;
        let first = read(user);
        if first.state == FORWARD {
            user = first.number as usize;
        }
        let block = read(user);
        matches!(block.state, LIVE | LIVE_ALIGNED).then_some((user, block.number))
    }
}

#[cold]
fn die(called: &str, what: &str) -> ! {
    for part in [called, "(): ", what, "\n"] {
        sys::complain(part);
    }
    // SAFETY: as a program's own call of it.
    unsafe { libc::abort() }
}
