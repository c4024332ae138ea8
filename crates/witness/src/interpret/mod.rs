//! The trace model as a machine: which schedules of a trace's events could have happened.
//!
//! This is the judge of witnesses. It shares nothing with what encodes the model for a solver, and it
//! favours the obvious over the fast.
//!
//! # The rules
//!
//! A *schedule* is an order of prefixes of the observed threads, sequentially consistent. It is in the
//! model if it can be executed from the initial state, step by step.
//!
//! - **Steps.** An event is a step. Accesses marked `more` form one step with the thread's accesses that
//!   follow, up to the first that is not so marked; should anything else with an effect come in between,
//!   the step ends before it. A step whose events are not all enabled is not.
//! - **Bytes.** An access of known size touches bytes of its object. If any access of a location has no
//!   size, all accesses of that location touch bytes of a space of its own instead, from its start, and
//!   those without size the first eight. A byte has a writer, an event or the initial state, and a value,
//!   known or not; known values are little-endian.
//! - **Initial values.** Of a byte: what the first read says that found it so, before any observed write
//!   or free, and has a value; else what [`InitialValues`] says.
//! - **Reads.** The observed writer of a byte is the last write of it, or free of its object, before the
//!   read in the trace, or the initial state. The byte is *satisfied* if its writer is the observed one, or
//!   if what is there and what was read are both known, and equal. A read is satisfied if all bytes are.
//!   A thread is *stuck* after a step with a read that was not: it does nothing more.
//! - **Read-modify-writes** read, then write if they succeeded. One that is not satisfied *taints* its bytes:
//!   what is there is unknown, and satisfies no read, whatever that observed. In a triple it is a read. In a
//!   step of several accesses all reads have to be satisfied, or all its read-modify-writes are not.
//! - **Objects.** If an object was allocated before its first access, accesses of it are enabled after that.
//!   A free writes something unknown to all bytes of the object that any event accesses.
//! - **Threads.** A thread that is forked acts after that. A join is enabled when the thread has done
//!   everything and is not stuck.
//! - **Locks.** An acquisition is enabled if no other thread holds the lock in a conflicting mode; only
//!   shared and shared do not conflict. Taking one's own lock again counts; a release gives back one level.
//!   A thread that stops keeps its locks. A try-lock fails if another thread holds the lock in a conflicting
//!   mode, or the thread itself holds it.
//! - **Conditions.** A wait gives its lock up, however deeply held, and the thread waits. A signal notifies
//!   one of the threads that wait and were not notified, any one, if there are any; a broadcast all. A wait
//!   ends when the lock is free, and takes it as deeply as before: *notified* only if the thread was, *timed
//!   out* only if it was not, *spurious* in any case. A wait that was observed to end notified, although no
//!   signal and no broadcast accounts for it, is taken as spurious; in the observed order each signal
//!   accounts for the waiter whose notified end comes first.
//! - **Semaphores** begin with the least count with which the observed order never goes below zero.
//! - **Barriers.** Arrivals form generations. A generation is closed by the first departure of a thread
//!   whose latest arrival is of it; later arrivals are of the next one. An arrival comes after all arrivals
//!   of earlier generations, a departure after all of the thread's latest one. That is exact if as many
//!   threads use a barrier as it waits for, and else restricts schedules more than need be.
//! - **Once.** A begin is enabled if no other begin is without its end. A pass comes after some end, unless
//!   no end was observed before it.
//! - **Everything else** ([`is_effect_free`]) is enabled whenever the thread is not stuck, and changes
//!   nothing. The machine passes over it: a thread has done such events when it does its next step, and
//!   needs to do none to be joined.
//!
//! Three accesses of one location, the first and last of one thread and the second of another, are *shown* by
//! a schedule that executes them in this order with kinds that fit a [`Pattern`](interloper_model::Pattern).
//!
//! | module | holds |
//! |---|---|
//! | `program` | the trace taken apart |
//! | `memory` | bytes, writers and values |
//! | `waits` | which waiter a signal wakes |
//! | `state` | where a schedule has got to |
//! | `machine` | what is enabled, and what steps do |
//! | `order` | whether an order of events is in the model |
//! | `footprint` | what steps have in common |

mod footprint;
mod machine;
mod memory;
mod order;
mod program;
mod state;
#[cfg(test)]
mod tests;
mod waits;

pub(crate) use footprint::{Resource, StepId};
pub use interloper_model::InitialValues;
pub use machine::{Obstacle, Outcome};
pub use order::{Defect, check_order};
pub use program::is_effect_free;
pub use state::State;

use interloper_trace::Event;
use memory::Memory;
use program::{Place, ThreadSteps};

/// A trace as the machine executes it.
#[derive(Clone, Debug)]
pub struct Program<'t> {
    events: &'t [Event],
    memory: Memory,
    threads: Vec<ThreadSteps>,
    places: Vec<Place>,
    /// What semaphores begin with.
    semaphores: Vec<u32>,
    barriers: usize,
    onces: usize,
}

impl<'t> Program<'t> {
    /// The events, in observed order.
    pub fn events(&self) -> &'t [Event] {
        self.events
    }

    /// How many threads there are; some may have no events.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }
}
