//! Writing `.ilt` files.
//!
//! Events are gathered and written a chunk at a time, preceded by the entries that the tables have
//! gained. The output is only ever appended to, so that it may be a pipe; after a crash, what is
//! in it up to the last whole chunk can be read.

use super::Limits;
use super::gather::Gathered;
use super::increment::{self, Table};
use super::wire::{self, ChunkHeader, ChunkKind, Codec};
use crate::event::Event;
use crate::stream::{EventSink, SinkError};
use crate::tables::Tables;
use lz4_flex::block::CompressTable;
use std::io::{self, Write};

/// How an `.ilt` file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IltOptions {
    /// A chunk is written when it has this many events. More are lost in a crash, fewer take more
    /// room.
    pub events_per_chunk: u32,
    /// Whether chunks are compressed where that makes them smaller.
    pub compress: bool,
}

impl IltOptions {
    /// What suits files: chunks of some hundred kilobytes, compressed.
    pub const DEFAULT: IltOptions = IltOptions { events_per_chunk: 1 << 16, compress: true };
}

impl Default for IltOptions {
    fn default() -> Self {
        IltOptions::DEFAULT
    }
}

/// A chunk is written, too, when it has about this many bytes: a reader holds one in memory.
const CHUNK_BYTES: usize = 1 << 20;

/// Compression must save this part (one in so many) of a chunk, or it is stored as it is: reading
/// would become slower for next to nothing.
const LEAST_SAVING: usize = 8;

/// Writes an `.ilt` file. Not calling [`finish`](EventSink::finish) leaves one that looks cut off.
pub struct IltWriter<W> {
    output: W,
    options: IltOptions,
    gathered: Gathered,
    /// How many entries of each table, in the order of [`Table::ALL`], have been written.
    written: [usize; Table::ALL.len()],
    /// How many events have been written.
    events: u64,
    bytes: u64,
    is_open: bool,
    payload: Vec<u8>,
    compressed: Vec<u8>,
    matches: CompressTable,
}

impl<W: Write> IltWriter<W> {
    /// Begins a file.
    pub fn new(output: W) -> io::Result<Self> {
        Self::with_options(output, IltOptions::DEFAULT)
    }

    /// Begins a file that is written in another way than is usual.
    pub fn with_options(mut output: W, options: IltOptions) -> io::Result<Self> {
        let header = wire::file_header();
        output.write_all(&header)?;
        Ok(IltWriter {
            output,
            options: IltOptions { events_per_chunk: options.events_per_chunk.max(1), ..options },
            gathered: Gathered::default(),
            written: Table::ALL.map(Table::initial_count),
            events: 0,
            bytes: header.len() as u64,
            is_open: true,
            payload: Vec::new(),
            compressed: Vec::new(),
            matches: CompressTable::large(),
        })
    }

    /// Writes everything so far as whole chunks and flushes the output, so that a crash from here
    /// on loses nothing of it.
    pub fn flush_chunk(&mut self, tables: &Tables) -> Result<(), SinkError> {
        self.step(|writer| {
            writer.write_increments(tables)?;
            writer.write_events()?;
            Ok(writer.output.flush()?)
        })
    }

    /// How many bytes have been written; events still being gathered are not among them.
    pub fn bytes_written(&self) -> u64 {
        self.bytes
    }

    /// The output. What was gathered but not written is lost.
    pub fn into_inner(self) -> W {
        self.output
    }

    /// Does something that leaves the file unusable if it fails, so that nothing is written after.
    fn step(&mut self, work: impl FnOnce(&mut Self) -> Result<(), SinkError>) -> Result<(), SinkError> {
        if !self.is_open {
            return Err(io::Error::other("the trace is finished, or could not be written before").into());
        }
        let result = work(self);
        self.is_open = result.is_ok();
        result
    }

    fn gather(&mut self, events: &[Event], tables: &Tables) -> Result<(), SinkError> {
        let limits = Limits::of(tables);
        for event in events {
            self.gathered.push(event, &limits).map_err(|what| self.inexpressible(what))?;
            if self.gathered.events() >= self.options.events_per_chunk || self.gathered.bytes() >= CHUNK_BYTES {
                self.write_increments(tables)?;
                self.write_events()?;
            }
        }
        Ok(())
    }

    fn write_increments(&mut self, tables: &Tables) -> Result<(), SinkError> {
        for (position, table) in Table::ALL.into_iter().enumerate() {
            loop {
                let first = self.written[position];
                let encoded = increment::encode(&mut self.payload, table, tables, first);
                let Some(next) = encoded.map_err(|what| self.inexpressible(what))? else { break };
                self.write_payload(ChunkKind::Table(table))?;
                self.written[position] = next;
            }
        }
        Ok(())
    }

    fn write_events(&mut self) -> Result<(), SinkError> {
        let events = self.gathered.events();
        if events > 0 {
            self.gathered.drain_into(&mut self.payload, self.events);
            self.write_payload(ChunkKind::Events)?;
            self.events += u64::from(events);
        }
        Ok(())
    }

    fn write_payload(&mut self, kind: ChunkKind) -> Result<(), SinkError> {
        let raw_len = self.payload.len();
        let compressed_len = if self.options.compress { self.compress() } else { None };
        let (codec, stored) = match compressed_len {
            Some(length) => (Codec::Lz4, &self.compressed[..length]),
            None => (Codec::Stored, &self.payload[..]),
        };
        // Chunks are closed long before they reach the limit of the format, so neither cast cuts.
        let header = ChunkHeader {
            kind: Some(kind),
            codec,
            stored_len: stored.len() as u32,
            raw_len: raw_len as u32,
            checksum: crc32fast::hash(stored),
        };
        let header = header.to_bytes(kind);
        self.output.write_all(&header)?;
        self.output.write_all(stored)?;
        self.bytes += (header.len() + stored.len()) as u64;
        Ok(())
    }

    /// The length of the payload compressed, if that is worth it.
    fn compress(&mut self) -> Option<usize> {
        let room = lz4_flex::block::get_maximum_output_size(self.payload.len());
        if self.compressed.len() < room {
            self.compressed.resize(room, 0);
        }
        let length =
            lz4_flex::block::compress_into_with_table(&self.payload, &mut self.compressed, &mut self.matches).ok()?;
        (length <= self.payload.len() - self.payload.len().div_ceil(LEAST_SAVING)).then_some(length)
    }

    fn inexpressible(&self, what: String) -> SinkError {
        let index = self.events + u64::from(self.gathered.events());
        SinkError::Inexpressible { index, format: ".ilt", what }
    }
}

impl<W: Write> EventSink for IltWriter<W> {
    fn write(&mut self, events: &[Event], tables: &Tables) -> Result<(), SinkError> {
        self.step(|writer| writer.gather(events, tables))
    }

    fn finish(&mut self, tables: &Tables) -> Result<(), SinkError> {
        self.step(|writer| {
            writer.write_increments(tables)?;
            writer.write_events()?;
            writer.payload.clear();
            writer.payload.extend_from_slice(&writer.events.to_le_bytes());
            writer.write_payload(ChunkKind::End)?;
            Ok(writer.output.flush()?)
        })?;
        self.is_open = false;
        Ok(())
    }
}
