//! Memory as the model sees it: bytes in groups, and what may be in them.
//!
//! Bytes that every access of the trace treats alike form one *segment*. So each access touches whole
//! segments, and all bytes of one have the same writer and are known or unknown together.
//!
//! What is in a segment is a [`Content`]. Two writers leave the same content if no read can tell them
//! apart: if their values are known and equal, and no read that observed one of them would take it for
//! its identity alone. And segments that only one thread touches, or none changes, are left out: what is
//! read there is as observed in every schedule, unless what is written there depends on what was read elsewhere.
//! That keeps states few and small, and changes no answer.

use super::InitialValues;
use super::flow::Flow;
use interloper_trace::{Event, LocationId, Op, StringId, Tables, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// What a segment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Content(u32);

impl Content {
    /// What a read-modify-write left that found something else than observed, or a write whose value depends on a
    /// read that did. Satisfies no read.
    pub(super) const TAINTED: Content = Content(0);
}

/// How an access touches one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) segment: u32,
    /// What the observed writer leaves there, if the access reads.
    wants: Content,
    /// The part of the value read, if known.
    value: Option<u64>,
    /// What the access leaves there, if it writes.
    pub(super) leaves: Content,
}

/// All segments, and how each event touches them.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// What each segment holds at first.
    pub(super) initial: Vec<Content>,
    /// The known values of contents.
    values: Vec<Option<u64>>,
    cells: Vec<Cell>,
    /// Which cells an event has; events that touch nothing have none.
    of_event: Vec<Range<u32>>,
}

impl Memory {
    pub(super) fn new(events: &[Event], tables: &Tables, initial: InitialValues, flow: &Flow) -> Self {
        let layout = Layout::new(events, tables);
        let mut history = History::new(&layout, initial);
        let of_event = (0..).zip(events).map(|(at, event)| history.event(event, flow.is_dependent(at))).collect();
        history.contents(of_event)
    }

    /// The cells of an event.
    pub(super) fn cells(&self, event: usize) -> &[Cell] {
        let Range { start, end } = self.of_event[event].clone();
        &self.cells[start as usize..end as usize]
    }

    /// Whether a read of this cell is satisfied by this content.
    pub(super) fn satisfies(&self, content: Content, cell: &Cell) -> bool {
        content == cell.wants || (cell.value.is_some() && self.values[content.0 as usize] == cell.value)
    }
}

/// What an event touches, as the trace says it.
#[derive(Clone, Copy)]
struct Touch {
    location: LocationId,
    size: u32,
    read: Option<Value>,
    written: Option<Value>,
}

impl Touch {
    fn of(op: &Op) -> Option<Touch> {
        match *op {
            Op::Read(access) => {
                Some(Touch { location: access.location, size: access.size, read: Some(access.value), written: None })
            }
            Op::Write(access) => {
                Some(Touch { location: access.location, size: access.size, read: None, written: Some(access.value) })
            }
            Op::ReadModifyWrite(rmw) => Some(Touch {
                location: rmw.location,
                size: u32::from(rmw.size),
                read: Some(rmw.read),
                written: rmw.success.then_some(rmw.written),
            }),
            _ => None,
        }
    }
}

/// The first allocation of each object, if it comes before the object's first access: what accesses of it
/// have to wait for.
pub(super) fn allocations(events: &[Event], tables: &Tables) -> FxHashMap<StringId, usize> {
    let mut accessed: FxHashSet<StringId> = FxHashSet::default();
    let mut allocations = FxHashMap::default();
    for (at, event) in events.iter().enumerate() {
        if let Op::Allocate { object, .. } = event.op {
            if !accessed.contains(&object) {
                allocations.entry(object).or_insert(at);
            }
        } else if let Some(location) = Touch::of(&event.op).and_then(|touch| tables.location(touch.location)) {
            accessed.insert(location.object);
        }
    }
    allocations
}

/// Bytes that are numbered together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Space {
    /// Those of an object.
    Object(StringId),
    /// Those of a location that some access touches without saying how much of it.
    Location(LocationId),
}

/// The size of an access that does not say it.
const UNKNOWN_SIZE: u64 = 8;

/// Which bytes there are, and which of them are alike.
struct Layout<'t> {
    tables: &'t Tables,
    unsized_locations: FxHashSet<LocationId>,
    spaces: FxHashMap<Space, Range<u32>>,
    /// Begin and end of each segment; those of a space are neighbours and ascend.
    segments: Vec<Range<u64>>,
    /// The segments of each object, wherever they are.
    objects: FxHashMap<StringId, Vec<Range<u32>>>,
}

impl<'t> Layout<'t> {
    fn new(events: &[Event], tables: &'t Tables) -> Self {
        let touches = || events.iter().filter_map(|event| Touch::of(&event.op));
        let unsized_locations = touches().filter(|touch| touch.size == 0).map(|touch| touch.location).collect();
        let mut layout = Layout {
            tables,
            unsized_locations,
            spaces: FxHashMap::default(),
            segments: Vec::new(),
            objects: FxHashMap::default(),
        };
        let mut spans: FxHashMap<Space, Vec<(u64, u64)>> = FxHashMap::default();
        let mut owners: FxHashMap<Space, StringId> = FxHashMap::default();
        for touch in touches() {
            let (space, span) = layout.span(&touch);
            spans.entry(space).or_default().push((span.start, span.end));
            if let Some(location) = tables.location(touch.location) {
                owners.insert(space, location.object);
            }
        }
        // Sorted, so that equal traces give equal numbers.
        let mut spans: Vec<_> = spans.into_iter().collect();
        spans.sort_unstable_by_key(|(space, _)| *space);
        for (space, mut spans) in spans {
            spans.sort_unstable();
            spans.dedup();
            let range = layout.split(&spans);
            if let Some(object) = owners.get(&space) {
                layout.objects.entry(*object).or_default().push(range.clone());
            }
            layout.spaces.insert(space, range);
        }
        layout
    }

    /// The bytes an access touches.
    fn span(&self, touch: &Touch) -> (Space, Range<u64>) {
        let size = if touch.size == 0 { UNKNOWN_SIZE } else { u64::from(touch.size) };
        match self.tables.location(touch.location) {
            Some(location) if !self.unsized_locations.contains(&touch.location) => {
                (Space::Object(location.object), location.offset..location.offset.saturating_add(size))
            }
            _ => (Space::Location(touch.location), 0..size),
        }
    }

    /// Cuts bytes where any span begins or ends; what no span covers is left out.
    fn split(&mut self, spans: &[(u64, u64)]) -> Range<u32> {
        let first = self.segments.len() as u32;
        let mut edges: Vec<(u64, i64)> = spans.iter().flat_map(|&(start, end)| [(start, 1), (end, -1)]).collect();
        edges.sort_unstable();
        let mut covering = 0;
        for pair in edges.windows(2) {
            covering += pair[0].1;
            if covering > 0 && pair[0].0 < pair[1].0 {
                self.segments.push(pair[0].0..pair[1].0);
            }
        }
        first..self.segments.len() as u32
    }

    /// The segments an access touches, and where the access begins.
    fn segments(&self, touch: &Touch) -> (Range<u32>, u64) {
        let (space, span) = self.span(touch);
        let Some(Range { start, end }) = self.spaces.get(&space).cloned() else { return (0..0, 0) };
        let of_space = &self.segments[start as usize..end as usize];
        let from = of_space.partition_point(|segment| segment.start < span.start) as u32;
        let to = of_space.partition_point(|segment| segment.start < span.end) as u32;
        (start + from..start + to, span.start)
    }

    /// The part of a value that lies in a segment.
    fn part(&self, value: Value, size: u32, segment: u32, begin: u64) -> Option<u64> {
        let Range { start, end } = self.segments[segment as usize].clone();
        // Wider accesses have no value, whatever the trace says.
        let bits = value.get().filter(|_| size <= 8)?;
        let shifted = bits >> (8 * (start - begin)).min(63);
        match end - start {
            0..8 => Some(shifted & ((1 << (8 * (end - start))) - 1)),
            _ => Some(shifted),
        }
    }
}

/// Who wrote what is in a segment.
#[derive(Clone, Copy)]
enum Writer {
    Initial,
    /// The event with this cell.
    Cell(u32),
}

/// What the trace says of each cell, gathered in observed order.
struct History<'t> {
    layout: &'t Layout<'t>,
    policy: InitialValues,
    cells: Vec<Seen>,
    segments: Vec<Current>,
}

struct Seen {
    segment: u32,
    observed: Writer,
    reads: bool,
    value: Option<u64>,
    writes: bool,
    written: Option<u64>,
    /// Some read that observed this writer has no value, or another one: it takes this writer only.
    identified: bool,
}

struct Current {
    writer: Writer,
    initial: Option<u64>,
    /// Some read that found it has told.
    initial_told: bool,
    initial_identified: bool,
    /// The first thread that touches it.
    toucher: Option<ThreadId>,
    /// Others do, too.
    is_shared: bool,
    /// Some event writes it, or may taint it.
    is_changed: bool,
    /// Some event may write something else than observed.
    is_dependent: bool,
}

impl<'t> History<'t> {
    fn new(layout: &'t Layout<'t>, policy: InitialValues) -> Self {
        let segments = layout
            .segments
            .iter()
            .map(|_| Current {
                writer: Writer::Initial,
                initial: None,
                initial_told: false,
                initial_identified: false,
                toucher: None,
                is_shared: false,
                is_changed: false,
                is_dependent: false,
            })
            .collect();
        History { layout, policy, cells: Vec::new(), segments }
    }

    fn event(&mut self, event: &Event, is_dependent: bool) -> Range<u32> {
        let first = self.cells.len() as u32;
        if let Op::Free { object } = event.op {
            for range in self.layout.objects.get(&object).cloned().unwrap_or_default() {
                for segment in range {
                    self.touch(event, segment, None, Some(None));
                }
            }
        } else if let Some(touch) = Touch::of(&event.op) {
            let (segments, begin) = self.layout.segments(&touch);
            for segment in segments {
                let part = |value: Value| self.layout.part(value, touch.size, segment, begin);
                self.touch(event, segment, touch.read.map(part), touch.written.map(part));
            }
        }
        for cell in &self.cells[first as usize..] {
            self.segments[cell.segment as usize].is_dependent |= is_dependent;
        }
        first..self.cells.len() as u32
    }

    fn touch(&mut self, event: &Event, segment: u32, read: Option<Option<u64>>, written: Option<Option<u64>>) {
        let cell = self.cells.len() as u32;
        let current = &mut self.segments[segment as usize];
        if current.toucher.is_none() {
            let by_policy = match self.policy {
                InitialValues::Zero => Some(0),
                InitialValues::Unknown => None,
            };
            current.initial = by_policy;
        }
        if let (Writer::Initial, Some(Some(value)), false) = (current.writer, read, current.initial_told) {
            (current.initial, current.initial_told) = (Some(value), true);
        }
        current.is_shared |= *current.toucher.get_or_insert(event.thread) != event.thread;
        // A read-modify-write may taint what it touches, even one that failed.
        current.is_changed |= written.is_some() || matches!(event.op, Op::ReadModifyWrite(_));
        let observed = current.writer;
        if let Some(value) = read {
            let (left, identified) = match observed {
                Writer::Initial => (current.initial, &mut current.initial_identified),
                Writer::Cell(cell) => {
                    let seen = &mut self.cells[cell as usize];
                    (seen.written, &mut seen.identified)
                }
            };
            *identified |= value.is_none() || value != left;
        }
        if written.is_some() {
            current.writer = Writer::Cell(cell);
        }
        self.cells.push(Seen {
            segment,
            observed,
            reads: read.is_some(),
            value: read.flatten(),
            writes: written.is_some(),
            written: written.flatten(),
            identified: false,
        });
    }

    /// Numbers what segments may hold, and leaves out those that do not matter.
    fn contents(self, of_event: Vec<Range<u32>>) -> Memory {
        let mut contents = Contents { values: vec![None], by_value: FxHashMap::default() };
        let mut initial = Vec::new();
        // New numbers of the segments that stay, and what they hold at first.
        let segments: Vec<Option<(u32, Content)>> = (0..)
            .zip(&self.segments)
            .map(|(segment, current)| {
                let matters = current.is_dependent || (current.is_shared && current.is_changed);
                matters.then(|| {
                    let content = contents.number(segment, current.initial, current.initial_identified);
                    initial.push(content);
                    (initial.len() as u32 - 1, content)
                })
            })
            .collect();
        let left: Vec<Content> = self
            .cells
            .iter()
            .map(|seen| match seen.writes {
                true => contents.number(seen.segment, seen.written, seen.identified),
                false => Content::TAINTED,
            })
            .collect();
        let mut cells = Vec::new();
        let of_event = of_event.into_iter().map(|range| {
            let first = cells.len() as u32;
            for cell in range {
                let seen = &self.cells[cell as usize];
                let Some((segment, initial)) = segments[seen.segment as usize] else { continue };
                let leaves = left[cell as usize];
                let wants = match seen.observed {
                    // A cell that only writes wants nothing, and is never asked.
                    _ if !seen.reads => leaves,
                    Writer::Initial => initial,
                    Writer::Cell(observed) => left[observed as usize],
                };
                cells.push(Cell { segment, wants, value: seen.value, leaves });
            }
            first..cells.len() as u32
        });
        let of_event = of_event.collect();
        Memory { initial, values: contents.values, cells, of_event }
    }
}

struct Contents {
    values: Vec<Option<u64>>,
    by_value: FxHashMap<(u32, u64), Content>,
}

impl Contents {
    fn number(&mut self, segment: u32, value: Option<u64>, identified: bool) -> Content {
        let next = Content(self.values.len() as u32);
        let content = match value {
            Some(value) if !identified => *self.by_value.entry((segment, value)).or_insert(next),
            _ => next,
        };
        if content == next {
            self.values.push(value);
        }
        content
    }
}
