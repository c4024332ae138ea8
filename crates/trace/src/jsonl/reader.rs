//! Reading a trace line by line.

use super::decode::decode;
use super::fields::Fields;
use super::lines::{LONGEST_LINE, Lines, Next};
use crate::error::{Malformed, Place, TraceError, quote};
use crate::event::Event;
use crate::stream::{BATCH, EventSource};
use crate::tables::Tables;
use std::io::Read;

/// Reads a trace in JSON Lines.
///
/// It holds one line and the tables, however long the trace is.
pub struct JsonlReader<R> {
    lines: Lines<R>,
    tables: Tables,
    /// The index of the first event of the latest batch.
    batch_start: u64,
    /// The line of each event of the latest batch: lines that are no events come between them.
    batch_lines: Vec<u64>,
    /// The defect behind the events of the latest batch.
    pending: Option<TraceError>,
    ended: bool,
}

impl<R: Read> JsonlReader<R> {
    /// A reader of this input; nothing is read yet. It needs no buffering.
    pub fn new(input: R) -> Self {
        JsonlReader {
            lines: Lines::new(input),
            tables: Tables::new(),
            batch_start: 0,
            batch_lines: Vec::new(),
            pending: None,
            ended: false,
        }
    }

    /// The event of the next line that holds one.
    fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        loop {
            let number = self.lines.number() + 1;
            let line = match self.lines.next()? {
                Next::Line(line) => line,
                Next::End => return Ok(None),
                Next::TooLong(start) => {
                    return Err(Malformed::new(
                        Place::Line(number),
                        format!("a line beginning with {} that does not end", quote(start)),
                        format!("at most {LONGEST_LINE} bytes"),
                    )
                    .into());
                }
            };
            let fields = Fields::parse(line, number)?;
            if let Some(event) = decode(fields, &mut self.tables)? {
                return Ok(Some(event));
            }
        }
    }
}

impl<R: Read> EventSource for JsonlReader<R> {
    fn next_batch(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        batch.clear();
        self.batch_start += self.batch_lines.len() as u64;
        self.batch_lines.clear();
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        while !self.ended && batch.len() < BATCH {
            match self.next_event() {
                Ok(Some(event)) => {
                    batch.push(event);
                    self.batch_lines.push(self.lines.number());
                }
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    if batch.is_empty() {
                        return Err(error);
                    }
                    self.pending = Some(error);
                }
            }
        }
        Ok(())
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn place(&self, index: u64) -> Place {
        let line = index.checked_sub(self.batch_start).and_then(|at| self.batch_lines.get(usize::try_from(at).ok()?));
        Place::Line(line.copied().unwrap_or_else(|| self.lines.number()))
    }

    fn bytes_read(&self) -> u64 {
        self.lines.consumed()
    }
}
