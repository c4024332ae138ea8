//! The next path to take: reads that are made to find something else.
//!
//! A violation whose accesses never occurred in one run is not in any reordering of it. So reads are led to find
//! what they did not find, by a schedule that the solver gives, and the program shows where it goes from there.
//! Every such run is put through the ladder in its turn.
//!
//! Nothing is tried twice: a *seed* is known by the thread and place of the read, what it is to find, and by what all
//! threads have read before, in the schedule that leads there. What a thread does depends on nothing else, so
//! that the same seed leads to the same futures.
//!
//! Which first: reads in regions, of locations that others write in regions; but every run made for the sake of one
//! place in the source makes another place the more promising, so that none is kept waiting.

use crate::runs::Run;
use interloper_decide::{Find, Flip, Flipped, Flipper, Limits, Outline, flips};
use interloper_ladder::Trace;
use interloper_model::{RegionEdge, RegionSources, Regions, access_of};
use interloper_recorder::Directions;
use interloper_trace::{Event, LocationId, Op, Tables, ThreadId};
use interloper_witness::interpret::{Program, check_order, is_effect_free};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

/// What has been tried, and what is left to try.
#[derive(Default)]
pub(crate) struct Frontier {
    /// Reads that might be led elsewhere, by their places in the source.
    places: BTreeMap<Place, Waiting>,
    /// Seeds that were tried.
    tried: FxHashSet<u64>,
    /// Reads that were led elsewhere: by thread, place, how often, and what they were to find.
    led: FxHashSet<u64>,
    pub(crate) impossible: u64,
    /// Something was left out, because the solver had no answer.
    pub(crate) has_gaps: bool,
}

/// A place in the source: file and line.
type Place = (String, Option<i64>);

/// The reads of one place.
#[derive(Default)]
struct Waiting {
    attempts: VecDeque<Attempt>,
    /// The lower the more promising, by itself.
    rank: u64,
    /// How many runs were made for its sake.
    runs: u64,
}

/// A read of a run that is to be led elsewhere.
struct Attempt {
    run: usize,
    flip: Flip,
    key: u64,
    /// It has let others go first, since it was led there before, if perhaps in another way.
    is_deferred: bool,
}

/// A run to be made.
pub(crate) struct Lead {
    pub(crate) directions: Directions,
}

impl Frontier {
    /// Lists what reads of a run might be led elsewhere.
    pub(crate) fn add(&mut self, number: usize, run: &Run, regions: RegionSources) {
        let outline = Outline::new(&run.trace.events, &run.trace.tables, run.trace.initial_values());
        let places = Places::new(&run.trace.events, regions);
        let mut occurrences: FxHashMap<(ThreadId, u32), u64> = FxHashMap::default();
        let mut occurrence_of = vec![0; run.trace.events.len()];
        for (at, event) in run.trace.events.iter().enumerate() {
            let times = occurrences.entry((event.thread, event.site.raw())).or_default();
            *times += 1;
            occurrence_of[at] = *times;
        }
        for flip in flips(&outline) {
            let at = flip.read.0 as usize;
            let (thread, file, line) = place_of(&run.trace.events[at], &run.trace.tables);
            let key = hash_of(&(&thread, &file, line, occurrence_of[at], find_key(run, flip.find)));
            let waiting =
                self.places.entry((file, line)).or_insert_with(|| Waiting { rank: u64::MAX, ..Waiting::default() });
            waiting.rank = waiting.rank.min(u64::from(places.rank(&run.trace.events, at)));
            waiting.attempts.push_back(Attempt { run: number, flip, key, is_deferred: false });
        }
    }

    /// How many reads are left.
    pub(crate) fn len(&self) -> u64 {
        self.places.values().map(|waiting| waiting.attempts.len() as u64).sum()
    }

    /// The next run to make, of those that can be made.
    pub(crate) fn next(&mut self, runs: &[Run], limits: &Limits) -> Option<Lead> {
        let attempts = self.places.values().flat_map(|waiting| &waiting.attempts);
        let numbers: BTreeSet<usize> = attempts.map(|attempt| attempt.run).collect();
        let outline = |number: usize| {
            let trace = &runs[number].trace;
            Outline::new(&trace.events, &trace.tables, trace.initial_values())
        };
        let outlines: FxHashMap<usize, Outline> = numbers.into_iter().map(|number| (number, outline(number))).collect();
        let mut flippers: FxHashMap<usize, Flipper<'_>> = FxHashMap::default();
        while let Some(attempt) = self.most_promising() {
            let Attempt { run: number, flip, key, is_deferred } = attempt;
            let run = &runs[number];
            let (_, file, line) = place_of(&run.trace.events[flip.read.0 as usize], &run.trace.tables);
            let waiting = self.places.entry((file, line)).or_default();
            if self.led.contains(&key) && !is_deferred {
                waiting.attempts.push_back(Attempt { is_deferred: true, ..attempt });
                continue;
            }
            match flippers.entry(number).or_insert_with(|| Flipper::new(&outlines[&number], limits)).ask(&flip) {
                Flipped::Impossible => self.impossible += 1,
                Flipped::Unknown => self.has_gaps = true,
                Flipped::Order(order) => {
                    let order: Vec<usize> =
                        order.in_full(&run.trace.events).into_iter().map(|event| event as usize).collect();
                    let order = into_the_thick(run, order, &flip);
                    self.led.insert(key);
                    if self.tried.insert(seed(run, &order, &flip)) {
                        waiting.runs += 1;
                        let directions = Directions::of(&order, &run.trace.events, &run.outcome);
                        return Some(Lead { directions });
                    }
                }
            }
        }
        None
    }

    /// What is to be tried next: of a promising place, for which few runs were made.
    fn most_promising(&mut self) -> Option<Attempt> {
        let waiting = self.places.values_mut().filter(|waiting| !waiting.attempts.is_empty());
        let first = waiting.min_by_key(|waiting| waiting.rank + waiting.runs)?;
        first.attempts.pop_front()
    }
}

/// The same order, with all other threads led as far as they can go before the read, doing what they did: into the
/// middle of what they are at, where it matters most what is done next. They stop short of writing what is read.
fn into_the_thick(run: &Run, order: Vec<usize>, flip: &Flip) -> Vec<usize> {
    const FARTHEST: usize = 20_000;
    let Trace { events, tables } = &run.trace;
    let read = flip.read.0 as usize;
    let Some((location, _)) = access_of(&events[read].op) else { return order };
    let program = Program::new(events, tables, run.trace.initial_values());
    let mut state = program.start();
    let mut led = Vec::with_capacity(order.len());
    for &event in order.iter().filter(|event| **event != read) {
        led.push(event);
        if is_effect_free(&events[event].op) || program.is_done(&state, event) {
            continue;
        }
        if program.step(&mut state, events[event].thread, None).is_err() {
            return order;
        }
    }
    let others = (0..program.thread_count()).filter_map(ThreadId::from_index);
    let others: Vec<ThreadId> = others.filter(|thread| *thread != events[read].thread).collect();
    let mut has_moved = true;
    while std::mem::take(&mut has_moved) && led.len() < order.len() + FARTHEST {
        for &thread in &others {
            loop {
                let next: Vec<usize> = program.next_events(&state, thread).collect();
                let overwrites = next.iter().any(|event| {
                    access_of(&events[*event].op).is_some_and(|(at, kind)| at == location && kind.writes())
                });
                if next.is_empty() || overwrites || !program.enabled(&state, thread) {
                    break;
                }
                let mut after = state.clone();
                match program.step(&mut after, thread, None) {
                    Ok(outcome) if outcome.satisfied => {}
                    _ => break,
                }
                state = after;
                led.extend(next);
                has_moved = true;
                if led.len() >= order.len() + FARTHEST {
                    break;
                }
            }
        }
    }
    led.push(read);
    // The judge has the last word.
    if check_order(&program, &led, None).is_ok() { led } else { order }
}

/// What a seed is known by: what every thread has done and read, and what the last read is to find.
fn seed(run: &Run, order: &[usize], flip: &Flip) -> u64 {
    let Run { trace, .. } = run;
    let mut threads: BTreeMap<&str, FxHasher> = BTreeMap::new();
    for &at in order {
        let event = &trace.events[at];
        let hasher = threads.entry(trace.tables.thread(event.thread)).or_default();
        if at as u64 == flip.read.0 {
            find_key(run, flip.find).hash(hasher);
        } else if let Some((location, _)) = access_of(&event.op) {
            (place_of(event, &trace.tables), trace.tables.location_name(location)).hash(hasher);
            match event.op {
                Op::Read(access) => access.value.get().hash(hasher),
                Op::ReadModifyWrite(rmw) => rmw.read.get().hash(hasher),
                _ => {}
            }
        } else if !is_effect_free(&event.op) {
            (place_of(event, &trace.tables), std::mem::discriminant(&event.op)).hash(hasher);
        }
    }
    let all: Vec<(&str, u64)> = threads.into_iter().map(|(name, hasher)| (name, hasher.finish())).collect();
    hash_of(&all)
}

/// What is to be found, in terms that hold in other runs.
fn find_key(run: &Run, find: Find) -> (u8, u64) {
    match find {
        Find::Content(content) => (0, content),
        Find::WrittenBy(event) => {
            let event = &run.trace.events[event.0 as usize];
            (1, hash_of(&place_of(event, &run.trace.tables)))
        }
        Find::Initial => (2, 0),
    }
}

fn place_of(event: &Event, tables: &Tables) -> (String, String, Option<i64>) {
    let site = tables.site(event.site);
    let text = |string| tables.strings.get(string).to_owned();
    let file = site.file.map(text).unwrap_or_default();
    (tables.thread(event.thread).to_owned(), file, site.line)
}

fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Which reads are in regions, and which locations are written in regions.
struct Places {
    in_region: Vec<bool>,
    written_in_regions: FxHashMap<LocationId, FxHashSet<ThreadId>>,
}

impl Places {
    fn new(events: &[Event], sources: RegionSources) -> Places {
        let mut regions = Regions::new(sources);
        let mut open: FxHashSet<ThreadId> = FxHashSet::default();
        let mut places =
            Places { in_region: Vec::with_capacity(events.len()), written_in_regions: FxHashMap::default() };
        for event in events {
            match event.op {
                Op::RegionBegin(region) if regions.begin(event.thread, region.source) == RegionEdge::Outermost => {
                    open.insert(event.thread);
                }
                Op::RegionEnd(region) if regions.end(event.thread, region.source) == RegionEdge::Outermost => {
                    open.remove(&event.thread);
                }
                _ => {}
            }
            let is_inside = open.contains(&event.thread);
            places.in_region.push(is_inside);
            if let Some((location, kind)) = access_of(&event.op)
                && is_inside
                && kind.writes()
            {
                places.written_in_regions.entry(location).or_default().insert(event.thread);
            }
        }
        places
    }

    /// The lower the more promising.
    fn rank(&self, events: &[Event], at: usize) -> u8 {
        let event = &events[at];
        let location = access_of(&event.op).map(|(location, _)| location);
        let writers = location.and_then(|location| self.written_in_regions.get(&location));
        let by_others = writers.is_some_and(|writers| writers.iter().any(|writer| *writer != event.thread));
        u8::from(!self.in_region[at]) * 2 + u8::from(!by_others)
    }
}
