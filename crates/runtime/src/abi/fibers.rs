//! Fibers: stacks that a program switches between by itself, and tells of.
//!
//! What a fiber does is done by the thread that runs it. That is who holds its locks, as far as those are the
//! system's, and who is ordered before and after others; where a fiber goes from one thread to another, whatever it
//! is handed over by is recorded as everything else is. But the functions it is in are its own: a switch leaves all of them, in
//! the log, and comes back into those of the other, so that no function region goes on across a switch. And what
//! lies on its stack is memory like any other, wherever the program has got it from.

use crate::call::Call;
use crate::log::{self, header};
use crate::thread::{Frame, Thread};
use interloper_wire::Kind;
use libc::{c_char, c_uint, c_void};

/// The functions that a fiber is in, while it does not run.
pub(crate) struct Fiber {
    frames: *mut Frame,
    depth: usize,
    frame_room: usize,
    /// What a thread knows of its own stack, if this is a thread's first fiber.
    shared_stack: usize,
    shared_places: Vec<usize>,
}

/// What stands for fibers of threads that are not recorded.
const NONE: *mut Fiber = std::ptr::without_provenance_mut(1);

const FRAMES: usize = 64;

impl Fiber {
    fn new() -> *mut Fiber {
        let frames = Vec::with_capacity(FRAMES).leak().as_mut_ptr();
        let fiber = Fiber { frames, depth: 0, frame_room: FRAMES, shared_stack: usize::MAX, shared_places: Vec::new() };
        Box::into_raw(Box::new(fiber))
    }

    /// Exchanges what the thread is in with what is here.
    fn exchange(&mut self, thread: &mut Thread) {
        std::mem::swap(&mut self.frames, &mut thread.frames);
        std::mem::swap(&mut self.depth, &mut thread.depth);
        std::mem::swap(&mut self.frame_room, &mut thread.frame_room);
        std::mem::swap(&mut self.shared_stack, &mut thread.shared_stack);
        std::mem::swap(&mut self.shared_places, &mut thread.shared_places);
    }
}

/// The fiber that a thread runs: its own, unless it has switched.
fn running(thread: &mut Thread) -> *mut Fiber {
    if thread.fiber.is_null() {
        thread.fiber = Fiber::new();
    }
    thread.fiber
}

/// The fiber that runs.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_get_current_fiber() -> *mut c_void {
    Call::enter_quietly().map_or(NONE, |mut call| running(&mut call)).cast()
}

/// A fiber that is not in any function yet.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_create_fiber(_flags: c_uint) -> *mut c_void {
    Call::enter_quietly().map_or(NONE, |_call| Fiber::new()).cast()
}

/// A fiber that does not run is not needed any more.
/// # Safety
/// The program must not use it again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_destroy_fiber(fiber: *mut c_void) {
    let fiber: *mut Fiber = fiber.cast();
    if fiber.is_null() || fiber == NONE || Call::enter_quietly().is_none_or(|call| call.fiber == fiber) {
        return;
    }
    // SAFETY: it was made by `Fiber::new`, and the program is done with it. So are the frames, which no thread has.
    unsafe {
        let fiber = Box::from_raw(fiber);
        drop(Vec::from_raw_parts(fiber.frames, 0, fiber.frame_room));
    }
}

/// The thread is about to go on with another fiber.
/// # Safety
/// It must be one that was made, was not destroyed, and does not run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_switch_to_fiber(fiber: *mut c_void, _flags: c_uint) {
    let fiber: *mut Fiber = fiber.cast();
    if fiber.is_null() || fiber == NONE {
        return;
    }
    let Some(mut call) = Call::enter_quietly() else { return };
    let old = running(&mut call);
    if old == fiber {
        return;
    }
    // SAFETY: a `Call` is proof of the token; the program's word that the fiber is one.
    unsafe {
        call.settle();
        while call.logged_depth > 0 {
            log::append(header(Kind::Exit, 0, 0), []);
            call.logged_depth -= 1;
        }
        // What the old one is in is kept with it, where nothing was.
        (*old).exchange(&mut call);
        (*fiber).exchange(&mut call);
        call.fiber = fiber;
    }
}

/// Fibers have no names here: what they do, their threads do.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_set_fiber_name(_fiber: *mut c_void, _name: *const c_char) {}
