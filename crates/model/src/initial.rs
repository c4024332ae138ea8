//! What memory holds before anybody has written to it.

use interloper_trace::Tables;

/// What the initial content of memory is where the trace does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialValues {
    /// All bytes are zero.
    Zero,
    /// Nobody knows.
    Unknown,
}

impl InitialValues {
    /// Of a program that was recorded nobody knows; in traces from elsewhere it is zero.
    pub fn of(tables: &Tables) -> Self {
        let is_recorded = tables.meta().iter().any(|(key, _)| key == "runtime-version");
        if is_recorded { InitialValues::Unknown } else { InitialValues::Zero }
    }
}
