//! Reading one event, of whatever kind, with care for every byte.
//!
//! Reads and writes are usually read by `fast` instead; where that gives up, what is wrong is
//! found out here.

use super::encode::fits;
use super::tags;
use super::varint::{Bytes, out_of_table};
use super::{Defect, Limits, Previous};
use crate::event::{
    Access, Attempt, BoundValue, Event, Expr, LockMode, MemoryOrder, Op, Operator, ReadModifyWrite, Region,
    RegionSource, Value, Wake,
};
use crate::ids::{BarrierId, ConditionId, ExprId, LocationId, LockId, OnceId, SemaphoreId, SiteId, StringId, ThreadId};

/// Reads the next event of a thread's stream. After an error the stream cannot be read on.
#[inline(never)] // Its many cases would leave no registers to the loop that calls it.
pub(super) fn event(
    input: &mut Bytes<'_>,
    thread: ThreadId,
    previous: &mut Previous,
    limits: &Limits,
) -> Result<Event, Defect> {
    let tag = input.byte("the tag of an event")?;
    let site = input.delta(previous.site, "a site")?;
    if !limits.has_site(site) {
        return Err(out_of_table(u64::from(site), limits.sites, "site"));
    }
    previous.site = site;
    let op = Decoder { input, previous, limits }.op(tag)?;
    Ok(Event { thread, site: SiteId::from_raw(site), op })
}

struct Decoder<'a, 'b> {
    input: &'a mut Bytes<'b>,
    previous: &'a mut Previous,
    limits: &'a Limits,
}

impl Decoder<'_, '_> {
    fn op(&mut self, tag: u8) -> Result<Op, Defect> {
        let (exclusive, shared) = (LockMode::Exclusive, LockMode::Shared);
        Ok(match tag {
            0..0x80 if tag & tags::CLASS == tags::READ_MODIFY_WRITE => self.read_modify_write(tag)?,
            0..0x80 => self.access(tag)?,
            tags::FENCE => {
                let byte = self.input.byte("a memory order")?;
                Op::Fence(order(byte, 0)?)
            }
            tags::REQUEST => Op::Request(self.lock()?),
            tags::ACQUIRE_EXCLUSIVE => Op::Acquire { lock: self.lock()?, mode: exclusive, by: Attempt::Blocking },
            tags::ACQUIRE_SHARED => Op::Acquire { lock: self.lock()?, mode: shared, by: Attempt::Blocking },
            tags::TRY_ACQUIRE_EXCLUSIVE => Op::Acquire { lock: self.lock()?, mode: exclusive, by: Attempt::Try },
            tags::TRY_ACQUIRE_SHARED => Op::Acquire { lock: self.lock()?, mode: shared, by: Attempt::Try },
            tags::TRY_FAILED_EXCLUSIVE => Op::TryAcquireFailed { lock: self.lock()?, mode: exclusive },
            tags::TRY_FAILED_SHARED => Op::TryAcquireFailed { lock: self.lock()?, mode: shared },
            tags::RELEASE_EXCLUSIVE => Op::Release { lock: self.lock()?, mode: exclusive },
            tags::RELEASE_SHARED => Op::Release { lock: self.lock()?, mode: shared },
            tags::WAIT_BEGIN => Op::WaitBegin { condition: self.condition()?, lock: self.lock()? },
            tags::WAIT_END_NOTIFIED => self.wait_end(Wake::Notified)?,
            tags::WAIT_END_TIMED_OUT => self.wait_end(Wake::TimedOut)?,
            tags::WAIT_END_SPURIOUS => self.wait_end(Wake::Spurious)?,
            tags::SIGNAL => Op::Signal(self.condition()?),
            tags::BROADCAST => Op::Broadcast(self.condition()?),
            tags::SEMAPHORE_WAIT => Op::SemaphoreWait(self.semaphore()?),
            tags::SEMAPHORE_POST => Op::SemaphorePost(self.semaphore()?),
            tags::BARRIER_ARRIVE => Op::BarrierArrive(self.barrier()?),
            tags::BARRIER_LEAVE => Op::BarrierLeave(self.barrier()?),
            tags::ONCE_BEGIN => Op::OnceBegin(self.once()?),
            tags::ONCE_END => Op::OnceEnd(self.once()?),
            tags::ONCE_PASS => Op::OncePass(self.once()?),
            tags::FORK => Op::Fork(self.thread()?),
            tags::JOIN => Op::Join(self.thread()?),
            tags::START => Op::Start,
            tags::FINISH => Op::Finish,
            tags::ALLOCATE => {
                Op::Allocate { object: self.string()?, size: self.input.varint("the size of an object")? }
            }
            tags::FREE => Op::Free { object: self.string()? },
            tags::BRANCH => Op::Branch { count: self.input.varint32("a number of branches")? },
            tags::ENTER => Op::Enter { function: self.string()? },
            tags::EXIT => Op::Exit,
            tags::REGION_BEGIN_ANNOTATED => Op::RegionBegin(self.region(RegionSource::Annotated)?),
            tags::REGION_BEGIN_LOCKS => Op::RegionBegin(self.region(RegionSource::Locks)?),
            tags::REGION_BEGIN_FUNCTIONS => Op::RegionBegin(self.region(RegionSource::Functions)?),
            tags::REGION_BEGIN_INFERRED => Op::RegionBegin(self.region(RegionSource::Inferred)?),
            tags::REGION_END_ANNOTATED => Op::RegionEnd(self.region(RegionSource::Annotated)?),
            tags::REGION_END_LOCKS => Op::RegionEnd(self.region(RegionSource::Locks)?),
            tags::REGION_END_FUNCTIONS => Op::RegionEnd(self.region(RegionSource::Functions)?),
            tags::REGION_END_INFERRED => Op::RegionEnd(self.region(RegionSource::Inferred)?),
            tags::INPUT | tags::INPUT_VALUE => {
                let channel = self.string()?;
                let size = self.input.varint32("the size of an input")?;
                Op::Input { channel, size, value: self.value(tag == tags::INPUT_VALUE, size)? }
            }
            tags::DEFINE_CONSTANT => self.define_constant()?,
            tags::DEFINE_APPLY => self.define_apply()?,
            tags::BIND_READ => Op::Bind { expr: self.expr()?, of: BoundValue::Read },
            tags::BIND_WRITTEN => Op::Bind { expr: self.expr()?, of: BoundValue::Written },
            tags::ASSUME_FALSE => Op::Assume { expr: self.expr()?, holds: false },
            tags::ASSUME_TRUE => Op::Assume { expr: self.expr()?, holds: true },
            tags::MARK => Op::Mark { code: self.input.varint32("the code of a mark")? },
            _ => return Err(Defect::unknown(format!("an event with the unknown tag {tag:#04x}"), "a known one")),
        })
    }

    fn access(&mut self, tag: u8) -> Result<Op, Defect> {
        let location = self.location()?;
        let size = self.size(tag)?;
        let (order, more) = match tag & tags::CLASS {
            tags::PLAIN => (MemoryOrder::Plain, false),
            tags::PLAIN_MORE => (MemoryOrder::Plain, true),
            _ => {
                let byte = self.input.byte("a memory order")?;
                (order(byte, tags::ORDER_MORE)?, byte & tags::ORDER_MORE != 0)
            }
        };
        let value = self.value(tag & tags::HAS_VALUE != 0, size)?;
        let access = Access { location, size, order, more, value };
        Ok(if tag & tags::IS_WRITE != 0 { Op::Write(access) } else { Op::Read(access) })
    }

    fn read_modify_write(&mut self, tag: u8) -> Result<Op, Defect> {
        let location = self.location()?;
        let size = self.size(tag)?;
        let byte = self.input.byte("a memory order")?;
        let order = order(byte, tags::ORDER_MORE | tags::ORDER_SUCCESS)?;
        let (more, success) = (byte & tags::ORDER_MORE != 0, byte & tags::ORDER_SUCCESS != 0);
        if !success && tag & tags::HAS_WRITTEN != 0 {
            return Err(Defect::new("a value written by a read-modify-write that failed", "none"));
        }
        let Some(narrow) = u8::try_from(size).ok().filter(|&size| size <= 8) else {
            return Err(Defect::new(format!("a read-modify-write of {size} bytes"), "at most 8"));
        };
        let read = self.value(tag & tags::HAS_VALUE != 0, size)?;
        let written = self.value(tag & tags::HAS_WRITTEN != 0, size)?;
        Ok(Op::ReadModifyWrite(ReadModifyWrite { location, size: narrow, order, success, more, read, written }))
    }

    fn size(&mut self, tag: u8) -> Result<u32, Defect> {
        let code = tag & tags::SIZE_CODE;
        match tags::SIZES.get(usize::from(code)) {
            Some(&size) => Ok(size),
            None if code == tags::SIZE_FOLLOWS => self.input.varint32("the size of an access"),
            None => Err(Defect::unknown(format!("the unknown size code {code}"), "one up to 5")),
        }
    }

    fn value(&mut self, present: bool, size: u32) -> Result<Value, Defect> {
        if !present {
            return Ok(Value::UNKNOWN);
        }
        let bits = self.input.varint("a value")?;
        if !fits(bits, size) {
            let found = format!("the value {bits:#x} in {size} bytes");
            return Err(Defect::new(found, "a value that fits, and none for more than eight bytes"));
        }
        Ok(Value::known(bits))
    }

    fn location(&mut self) -> Result<LocationId, Defect> {
        let raw = self.input.delta(self.previous.location, "a location")?;
        if u64::from(raw) >= self.limits.locations {
            return Err(out_of_table(u64::from(raw), self.limits.locations, "location"));
        }
        self.previous.location = raw;
        Ok(LocationId::new(raw))
    }

    fn lock(&mut self) -> Result<LockId, Defect> {
        self.input.id(self.limits.locks, "lock").map(LockId::new)
    }

    fn condition(&mut self) -> Result<ConditionId, Defect> {
        self.input.id(self.limits.conditions, "condition").map(ConditionId::new)
    }

    fn semaphore(&mut self) -> Result<SemaphoreId, Defect> {
        self.input.id(self.limits.semaphores, "semaphore").map(SemaphoreId::new)
    }

    fn barrier(&mut self) -> Result<BarrierId, Defect> {
        self.input.id(self.limits.barriers, "barrier").map(BarrierId::new)
    }

    fn once(&mut self) -> Result<OnceId, Defect> {
        self.input.id(self.limits.onces, "once flag").map(OnceId::new)
    }

    fn thread(&mut self) -> Result<ThreadId, Defect> {
        self.input.id(self.limits.threads, "thread").map(ThreadId::new)
    }

    fn string(&mut self) -> Result<StringId, Defect> {
        self.input.id(self.limits.strings, "string").map(StringId::new)
    }

    fn wait_end(&mut self, wake: Wake) -> Result<Op, Defect> {
        Ok(Op::WaitEnd { condition: self.condition()?, lock: self.lock()?, wake })
    }

    fn region(&mut self, source: RegionSource) -> Result<Region, Defect> {
        let name = match self.input.id(self.limits.strings + 1, "the name of a region, plus one: string")? {
            0 => None,
            above => Some(StringId::new(above - 1)),
        };
        Ok(Region { name, source })
    }

    fn expr(&mut self) -> Result<ExprId, Defect> {
        let raw = self.input.delta(self.previous.expr, "an expression")?;
        self.previous.expr = raw;
        Ok(ExprId::new(raw))
    }

    fn width(&mut self) -> Result<u8, Defect> {
        match self.input.byte("the width of an expression")? {
            width @ 1..=64 => Ok(width),
            other => Err(Defect::new(format!("an expression of {other} bits"), "1 to 64")),
        }
    }

    fn define_constant(&mut self) -> Result<Op, Defect> {
        let id = self.expr()?;
        let width = self.width()?;
        let bits = self.input.varint("a constant")?;
        if width < 64 && bits >> width != 0 {
            return Err(Defect::new(format!("the constant {bits:#x} in {width} bits"), "one that fits"));
        }
        Ok(Op::Define { id, expr: Expr::Constant { width, bits } })
    }

    fn define_apply(&mut self) -> Result<Op, Defect> {
        let id = self.expr()?;
        let width = self.width()?;
        let code = self.input.byte("an operator")?;
        let Some(&operator) = Operator::ALL.get(usize::from(code)) else {
            return Err(Defect::unknown(format!("the unknown operator {code}"), "a known one"));
        };
        let mut operands = [id; 3];
        let mut last = id;
        for (position, operand) in operands.iter_mut().enumerate() {
            if position < operator.arity() {
                last = ExprId::new(self.input.delta(id.raw(), "an operand")?);
            }
            *operand = last;
        }
        Ok(Op::Define { id, expr: Expr::Apply { operator, width, operands } })
    }
}

/// The order in an order byte, in which the `flags` may be set too.
fn order(byte: u8, flags: u8) -> Result<MemoryOrder, Defect> {
    let order = match byte & tags::ORDER {
        0 => MemoryOrder::Plain,
        1 => MemoryOrder::Relaxed,
        2 => MemoryOrder::Consume,
        3 => MemoryOrder::Acquire,
        4 => MemoryOrder::Release,
        5 => MemoryOrder::AcquireRelease,
        6 => MemoryOrder::SequentiallyConsistent,
        _ => return Err(Defect::unknown(format!("the unknown memory order {byte:#04x}"), "an order from 0 to 6")),
    };
    if byte & !(tags::ORDER | flags) != 0 {
        return Err(Defect::unknown(format!("unknown flags in the memory order {byte:#04x}"), "known ones"));
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_found_by_their_code() {
        for (position, &operator) in Operator::ALL.iter().enumerate() {
            assert_eq!(operator as usize, position);
        }
    }
}
