//! Events of multithreaded programs: the model, the `.ilt` file format, and the formats of others.
//!
//! This crate reads, checks, writes and converts traces, as streams and in bounded memory. It
//! **never** analyses them: what a trace means is the business of `interloper-model`.
//!
//! | module | holds |
//! |---|---|
//! | [`ids`], [`event`], [`tables`] | the model: ids, what threads do, the names behind the ids |
//! | [`stream`], [`error`] | how events flow, and what can be wrong with them |
//! | [`ilt`] | our file format |
//! | [`std_format`], [`rapidbin`], [`jsonl`] | the formats of others, and ours as text |
//! | [`wellformed`] | what the events of a trace must satisfy together |
//! | [`mod@file`] | traces as files: by extension, checked, whole or not there |

pub mod error;
pub mod event;
pub mod file;
pub mod ids;
pub mod ilt;
pub mod jsonl;
pub mod rapidbin;
pub mod std_format;
pub mod stream;
pub mod tables;
pub mod wellformed;

pub use error::{Malformed, Place, TraceError};
pub use event::{
    Access, Attempt, BoundValue, Event, Expr, LockMode, MemoryOrder, Op, Operator, ReadModifyWrite, Region,
    RegionSource, Value, Wake,
};
pub use ids::{
    BarrierId, ConditionId, EventIndex, ExprId, LocationId, LockId, OnceId, SemaphoreId, SiteId, SiteKind, StringId,
    ThreadId,
};
pub use stream::{BATCH, EventSink, EventSource, SinkError};
pub use tables::{Location, Site, Strings, TableFull, Tables};
