//! What a trace means: accesses, regions, lock states, fork/join order.
//!
//! Analyses are written in these terms. This crate **never** does IO and never fails: it is fed
//! events that a reader has already checked to be well-formed.
//!
//! | module | holds |
//! |---|---|
//! | [`access`] | which events touch memory, and how |
//! | [`regions`] | which events belong to one step: outermost regions of chosen sources |
//! | [`held`] | which locks a thread holds, re-entrancy folded away |
//! | [`lock_state`] | lock sets and acquisition histories, interned, and when two are compatible |
//! | [`fork_join`] | the order that fork and join impose |
//! | [`initial`] | what memory holds before anybody has written to it |
//! | [`nesting`] | whether threads release locks in the reverse of the order they took them |
//! | [`census`] | what a trace holds, in numbers |

pub mod access;
pub mod census;
pub mod fork_join;
pub mod held;
pub mod initial;
pub mod lock_state;
pub mod nesting;
pub mod regions;

pub use access::{AccessKind, Pattern, access_of};
pub use census::{Census, kind_name};
pub use fork_join::{ForkJoinLog, Strand, StrandOrder};
pub use held::{HeldLocks, LockChange};
pub use initial::InitialValues;
pub use lock_state::{LockSetId, LockStates, StateId};
pub use nesting::{Nesting, NonNested};
pub use regions::{RegionEdge, RegionSources, Regions};
