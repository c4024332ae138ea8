//! The ids of a trace: one newtype for each space, so that a lock can never index a thread.
//!
//! Ids are dense: the n-th thread, lock, … that a trace names has id n. They belong to one trace
//! and mean nothing in another; whatever must be stable over runs is made of names.

use std::fmt;

macro_rules! id_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id with this number.
            #[inline]
            pub const fn new(raw: u32) -> Self {
                Self(raw)
            }

            /// The id of the entry at `index` of its table; `None` past the 2³² entries a table holds.
            #[inline]
            pub fn from_index(index: usize) -> Option<Self> {
                u32::try_from(index).ok().map(Self)
            }

            /// Its number, as stored.
            #[inline]
            pub const fn raw(self) -> u32 {
                self.0
            }

            /// Its place in a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id_types! {
    /// A thread.
    ThreadId;
    /// A shared location: an object, or a part of one at an offset.
    LocationId;
    /// A mutex, recursive, read-write or spin lock.
    LockId;
    /// A condition variable.
    ConditionId;
    /// A counting semaphore.
    SemaphoreId;
    /// A barrier.
    BarrierId;
    /// A run-once flag (`pthread_once`, `std::call_once`, a guarded static).
    OnceId;
    /// A string of the trace: names of objects, functions, files and regions.
    StringId;
    /// A symbolic expression, as introduced by [`Define`](crate::Op::Define) or [`Bind`](crate::Op::Bind).
    ExprId;
}

impl ThreadId {
    /// The last thread that a trace can have. There is room in a word for a thread and a number of events, and no
    /// thread at all is none of them.
    pub const HIGHEST: ThreadId = ThreadId::new((1 << 24) - 2);
}

/// The position of an event in the observed total order, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventIndex(pub u64);

impl fmt::Display for EventIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where in the source an event comes from.
///
/// Either an entry of the site table, or, as the traces of the field have it, a bare line number
/// without a file: that one is stored in the id itself, so it costs no table and no look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(u32);

impl SiteId {
    const BARE_LINE: u32 = 1 << 31;

    /// The site that says nothing: entry zero of every site table.
    pub const UNKNOWN: SiteId = SiteId(0);

    /// The largest line number that needs no table entry.
    pub const MAX_BARE_LINE: u32 = Self::BARE_LINE - 1;

    /// The site of a bare line number, if it fits.
    #[inline]
    pub fn bare_line(line: u64) -> Option<Self> {
        if line <= u64::from(Self::MAX_BARE_LINE) { Some(SiteId(line as u32 | Self::BARE_LINE)) } else { None }
    }

    /// The site of the entry at `index` of the site table, if the table may grow that far.
    #[inline]
    pub fn table_entry(index: usize) -> Option<Self> {
        u32::try_from(index).ok().filter(|raw| raw & Self::BARE_LINE == 0).map(SiteId)
    }

    /// Takes the id apart.
    #[inline]
    pub fn kind(self) -> SiteKind {
        if self.0 & Self::BARE_LINE != 0 {
            SiteKind::BareLine(self.0 & Self::MAX_BARE_LINE)
        } else {
            SiteKind::Table(self.0 as usize)
        }
    }

    /// Its number, as stored.
    #[inline]
    pub const fn raw(self) -> u32 {
        self.0
    }

    /// The site with this stored number.
    #[inline]
    pub const fn from_raw(raw: u32) -> Self {
        SiteId(raw)
    }
}

/// What a [`SiteId`] refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// A line number without a file.
    BareLine(u32),
    /// An entry of the site table.
    Table(usize),
}
