//! The records in the ring: what the program did, in the order it did it.
//!
//! A record is two words, what its kind adds, and for some kinds text:
//!
//! ```text
//! word 0   kind: 8 bits │ arg: 8 bits │ address: 48 bits
//! word 1   pc: 48 bits │ aux: 16 bits
//! words    as many as Kind::words says
//! text     aux bytes, filled up to a multiple of eight, for the kinds that have text
//! ```
//!
//! [`Kind::Skip`] is a single word. Everything between two [`Kind::Switch`]es is one thread's.

use crate::settings::coded;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $words:literal $(, $text:ident)?;)*) => {
        coded! {
            /// What a record says.
            Kind { $($(#[$doc])* $variant = $code,)* }
        }

        impl Kind {
            /// How many words follow the first two.
            #[inline]
            pub const fn words(self) -> usize {
                match self { $(Kind::$variant => $words,)* }
            }

            /// Whether `aux` bytes of text follow those.
            #[inline]
            pub const fn has_text(self) -> bool {
                match self { $(Kind::$variant => false $(|| stringify!($text).len() == 4)?,)* }
            }
        }
    };
}

kinds! {
    /// Nothing, up to the end of the ring: a single word, whose `address` is its length in bytes.
    Skip = 0, 0;
    /// Another thread runs now: `address` is its number; `aux` says how the turn before ended
    /// ([`SegmentEnd`](crate::SegmentEnd)) and `words[0]` how many steps that had.
    Switch = 1, 1;

    /// A load of `arg` bytes at `address`, with the value (zero-extended); `aux` holds [`AccessFlags`].
    Read = 2, 1;
    /// A store likewise.
    Write = 3, 1;
    /// An atomic load: `aux` is the order (as `MemoryOrder` of the event model), and [`AccessFlags`]
    /// shifted left by eight.
    AtomicRead = 4, 1;
    /// An atomic store likewise.
    AtomicWrite = 5, 1;
    /// An atomic read-modify-write likewise: `words` are the value found and the value left behind.
    /// With [`AccessFlags::FAILED`] it is a compare-and-swap that did not write.
    ReadModifyWrite = 6, 2;
    /// A fence; `aux` is its order.
    Fence = 7, 0;

    /// A thread asks for the lock at `address`. `arg` of this and the next three: [`LockArg`].
    Request = 8, 0;
    /// It has the lock, or one level more of it.
    Acquire = 9, 0;
    /// It tried and does not have it.
    TryFailed = 10, 0;
    /// It gives it back, or one level of it.
    Release = 11, 0;
    /// It waits on the condition at `address`, and gives up the lock at `words[0]`.
    WaitBegin = 12, 1;
    /// It has waited, and has the lock at `words[0]` again. `arg`: [`WaitArg`].
    WaitEnd = 13, 1;
    /// One who waits on the condition at `address` is woken.
    Signal = 14, 0;
    /// All are.
    Broadcast = 15, 0;
    /// The semaphore at `address` is decremented.
    SemaphoreWait = 16, 0;
    /// It is incremented.
    SemaphorePost = 17, 0;
    /// The thread arrives at the barrier at `address`.
    BarrierArrive = 18, 0;
    /// It goes on after it.
    BarrierLeave = 19, 0;
    /// It begins to run the once-initialiser of the flag at `address`.
    OnceBegin = 20, 0;
    /// It has run it.
    OnceEnd = 21, 0;
    /// It finds it done.
    OncePass = 22, 0;

    /// Thread number `address` is created.
    Fork = 23, 0;
    /// Thread number `address` has ended.
    Join = 24, 0;
    /// The first of a thread.
    Start = 25, 0;
    /// The last of a thread.
    Finish = 26, 0;
    /// About thread number `address`, before its [`Fork`](Kind::Fork): the number of its parent, how
    /// many children that had before, and where the stack begins (its highest address) and ends.
    Thread = 27, 4;
    /// The program calls thread number `address` so.
    ThreadName = 28, 0, text;

    /// A block at `address` comes into being, by a call at `pc`: its size, its number in order of
    /// allocation, and where the function that called was called from, and that one in turn (0 if not known).
    Allocate = 29, 4;
    /// It ceases to be: its number.
    Free = 30, 1;
    /// Whatever lay on the running thread's stack below `address` is gone; what comes to lie there is new.
    StackDrop = 31, 0;

    /// The thread passed `address` conditional branches since its record before.
    Branch = 32, 0;
    /// It is in the function around `pc`, called from just before `address`. Functions in which
    /// nothing is logged are not recorded.
    Enter = 33, 0;
    /// It has left the innermost function it entered.
    Exit = 34, 0;
    /// A region meant to be atomic begins; `address` is the key of its name ([`Kind::Text`]) or 0,
    /// `arg` its source as `RegionSource` of the event model.
    RegionBegin = 35, 0;
    /// It ends.
    RegionEnd = 36, 0;
    /// The thread does something during which nobody expects to be alone. `arg`: [`Stop`].
    Stop = 37, 0;
    /// The program reads from outside: `address` is the key of the channel's name, `words` the number
    /// of bytes and the first eight of them.
    Input = 38, 2;

    /// What the key `address` stands for.
    Text = 39, 0, text;
    /// A module is loaded: `address` is what to subtract from addresses to get those in the file,
    /// `words` where it begins and ends in memory; the text is its path.
    Module = 40, 2, text;
    /// Two threads touch these bytes, and one writes: `arg` is the [`Space`](crate::Space), `words`
    /// are number, offset and length of a [`HotRange`](crate::HotRange).
    Hot = 41, 3;
    /// The virtual clock moved on by `words[0]` nanoseconds while every thread was outside.
    Advance = 42, 1;
    /// Something to tell the user. `arg`: [`Notice`]; `words` and text as that says.
    Notice = 43, 3, text;
    /// The program ends: the last turn had `words[0]` steps, and `aux` says how it ended
    /// ([`SegmentEnd`](crate::SegmentEnd)).
    End = 44, 1;
    /// The program says that all that the thread has done comes before what it says to come after at `address`:
    /// `words[0]` is how often the thread has said so there.
    HappensBefore = 45, 1;
    /// It says that all that comes now comes after what thread `words[0]` had done when it said so for the `words[1]`th
    /// time.
    HappensAfter = 46, 2;
}

impl Kind {
    /// Whether a direction may wait for it: something that a thread does, and that is logged in every run that
    /// does the same and logs the same locations.
    ///
    /// Not a request, which is only logged where the lock is not to be had at once; nor that an initialiser is found done,
    /// which the guards of C++ only ask about where another thread is at it; nor what is read from outside, which a thread
    /// may do ahead of its turn.
    pub const fn is_deed(self) -> bool {
        matches!(
            self,
            Kind::Read
                | Kind::Write
                | Kind::AtomicRead
                | Kind::AtomicWrite
                | Kind::ReadModifyWrite
                | Kind::Fence
                | Kind::Acquire
                | Kind::TryFailed
                | Kind::Release
                | Kind::WaitBegin
                | Kind::WaitEnd
                | Kind::Signal
                | Kind::Broadcast
                | Kind::SemaphoreWait
                | Kind::SemaphorePost
                | Kind::BarrierArrive
                | Kind::BarrierLeave
                | Kind::OnceBegin
                | Kind::OnceEnd
                | Kind::Fork
                | Kind::Join
                | Kind::Start
                | Kind::Finish
                | Kind::Allocate
                | Kind::Free
        )
    }
}

/// Properties of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessFlags(pub u8);

impl AccessFlags {
    /// The next record is a part of the same indivisible access.
    pub const MORE: u8 = 1;
    /// One of several accesses by which a range is read or written (a `memcpy`, say).
    pub const RANGE: u8 = 2;
    /// Done by the operating system on the thread's behalf.
    pub const SYSTEM: u8 = 4;
    /// A compare-and-swap that did not write.
    pub const FAILED: u8 = 8;

    /// Whether it has this property.
    #[inline]
    pub const fn has(self, property: u8) -> bool {
        self.0 & property != 0
    }
}

/// How a lock is asked for: `arg` of the records about locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockArg(pub u8);

impl LockArg {
    /// Together with other readers.
    pub const SHARED: u8 = 1;
    /// By a call that may fail.
    pub const TRY: u8 = 2;

    /// Whether it has this property.
    #[inline]
    pub const fn has(self, property: u8) -> bool {
        self.0 & property != 0
    }
}

coded! {
    /// Why a wait on a condition ended.
    WaitArg {
        /// By a signal or broadcast.
        Notified = 0,
        /// Its time was up.
        TimedOut = 1,
        /// For another reason, such as a signal handler that ran.
        Spurious = 2,
    }
}

coded! {
    /// Where a region that was not asked for by name ends, and the next begins.
    Stop {
        /// A wait: condition, semaphore, barrier, futex.
        Wait = 0,
        /// A sleep.
        Sleep = 1,
        /// A yield.
        Yield = 2,
        /// A join.
        Join = 3,
        /// A system call that may block.
        Call = 4,
    }
}

coded! {
    /// Something to tell the user.
    Notice {
        /// No thread can ever go on. One [`Waits`](Notice::Waits) for each thread follows.
        Deadlock = 0,
        /// Thread `words[0]` waits for what is at `words[1]`, which thread `words[2] - 1` has, if
        /// that is not 0; the text says what it is.
        Waits = 1,
        /// The run left the plan at entry `words[0]`, after `words[1]` steps of it, in thread
        /// `words[2]`; the text says how. Likewise for directions.
        Diverged = 2,
        /// Thread `words[0]` is stuck where the runtime cannot see it; others went on beside it, so the order
        /// of events is not known from here on.
        Uncontrolled = 3,
        /// The log became too long; from here on it lacks plain accesses.
        NoLongerFull = 4,
        /// Signal `words[0]` was delivered to thread `words[1]`.
        Signal = 5,
        /// The program forked process `words[0]`, which is not recorded.
        Forked = 6,
        /// The program is replaced by another, which is not recorded.
        Exec = 7,
        /// The memory that tells shared locations apart is not to be had.
        NoShadow = 8,
        /// The system did not give memory for what is to be recorded.
        OutOfMemory = 9,
        /// The program did something that cannot be controlled; the text says what.
        Unsupported = 10,
        /// The program used something that may differ from run to run; the text says what.
        Nondeterministic = 11,
        /// All directions have been followed; from here on nothing is.
        Directed = 12,
    }
}

/// The first two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// What the record says.
    pub kind: Kind,
    /// A small operand.
    pub arg: u8,
    /// What it is about, of which 48 bits are kept.
    pub address: u64,
    /// The instruction, or rather that after its call; 48 bits are kept.
    pub pc: u64,
    /// Another operand.
    pub aux: u16,
}

const LOW_48: u64 = (1 << 48) - 1;

impl RecordHeader {
    /// As they are in the ring.
    #[inline]
    pub const fn to_words(self) -> [u64; 2] {
        [self.kind as u64 | (self.arg as u64) << 8 | self.address << 16, (self.pc & LOW_48) | (self.aux as u64) << 48]
    }

    /// The header that is written like this; `None` if its kind is unknown.
    #[inline]
    pub fn from_words(first: u64, second: u64) -> Option<Self> {
        Some(RecordHeader {
            kind: Kind::from_code(first as u8)?,
            arg: (first >> 8) as u8,
            address: first >> 16,
            pc: second & LOW_48,
            aux: (second >> 48) as u16,
        })
    }

    /// The length of the whole record in bytes. Not for [`Kind::Skip`].
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "no record is")]
    pub const fn len(self) -> usize {
        let text = if self.kind.has_text() { (self.aux as usize).next_multiple_of(8) } else { 0 };
        16 + self.kind.words() * 8 + text
    }
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The first two words.
    pub header: RecordHeader,
    /// Those after; 0 where the kind has fewer.
    pub words: [u64; 4],
    /// The text, of the kinds that have one.
    pub text: &'a [u8],
}

/// The records in a stretch of the ring, which it begins with; skips are skipped.
///
/// Ends with the stretch, at a record that is not whole, or at one of an unknown kind, which a
/// runtime of this version does not write.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    /// The records in these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Records { bytes, at: 0 }
    }

    /// How many bytes the records handed out so far, and skips, have taken.
    pub fn consumed(&self) -> usize {
        self.at
    }

    fn word(&self, at: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*bytes))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            let first = self.word(self.at)?;
            if first as u8 == Kind::Skip as u8 {
                let len = usize::try_from(first >> 16).ok().filter(|len| *len >= 8)?;
                self.at = self.at.checked_add(len).filter(|end| *end <= self.bytes.len())?;
                continue;
            }
            let header = RecordHeader::from_words(first, self.word(self.at + 8)?)?;
            let end = self.at + header.len();
            if end > self.bytes.len() {
                return None;
            }
            let mut words = [0; 4];
            for (number, word) in words.iter_mut().enumerate().take(header.kind.words()) {
                *word = self.word(self.at + 16 + number * 8)?;
            }
            let text_at = self.at + 16 + header.kind.words() * 8;
            let text_len = if header.kind.has_text() { usize::from(header.aux) } else { 0 };
            let text = &self.bytes[text_at..text_at + text_len];
            self.at = end;
            return Some(Record { header, words, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(record: &Record<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in record.header.to_words() {
            bytes.extend(word.to_le_bytes());
        }
        for word in &record.words[..record.header.kind.words()] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(record.text);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn every_kind_survives_and_a_cut_one_is_not_handed_out() {
        for &kind in Kind::ALL.iter().filter(|kind| **kind != Kind::Skip) {
            let text: &[u8] = if kind.has_text() { b"a name" } else { b"" };
            let header = RecordHeader { kind, arg: 7, address: LOW_48, pc: 0x1234, aux: text.len() as u16 };
            let mut words = [0; 4];
            words[..kind.words()].fill(u64::MAX);
            let record = Record { header, words, text };
            let mut bytes = vec![0; 16];
            bytes[..8].copy_from_slice(&((16 << 16) | Kind::Skip as u64).to_le_bytes());
            bytes.extend(written(&record));
            let mut records = Records::new(&bytes);
            assert_eq!(records.next(), Some(record));
            assert_eq!((records.next(), records.consumed()), (None, bytes.len()));
            assert_eq!(Records::new(&bytes[..bytes.len() - 8]).next(), None);
        }
    }

    #[test]
    fn nonsense_ends_the_records() {
        for nonsense in [[0xff; 64], [0; 64]] {
            assert_eq!(Records::new(&nonsense).next(), None);
        }
    }
}
