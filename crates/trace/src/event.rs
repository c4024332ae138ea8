//! What threads do: the event model.
//!
//! One [`Event`] is one step of one thread. The model holds what every front end records and every
//! analysis reads; a front end that knows less (RAPID's text has no values) leaves fields unknown.
//!
//! Accesses wider than eight bytes carry no value of their own. Where the values matter they are
//! recorded as a run of pieces of at most eight bytes, each but the last marked
//! [`more`](Access::more): no other thread comes between such pieces.

use crate::ids::{BarrierId, ConditionId, ExprId, LocationId, LockId, OnceId, SemaphoreId, SiteId, StringId, ThreadId};

/// One step of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who did it.
    pub thread: ThreadId,
    /// The statement that did it.
    pub site: SiteId,
    /// What was done.
    pub op: Op,
}

// Batches of events are the traffic between reader and analysis; they should stay within the
// second-level cache.
const _: () = assert!(size_of::<Event>() <= 40);

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A load, plain or atomic.
    Read(Access),
    /// A store, plain or atomic.
    Write(Access),
    /// An atomic read-modify-write: a read and a write in one step, or a read when it failed.
    ReadModifyWrite(ReadModifyWrite),
    /// A memory fence.
    Fence(MemoryOrder),

    /// A thread asks for a lock; it has it only with the `Acquire` that follows.
    Request(LockId),
    /// A lock is taken. Taking one's own lock again is re-entrant.
    Acquire {
        /// Which lock.
        lock: LockId,
        /// Alone, or together with other readers.
        mode: LockMode,
        /// By a call that waits, or by a try-lock that succeeded.
        by: Attempt,
    },
    /// A try-lock (or timed lock) that did not get the lock.
    TryAcquireFailed {
        /// Which lock.
        lock: LockId,
        /// How it was asked for.
        mode: LockMode,
    },
    /// A lock is given back, or left by one level of re-entrancy.
    Release {
        /// Which lock.
        lock: LockId,
        /// As it was taken.
        mode: LockMode,
    },

    /// The thread begins to wait: it gives up `lock`, however deeply it holds it, and blocks.
    WaitBegin {
        /// On what it waits.
        condition: ConditionId,
        /// The lock given up meanwhile.
        lock: LockId,
    },
    /// The thread has woken up and holds `lock` again, as deeply as before.
    WaitEnd {
        /// On what it waited.
        condition: ConditionId,
        /// The lock it has back.
        lock: LockId,
        /// Why it woke up.
        wake: Wake,
    },
    /// One waiter is woken, if there is one.
    Signal(ConditionId),
    /// All waiters are woken.
    Broadcast(ConditionId),

    /// A semaphore is decremented; the thread may have waited for that.
    SemaphoreWait(SemaphoreId),
    /// A semaphore is incremented.
    SemaphorePost(SemaphoreId),
    /// The thread arrives at a barrier.
    BarrierArrive(BarrierId),
    /// The thread goes on after a barrier.
    BarrierLeave(BarrierId),
    /// The thread begins to run a once-initialiser.
    OnceBegin(OnceId),
    /// The thread has finished running a once-initialiser.
    OnceEnd(OnceId),
    /// The thread finds a once-initialiser done.
    OncePass(OnceId),

    /// Another thread is created; its events come after this one.
    Fork(ThreadId),
    /// Another thread has ended; its events come before this one.
    Join(ThreadId),
    /// The thread's first event, where the front end records one.
    Start,
    /// The thread's last event, where the front end records one.
    Finish,

    /// An object comes into being.
    Allocate {
        /// The object's name, by which locations refer to it.
        object: StringId,
        /// Its size in bytes.
        size: u64,
    },
    /// An object ceases to be.
    Free {
        /// The object's name.
        object: StringId,
    },

    /// The thread passed this many conditional branches since its previous event.
    Branch {
        /// How many.
        count: u32,
    },
    /// A function is entered.
    Enter {
        /// Its name.
        function: StringId,
    },
    /// The innermost function is left.
    Exit,

    /// A region meant to be atomic begins.
    RegionBegin(Region),
    /// It ends. Regions of one source nest; those of different sources may overlap.
    RegionEnd(Region),

    /// The program reads something from outside.
    Input {
        /// What: `stdin`, `argv`, `time`, ….
        channel: StringId,
        /// How many bytes.
        size: u32,
        /// The value, if it fits.
        value: Value,
    },
    /// An expression is defined.
    Define {
        /// Its id, not defined before.
        id: ExprId,
        /// What it is made of.
        expr: Expr,
    },
    /// The value of this thread's previous access or input is this expression.
    Bind {
        /// The expression. For a value read it is a fresh variable, introduced here.
        expr: ExprId,
        /// Which value of the access.
        of: BoundValue,
    },
    /// The path taken depends on this expression having the truth it had.
    Assume {
        /// A one-bit expression.
        expr: ExprId,
        /// Its observed truth.
        holds: bool,
    },

    /// An event of the source format that has no meaning here; it keeps positions aligned.
    Mark {
        /// The source format's code for it.
        code: u32,
    },
}

/// A load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What is accessed.
    pub location: LocationId,
    /// How many bytes; zero if unknown.
    pub size: u32,
    /// Plain, or atomic with an order.
    pub order: MemoryOrder,
    /// The thread's next event belongs to the same indivisible access.
    pub more: bool,
    /// The value read or written. Known only for sizes up to eight bytes.
    pub value: Value,
}

impl Access {
    /// A plain access of which nothing but the location is known.
    #[inline]
    pub const fn bare(location: LocationId) -> Self {
        Access { location, size: 0, order: MemoryOrder::Plain, more: false, value: Value::UNKNOWN }
    }
}

/// A value of up to eight bytes, zero-extended, or unknown.
///
/// An `Option<u64>` in nine bytes instead of sixteen: it is what keeps [`Event`] small.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value {
    known: bool,
    /// All zero if unknown, so that derived equality is right.
    bytes: [u8; 8],
}

impl Value {
    /// The value that was not recorded.
    pub const UNKNOWN: Value = Value { known: false, bytes: [0; 8] };

    /// A value that was.
    #[inline]
    pub const fn known(bits: u64) -> Self {
        Value { known: true, bytes: bits.to_le_bytes() }
    }

    /// Its bits, if known.
    #[inline]
    pub const fn get(self) -> Option<u64> {
        if self.known { Some(u64::from_le_bytes(self.bytes)) } else { None }
    }
}

impl From<Option<u64>> for Value {
    fn from(bits: Option<u64>) -> Self {
        bits.map_or(Value::UNKNOWN, Value::known)
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

/// An atomic read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadModifyWrite {
    /// What is accessed.
    pub location: LocationId,
    /// How many bytes, at most eight; zero if unknown.
    pub size: u8,
    /// The order of the operation.
    pub order: MemoryOrder,
    /// Whether it wrote: false for a compare-and-swap that failed, which is a read.
    pub success: bool,
    /// The thread's next event belongs to the same indivisible access.
    pub more: bool,
    /// The value found.
    pub read: Value,
    /// The value left behind, if it wrote one.
    pub written: Value,
}

/// The order of a memory operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MemoryOrder {
    /// Not atomic.
    Plain = 0,
    /// Atomic, without order.
    Relaxed = 1,
    /// `memory_order_consume`.
    Consume = 2,
    /// `memory_order_acquire`.
    Acquire = 3,
    /// `memory_order_release`.
    Release = 4,
    /// `memory_order_acq_rel`.
    AcquireRelease = 5,
    /// `memory_order_seq_cst`.
    SequentiallyConsistent = 6,
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum LockMode {
    /// Alone.
    Exclusive = 0,
    /// Together with other readers.
    Shared = 1,
}

/// By what kind of call a lock was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Attempt {
    /// One that waits until it has the lock.
    Blocking = 0,
    /// A try-lock, which could have failed instead.
    Try = 1,
}

/// Why a wait on a condition variable ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Wake {
    /// By a signal or broadcast, or unknown.
    Notified = 0,
    /// Its time was up.
    TimedOut = 1,
    /// For no reason.
    Spurious = 2,
}

/// A region that is meant to be atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Its name, if it has one.
    pub name: Option<StringId>,
    /// Who says that it is meant to be atomic.
    pub source: RegionSource,
}

/// Who says that a region is meant to be atomic, in order of authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RegionSource {
    /// The author: annotated in the source, or listed in a file.
    Annotated = 0,
    /// A critical section.
    Locks = 1,
    /// One activation of a function.
    Functions = 2,
    /// Inferred from code layout.
    Inferred = 3,
}

impl RegionSource {
    /// All of them, in order of authority.
    pub const ALL: [RegionSource; 4] =
        [RegionSource::Annotated, RegionSource::Locks, RegionSource::Functions, RegionSource::Inferred];

    /// The word for it on the command line, in results and in traces.
    pub const fn name(self) -> &'static str {
        match self {
            RegionSource::Annotated => "annotated",
            RegionSource::Locks => "locks",
            RegionSource::Functions => "functions",
            RegionSource::Inferred => "inferred",
        }
    }

    /// The source with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }
}

/// Which value of an access a [`Op::Bind`] speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BoundValue {
    /// The value read, or given as input.
    Read = 0,
    /// The value written.
    Written = 1,
}

/// A node of a symbolic expression over bit-vectors of 1 to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A constant.
    Constant {
        /// Its width in bits.
        width: u8,
        /// Its bits, zero-extended.
        bits: u64,
    },
    /// An operation; operators of fewer operands repeat the last one.
    Apply {
        /// What is done.
        operator: Operator,
        /// The width of the result in bits.
        width: u8,
        /// The operands.
        operands: [ExprId; 3],
    },
}

macro_rules! operators {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal, $arity:literal;)*) => {
        /// An operator of bit-vector expressions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Operator { $($(#[$doc])* $variant = $code,)* }

        impl Operator {
            /// All of them.
            pub const ALL: &'static [Operator] = &[$(Operator::$variant),*];

            /// Its name in text.
            pub const fn name(self) -> &'static str {
                match self { $(Operator::$variant => $name),* }
            }

            /// How many operands it takes.
            pub const fn arity(self) -> usize {
                match self { $(Operator::$variant => $arity),* }
            }
        }
    };
}

operators! {
    /// Sum, wrapping.
    Add = 0, "add", 2;
    /// Difference, wrapping.
    Sub = 1, "sub", 2;
    /// Product, wrapping.
    Mul = 2, "mul", 2;
    /// Quotient of unsigned numbers.
    UDiv = 3, "udiv", 2;
    /// Quotient of signed numbers.
    SDiv = 4, "sdiv", 2;
    /// Remainder of unsigned numbers.
    URem = 5, "urem", 2;
    /// Remainder of signed numbers.
    SRem = 6, "srem", 2;
    /// Shift left.
    Shl = 7, "shl", 2;
    /// Shift right, filling with zeros.
    LShr = 8, "lshr", 2;
    /// Shift right, filling with the sign.
    AShr = 9, "ashr", 2;
    /// Bitwise and.
    And = 10, "and", 2;
    /// Bitwise or.
    Or = 11, "or", 2;
    /// Bitwise exclusive or.
    Xor = 12, "xor", 2;
    /// Bitwise complement.
    Not = 13, "not", 1;
    /// Two's complement.
    Neg = 14, "neg", 1;
    /// Equal.
    Eq = 15, "eq", 2;
    /// Not equal.
    Ne = 16, "ne", 2;
    /// Less, unsigned.
    ULt = 17, "ult", 2;
    /// Less or equal, unsigned.
    ULe = 18, "ule", 2;
    /// Less, signed.
    SLt = 19, "slt", 2;
    /// Less or equal, signed.
    SLe = 20, "sle", 2;
    /// As many bits as the result has, from the bit the second operand (a constant) says.
    Extract = 21, "extract", 2;
    /// The first operand's bits above the second's.
    Concat = 22, "concat", 2;
    /// Widen with zeros.
    ZExt = 23, "zext", 1;
    /// Widen with the sign.
    SExt = 24, "sext", 1;
    /// The second operand if the first (one bit) is set, else the third.
    Ite = 25, "ite", 3;
}
