//! The result as SARIF 2.1.0, for viewers of code scanning.
//!
//! A finding is a result with one code flow: a thread flow for each thread, whose locations say in which order they are
//! executed. (1), (2) and (3) are the related locations of these numbers, and the message refers to them.
//!
//! Viewers take no more than so much. The numbers here are the ones that GitHub's documentation gave in 2026 for what it
//! shows: 5,000 results of a run, 1,000 locations of thread flows of a result; and 1,024 letters of a description. What is
//! left out is said in a notification. It also wants a fingerprint of each result, regions with lines and columns, and a
//! first sentence that can stand alone.
//!
//! Paths are relative to the root of the sources. Text of the input cannot act: it has no control characters, and what
//! would be a link or a placeholder in a message is taken apart.
//!
//! | module | holds |
//! |---|---|
//! | `place` | files, lines and columns, and what stands there |
//! | `flow` | what threads do, in their order |
//! | `message` | text that cannot act |

mod flow;
mod message;
mod place;

pub use place::Places;

use crate::fingerprint;
use crate::order;
use crate::result::{Document, Finding, FindingEvent, Serial, Suppression, Verdict};
use crate::words::{self, PATTERNS};
use flow::{Step, access_place, code_flows, flow_steps};
use message::{LONGEST_TEXT, linked, message, name, text};
use place::{ROOT, folder_uri, has_place, location, location_in_context};
use serde_json::{Value, json};

/// Viewers show no more results of a run.
const MOST_RESULTS: usize = 5_000;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const SERIAL_RULE: &str = "SERIAL";

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
            let place = access_place(event, &finding.variable.name);
            let mut location = location(place, &format!("({number}) {}", access_text(event)), places);
            location["id"] = json!(number);
            location
        })
        .filter(has_place)
        .collect();
    let primary = finding
        .events
        .first()
        .map(|event| location_in_context(access_place(event, &finding.variable.name), &access_text(event), places));
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
        "ruleIndex": rule_index,
        "kind": kind,
        "level": level,
        "message": {"text": text_of(&finding_text(finding))},
        "locations": primary.filter(has_place).into_iter().collect::<Vec<_>>(),
        "relatedLocations": related,
        "codeFlows": code_flows(&flow_steps(finding), places),
        "partialFingerprints": fingerprints(&finding.id),
        "baselineState": if finding.known { "unchanged" } else { "new" },
        "suppressions": suppressions,
        "properties": {
            "id": finding.id,
            "verdict": finding.verdict.name(),
            "harm": finding.harm,
            "variable": text(&finding.variable.name, LONGEST_TEXT),
            "region": finding.step().name.as_deref().map(|name| text(name, LONGEST_TEXT)),
            "regionSource": finding.step().source,
            "replay": finding.replay,
            "schedule": finding.witness.as_ref().map(|witness| text(&witness.schedule, LONGEST_TEXT)),
        },
    })
}

/// The second is the one that code scanning goes by.
fn fingerprints(id: &str) -> Value {
    json!({"interloperFinding/v1": id, "primaryLocationLineHash": format!("{id}:1")})
}

/// What is said of a finding.
fn finding_text(finding: &Finding) -> String {
    let mut parts = vec![title(finding), words::verdict_sentence(finding)];
    for (number, event) in (1..).zip(&finding.events) {
        parts.push(format!("({number}) {}.", access_text(event)));
    }
    parts.push(words::consequence(finding));
    parts.push(format!("Not prevented: {}", words::why(finding)));
    parts.extend(finding.reason.as_ref().map(|reason| format!("{}: {reason}.", finding.verdict.name())));
    parts.extend(finding.replay.as_ref().map(|replay| format!("Replay: {replay}")));
    parts.join(" ")
}

/// A first sentence, which is all that lists show.
fn title(finding: &Finding) -> String {
    let verdict = match finding.verdict {
        Verdict::Confirmed => "Confirmed",
        Verdict::Feasible => "Feasible",
        Verdict::Plausible => "Plausible",
        Verdict::Possible => "Possible",
        Verdict::Unknown => "Undecided",
        Verdict::Infeasible => "Infeasible",
    };
    let kind = words::pattern(finding.pattern).map_or(finding.pattern, |pattern| pattern.name);
    let harm = match finding.harm {
        None => String::new(),
        Some("benign") => ", no harm seen".to_owned(),
        Some(harm) => format!(", harm: {harm}"),
    };
    format!("{verdict} atomicity violation on {} ({kind}{harm}).", name(&finding.variable.name))
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
    let primary = steps.first().map(|step| location_in_context(step.place, &step.text, places));
    json!({
        "ruleId": SERIAL_RULE,
        "ruleIndex": PATTERNS.len(),
        "kind": "fail",
        "level": "warning",
        "message": {"text": text},
        "locations": primary.filter(has_place).into_iter().collect::<Vec<_>>(),
        "codeFlows": code_flows(&steps, places),
        "partialFingerprints": fingerprints(&fingerprint::of_cycle(&serial.cycle)),
    })
}

#[cfg(test)]
mod tests {
    use super::message::message;
    use super::place::artifact;
    use super::{Places, render};
    use crate::build;
    use crate::result::{Counts, Document};
    use crate::sources::Sources;
    use crate::testing;
    use interloper_trace::Tables;

    fn document(findings: Vec<crate::result::Finding>) -> Document {
        let tables = Tables::new();
        let facts = build::TraceFacts { tables: &tables, events: 9, threads: 2, regions: 1, non_nested: &[] };
        build::document(&facts, "causal", Counts::default(), findings, Vec::new())
    }

    fn places() -> Places {
        Places { folder: "/src/bank/test".into(), root: "/src/bank".into(), lines: None, sources: Sources::none() }
    }

    #[test]
    fn a_finding() {
        let sarif = render(&document(vec![testing::finding()]), &places());
        insta::assert_snapshot!(serde_json::to_string_pretty(&sarif["runs"][0]["results"]).expect("JSON"));
    }

    /// Viewers that have no sources show the lines that are in the file.
    #[test]
    fn lines_of_source() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = "int get(void)\n{\n\treturn \u{e9}.balance;\n}\n";
        std::fs::write(folder.path().join("bank.c"), source).expect("a file");
        let places = Places { sources: Sources::in_folder(folder.path()), ..places() };
        let mut finding = testing::finding();
        finding.events[0].line = Some(3);
        let sarif = render(&document(vec![finding]), &places);
        let first = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(
            first["region"],
            serde_json::json!({
                "startLine": 3, "startColumn": 11, "endLine": 3, "endColumn": 18, "snippet": {"text": "balance"},
            })
        );
        let context = serde_json::json!({"startLine": 1, "endLine": 4, "snippet": {"text": source.trim_end()}});
        assert_eq!(first["contextRegion"], context);
        let remote = &sarif["runs"][0]["results"][0]["relatedLocations"][1]["physicalLocation"];
        let beyond = serde_json::json!({"startLine": 20, "startColumn": 1, "endLine": 20});
        assert_eq!(remote["region"], beyond, "a line that the file does not have");
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
