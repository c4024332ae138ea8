//! What memory holds before anybody has written to it.

/// What the initial content of memory is where the trace does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialValues {
    /// All bytes are zero.
    Zero,
    /// Nobody knows.
    Unknown,
}
