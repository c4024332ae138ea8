//! Reading `.ilt` files as a stream, in bounded memory.
//!
//! One chunk is held at a time, in buffers that are used again. A file that is cut off, as a crash
//! leaves it, ends where its last whole chunk does, with a note; one that is damaged is an error
//! there. In both cases everything before has been handed out.

use super::events::OpenEvents;
use super::wire::{self, CHUNK_HEADER, ChunkHeader, ChunkKind, Codec, FILE_HEADER, Version};
use super::{Defect, Limits, increment};
use crate::error::{Malformed, Place, TraceError};
use crate::event::Event;
use crate::stream::{BATCH, EventSource, Visitor};
use crate::tables::Tables;
use std::io::{self, Read};

/// Whether a trace has its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// It was finished by whoever wrote it.
    Complete,
    /// It is cut off, as after a crash; everything before has been read.
    Truncated {
        /// Where its last whole chunk ends.
        at_byte: u64,
        /// How many events it has up to there.
        events: u64,
    },
}

/// Reads an `.ilt` file from anything that gives bytes. The reader asks for large pieces, so the
/// input needs no buffer of its own.
#[derive(Debug)]
pub struct IltReader<R> {
    input: R,
    version: Version,
    /// How many bytes have been read.
    position: u64,
    /// Where the latest chunk begins.
    chunk: u64,
    /// How many events have been handed out.
    events: u64,
    tables: Tables,
    limits: Limits,
    open: OpenEvents,
    /// The payload of the latest chunk, and whatever was there before behind it.
    payload: Vec<u8>,
    /// Where compressed payloads are read into.
    stored: Vec<u8>,
    skipped: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// There may be more.
    Reading,
    /// What is wrong next, found while there were events to hand out before.
    Failing(Malformed),
    /// An error has been returned, and will be again.
    Failed(TraceError),
    Ended(Completeness),
}

impl<R: Read> IltReader<R> {
    /// Begins to read a file: whether it is one, and of a version that can be read.
    pub fn new(mut input: R) -> Result<Self, TraceError> {
        let mut header = [0; FILE_HEADER];
        let length = read_full(&mut input, &mut header)?;
        let version = wire::parse_file_header(&header[..length])
            .map_err(|(byte, defect)| Malformed::new(Place::Byte(byte), defect.found, defect.expected))?;
        let tables = Tables::new();
        Ok(IltReader {
            input,
            version,
            position: length as u64,
            chunk: length as u64,
            events: 0,
            limits: Limits::of(&tables),
            tables,
            open: OpenEvents::none(),
            payload: Vec::new(),
            stored: Vec::new(),
            skipped: 0,
            state: State::Reading,
        })
    }

    /// The version of the format that the file is in.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether the trace has its end; `None` while there may be more to read, and after an error.
    pub fn completeness(&self) -> Option<Completeness> {
        match self.state {
            State::Ended(completeness) => Some(completeness),
            State::Reading | State::Failing(_) | State::Failed(_) => None,
        }
    }

    /// Reads chunks until there are events to hand out, or no more chunks.
    fn advance(&mut self) -> Result<(), TraceError> {
        while self.open.events() == 0 && matches!(self.state, State::Reading) {
            self.chunk = self.position;
            self.read_chunk()?;
        }
        Ok(())
    }

    fn read_chunk(&mut self) -> Result<(), TraceError> {
        let mut header = [0; CHUNK_HEADER];
        let length = read_full(&mut self.input, &mut header)?;
        self.position += length as u64;
        if length < CHUNK_HEADER {
            self.end_early();
            return Ok(());
        }
        let header = ChunkHeader::parse(&header).map_err(|defect| self.malformed(defect))?;
        let Some(length) = self.read_payload(&header)? else {
            self.end_early();
            return Ok(());
        };
        let payload = &self.payload[..length];
        let result = match header.kind {
            None => {
                self.skipped += 1;
                Ok(())
            }
            Some(ChunkKind::Table(table)) => {
                let result = increment::decode(payload, table, &mut self.tables);
                self.limits = Limits::of(&self.tables);
                result
            }
            Some(ChunkKind::Events) => {
                // A chunk without events has no last one after which it would be closed.
                let opened = self.open.open(payload, self.events, &self.limits);
                opened.and_then(|()| if self.open.events() == 0 { self.open.close() } else { Ok(()) })
            }
            Some(ChunkKind::End) => return self.read_end(length),
        };
        result.map_err(|defect| self.malformed(defect).into())
    }

    /// Reads a payload and undoes its compression. `None` if the file ends within it.
    fn read_payload(&mut self, header: &ChunkHeader) -> Result<Option<usize>, TraceError> {
        let stored_len = header.stored_len as usize;
        let raw_len = header.raw_len as usize;
        grow(&mut self.payload, raw_len);
        let stored = match header.codec {
            Codec::Stored => &mut self.payload[..stored_len],
            Codec::Lz4 => {
                grow(&mut self.stored, stored_len);
                &mut self.stored[..stored_len]
            }
        };
        let length = read_full(&mut self.input, stored)?;
        self.position += length as u64;
        if length < stored_len {
            return Ok(None);
        }
        if crc32fast::hash(stored) != header.checksum {
            let defect = Defect::new("a chunk whose checksum is wrong", "an undamaged one");
            return Err(self.malformed(defect).into());
        }
        if header.codec == Codec::Lz4 {
            let decompressed =
                lz4_flex::block::decompress_into(&self.stored[..stored_len], &mut self.payload[..raw_len]);
            if decompressed.ok() != Some(raw_len) {
                let defect = Defect::new("a chunk that cannot be decompressed", format!("LZ4 of {raw_len} bytes"));
                return Err(self.malformed(defect).into());
            }
        }
        Ok(Some(raw_len))
    }

    /// The end mark: it must agree with what was read, and be the last.
    fn read_end(&mut self, length: usize) -> Result<(), TraceError> {
        let Ok(total) = <[u8; 8]>::try_from(&self.payload[..length]).map(u64::from_le_bytes) else {
            return Err(self.malformed(Defect::new(format!("an end mark of {length} bytes"), "8")).into());
        };
        if total != self.events {
            let found = format!("the end of a trace of {total} events");
            return Err(self.malformed(Defect::new(found, format!("{} as there were", self.events))).into());
        }
        if read_full(&mut self.input, &mut [0])? > 0 {
            let place = Place::Byte(self.position);
            self.position += 1;
            return Err(Malformed::new(place, "more after the end of the trace", "the end of the file").into());
        }
        self.state = State::Ended(Completeness::Complete);
        Ok(())
    }

    fn end_early(&mut self) {
        self.state = State::Ended(Completeness::Truncated { at_byte: self.chunk, events: self.events });
    }

    /// A defect of the latest chunk as such.
    fn malformed(&self, defect: Defect) -> Malformed {
        self.malformed_at(Place::Byte(self.chunk), defect)
    }

    fn malformed_at(&self, place: Place, defect: Defect) -> Malformed {
        let defect = wire::of_version(defect, self.version);
        Malformed::new(place, defect.found, defect.expected)
    }

    /// Gives the next events, at most so many and all of one chunk, to a visitor, until it says
    /// `false`. Returns how many it gave; none is the end. An error comes after the events before it.
    pub fn visit(&mut self, most: usize, visitor: &mut impl Visitor) -> Result<usize, TraceError> {
        if let Err(error) = self.advance() {
            return Err(self.fail(error));
        }
        if matches!(self.state, State::Reading) {
            let visited = self.hand_out(most, visitor);
            if visited > 0 {
                return Ok(visited);
            }
        }
        match &self.state {
            State::Reading | State::Ended(_) => Ok(0),
            State::Failed(error) => Err(repeat(error)),
            State::Failing(malformed) => {
                let error = malformed.clone().into();
                Err(self.fail(error))
            }
        }
    }

    /// Hands out events of the open chunk, and remembers what is wrong after them.
    fn hand_out(&mut self, most: usize, visitor: &mut impl Visitor) -> usize {
        let wanted = self.open.events().min(most);
        let (visited, mut defect) = self.open.visit(&self.payload, &self.limits, wanted, &self.tables, visitor);
        self.events += visited as u64;
        if defect.is_none() && self.open.events() == 0 {
            defect = self.open.close().err();
        }
        if let Some(defect) = defect {
            let place = Place::Event { index: self.events, chunk: self.chunk };
            self.state = State::Failing(self.malformed_at(place, defect));
        }
        visited
    }

    fn fail(&mut self, error: TraceError) -> TraceError {
        let returned = repeat(&error);
        self.state = State::Failed(error);
        returned
    }
}

impl<R: Read> EventSource for IltReader<R> {
    fn next_batch(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        batch.clear();
        self.visit(BATCH, &mut |event: &Event, _: &Tables| {
            batch.push(*event);
            true
        })?;
        Ok(())
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn place(&self, index: u64) -> Place {
        Place::Event { index, chunk: self.chunk }
    }

    fn bytes_read(&self) -> u64 {
        self.position
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let State::Ended(Completeness::Truncated { at_byte, events }) = self.state {
            notes.push(format!(
                "the trace is cut off: it has no end mark, and no whole chunk after byte {at_byte}; all {events} events \
                 before that are there"
            ));
        }
        if self.skipped > 0 {
            let chunks = if self.skipped == 1 { "chunk" } else { "chunks" };
            notes.push(format!(
                "{} {chunks} of unknown kinds, marked as not needed, passed over in a trace of format {}; a newer \
                 interloper may know more",
                self.skipped, self.version
            ));
        }
        notes
    }
}

/// Reads until the buffer is full or the input ends, and tells how much it read.
fn read_full(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match input.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Makes a buffer that is used again large enough; it never shrinks, so it soon stops growing.
fn grow(buffer: &mut Vec<u8>, length: usize) {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
}

/// An error once more. Those of the system cannot be cloned, but told again.
fn repeat(error: &TraceError) -> TraceError {
    match error {
        TraceError::Io(error) => io::Error::new(error.kind(), error.to_string()).into(),
        TraceError::Malformed(malformed) => malformed.clone().into(),
        TraceError::TableFull(full) => (*full).into(),
    }
}
