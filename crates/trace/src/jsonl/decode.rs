//! From the fields of a line to an event.

use super::breach;
use super::fields::{Field, Fields};
use super::words::{BOUND, MODES, OPERATORS, ORDERS, PHASES, Phase, SOURCES, WAKES};
use crate::error::{TraceError, quote};
use crate::event::{
    Access, Attempt, BoundValue, Event, Expr, LockMode, MemoryOrder, Op, ReadModifyWrite, Region, RegionSource, Wake,
};
use crate::ids::{ConditionId, ExprId, LocationId, LockId, SiteId, StringId, ThreadId};
use crate::tables::{Site, Tables};

/// The event of a line, or none if the line states a fact about the trace, entered into `tables`.
pub(super) fn decode(mut fields: Fields<'_>, tables: &mut Tables) -> Result<Option<Event>, TraceError> {
    let name = fields.text(Field::Op)?;
    if name == "meta" {
        let key = fields.text(Field::Key)?;
        let value = fields.any_text(Field::Value)?;
        fields.finish(&name)?;
        tables.push_meta(key.into_owned(), value.into_owned());
        return Ok(None);
    }
    let thread = tables.intern_thread(&fields.text(Field::Thread)?)?;
    let mut line = Line { fields, tables };
    let op = line.op(&name)?;
    let site = line.site()?;
    line.fields.finish(&name)?;
    if let Some(breach) = breach(&op) {
        return Err(line.fields.wrong(breach.field, &breach.found, breach.expected).into());
    }
    Ok(Some(Event { thread, site, op }))
}

struct Line<'a, 't> {
    fields: Fields<'a>,
    tables: &'t mut Tables,
}

impl Line<'_, '_> {
    fn op(&mut self, name: &str) -> Result<Op, TraceError> {
        use LockMode::{Exclusive, Shared};
        Ok(match name {
            "read" => Op::Read(self.access()?),
            "write" => Op::Write(self.access()?),
            "rmw" => Op::ReadModifyWrite(self.read_modify_write()?),
            "fence" => Op::Fence(self.order()?),

            "request" => Op::Request(self.lock(Field::Target)?),
            "acquire" => Op::Acquire { lock: self.lock(Field::Target)?, mode: Exclusive, by: Attempt::Blocking },
            "acquire_shared" => Op::Acquire { lock: self.lock(Field::Target)?, mode: Shared, by: Attempt::Blocking },
            "try_acquire" => self.try_acquire()?,
            "release" => Op::Release { lock: self.lock(Field::Target)?, mode: Exclusive },
            "release_shared" => Op::Release { lock: self.lock(Field::Target)?, mode: Shared },

            "wait_begin" => Op::WaitBegin { condition: self.condition()?, lock: self.lock(Field::Lock)? },
            "wait_end" => Op::WaitEnd {
                condition: self.condition()?,
                lock: self.lock(Field::Lock)?,
                wake: self.fields.word_if_any(Field::Wake, WAKES)?.unwrap_or(Wake::Notified),
            },
            "signal" => Op::Signal(self.condition()?),
            "broadcast" => Op::Broadcast(self.condition()?),

            "sem_wait" => Op::SemaphoreWait(self.tables.intern_semaphore(&self.fields.text(Field::Target)?)?),
            "sem_post" => Op::SemaphorePost(self.tables.intern_semaphore(&self.fields.text(Field::Target)?)?),
            "barrier" => Op::BarrierArrive(self.tables.intern_barrier(&self.fields.text(Field::Target)?)?),
            "barrier_leave" => Op::BarrierLeave(self.tables.intern_barrier(&self.fields.text(Field::Target)?)?),
            "once" => self.once()?,

            "fork" => Op::Fork(self.thread(Field::Target)?),
            "join" => Op::Join(self.thread(Field::Target)?),
            "start" => Op::Start,
            "finish" => Op::Finish,

            "alloc" => Op::Allocate { object: self.string(Field::Target)?, size: self.fields.number(Field::Size)? },
            "free" => Op::Free { object: self.string(Field::Target)? },

            "branch" => Op::Branch { count: self.fields.number(Field::Count)? },
            "enter" => Op::Enter { function: self.string(Field::Target)? },
            "exit" => Op::Exit,

            "begin" => Op::RegionBegin(self.region()?),
            "end" => Op::RegionEnd(self.region()?),

            "input" => {
                let channel = self.string(Field::Target)?;
                let size: u32 = self.fields.number_if_any(Field::Size)?.unwrap_or(0);
                Op::Input { channel, size, value: self.fields.value_if_any(Field::Value, size.into())?.into() }
            }
            "define" => Op::Define { id: self.fields.expr(Field::Expr)?, expr: self.expr()? },
            "bind" => Op::Bind {
                expr: self.fields.expr(Field::Expr)?,
                of: self.fields.word_if_any(Field::Of, BOUND)?.unwrap_or(BoundValue::Read),
            },
            "assume" => Op::Assume { expr: self.fields.expr(Field::Expr)?, holds: self.fields.truth(Field::Holds)? },
            "mark" => Op::Mark { code: self.fields.number(Field::Code)? },

            other => {
                let found = format!("operation {}", quote(other.as_bytes()));
                return Err(self.fields.malformed(found, format!("one of {OPERATIONS}")).into());
            }
        })
    }

    fn access(&mut self) -> Result<Access, TraceError> {
        let location = self.location()?;
        let size: u32 = self.fields.number_if_any(Field::Size)?.unwrap_or(0);
        Ok(Access {
            location,
            size,
            order: self.order()?,
            more: self.fields.truth_if_any(Field::More)?.unwrap_or(false),
            value: self.fields.value_if_any(Field::Value, size.into())?.into(),
        })
    }

    fn read_modify_write(&mut self) -> Result<ReadModifyWrite, TraceError> {
        let location = self.location()?;
        let size: u8 = self.fields.number_if_any(Field::Size)?.unwrap_or(0);
        Ok(ReadModifyWrite {
            location,
            size,
            order: self.order()?,
            success: self.fields.truth_if_any(Field::Success)?.unwrap_or(true),
            more: self.fields.truth_if_any(Field::More)?.unwrap_or(false),
            read: self.fields.value_if_any(Field::Value, size.into())?.into(),
            written: self.fields.value_if_any(Field::Written, size.into())?.into(),
        })
    }

    fn try_acquire(&mut self) -> Result<Op, TraceError> {
        let lock = self.lock(Field::Target)?;
        let mode = self.fields.word_if_any(Field::Mode, MODES)?.unwrap_or(LockMode::Exclusive);
        Ok(match self.fields.truth_if_any(Field::Success)? {
            None | Some(true) => Op::Acquire { lock, mode, by: Attempt::Try },
            Some(false) => Op::TryAcquireFailed { lock, mode },
        })
    }

    fn once(&mut self) -> Result<Op, TraceError> {
        let once = self.tables.intern_once(&self.fields.text(Field::Target)?)?;
        Ok(match self.fields.word_if_any(Field::Phase, PHASES)? {
            Some(Phase::Begin) => Op::OnceBegin(once),
            Some(Phase::End) => Op::OnceEnd(once),
            None | Some(Phase::Pass) => Op::OncePass(once),
        })
    }

    fn region(&mut self) -> Result<Region, TraceError> {
        let name = self.string_if_any(Field::Target)?;
        let source = self.fields.word_if_any(Field::Source, SOURCES)?.unwrap_or(RegionSource::Annotated);
        Ok(Region { name, source })
    }

    fn expr(&mut self) -> Result<Expr, TraceError> {
        let width = self.fields.number(Field::Width)?;
        if self.fields.has(Field::Bits) {
            return Ok(Expr::Constant { width, bits: self.fields.number(Field::Bits)? });
        }
        let operator = self.fields.word(Field::Operator, OPERATORS)?;
        let mut operands = [ExprId::new(0); 3];
        let (used, unused) = operands.split_at_mut(operator.arity());
        self.fields.exprs(Field::Operands, used)?;
        if let Some(&last) = used.last() {
            unused.fill(last);
        }
        Ok(Expr::Apply { operator, width, operands })
    }

    fn order(&mut self) -> Result<MemoryOrder, TraceError> {
        Ok(self.fields.word_if_any(Field::Order, ORDERS)?.unwrap_or(MemoryOrder::Plain))
    }

    fn site(&mut self) -> Result<SiteId, TraceError> {
        let file = self.string_if_any(Field::File)?;
        let line = self.fields.signed_if_any(Field::Line)?;
        let function = self.string_if_any(Field::Function)?;
        Ok(self.tables.intern_site(Site { file, function, line })?)
    }

    fn location(&mut self) -> Result<LocationId, TraceError> {
        let object = self.fields.text(Field::Target)?;
        let offset = self.fields.number_if_any(Field::Offset)?.unwrap_or(0);
        Ok(self.tables.intern_location(&object, offset)?)
    }

    fn thread(&mut self, field: Field) -> Result<ThreadId, TraceError> {
        Ok(self.tables.intern_thread(&self.fields.text(field)?)?)
    }

    fn lock(&mut self, field: Field) -> Result<LockId, TraceError> {
        Ok(self.tables.intern_lock(&self.fields.text(field)?)?)
    }

    fn condition(&mut self) -> Result<ConditionId, TraceError> {
        Ok(self.tables.intern_condition(&self.fields.text(Field::Target)?)?)
    }

    fn string(&mut self, field: Field) -> Result<StringId, TraceError> {
        Ok(self.tables.strings.intern(&self.fields.text(field)?)?)
    }

    fn string_if_any(&mut self, field: Field) -> Result<Option<StringId>, TraceError> {
        match self.fields.text_if_any(field)? {
            Some(text) => Ok(Some(self.tables.strings.intern(&text)?)),
            None => Ok(None),
        }
    }
}

/// For the message only.
const OPERATIONS: &str = "read, write, rmw, fence, request, acquire, acquire_shared, try_acquire, release, \
     release_shared, wait_begin, wait_end, signal, broadcast, sem_wait, sem_post, barrier, barrier_leave, once, fork, \
     join, start, finish, alloc, free, branch, enter, exit, begin, end, input, define, bind, assume, mark, meta";
