//! Writing a trace line by line.

use super::breach;
use super::fields::Field;
use super::lines::LONGEST_LINE;
use super::words::{self, BOUND, MODES, ORDERS, PHASES, Phase, SOURCES, WAKES, Words};
use crate::event::{
    Access, Attempt, BoundValue, Event, Expr, LockMode, MemoryOrder, Op, ReadModifyWrite, Region, Value, Wake,
};
use crate::ids::{ExprId, LocationId, LockId, SiteId, StringId};
use crate::stream::{EventSink, SinkError};
use crate::tables::{Site, Tables};
use serde::Serialize;
use std::io::{self, Write};

/// Writes a trace as JSON Lines.
///
/// Fields come in a fixed order, and those that say nothing are left out. Facts about the trace
/// come before the events of the call that brought them.
pub struct JsonlWriter<W> {
    out: W,
    buffer: Vec<u8>,
    events_written: u64,
    facts_written: usize,
}

impl<W: Write> JsonlWriter<W> {
    /// The buffer is written out when it has grown to this size.
    const FULL: usize = 1 << 16;

    /// A writer to this output, which needs no buffering.
    pub fn new(out: W) -> Self {
        JsonlWriter { out, buffer: Vec::new(), events_written: 0, facts_written: 0 }
    }

    /// Appends one line to the buffer, whole or not at all.
    fn line(
        &mut self,
        tables: &Tables,
        fill: impl FnOnce(&mut LineWriter<'_>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let start = self.buffer.len();
        let mut line = LineWriter { buffer: &mut self.buffer, start, tables, index: self.events_written };
        if let Err(error) = fill(&mut line).and_then(|()| line.close()) {
            self.buffer.truncate(start);
            return Err(error);
        }
        if self.buffer.len() >= Self::FULL {
            self.write_out()?;
        }
        Ok(())
    }

    fn facts(&mut self, tables: &Tables) -> Result<(), SinkError> {
        for (key, value) in tables.meta().iter().skip(self.facts_written) {
            self.line(tables, |line| {
                line.put(Field::Op, "meta")?;
                line.name(Field::Key, key)?;
                line.put(Field::Value, value)
            })?;
            self.facts_written += 1;
        }
        Ok(())
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

impl<W: Write> EventSink for JsonlWriter<W> {
    fn write(&mut self, events: &[Event], tables: &Tables) -> Result<(), SinkError> {
        self.facts(tables)?;
        for event in events {
            self.line(tables, |line| line.event(event))?;
            self.events_written += 1;
        }
        Ok(())
    }

    fn finish(&mut self, tables: &Tables) -> Result<(), SinkError> {
        self.facts(tables)?;
        self.write_out()?;
        Ok(self.out.flush()?)
    }
}

/// One line being put together.
struct LineWriter<'a> {
    buffer: &'a mut Vec<u8>,
    /// Where the line begins in the buffer.
    start: usize,
    tables: &'a Tables,
    /// The event's index, for errors.
    index: u64,
}

impl LineWriter<'_> {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        if let Some(breach) = breach(&event.op) {
            return Err(self.inexpressible(format!(
                "{} as \"{}\": expected {}",
                breach.found,
                breach.field.name(),
                breach.expected
            )));
        }
        self.name(Field::Thread, self.tables.thread(event.thread))?;
        self.op(&event.op)?;
        self.site(event.site)
    }

    fn op(&mut self, op: &Op) -> Result<(), SinkError> {
        let tables = self.tables;
        match *op {
            Op::Read(access) => self.access("read", &access),
            Op::Write(access) => self.access("write", &access),
            Op::ReadModifyWrite(rmw) => self.read_modify_write(&rmw),
            Op::Fence(order) => {
                self.put(Field::Op, "fence")?;
                self.order(order)
            }

            Op::Request(lock) => self.lock_op("request", lock),
            Op::Acquire { lock, mode: LockMode::Exclusive, by: Attempt::Blocking } => self.lock_op("acquire", lock),
            Op::Acquire { lock, mode: LockMode::Shared, by: Attempt::Blocking } => self.lock_op("acquire_shared", lock),
            Op::Acquire { lock, mode, by: Attempt::Try } => self.try_acquire(lock, mode, true),
            Op::TryAcquireFailed { lock, mode } => self.try_acquire(lock, mode, false),
            Op::Release { lock, mode: LockMode::Exclusive } => self.lock_op("release", lock),
            Op::Release { lock, mode: LockMode::Shared } => self.lock_op("release_shared", lock),

            Op::WaitBegin { condition, lock } => {
                self.targeted("wait_begin", tables.condition(condition))?;
                self.name(Field::Lock, tables.lock(lock))
            }
            Op::WaitEnd { condition, lock, wake } => {
                self.targeted("wait_end", tables.condition(condition))?;
                self.name(Field::Lock, tables.lock(lock))?;
                self.word_unless(Field::Wake, WAKES, wake, Wake::Notified)
            }
            Op::Signal(condition) => self.targeted("signal", tables.condition(condition)),
            Op::Broadcast(condition) => self.targeted("broadcast", tables.condition(condition)),

            Op::SemaphoreWait(semaphore) => self.targeted("sem_wait", tables.semaphore(semaphore)),
            Op::SemaphorePost(semaphore) => self.targeted("sem_post", tables.semaphore(semaphore)),
            Op::BarrierArrive(barrier) => self.targeted("barrier", tables.barrier(barrier)),
            Op::BarrierLeave(barrier) => self.targeted("barrier_leave", tables.barrier(barrier)),
            Op::OnceBegin(once) => self.once(tables.once(once), Phase::Begin),
            Op::OnceEnd(once) => self.once(tables.once(once), Phase::End),
            Op::OncePass(once) => self.once(tables.once(once), Phase::Pass),

            Op::Fork(thread) => self.targeted("fork", tables.thread(thread)),
            Op::Join(thread) => self.targeted("join", tables.thread(thread)),
            Op::Start => self.put(Field::Op, "start"),
            Op::Finish => self.put(Field::Op, "finish"),

            Op::Allocate { object, size } => {
                self.targeted("alloc", tables.strings.get(object))?;
                self.put(Field::Size, &size)
            }
            Op::Free { object } => self.targeted("free", tables.strings.get(object)),

            Op::Branch { count } => {
                self.put(Field::Op, "branch")?;
                self.put(Field::Count, &count)
            }
            Op::Enter { function } => self.targeted("enter", tables.strings.get(function)),
            Op::Exit => self.put(Field::Op, "exit"),

            Op::RegionBegin(region) => self.region("begin", region),
            Op::RegionEnd(region) => self.region("end", region),

            Op::Input { channel, size, value } => {
                self.targeted("input", tables.strings.get(channel))?;
                self.size(size)?;
                self.value(Field::Value, value)
            }
            Op::Define { id, expr } => {
                self.put(Field::Op, "define")?;
                self.expr(id)?;
                self.definition(expr)
            }
            Op::Bind { expr, of } => {
                self.put(Field::Op, "bind")?;
                self.expr(expr)?;
                self.word_unless(Field::Of, BOUND, of, BoundValue::Read)
            }
            Op::Assume { expr, holds } => {
                self.put(Field::Op, "assume")?;
                self.expr(expr)?;
                self.put(Field::Holds, &holds)
            }

            Op::Mark { code } => {
                self.put(Field::Op, "mark")?;
                self.put(Field::Code, &code)
            }
        }
    }

    fn access(&mut self, op: &str, access: &Access) -> Result<(), SinkError> {
        self.put(Field::Op, op)?;
        self.location(access.location)?;
        self.size(access.size)?;
        self.value(Field::Value, access.value)?;
        self.order(access.order)?;
        self.more(access.more)
    }

    fn read_modify_write(&mut self, rmw: &ReadModifyWrite) -> Result<(), SinkError> {
        self.put(Field::Op, "rmw")?;
        self.location(rmw.location)?;
        self.success(rmw.success)?;
        self.size(u32::from(rmw.size))?;
        self.value(Field::Value, rmw.read)?;
        self.value(Field::Written, rmw.written)?;
        self.order(rmw.order)?;
        self.more(rmw.more)
    }

    fn try_acquire(&mut self, lock: LockId, mode: LockMode, success: bool) -> Result<(), SinkError> {
        self.lock_op("try_acquire", lock)?;
        self.word_unless(Field::Mode, MODES, mode, LockMode::Exclusive)?;
        self.success(success)
    }

    fn lock_op(&mut self, op: &str, lock: LockId) -> Result<(), SinkError> {
        self.targeted(op, self.tables.lock(lock))
    }

    fn once(&mut self, name: &str, phase: Phase) -> Result<(), SinkError> {
        self.targeted("once", name)?;
        self.word_unless(Field::Phase, PHASES, phase, Phase::Pass)
    }

    fn region(&mut self, op: &str, region: Region) -> Result<(), SinkError> {
        self.put(Field::Op, op)?;
        self.string_if_any(Field::Target, region.name)?;
        self.word(Field::Source, SOURCES, region.source)
    }

    fn definition(&mut self, expr: Expr) -> Result<(), SinkError> {
        match expr {
            Expr::Constant { width, bits } => {
                self.put(Field::Width, &width)?;
                self.put(Field::Bits, &bits)
            }
            Expr::Apply { operator, width, operands } => {
                self.put(Field::Operator, operator.name())?;
                self.put(Field::Width, &width)?;
                let names = operands.map(expr_name);
                self.put(Field::Operands, &names[..operator.arity()])
            }
        }
    }

    fn site(&mut self, site: SiteId) -> Result<(), SinkError> {
        let Site { file, function, line } = self.tables.site(site);
        self.string_if_any(Field::File, file)?;
        if let Some(line) = line {
            self.put(Field::Line, &line)?;
        }
        self.string_if_any(Field::Function, function)
    }

    fn location(&mut self, location: LocationId) -> Result<(), SinkError> {
        let Some(location) = self.tables.location(location) else {
            return Err(self.inexpressible("a location without a name".to_owned()));
        };
        self.name(Field::Target, self.tables.strings.get(location.object))?;
        if location.offset == 0 { Ok(()) } else { self.put(Field::Offset, &location.offset) }
    }

    fn targeted(&mut self, op: &str, target: &str) -> Result<(), SinkError> {
        self.put(Field::Op, op)?;
        self.name(Field::Target, target)
    }

    fn size(&mut self, size: u32) -> Result<(), SinkError> {
        if size == 0 { Ok(()) } else { self.put(Field::Size, &size) }
    }

    fn value(&mut self, field: Field, value: Value) -> Result<(), SinkError> {
        value.get().map_or(Ok(()), |bits| self.put(field, &bits))
    }

    fn order(&mut self, order: MemoryOrder) -> Result<(), SinkError> {
        if order == MemoryOrder::Plain { Ok(()) } else { self.word(Field::Order, ORDERS, order) }
    }

    fn more(&mut self, more: bool) -> Result<(), SinkError> {
        if more { self.put(Field::More, &true) } else { Ok(()) }
    }

    fn success(&mut self, success: bool) -> Result<(), SinkError> {
        if success { Ok(()) } else { self.put(Field::Success, &false) }
    }

    fn expr(&mut self, expr: ExprId) -> Result<(), SinkError> {
        self.put(Field::Expr, &expr_name(expr))
    }

    fn word<T: Copy + PartialEq>(&mut self, field: Field, among: &Words<T>, meaning: T) -> Result<(), SinkError> {
        words::word(among, meaning).map_or(Ok(()), |word| self.put(field, word))
    }

    fn word_unless<T: Copy + PartialEq>(
        &mut self,
        field: Field,
        among: &Words<T>,
        meaning: T,
        default: T,
    ) -> Result<(), SinkError> {
        if meaning == default { Ok(()) } else { self.word(field, among, meaning) }
    }

    fn string_if_any(&mut self, field: Field, string: Option<StringId>) -> Result<(), SinkError> {
        string.map_or(Ok(()), |string| self.name(field, self.tables.strings.get(string)))
    }

    /// A field whose text must not be empty.
    fn name(&mut self, field: Field, name: &str) -> Result<(), SinkError> {
        if name.is_empty() {
            return Err(self.inexpressible(format!("an empty name as \"{}\"", field.name())));
        }
        self.put(field, name)
    }

    fn put<T: Serialize + ?Sized>(&mut self, field: Field, value: &T) -> Result<(), SinkError> {
        self.buffer.push(if self.buffer.len() == self.start { b'{' } else { b',' });
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(field.name().as_bytes());
        self.buffer.extend_from_slice(b"\":");
        serde_json::to_writer(&mut *self.buffer, value).map_err(io::Error::from)?;
        Ok(())
    }

    fn close(&mut self) -> Result<(), SinkError> {
        self.buffer.push(b'}');
        if self.buffer.len() - self.start > LONGEST_LINE {
            return Err(self.inexpressible(format!("a line of more than {LONGEST_LINE} bytes")));
        }
        self.buffer.push(b'\n');
        Ok(())
    }

    fn inexpressible(&self, what: String) -> SinkError {
        SinkError::Inexpressible { index: self.index, format: "JSON Lines", what }
    }
}

fn expr_name(expr: ExprId) -> String {
    format!("e{}", expr.raw())
}
