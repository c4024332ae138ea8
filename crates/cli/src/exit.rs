//! The exit codes.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and nothing found at `--fail-on` or above.
    Clean,
    /// Something found.
    Found,
    /// Wrong usage, unreadable input, or output that cannot be written.
    Usage,
    /// Undecided: a run left the schedule it was to follow.
    Inconclusive,
    /// The program cannot be recorded as it is.
    Unsupported,
    /// A bug of ours.
    Bug,
    /// Interrupted, after printing what was found.
    Interrupted,
    /// As a program that was run on the user's behalf ended.
    Program(u8),
}

impl Exit {
    /// The end of a program as a shell has it: 128 and the signal, if one ended it.
    pub(crate) fn of_program(status: ExitStatus) -> Exit {
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        Exit::Program(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Clean => 0,
            Exit::Found => 1,
            Exit::Usage => 2,
            Exit::Inconclusive => 3,
            Exit::Unsupported => 4,
            Exit::Bug => 70,
            Exit::Interrupted => 130,
            Exit::Program(code) => code,
        })
    }
}
