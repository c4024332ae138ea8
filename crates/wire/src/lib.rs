//! What the runtime inside a recorded program and the recorder outside tell each other.
//!
//! They share one file in memory, which the recorder makes and the program inherits:
//!
//! ```text
//! 0          SETTINGS_LEN   LIVE_LEN                       plan            hot
//! ┌──────────┬──────────────┬──────────────────────────────┬───────────────┬──────────────┬────────────┐
//! │ settings,│ live: two    │ ring: records, as the program│ the schedule  │ the locations│ directions,│
//! │ guidance │ cursors      │ does things                  │ to follow     │ worth a log  │ births     │
//! └──────────┴──────────────┴──────────────────────────────┴───────────────┴──────────────┴────────────┘
//! ```
//!
//! The program writes records and moves its cursor after each, so that whatever it did before it was
//! killed can still be read. The recorder reads behind it and moves the other cursor.
//!
//! This crate holds layouts and their encoding, for both sides. It **never** does IO, maps memory or
//! allocates on the program's side: the runtime depends on it, and on nothing else of ours.

mod direction;
mod plan;
mod record;
mod settings;

pub use direction::{BIRTH_LEN, Birth, DIRECTION_LEN, Direction, GUIDANCE_LEN, Guidance, Until};
pub use plan::{BLOCK_BITS, HOT_ENTRY_LEN, HotRange, PLAN_ENTRY_LEN, PlanEntry, SegmentEnd, Space};
pub use record::{AccessFlags, Kind, LockArg, Notice, Record, RecordHeader, Records, Stop, WaitArg};
pub use settings::{
    CLAIM_AT, CONSUMED_AT, DIRECTED_AT, GUIDANCE_AT, LIVE_AT, LIVE_LEN, MAX_RECORD_LEN, Mode, PRODUCED_AT, Policy,
    RING_AT, SETTINGS_LEN, Settings, VARIABLE, VARIABLE_WIDTH,
};
