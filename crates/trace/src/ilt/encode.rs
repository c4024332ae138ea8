//! Writing one event.
//!
//! Whatever the reader would refuse is refused here already: an id without an entry, a value wider
//! than its access. A trace that was written can be read.

use super::tags;
use super::varint::{put, put_delta};
use super::{Limits, Previous};
use crate::event::{
    Access, Attempt, BoundValue, Event, Expr, LockMode, MemoryOrder, Op, ReadModifyWrite, Region, RegionSource, Wake,
};
use crate::ids::{ExprId, StringId};

/// Appends an event to the stream of its thread. An error says what cannot be written; part of
/// the event may have been appended then.
pub(super) fn event(out: &mut Vec<u8>, event: &Event, previous: &mut Previous, limits: &Limits) -> Result<(), String> {
    let site = event.site.raw();
    if !limits.has_site(site) {
        return Err(missing("site", site, limits.sites));
    }
    Encoder { out, site, previous, limits }.op(&event.op)?;
    previous.site = site;
    Ok(())
}

/// Whether a value fits into an access of this size, where that is known.
#[inline]
pub(super) fn fits(value: u64, size: u32) -> bool {
    match size {
        0 | 8 => true,
        1..8 => value >> (8 * size) == 0,
        _ => false,
    }
}

fn missing(what: &str, id: u32, limit: u64) -> String {
    format!("{what} {id} when there are only {limit} in the tables")
}

struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    site: u32,
    previous: &'a mut Previous,
    limits: &'a Limits,
}

impl Encoder<'_> {
    #[inline]
    fn op(&mut self, op: &Op) -> Result<(), String> {
        match *op {
            Op::Read(ref access) => self.access(access, 0),
            Op::Write(ref access) => self.access(access, tags::IS_WRITE),
            _ => self.other(op),
        }
    }

    fn other(&mut self, op: &Op) -> Result<(), String> {
        let Limits { locks, conditions, semaphores, barriers, onces, threads, .. } = *self.limits;
        match *op {
            Op::Read(ref access) => self.access(access, 0),
            Op::Write(ref access) => self.access(access, tags::IS_WRITE),
            Op::ReadModifyWrite(ref rmw) => self.read_modify_write(rmw),
            Op::Fence(order) => {
                self.start(tags::FENCE);
                self.out.push(order as u8);
                Ok(())
            }
            Op::Request(lock) => self.single(tags::REQUEST, "lock", lock.raw(), locks),
            Op::Acquire { lock, mode, by } => {
                let tag = match (by, mode) {
                    (Attempt::Blocking, LockMode::Exclusive) => tags::ACQUIRE_EXCLUSIVE,
                    (Attempt::Blocking, LockMode::Shared) => tags::ACQUIRE_SHARED,
                    (Attempt::Try, LockMode::Exclusive) => tags::TRY_ACQUIRE_EXCLUSIVE,
                    (Attempt::Try, LockMode::Shared) => tags::TRY_ACQUIRE_SHARED,
                };
                self.single(tag, "lock", lock.raw(), locks)
            }
            Op::TryAcquireFailed { lock, mode } => {
                let tag = match mode {
                    LockMode::Exclusive => tags::TRY_FAILED_EXCLUSIVE,
                    LockMode::Shared => tags::TRY_FAILED_SHARED,
                };
                self.single(tag, "lock", lock.raw(), locks)
            }
            Op::Release { lock, mode } => {
                let tag = match mode {
                    LockMode::Exclusive => tags::RELEASE_EXCLUSIVE,
                    LockMode::Shared => tags::RELEASE_SHARED,
                };
                self.single(tag, "lock", lock.raw(), locks)
            }
            Op::WaitBegin { condition, lock } => {
                self.single(tags::WAIT_BEGIN, "condition", condition.raw(), conditions)?;
                self.id("lock", lock.raw(), locks)
            }
            Op::WaitEnd { condition, lock, wake } => {
                let tag = match wake {
                    Wake::Notified => tags::WAIT_END_NOTIFIED,
                    Wake::TimedOut => tags::WAIT_END_TIMED_OUT,
                    Wake::Spurious => tags::WAIT_END_SPURIOUS,
                };
                self.single(tag, "condition", condition.raw(), conditions)?;
                self.id("lock", lock.raw(), locks)
            }
            Op::Signal(condition) => self.single(tags::SIGNAL, "condition", condition.raw(), conditions),
            Op::Broadcast(condition) => self.single(tags::BROADCAST, "condition", condition.raw(), conditions),
            Op::SemaphoreWait(id) => self.single(tags::SEMAPHORE_WAIT, "semaphore", id.raw(), semaphores),
            Op::SemaphorePost(id) => self.single(tags::SEMAPHORE_POST, "semaphore", id.raw(), semaphores),
            Op::BarrierArrive(id) => self.single(tags::BARRIER_ARRIVE, "barrier", id.raw(), barriers),
            Op::BarrierLeave(id) => self.single(tags::BARRIER_LEAVE, "barrier", id.raw(), barriers),
            Op::OnceBegin(id) => self.single(tags::ONCE_BEGIN, "once", id.raw(), onces),
            Op::OnceEnd(id) => self.single(tags::ONCE_END, "once", id.raw(), onces),
            Op::OncePass(id) => self.single(tags::ONCE_PASS, "once", id.raw(), onces),
            Op::Fork(child) => self.single(tags::FORK, "thread", child.raw(), threads),
            Op::Join(child) => self.single(tags::JOIN, "thread", child.raw(), threads),
            Op::Start => self.bare(tags::START),
            Op::Finish => self.bare(tags::FINISH),
            Op::Allocate { object, size } => {
                self.string(tags::ALLOCATE, object)?;
                put(self.out, size);
                Ok(())
            }
            Op::Free { object } => self.string(tags::FREE, object),
            Op::Branch { count } => self.number(tags::BRANCH, count),
            Op::Enter { function } => self.string(tags::ENTER, function),
            Op::Exit => self.bare(tags::EXIT),
            Op::RegionBegin(Region { name, source }) => {
                let tag = match source {
                    RegionSource::Annotated => tags::REGION_BEGIN_ANNOTATED,
                    RegionSource::Locks => tags::REGION_BEGIN_LOCKS,
                    RegionSource::Functions => tags::REGION_BEGIN_FUNCTIONS,
                    RegionSource::Inferred => tags::REGION_BEGIN_INFERRED,
                };
                self.region(tag, name)
            }
            Op::RegionEnd(Region { name, source }) => {
                let tag = match source {
                    RegionSource::Annotated => tags::REGION_END_ANNOTATED,
                    RegionSource::Locks => tags::REGION_END_LOCKS,
                    RegionSource::Functions => tags::REGION_END_FUNCTIONS,
                    RegionSource::Inferred => tags::REGION_END_INFERRED,
                };
                self.region(tag, name)
            }
            Op::Input { channel, size, value } => {
                self.string(if value.get().is_some() { tags::INPUT_VALUE } else { tags::INPUT }, channel)?;
                put(self.out, u64::from(size));
                self.value(value.get(), size)
            }
            Op::Define { id, expr } => self.define(id, expr),
            Op::Bind { expr, of: BoundValue::Read } => self.expr(tags::BIND_READ, expr),
            Op::Bind { expr, of: BoundValue::Written } => self.expr(tags::BIND_WRITTEN, expr),
            Op::Assume { expr, holds: false } => self.expr(tags::ASSUME_FALSE, expr),
            Op::Assume { expr, holds: true } => self.expr(tags::ASSUME_TRUE, expr),
            Op::Mark { code } => self.number(tags::MARK, code),
        }
    }

    /// What every event begins with.
    #[inline]
    fn start(&mut self, tag: u8) {
        self.out.push(tag);
        put_delta(self.out, self.site, self.previous.site);
    }

    #[inline]
    fn access(&mut self, access: &Access, write: u8) -> Result<(), String> {
        let class = match (access.order, access.more) {
            (MemoryOrder::Plain, false) => tags::PLAIN,
            (MemoryOrder::Plain, true) => tags::PLAIN_MORE,
            _ => tags::ATOMIC,
        };
        let value = access.value.get();
        let code = size_code(access.size);
        self.start(class | write | if value.is_some() { tags::HAS_VALUE } else { 0 } | code);
        self.location(access.location.raw())?;
        if code == tags::SIZE_FOLLOWS {
            put(self.out, u64::from(access.size));
        }
        if class == tags::ATOMIC {
            self.out.push(access.order as u8 | if access.more { tags::ORDER_MORE } else { 0 });
        }
        self.value(value, access.size)
    }

    fn read_modify_write(&mut self, rmw: &ReadModifyWrite) -> Result<(), String> {
        let size = u32::from(rmw.size);
        if size > 8 {
            return Err(format!("a read-modify-write of {size} bytes, more than eight"));
        }
        if !rmw.success && rmw.written.get().is_some() {
            return Err("a value written by a read-modify-write that failed".to_owned());
        }
        let (read, written) = (rmw.read.get(), rmw.written.get());
        let code = size_code(size);
        let mut tag = tags::READ_MODIFY_WRITE | code;
        tag |= if read.is_some() { tags::HAS_VALUE } else { 0 };
        tag |= if written.is_some() { tags::HAS_WRITTEN } else { 0 };
        self.start(tag);
        self.location(rmw.location.raw())?;
        if code == tags::SIZE_FOLLOWS {
            put(self.out, u64::from(size));
        }
        let mut order = rmw.order as u8;
        order |= if rmw.more { tags::ORDER_MORE } else { 0 };
        order |= if rmw.success { tags::ORDER_SUCCESS } else { 0 };
        self.out.push(order);
        self.value(read, size)?;
        self.value(written, size)
    }

    #[inline]
    fn location(&mut self, location: u32) -> Result<(), String> {
        if u64::from(location) >= self.limits.locations {
            return Err(missing("location", location, self.limits.locations));
        }
        put_delta(self.out, location, self.previous.location);
        self.previous.location = location;
        Ok(())
    }

    #[inline]
    fn value(&mut self, value: Option<u64>, size: u32) -> Result<(), String> {
        let Some(value) = value else { return Ok(()) };
        if !fits(value, size) {
            return Err(format!("the value {value:#x} in {size} bytes (values have at most eight, and fit)"));
        }
        put(self.out, value);
        Ok(())
    }

    fn bare(&mut self, tag: u8) -> Result<(), String> {
        self.start(tag);
        Ok(())
    }

    fn number(&mut self, tag: u8, number: u32) -> Result<(), String> {
        self.start(tag);
        put(self.out, u64::from(number));
        Ok(())
    }

    fn single(&mut self, tag: u8, what: &str, id: u32, limit: u64) -> Result<(), String> {
        self.start(tag);
        self.id(what, id, limit)
    }

    fn string(&mut self, tag: u8, id: StringId) -> Result<(), String> {
        self.single(tag, "string", id.raw(), self.limits.strings)
    }

    fn id(&mut self, what: &str, id: u32, limit: u64) -> Result<(), String> {
        if u64::from(id) >= limit {
            return Err(missing(what, id, limit));
        }
        put(self.out, u64::from(id));
        Ok(())
    }

    fn region(&mut self, tag: u8, name: Option<StringId>) -> Result<(), String> {
        self.start(tag);
        match name {
            None => put(self.out, 0),
            Some(name) if u64::from(name.raw()) < self.limits.strings => put(self.out, u64::from(name.raw()) + 1),
            Some(name) => return Err(missing("string", name.raw(), self.limits.strings)),
        }
        Ok(())
    }

    fn expr(&mut self, tag: u8, expr: ExprId) -> Result<(), String> {
        self.start(tag);
        put_delta(self.out, expr.raw(), self.previous.expr);
        self.previous.expr = expr.raw();
        Ok(())
    }

    fn define(&mut self, id: ExprId, expr: Expr) -> Result<(), String> {
        let (Expr::Constant { width, .. } | Expr::Apply { width, .. }) = expr;
        if !(1..=64).contains(&width) {
            return Err(format!("an expression of {width} bits (they have 1 to 64)"));
        }
        match expr {
            Expr::Constant { bits, .. } => {
                if width < 64 && bits >> width != 0 {
                    return Err(format!("the constant {bits:#x} in {width} bits"));
                }
                self.expr(tags::DEFINE_CONSTANT, id)?;
                self.out.push(width);
                put(self.out, bits);
            }
            Expr::Apply { operator, operands, .. } => {
                let (own, rest) = operands.split_at(operator.arity());
                if rest.iter().any(|operand| Some(operand) != own.last()) {
                    return Err(format!("more operands of {} than it takes", operator.name()));
                }
                self.expr(tags::DEFINE_APPLY, id)?;
                self.out.extend([width, operator as u8]);
                for operand in own {
                    put_delta(self.out, operand.raw(), id.raw());
                }
            }
        }
        Ok(())
    }
}

#[inline]
fn size_code(size: u32) -> u8 {
    match size {
        0 => 0,
        1 => 1,
        2 => 2,
        4 => 3,
        8 => 4,
        _ => tags::SIZE_FOLLOWS,
    }
}
