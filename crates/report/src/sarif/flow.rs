//! What threads do in a violation, as code flows: one, with a flow for each thread.

use super::access_text;
use super::message::{message, name};
use super::place::{Place, Places, location};
use crate::result::{CycleEvent, Finding, FindingEvent, ThreadBirth};
use serde_json::{Value, json};

/// Viewers show no more locations of a result's thread flows.
const MOST_LOCATIONS: usize = 1_000;

/// A step of a code flow.
pub(super) struct Step<'f> {
    thread: &'f str,
    pub(super) place: Place<'f>,
    pub(super) text: String,
    importance: &'static str,
    /// A variable, and its value then.
    state: Option<(String, String)>,
}

impl<'f> Step<'f> {
    fn of_birth(birth: &'f ThreadBirth) -> Step<'f> {
        let (file, function) = (birth.file.as_deref(), birth.function.as_deref());
        Step {
            thread: &birth.by,
            place: Place { file, line: birth.line, function, index: birth.index, variable: "" },
            text: format!("{} creates {}", name(&birth.by), name(&birth.thread)),
            importance: "important",
            state: None,
        }
    }

    fn of_access(number: usize, event: &'f FindingEvent, variable: &'f str) -> Step<'f> {
        let value = event.written.or(event.read);
        Step {
            thread: &event.thread,
            place: access_place(event, variable),
            text: format!("({number}) {}", access_text(event)),
            importance: "essential",
            state: value.map(|value| (name(variable), value.to_string())),
        }
    }

    pub(super) fn of_cycle(thread: &'f str, event: &'f CycleEvent) -> Step<'f> {
        let target = event.target.as_deref().map_or(String::new(), |target| format!(" {}", name(target)));
        let variable = event.target.as_deref().unwrap_or_default();
        let (file, function) = (event.file.as_deref(), event.function.as_deref());
        Step {
            thread,
            place: Place { file, line: event.line, function, index: event.index, variable },
            text: format!("{}: {}{target}", name(thread), event.op),
            importance: "essential",
            state: None,
        }
    }
}

/// Where an access is in the source.
pub(super) fn access_place<'f>(event: &'f FindingEvent, variable: &'f str) -> Place<'f> {
    let (file, function) = (event.file.as_deref(), event.function.as_deref());
    Place { file, line: event.line, function, index: event.index, variable }
}

/// The creations of threads, and the three accesses, in the order of the violation.
pub(super) fn flow_steps(finding: &Finding) -> Vec<Step<'_>> {
    let own = finding.region.thread.as_str();
    let first = match finding.execution.as_ref().and_then(|execution| execution.events) {
        Some(events) => events[0],
        None => finding.events.first().map_or(0, |event| event.index),
    };
    let mut births: Vec<&ThreadBirth> = finding.threads.iter().collect();
    births.sort_by_key(|birth| birth.index);
    // What the region itself creates after its first access comes after that; whatever else is created, before.
    let (late, early): (Vec<&ThreadBirth>, Vec<_>) =
        births.into_iter().partition(|birth| birth.by == own && birth.index > first);
    let mut steps: Vec<Step<'_>> = early.into_iter().map(Step::of_birth).collect();
    let mut late = late.into_iter();
    for (number, event) in (1..).zip(&finding.events) {
        steps.push(Step::of_access(number, event, &finding.variable.name));
        steps.extend(late.by_ref().map(Step::of_birth));
    }
    steps
}

/// One code flow, with a flow for each thread.
pub(super) fn code_flows(steps: &[Step<'_>], places: &Places) -> Vec<Value> {
    let mut threads: Vec<(&str, Vec<Value>)> = Vec::new();
    for (order, step) in (1..).zip(steps.iter().take(MOST_LOCATIONS)) {
        let mut own = json!({
            "executionOrder": order,
            "importance": step.importance,
            "location": location(step.place, &step.text, places),
        });
        if let Some((variable, value)) = &step.state {
            own["state"] = json!({variable.as_str(): {"text": value}});
        }
        match threads.iter_mut().find(|(thread, _)| *thread == step.thread) {
            Some((_, locations)) => locations.push(own),
            None => threads.push((step.thread, vec![own])),
        }
    }
    if threads.is_empty() {
        return Vec::new();
    }
    let flow = |(thread, locations): (&str, Vec<Value>)| {
        let name = name(thread);
        json!({"id": name, "message": {"text": message(&name)}, "locations": locations})
    };
    vec![json!({"threadFlows": threads.into_iter().map(flow).collect::<Vec<_>>()})]
}
