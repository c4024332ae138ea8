//! Traces that can be read only once, kept so that they can be read again.

use crate::interrupt;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// What came through a pipe, in a file without a name: however the process ends, it is gone then.
pub(crate) struct Spool {
    file: Arc<File>,
    /// How many bytes of it count.
    pub(crate) length: u64,
    /// Whether the user stopped it before the end of the input.
    pub(crate) interrupted: bool,
}

impl Spool {
    /// Copies an input to its end, or until the user has enough of it.
    ///
    /// A pipe may have nothing to say for a long time, and signals do not end a blocked read. So
    /// somebody else reads, and this thread looks for either.
    pub(crate) fn fill(input: File) -> io::Result<Spool> {
        const PATIENCE: Duration = Duration::from_millis(20);
        let file = Arc::new(tempfile::tempfile()?);
        let copied = Arc::new(Copied::default());
        let (done, ended) = mpsc::channel();
        let worker = (Arc::clone(&file), Arc::clone(&copied));
        std::thread::spawn(move || done.send(copy(input, &worker.0, &worker.1)));
        loop {
            let interrupted = match ended.recv_timeout(PATIENCE) {
                Ok(outcome) => outcome.map(|()| false)?,
                Err(RecvTimeoutError::Timeout) if !interrupt::requested() => continue,
                Err(RecvTimeoutError::Timeout) => true,
                Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the reader of the pipe is gone")),
            };
            let length = if interrupted { &copied.lines } else { &copied.bytes }.load(Ordering::Acquire);
            return Ok(Spool { file, length, interrupted });
        }
    }

    /// Reads it from the start.
    pub(crate) fn reader(&self) -> SpoolReader {
        SpoolReader { file: Arc::clone(&self.file), at: 0, end: self.length }
    }
}

/// How far the copy is.
#[derive(Default)]
struct Copied {
    bytes: AtomicU64,
    /// Up to the last line feed: where a text may be cut without leaving half a line. Formats that
    /// are no text can be cut anywhere.
    lines: AtomicU64,
}

fn copy(mut input: File, mut file: &File, copied: &Copied) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        file.write_all(&buffer[..length])?;
        let before = copied.bytes.fetch_add(length as u64, Ordering::AcqRel);
        if let Some(at) = buffer[..length].iter().rposition(|&byte| byte == b'\n') {
            copied.lines.store(before + at as u64 + 1, Ordering::Release);
        }
    }
}

/// Reads a spool; several may do so at once, for each has its own position.
pub(crate) struct SpoolReader {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for SpoolReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.end - self.at).unwrap_or(usize::MAX));
        let length = self.file.read_at(&mut buffer[..wanted], self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}
