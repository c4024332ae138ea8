//! RapidBin: the packed binary form in which the field exchanges traces.
//!
//! The format has no names, values or atomics: ids become names (`T0`, `L0`, `V0`), everything else
//! stays unknown. The reader refuses what the format does not allow, and **never** judges what the
//! events mean together: who may release a lock or fork a thread is checked for all formats in one
//! other place. The one exception is `end` without `begin`, which real files contain; see
//! [`RapidBinReader::notes`](EventSource::notes).
//!
//! ```text
//! header, big-endian: i16 threads, i32 locks, i32 variables, i64 events
//! event, big-endian i64: bits 0–9 thread, 10–13 operation, 14–47 operand, 48–62 location
//! operations: 0 acq, 1 rel, 2 r, 3 w, 4 fork, 5 join, 6 begin, 7 end, 8 req
//! ```
//!
//! The header's counts of threads, locks and variables are upper bounds in real files. The operand
//! of `begin` and `end` says nothing and is ignored.

use crate::error::{Malformed, Place, TraceError};
use crate::event::{Access, Attempt, Event, LockMode, Op, Region, RegionSource};
use crate::ids::{EventIndex, LocationId, LockId, SiteId, ThreadId};
use crate::stream::{BATCH, EventSource};
use crate::tables::Tables;
use rustc_hash::FxHashMap;
use std::io::{self, Read};

/// Reads a RapidBin trace.
pub struct RapidBinReader<R> {
    input: R,
    header: Option<Header>,
    /// Events handed out or decoded so far.
    events_read: u64,
    bytes_read: u64,
    buffer: Vec<u8>,
    names: Names,
    regions: Regions,
    /// The defect behind the events of the batch handed out last.
    pending: Option<TraceError>,
    ended: bool,
}

impl<R: Read> RapidBinReader<R> {
    /// A reader of this input; nothing is read yet. It needs no buffering.
    pub fn new(input: R) -> Self {
        RapidBinReader {
            input,
            header: None,
            events_read: 0,
            bytes_read: 0,
            buffer: Vec::new(),
            names: Names::default(),
            regions: Regions::default(),
            pending: None,
            ended: false,
        }
    }

    fn fill(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        let header = match self.header {
            Some(header) => header,
            None => {
                let header = self.read_header()?;
                *self.header.insert(header)
            }
        };
        let left = header.events - self.events_read;
        if left == 0 {
            return self.expect_end(header);
        }
        let wanted = left.min(BATCH as u64) as usize * EVENT_BYTES;
        let start = self.bytes_read;
        let failed = self.read_bytes(wanted).err();
        // Whole events in front of a cut or a failure count.
        let (words, _) = self.buffer.as_chunks::<EVENT_BYTES>();
        for (word, at) in words.iter().zip((start..).step_by(EVENT_BYTES)) {
            let word = Word { bits: u64::from_be_bytes(*word), at };
            batch.push(decode(word, self.events_read, header, &mut self.names, &mut self.regions)?);
            self.events_read += 1;
        }
        if let Some(failure) = failed {
            return Err(failure.into());
        }
        if self.buffer.len() < wanted {
            return Err(Malformed::new(
                Place::Byte(self.bytes_read),
                format!("the end of the file after {} events", self.events_read),
                format!("the {} events that the header announces", header.events),
            )
            .into());
        }
        Ok(())
    }

    fn read_header(&mut self) -> Result<Header, TraceError> {
        self.read_bytes(HEADER_BYTES)?;
        let Some(header) = self.buffer.first_chunk::<HEADER_BYTES>() else {
            return Err(Malformed::new(
                Place::Byte(self.bytes_read),
                "the end of the file",
                format!("a header of {HEADER_BYTES} bytes"),
            )
            .into());
        };
        Ok(Header::parse(header)?)
    }

    fn expect_end(&mut self, header: Header) -> Result<(), TraceError> {
        let end = self.bytes_read;
        self.read_bytes(1)?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        Err(Malformed::new(
            Place::Byte(end),
            "more bytes",
            format!("the end of the file after the {} events that the header announces", header.events),
        )
        .into())
    }

    /// Fills the buffer with this many bytes, or fewer where the input ends or fails.
    fn read_bytes(&mut self, wanted: usize) -> io::Result<()> {
        self.buffer.clear();
        let outcome = self.input.by_ref().take(wanted as u64).read_to_end(&mut self.buffer);
        self.bytes_read += self.buffer.len() as u64;
        outcome.map(|_| ())
    }
}

impl<R: Read> EventSource for RapidBinReader<R> {
    fn next_batch(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        batch.clear();
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        if self.ended {
            return Ok(());
        }
        match self.fill(batch) {
            Ok(()) => self.ended = batch.is_empty(),
            Err(error) => {
                self.ended = true;
                if batch.is_empty() {
                    return Err(error);
                }
                self.pending = Some(error);
            }
        }
        Ok(())
    }

    fn tables(&self) -> &Tables {
        &self.names.tables
    }

    fn place(&self, index: u64) -> Place {
        Place::Byte(HEADER_BYTES as u64 + EVENT_BYTES as u64 * index)
    }

    fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Says where begin and end stopped making sense, if they did.
    fn notes(&self) -> Vec<String> {
        let note = self.regions.unbalanced.as_ref().map(|(index, thread)| {
            format!(
                "event {index}: thread T{thread} ends a region that it never began; \
                 this and all later begin and end are ignored"
            )
        });
        note.into_iter().collect()
    }
}

const HEADER_BYTES: usize = 18;
const EVENT_BYTES: usize = 8;

/// The counts of the header.
#[derive(Clone, Copy)]
struct Header {
    threads: u64,
    locks: u64,
    variables: u64,
    events: u64,
}

impl Header {
    fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Header, Malformed> {
        let [t0, t1, l0, l1, l2, l3, v0, v1, v2, v3, events @ ..] = *bytes;
        Ok(Header {
            threads: count(i16::from_be_bytes([t0, t1]).into(), "thread", 0)?,
            locks: count(i32::from_be_bytes([l0, l1, l2, l3]).into(), "lock", 2)?,
            variables: count(i32::from_be_bytes([v0, v1, v2, v3]).into(), "variable", 6)?,
            events: count(i64::from_be_bytes(events), "event", 10)?,
        })
    }
}

fn count(number: i64, of: &str, at: u64) -> Result<u64, Malformed> {
    u64::try_from(number)
        .map_err(|_| Malformed::new(Place::Byte(at), format!("{number} as the {of} count"), "a count of at least 0"))
}

/// One event as stored, and where.
#[derive(Clone, Copy)]
struct Word {
    bits: u64,
    at: u64,
}

impl Word {
    fn thread(self) -> u64 {
        self.bits & 0x3ff
    }

    fn operation(self) -> u32 {
        (self.bits >> 10 & 0xf) as u32
    }

    fn operand(self) -> u64 {
        self.bits >> 14 & 0x3_ffff_ffff
    }

    fn location(self) -> u64 {
        self.bits >> 48 & 0x7fff
    }

    fn top_bit(self) -> bool {
        self.bits >> 63 != 0
    }

    /// Checks an id against the count of the header; counts are at most `i32::MAX`.
    fn below(self, number: u64, count: u64, of: &str) -> Result<u32, Malformed> {
        u32::try_from(number).ok().filter(|_| number < count).ok_or_else(|| {
            Malformed::new(
                Place::Byte(self.at),
                format!("{of} {number}"),
                format!("a number below {count}, the {of} count of the header"),
            )
        })
    }
}

fn decode(
    word: Word,
    index: u64,
    header: Header,
    names: &mut Names,
    regions: &mut Regions,
) -> Result<Event, TraceError> {
    if word.top_bit() {
        return Err(Malformed::new(Place::Byte(word.at), "an event whose top bit is set", "a top bit of 0").into());
    }
    let thread_number = word.below(word.thread(), header.threads, "thread")?;
    let lock = || word.below(word.operand(), header.locks, "lock");
    let variable = || word.below(word.operand(), header.variables, "variable");
    let other_thread = || {
        word.below(word.operand(), header.threads, "thread")
            .map_err(|defect| Malformed { found: format!("{} as operand", defect.found), ..defect })
    };
    let op = match word.operation() {
        0 => Op::Acquire { lock: names.lock(lock()?)?, mode: LockMode::Exclusive, by: Attempt::Blocking },
        1 => Op::Release { lock: names.lock(lock()?)?, mode: LockMode::Exclusive },
        2 => Op::Read(Access::bare(names.variable(variable()?)?)),
        3 => Op::Write(Access::bare(names.variable(variable()?)?)),
        4 => Op::Fork(names.thread(other_thread()?)?),
        5 => Op::Join(names.thread(other_thread()?)?),
        BEGIN => regions.begin(thread_number),
        END => regions.end(thread_number, EventIndex(index)),
        8 => Op::Request(names.lock(lock()?)?),
        code => {
            return Err(Malformed::new(
                Place::Byte(word.at),
                format!("operation {code}"),
                "an operation from 0 (acq) to 8 (req)",
            )
            .into());
        }
    };
    // Fifteen bits always fit a bare line.
    let site = SiteId::bare_line(word.location()).unwrap_or(SiteId::UNKNOWN);
    Ok(Event { thread: names.thread(thread_number)?, site, op })
}

/// The ids behind the numbers of the file, which need not be dense or come in order.
#[derive(Default)]
struct Names {
    tables: Tables,
    threads: FxHashMap<u32, ThreadId>,
    locks: FxHashMap<u32, LockId>,
    variables: FxHashMap<u32, LocationId>,
}

impl Names {
    fn thread(&mut self, number: u32) -> Result<ThreadId, TraceError> {
        if let Some(&id) = self.threads.get(&number) {
            return Ok(id);
        }
        let id = self.tables.intern_thread(&format!("T{number}"))?;
        self.threads.insert(number, id);
        Ok(id)
    }

    fn lock(&mut self, number: u32) -> Result<LockId, TraceError> {
        if let Some(&id) = self.locks.get(&number) {
            return Ok(id);
        }
        let id = self.tables.intern_lock(&format!("L{number}"))?;
        self.locks.insert(number, id);
        Ok(id)
    }

    fn variable(&mut self, number: u32) -> Result<LocationId, TraceError> {
        if let Some(&id) = self.variables.get(&number) {
            return Ok(id);
        }
        let id = self.tables.intern_location(&format!("V{number}"), 0)?;
        self.variables.insert(number, id);
        Ok(id)
    }
}

const BEGIN: u32 = 6;
const END: u32 = 7;

/// The regions open in each thread, until begin and end turn out not to match.
#[derive(Default)]
struct Regions {
    depth: FxHashMap<u32, u64>,
    /// The first `end` without `begin`, and its thread.
    unbalanced: Option<(EventIndex, u32)>,
}

impl Regions {
    const REGION: Region = Region { name: None, source: RegionSource::Annotated };

    fn begin(&mut self, thread: u32) -> Op {
        if self.unbalanced.is_some() {
            return Op::Mark { code: BEGIN };
        }
        *self.depth.entry(thread).or_insert(0) += 1;
        Op::RegionBegin(Self::REGION)
    }

    fn end(&mut self, thread: u32, index: EventIndex) -> Op {
        if self.unbalanced.is_some() {
            return Op::Mark { code: END };
        }
        match self.depth.get_mut(&thread) {
            Some(depth) if *depth > 0 => {
                *depth -= 1;
                Op::RegionEnd(Self::REGION)
            }
            _ => {
                self.unbalanced = Some((index, thread));
                Op::Mark { code: END }
            }
        }
    }
}
