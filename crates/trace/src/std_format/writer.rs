//! Writing STD.

use crate::event::{Access, Attempt, Event, LockMode, MemoryOrder, Op, RegionSource};
use crate::ids::LocationId;
use crate::stream::{EventSink, SinkError};
use crate::tables::{Location, Site, Tables};
use crate::wellformed::{Rules, WellFormed};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write;

/// A writer of STD text.
///
/// The format has no words for most of the model. What it cannot say is an error that names the
/// event, unless the writer is lossy: then values and sizes are dropped, atomic accesses become
/// plain ones, and events without a counterpart are left out. What would break the rules of STD is an
/// error in any case, so whatever is written can be read back.
pub struct StdWriter<W> {
    output: W,
    lossy: bool,
    written: u64,
    text: String,
    wellformed: WellFormed,
}

impl<W: Write> StdWriter<W> {
    /// A writer that refuses to lose anything.
    pub fn new(output: W) -> Self {
        StdWriter { output, lossy: false, written: 0, text: String::new(), wellformed: WellFormed::new(Rules::Std) }
    }

    /// A writer that drops what the format cannot hold.
    pub fn lossy(output: W) -> Self {
        StdWriter { lossy: true, ..Self::new(output) }
    }

    fn line(&mut self, event: &Event, tables: &Tables) -> Result<(), String> {
        let Some(op) = self.translate(&event.op)? else { return Ok(()) };
        let Site { file, function, line } = tables.site(event.site);
        if !self.lossy && (file.is_some() || function.is_some()) {
            return Err("a file or function name".into());
        }
        let said = Event { op, ..*event };
        self.wellformed.check(&said, tables).map_err(|breach| breach.found)?;
        let thread = checked_name(tables.thread(event.thread), false)?;
        let (verb, operand) = phrase(&op, tables);
        // Writing to a string does not fail.
        let _ = match operand {
            Some(operand) => {
                writeln!(self.text, "{thread}|{verb}({})|{}", checked_name(&operand, true)?, line.unwrap_or(0))
            }
            None => writeln!(self.text, "{thread}|{verb}|{}", line.unwrap_or(0)),
        };
        Ok(())
    }

    /// What STD says instead; `None` for what a lossy writer leaves out.
    fn translate(&self, op: &Op) -> Result<Option<Op>, String> {
        let lossy = self.lossy;
        match op {
            Op::Read(access) | Op::Write(access) => {
                let plain = access.order == MemoryOrder::Plain && !access.more;
                if !lossy && (!plain || access.size != 0 || access.value.get().is_some()) {
                    return Err("the size, value or memory order of an access".into());
                }
                Ok(Some(*op))
            }
            Op::Acquire { by: Attempt::Try, mode: LockMode::Exclusive, .. } if !lossy => Err("a try-lock".into()),
            Op::Acquire { mode: LockMode::Exclusive, .. }
            | Op::Release { mode: LockMode::Exclusive, .. }
            | Op::Fork(_)
            | Op::Join(_) => Ok(Some(*op)),
            Op::RegionBegin(region) | Op::RegionEnd(region) => {
                let annotated = region.source == RegionSource::Annotated;
                if !lossy && (region.name.is_some() || !annotated) {
                    return Err("the name or source of a region".into());
                }
                Ok(annotated.then_some(*op))
            }
            // A wait gives the lock up and takes it again: that much STD can say.
            Op::WaitBegin { lock, .. } if lossy => Ok(Some(Op::Release { lock: *lock, mode: LockMode::Exclusive })),
            Op::WaitEnd { lock, .. } if lossy => {
                Ok(Some(Op::Acquire { lock: *lock, mode: LockMode::Exclusive, by: Attempt::Blocking }))
            }
            Op::ReadModifyWrite(rmw) if lossy => {
                let access = Access::bare(rmw.location);
                Ok(Some(if rmw.success { Op::Write(access) } else { Op::Read(access) }))
            }
            _ if lossy => Ok(None),
            other => Err(describe(other).to_owned()),
        }
    }
}

/// The word for an operation that STD has, and what it is done to.
fn phrase<'t>(op: &Op, tables: &'t Tables) -> (&'static str, Option<Cow<'t, str>>) {
    match op {
        Op::Read(access) => ("r", Some(location_name(tables, access.location))),
        Op::Write(access) => ("w", Some(location_name(tables, access.location))),
        Op::Acquire { lock, .. } => ("acq", Some(tables.lock(*lock).into())),
        Op::Release { lock, .. } => ("rel", Some(tables.lock(*lock).into())),
        Op::Fork(thread) => ("fork", Some(tables.thread(*thread).into())),
        Op::Join(thread) => ("join", Some(tables.thread(*thread).into())),
        Op::RegionBegin(_) => ("begin", None),
        _ => ("end", None),
    }
}

impl<W: Write> EventSink for StdWriter<W> {
    fn write(&mut self, events: &[Event], tables: &Tables) -> Result<(), SinkError> {
        self.text.clear();
        for event in events {
            if let Err(what) = self.line(event, tables) {
                return Err(SinkError::Inexpressible { index: self.written, format: "STD", what });
            }
            self.written += 1;
        }
        self.output.write_all(self.text.as_bytes())?;
        Ok(())
    }

    fn finish(&mut self, _tables: &Tables) -> Result<(), SinkError> {
        Ok(self.output.flush()?)
    }
}

fn location_name(tables: &Tables, id: LocationId) -> Cow<'_, str> {
    match tables.location(id) {
        Some(Location { object, offset: 0 }) => tables.strings.get(object).into(),
        // `a+8` could also be an object of that name; nothing is lost to an analysis by that.
        _ => tables.location_name(id).into(),
    }
}

/// STD has no escaping, so some names cannot be written.
fn checked_name(name: &str, operand: bool) -> Result<&str, String> {
    let forbidden = |c: char| matches!(c, '|' | '\n') || (operand && c.is_whitespace());
    if name.is_empty() || name.contains(forbidden) {
        return Err(format!("the name {}", crate::error::quote(name.as_bytes())));
    }
    Ok(name)
}

fn describe(op: &Op) -> &'static str {
    match op {
        Op::ReadModifyWrite(_) => "a read-modify-write",
        Op::Fence(_) => "a fence",
        Op::Request(_) => "a lock request",
        Op::Acquire { .. } | Op::Release { .. } => "a shared lock",
        Op::TryAcquireFailed { .. } => "a failed try-lock",
        Op::WaitBegin { .. } | Op::WaitEnd { .. } | Op::Signal(_) | Op::Broadcast(_) => "a condition variable",
        Op::SemaphoreWait(_) | Op::SemaphorePost(_) => "a semaphore",
        Op::BarrierArrive(_) | Op::BarrierLeave(_) => "a barrier",
        Op::OnceBegin(_) | Op::OnceEnd(_) | Op::OncePass(_) => "a once-initialiser",
        Op::Start | Op::Finish => "the start or end of a thread",
        Op::Allocate { .. } | Op::Free { .. } => "an allocation",
        Op::Branch { .. } => "branches",
        Op::Enter { .. } | Op::Exit => "function entry or exit",
        Op::Input { .. } => "input",
        Op::Define { .. } | Op::Bind { .. } | Op::Assume { .. } => "a symbolic expression",
        Op::Mark { .. } => "a foreign event",
        Op::Read(_) | Op::Write(_) | Op::Fork(_) | Op::Join(_) | Op::RegionBegin(_) | Op::RegionEnd(_) => "this event",
    }
}
