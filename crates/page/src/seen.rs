//! What accesses read and wrote in an order of events.

use crate::story::RecordedTrace;
use crate::track;
use interloper_model::access_of;
use interloper_trace::{Event, LocationId, Op};

/// What an access read and wrote in an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) read: Option<u64>,
    pub(crate) written: Option<u64>,
    /// What it had read when it was recorded, if that was something else.
    pub(crate) recorded: Option<u64>,
    pub(crate) size: u32,
}

/// What an access read and wrote. In a schedule of recorded events in which no read has changed so far, the last read
/// of a thread may find something else than it did; everything else finds what was recorded.
pub(crate) fn seen(trace: &RecordedTrace, order: &[u32], access: usize, position: usize, is_schedule: bool) -> Seen {
    let event = &trace.events[access];
    let is_last = || !order[position + 1..].iter().any(|&at| trace.events[at as usize].thread == event.thread);
    let (value, written, size) = track::values(&event.op);
    let is_write = matches!(event.op, Op::Write(_));
    if is_write {
        return Seen { written: value, size, ..Seen::default() };
    }
    let found = if is_schedule && is_last() { found(trace, &order[..position], access) } else { value };
    Seen { read: found, written, recorded: value.filter(|_| found != value), size }
}

/// What a read finds after these events: what the last write left, if it wrote just these bytes; what it found
/// before, if nobody had written there in either order.
fn found(trace: &RecordedTrace, before: &[u32], access: usize) -> Option<u64> {
    let read = &trace.events[access];
    let (wanted, _) = access_of(&read.op)?;
    let (value, _, size) = track::values(&read.op);
    let writes = |event: &Event| {
        access_of(&event.op).is_some_and(|(location, kind)| kind.writes() && overlaps(trace, location, wanted))
    };
    match before.iter().rev().map(|&at| &trace.events[at as usize]).find(|event| writes(event)) {
        None if trace.events[..access].iter().any(writes) => None,
        None => value,
        Some(write) => {
            let (left, written, written_size) = track::values(&write.op);
            let is_same = access_of(&write.op).is_some_and(|(location, _)| location == wanted) && written_size == size;
            if is_same { written.or(left) } else { None }
        }
    }
}

/// Whether two locations may share bytes, as far as eight bytes reach.
fn overlaps(trace: &RecordedTrace, one: LocationId, other: LocationId) -> bool {
    const WIDEST: u64 = 8;
    match (trace.tables.location(one), trace.tables.location(other)) {
        _ if one == other => true,
        (Some(one), Some(other)) => one.object == other.object && one.offset.abs_diff(other.offset) < WIDEST,
        _ => false,
    }
}
