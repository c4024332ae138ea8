//! What the runtime knows of a thread.

use crate::log::{self, header};
use crate::places::Place;
use interloper_wire::Kind;
use std::arch::asm;
use std::cell::UnsafeCell;
use std::marker::PhantomPinned;
use std::sync::atomic::AtomicU32;

/// A function the thread is in.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Frame {
    /// The stack pointer when it said so. Frames that were left without a word are recognised by it.
    pub(crate) stack: usize,
    /// A place in it.
    pub(crate) function: usize,
    /// Where it was called from.
    pub(crate) caller: usize,
}

/// Why a thread does not run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// It could.
    Ready,
    /// It waits for this.
    Blocked(Waiting),
    /// It is in a system call, or where the runtime cannot see it.
    Outside,
    /// It has ended.
    Dead,
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiting {
    pub(crate) what: What,
    /// The object's address; for a join the other thread's number.
    pub(crate) object: usize,
}

macro_rules! what {
    ($($variant:ident $name:literal,)*) => {
        /// The kind of object that a thread waits for.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub(crate) enum What { $($variant,)* }

        impl What {
            pub(crate) const fn name(self) -> &'static str {
                match self { $(What::$variant => $name,)* }
            }
        }
    };
}

what! {
    Mutex "mutex",
    RwLock "read-write lock",
    Spin "spin lock",
    Condition "condition",
    Semaphore "semaphore",
    Barrier "barrier",
    Once "once",
    Futex "futex",
    Join "thread",
    Time "time",
    Stream "lock of the stream",
}

/// Why a thread that waited goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Woken {
    /// Another thread saw to it.
    Notified,
    /// Its time has come.
    TimedOut,
    /// A signal handler is to run, or it is to be cancelled.
    Interrupted,
}

/// A write that was announced. Its value is known once it has been done, so it is logged later:
/// before anything else is, by this or another thread.
#[derive(Clone, Copy)]
pub(crate) struct Pending {
    pub(crate) address: usize,
    /// How many bytes; 0 if there is none.
    pub(crate) len: usize,
    pub(crate) pc: usize,
}

impl Pending {
    pub(crate) const NONE: Pending = Pending { address: 0, len: 0, pc: 0 };
}

/// A thread of the program.
///
/// Only its own thread uses it while that has the token; the scheduler's fields only under the
/// scheduler's lock.
#[repr(C)]
pub(crate) struct Thread {
    // What the callbacks of accesses use comes first, on one cache line.
    /// Steps left of this turn. Counted down by one instruction, so that a signal handler of this
    /// thread may change it.
    pub(crate) budget: i64,
    /// Shadow cells with one of these contents need no attention.
    pub(crate) cell_written: u16,
    pub(crate) cell_read: u16,
    /// Above 0 while the thread is in the runtime: what it calls then is not the program's doing.
    pub(crate) inside: u32,
    pub(crate) pending: Pending,
    /// Conditional branches since the last record.
    pub(crate) branches: u32,
    pub(crate) number: u32,
    pub(crate) frames: *mut Frame,
    pub(crate) depth: usize,
    pub(crate) frame_room: usize,
    /// How many of the frames are in the log.
    pub(crate) logged_depth: usize,
    /// The lowest address of its stack that another thread touched too, if any.
    pub(crate) shared_stack: usize,

    /// What `budget` was at the beginning of the turn.
    pub(crate) turn: i64,
    /// What a signal took from both, so that the thread attends to it at its next step.
    pub(crate) withheld: i64,
    /// The watchdog has given the token to another.
    pub(crate) lost_token: bool,
    /// It only goes on until it would do something that is logged.
    pub(crate) is_helping: bool,
    /// It was stopped before a step, and not in the middle of one.
    pub(crate) is_before_step: bool,
    /// It is back from a system call, and waits for the token.
    pub(crate) is_back: bool,
    pub(crate) stack_top: usize,
    pub(crate) stack_end: usize,
    /// All shared places of its stack, the lowest last.
    pub(crate) shared_places: Vec<usize>,
    pub(crate) children: u32,
    /// Where its stack and its blocks are.
    pub(crate) place: Place,
    /// What it runs, if the program has told of fibers; null if it has not yet.
    pub(crate) fiber: *mut crate::abi::fibers::Fiber,
    /// How many blocks it has allocated.
    pub(crate) blocks: u64,
    /// Where it last read atomically, how often in a row.
    pub(crate) spin: (usize, u32),

    // The scheduler's.
    pub(crate) state: State,
    pub(crate) woken: Woken,
    /// Until when it waits, in virtual time.
    pub(crate) deadline: Option<u64>,
    /// 1 when it may run.
    pub(crate) go: AtomicU32,
    pub(crate) priority: u64,
    pub(crate) kernel_id: i32,

    // The rest is about its life.
    pub(crate) pthread: libc::pthread_t,
    pub(crate) start: Option<StartRoutine>,
    pub(crate) argument: *mut libc::c_void,
    pub(crate) is_detached: bool,
    pub(crate) is_joined: bool,
    pub(crate) destructor_rounds: u32,
    /// Signals that came while they could not be handled, as bits.
    pub(crate) signals: crate::signals::Arrived,
    pub(crate) is_cancelled: bool,
    /// Others reach a thread through the scheduler's pointers while its own code has a `&mut` to it: while it waits,
    /// and when it hands the token to itself. A type that is not `Unpin` is not assumed to be unaliased.
    pub(crate) _shared: PhantomPinned,
}

/// What `pthread_create` is given.
pub(crate) type StartRoutine = unsafe extern "C-unwind" fn(*mut libc::c_void) -> *mut libc::c_void;

impl Thread {
    /// Steps taken in this turn.
    pub(crate) fn steps(&self) -> u64 {
        (self.turn - self.budget).max(0) as u64
    }

    /// Logs the last write. To be done before that memory can change again other than by an access
    /// of this thread that is announced, and before another thread runs.
    #[inline(always)]
    pub(crate) unsafe fn settle(&mut self) {
        if self.pending.len != 0 {
            let Pending { address, len, pc } = std::mem::replace(&mut self.pending, Pending::NONE);
            // SAFETY: the write has been done, so the memory is there; the caller has the token.
            unsafe { crate::ranges::log::<true>(Kind::Write, address, len, pc, 0) };
        }
    }

    /// Logs what comes before a record of this thread: the last write, the functions it has come
    /// into, the branches it has passed.
    #[inline(always)]
    pub(crate) unsafe fn prepare(&mut self) {
        // SAFETY: the caller has the token.
        unsafe {
            self.settle();
            if self.logged_depth != self.depth || self.branches != 0 {
                self.catch_up();
            }
        }
    }

    #[inline(never)]
    unsafe fn catch_up(&mut self) {
        while self.logged_depth < self.depth {
            // SAFETY: there are `depth` frames.
            let frame = unsafe { *self.frames.add(self.logged_depth) };
            // SAFETY: the caller has the token.
            unsafe { log::append(header(Kind::Enter, frame.caller, frame.function), []) };
            self.logged_depth += 1;
        }
        if self.branches != 0 {
            // SAFETY: the caller has the token.
            unsafe { log::append(header(Kind::Branch, self.branches as usize, 0), []) };
            self.branches = 0;
        }
    }

    /// Logs what the thread does.
    #[inline]
    pub(crate) unsafe fn log<const WORDS: usize>(
        &mut self,
        kind: Kind,
        address: usize,
        pc: usize,
        words: [u64; WORDS],
    ) {
        // SAFETY: the caller has the token.
        unsafe {
            self.prepare();
            log::append(header(kind, address, pc), words);
        }
    }

    /// Whether an address is on this thread's stack.
    #[inline]
    pub(crate) fn has_on_stack(&self, address: usize) -> bool {
        (self.stack_end..self.stack_top).contains(&address)
    }
}

/// The value of up to eight bytes.
///
/// By instructions of our own: the address is the program's, and may be one that it is about to fault on, which is
/// then its fault and not undefined behaviour of ours.
///
/// # Safety
/// They must be readable, or the program is about to read them itself.
#[inline(always)]
pub(crate) unsafe fn load(address: usize, size: usize) -> u64 {
    let value: u64;
    // SAFETY: as the caller says. Other threads do not run meanwhile, or the program has a race with the
    // system, in which case any value will do.
    unsafe {
        match size {
            1 => asm!("movzx {0:e}, byte ptr [{1}]", out(reg) value, in(reg) address, options(readonly, nostack)),
            2 => asm!("movzx {0:e}, word ptr [{1}]", out(reg) value, in(reg) address, options(readonly, nostack)),
            4 => asm!("mov {0:e}, dword ptr [{1}]", out(reg) value, in(reg) address, options(readonly, nostack)),
            8 => asm!("mov {0}, qword ptr [{1}]", out(reg) value, in(reg) address, options(readonly, nostack)),
            _ => {
                return (0..size.min(8)).fold(0, |value, at| value | (load(address + at, 1) << (8 * at)));
            }
        }
    }
    value
}

/// A value that is the scheduler's: it is reached with the token or the lock.
pub(crate) struct Guarded<T>(UnsafeCell<T>);

// SAFETY: every access says why it is alone.
unsafe impl<T> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(crate) const fn new(value: T) -> Self {
        Guarded(UnsafeCell::new(value))
    }

    /// # Safety
    /// Nobody else may use it meanwhile.
    #[allow(clippy::mut_from_ref)] // That is what it is for; see the safety section.
    #[inline(always)]
    pub(crate) unsafe fn get(&self) -> &mut T {
        // SAFETY: as the caller says.
        unsafe { &mut *self.0.get() }
    }
}
