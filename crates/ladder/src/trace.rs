//! A trace in memory, as the rungs above the linear ones need it.

use interloper_model::InitialValues;
use interloper_trace::{Event, EventSource, Tables, TraceError};

/// All events of a trace, and the names in them.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The events, in observed order.
    pub events: Vec<Event>,
    /// The names behind their ids.
    pub tables: Tables,
}

impl Trace {
    /// Reads all of a trace.
    pub fn read(source: &mut impl EventSource) -> Result<Trace, TraceError> {
        let mut events = Vec::new();
        let mut batch = Vec::new();
        loop {
            source.next_batch(&mut batch)?;
            if batch.is_empty() {
                return Ok(Trace { events, tables: source.tables().clone() });
            }
            events.extend_from_slice(&batch);
        }
    }

    /// What memory holds before anybody has written to it.
    pub fn initial_values(&self) -> InitialValues {
        InitialValues::of(&self.tables)
    }
}
