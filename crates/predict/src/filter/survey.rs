//! The first pass: what the second one has to know beforehand.

use super::closure::{Others, USUAL_STEPS};
use super::paper::{Neighbours, Paper};
use super::sound::Sound;
use super::{Filter, Pass, Question, Rejection, Rule};
use crate::triple::Triple;
use interloper_model::{AccessKind, InitialValues, access_of};
use interloper_trace::{BoundValue, Event, EventIndex, LocationId, Op, StringId, Tables, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The first pass in progress.
pub struct Survey {
    rule: Rule,
    questions: Vec<Question>,
    initial: InitialValues,
    /// How many steps around a question are looked at.
    surroundings: usize,
    has_branches: bool,
    /// The threads and locations of remote accesses, with the last access seen.
    last: FxHashMap<(ThreadId, LocationId), Option<u64>>,
    /// The positions of remote accesses.
    remotes: FxHashSet<u64>,
    neighbours: FxHashMap<u64, Neighbours>,
    memory: Memory,
}

impl Survey {
    /// A survey for these questions.
    pub fn new(rule: Rule, triples: &[Triple], initial: InitialValues) -> Self {
        let questions: Vec<Question> = triples.iter().map(Question::new).collect();
        let (mut last, mut remotes) = (FxHashMap::default(), FxHashSet::default());
        if rule == Rule::Paper {
            for question in &questions {
                last.insert((question.remote_thread, question.location), None);
                remotes.insert(question.remote);
            }
        }
        Survey {
            rule,
            questions,
            initial,
            surroundings: USUAL_STEPS,
            has_branches: false,
            last,
            remotes,
            neighbours: FxHashMap::default(),
            memory: Memory::default(),
        }
    }

    /// The same, with so many steps around each question looked at by the sound rule.
    #[must_use]
    pub fn with_surroundings(self, steps: usize) -> Self {
        Survey { surroundings: steps, ..self }
    }

    /// Takes in the next event.
    pub fn observe(&mut self, index: EventIndex, event: &Event) {
        self.has_branches |= matches!(event.op, Op::Branch { .. });
        let Some((location, kind)) = access_of(&event.op) else {
            match event.op {
                Op::Free { object } => {
                    self.memory.freed.entry(object).or_insert(index.0);
                }
                Op::Bind { of: BoundValue::Read, .. } => self.memory.bind(event.thread),
                _ => {}
            }
            return;
        };
        match self.rule {
            Rule::Paper => self.note_neighbours(index.0, event.thread, location),
            Rule::Sound => self.memory.note(index.0, event, location, kind),
        }
    }

    /// The second pass.
    pub fn finish(self, tables: &Tables) -> Filter {
        let pass = match self.rule {
            Rule::Paper => Pass::Paper(Box::new(Paper::new(self.questions, &self.neighbours, self.has_branches))),
            Rule::Sound => {
                let (locations, bound) = self.memory.finish(tables, self.initial);
                Pass::Sound(Box::new(Sound::new(self.questions, locations, bound, self.surroundings)))
            }
        };
        Filter { pass }
    }

    /// Both passes, over a trace in memory.
    pub fn filter(mut self, events: &[Event], tables: &Tables) -> Vec<Option<Rejection>> {
        (0..).map(EventIndex).zip(events).for_each(|(index, event)| self.observe(index, event));
        let mut filter = self.finish(tables);
        (0..).map(EventIndex).zip(events).for_each(|(index, event)| filter.observe(index, event));
        filter.finish()
    }

    fn note_neighbours(&mut self, index: u64, thread: ThreadId, location: LocationId) {
        let Some(last) = self.last.get_mut(&(thread, location)) else { return };
        if let Some(before) = *last
            && let Some(neighbours) = self.neighbours.get_mut(&before)
        {
            neighbours.next = Some(index);
        }
        if self.remotes.contains(&index) {
            self.neighbours.insert(index, Neighbours { prev: *last, next: None });
        }
        *last = Some(index);
    }
}

/// What the accesses of a trace say about memory.
#[derive(Default)]
struct Memory {
    locations: Vec<LocationUse>,
    /// How many writes leave a value at a location.
    writes: FxHashMap<(LocationId, u64), u32>,
    /// Whether the last access goes on in the next event.
    goes_on: bool,
    /// When objects were first freed.
    freed: FxHashMap<StringId, u64>,
    /// The last access of each thread.
    last: Vec<u64>,
    /// Accesses whose value read is bound to an expression.
    bound: FxHashSet<u64>,
}

#[derive(Clone, Copy, Default)]
struct LocationUse {
    thread: Option<ThreadId>,
    is_shared: bool,
    is_written: bool,
    /// Whether an access reads it together with other locations.
    is_piece: bool,
    /// The last access.
    last: u64,
    /// The least and the greatest size accessed.
    sizes: Option<(u32, u32)>,
    /// What reads before any write found, as soon as one says it.
    initial: Option<u64>,
}

/// What is known about locations.
pub(super) struct Locations {
    uses: Vec<LocationFacts>,
    writes: FxHashMap<(LocationId, u64), u32>,
}

#[derive(Clone, Copy, Default)]
struct LocationFacts {
    matters: bool,
    initial: Option<u64>,
}

impl Locations {
    /// Whether several threads access it, one of them to write, and all the same bytes and no others, and nobody
    /// after it was freed. (Where one piece of an access may read anything, the others may, too; and what is freed
    /// holds anything. Both would have to be followed up.)
    pub(super) fn matters(&self, location: LocationId) -> bool {
        self.uses.get(location.index()).is_some_and(|facts| facts.matters)
    }

    /// Where else a read of this value can have come from than from the write it came from, which left that value
    /// (none: from the initial content).
    pub(super) fn others(&self, location: LocationId, found: Value, left: Option<Value>) -> Others {
        // Without a value, a read must see the write that it saw.
        let Some(found) = found.get() else { return Others::NONE };
        let alike = self.writes.get(&(location, found)).copied().unwrap_or(0);
        match left {
            None => Others { writes: alike, initial: false },
            Some(left) => Others {
                writes: alike.saturating_sub(u32::from(left.get() == Some(found))),
                initial: self.uses[location.index()].initial == Some(found),
            },
        }
    }
}

impl Memory {
    fn note(&mut self, index: u64, event: &Event, location: LocationId, kind: AccessKind) {
        if location.index() >= self.locations.len() {
            self.locations.resize(location.index() + 1, LocationUse::default());
        }
        let (size, more, read, written) = match event.op {
            Op::Read(access) => (access.size, access.more, access.value, Value::UNKNOWN),
            Op::Write(access) => (access.size, access.more, Value::UNKNOWN, access.value),
            Op::ReadModifyWrite(rmw) => (u32::from(rmw.size), rmw.more, rmw.read, rmw.written),
            _ => return,
        };
        let is_piece = more | std::mem::replace(&mut self.goes_on, more);
        if event.thread.index() >= self.last.len() {
            self.last.resize(event.thread.index() + 1, 0);
        }
        self.last[event.thread.index()] = index;
        let facts = &mut self.locations[location.index()];
        facts.last = index;
        facts.is_piece |= is_piece && kind.reads();
        facts.is_shared |= facts.thread.is_some_and(|thread| thread != event.thread);
        facts.thread = Some(event.thread);
        let (least, most) = facts.sizes.unwrap_or((size, size));
        facts.sizes = Some((least.min(size), most.max(size)));
        if kind.reads() && !facts.is_written && facts.initial.is_none() {
            facts.initial = read.get();
        }
        if kind.writes() {
            facts.is_written = true;
            if let Some(value) = written.get() {
                *self.writes.entry((location, value)).or_default() += 1;
            }
        }
    }

    /// What a thread has read last is bound, if it was a read; of other accesses it is not asked.
    fn bind(&mut self, thread: ThreadId) {
        self.bound.extend(self.last.get(thread.index()));
    }

    /// What is known about locations, and which accesses are bound.
    fn finish(self, tables: &Tables, initial: InitialValues) -> (Locations, FxHashSet<u64>) {
        let mut left_out = self.overlapping(tables);
        self.add_reused(tables, &mut left_out);
        let default = match initial {
            InitialValues::Zero => Some(0),
            InitialValues::Unknown => None,
        };
        let uses = self.locations.iter().zip(left_out).map(|(facts, is_left_out)| LocationFacts {
            matters: facts.is_shared && facts.is_written && !facts.is_piece && !is_left_out,
            initial: facts.initial.or(default),
        });
        (Locations { uses: uses.collect(), writes: self.writes }, self.bound)
    }

    /// Adds the locations that are accessed after their object was freed.
    fn add_reused(&self, tables: &Tables, left_out: &mut [bool]) {
        if self.freed.is_empty() {
            return;
        }
        for (at, facts) in self.locations.iter().enumerate().filter(|(_, facts)| facts.is_shared && facts.is_written) {
            let object = tables.location(LocationId::new(at as u32)).map(|location| location.object);
            left_out[at] |= object.and_then(|object| self.freed.get(&object)).is_some_and(|freed| facts.last > *freed);
        }
    }

    /// For each location, whether it is accessed in several sizes, or bytes of it as another location.
    fn overlapping(&self, tables: &Tables) -> Vec<bool> {
        let mut overlaps: Vec<bool> =
            self.locations.iter().map(|facts| facts.sizes.is_some_and(|(least, most)| least != most)).collect();
        let mut spans: Vec<_> = (0..self.locations.len())
            .filter_map(|at| {
                let (_, most) = self.locations[at].sizes?;
                let location = tables.location(LocationId::new(at as u32))?;
                Some((location.object, location.offset, location.offset.saturating_add(u64::from(most)), at))
            })
            .collect();
        spans.sort_unstable_by_key(|&(object, begin, ..)| (object, begin));
        let mut reach: Option<(StringId, u64, usize)> = None;
        for (object, begin, end, at) in spans {
            match reach {
                Some((other, until, by)) if other == object && begin < until => {
                    overlaps[at] = true;
                    overlaps[by] = true;
                    if end > until {
                        reach = Some((object, end, at));
                    }
                }
                _ => reach = Some((object, end, at)),
            }
        }
        overlaps
    }
}
