//! Reading the chunk that holds events: streams of several threads, and the order of all.
//!
//! Streams are decoded a few events ahead of being asked for, each in a run of its own: what one
//! thread does next can be predicted much better than what happens next. The state of decoding
//! starts anew in each chunk, so a chunk can be read without those before it (but for the tables).

use super::fast::{self, FastLimits, WINDOW};
use super::varint::Bytes;
use super::{Defect, Limits, Previous, decode};
use crate::event::{Event, Op};
use crate::ids::{SiteId, ThreadId};
use crate::stream::{Visitor, visit_apart};
use crate::tables::Tables;

/// How many bytes the reader keeps after a payload, so that every event is followed by enough to
/// look at without asking whether it is there.
pub(super) const PADDING: usize = WINDOW;

/// A chunk of events being read. Its buffers are used again for the next.
#[derive(Debug)]
pub(super) struct OpenEvents {
    streams: Vec<Stream>,
    /// Where in the payload the segments that remain are.
    segments_at: usize,
    segments_end: usize,
    /// The segment being read: whose it is, and how many of its events remain.
    slot: u32,
    run: u32,
    /// How many events remain.
    events: u32,
    /// Events decoded ahead: `depth` places for each stream.
    ahead: Vec<Event>,
    depth: usize,
    /// Segments that are written in one byte.
    short: [Segment; 128],
    /// For each thread the number of the latest chunk that had a stream of it.
    seen: Vec<u64>,
    chunks: u64,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    thread: ThreadId,
    /// Where decoding goes on, and where it ends.
    at: u32,
    end: u32,
    /// How many events remain, those decoded ahead included.
    events: u32,
    previous: Previous,
    /// Where the next of the events decoded ahead is, and where they end.
    next: u32,
    ready: u32,
}

/// How many events are decoded ahead in all: what fits the first-level cache.
const AHEAD: usize = 512;

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    slot: u8,
    events: u8,
}

impl OpenEvents {
    /// No chunk: nothing remains to be read.
    pub(super) fn none() -> Self {
        OpenEvents {
            streams: Vec::new(),
            segments_at: 0,
            segments_end: 0,
            slot: 0,
            run: 0,
            events: 0,
            ahead: Vec::new(),
            depth: 1,
            short: [Segment::default(); 128],
            seen: Vec::new(),
            chunks: 0,
        }
    }

    /// How many events remain.
    pub(super) fn events(&self) -> u32 {
        self.events
    }

    /// Begins to read a chunk, of which the first event should have the index `first`.
    pub(super) fn open(&mut self, payload: &[u8], first: u64, limits: &Limits) -> Result<(), Defect> {
        let mut input = Bytes::new(payload, "chunk");
        let found = u64::from_le_bytes(input.array("the index of the first event")?);
        if found != first {
            return Err(Defect::new(format!("events from index {found} on"), format!("index {first} next")));
        }
        let events = u32::from_le_bytes(input.array("the number of events")?);
        let streams = u32::from_le_bytes(input.array("the number of streams")?);
        let segments_len = u32::from_le_bytes(input.array("the length of the segments")?);

        self.streams.clear();
        self.chunks += 1;
        let (mut all_events, mut all_bytes) = (0u64, 0u64);
        for _ in 0..streams {
            let stream = self.open_stream(&mut input, limits)?;
            all_events += u64::from(stream.events);
            all_bytes += u64::from(stream.end);
            self.streams.push(stream);
        }
        if all_events != u64::from(events) {
            return Err(Defect::new(format!("streams of {all_events} events"), format!("{events} as the chunk says")));
        }
        self.segments_at = payload.len() - input.len();
        input.take(u64::from(segments_len), "the list of segments")?;
        self.segments_end = payload.len() - input.len();
        if all_bytes != input.len() as u64 {
            let found = format!("{} bytes for the streams", input.len());
            return Err(Defect::new(found, format!("{all_bytes} as their lengths add up to")));
        }
        let mut at = self.segments_end as u32;
        for stream in &mut self.streams {
            stream.at = at;
            at += stream.end;
            stream.end = at;
        }
        for (code, segment) in self.short.iter_mut().enumerate() {
            let (slot, events) = split_segment(code as u64, self.streams.len());
            *segment = Segment { slot: slot as u8, events: events as u8 };
        }
        const FILLER: Event = Event { thread: ThreadId::new(0), site: SiteId::UNKNOWN, op: Op::Exit };
        self.depth = (AHEAD / self.streams.len().max(1)).clamp(4, 64);
        let places = self.depth * self.streams.len();
        if self.ahead.len() < places {
            self.ahead.resize(places, FILLER);
        }
        self.run = 0;
        self.events = events;
        Ok(())
    }

    /// An entry of the list of streams; `end` is only its length, as long as not all are known.
    fn open_stream(&mut self, input: &mut Bytes<'_>, limits: &Limits) -> Result<Stream, Defect> {
        let thread = ThreadId::new(input.id(limits.threads, "thread")?);
        if self.seen.len() <= thread.index() {
            self.seen.resize(thread.index() + 1, 0);
        }
        if std::mem::replace(&mut self.seen[thread.index()], self.chunks) == self.chunks {
            return Err(Defect::new(format!("a second stream of thread {}", thread.raw()), "one stream per thread"));
        }
        let events = input.varint32("the number of events of a stream")?;
        let end = input.varint32("the length of a stream")?;
        Ok(Stream { thread, at: 0, end, events, previous: Previous::default(), next: 0, ready: 0 })
    }

    /// Gives as many events as are asked for, which must not be more than remain, to a visitor, until
    /// it says `false`. Tells how many it gave and, if it could not go on, what was wrong with the next.
    pub(super) fn visit(
        &mut self,
        raw: &[u8],
        limits: &Limits,
        most: usize,
        tables: &Tables,
        visitor: &mut impl Visitor,
    ) -> (usize, Option<Defect>) {
        let fast_limits = FastLimits::new(limits);
        let mut visited = 0;
        let mut defect = None;
        while visited < most {
            let (fast, more) = self.visit_fast(raw, &fast_limits, most - visited, tables, visitor);
            visited += fast;
            if !more || visited == most {
                break;
            }
            match self.read_one(raw, limits) {
                Ok(event) => {
                    visited += 1;
                    if !visit_apart(visitor, &event, tables) {
                        break;
                    }
                }
                Err(wrong) => {
                    defect = Some(wrong);
                    break;
                }
            }
        }
        self.events -= visited as u32;
        (visited, defect)
    }

    /// Visits events until one comes that is not read quickly. Tells how many, and whether the visitor
    /// wants more.
    #[inline]
    fn visit_fast(
        &mut self,
        raw: &[u8],
        limits: &FastLimits,
        most: usize,
        tables: &Tables,
        visitor: &mut impl Visitor,
    ) -> (usize, bool) {
        let streams = &mut self.streams[..];
        let segments = &raw[self.segments_at..self.segments_end];
        let mut segments_read = 0;
        let (mut slot, mut run) = (self.slot, self.run);
        let mut visited = 0;
        let mut more = true;
        while more && visited < most {
            if run == 0 {
                let Some(&code) = segments.get(segments_read) else { break };
                if code < 0x80 {
                    let segment = self.short[usize::from(code)];
                    slot = u32::from(segment.slot);
                    run = u32::from(segment.events);
                    segments_read += 1;
                } else {
                    // With many threads a segment takes two bytes; most are of one event.
                    let Some(&high) = segments.get(segments_read + 1).filter(|&&high| high < 0x80) else { break };
                    slot = u32::from(code & 0x7f) | u32::from(high) << 7;
                    if slot as usize >= streams.len() {
                        break;
                    }
                    run = 1;
                    segments_read += 2;
                }
            }
            let Some(stream) = streams.get_mut(slot as usize) else { break };
            if stream.next == stream.ready {
                let places = slot as usize * self.depth;
                if !stream.decode_ahead(raw, limits, places, &mut self.ahead[places..places + self.depth]) {
                    break;
                }
            }
            let Some(event) = self.ahead.get(stream.next as usize) else { break };
            stream.next += 1;
            stream.events -= 1;
            run -= 1;
            visited += 1;
            more = visitor.visit(event, tables);
        }
        self.segments_at += segments_read;
        self.slot = slot;
        self.run = run;
        (visited, more)
    }

    /// Reads one event, of whatever kind.
    fn read_one(&mut self, raw: &[u8], limits: &Limits) -> Result<Event, Defect> {
        if self.run == 0 {
            self.next_segment(raw)?;
        }
        let stream = &mut self.streams[self.slot as usize];
        if stream.next < stream.ready {
            let event = self.ahead[stream.next as usize];
            stream.next += 1;
            stream.events -= 1;
            self.run -= 1;
            return Ok(event);
        }
        if stream.events == 0 {
            let found = format!("more events in the segments of thread {}", stream.thread.raw());
            return Err(Defect::new(found, "as many as its stream has"));
        }
        let mut input = Bytes::new(&raw[stream.at as usize..stream.end as usize], "stream of the thread");
        let event = decode::event(&mut input, stream.thread, &mut stream.previous, limits)?;
        stream.at = stream.end - input.len() as u32;
        stream.events -= 1;
        self.run -= 1;
        Ok(event)
    }

    fn next_segment(&mut self, raw: &[u8]) -> Result<(), Defect> {
        let mut input = Bytes::new(&raw[self.segments_at..self.segments_end], "list of segments");
        let code = input.varint("a segment")?;
        self.segments_at = self.segments_end - input.len();
        let (slot, events) = split_segment(code, self.streams.len());
        let Ok(run) = u32::try_from(events) else {
            return Err(Defect::new(format!("a segment of {events} events"), "at most as many as the chunk has"));
        };
        self.slot = slot as u32;
        self.run = run;
        Ok(())
    }

    /// Checks that nothing remains after the last event.
    pub(super) fn close(&self) -> Result<(), Defect> {
        if self.segments_at != self.segments_end {
            let found = format!("{} bytes of segments after the last event", self.segments_end - self.segments_at);
            return Err(Defect::new(found, "none"));
        }
        match self.streams.iter().find(|stream| stream.at != stream.end) {
            None => Ok(()),
            Some(stream) => {
                let found =
                    format!("{} bytes after the last event of thread {}", stream.end - stream.at, stream.thread.raw());
                Err(Defect::new(found, "none"))
            }
        }
    }
}

impl Stream {
    /// Decodes the next events into its places, which begin at `first`, until all are taken or an
    /// event comes that is not read quickly. Tells whether there is one. All that were decoded before
    /// must have been taken.
    #[inline(never)]
    fn decode_ahead(&mut self, raw: &[u8], limits: &FastLimits, first: usize, places: &mut [Event]) -> bool {
        let Stream { thread, mut at, end, mut previous, .. } = *self;
        let mut ready = first as u32;
        for place in places.iter_mut().take(self.events as usize) {
            let Some(window) = raw.get(at as usize..).and_then(|rest| rest.first_chunk()) else { break };
            let mut next = previous;
            let Some((event, length)) = fast::event(window, thread, &mut next, limits) else { break };
            if at + length as u32 > end {
                break;
            }
            at += length as u32;
            previous = next;
            *place = event;
            ready += 1;
        }
        (self.at, self.previous) = (at, previous);
        (self.next, self.ready) = (first as u32, ready);
        ready > first as u32
    }
}

/// Whose a segment is, and how many events it has.
fn split_segment(code: u64, streams: usize) -> (usize, u64) {
    let streams = streams.max(1) as u64;
    ((code % streams) as usize, (code / streams).saturating_add(1))
}
