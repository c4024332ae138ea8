//! Traces with values for tests: written down, or at random.

use interloper_model::RegionSources;
use interloper_trace::{
    Access, Event, LocationId, MemoryOrder, Op, ReadModifyWrite, Region, RegionSource, SiteId, StringId, Tables,
    ThreadId, Value,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Events, and the names in them.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) events: Vec<Event>,
    pub(crate) tables: Tables,
    /// The bytes that are not zero at first.
    pub(crate) initial: BTreeMap<(StringId, u64), u8>,
}

pub(crate) fn sources() -> RegionSources {
    [RegionSource::Annotated].into_iter().collect()
}

/// Reads `0 b; 0 rx=1; 1 wx=2; 0 ux=1>2; 0 e`: thread, operation, variable and value. `u` is a
/// read-modify-write, `f` one that failed, `b` and `e` begin and end a region; a value `?` is not known.
pub(crate) fn sample(text: &str) -> Sample {
    let mut tables = Tables::new();
    let mut events = Vec::new();
    for step in text.split(';').map(str::trim).filter(|step| !step.is_empty()) {
        let (thread, what) = step.split_once(' ').expect("thread and operation");
        let (kind, rest) = what.split_at(1);
        let op = match kind {
            "b" => begin(),
            "e" => end(),
            _ => {
                let (name, value) = rest.split_once('=').expect("variable and value");
                let location = tables.intern_location(name, 0).expect("few locations");
                let number = |text: &str| match text {
                    "?" => Value::UNKNOWN,
                    text => Value::known(text.parse().expect("a number")),
                };
                match kind {
                    "r" => Op::Read(access(location, 4, number(value))),
                    "w" => Op::Write(access(location, 4, number(value))),
                    _ => {
                        let (read, written) = value.split_once('>').unwrap_or((value, "?"));
                        rmw(location, 4, kind == "u", number(read), number(written))
                    }
                }
            }
        };
        events.push(event(thread.parse().expect("a thread number"), op));
    }
    Sample { events, tables, initial: BTreeMap::new() }
}

fn event(thread: u32, op: Op) -> Event {
    Event { thread: ThreadId::new(thread), site: SiteId::bare_line(1).expect("a small number"), op }
}

fn begin() -> Op {
    Op::RegionBegin(Region { name: None, source: RegionSource::Annotated })
}

fn end() -> Op {
    Op::RegionEnd(Region { name: None, source: RegionSource::Annotated })
}

fn access(location: LocationId, size: u32, value: Value) -> Access {
    Access { size, value, ..Access::bare(location) }
}

fn rmw(location: LocationId, size: u8, success: bool, read: Value, written: Value) -> Op {
    let order = MemoryOrder::SequentiallyConsistent;
    Op::ReadModifyWrite(ReadModifyWrite { location, size, order, success, more: false, read, written })
}

/// What random traces are like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Whether reads return what was written last.
    pub(crate) consistent: bool,
    /// Whether memory is not zero at first.
    pub(crate) filled: bool,
    /// Whether there are accesses of several sizes, which overlap in part.
    pub(crate) mixed: bool,
}

/// Random traces of two to four threads with few values. Blocks are few enough to try all orders.
pub(crate) fn samples(shape: Shape) -> impl Strategy<Value = Sample> {
    let script = prop::collection::vec((any::<u8>(), 0..100_u8, any::<u8>(), 0..4_u8), 2..16);
    (2..5_u8, 1..3_u8, script).prop_map(move |(threads, locations, script)| {
        Simulation::new(shape).run(threads, usize::from(locations), &script)
    })
}

struct Simulation {
    shape: Shape,
    sample: Sample,
    memory: BTreeMap<(StringId, u64), u8>,
    open: [u32; 4],
    begun: [bool; 4],
}

impl Simulation {
    fn new(shape: Shape) -> Self {
        let sample = Sample { events: Vec::new(), tables: Tables::new(), initial: BTreeMap::new() };
        Simulation { shape, sample, memory: BTreeMap::new(), open: [0; 4], begun: [false; 4] }
    }

    fn run(mut self, threads: u8, locations: usize, script: &[(u8, u8, u8, u8)]) -> Sample {
        const PLAIN: [(&str, u64, u32); 3] = [("x", 0, 1), ("y", 0, 4), ("z", 0, 8)];
        const MIXED: [(&str, u64, u32); 4] = [("x", 0, 1), ("x", 0, 2), ("x", 1, 1), ("x", 0, 4)];
        let places: &[_] = if self.shape.mixed { &MIXED[..locations + 1] } else { &PLAIN[..locations] };
        let places: Vec<(LocationId, u32)> = places
            .iter()
            .map(|(object, at, size)| (self.sample.tables.intern_location(object, *at).expect("few locations"), *size))
            .collect();
        if self.shape.filled {
            for (object, at) in [("x", 0), ("x", 1), ("y", 0), ("z", 0)] {
                let object = self.sample.tables.strings.intern(object).expect("few strings");
                let byte = script.first().map_or(0, |(thread, ..)| (thread % 3 + at as u8) % 3);
                self.sample.initial.insert((object, at), byte);
            }
        }
        self.memory = self.sample.initial.clone();
        for &(thread, action, place, value) in script {
            let (location, size) = places[usize::from(place) % places.len()];
            let thread = u32::from(thread % threads);
            // Most threads begin inside of a region, or there would be little to interrupt.
            if !std::mem::replace(&mut self.begun[thread as usize], true) && action % 4 != 0 {
                self.open[thread as usize] = 1;
                self.sample.events.push(event(thread, begin()));
            }
            self.step(thread, action, location, size, u64::from(value % 3));
        }
        self.sample
    }

    fn step(&mut self, thread: u32, action: u8, location: LocationId, size: u32, value: u64) {
        // Values with something in their second byte, where there is one.
        let value = if size > 1 && action.is_multiple_of(2) { value << 8 | value } else { value };
        let found = if self.shape.consistent { self.load(location, size) } else { value / 2 };
        let open = &mut self.open[thread as usize];
        let op = match action {
            0..32 => Op::Read(access(location, size, Value::known(found))),
            32..64 => {
                self.store(location, size, value);
                Op::Write(access(location, size, Value::known(value)))
            }
            64..72 => {
                self.store(location, size, value);
                rmw(location, size as u8, true, Value::known(found), Value::known(value))
            }
            72..76 => rmw(location, size as u8, false, Value::known(found), Value::UNKNOWN),
            76..84 => {
                *open += 1;
                begin()
            }
            _ if *open > 0 && value < 2 => {
                *open -= 1;
                end()
            }
            _ => return,
        };
        self.sample.events.push(event(thread, op));
    }

    fn bytes(&self, location: LocationId, size: u32) -> impl Iterator<Item = (StringId, u64)> + use<> {
        let place = self.sample.tables.location(location).expect("a known location");
        (0..u64::from(size)).map(move |at| (place.object, place.offset + at))
    }

    fn load(&self, location: LocationId, size: u32) -> u64 {
        let bytes = self.bytes(location, size).map(|byte| self.memory.get(&byte).copied().unwrap_or(0));
        bytes.zip(0..).map(|(byte, at)| u64::from(byte) << (8 * at)).sum()
    }

    fn store(&mut self, location: LocationId, size: u32, value: u64) {
        for (byte, at) in self.bytes(location, size).zip(0..) {
            self.memory.insert(byte, (value >> (8 * at)) as u8);
        }
    }
}
