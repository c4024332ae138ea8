//! The exit codes.

use std::process::ExitCode;

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and nothing found at `--fail-on` or above.
    Clean,
    /// Something found.
    Found,
    /// Wrong usage, unreadable input, or output that cannot be written.
    Usage,
    /// A bug of ours.
    Bug,
    /// Interrupted, after printing what was found.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Clean => 0,
            Exit::Found => 1,
            Exit::Usage => 2,
            Exit::Bug => 70,
            Exit::Interrupted => 130,
        })
    }
}
