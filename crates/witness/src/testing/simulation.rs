//! A run that is made up as it goes.

use super::{Shape, Trace};
use interloper_trace::{
    Access, Attempt, BarrierId, ConditionId, Event, ExprId, LockId, LockMode, MemoryOrder, OnceId, Op, ReadModifyWrite,
    Region, RegionSource, SemaphoreId, Site, SiteId, StringId, Tables, ThreadId, Value, Wake,
};
use std::collections::BTreeMap;

/// One thing asked of one thread: who, what, with what, and a value.
pub(super) type Request = (u8, u8, u8, u8);

/// What may be asked of a thread.
#[derive(Clone, Copy)]
enum Wish {
    Read,
    Write,
    Modify,
    Pieces,
    Region,
    Acquire,
    Release,
    TryFail,
    ForkOrJoin,
    WaitBegin,
    Signal,
    Broadcast,
    SemaphoreWait,
    SemaphorePost,
    Arrive,
    Once,
    Allocate,
    Free,
    Nothing,
    Define,
    Assume,
    Branch,
}

#[derive(Clone, Default)]
struct Thread {
    acted: bool,
    forked: bool,
    joined: bool,
    held: Vec<(u32, LockMode)>,
    wait: Option<Wait>,
    /// The number of the arrival that must have been before it can go on.
    at_barrier: Option<u32>,
    in_region: bool,
    runs_once: bool,
}

#[derive(Clone)]
struct Wait {
    lock: u32,
    notified: bool,
    given_up: Vec<(u32, LockMode)>,
}

struct Object {
    name: StringId,
    bytes: [u8; 8],
    allocated: bool,
    freed: bool,
}

pub(super) struct Simulation {
    shape: Shape,
    menu: Vec<Wish>,
    tables: Tables,
    events: Vec<Event>,
    threads: Vec<Thread>,
    objects: Vec<Object>,
    semaphore: u32,
    arrivals: u32,
    once_ended: bool,
    sites: BTreeMap<i64, SiteId>,
    /// The expressions so far, with who introduced them.
    pub(super) expressions: Vec<(u32, ExprId)>,
}

const FULL: &str = "a few names fit any table";

impl Simulation {
    pub(super) fn new(shape: Shape) -> Self {
        let mut tables = Tables::new();
        for thread in 0..shape.threads {
            let name = if thread == 0 { "main".to_owned() } else { format!("main.{thread}") };
            tables.intern_thread(&name).expect(FULL);
        }
        for lock in 0..shape.locks {
            tables.intern_lock(&format!("l{lock}")).expect(FULL);
        }
        tables.intern_condition("c").expect(FULL);
        tables.intern_semaphore("s").expect(FULL);
        tables.intern_barrier("b").expect(FULL);
        tables.intern_once("o").expect(FULL);
        let objects = (0..shape.objects)
            .map(|object| Object {
                name: tables.strings.intern(&format!("x{object}")).expect(FULL),
                // The trace begins in the middle of things.
                bytes: [object as u8; 8],
                allocated: false,
                freed: false,
            })
            .collect();
        Simulation {
            shape,
            menu: menu(&shape),
            tables,
            events: Vec::new(),
            threads: vec![Thread::default(); shape.threads as usize],
            objects,
            semaphore: 1,
            arrivals: 0,
            once_ended: false,
            sites: BTreeMap::new(),
            expressions: Vec::new(),
        }
    }

    pub(super) fn run(mut self, script: &[Request]) -> Trace {
        for &(who, what, with, value) in script {
            let thread = u32::from(who) % self.shape.threads;
            if self.threads[thread as usize].joined {
                continue;
            }
            if self.shape.forks && value & 1 == 0 {
                self.fork_first(thread);
            }
            if !self.threads[thread as usize].acted && value & 6 != 0 {
                self.grant(thread, Wish::Region, 0, 0);
            }
            let wish = self.menu[usize::from(what) % self.menu.len()];
            self.grant(thread, wish, u32::from(with), value);
        }
        Trace { events: self.events, tables: self.tables }
    }

    fn grant(&mut self, thread: u32, wish: Wish, with: u32, value: u8) {
        let me = &self.threads[thread as usize];
        if me.wait.is_some() {
            return self.wait_end(thread, with);
        }
        if me.at_barrier.is_some() {
            return self.leave(thread);
        }
        match wish {
            Wish::Read | Wish::Write | Wish::Modify => {
                let (object, offset, size) = self.place(with);
                self.access(thread, wish, (object, offset, size), value, false);
            }
            Wish::Pieces => {
                let object = with as usize % self.objects.len();
                let wish = [Wish::Read, Wish::Write, Wish::Modify][with as usize / 8 % 3];
                let wish = if self.shape.rmw { wish } else { [Wish::Read, Wish::Write][with as usize / 8 % 2] };
                self.access(thread, wish, (object, 0, 4), value, true);
                self.access(thread, wish, (object, 4, 4), value.rotate_right(2), false);
            }
            Wish::Region => {
                let inside = std::mem::replace(&mut self.threads[thread as usize].in_region, true);
                let region = Region { name: None, source: RegionSource::Annotated };
                if inside {
                    self.threads[thread as usize].in_region = false;
                    self.push(thread, Op::RegionEnd(region));
                } else {
                    self.push(thread, Op::RegionBegin(region));
                }
            }
            Wish::Acquire => self.acquire(thread, with),
            Wish::Release => self.release(thread, with),
            Wish::TryFail => self.try_fail(thread, with),
            Wish::ForkOrJoin => self.fork_or_join(thread, with),
            Wish::WaitBegin => self.wait_begin(thread, with),
            Wish::Signal => self.signal(thread, with),
            Wish::Broadcast => {
                for wait in self.threads.iter_mut().filter_map(|thread| thread.wait.as_mut()) {
                    wait.notified = true;
                }
                self.push(thread, Op::Broadcast(ConditionId::new(0)));
            }
            Wish::SemaphoreWait => {
                if self.semaphore > 0 {
                    self.semaphore -= 1;
                    self.push(thread, Op::SemaphoreWait(SemaphoreId::new(0)));
                }
            }
            Wish::SemaphorePost => {
                self.semaphore += 1;
                self.push(thread, Op::SemaphorePost(SemaphoreId::new(0)));
            }
            Wish::Arrive => {
                // A barrier for two, whoever comes.
                let generation = self.arrivals / 2;
                self.arrivals += 1;
                self.threads[thread as usize].at_barrier = Some(2 * (generation + 1));
                self.push(thread, Op::BarrierArrive(BarrierId::new(0)));
            }
            Wish::Once => self.once(thread),
            Wish::Allocate => self.allocate(thread, with),
            Wish::Free => self.free(thread, with),
            Wish::Define => self.define(thread, with, value),
            Wish::Assume => {
                let expr = self.expression(thread, with);
                self.push(thread, Op::Assume { expr, holds: value & 1 == 1 });
            }
            Wish::Branch => self.push(thread, Op::Branch { count: 1 }),
            Wish::Nothing => {
                let op = match with % 5 {
                    0 => Op::Branch { count: 1 },
                    1 => Op::Fence(MemoryOrder::SequentiallyConsistent),
                    2 => Op::Request(LockId::new(with % self.shape.locks)),
                    3 => Op::Exit,
                    _ => Op::Mark { code: 0 },
                };
                self.push(thread, op);
            }
        }
    }

    pub(super) fn push(&mut self, thread: u32, op: Op) {
        self.threads[thread as usize].acted = true;
        // Few lines, so that threads come to the same place again.
        let line = (self.events.len() % 3) as i64 + 1;
        let tables = &mut self.tables;
        let site = *self.sites.entry(line).or_insert_with(|| {
            let file = Some(tables.strings.intern("p.c").expect(FULL));
            let function = Some(tables.strings.intern("f").expect(FULL));
            tables.intern_site(Site { file, function, line: Some(line) }).expect(FULL)
        });
        self.events.push(Event { thread: ThreadId::new(thread), site, op });
    }

    /// Some object, an offset there, and a size; zero if it is not to be known.
    fn place(&self, with: u32) -> (usize, usize, usize) {
        let object = with as usize % self.objects.len();
        let choice = with as usize / self.objects.len();
        if self.shape.unsized_accesses && choice % 5 == 4 {
            return (object, 0, 0);
        }
        const ALIGNED: [(usize, usize); 2] = [(0, 4), (4, 4)];
        const OVERLAPPING: [(usize, usize); 6] = [(0, 4), (0, 8), (4, 4), (2, 4), (0, 1), (0, 4)];
        let places: &[(usize, usize)] = if self.shape.overlaps { &OVERLAPPING } else { &ALIGNED };
        let (offset, size) = places[choice % places.len()];
        (object, offset, size)
    }

    fn access(&mut self, thread: u32, wish: Wish, place: (usize, usize, usize), value: u8, more: bool) {
        let (object, offset, size) = place;
        let name = self.objects[object].name;
        let location = self.tables.intern_location_in(name, offset as u64).expect(FULL);
        let width = if size == 0 { 8 } else { size };
        let bytes = &mut self.objects[object].bytes[offset..(offset + width).min(8)];
        let found = number(bytes);
        let written = number(&written(value, bytes.len(), self.shape.overlaps));
        let known = |number: u64, bit: u8| match self.shape.unknown_values && value >> bit & 3 == 3 {
            true => Value::UNKNOWN,
            false => Value::known(number),
        };
        let success = value % 5 != 4;
        if matches!(wish, Wish::Write) || (matches!(wish, Wish::Modify) && success) {
            bytes.copy_from_slice(&written.to_le_bytes()[..bytes.len()]);
        }
        let access = |value: Value| Access { location, size: size as u32, order: MemoryOrder::Plain, more, value };
        let op = match wish {
            Wish::Read => Op::Read(access(known(found, 3))),
            Wish::Write => Op::Write(access(known(written, 3))),
            _ => Op::ReadModifyWrite(ReadModifyWrite {
                location,
                size: size as u8,
                order: MemoryOrder::SequentiallyConsistent,
                success,
                more,
                read: known(found, 3),
                written: if success { known(written, 5) } else { Value::UNKNOWN },
            }),
        };
        self.push(thread, op);
        if self.shape.bound && !more {
            self.bind(thread, op, value);
        }
    }

    fn acquire(&mut self, thread: u32, with: u32) {
        let lock = with % self.shape.locks;
        let asked = if self.shape.shared_locks && with & 64 != 0 { LockMode::Shared } else { LockMode::Exclusive };
        // Taking it again is in the mode in which it is held.
        let held = self.threads[thread as usize].held.iter().find(|held| held.0 == lock).map(|held| held.1);
        let mode = held.unwrap_or(asked);
        if self.is_free(thread, lock, mode) {
            self.threads[thread as usize].held.push((lock, mode));
            let by = if with & 128 == 0 { Attempt::Blocking } else { Attempt::Try };
            self.push(thread, Op::Acquire { lock: LockId::new(lock), mode, by });
        }
    }

    fn is_free(&self, thread: u32, lock: u32, mode: LockMode) -> bool {
        let others = self.threads.iter().enumerate().filter(|&(other, _)| other != thread as usize);
        let mut held = others.flat_map(|(_, other)| &other.held).filter(|held| held.0 == lock);
        held.all(|held| mode == LockMode::Shared && held.1 == LockMode::Shared)
    }

    fn release(&mut self, thread: u32, with: u32) {
        let held = &mut self.threads[thread as usize].held;
        if !held.is_empty() {
            let (lock, mode) = held.remove(with as usize % held.len());
            self.push(thread, Op::Release { lock: LockId::new(lock), mode });
        }
    }

    fn try_fail(&mut self, thread: u32, with: u32) {
        let lock = with % self.shape.locks;
        let mode = if self.shape.shared_locks && with & 64 != 0 { LockMode::Shared } else { LockMode::Exclusive };
        let own = self.threads[thread as usize].held.iter().any(|held| held.0 == lock);
        if own || !self.is_free(thread, lock, mode) {
            self.push(thread, Op::TryAcquireFailed { lock: LockId::new(lock), mode });
        }
    }

    /// Lets the first thread fork one that has not acted yet, if it can.
    fn fork_first(&mut self, thread: u32) {
        let main = &self.threads[0];
        let able = !main.joined && main.wait.is_none() && main.at_barrier.is_none();
        let them = &mut self.threads[thread as usize];
        if able && thread != 0 && !them.acted && !them.forked {
            them.forked = true;
            self.push(0, Op::Fork(ThreadId::new(thread)));
        }
    }

    fn fork_or_join(&mut self, thread: u32, with: u32) {
        let other = with % self.shape.threads;
        if other == thread {
            return;
        }
        let them = &mut self.threads[other as usize];
        if !them.acted && !them.forked {
            them.forked = true;
            self.push(thread, Op::Fork(ThreadId::new(other)));
        } else if with >= 192 && them.acted && them.wait.is_none() {
            them.joined = true;
            self.push(thread, Op::Join(ThreadId::new(other)));
        }
    }

    fn wait_begin(&mut self, thread: u32, with: u32) {
        let lock = with % self.shape.locks;
        if self.threads[thread as usize].held.iter().all(|held| held.0 != lock) {
            // Mostly a lock is taken just to wait with it.
            self.acquire(thread, lock);
        }
        let me = &mut self.threads[thread as usize];
        if me.held.contains(&(lock, LockMode::Exclusive)) {
            let given_up = me.held.iter().copied().filter(|held| held.0 == lock).collect();
            me.held.retain(|held| held.0 != lock);
            me.wait = Some(Wait { lock, notified: false, given_up });
            self.push(thread, Op::WaitBegin { condition: ConditionId::new(0), lock: LockId::new(lock) });
        }
    }

    fn wait_end(&mut self, thread: u32, with: u32) {
        let Some(wait) = self.threads[thread as usize].wait.clone() else { return };
        let wake = match with % 4 {
            _ if wait.notified => Wake::Notified,
            0 if self.shape.wakeups => Wake::TimedOut,
            1 if self.shape.wakeups => Wake::Spurious,
            2 if self.shape.lost_signals => Wake::Notified,
            _ => return,
        };
        if self.is_free(thread, wait.lock, LockMode::Exclusive) {
            let me = &mut self.threads[thread as usize];
            me.wait = None;
            me.held.extend(wait.given_up);
            let lock = LockId::new(wait.lock);
            self.push(thread, Op::WaitEnd { condition: ConditionId::new(0), lock, wake });
        }
    }

    fn signal(&mut self, thread: u32, with: u32) {
        let waits = self.threads.iter_mut().filter_map(|thread| thread.wait.as_mut());
        let mut waits: Vec<&mut Wait> = waits.filter(|wait| !wait.notified).collect();
        if !waits.is_empty() {
            let chosen = with as usize % waits.len();
            waits[chosen].notified = true;
        }
        self.push(thread, Op::Signal(ConditionId::new(0)));
    }

    fn leave(&mut self, thread: u32) {
        if self.threads[thread as usize].at_barrier.is_some_and(|arrivals| arrivals <= self.arrivals) {
            self.threads[thread as usize].at_barrier = None;
            self.push(thread, Op::BarrierLeave(BarrierId::new(0)));
        }
    }

    fn once(&mut self, thread: u32) {
        let once = OnceId::new(0);
        let running = self.threads.iter().position(|thread| thread.runs_once);
        if self.once_ended {
            self.push(thread, Op::OncePass(once));
        } else if running == Some(thread as usize) {
            self.threads[thread as usize].runs_once = false;
            self.once_ended = true;
            self.push(thread, Op::OnceEnd(once));
        } else if running.is_none() {
            self.threads[thread as usize].runs_once = true;
            self.push(thread, Op::OnceBegin(once));
        }
    }

    fn allocate(&mut self, thread: u32, with: u32) {
        let existing = &mut self.objects[with as usize % self.shape.objects as usize];
        if with >= 192 && !existing.allocated {
            // One that was there before, it seems, perhaps at another place.
            existing.allocated = true;
            let object = existing.name;
            self.push(thread, Op::Allocate { object, size: 8 });
        } else if self.objects.len() < self.shape.objects as usize + 2 {
            let name = self.tables.strings.intern(&format!("heap{}", self.objects.len())).expect(FULL);
            self.objects.push(Object { name, bytes: [0; 8], allocated: true, freed: false });
            self.push(thread, Op::Allocate { object: name, size: 8 });
        }
    }

    fn free(&mut self, thread: u32, with: u32) {
        let at = with as usize % self.objects.len();
        let object = &mut self.objects[at];
        // Uses after that are the program's fault, and happen.
        if object.allocated && !object.freed {
            object.freed = true;
            let object = object.name;
            self.push(thread, Op::Free { object });
        }
    }
}

/// What may be asked for, each as often as it is to be likely.
fn menu(shape: &Shape) -> Vec<Wish> {
    let mut menu = Vec::new();
    let mut add = |wanted: bool, wishes: &[(Wish, usize)]| {
        for &(wish, times) in wishes.iter().filter(|_| wanted) {
            menu.extend(std::iter::repeat_n(wish, times));
        }
    };
    add(true, &[(Wish::Read, 6), (Wish::Write, 6), (Wish::Region, 5)]);
    add(shape.rmw, &[(Wish::Modify, 4)]);
    add(shape.pieces, &[(Wish::Pieces, 3)]);
    add(shape.locking, &[(Wish::Acquire, 5), (Wish::Release, 4)]);
    add(shape.try_failures, &[(Wish::TryFail, 2)]);
    add(shape.forks, &[(Wish::ForkOrJoin, 3)]);
    add(shape.waits, &[(Wish::WaitBegin, 4), (Wish::Signal, 3), (Wish::Broadcast, 1)]);
    add(shape.semaphores, &[(Wish::SemaphoreWait, 2), (Wish::SemaphorePost, 2)]);
    add(shape.barriers, &[(Wish::Arrive, 1)]);
    add(shape.onces, &[(Wish::Once, 2)]);
    add(shape.allocations, &[(Wish::Allocate, 2), (Wish::Free, 2)]);
    add(shape.effect_free, &[(Wish::Nothing, 3)]);
    add(shape.bound, &[(Wish::Define, 2), (Wish::Assume, 3), (Wish::Branch, 1)]);
    menu
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Bytes to write, few different ones, so that different writes are often equal, or in part.
fn written(value: u8, width: usize, bytewise: bool) -> Vec<u8> {
    match bytewise {
        true => (0..width).map(|byte| value >> (byte / 2) & 1).collect(),
        false => (0..width).map(|byte| if byte == 0 { value % 3 } else { 0 }).collect(),
    }
}
