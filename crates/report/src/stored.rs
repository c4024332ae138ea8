//! Findings read back from a result that was written before.
//!
//! Only what a finding needs to be told again. A document of a later schema, or one that was tampered with, gives none.

use crate::order::HARMS;
use crate::result::{Execution, Finding, FindingEvent, HeldLocks, Region, ThreadBirth, Variable, Verdict, Witness};
use crate::words::{ATOMICITIES, PATTERNS};
use interloper_trace::RegionSource;
use serde_json::Value;

/// The findings of a result, those that are suppressed included.
pub fn findings(document: &Value) -> Vec<Finding> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let suppressed = list(&document["suppressed"]).into_iter().map(|own| own["finding"].clone());
    list(&document["findings"]).into_iter().chain(suppressed).filter_map(|own| finding(&own)).collect()
}

fn finding(value: &Value) -> Option<Finding> {
    let verdicts = [
        Verdict::Infeasible,
        Verdict::Unknown,
        Verdict::Possible,
        Verdict::Plausible,
        Verdict::Feasible,
        Verdict::Confirmed,
    ];
    Some(Finding {
        id: text(&value["id"])?,
        verdict: verdicts.into_iter().find(|verdict| value["verdict"] == verdict.name())?,
        reason: text(&value["reason"]),
        harm: word(&value["harm"], HARMS.into_iter().chain(["benign"])),
        pattern: word(&value["pattern"], PATTERNS.iter().map(|pattern| pattern.id))?,
        variable: Variable {
            name: text(&value["variable"]["name"])?,
            size: value["variable"]["size"].as_u64().and_then(|size| u32::try_from(size).ok()),
        },
        region: region(&value["region"])?,
        innermost: region(&value["innermost"]),
        events: value["events"].as_array()?.iter().map(event).collect::<Option<Vec<_>>>()?,
        locks: HeldLocks {
            region: texts(&value["locks"]["region"]).unwrap_or_default(),
            remote: texts(&value["locks"]["remote"]).unwrap_or_default(),
        },
        witness: witness(&value["witness"]),
        replay: text(&value["replay"]),
        execution: execution(&value["execution"]),
        trace: text(&value["trace"]),
        threads: value["threads"].as_array().into_iter().flatten().filter_map(birth).collect(),
        known: value["known"].as_bool().unwrap_or(false),
    })
}

fn region(value: &Value) -> Option<Region> {
    Some(Region {
        source: word(&value["source"], RegionSource::ALL.map(RegionSource::name))?,
        name: text(&value["name"]),
        thread: text(&value["thread"])?,
        begin: value["begin"].as_u64()?,
        end: value["end"].as_u64(),
    })
}

fn event(value: &Value) -> Option<FindingEvent> {
    Some(FindingEvent {
        role: word(&value["role"], ["first", "remote", "second"])?,
        index: value["index"].as_u64()?,
        thread: text(&value["thread"])?,
        op: word(&value["op"], ["r", "w", "rw"])?,
        file: text(&value["file"]),
        line: value["line"].as_i64(),
        function: text(&value["function"]),
        occurrence: value["occurrence"].as_u64(),
        read: value["read"].as_u64(),
        written: value["written"].as_u64(),
        held: texts(&value["held"]),
    })
}

fn witness(value: &Value) -> Option<Witness> {
    Some(Witness {
        schedule: text(&value["schedule"])?,
        switches: value["switches"].as_u64()?,
        least: value["least"].as_bool().unwrap_or(false),
        changed: value["changed"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect(),
    })
}

fn execution(value: &Value) -> Option<Execution> {
    let events: Option<Vec<u64>> = value["events"].as_array().map(|all| all.iter().filter_map(Value::as_u64).collect());
    Some(Execution {
        ended: text(&value["ended"])?,
        recorded: text(&value["recorded"])?,
        trace: text(&value["trace"]),
        events: events.and_then(|events| events.try_into().ok()),
        stdout: text(&value["stdout"]).unwrap_or_default(),
        stderr: text(&value["stderr"]).unwrap_or_default(),
        non_atomic: word(&value["non_atomic"], ATOMICITIES).unwrap_or("unknown"),
        harm: text(&value["harm"]),
    })
}

fn birth(value: &Value) -> Option<ThreadBirth> {
    Some(ThreadBirth {
        thread: text(&value["thread"])?,
        by: text(&value["by"])?,
        index: value["index"].as_u64()?,
        file: text(&value["file"]),
        line: value["line"].as_i64(),
        function: text(&value["function"]),
    })
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array().map(|all| all.iter().filter_map(text).collect())
}

/// One of the words that a field can hold.
fn word(value: &Value, words: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    words.into_iter().find(|word| value == word)
}

#[cfg(test)]
mod tests {
    use super::findings;
    use crate::result::Region;
    use crate::testing;
    use serde_json::json;

    #[test]
    fn what_was_written_is_read() {
        let mut finding = testing::finding();
        finding.innermost = Some(Region { begin: 4, ..finding.region.clone() });
        let finding = serde_json::to_value(finding).expect("JSON");
        let read = findings(&json!({"findings": [finding], "suppressed": [{"finding": finding}, 1], "x": null}));
        let again: Vec<_> = read.iter().map(|own| serde_json::to_value(own).expect("JSON")).collect();
        assert_eq!(again, [finding.clone(), finding]);
        assert_eq!(findings(&json!({"findings": [{"id": 1}, {}]})).len(), 0);
    }
}
