//! What a trace says about the accesses of findings, beside their places: values, locks held, regions and their names,
//! and where threads were created.
//!
//! Analyses keep none of that. It is looked up, event by event, once it is known which events matter.

use crate::build;
use crate::result::{self, Finding, ThreadBirth};
use interloper_model::{HeldLocks, RegionSources};
use interloper_trace::{Event, EventIndex, LockId, Op, Region, Tables, ThreadId};
use rustc_hash::FxHashMap;

/// Looks up events of one trace.
#[derive(Debug)]
pub struct Evidence {
    sources: RegionSources,
    wanted: FxHashMap<u64, Option<Fact>>,
    threads: Vec<Inside>,
    /// Where regions end that something wanted is in, by where they begin.
    ends: FxHashMap<u64, Option<u64>>,
    births: FxHashMap<ThreadId, (EventIndex, Event)>,
}

/// What a thread holds and is in.
#[derive(Debug, Default)]
struct Inside {
    held: HeldLocks,
    regions: Vec<OpenRegion>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenRegion {
    begin: u64,
    region: Region,
}

#[derive(Clone, Debug)]
struct Fact {
    event: Event,
    held: Vec<LockId>,
    /// Regions of the chosen sources, the outermost first.
    regions: Vec<OpenRegion>,
}

impl Evidence {
    /// Knows nothing yet. Regions of these sources count.
    pub fn new(sources: RegionSources) -> Self {
        Evidence {
            sources,
            wanted: FxHashMap::default(),
            threads: Vec::new(),
            ends: FxHashMap::default(),
            births: FxHashMap::default(),
        }
    }

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
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Inside::default);
        }
        let Inside { held, regions } = &mut self.threads[thread];
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
            Op::RegionBegin(region) if self.sources.contains(region.source) => {
                regions.push(OpenRegion { begin: index.0, region });
            }
            Op::RegionEnd(region) if self.sources.contains(region.source) => {
                // Regions of one source nest; those of different sources may overlap.
                let last = regions.iter().rposition(|open| open.region.source == region.source);
                if let Some(OpenRegion { begin, .. }) = last.map(|at| regions.remove(at))
                    && let Some(end) = self.ends.get_mut(&begin)
                {
                    *end = Some(index.0);
                }
            }
            _ => {}
        }
        if let Some(fact) = self.wanted.get_mut(&index.0) {
            let held = held.iter().map(|(lock, _)| lock).collect();
            self.ends.extend(regions.iter().map(|open| (open.begin, None)));
            *fact = Some(Fact { event: *event, held, regions: regions.clone() });
        }
    }

    /// Says what the region of a finding is called, and which is the innermost one that holds both its accesses; for a
    /// finding whose positions are in this trace.
    pub fn name_region(&self, finding: &mut Finding, tables: &Tables) {
        if let Some(Fact { event: Event { op: Op::RegionBegin(region), .. }, .. }) = self.fact(finding.region.begin) {
            finding.region.name = region.name.map(|name| tables.strings.get(name).to_owned());
        }
        let innermost = self.innermost(finding).filter(|open| open.begin != finding.region.begin);
        finding.innermost = innermost.map(|OpenRegion { begin, region }| result::Region {
            source: region.source.name(),
            name: region.name.map(|name| tables.strings.get(name).to_owned()),
            thread: finding.region.thread.clone(),
            begin,
            end: self.ends.get(&begin).copied().flatten(),
        });
    }

    fn innermost(&self, finding: &Finding) -> Option<OpenRegion> {
        let [first, _, second] = positions(finding)?;
        let (first, second) = (self.fact(first)?, self.fact(second)?);
        let both = first.regions.iter().filter(|open| second.regions.contains(open));
        both.copied().max_by_key(|open| open.begin)
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

#[cfg(test)]
mod tests {
    use super::Evidence;
    use crate::result::Finding;
    use crate::testing;
    use interloper_model::RegionSources;
    use interloper_trace::{Access, Event, EventIndex, LocationId, Op, Region, RegionSource, SiteId, Tables, ThreadId};

    /// A trace of one thread: `+teller` begins a function, `{audit` what is annotated, `[m` a critical section; `-`, `}`
    /// and `]` end them, and `x` is an access.
    fn told(text: &str, first: u64, second: u64, sources: RegionSources) -> Option<String> {
        let mut tables = Tables::new();
        let mut finding = Finding { innermost: None, ..testing::finding() };
        finding.region.begin = 0;
        (finding.events[0].index, finding.events[2].index) = (first, second);
        let mut evidence = Evidence::new(sources);
        evidence.want_all_of(&finding);
        for (index, step) in (0..).zip(text.split(' ')) {
            let mut region = |source| {
                let name = Some(&step[1..]).filter(|name| !name.is_empty());
                Region { name: name.map(|name| tables.strings.intern(name).expect("room")), source }
            };
            let op = match &step[..1] {
                "+" => Op::RegionBegin(region(RegionSource::Functions)),
                "-" => Op::RegionEnd(region(RegionSource::Functions)),
                "{" => Op::RegionBegin(region(RegionSource::Annotated)),
                "}" => Op::RegionEnd(region(RegionSource::Annotated)),
                "[" => Op::RegionBegin(region(RegionSource::Locks)),
                "]" => Op::RegionEnd(region(RegionSource::Locks)),
                _ => Op::Read(Access::bare(LocationId::new(0))),
            };
            let event = Event { thread: ThreadId::new(0), site: SiteId::UNKNOWN, op };
            evidence.observe(EventIndex(index), &event);
        }
        evidence.name_region(&mut finding, &tables);
        let region = finding.innermost?;
        let end = region.end.map_or("open".to_owned(), |end| end.to_string());
        Some(format!("{} {} {}-{end}", region.source, region.name.unwrap_or_default(), region.begin))
    }

    #[test]
    fn the_innermost_region_that_holds_both_accesses() {
        let all = RegionSources::default_choice();
        let inner = |text, first, second| told(text, first, second, all);
        assert_eq!(inner("+teller x x -teller", 1, 2), None, "it is the outermost one");
        let nested = "+teller +deposit +get [m x ]m -get +set [m x ]m -set -deposit -teller";
        assert_eq!(
            inner(nested, 4, 9).as_deref(),
            Some("functions deposit 1-12"),
            "neither a call nor a lock holds both"
        );
        assert_eq!(inner("+f {audit x x", 2, 3).as_deref(), Some("annotated audit 1-open"));
        assert_eq!(inner("+f [m x x ]m -f", 2, 3).as_deref(), Some("locks m 1-4"));
        // A function that is called twice is not one step.
        assert_eq!(inner("+f +g x -g +g x -g -f", 2, 5), None);
        // A critical section may begin in one function and end in another.
        assert_eq!(inner("+f +g [m x -g x ]m -f", 3, 5).as_deref(), Some("locks m 2-6"));
        let chosen = RegionSources::NONE.with(RegionSource::Functions);
        assert_eq!(told("+f {audit x x } -f", 2, 3, chosen), None, "of the chosen sources only");
    }
}
