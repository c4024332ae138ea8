//! The answer about the observed values.

use crate::event_text::place;
use crate::printable::Printable;
use crate::result::{Atomic, FindingEvent};
use crate::wrap::wrapped;

/// Says whether a serial order explains the observed values.
pub(super) fn answer(out: &mut String, atomic: &Atomic) {
    out.push('\n');
    let answer = match atomic.verdict {
        "atomic" => {
            "Atomic: some order of whole regions, one after the other, gives every read the value it returned and every \
             location its final value. Other schedules of the program may still go wrong."
        }
        "unknown" => "Whether this is atomic cannot be told.",
        _ => {
            "Not atomic: no order of whole regions, one after the other, gives every read the value it returned and \
             every location its final value."
        }
    };
    wrapped(out, "", "", answer);
    let (Some(pattern), [first, remote, second]) = (atomic.pattern, &atomic.accesses[..]) else { return };
    let variable = atomic.variable.as_deref().map_or(String::new(), |name| format!(" on {}", Printable(name)));
    wrapped(out, "", "", &format!("These three accesses prove it ({pattern}{variable}):"));
    for event in [first, remote, second] {
        let place = place(event.file.as_deref(), event.line, event.function.as_deref());
        wrapped(out, "     ", "       ", &format!("event {}: {} at {place}", event.index, actor(event)));
    }
}

fn actor(event: &FindingEvent) -> String {
    let verb = match event.op {
        "r" => "reads",
        "w" => "writes",
        _ => "reads and writes",
    };
    format!("{} {verb}", Printable(&event.thread))
}
