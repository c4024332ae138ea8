//! Algorithm 1 as it is printed: each question scans the trace.
//!
//! Numbers are those of the printed lines. A read-modify-write is a read and a write, as everywhere.

use crate::triple::Triple;
use interloper_model::access_of;
use interloper_trace::{Event, LocationId, Op, ThreadId};

/// What an event is to the algorithm.
#[derive(Clone, Copy)]
struct Entry {
    thread: ThreadId,
    reads: Option<LocationId>,
    writes: Option<LocationId>,
    /// How many branches its thread passed just before it; one if the trace does not tell.
    branches: u64,
    is_branch: bool,
}

/// Whether Algorithm 1 says that a triple may be infeasible, by the line that returns it.
pub fn may_be_infeasible(events: &[Event], triple: &Triple) -> Option<u32> {
    let trace = entries(events);
    let [ai, aj, ak] = [triple.first, triple.remote, triple.second].map(|access| access.index.0 as usize);
    if ai < aj && aj < ak {
        return None;
    }
    let (one, two) = (triple.first.thread, triple.remote.thread);
    let accesses = |at: usize, location| trace[at].reads == Some(location) || trace[at].writes == Some(location);
    let branch_between = |read: usize| {
        (read + 1..ak).any(|at| trace[at].thread == one && !trace[at].is_branch && trace[at].branches > 0)
    };
    let last_write = |location, before: usize| (0..before).rev().find(|at| trace[*at].writes == Some(location));
    if aj > ai {
        let prev = (0..aj).rev().find(|at| trace[*at].thread == two && accesses(*at, triple.location));
        let in_prefix = |at: usize| prev.is_some_and(|prev| ai < at && at <= prev);
        for read in ai + 1..aj {
            let Some(location) = trace[read].reads.filter(|_| trace[read].thread == two) else { continue };
            let write = last_write(location, read).filter(|write| trace[*write].thread == one);
            let Some(write) = write else { continue };
            if in_prefix(read) && write > ai {
                return Some(6);
            }
            if read > ak && write > ak {
                return Some(9);
            }
        }
        for read in ai..ak {
            let Some(location) = trace[read].reads.filter(|_| trace[read].thread == one) else { continue };
            let is_write = |at: &usize| trace[*at].thread == two && trace[*at].writes == Some(location);
            let write = (read + 1..trace.len()).find(is_write);
            if write.is_some_and(|write| prev.is_some_and(|prev| write <= prev)) && branch_between(read) {
                return Some(15);
            }
        }
    }
    if aj < ai {
        for read in aj + 1..=ai {
            let Some(location) = trace[read].reads.filter(|_| trace[read].thread == one) else { continue };
            if last_write(location, read).is_some_and(|write| write >= aj && trace[write].thread == two) {
                return Some(23);
            }
        }
        let next = (aj + 1..trace.len()).find(|at| trace[*at].thread == two && accesses(*at, triple.location));
        for read in ai + 1..ak {
            let Some(location) = trace[read].reads.filter(|_| trace[read].thread == one) else { continue };
            let is_write = |at: &usize| trace[*at].thread == two && trace[*at].writes == Some(location);
            let write = (0..read).rev().find(is_write);
            if write.is_some_and(|write| next.is_some_and(|next| write > next)) && branch_between(read) {
                return Some(30);
            }
        }
    }
    None
}

fn entries(events: &[Event]) -> Vec<Entry> {
    let has_branches = events.iter().any(|event| matches!(event.op, Op::Branch { .. }));
    let mut entries: Vec<Entry> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let earlier = events[..at].iter().rev().filter(|earlier| earlier.thread == event.thread);
        let passed = earlier.map_while(|earlier| match earlier.op {
            Op::Branch { count } => Some(u64::from(count)),
            _ => None,
        });
        let access = access_of(&event.op);
        entries.push(Entry {
            thread: event.thread,
            reads: access.filter(|(_, kind)| kind.reads()).map(|(location, _)| location),
            writes: access.filter(|(_, kind)| kind.writes()).map(|(location, _)| location),
            branches: if has_branches { passed.sum() } else { 1 },
            is_branch: matches!(event.op, Op::Branch { .. }),
        });
    }
    entries
}
