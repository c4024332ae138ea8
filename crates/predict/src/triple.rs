//! A predicted violation: three accesses and the region they break.

use interloper_model::{AccessKind, Pattern, StateId};
use interloper_trace::{EventIndex, LocationId, RegionSource, SiteId, ThreadId};

/// Three accesses of one location: the region's first, the remote one, the region's second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triple {
    /// Which unserializable pattern they make.
    pub pattern: Pattern,
    /// What they access.
    pub location: LocationId,
    /// The region that was meant to be one step.
    pub region: RegionSpan,
    /// The first local access.
    pub first: Access,
    /// The interloper.
    pub remote: Access,
    /// The second local access.
    pub second: Access,
    /// A lock state of the region's thread between its accesses that lets the remote one in.
    pub region_state: StateId,
    /// The lock state of the remote access.
    pub remote_state: StateId,
}

impl Triple {
    /// Findings are listed in this order, and the least one of several represents them.
    pub fn sort_key(&self) -> (EventIndex, EventIndex, EventIndex, Pattern) {
        (self.first.index, self.remote.index, self.second.index, self.pattern)
    }
}

/// One access of a triple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its position in the trace.
    pub index: EventIndex,
    /// Who did it.
    pub thread: ThreadId,
    /// Where.
    pub site: SiteId,
    /// How.
    pub kind: AccessKind,
}

/// The extent of an outermost region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionSpan {
    /// Whose it is.
    pub thread: ThreadId,
    /// Who says that it is meant to be atomic.
    pub source: RegionSource,
    /// The event that begins it.
    pub begin: EventIndex,
    /// The event that ends it; none if the trace ends inside.
    pub end: Option<EventIndex>,
}
