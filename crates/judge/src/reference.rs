//! The definition of *atomic*, by brute force: every serial order of the blocks, byte by byte.
//!
//! Slow and obvious, and it shares no code with the rest. All values must be known.

use interloper_model::{RegionEdge, RegionSources, Regions};
use interloper_trace::{Event, LocationId, Op, StringId, Tables, Value};
use std::collections::BTreeMap;

/// A byte of memory: of an object, or of a location that some access does not give a size.
type Byte = (Result<StringId, LocationId>, u64);

/// A read that must return this byte, or a write of it.
#[derive(Clone, Copy)]
enum Action {
    Read(Byte, u8),
    Write(Byte, u8),
}

/// Whether some serial order of the blocks gives every read its value and every byte its final value; `initial`
/// has the bytes that are not zero at first.
pub fn is_atomic(
    events: &[Event],
    tables: &Tables,
    initial: &BTreeMap<(StringId, u64), u8>,
    regions: RegionSources,
) -> bool {
    let blocks = blocks(events, tables, regions);
    let memory: BTreeMap<Byte, u8> = initial.iter().map(|((object, at), byte)| ((Ok(*object), *at), *byte)).collect();
    let mut last = memory.clone();
    for event in events {
        for action in actions(event, events, tables) {
            if let Action::Write(byte, value) = action {
                last.insert(byte, value);
            }
        }
    }
    some_order(&blocks, &mut vec![0; blocks.len()], &memory, &last)
}

/// Whether the blocks that are left can be done in some order.
fn some_order(
    blocks: &[Vec<Vec<Action>>],
    done: &mut [usize],
    memory: &BTreeMap<Byte, u8>,
    last: &BTreeMap<Byte, u8>,
) -> bool {
    let mut is_complete = true;
    for thread in 0..blocks.len() {
        let Some(block) = blocks[thread].get(done[thread]) else { continue };
        is_complete = false;
        let mut memory = memory.clone();
        let is_possible = block.iter().all(|action| match action {
            Action::Read(byte, value) => memory.get(byte).copied().unwrap_or(0) == *value,
            Action::Write(byte, value) => {
                memory.insert(*byte, *value);
                true
            }
        });
        done[thread] += 1;
        let found = is_possible && some_order(blocks, done, &memory, last);
        done[thread] -= 1;
        if found {
            return true;
        }
    }
    is_complete && memory == last
}

/// The blocks of each thread.
fn blocks(events: &[Event], tables: &Tables, sources: RegionSources) -> Vec<Vec<Vec<Action>>> {
    let threads = events.iter().map(|event| event.thread.index() + 1).max().unwrap_or(0);
    let mut blocks: Vec<Vec<Vec<Action>>> = vec![Vec::new(); threads];
    let mut regions = Regions::new(sources);
    let mut in_region = vec![false; threads];
    let mut goes_on = vec![false; threads];
    for event in events {
        let thread = event.thread.index();
        match event.op {
            Op::RegionBegin(region) if regions.begin(event.thread, region.source) == RegionEdge::Outermost => {
                in_region[thread] = true;
                blocks[thread].push(Vec::new());
            }
            Op::RegionEnd(region) if regions.end(event.thread, region.source) == RegionEdge::Outermost => {
                in_region[thread] = false;
            }
            _ => {}
        }
        let actions = actions(event, events, tables);
        if !in_region[thread] && !goes_on[thread] {
            blocks[thread].push(Vec::new());
        }
        goes_on[thread] = matches!(event.op, Op::Read(access) | Op::Write(access) if access.more)
            || matches!(event.op, Op::ReadModifyWrite(rmw) if rmw.more);
        if let Some(block) = blocks[thread].last_mut() {
            block.extend(actions);
        }
    }
    blocks
}

fn actions(event: &Event, events: &[Event], tables: &Tables) -> Vec<Action> {
    let (location, size, read, write) = match event.op {
        Op::Read(access) => (access.location, access.size, Some(access.value), None),
        Op::Write(access) => (access.location, access.size, None, Some(access.value)),
        Op::ReadModifyWrite(rmw) => {
            (rmw.location, u32::from(rmw.size), Some(rmw.read), rmw.success.then_some(rmw.written))
        }
        _ => return Vec::new(),
    };
    let is_unsized = events.iter().any(|other| match other.op {
        Op::Read(access) | Op::Write(access) => access.location == location && access.size == 0,
        Op::ReadModifyWrite(rmw) => rmw.location == location && rmw.size == 0,
        _ => false,
    });
    let Some(place) = tables.location(location) else { return Vec::new() };
    let (object, offset) = if is_unsized { (Err(location), 0) } else { (Ok(place.object), place.offset) };
    let len = if size == 0 { 8 } else { size.min(8) };
    let bytes = |value: Value| {
        let bits = value.get().unwrap_or(0).to_le_bytes();
        (0..len as usize).map(move |at| ((object, offset + at as u64), bits[at]))
    };
    let reads = read.into_iter().flat_map(bytes).map(|(byte, value)| Action::Read(byte, value));
    let writes = write.into_iter().flat_map(bytes).map(|(byte, value)| Action::Write(byte, value));
    reads.chain(writes).collect()
}
