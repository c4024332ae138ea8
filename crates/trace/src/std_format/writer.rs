//! Writing STD.

use crate::event::{Event, LockMode, MemoryOrder, Op, RegionSource};
use crate::stream::{EventSink, SinkError};
use crate::tables::{Location, Site, Tables};
use std::io::Write;

/// A writer of STD text.
///
/// The format has no words for most of the model. What it cannot say is an error that names the
/// event, unless the writer is lossy: then values and sizes are dropped, atomic accesses become
/// plain ones, and events without a counterpart are left out.
pub struct StdWriter<W> {
    output: W,
    lossy: bool,
    written: u64,
    text: String,
}

impl<W: Write> StdWriter<W> {
    /// A writer that refuses to lose anything.
    pub fn new(output: W) -> Self {
        StdWriter { output, lossy: false, written: 0, text: String::new() }
    }

    /// A writer that drops what the format cannot hold.
    pub fn lossy(output: W) -> Self {
        StdWriter { lossy: true, ..Self::new(output) }
    }

    fn line(&mut self, event: &Event, tables: &Tables) -> Result<(), String> {
        use std::fmt::Write as _;
        let verb = match self.verb(&event.op, tables)? {
            None => return Ok(()),
            Some(verb) => verb,
        };
        let Site { file, function, line } = tables.site(event.site);
        if !self.lossy && (file.is_some() || function.is_some()) {
            return Err("a file or function name".into());
        }
        let thread = checked_name(tables.thread(event.thread), false)?;
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{thread}|{verb}|{}", line.unwrap_or(0));
        Ok(())
    }

    /// The op field; `None` for what a lossy writer leaves out.
    fn verb(&self, op: &Op, tables: &Tables) -> Result<Option<String>, String> {
        let call = |verb: &str, operand: &str| Ok(Some(format!("{verb}({})", checked_name(operand, true)?)));
        let lossy = self.lossy;
        match op {
            Op::Read(access) | Op::Write(access) => {
                let plain = access.order == MemoryOrder::Plain && !access.more;
                if !lossy && (!plain || access.size != 0 || access.value.get().is_some()) {
                    return Err("the size, value or memory order of an access".into());
                }
                let verb = if matches!(op, Op::Read(_)) { "r" } else { "w" };
                call(verb, &location_name(tables, access.location)?)
            }
            Op::Acquire { lock, mode: LockMode::Exclusive, by } => match by {
                crate::event::Attempt::Try if !lossy => Err("a try-lock".into()),
                _ => call("acq", tables.lock(*lock)),
            },
            Op::Release { lock, mode: LockMode::Exclusive } => call("rel", tables.lock(*lock)),
            Op::Fork(thread) => call("fork", tables.thread(*thread)),
            Op::Join(thread) => call("join", tables.thread(*thread)),
            Op::RegionBegin(region) | Op::RegionEnd(region) => {
                if !lossy && (region.name.is_some() || region.source != RegionSource::Annotated) {
                    return Err("the name or source of a region".into());
                }
                if region.source != RegionSource::Annotated {
                    return Ok(None);
                }
                Ok(Some(if matches!(op, Op::RegionBegin(_)) { "begin" } else { "end" }.to_owned()))
            }
            // A wait gives the lock up and takes it again: that much STD can say.
            Op::WaitBegin { lock, .. } if lossy => call("rel", tables.lock(*lock)),
            Op::WaitEnd { lock, .. } if lossy => call("acq", tables.lock(*lock)),
            Op::ReadModifyWrite(rmw) if lossy => {
                call(if rmw.success { "w" } else { "r" }, &location_name(tables, rmw.location)?)
            }
            _ if lossy => Ok(None),
            other => Err(describe(other).to_owned()),
        }
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

fn location_name(tables: &Tables, id: crate::ids::LocationId) -> Result<String, String> {
    match tables.location(id) {
        Some(Location { object, offset: 0 }) => Ok(tables.strings.get(object).to_owned()),
        // `a+8` could also be an object of that name; nothing is lost to an analysis by that.
        _ => Ok(tables.location_name(id)),
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
