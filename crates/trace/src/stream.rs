//! How traces flow: sources hand out events in batches, sinks take them.

use crate::error::{Place, TraceError};
use crate::event::Event;
use crate::tables::Tables;
use std::io;

/// How many events a source puts into a batch at the most, so that a batch stays in the first-level cache.
pub const BATCH: usize = 512;

/// A trace being read, in observed order.
pub trait EventSource {
    /// Replaces the contents of `batch` by the next events, at most [`BATCH`] of them.
    ///
    /// An empty batch is the end. An error is final, and comes after every event that could be
    /// read before it has been handed out: whoever wants what was complete has it by then.
    fn next_batch(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError>;

    /// The names behind the ids of the events handed out so far.
    fn tables(&self) -> &Tables;

    /// Where in the input the event at this index stands. Only asked for events of the latest batch.
    fn place(&self, index: u64) -> Place;

    /// How many bytes of the input have been used.
    fn bytes_read(&self) -> u64;

    /// What the reader would like people to know about the input.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Takes events one at a time, straight from where they are read.
///
/// A batch is simpler; this is for where every nanosecond counts. With checking and analysing, and in STD reading as
/// well, compiled into one loop, which operation comes next is mispredicted once and not several times.
pub trait Visitor {
    /// Takes an event; `false` if it wants no more. `tables` holds the names the event refers to.
    fn visit(&mut self, event: &Event, tables: &Tables) -> bool;
}

impl<F: FnMut(&Event, &Tables) -> bool> Visitor for F {
    #[inline(always)]
    fn visit(&mut self, event: &Event, tables: &Tables) -> bool {
        self(event, tables)
    }
}

/// Visits an event where that is not worth a copy of the visitor's code.
#[inline(never)]
pub(crate) fn visit_apart(visitor: &mut impl Visitor, event: &Event, tables: &Tables) -> bool {
    visitor.visit(event, tables)
}

/// A trace being written.
pub trait EventSink {
    /// Writes events; `tables` holds at least the names they refer to.
    fn write(&mut self, events: &[Event], tables: &Tables) -> Result<(), SinkError>;

    /// Writes what remains and flushes. Must be the last call.
    fn finish(&mut self, tables: &Tables) -> Result<(), SinkError>;
}

/// Why a trace could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SinkError {
    /// The output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The target format has no way to say this.
    #[error("event {index}: {format} cannot hold {what}")]
    Inexpressible {
        /// The event's position in the trace.
        index: u64,
        /// The target format.
        format: &'static str,
        /// What it lacks.
        what: String,
    },
}
