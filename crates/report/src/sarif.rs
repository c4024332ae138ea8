//! The result as SARIF 2.1.0, for viewers of code scanning.
//!
//! A finding is a result with one code flow: a thread flow for each thread, whose locations say in which order they are
//! executed. (1), (2) and (3) are the related locations of these numbers, and the message refers to them.
//!
//! Viewers take no more than so much. The numbers here are the ones that GitHub's documentation gave in 2026 for what it
//! shows: 5,000 results of a run, 1,000 locations of thread flows of a result; and 1,024 letters of a description. What is
//! left out is said in a notification.
//!
//! Paths are relative to the root of the sources. Text of the input cannot act: it has no control characters, and what
//! would be a link or a placeholder in a message is taken apart.

use crate::order;
use crate::printable::{Printable, shortened};
use crate::result::{CycleEvent, Document, Finding, FindingEvent, Serial, Suppression, ThreadBirth, Verdict};
use crate::words::{self, PATTERNS};
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

/// Viewers show no more results of a run.
const MOST_RESULTS: usize = 5_000;
/// Viewers show no more locations of a result's thread flows.
const MOST_LOCATIONS: usize = 1_000;
/// Viewers cut longer messages.
const LONGEST_TEXT: usize = 1_000;
/// Longer names tell nobody more.
const LONGEST_NAME: usize = 200;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const ROOT: &str = "SRCROOT";
const SERIAL_RULE: &str = "SERIAL";

/// Where things are.
#[derive(Clone, Debug)]
pub struct Places {
    /// What relative names are relative to.
    pub folder: PathBuf,
    /// What paths are written relative to: the root of the sources.
    pub root: PathBuf,
    /// The trace, if its lines are its events: findings without a place in the source are shown there.
    pub lines: Option<String>,
}

/// Renders a result.
pub fn render(document: &Document, places: &Places) -> Value {
    let mut findings: Vec<&Finding> = document.findings.iter().collect();
    findings.sort_by_key(|finding| order::rank(finding));
    findings.retain(|finding| finding.verdict != Verdict::Infeasible);
    let left_out = findings.len().saturating_sub(MOST_RESULTS);
    let shown = findings.into_iter().take(MOST_RESULTS).map(|finding| result(finding, None, places));
    let suppressed = document.suppressed.iter().take(MOST_RESULTS - shown.len());
    let suppressed = suppressed.map(|own| result(&own.finding, Some(&own.suppression), places));
    let serial = document.serial.iter().filter(|serial| serial.serializable == Some(false));
    let mut results: Vec<Value> = shown.chain(suppressed).chain(serial.map(|own| serial_result(own, places))).collect();
    let mut notes: Vec<String> = document.notes.clone();
    if left_out > 0 {
        notes.push(format!("{left_out} further findings are left out, for viewers do not take them; JSON has all"));
    }
    let notifications: Vec<Value> =
        notes.iter().map(|note| json!({"level": "note", "message": {"text": message(note)}})).collect();
    let has_baseline = document.findings.iter().any(|finding| finding.known);
    if !has_baseline {
        results.iter_mut().filter_map(Value::as_object_mut).for_each(|result| {
            result.remove("baselineState");
        });
    }
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "Interloper",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules(),
            }},
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {ROOT: {"uri": folder_uri(&places.root)}},
            "invocations": [{"executionSuccessful": true, "toolExecutionNotifications": notifications}],
            "results": results,
            "properties": {
                "model": document.model,
                "property": document.property,
                "memoryModel": document.memory_model,
                "counts": document.counts,
            },
        }],
    })
}

fn rules() -> Vec<Value> {
    let triples = PATTERNS.iter().map(|pattern| {
        let help = format!("{} {} {}", pattern.summary, pattern.effect, pattern.remedy);
        let markdown = format!(
            "{} {}\n\n**What to do.** {}\n\nThe three letters of `{}` are what the accesses are: of the step, of the other \
             thread, of the step again; `R` reads, `W` writes.",
            pattern.summary, pattern.effect, pattern.remedy, pattern.id
        );
        rule(pattern.id, pattern.name, pattern.summary, pattern.effect, &help, &markdown)
    });
    let serial = rule(
        SERIAL_RULE,
        "NotSerializable",
        "The observed order is not conflict-serializable.",
        "No order of whole steps has the outcome of the run that was observed.",
        "Steps got in between each other's parts. Follow the cycle: one of its links has to be prevented by a lock that \
         is held over the whole step.",
        "Steps got in between each other's parts. Follow the cycle: one of its links has to be prevented by a lock that \
         is held over the **whole** step.",
    );
    triples.chain([serial]).collect()
}

fn rule(id: &str, name: &str, short: &str, full: &str, help: &str, markdown: &str) -> Value {
    json!({
        "id": id,
        "name": name,
        "shortDescription": {"text": short},
        "fullDescription": {"text": full},
        "help": {"text": help, "markdown": markdown},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["concurrency", "atomicity", "correctness"], "problem.severity": "warning"},
    })
}

fn result(finding: &Finding, suppression: Option<&Suppression>, places: &Places) -> Value {
    let (kind, level) = match (finding.verdict, finding.harm) {
        (_, Some("benign")) => ("informational", "none"),
        (Verdict::Confirmed, _) => ("fail", "error"),
        (Verdict::Feasible | Verdict::Plausible, _) => ("fail", "warning"),
        (Verdict::Possible, _) => ("fail", "note"),
        (Verdict::Unknown | Verdict::Infeasible, _) => ("open", "none"),
    };
    let rule_index = PATTERNS.iter().position(|pattern| pattern.id == finding.pattern);
    let related: Vec<Value> = (1..)
        .zip(&finding.events)
        .map(|(number, event)| {
            let mut location = location(event_place(event), &format!("({number}) {}", access_text(event)), places);
            location["id"] = json!(number);
            location
        })
        .filter(has_place)
        .collect();
    let primary = finding.events.first().map(|event| location(event_place(event), &access_text(event), places));
    let text_of = if related.len() == 3 { linked } else { message };
    let suppressions: Vec<Value> = suppression
        .map(|own| {
            let kind = if own.kind == "source" { "inSource" } else { "external" };
            json!({"kind": kind, "status": "accepted", "justification": text(&own.to_string(), LONGEST_TEXT)})
        })
        .into_iter()
        .collect();
    json!({
        "ruleId": finding.pattern,
        "ruleIndex": rule_index.map_or(-1, |index| index as i64),
        "kind": kind,
        "level": level,
        "message": {"text": text_of(&finding_text(finding))},
        "locations": primary.filter(has_place).into_iter().collect::<Vec<_>>(),
        "relatedLocations": related,
        "codeFlows": code_flows(&flow_steps(finding), places),
        "partialFingerprints": {
            "interloperFinding/v1": finding.id,
            "primaryLocationLineHash": format!("{}:1", finding.id),
        },
        "baselineState": if finding.known { "unchanged" } else { "new" },
        "suppressions": suppressions,
        "properties": {
            "id": finding.id,
            "verdict": finding.verdict.name(),
            "harm": finding.harm,
            "variable": text(&finding.variable.name, LONGEST_TEXT),
            "region": finding.region.name.as_deref().map(|name| text(name, LONGEST_TEXT)),
            "regionSource": finding.region.source,
            "replay": finding.replay,
            "schedule": finding.witness.as_ref().map(|witness| text(&witness.schedule, LONGEST_TEXT)),
        },
    })
}

/// What is said of a finding.
fn finding_text(finding: &Finding) -> String {
    let harm = finding.harm.map_or(String::new(), |harm| format!(" ({harm})"));
    let mut parts =
        vec![format!("{}{harm} {} on {}.", finding.verdict.name(), finding.pattern, name(&finding.variable.name))];
    parts.push(words::verdict_sentence(finding));
    for (number, event) in (1..).zip(&finding.events) {
        parts.push(format!("({number}) {}.", access_text(event)));
    }
    parts.push(words::consequence(finding));
    parts.push(format!("Not prevented: {}", words::why(finding)));
    parts.extend(finding.reason.as_ref().map(|reason| format!("{}: {reason}.", finding.verdict.name())));
    parts.extend(finding.replay.as_ref().map(|replay| format!("Replay: {replay}")));
    parts.join(" ")
}

fn access_text(event: &FindingEvent) -> String {
    let held = match event.held.as_deref() {
        None => String::new(),
        Some([]) => ", holding no lock".to_owned(),
        Some(held) => format!(", holding {}", words::lock_names(held)),
    };
    let remote = if event.role == "remote" { " in between" } else { "" };
    format!("{} {}{remote}{held}", name(&event.thread), words::access(event))
}

/// A place in the source, or else in the trace.
#[derive(Clone, Copy)]
struct Place<'f> {
    file: Option<&'f str>,
    line: Option<i64>,
    function: Option<&'f str>,
    index: u64,
}

fn event_place(event: &FindingEvent) -> Place<'_> {
    let (file, function) = (event.file.as_deref(), event.function.as_deref());
    Place { file, line: event.line, function, index: event.index }
}

/// A step of a code flow.
struct Step<'f> {
    thread: &'f str,
    place: Place<'f>,
    text: String,
    importance: &'static str,
    /// A variable, and its value then.
    state: Option<(String, String)>,
}

impl<'f> Step<'f> {
    fn of_birth(birth: &'f ThreadBirth) -> Step<'f> {
        let (file, function) = (birth.file.as_deref(), birth.function.as_deref());
        Step {
            thread: &birth.by,
            place: Place { file, line: birth.line, function, index: birth.index },
            text: format!("{} creates {}", name(&birth.by), name(&birth.thread)),
            importance: "important",
            state: None,
        }
    }

    fn of_access(number: usize, event: &'f FindingEvent, variable: &str) -> Step<'f> {
        let value = event.written.or(event.read);
        Step {
            thread: &event.thread,
            place: event_place(event),
            text: format!("({number}) {}", access_text(event)),
            importance: "essential",
            state: value.map(|value| (name(variable), value.to_string())),
        }
    }

    fn of_cycle(thread: &'f str, event: &'f CycleEvent) -> Step<'f> {
        let target = event.target.as_deref().map_or(String::new(), |target| format!(" {}", name(target)));
        let (file, function) = (event.file.as_deref(), event.function.as_deref());
        Step {
            thread,
            place: Place { file, line: event.line, function, index: event.index },
            text: format!("{}: {}{target}", name(thread), event.op),
            importance: "essential",
            state: None,
        }
    }
}

/// The creations of threads, and the three accesses, in the order of the violation.
fn flow_steps(finding: &Finding) -> Vec<Step<'_>> {
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
fn code_flows(steps: &[Step<'_>], places: &Places) -> Vec<Value> {
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

fn serial_result(serial: &Serial, places: &Places) -> Value {
    let steps: Vec<Step<'_>> = serial
        .cycle
        .iter()
        .flat_map(|step| [&step.enter, &step.leave].map(|event| Step::of_cycle(&step.thread, event)))
        .collect();
    let at = serial.at.unwrap_or_default();
    let text = format!(
        "The observed order is not conflict-serializable: event {at} closes a cycle of {} steps.",
        serial.cycle.len()
    );
    let primary = steps.first().map(|step| location(step.place, &step.text, places));
    json!({
        "ruleId": SERIAL_RULE,
        "ruleIndex": PATTERNS.len(),
        "kind": "fail",
        "level": "warning",
        "message": {"text": text},
        "locations": primary.filter(has_place).into_iter().collect::<Vec<_>>(),
        "codeFlows": code_flows(&steps, places),
    })
}

/// A location, as far as it is known.
fn location(place: Place<'_>, text: &str, places: &Places) -> Value {
    let mut location = json!({"message": {"text": message(text)}});
    let line = |line: Option<i64>| line.filter(|line| (1..=i64::from(i32::MAX)).contains(line));
    let physical = match (place.file, &places.lines) {
        (Some(file), _) => Some((file, line(place.line))),
        (None, Some(trace)) => Some((trace.as_str(), line(i64::try_from(place.index + 1).ok()))),
        (None, None) => None,
    };
    if let Some((file, line)) = physical {
        location["physicalLocation"] = json!({"artifactLocation": artifact(file, places)});
        if let Some(line) = line {
            location["physicalLocation"]["region"] = json!({"startLine": line});
        }
    }
    if let Some(function) = place.function {
        location["logicalLocations"] = json!([{"fullyQualifiedName": name(function), "kind": "function"}]);
    }
    location
}

fn has_place(location: &Value) -> bool {
    location.get("physicalLocation").is_some()
}

/// A file: relative to the root, if it is below it.
fn artifact(file: &str, places: &Places) -> Value {
    let path = normal(&places.folder.join(file));
    match path.strip_prefix(normal(&places.root)) {
        Ok(inside) if !inside.as_os_str().is_empty() => json!({"uri": encoded(inside), "uriBaseId": ROOT}),
        _ => json!({"uri": format!("file://{}", encoded(&path))}),
    }
}

fn folder_uri(folder: &Path) -> String {
    let uri = format!("file://{}", encoded(&normal(folder)));
    if uri.ends_with('/') { uri } else { uri + "/" }
}

/// A path without `.` and `..`. Files need not exist, so links are not followed.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            component => normal.push(component),
        }
    }
    normal
}

/// A path as part of a URI.
fn encoded(path: &Path) -> String {
    /// Longer paths than systems allow are no paths.
    const LONGEST: usize = 4096;
    use std::os::unix::ffi::OsStrExt as _;
    let mut uri = String::new();
    for &byte in path.as_os_str().as_bytes().iter().take(LONGEST) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

/// Text of the input: harmless, and not too long.
fn text(text: &str, most: usize) -> String {
    Printable(&shortened(text, most)).to_string()
}

/// A name of the input.
fn name(name: &str) -> String {
    text(&crate::printable::plain_name(name), LONGEST_NAME)
}

/// A message. In SARIF, braces hold the place of arguments, and brackets before parentheses are links.
fn message(text: &str) -> String {
    let text = self::text(text, LONGEST_TEXT);
    let mut message = String::new();
    for letter in text.chars() {
        match letter {
            '{' => message.push('<'),
            '}' => message.push('>'),
            '(' if message.ends_with(']') => message.push_str(" ("),
            letter => message.push(letter),
        }
    }
    message
}

/// A message in which `(1)`, `(2)` and `(3)`, where they begin a sentence, lead to the locations of these numbers.
fn linked(text: &str) -> String {
    (1..=3).fold(message(text), |text, number| {
        text.replacen(&format!(". ({number}) "), &format!(". [({number})]({number}) "), 1)
    })
}

#[cfg(test)]
mod tests {
    use super::{Places, artifact, message, render};
    use crate::build;
    use crate::result::{Counts, Document};
    use crate::testing;
    use interloper_trace::Tables;

    fn document(findings: Vec<crate::result::Finding>) -> Document {
        let tables = Tables::new();
        let facts = build::TraceFacts { tables: &tables, events: 9, threads: 2, regions: 1, non_nested: &[] };
        build::document(&facts, "causal", Counts::default(), findings, Vec::new())
    }

    fn places() -> Places {
        Places { folder: "/src/bank/test".into(), root: "/src/bank".into(), lines: None }
    }

    #[test]
    fn a_finding() {
        let sarif = render(&document(vec![testing::finding()]), &places());
        insta::assert_snapshot!(serde_json::to_string_pretty(&sarif["runs"][0]["results"]).expect("JSON"));
    }

    #[test]
    fn rules() {
        let sarif = render(&document(Vec::new()), &places());
        insta::assert_snapshot!(serde_json::to_string_pretty(&sarif["runs"][0]["tool"]).expect("JSON"));
    }

    #[test]
    fn files_are_relative_to_the_root() {
        let uris = ["a.c", "../lib/b.c", "/src/bank/x y/ä.c", "/usr/include/z.h", "../../../../../etc", "</script>"]
            .map(|file| artifact(file, &places()).to_string());
        insta::assert_snapshot!(uris.join("\n"));
    }

    #[test]
    fn messages_have_neither_links_nor_placeholders() {
        assert_eq!(message("a [b](https://c) {0} x[0] \u{202e}"), "a [b] (https://c) <0> x[0] \\u<202e>");
    }

    #[test]
    fn no_more_than_viewers_take() {
        let sarif = render(&document(vec![testing::finding(); 6_000]), &places());
        assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(5_000));
        let notes = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
        assert!(notes[0]["message"]["text"].as_str().is_some_and(|text| text.starts_with("1000 further findings")));
    }
}
