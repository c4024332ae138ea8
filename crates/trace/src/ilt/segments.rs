//! The order of a chunk's events: whose event comes next.
//!
//! The order is read for a whole batch before any event of it is. So it is known for each stream which places
//! of the batch its next events belong to, and each stream can be decoded in one go.

use super::Defect;
use super::varint::Bytes;
use crate::stream::BATCH;

/// The list of segments of a chunk, being read.
#[derive(Debug)]
pub(super) struct Segments {
    /// Where in the payload those that remain are.
    at: usize,
    end: usize,
    /// The segment being read: whose it is, and how many of its events remain.
    stream: u32,
    run: u32,
    streams: usize,
    /// What segments of one byte say.
    short: [Short; 128],
}

#[derive(Clone, Copy, Debug, Default)]
struct Short {
    stream: u8,
    run: u8,
}

/// Which places of a batch the events of each stream take.
#[derive(Debug)]
pub(super) struct Places {
    /// For each place, whose it is. A few more than a batch has, so that short runs can be written without asking
    /// how short they are.
    owners: [u32; BATCH + SHORT_RUN],
    /// For each stream where its places end in the list of places, or while they are entered where the next goes.
    ends: Vec<u32>,
    places: [u16; BATCH],
}

const SHORT_RUN: usize = 4;

impl Segments {
    /// The segments of a chunk with no events.
    pub(super) fn none() -> Self {
        Segments { at: 0, end: 0, stream: 0, run: 0, streams: 0, short: [Short::default(); 128] }
    }

    /// Those in this part of the payload, of a chunk with so many streams.
    pub(super) fn open(&mut self, at: usize, end: usize, streams: usize) {
        (self.at, self.end) = (at, end);
        self.run = 0;
        if streams != self.streams {
            self.streams = streams;
            for (code, short) in (0..).zip(&mut self.short) {
                let (stream, run) = split(code, streams);
                *short = Short { stream: stream as u8, run: run as u8 };
            }
        }
    }

    /// How many bytes of them remain.
    pub(super) fn bytes(&self) -> usize {
        self.end - self.at
    }

    /// Finds whose the next events are, at most a batch of them. Tells how many it found and, if not all that were
    /// wanted, what is wrong after them.
    pub(super) fn place(&mut self, payload: &[u8], wanted: usize, places: &mut Places) -> (usize, Option<Defect>) {
        places.ends.clear();
        places.ends.resize(self.streams, 0);
        let wanted = wanted.min(BATCH);
        let mut found = 0;
        let mut defect = None;
        let Segments { mut at, end, mut stream, mut run, .. } = *self;
        while found < wanted {
            if run == 0 {
                if let Some(&code) = payload[..end].get(at)
                    && let Some(short) = self.short.get(usize::from(code))
                {
                    at += 1;
                    (stream, run) = (u32::from(short.stream), u32::from(short.run));
                } else {
                    match self.next_long(payload, at) {
                        Ok(long) => (at, stream, run) = long,
                        Err(wrong) => {
                            defect = Some(wrong);
                            break;
                        }
                    }
                }
            }
            let taken = (run as usize).min(wanted - found);
            if taken <= SHORT_RUN {
                places.owners[found..found + SHORT_RUN].copy_from_slice(&[stream; SHORT_RUN]);
            } else {
                places.owners[found..found + taken].fill(stream);
            }
            places.ends[stream as usize] += taken as u32;
            run -= taken as u32;
            found += taken;
        }
        *self = Segments { at, end, stream, run, ..*self };
        places.sort(found);
        (found, defect)
    }

    /// A segment of more than one byte: where the next one is, whose it is, and how many events it has.
    #[inline(never)]
    fn next_long(&self, payload: &[u8], at: usize) -> Result<(usize, u32, u32), Defect> {
        let mut input = Bytes::new(&payload[at..self.end], "list of segments");
        let code = input.varint("a segment")?;
        let (stream, run) = split(code, self.streams);
        match u32::try_from(run) {
            Ok(run) => Ok((self.end - input.len(), stream as u32, run)),
            Err(_) => Err(Defect::new(format!("a segment of {run} events"), "at most as many as the chunk has")),
        }
    }
}

impl Places {
    pub(super) fn new() -> Self {
        Places { owners: [0; BATCH + SHORT_RUN], ends: Vec::new(), places: [0; BATCH] }
    }

    /// The places of each stream that has any, in order.
    pub(super) fn by_stream(&self) -> impl Iterator<Item = (usize, &[u16])> {
        let mut start = 0;
        self.ends.iter().enumerate().filter_map(move |(stream, &end)| {
            let places = &self.places[start..end as usize];
            start = end as usize;
            (!places.is_empty()).then_some((stream, places))
        })
    }

    /// Sorts the first places by their owners, of which `ends` holds how often each occurs.
    fn sort(&mut self, count: usize) {
        let mut start = 0;
        for end in &mut self.ends {
            start += std::mem::replace(end, start);
        }
        for (place, &owner) in (0..).zip(&self.owners[..count]) {
            let next = &mut self.ends[owner as usize];
            self.places[*next as usize % BATCH] = place;
            *next += 1;
        }
    }
}

/// Whose a segment is, and how many events it has.
fn split(code: u64, streams: usize) -> (usize, u64) {
    let streams = streams.max(1) as u64;
    ((code % streams) as usize, (code / streams).saturating_add(1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::varint::put;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every place belongs to whom the segments, read one event at a time, give it to.
        #[test]
        fn places_are_those_of_the_segments(
            streams in prop_oneof![1usize..5, 120usize..140, Just(300)],
            runs in proptest::collection::vec((any::<usize>(), prop_oneof![1u64..7, 1u64..700]), 1..200),
        ) {
            let mut payload = Vec::new();
            let mut owners = Vec::new();
            for (stream, run) in runs {
                put(&mut payload, (run - 1) * streams as u64 + (stream % streams) as u64);
                owners.extend(std::iter::repeat_n(stream % streams, run as usize));
            }
            let mut segments = Segments::none();
            segments.open(0, payload.len(), streams);
            let mut places = Places::new();
            for batch in owners.chunks(BATCH) {
                let (found, defect) = segments.place(&payload, batch.len(), &mut places);
                prop_assert_eq!((found, defect.is_some()), (batch.len(), false));
                let mut read = vec![None; batch.len()];
                for (stream, own) in places.by_stream() {
                    prop_assert!(own.is_sorted());
                    own.iter().for_each(|&place| read[usize::from(place)] = Some(stream));
                }
                prop_assert_eq!(read, batch.iter().copied().map(Some).collect::<Vec<_>>());
            }
            prop_assert_eq!(segments.bytes(), 0);
            prop_assert!(segments.place(&payload, 1, &mut places).1.is_some(), "none are left");
        }
    }
}
