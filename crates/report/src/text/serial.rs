//! Whether the observed order was serializable, for people.

use super::finding::{events_text, region_text};
use crate::event_text::place;
use crate::printable::{shortened, shown};
use crate::result::{CycleEvent, CycleStep, Serial};
use crate::wrap::wrapped;
use std::fmt::Write as _;

pub(super) fn answer(out: &mut String, serial: &Serial) {
    out.push('\n');
    match serial.serializable {
        Some(true) => wrapped(
            out,
            "",
            "",
            "The observed order is conflict-serializable: some order of whole regions gives the same outcome. Other \
             schedules of the program may still go wrong.",
        ),
        None => out.push_str("No violation in what was read; the rest was not looked at.\n"),
        Some(false) => {
            let at = serial.at.unwrap_or_default();
            let _ = writeln!(out, "The observed order is not conflict-serializable: event {at} closes a cycle.\n");
            cycle(out, &serial.cycle);
        }
    }
}

/// A cycle as a chain that comes back to where it began: each link must come before the next.
fn cycle(out: &mut String, steps: &[CycleStep]) {
    for (number, step) in steps.iter().enumerate() {
        wrapped(out, "   ", "     ", &transaction_text(step));
        // The first is entered last, by the event that closes the cycle.
        if number > 0 && step.enter.index != step.leave.index {
            cycle_event(out, &step.enter);
        }
        cycle_event(out, &step.leave);
        let why = match (step.conflict, &step.on) {
            ("program-order", _) => "being earlier in the same thread".to_owned(),
            ("access", Some(on)) => format!("both accessing {}", shown(on)),
            (kind, Some(on)) => format!("by {kind} {}", shown(on)),
            (kind, None) => format!("by {kind}"),
        };
        wrapped(out, " > ", "   ", &format!("which comes before, {why},"));
    }
    if let Some(first) = steps.first() {
        wrapped(out, "   ", "     ", &format!("{}, again", transaction_text(first)));
        cycle_event(out, &first.enter);
    }
}

fn transaction_text(step: &CycleStep) -> String {
    match &step.region {
        Some(region) => format!("the region {}, {}", region_text(region), events_text(region)),
        None => format!("{}, outside of regions", shown(&step.thread)),
    }
}

fn cycle_event(out: &mut String, event: &CycleEvent) {
    let target = event.target.as_deref().map_or(String::new(), |target| format!("({})", shown(target)));
    let file = event.file.as_deref().map(|file| shortened(file, 200));
    let function = event.function.as_deref().map(|function| shortened(function, 100));
    let place = place(file.as_deref(), event.line, function.as_deref());
    wrapped(out, "     ", "       ", &format!("event {}: {}{target} at {place}", event.index, event.op));
}
