//! The events of a trace that are embedded.
//!
//! They stand thread by thread, each thread's in its order. An order of them is then a list of ranges, one for each
//! turn of a thread: short for what schedules are like, whichever order it is.

use crate::arrows::Arrow;
use crate::story::{RecordedTrace, TraceName};
use interloper_trace::{Event, LockMode, Op, RegionSource, Site, SiteId, Value};
use rustc_hash::FxHashMap;

/// Events of one trace, in columns' worth of rows.
#[derive(Debug)]
pub(crate) struct Track {
    /// Which trace.
    pub(crate) name: TraceName,
    /// How many events the trace has, shown or not.
    pub(crate) events: u64,
    /// The names of its threads, as far as rows refer to them.
    pub(crate) threads: Vec<String>,
    /// The locations that rows refer to.
    pub(crate) locations: Vec<Place>,
    /// Locks, condition variables and so on that rows refer to.
    pub(crate) objects: Vec<String>,
    /// The places in the source that rows refer to.
    pub(crate) sites: Vec<SourceSite>,
    /// The events, thread by thread.
    pub(crate) rows: Vec<Row>,
    /// The order in which they were recorded.
    pub(crate) observed: Ranges,
    /// What comes before what in that order, if all of it is here.
    pub(crate) arrows: Vec<Arrow>,
}

/// Ranges of rows: where each begins and how many it has.
pub(crate) type Ranges = Vec<(u32, u32)>;

/// A location.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) object: String,
    pub(crate) offset: u64,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceSite {
    pub(crate) file: Option<String>,
    pub(crate) line: Option<i64>,
    pub(crate) function: Option<String>,
}

/// An event.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) thread: u32,
    /// What it does: a letter that `assets/data.js` knows.
    pub(crate) op: char,
    /// To what: an entry of `locations`, `threads` or `objects`, by the letter.
    pub(crate) target: Option<u32>,
    /// What else is told of: the condition variable of a wait, whose target is its lock.
    pub(crate) also: Option<u32>,
    pub(crate) site: u32,
    /// Its position in the trace.
    pub(crate) index: u64,
    /// The value read or, if it only writes, written.
    pub(crate) value: Option<u64>,
    /// The value that a read-modify-write leaves behind.
    pub(crate) written: Option<u64>,
    pub(crate) size: u32,
}

/// Whether an event is worth a row. Function calls, branches and expressions are not, nor are regions that follow
/// from functions and locks: the region that matters is drawn as a span.
pub(crate) fn is_shown(op: &Op) -> bool {
    match op {
        Op::RegionBegin(region) | Op::RegionEnd(region) => region.source == RegionSource::Annotated,
        Op::Request(_)
        | Op::Start
        | Op::Finish
        | Op::Branch { .. }
        | Op::Enter { .. }
        | Op::Exit
        | Op::Define { .. }
        | Op::Bind { .. }
        | Op::Assume { .. }
        | Op::Mark { .. } => false,
        _ => true,
    }
}

/// Where the events of a trace are among the rows.
pub(crate) type RowOf = FxHashMap<u32, u32>;

/// Makes a track of some events of a trace, given in their order.
pub(crate) fn track(name: TraceName, trace: &RecordedTrace, kept: &[u32]) -> (Track, RowOf) {
    let mut by_thread = kept.to_vec();
    by_thread.sort_by_key(|&index| (trace.events[index as usize].thread, index));
    let mut builder = Builder {
        trace,
        track: Track {
            name,
            events: trace.events.len() as u64,
            threads: Vec::new(),
            locations: Vec::new(),
            objects: Vec::new(),
            sites: Vec::new(),
            rows: Vec::with_capacity(kept.len()),
            observed: Vec::new(),
            arrows: Vec::new(),
        },
        threads: FxHashMap::default(),
        locations: FxHashMap::default(),
        objects: FxHashMap::default(),
        sites: FxHashMap::default(),
    };
    let mut row_of = RowOf::default();
    for (row, &index) in by_thread.iter().enumerate() {
        row_of.insert(index, row as u32);
        builder.push(index);
    }
    let mut track = builder.track;
    track.observed = ranges(kept.iter().filter_map(|index| row_of.get(index).copied()));
    (track, row_of)
}

/// Rows in some order, as ranges.
pub(crate) fn ranges(rows: impl Iterator<Item = u32>) -> Ranges {
    let mut ranges: Ranges = Vec::new();
    for row in rows {
        match ranges.last_mut() {
            Some((begin, count)) if *begin + *count == row => *count += 1,
            _ => ranges.push((row, 1)),
        }
    }
    ranges
}

struct Builder<'t> {
    trace: &'t RecordedTrace,
    track: Track,
    threads: FxHashMap<String, u32>,
    locations: FxHashMap<u32, u32>,
    objects: FxHashMap<String, u32>,
    sites: FxHashMap<SiteId, u32>,
}

impl Builder<'_> {
    fn push(&mut self, index: u32) {
        let event = self.trace.events[index as usize];
        let (op, target) = self.what(&event);
        let also = self.condition(&event.op);
        let (value, written, size) = values(&event.op);
        let thread = self.thread(self.trace.tables.thread(event.thread).to_owned());
        let site = self.site(event.site);
        self.track.rows.push(Row { thread, op, target, also, site, index: u64::from(index), value, written, size });
    }

    fn what(&mut self, event: &Event) -> (char, Option<u32>) {
        let trace = self.trace;
        let tables = &trace.tables;
        let (letter, name) = match &event.op {
            Op::Read(access) => return ('r', Some(self.location(access.location))),
            Op::Write(access) => return ('w', Some(self.location(access.location))),
            Op::ReadModifyWrite(rmw) => {
                return (if rmw.success { 'u' } else { 'f' }, Some(self.location(rmw.location)));
            }
            Op::Fork(thread) => return ('F', Some(self.thread(tables.thread(*thread).to_owned()))),
            Op::Join(thread) => return ('J', Some(self.thread(tables.thread(*thread).to_owned()))),
            Op::Acquire { lock, mode: LockMode::Exclusive, .. } => ('A', tables.lock(*lock)),
            Op::Acquire { lock, mode: LockMode::Shared, .. } => ('S', tables.lock(*lock)),
            Op::TryAcquireFailed { lock, .. } => ('T', tables.lock(*lock)),
            Op::Release { lock, .. } => ('R', tables.lock(*lock)),
            // Lanes show for how long locks are held, so the lock is the target.
            Op::WaitBegin { lock, .. } => ('W', tables.lock(*lock)),
            Op::WaitEnd { lock, .. } => ('X', tables.lock(*lock)),
            Op::Signal(condition) => ('s', tables.condition(*condition)),
            Op::Broadcast(condition) => ('b', tables.condition(*condition)),
            Op::SemaphoreWait(semaphore) => ('v', tables.semaphore(*semaphore)),
            Op::SemaphorePost(semaphore) => ('p', tables.semaphore(*semaphore)),
            Op::BarrierArrive(barrier) => ('a', tables.barrier(*barrier)),
            Op::BarrierLeave(barrier) => ('l', tables.barrier(*barrier)),
            Op::OnceBegin(once) => ('o', tables.once(*once)),
            Op::OnceEnd(once) => ('O', tables.once(*once)),
            Op::OncePass(once) => ('q', tables.once(*once)),
            Op::Allocate { object, .. } => ('n', tables.strings.get(*object)),
            Op::Free { object } => ('d', tables.strings.get(*object)),
            Op::RegionBegin(region) => ('B', region.name.map_or("", |name| tables.strings.get(name))),
            Op::RegionEnd(region) => ('E', region.name.map_or("", |name| tables.strings.get(name))),
            Op::Input { channel, .. } => ('i', tables.strings.get(*channel)),
            Op::Fence(_) => return ('m', None),
            _ => return ('?', None),
        };
        let name = name.to_owned();
        (letter, Some(self.object(name)))
    }

    fn condition(&mut self, op: &Op) -> Option<u32> {
        match op {
            Op::WaitBegin { condition, .. } | Op::WaitEnd { condition, .. } => {
                let name = self.trace.tables.condition(*condition).to_owned();
                Some(self.object(name))
            }
            _ => None,
        }
    }

    fn thread(&mut self, name: String) -> u32 {
        enter(&mut self.threads, &mut self.track.threads, name)
    }

    fn object(&mut self, name: String) -> u32 {
        enter(&mut self.objects, &mut self.track.objects, name)
    }

    fn location(&mut self, id: interloper_trace::LocationId) -> u32 {
        let next = self.track.locations.len() as u32;
        let entry = *self.locations.entry(id.raw()).or_insert(next);
        if entry == next {
            let tables = &self.trace.tables;
            let location = tables.location(id);
            self.track.locations.push(Place {
                name: tables.location_name(id),
                object: location.map_or(String::new(), |location| tables.strings.get(location.object).to_owned()),
                offset: location.map_or(0, |location| location.offset),
            });
        }
        entry
    }

    fn site(&mut self, id: SiteId) -> u32 {
        let next = self.track.sites.len() as u32;
        let entry = *self.sites.entry(id).or_insert(next);
        if entry == next {
            self.track.sites.push(source_site(id, self.trace));
        }
        entry
    }
}

/// A place in the source, by name.
pub(crate) fn source_site(id: SiteId, trace: &RecordedTrace) -> SourceSite {
    let Site { file, function, line } = trace.tables.site(id);
    let text = |string| trace.tables.strings.get(string).to_owned();
    SourceSite { file: file.map(text), line, function: function.map(text) }
}

fn enter(entries: &mut FxHashMap<String, u32>, all: &mut Vec<String>, name: String) -> u32 {
    if let Some(&entry) = entries.get(&name) {
        return entry;
    }
    let entry = all.len() as u32;
    all.push(name.clone());
    entries.insert(name, entry);
    entry
}

/// What an event read or else wrote, what it left behind, and how many bytes.
pub(crate) fn values(op: &Op) -> (Option<u64>, Option<u64>, u32) {
    let get = |value: Value| value.get();
    match op {
        Op::Read(access) | Op::Write(access) => (get(access.value), None, access.size),
        Op::ReadModifyWrite(rmw) => (get(rmw.read), get(rmw.written), u32::from(rmw.size)),
        Op::Input { value, size, .. } => (get(*value), None, *size),
        _ => (None, None, 0),
    }
}
