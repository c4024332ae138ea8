//! What the runtime has to tell about a run.

use std::fmt;

/// Something to tell about a run. Threads go by the names they have in the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunNotice {
    /// No thread could go on.
    Deadlock {
        /// Who waits for what.
        waits: Vec<Wait>,
    },
    /// The run left the schedule.
    Diverged {
        /// At this turn of it, counted from zero.
        entry: u64,
        /// After so many steps of that.
        steps: u64,
        /// In this thread.
        thread: String,
        /// How.
        how: String,
    },
    /// A thread was stuck where the runtime could not see it, so others ran beside it.
    Uncontrolled {
        /// Which.
        thread: String,
    },
    /// A signal was delivered.
    Signal {
        /// Its number.
        signal: i32,
        /// To whom.
        thread: String,
    },
    /// The program forked a process, which was not recorded.
    Forked {
        /// Its id.
        process: u64,
    },
    /// The program was replaced by another, which was not recorded.
    Exec,
    /// There was no memory to tell shared locations apart.
    NoShadow,
    /// There was no memory for what was to be recorded.
    OutOfMemory,
    /// The program did something that cannot be controlled.
    Unsupported {
        /// What.
        what: String,
    },
    /// The program used something that may differ from run to run.
    Nondeterministic {
        /// What.
        what: String,
    },
}

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Who waits.
    pub thread: String,
    /// The name of what it waits for, or its address.
    pub object: String,
    /// Who has it, if somebody has.
    pub holder: Option<String>,
    /// What kind of thing it is.
    pub what: String,
}

impl fmt::Display for RunNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunNotice::Deadlock { waits } => {
                write!(f, "deadlock: no thread can go on")?;
                for wait in waits {
                    write!(f, "; {wait}")?;
                }
                Ok(())
            }
            RunNotice::Diverged { entry, steps, thread, how } => {
                write!(
                    f,
                    "the run left the schedule at turn {entry}, after {steps} steps of it, in thread {thread}: {how}"
                )
            }
            RunNotice::Uncontrolled { thread } => write!(
                f,
                "thread {thread} was stuck where it cannot be seen; others went on beside it, so the order of events \
                 is not known from there on"
            ),
            RunNotice::Signal { signal, thread } => write!(f, "signal {signal} was delivered to thread {thread}"),
            RunNotice::Forked { process } => write!(f, "the program forked process {process}, which is not recorded"),
            RunNotice::Exec => f.write_str("the program was replaced by another, which is not recorded"),
            RunNotice::NoShadow => f.write_str("no memory to tell shared locations apart"),
            RunNotice::OutOfMemory => f.write_str("the program ran out of memory for what was to be recorded"),
            RunNotice::Unsupported { what } => write!(f, "the program did something that cannot be controlled: {what}"),
            RunNotice::Nondeterministic { what } => {
                write!(f, "the program used something that may differ from run to run: {what}")
            }
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} waits for {} {}", self.thread, self.what, self.object)?;
        match &self.holder {
            Some(holder) => write!(f, ", which thread {holder} has"),
            None => Ok(()),
        }
    }
}
