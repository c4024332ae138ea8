//! Which memory is shared: a cell of two bytes for every eight bytes of the program's.
//!
//! Scouting, a cell tells who has touched its bytes since they were last allocated, when they have been freed, too:
//!
//! | cell | touched by |
//! |---|---|
//! | `0` | nobody |
//! | `tag` | one thread, reading |
//! | `WRITTEN + tag` | one thread, writing |
//! | `SHARED` | several, reading |
//! | `HOT` | several, one of them writing |
//!
//! Only the last are worth a log: no two accesses of other bytes conflict. A cell that becomes hot is
//! logged as such, at once, so that what was found survives a crash. It is a thread's tag that
//! makes the callbacks fast: nearly all accesses find a cell that says they are this thread's already.
//!
//! Recording hot locations only, cells are `HOT` or `0`, and are set when the memory comes into being.
//!
//! *What is missed:* eight bytes are taken for one, so neighbours of a hot byte are logged, too, which is
//! harmless; no sharing is missed, except by accesses that are not seen at all, and of large blocks after they have
//! been freed, whose cells are given back. More threads than there are tags
//! share the last one, and are taken for strangers to themselves: more is logged then, not less.

use crate::log::{self, header};
use crate::memory::{CONTROL, HEAP, SHADOW, SHADOW_LEN, STACKS, STACKS_LEN};
use crate::scheduler;
use crate::sys;
use crate::thread::{Guarded, Thread};
use interloper_wire::{HotRange, Kind, Mode, Notice, RecordHeader, Settings, Space};

const WRITTEN: u16 = 0x4000;
const SHARED: u16 = 0x8000;
const HOT: u16 = 0xc000;
/// The tag of all threads for which there is none of their own.
const STRANGER: u16 = 0x3fff;
/// What no cell ever is.
const NEVER: u16 = 0xffff;

/// What is done about plain accesses. Guarded by the token.
struct State {
    mode: Mode,
    full_limit: u64,
    /// The hot locations of an earlier run, sorted.
    hot: &'static [[u64; 4]],
}

static STATE: Guarded<State> = Guarded::new(State { mode: Mode::Full, full_limit: 0, hot: &[] });

/// Where the cell of an address is.
#[inline(always)]
pub(crate) const fn cell_at(address: usize) -> *mut u16 {
    // Addresses are below 2⁴⁷; others are not the program's, and what they fault on does not matter.
    (SHADOW + (((address & ((1 << 47) - 1)) >> 2) & !1)) as *mut u16
}

/// Begins; false if there is no memory for the cells.
pub(crate) unsafe fn begin(settings: &Settings) -> bool {
    // SAFETY: the program has one thread yet; the file is as long as the settings say.
    unsafe {
        let state = STATE.get();
        *state = State { mode: settings.mode, full_limit: settings.full_limit, hot: &[] };
        if sys::map(SHADOW, SHADOW_LEN) == 0 {
            return false;
        }
        if state.mode == Mode::Hot {
            let start = (CONTROL + settings.hot_at as usize) as *const [u64; 4];
            state.hot = std::slice::from_raw_parts(start, settings.hot_entries as usize);
            for range in state.hot.iter().filter_map(|words| HotRange::from_words(*words)) {
                if range.space == Space::Static as u8 {
                    fill(range.offset as usize, range.len as usize, HOT);
                }
            }
        }
    }
    true
}

/// Prepares for a new thread: what its cells look like, and which of its stack are hot.
pub(crate) unsafe fn meet(thread: &mut Thread) {
    // SAFETY: the caller has the token.
    let state = unsafe { STATE.get() };
    let tag = u16::try_from(thread.number + 1).unwrap_or(STRANGER).min(STRANGER);
    (thread.cell_read, thread.cell_written) = match state.mode {
        // A stranger matches nothing: not even itself.
        Mode::Scout if tag == STRANGER => (NEVER, NEVER),
        Mode::Scout => (tag, WRITTEN | tag),
        Mode::Try | Mode::Full => (NEVER, NEVER),
        Mode::Hot => (0, 0),
    };
    if state.mode == Mode::Hot {
        for range in hot_ranges(state.hot, Space::Stack, u64::from(thread.number)) {
            // The distance is that of the first byte, the ones after it are nearer to the top.
            // SAFETY: the cells are mapped.
            unsafe { fill(thread.stack_top - range.offset as usize, range.len as usize, HOT) };
        }
    }
}

fn hot_ranges(hot: &'static [[u64; 4]], space: Space, number: u64) -> impl Iterator<Item = HotRange> {
    let key = [space as u64, number];
    let from = hot.partition_point(|range| range[..2] < key[..]);
    hot[from..].iter().take_while(move |range| range[..2] == key[..]).filter_map(|words| HotRange::from_words(*words))
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Whether an access whose cell is not the thread's own is to be logged; notes who touched what.
#[inline]
pub(crate) unsafe fn touch(thread: &mut Thread, address: usize, size: usize, access: Access) -> bool {
    // SAFETY: the caller has the token.
    let state = unsafe { STATE.get() };
    match state.mode {
        Mode::Full => true,
        Mode::Hot => {
            // SAFETY: the cells are mapped.
            let is_hot = unsafe { *cell_at(address) == HOT || *cell_at(address + size - 1) == HOT };
            if is_hot {
                note_stack(thread, address);
            }
            is_hot
        }
        Mode::Scout | Mode::Try => {
            // SAFETY: the cells are mapped; the caller has the token.
            unsafe {
                touch_cell(thread, address & !7, access);
                if (address & 7) + size > 8 {
                    touch_cell(thread, (address + size - 1) & !7, access);
                }
                state.mode == Mode::Try && !is_too_long(state)
            }
        }
    }
}

/// Whether the log of everything has become too long; then the run goes on as a scout.
#[inline]
unsafe fn is_too_long(state: &mut State) -> bool {
    // SAFETY: the caller has the token.
    unsafe {
        if log::produced() < state.full_limit {
            return false;
        }
        state.mode = Mode::Scout;
        scheduler::notice(Notice::NoLongerFull, [0; 3], b"");
        scheduler::for_each(|thread| meet(thread));
        true
    }
}

#[inline]
unsafe fn touch_cell(thread: &mut Thread, address: usize, access: Access) {
    let cell = cell_at(address);
    // SAFETY: the cells are mapped.
    let before = unsafe { *cell };
    let tag = u16::try_from(thread.number + 1).unwrap_or(STRANGER).min(STRANGER);
    let is_own = before & !WRITTEN == tag && tag != STRANGER;
    let after = match (before, access) {
        (HOT, _) | (SHARED, Access::Read) => return,
        (0, Access::Read) => tag,
        (0, Access::Write) => WRITTEN | tag,
        (_, Access::Read) if is_own => return,
        (_, Access::Write) if is_own => WRITTEN | tag,
        (_, Access::Read) if before & WRITTEN == 0 => SHARED,
        _ => HOT,
    };
    // SAFETY: the cells are mapped.
    unsafe { *cell = after };
    if after >= SHARED {
        // SAFETY: the caller has the token.
        unsafe { note_shared(thread, address, after == HOT) };
    }
}

/// Several threads touch this cell from now on.
#[cold]
unsafe fn note_shared(thread: &mut Thread, address: usize, is_hot: bool) {
    note_stack(thread, address);
    if !is_hot {
        return;
    }
    // SAFETY: the caller has the token.
    unsafe {
        let (space, number, offset) = place(thread, address);
        thread.settle();
        let record = RecordHeader { arg: space as u8, ..header(Kind::Hot, address, 0) };
        log::append(record, [number, offset as u64, 8]);
    }
}

/// A lock or its like is used. It is logged whoever uses it, so the block it is in must be known when only
/// what is hot is logged: it counts as hot.
pub(crate) unsafe fn meet_object(thread: &mut Thread, address: usize) {
    // SAFETY: the caller has the token; the cells are mapped.
    unsafe {
        let cell = cell_at(address);
        if matches!(STATE.get().mode, Mode::Scout | Mode::Try) && *cell != HOT {
            *cell = HOT;
            note_shared(thread, address & !7, true);
        }
    }
}

/// Where an address is, in terms that survive another run.
unsafe fn place(thread: &Thread, address: usize) -> (Space, u64, usize) {
    // SAFETY: the caller has the token.
    unsafe {
        if let Some((start, number)) =
            crate::heap::block_around(address).or_else(|| crate::libc_calls::memory::mapping_around(address))
        {
            return (Space::Heap, number, address.wrapping_sub(start));
        }
        if let Some(owner) = stack_owner(thread, address) {
            return (Space::Stack, u64::from((*owner).number), (*owner).stack_top - address);
        }
    }
    (Space::Static, 0, address)
}

/// Whose stack an address is on.
fn stack_owner(thread: &Thread, address: usize) -> Option<*const Thread> {
    if thread.has_on_stack(address) {
        return Some(thread);
    }
    // SAFETY: the caller has the token; threads are never freed.
    unsafe {
        let main = scheduler::thread(0)?;
        if (*main).has_on_stack(address) {
            return Some(main);
        }
        let own = (STACKS..STACKS + STACKS_LEN).contains(&address);
        if own { scheduler::find(|other| other.has_on_stack(address)).map(|other| other.cast_const()) } else { None }
    }
}

/// If a shared address is on a stack, its owner is to tell when that part of it is left.
fn note_stack(thread: &mut Thread, address: usize) {
    if (HEAP..STACKS).contains(&address) {
        return;
    }
    if let Some(owner) = stack_owner(thread, address) {
        // SAFETY: the caller has the token; threads are never freed, and nobody else looks at these.
        let owner = unsafe { &mut *owner.cast_mut() };
        if !owner.shared_places.contains(&address) {
            owner.shared_places.push(address);
            owner.shared_stack = owner.shared_stack.min(address);
        }
    }
}

/// The thread has left all functions whose frames were below `stack`.
#[cold]
#[inline(never)]
pub(crate) unsafe fn leave_stack(thread: &mut Thread, stack: usize) {
    // SAFETY: the caller has the token; the cells are mapped if any was ever shared.
    unsafe {
        let state = STATE.get();
        for &place in thread.shared_places.iter().filter(|place| **place < stack) {
            if state.mode != Mode::Hot {
                *cell_at(place) = 0;
            }
        }
        thread.shared_places.retain(|place| *place >= stack);
        thread.shared_stack = thread.shared_places.iter().copied().min().unwrap_or(usize::MAX);
        thread.settle();
        log::append(header(Kind::StackDrop, stack, 0), []);
    }
}

/// Memory that comes into being: nobody has touched it, or it is known to be hot. True if any of it is.
pub(crate) unsafe fn born(address: usize, len: usize, number: u64) -> bool {
    // SAFETY: the caller has the token.
    let state = unsafe { STATE.get() };
    // SAFETY: the cells are mapped.
    unsafe {
        match state.mode {
            Mode::Full => return true,
            Mode::Scout => reset(address, len),
            Mode::Try => {
                reset(address, len);
                return true;
            }
            Mode::Hot => {
                reset(address, len);
                let mut is_hot = false;
                for range in hot_ranges(state.hot, Space::Heap, number) {
                    // Cells are whole; the first may begin before the block.
                    fill(address.wrapping_add(range.offset as usize), range.len as usize, HOT);
                    is_hot = true;
                }
                return is_hot;
            }
        }
    }
    false
}

/// A block that is freed. Who still uses it is of interest, so it stays known who has touched it.
pub(crate) unsafe fn dead(address: usize, len: usize) {
    // SAFETY: the caller has the token; the cells are mapped.
    unsafe {
        if len >= LARGE && STATE.get().mode != Mode::Hot {
            reset(address, len);
        }
    }
}

/// Memory that ceases to be.
pub(crate) unsafe fn reset(address: usize, len: usize) {
    // SAFETY: the cells are mapped; the caller has the token.
    unsafe { fill(address, len, 0) };
}

/// From this length on, cells are given back to the system.
const LARGE: usize = 1 << 20;

/// Sets the cells of a range.
unsafe fn fill(address: usize, len: usize, value: u16) {
    const PAGE: usize = 4096;
    if len == 0 {
        return;
    }
    let (from, to) = (cell_at(address) as usize, cell_at(address + len - 1) as usize + 2);
    // SAFETY: the cells are mapped and guarded by the token.
    unsafe {
        if value == 0 && len >= LARGE {
            let (low, high) = (from.next_multiple_of(PAGE), to & !(PAGE - 1));
            sys::discard(low, high - low);
            fill_cells(high, to, 0);
            fill_cells(from, low, 0);
        } else {
            fill_cells(from, to, value);
        }
    }
}

unsafe fn fill_cells(from: usize, to: usize, value: u16) {
    // SAFETY: as the caller's.
    let cells = unsafe { std::slice::from_raw_parts_mut(from as *mut u16, (to - from) / 2) };
    cells.fill(value);
}

/// Whether accesses of the cell at this address are logged.
#[inline]
pub(crate) unsafe fn is_logged(address: usize) -> bool {
    // SAFETY: the caller has the token; the cells are mapped.
    unsafe {
        match STATE.get().mode {
            Mode::Full | Mode::Try => true,
            Mode::Scout => false,
            Mode::Hot => *cell_at(address) == HOT,
        }
    }
}

/// Whether the block with this number is logged when it is freed, as it was when it was allocated.
pub(crate) unsafe fn is_block_logged(number: u64) -> bool {
    // SAFETY: the caller has the token.
    let state = unsafe { STATE.get() };
    match state.mode {
        Mode::Full | Mode::Try => true,
        Mode::Scout => false,
        Mode::Hot => hot_ranges(state.hot, Space::Heap, number).next().is_some(),
    }
}

/// Whether all accesses of a range by this thread are of cells that are its own already.
#[inline]
pub(crate) unsafe fn is_own_range(thread: &Thread, address: usize, len: usize, access: Access) -> bool {
    let (from, to) = (cell_at(address), cell_at(address + len - 1));
    // SAFETY: the cells are mapped.
    unsafe {
        let count = to.offset_from(from) as usize + 1;
        let cells = std::slice::from_raw_parts(from, count);
        let (written, read) = (thread.cell_written, thread.cell_read);
        match access {
            Access::Read => cells.iter().all(|cell| *cell == written || *cell == read),
            Access::Write => cells.iter().all(|cell| *cell == written),
        }
    }
}
