//! Memory as cells: stretches of bytes that every access of the trace treats alike.
//!
//! Accesses of different sizes may overlap in part. Cut at every place where some access begins or ends,
//! memory falls into cells that each access has whole or not at all, so that a cell is a variable.

use interloper_trace::{Event, Location, LocationId, Op, StringId, Tables, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// A cell, by its number. Numbers follow the order of first accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cell(pub(crate) u32);

impl Cell {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What one event does to memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    span: Span,
    /// The value found, if it reads.
    pub(crate) read: Option<Value>,
    /// The value left behind, if it writes.
    pub(crate) write: Option<Value>,
    /// The thread's next event belongs to the same indivisible access.
    pub(crate) more: bool,
}

/// The bytes of one access.
#[derive(Clone, Copy, Debug)]
struct Span {
    place: Place,
    offset: u64,
    len: u64,
}

/// An object; or a location of which some access does not say how large it is, which overlaps nothing but
/// itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Object(StringId),
    Unsized(LocationId),
}

/// How the bytes of a trace are grouped.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    places: FxHashMap<Place, Layout>,
    unsized_locations: FxHashSet<LocationId>,
    count: u32,
}

#[derive(Debug, Default)]
struct Layout {
    /// Where stretches begin and end, ascending.
    bounds: Vec<u64>,
    /// The cell of each stretch that is accessed.
    cells: Vec<Option<Cell>>,
}

/// How many bytes a value has if nobody says.
const WORD: u64 = 8;

impl Cells {
    /// Cuts the memory of a trace.
    pub(crate) fn survey(events: &[Event], tables: &Tables) -> Cells {
        let mut cells = Cells::default();
        for event in events {
            if let Some((location, 0)) = accessed(&event.op) {
                cells.unsized_locations.insert(location);
            }
        }
        for event in events {
            if let Some(Effect { span, .. }) = cells.effect(&event.op, tables) {
                let bounds = &mut cells.places.entry(span.place).or_default().bounds;
                let ends = [span.offset, span.offset.saturating_add(span.len)];
                if !bounds.ends_with(&ends) {
                    bounds.extend(ends);
                }
            }
        }
        for layout in cells.places.values_mut() {
            layout.bounds.sort_unstable();
            layout.bounds.dedup();
            layout.cells = vec![None; layout.bounds.len().saturating_sub(1)];
        }
        for event in events {
            let Some(Effect { span, .. }) = cells.effect(&event.op, tables) else { continue };
            let Some(layout) = cells.places.get_mut(&span.place) else { continue };
            for stretch in layout.stretches(span) {
                if layout.cells[stretch].is_none() {
                    layout.cells[stretch] = Some(Cell(cells.count));
                    cells.count += 1;
                }
            }
        }
        cells
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    /// What an operation does to memory, if anything.
    pub(crate) fn effect(&self, op: &Op, tables: &Tables) -> Option<Effect> {
        let (location, size) = accessed(op)?;
        let Location { object, offset } = tables.location(location)?;
        let len = if size == 0 { WORD } else { u64::from(size) };
        let span = if self.unsized_locations.contains(&location) {
            Span { place: Place::Unsized(location), offset: 0, len }
        } else {
            Span { place: Place::Object(object), offset, len }
        };
        let (read, write, more) = match op {
            Op::Read(access) => (Some(access.value), None, access.more),
            Op::Write(access) => (None, Some(access.value), access.more),
            Op::ReadModifyWrite(rmw) => (Some(rmw.read), rmw.success.then_some(rmw.written), rmw.more),
            _ => return None,
        };
        Some(Effect { span, read, write, more })
    }

    /// The cells of an effect, each with what is read there and what is written, as far as it is known.
    pub(crate) fn of<'a>(&'a self, effect: &'a Effect) -> impl Iterator<Item = CellEffect> + 'a {
        let span = effect.span;
        let layout = self.places.get(&span.place);
        layout.into_iter().flat_map(move |layout| {
            layout.stretches(span).filter_map(move |stretch| {
                let (from, to) = (layout.bounds[stretch], layout.bounds[stretch + 1]);
                let content = |value| part(value, from - span.offset, to - from);
                Some(CellEffect {
                    cell: layout.cells[stretch]?,
                    read: effect.read.map(content),
                    write: effect.write.map(content),
                })
            })
        })
    }
}

/// What an effect does to one cell. The inner option is whether the value is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellEffect {
    pub(crate) cell: Cell,
    pub(crate) read: Option<Option<u64>>,
    pub(crate) write: Option<Option<u64>>,
}

impl Layout {
    fn stretches(&self, span: Span) -> Range<usize> {
        let at = |bound: u64| self.bounds.partition_point(|known| *known < bound);
        at(span.offset)..at(span.offset.saturating_add(span.len))
    }
}

fn accessed(op: &Op) -> Option<(LocationId, u32)> {
    match op {
        Op::Read(access) | Op::Write(access) => Some((access.location, access.size)),
        Op::ReadModifyWrite(rmw) => Some((rmw.location, u32::from(rmw.size))),
        _ => None,
    }
}

/// The part of a value that lies in a cell.
fn part(value: Value, from: u64, len: u64) -> Option<u64> {
    if from.checked_add(len)? > WORD {
        return None;
    }
    let mask = if len == WORD { u64::MAX } else { (1 << (8 * len)) - 1 };
    value.get().map(|bits| bits >> (8 * from) & mask)
}
