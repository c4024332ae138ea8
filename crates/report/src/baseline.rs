//! Findings that were known before: a list of ids, so that only new ones make a build fail.

use crate::printable::shown;
use crate::result::{Document, Finding, Verdict};
use crate::suppress::Malformed;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Findings known before, by id.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// With whether it was found again.
    ids: BTreeMap<String, bool>,
}

#[derive(Deserialize)]
struct Result {
    #[serde(default)]
    findings: Vec<Known>,
}

#[derive(Deserialize)]
struct Known {
    id: String,
}

const HEADER: &str = "# Findings that are known, by id: interloper --baseline does not count them. Whatever follows an id \
                      is for people.\n";

impl Baseline {
    /// Reads one: lines that begin with an id, or a result as JSON.
    pub fn parse(file: &str, text: &str) -> std::result::Result<Baseline, Malformed> {
        if text.trim_start().starts_with('{') {
            let result: Result = serde_json::from_str(text).map_err(|error| Malformed {
                file: file.to_owned(),
                line: error.line(),
                found: error.to_string(),
                expected: "a result of interloper",
            })?;
            return Ok(Baseline { ids: result.findings.into_iter().map(|known| (known.id, false)).collect() });
        }
        let mut ids = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let word = line.split_whitespace().next().unwrap_or_default();
            if word.is_empty() || word.starts_with('#') {
                continue;
            }
            if word.len() != 16 || !word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
                return Err(Malformed {
                    file: file.to_owned(),
                    line: at + 1,
                    found: format!("{:?}", shown(word)),
                    expected: "the id of a finding, 16 hexadecimal digits",
                });
            }
            ids.insert(word.to_owned(), false);
        }
        Ok(Baseline { ids })
    }

    /// Marks the findings that are known.
    pub fn apply(mut self, document: &mut Document) {
        for finding in document.findings.iter_mut().chain(document.suppressed.iter_mut().map(|own| &mut own.finding)) {
            if let Some(found) = self.ids.get_mut(&finding.id) {
                *found = true;
                finding.known = true;
            }
        }
        let gone = self.ids.values().filter(|found| !**found).count();
        if gone > 0 {
            document.notes.push(format!("{gone} of the baseline were not found again; write a new one to forget them"));
        }
    }

    /// A baseline of all findings of a result.
    pub fn text(document: &Document) -> String {
        let mut lines: Vec<String> = document.findings.iter().filter(|own| is_lasting(own)).map(line).collect();
        lines.sort_unstable();
        HEADER.to_owned() + &lines.concat()
    }
}

/// What cannot happen, or was not decided, is nothing to know of.
fn is_lasting(finding: &Finding) -> bool {
    finding.verdict > Verdict::Unknown
}

fn line(finding: &Finding) -> String {
    let function = finding.events.first().and_then(|event| event.function.as_deref());
    let function = function.map_or(String::new(), |function| format!(" in {}", shown(function)));
    let name = shown(&finding.variable.name);
    format!("{} {} {} on {name}{function}\n", finding.id, finding.verdict.name(), finding.pattern)
}

#[cfg(test)]
mod tests {
    use super::Baseline;

    #[test]
    fn lists_and_results() {
        let list = Baseline::parse("b", "# known\n\n1ca6ec9067906c5f feasible RWW\n").expect("well-formed");
        assert_eq!(list.ids.keys().collect::<Vec<_>>(), ["1ca6ec9067906c5f"]);
        let result = r#"{"schema": "interloper.result/1", "findings": [{"id": "1ca6ec9067906c5f"}]}"#;
        assert_eq!(Baseline::parse("b", result).expect("well-formed").ids, list.ids);
    }

    #[test]
    fn malformed() {
        let errors = ["x", "1ca6\n", "\n1ca6ec9067906c5g x", "{\n\"findings\": 1}"]
            .map(|text| Baseline::parse("b", text).expect_err(text).to_string());
        insta::assert_snapshot!(errors.join("\n"));
    }
}
