//! Why there is no recording.

use crate::launch::Exit;
use std::io;
use std::path::PathBuf;

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// There is nothing to run.
    #[error("no program given")]
    NoCommand,
    /// The program cannot be started.
    #[error("{program}: cannot start: {source}")]
    CannotStart {
        /// Which.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file to share with the program cannot be made or read.
    #[error("cannot share memory with the program: {0}")]
    Control(#[source] io::Error),
    /// Standard input cannot be handed on.
    #[error("cannot hand on standard input: {0}")]
    Stdin(#[source] io::Error),
    /// What the program prints cannot be kept.
    #[error("cannot keep what the program prints: {0}")]
    Capture(#[source] io::Error),
    /// The program cannot be waited for.
    #[error("cannot wait for the program: {0}")]
    Wait(#[source] io::Error),
    /// The trace cannot be created.
    #[error("{}: cannot write: {source}", path.display())]
    Output {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The program ran, but not under the runtime.
    #[error(
        "the program ended, {exit}, without using the runtime: it was not built for recording, is not what was \
         started, or its runtime could not be loaded or get memory"
    )]
    Unattached {
        /// How it ended.
        exit: Exit,
    },
    /// Somebody ended the program before it was under the runtime.
    #[error("the program was stopped by signal {signal} before it had begun")]
    Stopped {
        /// With this signal.
        signal: i32,
    },
    /// The runtime had no room to tell shared locations apart, so that the program ran unrecorded.
    #[error(
        "the program ran unrecorded, since it could not reserve 32 TB of address space; that takes no memory, but \
         must be allowed: see `ulimit -v`, and the limits of the container"
    )]
    NoShadow,
}

impl RecordError {
    /// Whether the program cannot be recorded as it is, or where it is.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, RecordError::Unattached { .. } | RecordError::NoShadow)
    }

    /// The status that a shell has for a program that could not be started or did not get far, if it is that.
    pub fn shell_code(&self) -> Option<u8> {
        match self {
            RecordError::CannotStart { source, .. } if source.kind() == io::ErrorKind::NotFound => Some(127),
            RecordError::CannotStart { .. } => Some(126),
            RecordError::Stopped { signal } => u8::try_from(128 + signal).ok(),
            _ => None,
        }
    }
}
