//! Whether a recorded run shows a violation: the last word on a finding.
//!
//! # What is claimed
//!
//! The three accesses of a violation are known by their [`Identity`]: the name of the thread, which says whose
//! child it is; the place in the source; the name of the location; and the how-manieth access of that kind the
//! thread makes there, to that location. (Accesses of other locations from the same place do not count: how many
//! of them are in a trace depends on what was shared in that run.) A run *shows* the violation if its trace has all three, in order, the first and the
//! last by one thread in one outermost region, the other by another thread, all touching a common byte, and
//! with kinds that fit a pattern.
//!
//! Names must be the same, to the letter. A location in an object that is named otherwise in the new run is
//! another location, even if it plays the same part there: then a violation may be shown and not be seen here,
//! but never the other way round. What else happens in the run does not matter.
//!
//! Nothing here knows how the run came about: no schedule, no solver, no replay.

use interloper_model::{AccessKind, Pattern, RegionEdge, RegionSources, Regions, access_of};
use interloper_trace::{Event, LocationId, Op, Tables, ThreadId};
use std::fmt;

/// What an access is known by in other runs of the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The name of the thread.
    pub thread: String,
    /// The place in the source.
    pub place: SourcePlace,
    /// What it does.
    pub operation: Operation,
    /// How many accesses of this kind the thread had made there to that location, this one included.
    pub occurrence: u64,
    /// The name of the location.
    pub location: String,
}

/// A place in the source, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourcePlace {
    /// The file.
    pub file: Option<String>,
    /// The function.
    pub function: Option<String>,
    /// The line.
    pub line: Option<i64>,
}

/// What an access does, or tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes, or tries to.
    ReadModifyWrite,
}

/// One of the three accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The region's first.
    First,
    /// The other thread's.
    Remote,
    /// The region's second.
    Second,
}

impl Role {
    const ALL: [Role; 3] = [Role::First, Role::Remote, Role::Second];
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::First => "first",
            Role::Remote => "remote",
            Role::Second => "second",
        })
    }
}

/// Why a run does not show a violation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// What is wanted is no violation in any run.
    #[error("the first and the second access are not of one thread, and the remote one of another")]
    NotTwoThreads,
    /// An access did not happen.
    #[error("the {role} access did not happen: thread {thread} was there {times} times, not {wanted}")]
    Missing {
        /// Which one.
        role: Role,
        /// Whose.
        thread: String,
        /// How many accesses of its kind the thread made at its place, to its location.
        times: u64,
        /// How many it should have made.
        wanted: u64,
    },
    /// They happened in another order.
    #[error("the accesses happened in another order: events {0:?}")]
    OtherOrder([usize; 3]),
    /// The two local ones are not in one region.
    #[error("the first and second access, events {0} and {1}, are not in one region")]
    NotOneRegion(usize, usize),
    /// They do not touch a common byte.
    #[error("the accesses have no byte in common: events {0:?}")]
    NoCommonByte([usize; 3]),
    /// They are no violation together: a compare-and-swap failed that was to succeed, mostly.
    #[error("the accesses, events {events:?}, fit no pattern as {kinds:?}")]
    NoPattern {
        /// Which ones.
        events: [usize; 3],
        /// What they did.
        kinds: [AccessKind; 3],
    },
}

impl Identity {
    /// What an access of a trace is known by; nothing if there is no such event, or it is no access.
    pub fn of(events: &[Event], tables: &Tables, index: usize) -> Option<Identity> {
        let event = events.get(index)?;
        let operation = operation_of(&event.op)?;
        let (location, _) = access_of(&event.op)?;
        let place = place_of(event, tables);
        let same = |other: &&Event| {
            other.thread == event.thread
                && operation_of(&other.op) == Some(operation)
                && access_of(&other.op).is_some_and(|(other, _)| other == location)
                && (other.site == event.site || place.is_of(other, tables))
        };
        let occurrence = events[..=index].iter().filter(same).count() as u64;
        Some(Identity {
            thread: tables.thread(event.thread).to_owned(),
            place,
            operation,
            occurrence,
            location: tables.location_name(location),
        })
    }
}

/// Whether a run shows the violation of three accesses (first, remote, second): where it does, or why it does
/// not. Regions are those of the sources chosen.
pub fn shows(
    events: &[Event],
    tables: &Tables,
    sources: RegionSources,
    wanted: &[Identity; 3],
) -> Result<[usize; 3], Mismatch> {
    let [first, remote, second] = wanted;
    if first.thread != second.thread || first.thread == remote.thread {
        return Err(Mismatch::NotTwoThreads);
    }
    let mut found = [0; 3];
    for (role, (identity, found)) in Role::ALL.into_iter().zip(wanted.iter().zip(&mut found)) {
        *found = sought(events, tables, role, identity)?;
    }
    if !found.is_sorted_by(|a, b| a < b) {
        return Err(Mismatch::OtherOrder(found));
    }
    if !in_one_region(events, sources, found[0], found[2]) {
        return Err(Mismatch::NotOneRegion(found[0], found[2]));
    }
    let accesses = found.map(|event| &events[event]);
    if !have_common_byte(accesses, tables) {
        return Err(Mismatch::NoCommonByte(found));
    }
    let kinds = accesses.map(|event| access_of(&event.op).map_or(AccessKind::Read, |(_, kind)| kind));
    match Pattern::of(kinds[0], kinds[1], kinds[2]) {
        Some(_) => Ok(found),
        None => Err(Mismatch::NoPattern { events: found, kinds }),
    }
}

/// Where in a run the access with this identity is, if it made it.
pub fn find(events: &[Event], tables: &Tables, identity: &Identity) -> Option<usize> {
    sought(events, tables, Role::First, identity).ok()
}

/// The event with an identity.
fn sought(events: &[Event], tables: &Tables, role: Role, identity: &Identity) -> Result<usize, Mismatch> {
    let thread = (0..tables.thread_count())
        .filter_map(ThreadId::from_index)
        .find(|&thread| tables.thread(thread) == identity.thread);
    let mut times = 0;
    for (at, event) in events.iter().enumerate() {
        let is_there = Some(event.thread) == thread
            && operation_of(&event.op) == Some(identity.operation)
            && identity.place.is_of(event, tables)
            && access_of(&event.op).is_some_and(|(location, _)| tables.location_name(location) == identity.location);
        times += u64::from(is_there);
        if is_there && times == identity.occurrence {
            return Ok(at);
        }
    }
    Err(Mismatch::Missing { role, thread: identity.thread.clone(), times, wanted: identity.occurrence })
}

fn operation_of(op: &Op) -> Option<Operation> {
    match op {
        Op::Read(_) => Some(Operation::Read),
        Op::Write(_) => Some(Operation::Write),
        Op::ReadModifyWrite(_) => Some(Operation::ReadModifyWrite),
        _ => None,
    }
}

fn place_of(event: &Event, tables: &Tables) -> SourcePlace {
    let site = tables.site(event.site);
    let text = |string| tables.strings.get(string).to_owned();
    SourcePlace { file: site.file.map(text), function: site.function.map(text), line: site.line }
}

impl SourcePlace {
    fn is_of(&self, event: &Event, tables: &Tables) -> bool {
        let site = tables.site(event.site);
        let is = |string, text: &Option<String>| match (string, text) {
            (Some(string), Some(text)) => tables.strings.get(string) == text,
            (None, None) => true,
            _ => false,
        };
        site.line == self.line && is(site.file, &self.file) && is(site.function, &self.function)
    }
}

/// Whether two events of one thread, in order, are in one outermost region.
fn in_one_region(events: &[Event], sources: RegionSources, first: usize, second: usize) -> bool {
    let thread = events[first].thread;
    let mut regions = Regions::new(sources);
    let mut open = None;
    let mut region_of_first = None;
    for (at, event) in events[..=second].iter().enumerate().filter(|(_, event)| event.thread == thread) {
        match event.op {
            Op::RegionBegin(region) if regions.begin(thread, region.source) == RegionEdge::Outermost => open = Some(at),
            Op::RegionEnd(region) if regions.end(thread, region.source) == RegionEdge::Outermost => open = None,
            _ => {}
        }
        if at == first {
            region_of_first = open;
        }
    }
    region_of_first.is_some() && region_of_first == open
}

/// Whether some byte is touched by all. One of unknown size touches its location, and what that shares with
/// other locations is not known.
fn have_common_byte(events: [&Event; 3], tables: &Tables) -> bool {
    let mut touched = [(LocationId::new(0), 0); 3];
    for (touched, event) in touched.iter_mut().zip(events) {
        *touched = match &event.op {
            Op::Read(access) | Op::Write(access) => (access.location, u64::from(access.size)),
            Op::ReadModifyWrite(rmw) => (rmw.location, u64::from(rmw.size)),
            _ => return false,
        };
    }
    if touched.iter().all(|(location, _)| *location == touched[0].0) {
        return true;
    }
    let mut common = 0..u64::MAX;
    let mut object = None;
    for (location, size) in touched {
        let Some(location) = tables.location(location).filter(|_| size > 0) else { return false };
        if *object.get_or_insert(location.object) != location.object {
            return false;
        }
        common = common.start.max(location.offset)..common.end.min(location.offset.saturating_add(size));
    }
    !common.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventSchedule;
    use crate::interpret::{InitialValues, Program};
    use crate::minimise::{Budget, minimise};
    use crate::testing::{Shape, Trace, order_showing, traces};
    use interloper_trace::{Access, ReadModifyWrite, Region, RegionSource, Site, Value};
    use proptest::prelude::*;

    fn sources() -> RegionSources {
        RegionSources::default_choice()
    }

    fn identities(trace: &Trace, triple: [usize; 3]) -> [Identity; 3] {
        triple.map(|event| Identity::of(&trace.events, &trace.tables, event).expect("an access"))
    }

    /// What accesses of a trace are called, by an obvious count.
    fn key(trace: &Trace, at: usize) -> (String, String, &'static str, String) {
        let event = &trace.events[at];
        let kind = match event.op {
            Op::Read(_) => "read",
            Op::Write(_) => "write",
            Op::ReadModifyWrite(_) => "rmw",
            _ => "none",
        };
        let location = access_of(&event.op).map(|(location, _)| trace.tables.location_name(location));
        let place = format!("{:?}", place_of(event, &trace.tables));
        (trace.tables.thread(event.thread).to_owned(), place, kind, location.unwrap_or_default())
    }

    proptest! {
        #[test]
        fn identities_tell_accesses_apart(trace in traces(Shape { events: 60, ..Shape::ALL })) {
            let mut seen = std::collections::HashSet::new();
            for at in 0..trace.events.len() {
                let identity = Identity::of(&trace.events, &trace.tables, at);
                let wanted = key(&trace, at);
                prop_assert_eq!(identity.is_none(), wanted.2 == "none");
                let Some(identity) = identity else { continue };
                let same = (0..=at).filter(|&other| {
                    let other = key(&trace, other);
                    other == wanted
                });
                prop_assert_eq!(identity.occurrence, same.count() as u64);
                prop_assert_eq!(&identity.location, &wanted.3);
                prop_assert!(seen.insert(identity.clone()));
                prop_assert_eq!(find(&trace.events, &trace.tables, &identity), Some(at));
            }
        }

        /// A run along a witness shows the violation, wherever the witness has it.
        #[test]
        fn a_run_along_a_witness_shows_it(trace in traces(Shape::ALL)) {
            let program = Program::new(&trace.events, &trace.tables, InitialValues::Zero);
            let triples = crate::reference::feasible_triples_within(&program, sources(), 1500).unwrap_or_default();
            for (first, remote, second) in triples.into_iter().take(3) {
                let triple = [first, remote, second];
                let wanted = identities(&trace, triple);
                let order = order_showing(&program, triple).expect("it is feasible");
                let order = minimise(&program, &order, triple, Budget(10_000)).expect("it is valid").order;
                let schedule = EventSchedule::of_order(&trace.events, &order).expect("an order");
                let order = schedule.to_order(&trace.events).expect("of this trace");
                let events: Vec<Event> = order.iter().map(|&at| trace.events[at]).collect();
                let places = triple.map(|event| order.iter().position(|&at| at == event).expect("it is executed"));
                prop_assert_eq!(shows(&events, &trace.tables, sources(), &wanted), Ok(places));
                // Without the last access it does not.
                let cut = shows(&events[..places[2]], &trace.tables, sources(), &wanted);
                let missing = matches!(cut, Err(Mismatch::Missing { role: Role::Second, .. }));
                prop_assert!(missing, "{:?}", cut);
            }
        }
    }

    /// Two threads, one object; each event at a line of its own.
    struct Script {
        trace: Trace,
    }

    impl Script {
        fn new() -> Self {
            let mut tables = Tables::new();
            for name in ["main", "main.1"] {
                tables.intern_thread(name).expect("room");
            }
            Script { trace: Trace { events: Vec::new(), tables } }
        }

        fn push(mut self, thread: u32, line: i64, op: Op) -> Self {
            let site = Site { file: None, function: None, line: Some(line) };
            let site = self.trace.tables.intern_site(site).expect("room");
            self.trace.events.push(Event { thread: ThreadId::new(thread), site, op });
            self
        }

        fn begin(self) -> Self {
            self.push(0, 0, Op::RegionBegin(Region { name: None, source: RegionSource::Annotated }))
        }

        fn end(self) -> Self {
            self.push(0, 0, Op::RegionEnd(Region { name: None, source: RegionSource::Annotated }))
        }

        fn access(mut self, object: &str, offset: u64, size: u32) -> (Self, Access) {
            let location = self.trace.tables.intern_location(object, offset).expect("room");
            (self, Access { size, ..Access::bare(location) })
        }

        fn read(self, thread: u32, line: i64, object: &str, offset: u64, size: u32) -> Self {
            let (script, access) = self.access(object, offset, size);
            script.push(thread, line, Op::Read(access))
        }

        fn write(self, thread: u32, line: i64, object: &str, offset: u64, size: u32) -> Self {
            let (script, access) = self.access(object, offset, size);
            script.push(thread, line, Op::Write(access))
        }

        fn swap(self, thread: u32, line: i64, object: &str, success: bool) -> Self {
            let (script, Access { location, order, .. }) = self.access(object, 0, 4);
            let (read, written) = (Value::UNKNOWN, Value::UNKNOWN);
            let rmw = ReadModifyWrite { location, size: 4, order, success, more: false, read, written };
            script.push(thread, line, Op::ReadModifyWrite(rmw))
        }

        fn shows(&self, wanted: &[Identity; 3]) -> Result<[usize; 3], String> {
            shows(&self.trace.events, &self.trace.tables, sources(), wanted).map_err(|mismatch| mismatch.to_string())
        }
    }

    /// Each way in which a run can fail to show a violation.
    #[test]
    fn mismatches_say_what_is_missing() {
        let seen = Script::new().begin().read(0, 1, "x", 0, 4).swap(1, 2, "x", true).read(0, 1, "x", 0, 4).end();
        let wanted = identities(&seen.trace, [1, 2, 3]);
        assert_eq!(seen.shows(&wanted), Ok([1, 2, 3]));
        let mismatch = |run: Script| run.shows(&wanted).expect_err("a mismatch");
        assert_eq!(
            mismatch(Script::new().begin().read(0, 1, "x", 0, 4).swap(1, 2, "x", true).read(0, 7, "x", 0, 4)),
            "the second access did not happen: thread main was there 1 times, not 2"
        );
        assert_eq!(
            mismatch(Script::new().begin().read(0, 1, "x", 0, 4).swap(1, 2, "y", true).read(0, 1, "x", 0, 4)),
            "the remote access did not happen: thread main.1 was there 0 times, not 1"
        );
        assert_eq!(
            mismatch(Script::new().begin().read(0, 1, "x", 0, 4).read(0, 1, "x", 0, 4).swap(1, 2, "x", true)),
            "the accesses happened in another order: events [1, 3, 2]"
        );
        let torn = Script::new().begin().read(0, 1, "x", 0, 4).end().begin();
        assert_eq!(
            mismatch(torn.swap(1, 2, "x", true).read(0, 1, "x", 0, 4)),
            "the first and second access, events 1 and 5, are not in one region"
        );
        assert_eq!(
            mismatch(Script::new().begin().read(0, 1, "x", 0, 4).swap(1, 2, "x", false).read(0, 1, "x", 0, 4)),
            "the accesses, events [1, 2, 3], fit no pattern as [Read, Read, Read]"
        );
        let mut same_thread = wanted.clone();
        same_thread[1].thread = "main".to_owned();
        assert!(seen.shows(&same_thread).expect_err("a mismatch").contains("of one thread"));
        let mut unheard = wanted.clone();
        unheard[1].thread = "main.2".to_owned();
        assert!(seen.shows(&unheard).expect_err("a mismatch").contains("thread main.2 was there 0 times"));
    }

    #[test]
    fn a_byte_must_be_common_to_all_three() {
        let run = |offset, size| {
            let script = Script::new().begin().write(0, 1, "x", 0, 8).read(1, 2, "x", offset, size);
            let script = script.write(0, 3, "x", 4, 4);
            let wanted = identities(&script.trace, [1, 2, 3]);
            script.shows(&wanted)
        };
        assert_eq!(run(6, 4), Ok([1, 2, 3]));
        assert_eq!(run(0, 4), Err("the accesses have no byte in common: events [1, 2, 3]".to_owned()));
        assert_eq!(run(6, 0), Err("the accesses have no byte in common: events [1, 2, 3]".to_owned()));
    }

    /// Regions of sources that were not chosen do not count.
    #[test]
    fn regions_are_of_the_sources_chosen() {
        let script = Script::new().begin().read(0, 1, "x", 0, 4).write(1, 2, "x", 0, 4).read(0, 3, "x", 0, 4);
        let wanted = identities(&script.trace, [1, 2, 3]);
        let none = shows(&script.trace.events, &script.trace.tables, RegionSources::NONE, &wanted);
        assert_eq!(none, Err(Mismatch::NotOneRegion(1, 3)));
    }
}
