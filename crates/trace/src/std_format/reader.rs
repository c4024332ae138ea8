//! Reading STD: blocks in, batches of events out.

use super::line::{self, FastTail, Line, StdDialect, Verb, WINDOW};
use super::names::NameCache;
use crate::error::{Malformed, Place, TraceError, quote};
use crate::event::{Access, Attempt, Event, LockMode, Op, Region, RegionSource};
use crate::ids::{LocationId, LockId, SiteId, ThreadId};
use crate::stream::{BATCH, EventSource, Visitor, visit_apart};
use crate::tables::{Site, TableFull, Tables};
use std::io::Read;

/// How much is read at once. Larger blocks leave the second-level cache, smaller ones cost calls.
const BLOCK: usize = 256 << 10;

/// No line is this long; without a bound, a file without newlines would be read into memory.
const LONGEST_LINE: usize = 1 << 20;

/// A reader of STD text.
pub struct StdReader<R> {
    input: R,
    dialect: StdDialect,
    /// What has been read and not yet parsed is `buffer[start..end]`. The rest, at least
    /// [`WINDOW`] bytes of it, is only there so that the fast parser may look beyond the end.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end_of_input: bool,
    /// Lines parsed so far.
    lines: u64,
    /// Bytes parsed so far.
    bytes: u64,
    /// The error to return once the events before it have been handed out.
    failure: Option<TraceError>,
    names: Names,
}

impl<R: Read> StdReader<R> {
    /// A reader of RAPID's own dialect.
    pub fn new(input: R) -> Self {
        Self::with_dialect(input, StdDialect::Rapid)
    }

    /// A reader of a dialect.
    pub fn with_dialect(input: R, dialect: StdDialect) -> Self {
        StdReader {
            input,
            dialect,
            buffer: vec![0; BLOCK + WINDOW],
            start: 0,
            end: 0,
            at_end_of_input: false,
            lines: 0,
            bytes: 0,
            failure: None,
            names: Names::new(),
        }
    }

    /// Gives the next events, at most so many, to a visitor, until it says `false`.
    ///
    /// Returns how many it gave; none is the end. An error comes after the events before it. This is
    /// what [`next_batch`](EventSource::next_batch) does without the batch.
    pub fn visit(&mut self, most: usize, visitor: &mut impl Visitor) -> Result<usize, TraceError> {
        let mut visited = 0;
        while visited < most {
            let (fast, more) = self.visit_fast_lines(most - visited, visitor);
            visited += fast;
            if !more || visited == most {
                break;
            }
            let Some(length) = self.next_line()? else { break };
            let text = &self.buffer[self.start..self.start + length];
            let event = self.names.event(text, self.dialect, self.lines + 1)?;
            self.lines += 1;
            // The newline is counted too; at the end of the input there may be none.
            let consumed = (length + 1).min(self.end - self.start);
            self.start += consumed;
            self.bytes += consumed as u64;
            visited += 1;
            if !visit_apart(visitor, &event, &self.names.tables) {
                break;
            }
        }
        Ok(visited)
    }

    /// Visits lines for as long as they are of the common form. Returns how many, and whether the
    /// visitor wants more.
    #[inline]
    fn visit_fast_lines(&mut self, most: usize, visitor: &mut impl Visitor) -> (usize, bool) {
        let block_start = self.start;
        let mut visited = 0;
        let mut more = true;
        while more && visited < most && self.end - self.start >= WINDOW {
            let Some(window) = self.buffer[self.start..].first_chunk::<WINDOW>() else { break };
            let Some((event, consumed)) = self.names.known_event(window) else { break };
            self.start += consumed;
            visited += 1;
            more = visitor.visit(&event, &self.names.tables);
        }
        self.lines += visited as u64;
        self.bytes += (self.start - block_start) as u64;
        (visited, more)
    }

    /// Makes the next line available at `start` and returns its length; `None` at the end.
    fn next_line(&mut self) -> Result<Option<usize>, TraceError> {
        let mut searched = 0;
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &unread[searched..]) {
                return Ok(Some(searched + at));
            }
            searched = unread.len();
            if self.at_end_of_input {
                // A missing final newline is accepted.
                return Ok((searched > 0).then_some(searched));
            }
            if searched > LONGEST_LINE {
                let found = format!("a line of more than {LONGEST_LINE} bytes, {}", quote(unread));
                return Err(Malformed::new(self.place(self.lines), found, "thread|op|location").into());
            }
            self.refill()?;
        }
    }

    fn refill(&mut self) -> Result<(), TraceError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < self.end + BLOCK / 2 + WINDOW {
            self.buffer.resize(self.end + BLOCK + WINDOW, 0);
        }
        let space = self.buffer.len() - WINDOW;
        let read = loop {
            match self.input.read(&mut self.buffer[self.end..space]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.end += read;
        self.at_end_of_input = read == 0;
        Ok(())
    }
}

impl<R: Read> EventSource for StdReader<R> {
    fn next_batch(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        batch.clear();
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let filled = self.visit(BATCH, &mut |event: &Event, _: &Tables| {
            batch.push(*event);
            true
        });
        if let Err(error) = filled {
            if batch.is_empty() {
                return Err(error);
            }
            self.failure = Some(error);
        }
        Ok(())
    }

    fn tables(&self) -> &Tables {
        &self.names.tables
    }

    fn place(&self, index: u64) -> Place {
        Place::Line(index + 1)
    }

    fn bytes_read(&self) -> u64 {
        self.bytes
    }
}

/// The tables, and the memos that make them fast to use.
struct Names {
    tables: Tables,
    threads: NameCache,
    locks: NameCache,
    variables: NameCache,
}

impl Names {
    fn new() -> Self {
        Names { tables: Tables::new(), threads: NameCache::new(), locks: NameCache::new(), variables: NameCache::new() }
    }

    /// The event of a line of the common form all of whose names have been seen, and its length.
    #[inline(always)]
    fn known_event(&mut self, window: &[u8; WINDOW]) -> Option<(Event, usize)> {
        let head = line::parse_head(window)?;
        let thread = ThreadId::new(self.threads.get_short(head.thread)?);
        let operand = |len| line::parse_tail::<true>(window, head.op_start + len);
        let nothing = |len| line::parse_tail::<false>(window, head.op_start + len);
        // Forks and joins are rare enough to go the long way.
        let (op, tail) = if head.is(b"r(") {
            let tail = operand(2)?;
            (op(Verb::Read, self.variables.get_short(tail.operand)?), tail)
        } else if head.is(b"w(") {
            let tail = operand(2)?;
            (op(Verb::Write, self.variables.get_short(tail.operand)?), tail)
        } else if head.is(b"acq(") {
            let tail = operand(4)?;
            (op(Verb::Acquire, self.locks.get_short(tail.operand)?), tail)
        } else if head.is(b"rel(") {
            let tail = operand(4)?;
            (op(Verb::Release, self.locks.get_short(tail.operand)?), tail)
        } else if head.is(b"begin|") {
            (op(Verb::Begin, 0), nothing(5)?)
        } else if head.is(b"end|") {
            (op(Verb::End, 0), nothing(3)?)
        } else {
            return None;
        };
        let FastTail { location, consumed, .. } = tail;
        Some((Event { thread, site: SiteId::bare_line(u64::from(location))?, op }, consumed))
    }

    /// The event of any line; new names are entered.
    fn event(&mut self, text: &[u8], dialect: StdDialect, number: u64) -> Result<Event, TraceError> {
        let place = Place::Line(number);
        let defect = |(found, expected): line::Defect| Malformed::new(place, found, expected);
        if number == 1 && text.starts_with("\u{feff}".as_bytes()) {
            return Err(defect(("a byte order mark".into(), "plain UTF-8 text without one".into())).into());
        }
        let Line { thread_len, verb, operand, location } = line::parse(text, dialect).map_err(defect)?;
        let thread_name = &text[..thread_len];
        let operand_name = &text[operand.0..operand.0 + operand.1];
        let Names { tables, threads, locks, variables } = self;
        let mut intern_thread =
            |tables: &mut Tables, name| enter(threads, name, place, |name| Ok(tables.intern_thread(name)?.raw()));
        let thread = ThreadId::new(intern_thread(tables, thread_name)?);
        let operand = match operand_space(verb) {
            Space::None => 0,
            Space::Thread => intern_thread(tables, operand_name)?,
            Space::Lock => enter(locks, operand_name, place, |name| Ok(tables.intern_lock(name)?.raw()))?,
            Space::Variable => {
                enter(variables, operand_name, place, |name| Ok(tables.intern_location(name, 0)?.raw()))?
            }
        };
        let site = tables.intern_site(Site { file: None, function: None, line: Some(location) })?;
        Ok(Event { thread, site, op: op(verb, operand) })
    }
}

fn enter(
    cache: &mut NameCache,
    name: &[u8],
    place: Place,
    intern: impl FnOnce(&str) -> Result<u32, TableFull>,
) -> Result<u32, TraceError> {
    if let Some(id) = cache.get(name) {
        return Ok(id);
    }
    let text =
        std::str::from_utf8(name).map_err(|_| Malformed::new(place, format!("name {}", quote(name)), "UTF-8 text"))?;
    let id = intern(text)?;
    cache.insert(name, id);
    Ok(id)
}

/// What an operand names.
enum Space {
    None,
    Thread,
    Lock,
    Variable,
}

#[inline]
fn operand_space(verb: Verb) -> Space {
    match verb {
        Verb::Read | Verb::Write => Space::Variable,
        Verb::Acquire | Verb::Release | Verb::Request => Space::Lock,
        Verb::Fork | Verb::Join => Space::Thread,
        Verb::Begin | Verb::End => Space::None,
    }
}

#[inline(always)]
fn op(verb: Verb, operand: u32) -> Op {
    const ANNOTATED: Region = Region { name: None, source: RegionSource::Annotated };
    match verb {
        Verb::Read => Op::Read(Access::bare(LocationId::new(operand))),
        Verb::Write => Op::Write(Access::bare(LocationId::new(operand))),
        Verb::Acquire => Op::Acquire { lock: LockId::new(operand), mode: LockMode::Exclusive, by: Attempt::Blocking },
        Verb::Release => Op::Release { lock: LockId::new(operand), mode: LockMode::Exclusive },
        Verb::Request => Op::Request(LockId::new(operand)),
        Verb::Fork => Op::Fork(ThreadId::new(operand)),
        Verb::Join => Op::Join(ThreadId::new(operand)),
        Verb::Begin => Op::RegionBegin(ANNOTATED),
        Verb::End => Op::RegionEnd(ANNOTATED),
    }
}
