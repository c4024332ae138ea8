//! Reading the chunk that holds events: streams of several threads, and the order of all.
//!
//! Events are decoded a batch at a time, each stream in a run of its own, and put where they belong: what one
//! thread does next can be predicted much better than what happens next, and whoever is given the batch finds each
//! event right behind the one before. The state of decoding starts anew in each chunk, so a chunk can be read
//! without those before it (but for the tables).

use super::fast::{self, FastLimits};
use super::segments::{Places, Segments};
use super::varint::Bytes;
use super::{Defect, Limits, Previous, decode};
use crate::event::{Event, Op};
use crate::ids::{SiteId, ThreadId};
use crate::stream::{BATCH, Visitor};
use crate::tables::Tables;

/// A chunk of events being read. Its buffers are used again for the next.
#[derive(Debug)]
pub(super) struct OpenEvents {
    streams: Vec<Stream>,
    segments: Segments,
    places: Places,
    /// How many events are not decoded yet.
    undecoded: u32,
    /// The latest batch: where the next event to hand out is, and how many were decoded.
    batch: Box<[Event; BATCH]>,
    next: usize,
    ready: usize,
    /// What is wrong after them.
    defect: Option<Defect>,
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
    /// How many events remain.
    events: u32,
    previous: Previous,
}

impl OpenEvents {
    /// No chunk: nothing remains to be read.
    pub(super) fn none() -> Self {
        const FILLER: Event = Event { thread: ThreadId::new(0), site: SiteId::UNKNOWN, op: Op::Exit };
        OpenEvents {
            streams: Vec::new(),
            segments: Segments::none(),
            places: Places::new(),
            undecoded: 0,
            batch: Box::new([FILLER; BATCH]),
            next: 0,
            ready: 0,
            defect: None,
            seen: Vec::new(),
            chunks: 0,
        }
    }

    /// How many events remain.
    pub(super) fn events(&self) -> usize {
        self.undecoded as usize + (self.ready - self.next)
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
        let segments_at = payload.len() - input.len();
        input.take(u64::from(segments_len), "the list of segments")?;
        let segments_end = payload.len() - input.len();
        if all_bytes != input.len() as u64 {
            let found = format!("{} bytes for the streams", input.len());
            return Err(Defect::new(found, format!("{all_bytes} as their lengths add up to")));
        }
        let mut at = segments_end as u32;
        for stream in &mut self.streams {
            stream.at = at;
            at += stream.end;
            stream.end = at;
        }
        self.segments.open(segments_at, segments_end, self.streams.len());
        self.undecoded = events;
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
        Ok(Stream { thread, at: 0, end, events, previous: Previous::default() })
    }

    /// Gives as many events as are asked for, which must not be more than remain, to a visitor, until
    /// it says `false`. Tells how many it gave and, if it could not go on, what was wrong with the next.
    pub(super) fn visit(
        &mut self,
        payload: &[u8],
        limits: &Limits,
        most: usize,
        tables: &Tables,
        visitor: &mut impl Visitor,
    ) -> (usize, Option<Defect>) {
        let mut visited = 0;
        while visited < most {
            if self.next == self.ready {
                if self.defect.is_some() {
                    return (visited, self.defect.take());
                }
                self.decode_batch(payload, limits);
                continue;
            }
            let last = self.ready.min(self.next + (most - visited));
            let batch = &self.batch[self.next..last];
            let last_wanted = batch.iter().position(|event| !visitor.visit(event, tables));
            let given = last_wanted.map_or(batch.len(), |last| last + 1);
            self.next += given;
            visited += given;
            if last_wanted.is_some() {
                break;
            }
        }
        (visited, None)
    }

    /// Decodes the next batch, as far as nothing is wrong.
    #[inline(never)]
    fn decode_batch(&mut self, payload: &[u8], limits: &Limits) {
        let fast_limits = FastLimits::new(limits);
        let (mut ready, mut defect) = self.segments.place(payload, self.undecoded as usize, &mut self.places);
        for (stream, places) in self.places.by_stream() {
            let decoded = self.streams[stream].decode(payload, (limits, &fast_limits), places, &mut self.batch);
            // Events of other threads that come after the first defect are of no use.
            if let Err((place, wrong)) = decoded
                && usize::from(place) < ready
            {
                ready = usize::from(place);
                defect = Some(wrong);
            }
        }
        self.undecoded -= ready as u32;
        (self.next, self.ready) = (0, ready);
        self.defect = defect;
    }

    /// Checks that nothing remains after the last event.
    pub(super) fn close(&self) -> Result<(), Defect> {
        if self.segments.bytes() > 0 {
            let found = format!("{} bytes of segments after the last event", self.segments.bytes());
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
    /// Decodes its next events into these places of a batch. If one cannot be decoded, tells which place stays
    /// empty and why.
    #[inline(never)]
    fn decode(
        &mut self,
        payload: &[u8],
        (limits, fast_limits): (&Limits, &FastLimits),
        places: &[u16],
        batch: &mut [Event; BATCH],
    ) -> Result<(), (u16, Defect)> {
        let Stream { thread, events, mut previous, .. } = *self;
        let (mut at, end) = (self.at as usize, self.end as usize);
        let (own, excess) = places.split_at(places.len().min(events as usize));
        for &place in own {
            let out = &mut batch[usize::from(place) % BATCH];
            // Near the end of the stream an event might be taken for longer than it can be.
            let window = payload[..end].get(at..).and_then(|rest| rest.first_chunk());
            if let Some(length) = window.and_then(|window| fast::event(window, thread, &mut previous, fast_limits, out))
            {
                at += length;
                continue;
            }
            let mut input = Bytes::new(&payload[at..end], "stream of the thread");
            *out = decode::event(&mut input, thread, &mut previous, limits).map_err(|wrong| (place, wrong))?;
            at = end - input.len();
        }
        *self = Stream { at: at as u32, previous, events: events - own.len() as u32, ..*self };
        if let Some(&place) = excess.first() {
            let found = format!("more events in the segments of thread {}", thread.raw());
            return Err((place, Defect::new(found, "as many as its stream has")));
        }
        Ok(())
    }
}
