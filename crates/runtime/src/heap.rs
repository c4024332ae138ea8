//! The program's heap: the same calls of a thread give the same addresses in every run, whatever others do meanwhile.
//!
//! Blocks belong to size classes. Each thread hands out, of a class, what it has freed itself, last in, first out, and
//! else new blocks from a *run* of its own: a stretch of its part of the heap that holds blocks of one class only. A
//! table tells of every 64 kilobytes which run they belong to, and thereby what block any address is in. The first
//! runs of a thread are small and lie close together, in its *nest*, so that a thread that allocates little costs little.
//!
//! ```text
//! HEAP      one after the other             one after the other            up to HEAP_LEN
//! ┌─────────────────────────────┬──────────────────────────────────┬─────────────────────────────────┐
//! │ nests: a few runs of 1 KB   │ ranges: runs of 64 KB and more   │ what all share when there is no │
//! │ for each place, 8 KB        │ for each place, 128 MB           │ room in a range, or no place    │
//! └─────────────────────────────┴──────────────────────────────────┴─────────────────────────────────┘
//! ```
//!
//! Where one thread allocates what another frees, memory would run from one to the other for ever. So what a thread has
//! freed beyond a certain amount is for all, and a thread that has had much takes from that before it begins another
//! run. From there on, and when its range is full, addresses depend on what others do; they are still the same if
//! all do the same in the same order.
//!
//! Only who has the token allocates here. Threads that are outside of the scheduler's control (in a
//! system call that allocates, ending, or not ours) have a second heap, about whose addresses nobody promises
//! anything.
//!
//! Every block has a header before it, with its size and a number that survives another run: the thread
//! that allocated it, and how many that had allocated before.
//!
//! A block freed twice, or never allocated, ends the program as glibc would.

use crate::memory::{HEAP, HEAP_LEN, OUTSIDE_HEAP, OUTSIDE_LEN};
use crate::places::{PLACES, Place};
use crate::sys::{self, Lock};
use crate::thread::Guarded;

/// What comes before a block.
#[repr(C)]
struct Header {
    /// The size asked for, or of a free block the next free one: 48 bits; the size class: 8 bits; the state: 8 bits.
    word: u64,
    /// Its number, also when it is free; of an aligned block's beginning where the block is.
    number: u64,
}

/// The part of a header's first word that is a size or an address.
const LOW_48: u64 = (1 << 48) - 1;

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

/// The length of a nest, and of the runs in it.
const NEST: usize = 8 << 10;
const NEST_RUN: usize = 1 << 10;
/// Blocks of up to this size begin in a nest.
const NESTLING: usize = NEST_RUN / 2;
/// The length of a range.
const RANGE: usize = 128 << 20;
/// Where ranges begin, and what all share, from the beginning of the heap.
const RANGES_AT: usize = 1 << 30;
const COMMON_AT: usize = RANGES_AT + PLACES * RANGE;
const _: () = assert!(PLACES * NEST <= RANGES_AT && COMMON_AT < HEAP_LEN);

/// A thread keeps as many bytes of free blocks of a class, and as many blocks at least.
const KEPT: usize = 64 << 10;
const KEPT_BLOCKS: usize = 16;
/// A thread that has had as many bytes takes what others have freed before it begins a run.
const MUCH: usize = 1 << 20;

/// One of the two heaps.
struct Heap {
    start: usize,
    len: usize,
    /// How many places it has ranges for.
    places: usize,
    lock: Lock,
    tables: Guarded<Tables>,
}

/// Where the tables of a heap are; 0 before there are any.
#[derive(Clone, Copy)]
struct Tables {
    /// An [`Arena`] for each place, and one for all, the last.
    arenas: usize,
    /// For each span the beginning of its run, plus the class and one; 0 if it has none.
    spans: usize,
    /// For each possible run in a nest a byte: its class and one; 0 if there is none.
    nests: usize,
}

/// What is allocated from. Untouched, it is all zero, and takes no memory.
#[repr(C)]
struct Arena {
    /// Where the next run begins, and where the range ends.
    top: usize,
    end: usize,
    /// Where the next run in the nest begins, and where that ends.
    nest: usize,
    nest_end: usize,
    /// How many bytes of runs it has had.
    had: usize,
    /// Small classes come first, and with that fill one page.
    classes: [Class; CLASSES],
}

const _: () = assert!(size_of::<Arena>() <= ARENA);
const ARENA: usize = 8 << 10;

#[repr(C)]
struct Class {
    /// Free blocks: the first one, and how many.
    free: usize,
    count: usize,
    /// The rest of the latest run.
    next: usize,
    end: usize,
}

static INSIDE: Heap = Heap::new(HEAP, HEAP_LEN, PLACES);
static OUTSIDE: Heap = Heap::new(OUTSIDE_HEAP, OUTSIDE_LEN, 0);

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
    const fn new(start: usize, len: usize, places: usize) -> Self {
        let tables = Tables { arenas: 0, spans: 0, nests: 0 };
        Heap { start, len, places, lock: Lock::new(), tables: Guarded::new(tables) }
    }

    /// A block of a class, and whether it is new, hence all zero; 0 if there is none.
    #[inline(always)]
    fn take(&self, class: usize, place: Option<usize>) -> (usize, bool) {
        let len = len_of(class);
        self.lock.lock();
        // SAFETY: the lock is held; arenas are mapped once there are tables, and do not overlap.
        let taken = unsafe {
            let tables = self.tables.get();
            if tables.arenas == 0 && !self.begin(tables) {
                (0, true)
            } else {
                let arena = self.arena(tables, place);
                let own = &mut arena.classes[class];
                if own.free != 0 {
                    (own.pop(), false)
                } else if own.end - own.next >= len {
                    own.next += len;
                    (own.next - len, true)
                } else {
                    let has_much = place.is_some() && arena.had >= MUCH;
                    let surplus = if has_much { self.arena(tables, None).classes[class].pop() } else { 0 };
                    if surplus != 0 { (surplus, false) } else { (self.take_new(tables, place, class), true) }
                }
            }
        };
        self.lock.unlock();
        taken
    }

    /// Takes memory for everything; false if there is none.
    #[cold]
    fn begin(&self, tables: &mut Tables) -> bool {
        let arenas = sys::map(0, (self.places + 1) * ARENA);
        let spans = sys::map(0, self.len / SPAN * 8);
        let nests = sys::map(0, (self.places + 1) * (NEST / NEST_RUN));
        if arenas == 0 || spans == 0 || nests == 0 || sys::map(self.start, self.len) == 0 {
            return false;
        }
        *tables = Tables { arenas, spans, nests };
        let common_at = if self.places == 0 { 0 } else { COMMON_AT };
        // SAFETY: they have just been mapped; the lock is held.
        let common = unsafe { self.arena(tables, None) };
        (common.top, common.end) = (self.start + common_at, self.start + self.len);
        true
    }

    /// The arena of a place, or that for all. There are tables.
    #[inline(always)]
    unsafe fn arena(&self, tables: &Tables, place: Option<usize>) -> &'static mut Arena {
        let arena = (tables.arenas + place.unwrap_or(self.places) * ARENA) as *mut Arena;
        // SAFETY: there are as many, all zero at first; the caller holds the lock and keeps one reference to each.
        unsafe { &mut *arena }
    }

    /// A block from a new run.
    #[cold]
    unsafe fn take_new(&self, tables: &Tables, place: Option<usize>, class: usize) -> usize {
        let len = len_of(class);
        // SAFETY: the lock is held, and there are tables.
        let arena = unsafe { self.arena(tables, place) };
        if let Some(place) = place.filter(|_| arena.top == 0) {
            arena.top = self.start + RANGES_AT + place * RANGE;
            arena.end = arena.top + RANGE;
            arena.nest = self.start + place * NEST;
            arena.nest_end = arena.nest + NEST;
        }
        let own = &mut arena.classes[class];
        if len <= NESTLING && own.end == 0 && arena.nest < arena.nest_end {
            let run = arena.nest;
            arena.nest += NEST_RUN;
            (own.next, own.end) = (run + len, run + NEST_RUN);
            // SAFETY: there is a byte for every run of every nest.
            unsafe { *((tables.nests + (run - self.start) / NEST_RUN) as *mut u8) = class as u8 + 1 };
            return run;
        }
        let run_len = if len <= SHARING { SPAN } else { len.next_multiple_of(SPAN) };
        let mut run = cut_off(&mut arena.top, arena.end, run_len);
        if run == 0 && place.is_some() {
            // SAFETY: as above; this is another one.
            let common = unsafe { self.arena(tables, None) };
            run = cut_off(&mut common.top, common.end, run_len);
        }
        if run == 0 {
            return 0;
        }
        arena.had += run_len;
        for span in 0..run_len / SPAN {
            let entry = (tables.spans + ((run - self.start) / SPAN + span) * 8) as *mut usize;
            // SAFETY: the table covers the whole heap.
            unsafe { *entry = run + class + 1 };
        }
        if len <= SHARING {
            (own.next, own.end) = (run + len, run + run_len);
        }
        run
    }

    /// Takes a block back.
    #[inline(always)]
    unsafe fn put(&self, block: usize, class: usize, place: Option<usize>) {
        self.lock.lock();
        // SAFETY: the lock is held, and the block is not used any more; there are tables, since there is a block.
        unsafe {
            let tables = self.tables.get();
            let own = &mut self.arena(tables, place).classes[class];
            let keeps_enough = own.count * len_of(class) >= KEPT && own.count >= KEPT_BLOCKS;
            if keeps_enough && place.is_some() {
                self.arena(tables, None).classes[class].push(block);
            } else {
                own.push(block);
            }
        }
        self.lock.unlock();
    }
}

/// The first part of a stretch, from which it is taken; 0 if it is not as long.
fn cut_off(top: &mut usize, end: usize, len: usize) -> usize {
    if len > end - *top {
        return 0;
    }
    *top += len;
    *top - len
}

impl Class {
    /// The last block that was freed; 0 if there is none.
    unsafe fn pop(&mut self) -> usize {
        let block = self.free;
        if block != 0 {
            // SAFETY: free blocks hold the address of the next one.
            self.free = unsafe { ((*(block as *const Header)).word & LOW_48) as usize };
            self.count -= 1;
        }
        block
    }

    unsafe fn push(&mut self, block: usize) {
        let header = block as *mut Header;
        // SAFETY: the caller has a block that is not used any more. What else the header says stays.
        unsafe { (*header).word = (*header).word & !LOW_48 | self.free as u64 };
        self.free = block;
        self.count += 1;
    }
}

/// Allocates; 0 if there is no memory. For a thread at a place if the caller has the token.
pub(crate) fn allocate(len: usize, alignment: usize, number: u64, place: Option<Place>, zeroed: bool) -> usize {
    let extra = if alignment > 16 { alignment + 32 } else { 0 };
    let Some(total) = len.max(1).checked_add(HEADER + extra).filter(|total| *total < OUTSIDE_LEN / 2) else { return 0 };
    let class = class_of(total);
    let (block, is_new) = match place {
        Some(place) => INSIDE.take(class, place.number()),
        None => OUTSIDE.take(class, None),
    };
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
    (HEAP..HEAP + HEAP_LEN).contains(&address) || (OUTSIDE_HEAP..OUTSIDE_HEAP + OUTSIDE_LEN).contains(&address)
}

unsafe fn read(address: usize) -> Block {
    // SAFETY: the caller knows that there is a header.
    let header = unsafe { &*((address - HEADER) as *const Header) };
    Block {
        len: (header.word & LOW_48) as usize,
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

/// Frees a live block, by a thread at a place if the caller has the token.
pub(crate) unsafe fn free(address: usize, block: Block, place: Option<Place>) {
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
            OUTSIDE.put(start, block.class, None);
        } else if let Some(place) = place {
            INSIDE.put(start, block.class, place.number());
        }
        // A block of the inner heap that an uncontrolled thread frees is lost: taking it back now
        // would make addresses depend on when that is.
    }
}

/// The block of the inner heap around an address: where it begins, and its number. If it was freed, that is the one
/// that was there last.
pub(crate) unsafe fn block_around(address: usize) -> Option<(usize, u64)> {
    if !(HEAP..HEAP + HEAP_LEN).contains(&address) {
        return None;
    }
    // SAFETY: the caller has the token, so nobody changes the inner heap; the tables cover all of it.
    unsafe {
        let Tables { arenas, spans, nests } = *INSIDE.tables.get();
        if arenas == 0 {
            return None;
        }
        let (run, class) = if address < HEAP + PLACES * NEST {
            let entry = *((nests + (address - HEAP) / NEST_RUN) as *const u8);
            (address & !(NEST_RUN - 1), usize::from(entry.checked_sub(1)?))
        } else {
            let entry = *((spans + (address - HEAP) / SPAN * 8) as *const usize);
            (entry & !(SPAN - 1), (entry & (SPAN - 1)).checked_sub(1)?)
        };
        let len = len_of(class);
        let start = if len <= SHARING { run + (address - run) / len * len } else { run };
        let mut user = start + HEADER;
        let first = read(user);
        if first.state == FORWARD {
            user = first.number as usize;
        }
        let block = read(user);
        matches!(block.state, LIVE | LIVE_ALIGNED | FREED).then_some((user, block.number))
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
