//! Locks, conditions, semaphores, barriers, once flags; and the critical sections that locks make.

use super::Assembler;
use super::emit::Part;
use super::threads::Held;
use crate::symbolize::Symbolizer;
use interloper_trace::{Attempt, LockId, LockMode, Op, Region, RegionSource, SemaphoreId, StringId, TableFull, Wake};
use interloper_wire::{Kind, LockArg, Record, RecordHeader, WaitArg};
use std::collections::hash_map::Entry;

impl<S: Symbolizer> Assembler<S> {
    /// Takes a record about an object that threads synchronise by.
    pub(super) fn synchronise(&mut self, record: &Record<'_>) -> Result<(), TableFull> {
        let RecordHeader { kind, arg, address, pc, .. } = record.header;
        let op = match kind {
            Kind::Request => Op::Request(self.lock_at(address)?.0),
            Kind::TryFailed => Op::TryAcquireFailed { lock: self.lock_at(address)?.0, mode: mode(arg) },
            Kind::Acquire => return self.acquire(record),
            Kind::Release => return self.release(record),
            Kind::WaitBegin => return self.begin_wait(record),
            Kind::WaitEnd => return self.end_wait(record),
            Kind::Signal => Op::Signal(self.naming(|names, naming| names.condition(address, naming))?),
            Kind::Broadcast => Op::Broadcast(self.naming(|names, naming| names.condition(address, naming))?),
            Kind::SemaphoreWait => {
                let semaphore = self.naming(|names, naming| names.semaphore(address, naming))?;
                // Many a semaphore is a lock by another name: what matters is whether it made the thread wait.
                let part = if self.threads[self.current].has_waited { Part::Pause } else { Part::Own };
                return self.act_as(part, kind, pc, Op::SemaphoreWait(semaphore), None).map(drop);
            }
            Kind::SemaphorePost => Op::SemaphorePost(self.naming(|names, naming| names.semaphore(address, naming))?),
            Kind::BarrierArrive => {
                let barrier = self.naming(|names, naming| names.barrier(address, naming))?;
                return self.cut_and_act(kind, pc, Op::BarrierArrive(barrier)).map(drop);
            }
            Kind::BarrierLeave => {
                let barrier = self.naming(|names, naming| names.barrier(address, naming))?;
                return self.cut_and_act(kind, pc, Op::BarrierLeave(barrier)).map(drop);
            }
            Kind::OnceBegin => Op::OnceBegin(self.naming(|names, naming| names.once(address, naming))?),
            Kind::OnceEnd => Op::OnceEnd(self.naming(|names, naming| names.once(address, naming))?),
            _ => Op::OncePass(self.naming(|names, naming| names.once(address, naming))?),
        };
        self.act(kind, pc, op).map(drop)
    }

    fn acquire(&mut self, record: &Record<'_>) -> Result<(), TableFull> {
        let RecordHeader { kind, arg, address, pc, .. } = record.header;
        let (lock, name) = self.lock_at(address)?;
        let mode = mode(arg);
        let by = if LockArg(arg).has(LockArg::TRY) { Attempt::Try } else { Attempt::Blocking };
        if !self.act(kind, pc, Op::Acquire { lock, mode, by })? {
            return Ok(());
        }
        match self.threads[self.current].held.entry((address, mode)) {
            Entry::Occupied(mut held) => {
                held.get_mut().depth += 1;
                return Ok(());
            }
            Entry::Vacant(free) => free.insert(Held { lock, depth: 1, name }),
        };
        self.begin_region(critical_section(name));
        Ok(())
    }

    fn release(&mut self, record: &Record<'_>) -> Result<(), TableFull> {
        let RecordHeader { kind, arg, address, pc, .. } = record.header;
        let mode = mode(arg);
        let Some(&Held { lock, name, depth }) = self.threads[self.current].held.get(&(address, mode)) else {
            return self.drop_record();
        };
        let op = Op::Release { lock, mode };
        let id = self.threads[self.current].id;
        if !self.guard.allows(id, &op) {
            return self.drop_record();
        }
        let held = &mut self.threads[self.current].held;
        let ends = if depth > 1 {
            held.insert((address, mode), Held { lock, name, depth: depth - 1 });
            None
        } else {
            held.remove(&(address, mode));
            Some(critical_section(name))
        };
        self.act_as(Part::Own, kind, pc, op, ends).map(drop)
    }

    fn begin_wait(&mut self, record: &Record<'_>) -> Result<(), TableFull> {
        let RecordHeader { kind, address, pc, .. } = record.header;
        let condition = self.naming(|names, naming| names.condition(address, naming))?;
        let Some(Held { lock, name, .. }) = self.held_at(record.words[0]) else { return self.drop_record() };
        let op = Op::WaitBegin { condition, lock };
        self.act_as(Part::Pause, kind, pc, op, Some(critical_section(name))).map(drop)
    }

    fn end_wait(&mut self, record: &Record<'_>) -> Result<(), TableFull> {
        let RecordHeader { arg, address, pc, .. } = record.header;
        let condition = self.naming(|names, naming| names.condition(address, naming))?;
        let Some(Held { lock, name, .. }) = self.held_at(record.words[0]) else { return self.drop_record() };
        let wake = match WaitArg::from_code(arg) {
            Some(WaitArg::TimedOut) => Wake::TimedOut,
            Some(WaitArg::Spurious) => Wake::Spurious,
            Some(WaitArg::Notified) | None => Wake::Notified,
        };
        if self.act_first(pc, Op::WaitEnd { condition, lock, wake })? {
            self.begin_region(critical_section(name));
        }
        Ok(())
    }

    /// What the program says about order is a semaphore for each time it says so: posted by who goes first, and waited for
    /// by who comes after, who posts it again for those who come after, too. No schedule without that order is possible
    /// then, and every other is.
    pub(super) fn happens_before(&mut self, record: &Record<'_>) -> Result<(), TableFull> {
        let RecordHeader { kind, address, pc, .. } = record.header;
        let number = self.threads[self.current].number;
        let semaphore = self.announcement(address, u64::from(number), record.words[0])?;
        self.act(kind, pc, Op::SemaphorePost(semaphore)).map(drop)
    }

    pub(super) fn happens_after(&mut self, record: &Record<'_>) -> Result<(), TableFull> {
        let RecordHeader { kind, address, pc, .. } = record.header;
        let [thread, time, ..] = record.words;
        let semaphore = self.announcement(address, thread, time)?;
        if self.act(kind, pc, Op::SemaphoreWait(semaphore))? {
            self.act_as(Part::Further, kind, pc, Op::SemaphorePost(semaphore), None)?;
        }
        Ok(())
    }

    fn announcement(&mut self, address: u64, thread: u64, time: u64) -> Result<SemaphoreId, TableFull> {
        let place = self.naming(|names, naming| names.text(address, naming))?;
        let name = format!("{place} announced by {} ({time})", self.lineage.name(thread));
        self.tables.intern_semaphore(&name)
    }

    /// What the running thread holds at an address. While it waits it has not got the lock, but will.
    fn held_at(&self, address: u64) -> Option<Held> {
        self.threads[self.current].held.get(&(address, LockMode::Exclusive)).copied()
    }

    /// The lock at an address: the one that the thread has taken there, whatever is there by now.
    fn lock_at(&mut self, address: u64) -> Result<(LockId, StringId), TableFull> {
        let held = &self.threads[self.current].held;
        let modes = [LockMode::Exclusive, LockMode::Shared];
        if let Some(held) = modes.into_iter().find_map(|mode| held.get(&(address, mode))) {
            return Ok((held.lock, held.name));
        }
        self.naming(|names, naming| names.lock(address, naming))
    }
}

fn critical_section(name: StringId) -> Region {
    Region { name: Some(name), source: RegionSource::Locks }
}

fn mode(arg: u8) -> LockMode {
    if LockArg(arg).has(LockArg::SHARED) { LockMode::Shared } else { LockMode::Exclusive }
}
