//! Small random traces for tests, well-formed by construction.
//!
//! A trace is made from a script of arbitrary numbers; each asks one thread to do one thing, and
//! what is not legal at that moment is left out. So every script means something, and a failing
//! one can be shrunk.

use interloper_trace::{
    Access, Attempt, ConditionId, Event, LocationId, LockId, LockMode, MemoryOrder, Op, ReadModifyWrite, Region,
    RegionSource, SiteId, ThreadId, Value, Wake,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What may occur in a random trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) threads: u32,
    pub(crate) locks: u32,
    pub(crate) locations: u32,
    pub(crate) events: usize,
    pub(crate) forks: bool,
    pub(crate) nested: bool,
    pub(crate) shared_locks: bool,
    pub(crate) waits: bool,
    pub(crate) rmw: bool,
}

impl Shape {
    /// Two or three threads, nested and re-entrant locks, dense in locks.
    pub(crate) const LOCKS: Shape = Shape {
        threads: 3,
        locks: 3,
        locations: 2,
        events: 44,
        forks: false,
        nested: true,
        shared_locks: false,
        waits: false,
        rmw: false,
    };
}

/// Random traces of a shape, or of a smaller one: few names make many meetings.
pub(crate) fn traces(shape: Shape) -> impl Strategy<Value = Vec<Event>> {
    let script = prop::collection::vec((any::<u8>(), 0..100u8, any::<u8>()), shape.events / 2..=shape.events);
    (2..=shape.threads, 2..=shape.locks, 1..=shape.locations, script).prop_map(
        move |(threads, locks, locations, script)| {
            Simulation::new(Shape { threads, locks, locations, ..shape }).run(&script)
        },
    )
}

/// The trace of a text: `0 b; 0 +1; 0 r0; …` (begin, end; `+` acquire, `-` release, `~` shared; r, w).
pub(crate) fn trace(text: &str) -> Vec<Event> {
    text.split(';')
        .map(str::trim)
        .filter(|step| !step.is_empty())
        .enumerate()
        .map(|(at, step)| {
            let (thread, what) = step.split_once(' ').expect("thread and operation");
            let number = || what[1..].parse::<u32>().expect("a number");
            let op = match &what[..1] {
                "b" => begin(),
                "e" => end(),
                "r" => read(number()),
                "w" => write(number()),
                "+" => acquire(number(), LockMode::Exclusive),
                "~" => acquire(number(), LockMode::Shared),
                "-" => Op::Release { lock: LockId::new(number()), mode: LockMode::Exclusive },
                "f" => Op::Fork(ThreadId::new(number())),
                "j" => Op::Join(ThreadId::new(number())),
                other => panic!("no operation {other}"),
            };
            event(thread.parse().expect("a thread number"), op, at)
        })
        .collect()
}

fn event(thread: u32, op: Op, line: usize) -> Event {
    Event { thread: ThreadId::new(thread), site: SiteId::bare_line(line as u64).expect("a small number"), op }
}

fn begin() -> Op {
    Op::RegionBegin(Region { name: None, source: RegionSource::Annotated })
}

fn end() -> Op {
    Op::RegionEnd(Region { name: None, source: RegionSource::Annotated })
}

fn read(location: u32) -> Op {
    Op::Read(Access::bare(LocationId::new(location)))
}

fn write(location: u32) -> Op {
    Op::Write(Access::bare(LocationId::new(location)))
}

fn acquire(lock: u32, mode: LockMode) -> Op {
    Op::Acquire { lock: LockId::new(lock), mode, by: Attempt::Blocking }
}

struct Simulation {
    shape: Shape,
    events: Vec<Event>,
    threads: Vec<ThreadSim>,
}

#[derive(Clone, Default)]
struct ThreadSim {
    acted: bool,
    forked: bool,
    joined: bool,
    open: u32,
    /// Locks in order of acquisition, re-entrant ones again.
    held: Vec<(u32, LockMode)>,
    waiting: Option<(u32, Vec<(u32, LockMode)>)>,
}

impl Simulation {
    fn new(shape: Shape) -> Self {
        Simulation { shape, events: Vec::new(), threads: vec![ThreadSim::default(); shape.threads as usize] }
    }

    fn run(mut self, script: &[(u8, u8, u8)]) -> Vec<Event> {
        for (at, &(thread, action, operand)) in script.iter().enumerate() {
            // Only who has not acted can be forked: let the others wait a little.
            let early = self.shape.forks && at < 10 && thread < 200;
            let thread = if early { 0 } else { u32::from(thread) % self.shape.threads };
            if let Some(op) = self.step(thread, action, u32::from(operand)) {
                self.threads[thread as usize].acted = true;
                self.events.push(event(thread, op, self.events.len()));
            }
        }
        self.events
    }

    fn step(&mut self, thread: u32, action: u8, operand: u32) -> Option<Op> {
        let me = &self.threads[thread as usize];
        if me.joined {
            return None;
        }
        if let Some((lock, _)) = me.waiting {
            return self.wait_end(thread, lock);
        }
        let location = operand % self.shape.locations;
        let lock = operand % self.shape.locks;
        match action {
            0..14 => Some(read(location)),
            14..28 => Some(write(location)),
            28..54 => self.acquire(thread, lock, operand),
            54..70 => self.release(thread, operand),
            70..80 => {
                self.threads[thread as usize].open += 1;
                Some(begin())
            }
            80..84 => {
                let open = &mut self.threads[thread as usize].open;
                (*open > 0).then(|| {
                    *open -= 1;
                    end()
                })
            }
            84..91 if self.shape.forks => self.fork_or_join(thread, operand),
            91..96 if self.shape.waits => self.wait_begin(thread, lock),
            96..100 if self.shape.rmw => Some(Op::ReadModifyWrite(ReadModifyWrite {
                location: LocationId::new(location),
                size: 0,
                order: MemoryOrder::SequentiallyConsistent,
                success: operand < 200,
                more: false,
                read: Value::UNKNOWN,
                written: Value::UNKNOWN,
            })),
            _ => None,
        }
    }

    fn acquire(&mut self, thread: u32, lock: u32, operand: u32) -> Option<Op> {
        let wants_shared = self.shape.shared_locks && operand >= 128;
        let own = self.threads[thread as usize].held.iter().find(|held| held.0 == lock).map(|held| held.1);
        let mode = own.unwrap_or(if wants_shared { LockMode::Shared } else { LockMode::Exclusive });
        if !self.free(thread, lock, mode) {
            return None;
        }
        self.threads[thread as usize].held.push((lock, mode));
        Some(acquire(lock, mode))
    }

    fn free(&self, thread: u32, lock: u32, mode: LockMode) -> bool {
        self.threads.iter().enumerate().filter(|&(other, _)| other != thread as usize).all(|(_, other)| {
            other
                .held
                .iter()
                .all(|&(held, held_mode)| held != lock || (mode == LockMode::Shared && held_mode == LockMode::Shared))
        })
    }

    fn release(&mut self, thread: u32, operand: u32) -> Option<Op> {
        let held = &mut self.threads[thread as usize].held;
        if held.is_empty() {
            return None;
        }
        let at = if self.shape.nested { held.len() - 1 } else { operand as usize % held.len() };
        let (lock, mode) = held.remove(at);
        Some(Op::Release { lock: LockId::new(lock), mode })
    }

    fn fork_or_join(&mut self, thread: u32, operand: u32) -> Option<Op> {
        let other = operand % self.shape.threads;
        if other == thread {
            return None;
        }
        let them = &mut self.threads[other as usize];
        if !them.acted && !them.forked && !them.joined {
            them.forked = true;
            return Some(Op::Fork(ThreadId::new(other)));
        }
        if operand >= 128 && them.waiting.is_none() {
            them.joined = true;
            return Some(Op::Join(ThreadId::new(other)));
        }
        None
    }

    fn wait_begin(&mut self, thread: u32, lock: u32) -> Option<Op> {
        let me = &mut self.threads[thread as usize];
        // With nested locking only the lock taken last can be given up.
        let levels = me.held.iter().filter(|held| held.0 == lock).count();
        let on_top = me.held.iter().rev().take_while(|held| held.0 == lock).count();
        let exclusive = me.held.contains(&(lock, LockMode::Exclusive));
        if !exclusive || (self.shape.nested && levels != on_top) {
            return None;
        }
        let given_up = me.held.iter().copied().filter(|held| held.0 == lock).collect();
        me.held.retain(|held| held.0 != lock);
        me.waiting = Some((lock, given_up));
        Some(Op::WaitBegin { condition: ConditionId::new(0), lock: LockId::new(lock) })
    }

    fn wait_end(&mut self, thread: u32, lock: u32) -> Option<Op> {
        if !self.free(thread, lock, LockMode::Exclusive) {
            return None;
        }
        let me = &mut self.threads[thread as usize];
        let (_, given_up) = me.waiting.take()?;
        me.held.extend(given_up);
        Some(Op::WaitEnd { condition: ConditionId::new(0), lock: LockId::new(lock), wake: Wake::Notified })
    }
}

/// How many of the random traces have which operation, to see that tests test something.
pub(crate) fn census(events: &[Event]) -> BTreeMap<&'static str, usize> {
    let mut census = BTreeMap::new();
    for event in events {
        let name = match event.op {
            Op::Acquire { mode: LockMode::Shared, .. } => "shared",
            Op::Acquire { .. } => "acquire",
            Op::Fork(_) => "fork",
            Op::Join(_) => "join",
            Op::WaitEnd { .. } => "wait",
            Op::ReadModifyWrite(_) => "rmw",
            _ => "other",
        };
        *census.entry(name).or_default() += 1;
    }
    census
}
