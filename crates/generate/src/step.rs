//! What a shape says happens next, before it becomes an event.
//!
//! Shapes count their threads, locks and variables from zero; only the generator knows the ids and
//! names these get in the trace.

/// One step of one thread.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) thread: u32,
    pub(crate) line: u32,
    pub(crate) act: Act,
}

/// What the thread does; the operand is the number of a variable, a lock or a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Read(u32),
    Write(u32),
    Acquire(u32),
    Release(u32),
    Begin,
    End,
    Fork(u32),
    Join(u32),
}

/// A shape at work. There is always a next step: the generator decides when to stop.
pub(crate) trait Steps {
    fn step(&mut self) -> Step;
}
