//! The answer about the observed order.

use crate::html::Html;
use crate::text::{name, short};
use interloper_report::read::{CycleEvent, CycleStep, Serial};

/// The cycle that makes an order not serializable, as a list.
pub(crate) fn cycle(html: &mut Html, serial: &Serial) {
    if serial.cycle.is_empty() {
        return;
    }
    html.raw("<section class=\"finding\" aria-labelledby=\"cycle-title\"><h2 id=\"cycle-title\">The cycle</h2>");
    html.raw("<ol class=\"cycle\">");
    for step in &serial.cycle {
        html.raw("<li>").element("strong", "", &transaction(step));
        html.raw("<p>");
        event(html, &step.enter);
        if step.enter.index != step.leave.index {
            html.raw("<br>");
            event(html, &step.leave);
        }
        html.raw("</p>").element("p", "quiet", &why(step)).raw("</li>");
    }
    html.raw("</ol></section>");
}

fn transaction(step: &CycleStep) -> String {
    let thread = short(&name(&step.thread));
    match &step.region {
        Some(region) => {
            let end = region.end.map_or("the end of the trace".to_owned(), |end| end.to_string());
            format!("Region of {thread}, event {} to {end}", region.begin)
        }
        None => format!("{thread}, outside of regions"),
    }
}

fn why(step: &CycleStep) -> String {
    match (step.conflict.as_str(), &step.on) {
        ("program-order", _) => "comes before the next, being earlier in the same thread".to_owned(),
        ("access", Some(on)) => format!("comes before the next, both accessing {}", name(on)),
        (kind, Some(on)) => format!("comes before the next by {} {}", name(kind), name(on)),
        (kind, None) => format!("comes before the next by {}", name(kind)),
    }
}

fn event(html: &mut Html, event: &CycleEvent) {
    let target = event.target.as_deref().map_or(String::new(), |target| format!("({})", short(&name(target))));
    html.text(&format!("event {}: {}{target} at ", event.index, name(&event.op)));
    crate::finding::place(html, event.file.as_deref(), event.line, event.function.as_deref());
}
