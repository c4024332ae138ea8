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
//!   A thread is *stuck* after a step with a read that was not: it does nothing more; unless the read is *loose*
//!   (below).
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
//! - **Everything else** ([`is_effect_free`]) is enabled whenever the thread is not stuck, and not led astray
//!   (below), and changes nothing. The machine passes over it: a thread has done such events when it does its next
//!   step, and needs to do none to be joined.
//!
//! # Values that may change
//!
//! Where a trace says what depends on what was read, a read need not return what it returned for its thread to go on
//! as it did. These rules are about *bound* reads, and without any they say nothing.
//!
//! - **Bound** is a read whose value is bound to an expression, its *variable*, by the thread before its next access
//!   or input. Expressions are *made of* the reads that the variables in them stand for. An expression is *clear*
//!   once it has been introduced, by the only event of the trace that binds a read or an input to it or defines it;
//!   if it is an operation, only if its operands were clear by then and it is made of no more than 64 reads.
//! - **Loose** is a bound read that is a step of its own and no read-modify-write, whose variable no other event
//!   introduces. Not loose are the reads that a clear expression is made of which another thread mentions, or which
//!   is an operand of one that is not clear.
//! - A loose read that is not satisfied has *strayed*: what it returned is not known. Its thread goes on, and is *led
//!   astray* where it comes to an event that depends on a read that has strayed; that event is not enabled, and with
//!   it nothing that comes after. An assumption depends on the reads that its expression is made of; on all earlier
//!   loose reads of its thread, if that is not clear. So do branches (nobody says what they depend on),
//!   read-modify-writes (whether they write depends on what they compare with) and forks (the new thread is handed
//!   something). A join is enabled only if no read of the thread has strayed (it may have handed something back).
//! - The value of a write depends on the reads that the expression is made of that it is bound to, or all of them if
//!   there are several; on all earlier loose reads of its thread, if one is not clear or there is none. If one of
//!   them has strayed, the write *taints* its bytes, as above.
//!
//! So a read that must be satisfied must see a write that was not tainted: one all of whose reads were satisfied in
//! their turn by such writes. That is no circle, since a read comes after the write that it sees, and that after the
//! reads it depends on.
//!
//! Why this is right: by induction over the steps, everything executed is what the program would do. A thread's path,
//! the objects it accesses and their sizes are decided by branches and assumptions it has passed (that is what a
//! recorder promises that binds reads, see `docs/trace-format.md`), and these depend on values only that are as
//! observed. What is tainted is any value, and nothing was concluded from it.
//!
//! # Triples
//!
//! Three accesses of one location, the first and last of one thread and the second of another, are *shown* by
//! a schedule that executes them in this order with kinds that fit a [`Pattern`](interloper_model::Pattern).
//!
//! | module | holds |
//! |---|---|
//! | `program` | the trace taken apart |
//! | `memory` | bytes, writers and values |
//! | `flow` | what depends on what was read |
//! | `waits` | which waiter a signal wakes |
//! | `state` | where a schedule has got to |
//! | `machine` | what is enabled, and what steps do |
//! | `order` | whether an order of events is in the model |
//! | `footprint` | what steps have in common |

mod flow;
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
pub use order::{Defect, changed_reads, check_order};
pub use program::is_effect_free;
pub use state::State;

use flow::Flow;
use interloper_trace::Event;
use memory::Memory;
use program::{Place, ThreadSteps};

/// A trace as the machine executes it.
#[derive(Clone, Debug)]
pub struct Program<'t> {
    events: &'t [Event],
    memory: Memory,
    flow: Flow,
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
