//! From steps to events: ids, names, batches.

use crate::bank::Bank;
use crate::elevator::Elevator;
use crate::needles::{Needles, STRANGERS};
use crate::options::{ACCOUNTS_PER_BRANCH, Options, OptionsError, Shape};
use crate::random::Random;
use crate::raytracer::Raytracer;
use crate::step::{Act, Step, Steps};
use interloper_trace::{
    Access, Attempt, BATCH, Event, EventSource, LocationId, LockId, LockMode, Op, Place, Region, RegionSource, SiteId,
    TableFull, Tables, ThreadId, TraceError,
};

/// A synthetic trace, made while it is read.
pub struct Generator {
    shape: ShapeAtWork,
    events: u64,
    made: u64,
    names: Names,
}

impl Generator {
    /// A trace of a shape; the same options give the same trace.
    pub fn new(shape: Shape, options: Options) -> Result<Self, OptionsError> {
        let sizes = options.settle(shape)?;
        let mut variables = sizes.variables;
        let shape = match shape {
            Shape::Bank => {
                let accounts = sizes.variables / sizes.locks;
                ShapeAtWork::Bank(Bank::new(sizes.threads, sizes.locks, accounts, options.widen, options.seed))
            }
            Shape::Raytracer => ShapeAtWork::Raytracer(Raytracer::new(sizes.threads, options.seed)),
            Shape::Elevator => ShapeAtWork::Elevator(Elevator::new(&sizes, options.seed)),
            Shape::Needles => {
                let clerks = sizes.threads - STRANGERS;
                let bank = Bank::new(clerks, sizes.locks, ACCOUNTS_PER_BRANCH, 1, options.seed);
                let accounts = sizes.locks * ACCOUNTS_PER_BRANCH;
                variables = accounts.saturating_add(sizes.variables.saturating_mul(2));
                ShapeAtWork::Needles(Needles::new(bank, clerks, accounts, sizes.variables, sizes.events))
            }
            Shape::Random => ShapeAtWork::Random(Random::new(&sizes, &options)),
        };
        let names = Names {
            tables: Tables::new(),
            threads: vec![NOT_NAMED; sizes.threads as usize],
            locks: vec![NOT_NAMED; sizes.locks as usize],
            variables: vec![NOT_NAMED; variables as usize],
        };
        Ok(Generator { shape, events: sizes.events, made: 0, names })
    }

    /// How many events the whole trace has.
    pub fn events(&self) -> u64 {
        self.events
    }
}

impl EventSource for Generator {
    fn next_batch(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        batch.clear();
        let count = (self.events - self.made).min(BATCH as u64) as usize;
        // One branch on the shape for each batch, not for each event.
        match &mut self.shape {
            ShapeAtWork::Bank(shape) => self.names.fill(shape, batch, count),
            ShapeAtWork::Raytracer(shape) => self.names.fill(shape, batch, count),
            ShapeAtWork::Elevator(shape) => self.names.fill(shape, batch, count),
            ShapeAtWork::Needles(shape) => self.names.fill(shape, batch, count),
            ShapeAtWork::Random(shape) => self.names.fill(shape, batch, count),
        }?;
        self.made += count as u64;
        Ok(())
    }

    fn tables(&self) -> &Tables {
        &self.names.tables
    }

    /// The line the event has once the trace is written as STD.
    fn place(&self, index: u64) -> Place {
        Place::Line(index + 1)
    }

    /// Nothing: there is no input.
    fn bytes_read(&self) -> u64 {
        0
    }
}

enum ShapeAtWork {
    Bank(Bank),
    Raytracer(Raytracer),
    Elevator(Elevator),
    Needles(Needles),
    Random(Random),
}

/// In place of an id: the trace has not mentioned it yet.
const NOT_NAMED: u32 = u32::MAX;

/// The ids of what a shape counts from zero.
///
/// Ids are given in the order of first mention, as a reader of the written trace would give them:
/// the trace is then the same whether it comes from here or from a file.
struct Names {
    tables: Tables,
    threads: Vec<u32>,
    locks: Vec<u32>,
    variables: Vec<u32>,
}

impl Names {
    fn fill(&mut self, shape: &mut impl Steps, batch: &mut Vec<Event>, count: usize) -> Result<(), TableFull> {
        for _ in 0..count {
            let step = shape.step();
            batch.push(self.event(step)?);
        }
        Ok(())
    }

    #[inline(always)]
    fn event(&mut self, step: Step) -> Result<Event, TableFull> {
        const MODE: LockMode = LockMode::Exclusive;
        const REGION: Region = Region { name: None, source: RegionSource::Annotated };
        let thread = self.thread(step.thread)?;
        let op = match step.act {
            Act::Read(variable) => Op::Read(Access::bare(self.variable(variable)?)),
            Act::Write(variable) => Op::Write(Access::bare(self.variable(variable)?)),
            Act::Acquire(lock) => Op::Acquire { lock: self.lock(lock)?, mode: MODE, by: Attempt::Blocking },
            Act::Release(lock) => Op::Release { lock: self.lock(lock)?, mode: MODE },
            Act::Begin => Op::RegionBegin(REGION),
            Act::End => Op::RegionEnd(REGION),
            Act::Fork(child) => Op::Fork(self.thread(child)?),
            Act::Join(child) => Op::Join(self.thread(child)?),
        };
        let site = SiteId::bare_line(u64::from(step.line)).unwrap_or(SiteId::UNKNOWN);
        Ok(Event { thread, site, op })
    }

    #[inline]
    fn thread(&mut self, number: u32) -> Result<ThreadId, TableFull> {
        let id = self.threads[number as usize];
        if id != NOT_NAMED { Ok(ThreadId::new(id)) } else { self.name_thread(number) }
    }

    #[inline]
    fn lock(&mut self, number: u32) -> Result<LockId, TableFull> {
        let id = self.locks[number as usize];
        if id != NOT_NAMED { Ok(LockId::new(id)) } else { self.name_lock(number) }
    }

    #[inline]
    fn variable(&mut self, number: u32) -> Result<LocationId, TableFull> {
        let id = self.variables[number as usize];
        if id != NOT_NAMED { Ok(LocationId::new(id)) } else { self.name_variable(number) }
    }

    #[cold]
    fn name_thread(&mut self, number: u32) -> Result<ThreadId, TableFull> {
        let id = self.tables.intern_thread(&format!("T{number}"))?;
        self.threads[number as usize] = id.raw();
        Ok(id)
    }

    #[cold]
    fn name_lock(&mut self, number: u32) -> Result<LockId, TableFull> {
        let id = self.tables.intern_lock(&format!("L{number}"))?;
        self.locks[number as usize] = id.raw();
        Ok(id)
    }

    #[cold]
    fn name_variable(&mut self, number: u32) -> Result<LocationId, TableFull> {
        let id = self.tables.intern_location(&format!("V{number}"), 0)?;
        self.variables[number as usize] = id.raw();
        Ok(id)
    }
}
