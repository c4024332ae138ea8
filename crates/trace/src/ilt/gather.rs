//! Gathering the events of one chunk: a buffer for each thread, and the order they came in.
//!
//! A recorder inside a program does the same with a buffer that only its thread appends to; all it
//! has to keep in common is the list of segments.

use super::varint::put;
use super::{Limits, Previous, encode};
use crate::event::Event;

/// What a new stream and a new segment may add to a chunk besides the bytes of events.
const STREAM_BYTES: usize = 16;
const SEGMENT_BYTES: usize = 8;

/// The events of a chunk that is not written yet. Its buffers are used again for the next.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The first `active` belong to this chunk, the others keep their memory for later ones.
    streams: Vec<Stream>,
    active: usize,
    /// For each thread the number of its stream plus one, or zero.
    slots: Vec<u32>,
    segments: Vec<Segment>,
    events: u32,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Stream {
    thread: u32,
    events: u32,
    bytes: Vec<u8>,
    previous: Previous,
}

/// So many events of one stream in a row.
#[derive(Clone, Copy, Debug)]
struct Segment {
    slot: u32,
    events: u32,
}

impl Gathered {
    /// How many events there are.
    pub(super) fn events(&self) -> u32 {
        self.events
    }

    /// At most how many bytes their chunk will have.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds an event, or tells what about it cannot be written; then there is no going on.
    pub(super) fn push(&mut self, event: &Event, limits: &Limits) -> Result<(), String> {
        let slot = match self.slots.get(event.thread.index()) {
            Some(&above) if above > 0 => above - 1,
            _ => self.add_stream(event.thread.raw(), limits)?,
        };
        let stream = &mut self.streams[slot as usize];
        let before = stream.bytes.len();
        encode::event(&mut stream.bytes, event, &mut stream.previous, limits)?;
        stream.events += 1;
        self.events += 1;
        self.bytes += stream.bytes.len() - before;
        match self.segments.last_mut() {
            Some(segment) if segment.slot == slot => segment.events += 1,
            _ => {
                self.segments.push(Segment { slot, events: 1 });
                self.bytes += SEGMENT_BYTES;
            }
        }
        Ok(())
    }

    fn add_stream(&mut self, thread: u32, limits: &Limits) -> Result<u32, String> {
        if u64::from(thread) >= limits.threads {
            return Err(format!("thread {thread} when there are only {} in the tables", limits.threads));
        }
        let index = thread as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, 0);
        }
        if self.active == self.streams.len() {
            self.streams.push(Stream::default());
        }
        let stream = &mut self.streams[self.active];
        stream.thread = thread;
        stream.events = 0;
        stream.bytes.clear();
        stream.previous = Previous::default();
        let slot = self.active as u32;
        self.active += 1;
        self.slots[index] = self.active as u32;
        self.bytes += STREAM_BYTES;
        Ok(slot)
    }

    /// Replaces `out` by the chunk, whose first event has this index, and is empty then.
    pub(super) fn drain_into(&mut self, out: &mut Vec<u8>, first: u64) {
        let streams = &self.streams[..self.active];
        out.clear();
        out.extend_from_slice(&first.to_le_bytes());
        out.extend_from_slice(&self.events.to_le_bytes());
        out.extend_from_slice(&(streams.len() as u32).to_le_bytes());
        let segments_len_at = out.len();
        out.extend_from_slice(&[0; 4]);
        for stream in streams {
            put(out, u64::from(stream.thread));
            put(out, u64::from(stream.events));
            put(out, stream.bytes.len() as u64);
        }
        let segments_at = out.len();
        for segment in &self.segments {
            put(out, u64::from(segment.events - 1) * streams.len() as u64 + u64::from(segment.slot));
        }
        let segments_len = (out.len() - segments_at) as u32;
        out[segments_len_at..segments_len_at + 4].copy_from_slice(&segments_len.to_le_bytes());
        for stream in streams {
            out.extend_from_slice(&stream.bytes);
            self.slots[stream.thread as usize] = 0;
        }
        self.active = 0;
        self.segments.clear();
        self.events = 0;
        self.bytes = 0;
    }
}
