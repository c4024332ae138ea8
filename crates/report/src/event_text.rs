//! What an event does, in words.

use crate::printable::Printable;
use interloper_model::kind_name;
use interloper_trace::{Event, Expr, MemoryOrder, Op, Tables};
use std::fmt::Write as _;

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

/// What else is known of an event: values, sizes, outcomes.
pub(crate) fn details(event: &Event, tables: &Tables) -> String {
    let known = |prefix: &str, value: Option<u64>| value.map(|value| format!("{prefix}{value}"));
    let order = |order: MemoryOrder| (order != MemoryOrder::Plain).then(|| format!("{order:?}"));
    let size = |size: u64| (size > 0).then(|| format!("{size} B"));
    let parts: Vec<Option<String>> = match &event.op {
        Op::Read(access) | Op::Write(access) => {
            vec![known("= ", access.value.get()), size(u64::from(access.size)), order(access.order)]
        }
        Op::ReadModifyWrite(rmw) => vec![
            known("= ", rmw.read.get()),
            known("-> ", rmw.written.get()),
            size(u64::from(rmw.size)),
            order(rmw.order),
            (!rmw.success).then(|| "failed".to_owned()),
        ],
        Op::Fence(of) => vec![order(*of)],
        Op::TryAcquireFailed { .. } => vec![Some("failed".to_owned())],
        Op::WaitBegin { lock, .. } | Op::WaitEnd { lock, .. } => vec![Some(format!("with {}", tables.lock(*lock)))],
        Op::Allocate { size: bytes, .. } => vec![size(*bytes)],
        Op::Branch { count } => vec![Some(format!("x {count}"))],
        Op::RegionBegin(region) | Op::RegionEnd(region) => vec![Some(region.source.name().to_owned())],
        Op::Input { size: bytes, value, .. } => vec![known("= ", value.get()), size(u64::from(*bytes))],
        Op::Define { expr, .. } => vec![Some(match expr {
            Expr::Constant { width, bits } => format!("{bits} : {width}"),
            Expr::Apply { operator, width, operands } => {
                let operands: Vec<String> =
                    operands[..operator.arity()].iter().map(|operand| format!("e{}", operand.raw())).collect();
                format!("{}({}) : {width}", operator.name(), operands.join(", "))
            }
        })],
        Op::Bind { of, .. } => vec![Some(format!("{of:?}").to_lowercase())],
        Op::Assume { holds, .. } => vec![Some(holds.to_string())],
        Op::OnceBegin(_) => vec![Some("begin".to_owned())],
        Op::OnceEnd(_) => vec![Some("end".to_owned())],
        Op::Mark { code } => vec![Some(format!("code {code}"))],
        _ => Vec::new(),
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The verb and target of an event as one phrase.
pub(crate) fn phrase(op: &Op, tables: &Tables) -> String {
    match target(op, tables) {
        Some(target) => format!("{}({target})", kind_name(op)),
        None => kind_name(op).to_owned(),
    }
}

/// A place in the source, safe to print.
pub(crate) fn place(file: Option<&str>, line: Option<i64>, function: Option<&str>) -> String {
    let mut text = match (file, line) {
        (Some(file), Some(line)) => format!("{}:{line}", Printable(file)),
        (Some(file), None) => Printable(file).to_string(),
        (None, Some(line)) => format!("line {line}"),
        (None, None) if function.is_some() => "somewhere".to_owned(),
        (None, None) => "an unknown place".to_owned(),
    };
    if let Some(function) = function {
        let _ = write!(text, " in {}", Printable(function));
    }
    text
}
