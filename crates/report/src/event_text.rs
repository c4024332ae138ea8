//! What an event does, in words.

use crate::printable::Printable;
use interloper_model::kind_name;
use interloper_trace::{Event, Expr, MemoryOrder, Op, Tables, Value};
use std::fmt::{self, Write as _};

/// What an event is about: a location, lock, thread, ….
pub(crate) fn target(op: &Op, tables: &Tables) -> Option<String> {
    Some(match op {
        Op::Read(access) | Op::Write(access) => tables.location_name(access.location),
        Op::ReadModifyWrite(rmw) => tables.location_name(rmw.location),
        Op::Request(lock) | Op::Acquire { lock, .. } | Op::TryAcquireFailed { lock, .. } | Op::Release { lock, .. } => {
            tables.lock(*lock).to_owned()
        }
        Op::WaitBegin { condition, .. }
        | Op::WaitEnd { condition, .. }
        | Op::Signal(condition)
        | Op::Broadcast(condition) => tables.condition(*condition).to_owned(),
        Op::SemaphoreWait(semaphore) | Op::SemaphorePost(semaphore) => tables.semaphore(*semaphore).to_owned(),
        Op::BarrierArrive(barrier) | Op::BarrierLeave(barrier) => tables.barrier(*barrier).to_owned(),
        Op::OnceBegin(once) | Op::OnceEnd(once) | Op::OncePass(once) => tables.once(*once).to_owned(),
        Op::Fork(thread) | Op::Join(thread) => tables.thread(*thread).to_owned(),
        Op::Allocate { object, .. } | Op::Free { object } => tables.strings.get(*object).to_owned(),
        Op::Enter { function } => tables.strings.get(*function).to_owned(),
        Op::RegionBegin(region) | Op::RegionEnd(region) => tables.strings.get(region.name?).to_owned(),
        Op::Input { channel, .. } => tables.strings.get(*channel).to_owned(),
        Op::Define { id, .. } => format!("e{}", id.raw()),
        Op::Bind { expr, .. } | Op::Assume { expr, .. } => format!("e{}", expr.raw()),
        Op::Fence(_) | Op::Start | Op::Finish | Op::Branch { .. } | Op::Exit | Op::Mark { .. } => return None,
    })
}

/// Appends what else is known of an event, after a space: values, sizes, outcomes.
pub(crate) fn push_details(out: &mut String, event: &Event, tables: &Tables) {
    let mut parts = Parts(out);
    match &event.op {
        Op::Read(access) | Op::Write(access) => {
            parts.value("= ", access.value);
            parts.size(u64::from(access.size));
            parts.order(access.order);
        }
        Op::ReadModifyWrite(rmw) => {
            parts.value("= ", rmw.read);
            parts.value("-> ", rmw.written);
            parts.size(u64::from(rmw.size));
            parts.order(rmw.order);
            if !rmw.success {
                parts.push(format_args!("failed"));
            }
        }
        Op::Fence(of) => parts.order(*of),
        Op::TryAcquireFailed { .. } => parts.push(format_args!("failed")),
        Op::WaitBegin { lock, .. } | Op::WaitEnd { lock, .. } => {
            parts.push(format_args!("with {}", tables.lock(*lock)));
        }
        Op::Allocate { size, .. } => parts.size(*size),
        Op::Branch { count } => parts.push(format_args!("x {count}")),
        Op::RegionBegin(region) | Op::RegionEnd(region) => parts.push(format_args!("{}", region.source.name())),
        Op::Input { size, value, .. } => {
            parts.value("= ", *value);
            parts.size(u64::from(*size));
        }
        Op::Define { expr: Expr::Constant { width, bits }, .. } => parts.push(format_args!("{bits} : {width}")),
        Op::Define { expr: Expr::Apply { operator, width, operands }, .. } => {
            let operands: Vec<String> =
                operands[..operator.arity()].iter().map(|operand| format!("e{}", operand.raw())).collect();
            parts.push(format_args!("{}({}) : {width}", operator.name(), operands.join(", ")));
        }
        Op::Bind { of, .. } => parts.push(format_args!("{}", format!("{of:?}").to_lowercase())),
        Op::Assume { holds, .. } => parts.push(format_args!("{holds}")),
        Op::OnceBegin(_) => parts.push(format_args!("begin")),
        Op::OnceEnd(_) => parts.push(format_args!("end")),
        Op::Mark { code } => parts.push(format_args!("code {code}")),
        _ => {}
    }
}

/// Appends things, each after a space.
struct Parts<'o>(&'o mut String);

impl Parts<'_> {
    fn push(&mut self, part: fmt::Arguments<'_>) {
        self.0.push(' ');
        let _ = self.0.write_fmt(part);
    }

    fn value(&mut self, prefix: &str, value: Value) {
        if let Some(value) = value.get() {
            self.push(format_args!("{prefix}{value}"));
        }
    }

    fn size(&mut self, size: u64) {
        if size > 0 {
            self.push(format_args!("{size} B"));
        }
    }

    fn order(&mut self, order: MemoryOrder) {
        if order != MemoryOrder::Plain {
            self.push(format_args!("{order:?}"));
        }
    }
}

/// Appends the verb and target of an event as one phrase.
pub(crate) fn push_phrase(out: &mut String, op: &Op, tables: &Tables) {
    out.push_str(kind_name(op));
    if let Some(target) = target(op, tables) {
        out.push('(');
        out.push_str(&target);
        out.push(')');
    }
}

/// A place in the source, safe to print.
pub(crate) fn place(file: Option<&str>, line: Option<i64>, function: Option<&str>) -> String {
    let mut text = String::new();
    push_place(&mut text, file, line, function);
    text
}

/// Appends a place in the source, safe to print.
pub(crate) fn push_place(out: &mut String, file: Option<&str>, line: Option<i64>, function: Option<&str>) {
    let _ = match (file, line) {
        (Some(file), Some(line)) => {
            push_printable(out, file);
            write!(out, ":{line}")
        }
        (Some(file), None) => {
            push_printable(out, file);
            Ok(())
        }
        (None, Some(line)) => write!(out, "line {line}"),
        (None, None) if function.is_some() => write!(out, "somewhere"),
        (None, None) => write!(out, "an unknown place"),
    };
    if let Some(function) = function {
        out.push_str(" in ");
        push_printable(out, function);
    }
}

/// Appends text, safe to print. Almost all is as it stands.
pub(crate) fn push_printable(out: &mut String, text: &str) {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        out.push_str(text);
    } else {
        let _ = write!(out, "{}", Printable(text));
    }
}
