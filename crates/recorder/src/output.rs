//! The trace file, written as the run goes.
//!
//! Written in place and a chunk at least every so often, so that whatever is killed, the file can be
//! opened. If it cannot be written any more (the disk is full), what was written stays, and the
//! program goes on unrecorded.

use crate::assemble::Assembler;
use crate::symbolize::Symbolizer;
use interloper_trace::file::{ReadOptions, TraceReader};
use interloper_trace::ilt::IltWriter;
use interloper_trace::{EventSink as _, EventSource as _};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A trace file being written.
pub(crate) struct TraceFile {
    writer: IltWriter<BufWriter<Place>>,
    /// Whether there was no file before.
    is_new: bool,
    path: PathBuf,
    failure: Option<String>,
    flushed: Instant,
    events: u64,
}

/// At most so much time is lost when everything is killed.
const FLUSH_AFTER: Duration = Duration::from_millis(200);
/// With so many events it is worth encoding them.
const ENOUGH: usize = 4096;

impl TraceFile {
    /// Begins a file. What was there before is only gone when the first events are written.
    pub(crate) fn create(path: &Path) -> io::Result<TraceFile> {
        let is_new = !path.exists();
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        let writer = IltWriter::new(BufWriter::with_capacity(1 << 18, Place { file, is_empty: false }))?;
        Ok(TraceFile { writer, is_new, path: path.to_owned(), failure: None, flushed: Instant::now(), events: 0 })
    }

    /// Leaves everything as it was, if nothing has been written yet.
    pub(crate) fn discard(self) {
        let (place, _unwritten) = self.writer.into_inner().into_parts();
        if self.is_new && !place.is_empty {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Takes the events that have gathered, if they are many.
    pub(crate) fn write<S: Symbolizer>(&mut self, assembler: &mut Assembler<S>) {
        if assembler.events().0.len() >= ENOUGH {
            self.write_all(assembler);
        }
    }

    /// Takes all events, and makes sure now and then that they survive.
    pub(crate) fn pause<S: Symbolizer>(&mut self, assembler: &mut Assembler<S>) {
        let has_events = self.events > 0 || !assembler.events().0.is_empty();
        if has_events && self.flushed.elapsed() >= FLUSH_AFTER {
            self.flush(assembler);
        }
    }

    /// Takes all events, and makes sure that they survive.
    fn flush<S: Symbolizer>(&mut self, assembler: &mut Assembler<S>) {
        self.write_all(assembler);
        if self.failure.is_none()
            && let Err(error) = self.writer.flush_chunk(assembler.events().1)
        {
            self.failure = Some(error.to_string());
        }
        self.flushed = Instant::now();
    }

    /// Completes the file.
    pub(crate) fn finish<S: Symbolizer>(mut self, assembler: &mut Assembler<S>) -> Written {
        self.write_all(assembler);
        if self.failure.is_none()
            && let Err(error) = self.writer.finish(assembler.events().1)
        {
            self.failure = Some(error.to_string());
        }
        // What is in the file of what could not be written to its end, only the file knows.
        let events = if self.failure.is_none() { self.events } else { self.events.min(events_in(&self.path)) };
        let bytes = self.writer.bytes_written();
        Written { events, bytes, failure: self.failure }
    }

    fn write_all<S: Symbolizer>(&mut self, assembler: &mut Assembler<S>) {
        let (events, tables) = assembler.events();
        if self.failure.is_none() {
            match self.writer.write(events, tables) {
                Ok(()) => self.events += events.len() as u64,
                Err(error) => self.failure = Some(error.to_string()),
            }
        }
        assembler.clear();
    }
}

/// How many events can be read from a file that may not be whole.
fn events_in(path: &Path) -> u64 {
    let is_file = path.metadata().is_ok_and(|file| file.is_file());
    let Some(mut reader) = is_file.then(|| TraceReader::open(path, ReadOptions::default()).ok()).flatten() else {
        return 0;
    };
    let (mut batch, mut events) = (Vec::new(), 0);
    while reader.next_batch(&mut batch).is_ok() && !batch.is_empty() {
        events += batch.len() as u64;
    }
    events
}

/// A file that loses its old contents with the first byte of the new.
struct Place {
    file: File,
    is_empty: bool,
}

impl Write for Place {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_empty {
            match self.file.set_len(0) {
                // A pipe or device has no contents to lose.
                Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(error),
                _ => self.is_empty = true,
            }
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What has been written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    /// Why it is not all.
    pub(crate) failure: Option<String>,
}
