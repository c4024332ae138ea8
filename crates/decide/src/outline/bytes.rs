//! Memory as cells: bytes that every access of the trace treats alike.

use super::reliance::Reliances;
use super::{Cell, CellFacts, Content, Reading, Touch};
use interloper_model::InitialValues;
use interloper_trace::{Event, Location, LocationId, Op, StringId, Tables, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// An object, or a location of which no access says how large it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    Object(StringId),
    /// Such locations overlap nothing but themselves.
    Unsized(LocationId),
}

/// How bytes are grouped. Only cells that can carry news have a number: from one thread to another, or, if what is
/// written depends on what was read elsewhere, from a thread to itself.
#[derive(Debug, Default)]
pub(super) struct Memory {
    places: FxHashMap<Place, Layout>,
    /// The places of each object.
    objects: FxHashMap<StringId, Vec<Place>>,
    unsized_locations: FxHashSet<LocationId>,
    pub(super) cells: u32,
}

#[derive(Debug, Default)]
struct Layout {
    /// Where cells begin and end, ascending.
    bounds: Vec<u64>,
    /// For each stretch between two bounds its cell.
    cells: Vec<Option<Cell>>,
    /// For each stretch who touches it.
    touched: Vec<Touched>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    by: Option<ThreadId>,
    by_several: bool,
    written: bool,
    /// Something else may be written than was.
    dependent: bool,
}

/// The bytes of one access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) place: Place,
    pub(super) object: StringId,
    pub(super) offset: u64,
    pub(super) len: u64,
}

/// What an access or the end of an object's life does, before cells are known.
pub(super) struct Effect {
    pub(super) span: Span,
    pub(super) read: Option<Value>,
    pub(super) write: Option<Value>,
}

/// How many bytes a value has if nobody says.
const WORD: u64 = 8;

impl Memory {
    pub(super) fn survey(events: &[Event], tables: &Tables, reliances: &Reliances) -> Memory {
        let mut memory = Memory::default();
        for event in events {
            if let Some((location, 0, ..)) = access(&event.op) {
                memory.unsized_locations.insert(location);
            }
        }
        for event in events {
            if let Some(effect) = memory.effect(&event.op, tables) {
                let Span { place, object, offset, len } = effect.span;
                let layout = memory.places.entry(place).or_default();
                if layout.bounds.is_empty() {
                    memory.objects.entry(object).or_default().push(place);
                }
                layout.bounds.extend([offset, offset.saturating_add(len)]);
            }
        }
        for layout in memory.places.values_mut() {
            layout.bounds.sort_unstable();
            layout.bounds.dedup();
            let stretches = layout.bounds.len().saturating_sub(1);
            layout.touched = vec![Touched::default(); stretches];
            layout.cells = vec![None; stretches];
        }
        for (at, event) in (0..).zip(events) {
            if let Some(Effect { span, write, .. }) = memory.effect(&event.op, tables) {
                // One that failed may write in another schedule, if it is part of a wider one.
                let may_write = write.is_some() || matches!(event.op, Op::ReadModifyWrite(_));
                memory.touch(span, event.thread, may_write, reliances.is_dependent(at));
            } else if let Op::Free { object } = event.op {
                for place in memory.objects.get(&object).into_iter().flatten() {
                    let layout = memory.places.get_mut(place).into_iter();
                    layout.flat_map(|layout| &mut layout.touched).for_each(|touched| touched.add(event.thread, true));
                }
            }
        }
        memory.number(events, tables);
        memory
    }

    /// Cells get their numbers in the order of their first accesses, so that nothing depends on hashing.
    fn number(&mut self, events: &[Event], tables: &Tables) {
        for event in events {
            let Some(Effect { span, .. }) = self.effect(&event.op, tables) else { continue };
            let Some(layout) = self.places.get_mut(&span.place) else { continue };
            for stretch in layout.stretches(span) {
                let touched = layout.touched[stretch];
                let carries_news = touched.written && (touched.by_several || touched.dependent);
                if carries_news && layout.cells[stretch].is_none() {
                    layout.cells[stretch] = Some(Cell(self.cells));
                    self.cells += 1;
                }
            }
        }
    }

    fn touch(&mut self, span: Span, thread: ThreadId, writes: bool, is_dependent: bool) {
        if let Some(layout) = self.places.get_mut(&span.place) {
            for stretch in layout.stretches(span) {
                layout.touched[stretch].add(thread, writes);
                layout.touched[stretch].dependent |= is_dependent;
            }
        }
    }

    /// What an operation does to memory.
    pub(super) fn effect(&self, op: &Op, tables: &Tables) -> Option<Effect> {
        let (location, size, read, write) = access(op)?;
        let Location { object, offset } = tables.location(location)?;
        let len = if size == 0 { WORD } else { u64::from(size) };
        let span = if self.unsized_locations.contains(&location) {
            Span { place: Place::Unsized(location), object, offset: 0, len }
        } else {
            Span { place: Place::Object(object), object, offset, len }
        };
        Some(Effect { span, read, write })
    }

    /// The cells of an access, each with where it begins in the access and how many bytes it has.
    pub(super) fn cells(&self, span: Span) -> impl Iterator<Item = (Cell, u64, u64)> + '_ {
        let layout = self.places.get(&span.place);
        layout.into_iter().flat_map(move |layout| {
            layout.stretches(span).filter_map(move |stretch| {
                let (from, to) = (layout.bounds[stretch], layout.bounds[stretch + 1]);
                Some((layout.cells[stretch]?, from - span.offset, to - from))
            })
        })
    }

    /// All cells of an object.
    pub(super) fn cells_of_object(&self, object: StringId) -> Vec<Cell> {
        let places = self.objects.get(&object).into_iter().flatten();
        let layouts = places.filter_map(|place| self.places.get(place));
        layouts.flat_map(|layout| layout.cells.iter().flatten().copied()).collect()
    }
}

impl Layout {
    fn stretches(&self, span: Span) -> std::ops::Range<usize> {
        let at = |bound: u64| self.bounds.partition_point(|known| *known < bound);
        at(span.offset)..at(span.offset.saturating_add(span.len))
    }
}

impl Touched {
    fn add(&mut self, thread: ThreadId, writes: bool) {
        self.by_several |= self.by.is_some_and(|known| known != thread);
        self.by = Some(thread);
        self.written |= writes;
    }
}

/// Location, size, value read and value written of an access.
fn access(op: &Op) -> Option<(LocationId, u32, Option<Value>, Option<Value>)> {
    match op {
        Op::Read(access) => Some((access.location, access.size, Some(access.value), None)),
        Op::Write(access) => Some((access.location, access.size, None, Some(access.value))),
        Op::ReadModifyWrite(rmw) => {
            Some((rmw.location, u32::from(rmw.size), Some(rmw.read), rmw.success.then_some(rmw.written)))
        }
        _ => None,
    }
}

/// The part of a value that lies in a cell.
pub(super) fn part(value: Value, from: u64, len: u64) -> Content {
    if from + len > WORD {
        return Content(None);
    }
    let mask = if len == WORD { u64::MAX } else { (1 << (8 * len)) - 1 };
    Content(value.get().map(|bits| bits >> (8 * from) & mask))
}

/// What happens to each cell.
pub(super) fn cell_facts(touches: &[Touch], cells: u32, initial: InitialValues) -> Vec<CellFacts> {
    let default = match initial {
        InitialValues::Zero => Content(Some(0)),
        InitialValues::Unknown => Content(None),
    };
    let mut all = vec![CellFacts { initial: default, touches: Vec::new(), writes: Vec::new() }; cells as usize];
    for (number, touch) in touches.iter().enumerate() {
        let facts = &mut all[touch.cell.index()];
        // The first read that sees what was there from the beginning tells it.
        if let Some(Reading { content, writer: None }) = touch.read
            && content.0.is_some()
            && !facts.touches.iter().any(|known| {
                let known = &touches[*known as usize];
                known.read.is_some_and(|read| read.writer.is_none() && read.content.0.is_some())
            })
        {
            facts.initial = content;
        }
        facts.touches.push(number as u32);
        if touch.write.is_some() || touch.may_write {
            facts.writes.push(number as u32);
        }
    }
    all
}
