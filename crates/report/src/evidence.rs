//! What a trace says about the accesses of findings, beside their places: values, locks held, the name of the region,
//! and where threads were created.
//!
//! Analyses keep none of that. It is looked up, event by event, once it is known which events matter.

use crate::build;
use crate::result::{Finding, ThreadBirth};
use interloper_model::HeldLocks;
use interloper_trace::{Event, EventIndex, LockId, Op, Tables, ThreadId};
use rustc_hash::FxHashMap;

/// Looks up events of one trace.
#[derive(Debug, Default)]
pub struct Evidence {
    wanted: FxHashMap<u64, Option<Fact>>,
    held: Vec<HeldLocks>,
    births: FxHashMap<ThreadId, (EventIndex, Event)>,
}

#[derive(Clone, Debug)]
struct Fact {
    event: Event,
    held: Vec<LockId>,
}

impl Evidence {
    /// The events at these positions will be wanted.
    pub fn want(&mut self, positions: impl IntoIterator<Item = u64>) {
        self.wanted.extend(positions.into_iter().map(|position| (position, None)));
    }

    /// All that is wanted of the trace that a finding's own positions are in.
    pub fn want_all_of(&mut self, finding: &Finding) {
        self.want(finding.events.iter().map(|event| event.index));
        self.want([finding.region.begin]);
    }

    /// The next event of the trace. All must be shown, for locks to be right.
    pub fn observe(&mut self, index: EventIndex, event: &Event) {
        let thread = event.thread.index();
        if self.held.len() <= thread {
            self.held.resize_with(thread + 1, HeldLocks::default);
        }
        let held = &mut self.held[thread];
        match event.op {
            Op::Acquire { lock, mode, .. } => {
                held.acquire(lock, mode);
            }
            Op::Release { lock, .. } => {
                held.release(lock);
            }
            Op::WaitBegin { lock, .. } => {
                held.wait_begin(lock);
            }
            Op::WaitEnd { lock, .. } => {
                held.wait_end(lock);
            }
            Op::Fork(child) => {
                self.births.entry(child).or_insert((index, *event));
            }
            _ => {}
        }
        if let Some(fact) = self.wanted.get_mut(&index.0) {
            *fact = Some(Fact { event: *event, held: held.iter().map(|(lock, _)| lock).collect() });
        }
    }

    /// Says what the region of a finding is called, whose positions are in this trace.
    pub fn name_region(&self, finding: &mut Finding, tables: &Tables) {
        if let Some(Fact { event: Event { op: Op::RegionBegin(region), .. }, .. }) = self.fact(finding.region.begin) {
            finding.region.name = region.name.map(|name| tables.strings.get(name).to_owned());
        }
    }

    /// Says what the three accesses read, wrote and held, which are at these positions of this trace; and where their
    /// threads were created.
    pub fn describe(&self, finding: &mut Finding, positions: [u64; 3], tables: &Tables) {
        for (event, position) in finding.events.iter_mut().zip(positions) {
            let Some(fact) = self.fact(position) else { continue };
            event.held = Some(fact.held.iter().map(|lock| tables.lock(*lock).to_owned()).collect());
            let size = match fact.event.op {
                Op::Read(access) => {
                    event.read = access.value.get();
                    access.size
                }
                Op::Write(access) => {
                    event.written = access.value.get();
                    access.size
                }
                Op::ReadModifyWrite(rmw) => {
                    event.read = rmw.read.get();
                    event.written = rmw.written.get().filter(|_| rmw.success);
                    u32::from(rmw.size)
                }
                _ => 0,
            };
            if size > 0 {
                finding.variable.size.get_or_insert(size);
            }
        }
        let mut threads: Vec<ThreadId> =
            positions.iter().filter_map(|position| Some(self.fact(*position)?.event.thread)).collect();
        threads.sort_unstable();
        threads.dedup();
        finding.threads = threads.into_iter().filter_map(|thread| self.birth(thread, tables)).collect();
    }

    fn birth(&self, thread: ThreadId, tables: &Tables) -> Option<ThreadBirth> {
        let (index, event) = self.births.get(&thread)?;
        let (file, line, function) = build::site(event.site, tables);
        let name = |thread| tables.thread(thread).to_owned();
        Some(ThreadBirth { thread: name(thread), by: name(event.thread), index: index.0, file, line, function })
    }

    fn fact(&self, position: u64) -> Option<&Fact> {
        self.wanted.get(&position)?.as_ref()
    }
}

/// The three positions of a finding in the trace that it is about.
pub fn positions(finding: &Finding) -> Option<[u64; 3]> {
    let positions: Vec<u64> = finding.events.iter().map(|event| event.index).collect();
    positions.try_into().ok()
}
