//! Documents held against their schemas.

use jsonschema::Validator;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A result must be as `docs/result.schema.json` says, without a field that it does not name.
#[track_caller]
pub(crate) fn assert_documented(document: &Value) {
    static SCHEMA: OnceLock<Validator> = OnceLock::new();
    if document["schema"] != "interloper.result/1" {
        return;
    }
    let schema = SCHEMA.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/result.schema.json");
        let mut schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        close(&mut schema);
        jsonschema::validator_for(&schema).unwrap()
    });
    assert_valid(schema, document);
}

/// Readers must bear with new fields. We must not write any that are not documented.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(close);
            if members.contains_key("properties") && members.get("type") == Some(&json!("object")) {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// SARIF must be as OASIS's schema says. `scripts/sarif-schema.sh` fetches that, for `make test`.
#[track_caller]
pub(crate) fn assert_sarif(document: &Value) {
    static SCHEMA: OnceLock<Option<Validator>> = OnceLock::new();
    const SKIP: &str = "INTERLOPER_NO_SARIF_SCHEMA";
    let schema = SCHEMA.get_or_init(|| {
        if std::env::var_os(SKIP).is_some() {
            eprintln!("not held against the schema of SARIF: {SKIP} is set");
            return None;
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(PathBuf::from("target"), PathBuf::from);
        let path = root.join(target).join("tools/sarif-schema-2.1.0.json");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|_| {
            panic!("there is no schema of SARIF: `make test` fetches it (scripts/sarif-schema.sh); {SKIP} does without")
        });
        let mut schema: Value = serde_json::from_str(&text).unwrap();
        // This pattern has a bracket too many, which not every reader of patterns bears with. We write no such field.
        for owner in ["run", "toolComponent"] {
            let language = schema["definitions"][owner]["properties"]["language"].as_object_mut().unwrap();
            assert!(language.remove("pattern").is_some());
        }
        Some(jsonschema::validator_for(&schema).unwrap())
    });
    if let Some(schema) = schema {
        assert_valid(schema, document);
    }
}

#[track_caller]
fn assert_valid(schema: &Validator, document: &Value) {
    let errors: Vec<String> =
        schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{}\n{document:#}", errors.join("\n"));
}
