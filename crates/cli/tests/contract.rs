//! The result document, exit codes and options, as the contract has them.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, numbered, std_lines, with_values};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A folder with one trace, `t.std`.
fn trace(content: impl AsRef<[u8]>) -> Folder {
    let folder = Folder::new();
    folder.write("t.std", content);
    folder
}

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The first, remote and second index of each finding.
fn triples(result: &Value) -> Vec<[u64; 3]> {
    let indices = |finding: &Value| [0, 1, 2].map(|at| finding["events"][at]["index"].as_u64().unwrap());
    result["findings"].as_array().unwrap().iter().map(indices).collect()
}

fn ids(result: &Value) -> Vec<String> {
    result["findings"].as_array().unwrap().iter().map(|f| f["id"].as_str().unwrap().to_owned()).collect()
}

const LOST_UPDATE: &str = "T0|begin|10 T0|r(V)|12 T1|w(V)|31 T0|w(V)|-14 T0|end|15";

#[test]
fn the_whole_document() {
    let folder = trace(std_lines(LOST_UPDATE));
    let mut result = folder.analyze("t.std", "");
    let id = result["findings"][0]["id"].take();
    assert!(id.as_str().is_some_and(|id| !id.is_empty()));
    assert_eq!(
        result,
        json!({
            "schema": "interloper.result/1",
            "trace": {
                "events": 5, "threads": 2, "locations": 1, "locks": 0, "regions": 1, "nested_locking": true,
                "non_nested_threads": [],
            },
            "model": "lockset",
            "property": "triple",
            "counts": {
                "candidates": 1, "possible": 1, "plausible": 0, "feasible": 0, "confirmed": 0, "infeasible": 0,
                "unknown": 0, "suppressed": 0,
            },
            "findings": [{
                "id": null,
                "verdict": "possible",
                "reason": null,
                "harm": null,
                "pattern": "RWW",
                "variable": {"name": "V", "size": null},
                "region": {"source": "annotated", "thread": "T0", "begin": 0, "end": 4},
                "events": [
                    {"role": "first", "index": 1, "thread": "T0", "op": "r", "file": null, "line": 12, "function": null, "occurrence": null, "held": []},
                    {"role": "remote", "index": 2, "thread": "T1", "op": "w", "file": null, "line": 31, "function": null, "occurrence": null, "held": []},
                    {"role": "second", "index": 3, "thread": "T0", "op": "w", "file": null, "line": -14, "function": null, "occurrence": null, "held": []},
                ],
                "locks": {"region": [], "remote": []},
                "witness": null,
                "replay": null,
                "execution": null,
                "trace": null,
            }],
            "memory_model": "sequentially consistent",
            "serial": null,
            "atomic": null,
            "program": null,
            "explored": null,
            "notes": [],
        })
    );
}

#[test]
fn the_causal_model_gives_a_witness() {
    let folder = trace(std_lines(LOST_UPDATE));
    let result = folder.analyze_by("causal", "t.std", "");
    assert_eq!(result["counts"]["feasible"], 1);
    let finding = &result["findings"][0];
    assert_eq!(finding["verdict"], "feasible");
    assert_eq!(finding["witness"], json!({"schedule": "il1:e:0x2.1x1.0x1", "switches": 2, "least": true}));
    // The default is the same.
    let printed = folder.cli("analyze t.std --format json").stdout;
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), result);
}

/// What there is no memory for is said not to be known.
#[test]
fn memory_is_bounded() {
    let folder = trace(std_lines(LOST_UPDATE));
    let run = folder.cli("analyze t.std --model causal --memory 1K --format json");
    let result = run.json();
    assert_eq!((run.code, &result["counts"]["unknown"]), (3, &json!(1)));
    assert!(result["findings"][0]["reason"].as_str().unwrap().starts_with("memory:"));
    folder.cli("analyze t.std --model causal --memory 1.5G").refused();
}

/// The filter's rung, and why it rejects.
#[test]
fn the_filter_rejects_what_reads_rule_out() {
    let folder = trace(std_lines("B|w(x)|1 A|begin|2 A|r(x)|3 A|w(x)|4 A|end|5 B|w(x)|6"));
    let result = folder.analyze_by("filtered", "t.std", "--all --explain-infeasible");
    let counts = |name: &str| result["counts"][name].as_u64().unwrap();
    assert_eq!((counts("possible"), counts("plausible"), counts("infeasible")), (2, 1, 1));
    let verdicts: Vec<&str> =
        result["findings"].as_array().unwrap().iter().map(|finding| finding["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["plausible", "infeasible"]);
    let one = folder.analyze_by("filtered", "t.std", "");
    assert_eq!((&one["counts"]["possible"], &one["counts"]["plausible"]), (&json!(1), &json!(1)));
    assert_eq!(one["findings"][0]["events"][1]["index"], 5);
}

/// A read that must find what it found keeps others from getting in, and that is a proof.
#[test]
fn what_is_infeasible_is_proved_so() {
    let folder = trace(std_lines("A|begin|1 A|w(x)|2 A|r(x)|3 A|w(y)|4 A|w(x)|5 A|end|6 B|r(x)|7 B|w(x)|8"));
    let result = folder.analyze_by("causal", "t.std", "--all --explain-infeasible");
    let verdict = |events: [u64; 3]| {
        let findings = result["findings"].as_array().unwrap().iter();
        let mut found = findings.filter(|finding| (0..3).all(|at| finding["events"][at]["index"] == events[at]));
        found.next().map(|finding| finding["verdict"].as_str().unwrap().to_owned())
    };
    // B must have read what A wrote last before it writes.
    assert_eq!(verdict([1, 7, 4]).as_deref(), Some("infeasible"));
    // But its read may be anywhere, since nothing that comes after it is needed.
    assert_eq!(verdict([1, 6, 4]).as_deref(), Some("feasible"));
}

/// One thread reads a hint that another leaves after a write, and then updates what that has written: as JSON Lines,
/// with `more` where the hint has been read.
fn hinted(bound: bool, more: &str) -> String {
    let bind = |expr: &str, of: &str| match bound {
        true => format!(r#"{{"thread":"A","op":"bind","expr":"{expr}","of":"{of}"}}"#),
        false => r#"{"thread":"A","op":"mark","code":0}"#.to_owned(),
    };
    let access = |thread: &str, op: &str, target: &str, value: u32| {
        format!(r#"{{"thread":"{thread}","op":"{op}","target":"{target}","size":4,"value":{value}}}"#)
    };
    let lines = [
        access("B", "write", "balance", 10),
        access("B", "write", "hint", 7),
        r#"{"thread":"A","op":"begin","target":"deposit"}"#.to_owned(),
        access("A", "read", "hint", 7),
        bind("e0", "read"),
        more.to_owned(),
        access("A", "read", "balance", 10),
        bind("e1", "read"),
        r#"{"thread":"A","op":"define","expr":"e2","width":32,"bits":1}"#.to_owned(),
        r#"{"thread":"A","op":"define","expr":"e3","operator":"add","width":32,"operands":["e1","e2"]}"#.to_owned(),
        access("A", "write", "balance", 11),
        bind("e3", "written"),
        r#"{"thread":"A","op":"end","target":"deposit"}"#.to_owned(),
    ];
    lines.iter().filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

/// A read may find something else if the trace says what depends on it, and that nothing does.
#[test]
fn reads_may_change_on_which_nothing_depends() {
    let folder = Folder::new();
    let decided = |bound: bool, more: &str| {
        folder.write("t.jsonl", hinted(bound, more));
        let result = folder.analyze_by("causal", "t.jsonl", "--all --explain-infeasible");
        let findings = result["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1);
        findings[0].clone()
    };
    let verdict = |bound: bool, more: &str| decided(bound, more)["verdict"].as_str().unwrap().to_owned();

    // By what A has read, B is done before it begins. But it only adds to one of the values.
    assert_eq!(verdict(false, ""), "infeasible");
    let finding = decided(true, "");
    assert_eq!(finding["verdict"], "feasible");
    let witness = json!({"schedule": "il1:e:1x4.0x1.1x4", "switches": 2, "least": true, "changed": [3, 5]});
    assert_eq!(finding["witness"], witness);
    let text = folder.cli("analyze t.jsonl").stdout;
    let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("The reads at events 3 and 5 find something else than recorded"), "{text}");
    let filtered = folder.analyze_by("filtered", "t.jsonl", "--all");
    assert_eq!(filtered["counts"]["plausible"], 1, "the filter keeps what can happen");

    // The path depends on the hint; nobody says on what a branch depends, or it says so.
    assert_eq!(verdict(true, r#"{"thread":"A","op":"assume","expr":"e0","holds":true}"#), "infeasible");
    assert_eq!(verdict(true, r#"{"thread":"A","op":"branch","count":1}"#), "infeasible");
    // It is copied, and has to be found there again: but for what was copied was something else.
    let copied = |expr: &str| {
        let copy = |op: &str| format!(r#"{{"thread":"A","op":"{op}","target":"copy","size":4,"value":7}}"#);
        let constant = r#"{"thread":"A","op":"define","expr":"e9","width":32,"bits":7}"#;
        let bind = format!(r#"{{"thread":"A","op":"bind","expr":"{expr}","of":"written"}}"#);
        [constant, &copy("write"), &bind, &copy("read")].join("\n")
    };
    assert_eq!(verdict(true, &copied("e0")), "infeasible");
    assert_eq!(verdict(true, &copied("e9")), "feasible");
}

#[test]
fn a_result_without_findings_has_the_same_fields() {
    let found = trace(std_lines(LOST_UPDATE)).analyze("t.std", "");
    let none = trace("").analyze("t.std", "");
    assert_eq!(keys(&found), keys(&none));
    for part in ["trace", "counts"] {
        assert_eq!(keys(&found[part]), keys(&none[part]));
    }
    assert_eq!(none["findings"], json!([]));
    assert_eq!(none["trace"]["events"], json!(0));
    assert_eq!(none["trace"]["nested_locking"], json!(true));
}

#[test]
fn all_five_patterns() {
    for (first, remote, second, pattern) in [
        ("r", "w", "r", "RWR"),
        ("w", "w", "r", "WWR"),
        ("r", "w", "w", "RWW"),
        ("w", "r", "w", "WRW"),
        ("w", "w", "w", "WWW"),
    ] {
        // The remote access comes last: what matters is that it could come in between.
        let folder = trace(numbered(&format!("A|begin A|{first}(x) A|{second}(x) A|end B|{remote}(x)")));
        let result = folder.analyze("t.std", "");
        assert_eq!(result["counts"]["possible"], 1, "{pattern}");
        let finding = &result["findings"][0];
        assert_eq!(finding["pattern"], pattern);
        assert_eq!(triples(&result), [[1, 4, 2]]);
        let ops: Vec<&Value> = (0..3).map(|at| &finding["events"][at]["op"]).collect();
        assert_eq!(ops, [first, remote, second]);
        assert_eq!(finding["events"][1]["line"], 5);
    }
    for (first, remote, second) in [("r", "r", "r"), ("r", "r", "w"), ("w", "r", "r")] {
        let folder = trace(numbered(&format!("A|begin A|{first}(x) A|{second}(x) A|end B|{remote}(x)")));
        let result = folder.analyze("t.std", "");
        assert_eq!(result["counts"]["candidates"], 0, "{first}{remote}{second} is serializable");
    }
}

#[test]
fn regions_are_outermost_and_may_be_open() {
    let nested = trace(numbered("A|begin A|begin A|r(x) A|end A|r(x) A|end B|w(x)")).analyze("t.std", "");
    assert_eq!(nested["trace"]["regions"], 1);
    assert_eq!(nested["findings"][0]["region"], json!({"source": "annotated", "thread": "A", "begin": 0, "end": 5}));

    let open = trace(numbered("B|w(x) A|begin A|begin A|r(x) A|end A|r(x)")).analyze("t.std", "");
    assert_eq!(open["findings"][0]["region"], json!({"source": "annotated", "thread": "A", "begin": 1, "end": null}));
    assert_eq!(triples(&open), [[3, 0, 5]]);

    let none = trace(numbered("A|r(x) B|w(x) A|r(x)")).analyze("t.std", "");
    assert_eq!(none["counts"]["candidates"], 0);
    assert_eq!(none["notes"].as_array().unwrap().len(), 1, "a trace without regions should say so");
    assert_eq!(nested["notes"], json!([]));

    let unchosen = trace(numbered("A|begin A|r(x) B|w(x) A|r(x)")).analyze("t.std", "--regions locks");
    assert_eq!(unchosen["trace"]["regions"], 0);
}

/// Three reads in the region and two remote writes: three pairs times two.
const MANY: &str = "A|begin A|r(x) A|r(x) A|r(x) A|end B|w(x) B|w(x)";

#[test]
fn representatives_are_the_lowest_and_all_lists_every_triple() {
    let folder = trace(numbered(MANY));
    let one = folder.analyze("t.std", "");
    assert_eq!(triples(&one), [[1, 5, 2]]);
    assert_eq!((&one["counts"]["candidates"], &one["counts"]["possible"]), (&json!(1), &json!(1)));

    let all = folder.analyze("t.std", "--all");
    assert_eq!(triples(&all), [[1, 5, 2], [1, 5, 3], [1, 6, 2], [1, 6, 3], [2, 5, 3], [2, 6, 3]]);
    assert_eq!((&all["counts"]["candidates"], &all["counts"]["possible"]), (&json!(6), &json!(6)));

    for limit in [0, 1, 4, 6, 100] {
        let some = folder.analyze("t.std", &format!("--all --limit {limit}"));
        assert_eq!(some["counts"], all["counts"]);
        assert_eq!(triples(&some), triples(&all)[..limit.min(6)]);
        assert_eq!(ids(&some), ids(&all)[..limit.min(6)]);
    }
}

#[test]
fn representatives_are_split_by_class_thread_variable_and_locks() {
    // A write pair: WWW by a remote write and WRW by a remote read are two classes; WWW and RWW one.
    let classes = trace(numbered("A|begin A|w(x) A|w(x) A|end B|w(x) B|r(x)")).analyze("t.std", "");
    assert_eq!(triples(&classes), [[1, 4, 2], [1, 5, 2]]);
    let one_class = trace(numbered("A|begin A|r(x) A|w(x) A|w(x) A|end B|w(x)")).analyze("t.std", "");
    assert_eq!(triples(&one_class), [[1, 5, 2]]);

    let threads = trace(numbered("A|begin A|r(x) A|r(x) A|end B|w(x) C|w(x)")).analyze("t.std", "");
    assert_eq!(triples(&threads), [[1, 4, 2], [1, 5, 2]]);
    let variables = trace(numbered("A|begin A|r(x) A|r(y) A|r(x) A|r(y) A|end B|w(x) B|w(y)")).analyze("t.std", "");
    assert_eq!(triples(&variables), [[1, 6, 3], [2, 7, 4]]);

    let locks = numbered("A|begin A|r(x) A|r(x) A|end B|w(x) B|acq(l) B|w(x) B|rel(l)");
    let locks = trace(locks).analyze("t.std", "");
    assert_eq!(triples(&locks), [[1, 4, 2], [1, 6, 2]]);
    assert_eq!(locks["findings"][1]["locks"], json!({"region": [], "remote": ["l"]}));
}

#[test]
fn locks_fork_and_join_forbid() {
    let held = trace(numbered("A|begin A|acq(l) A|r(x) A|r(x) A|rel(l) A|end B|acq(l) B|w(x) B|rel(l)"));
    let result = held.analyze("t.std", "");
    assert_eq!(result["counts"]["candidates"], 1);
    assert_eq!(result["counts"]["possible"], 0);
    assert_eq!(result["counts"]["infeasible"], 1);
    assert_eq!(held.cli("analyze t.std").code, 0);

    let gap = "A|begin A|acq(l) A|r(x) A|rel(l) A|acq(l) A|r(x) A|rel(l) A|end B|acq(l) B|w(x) B|rel(l)";
    assert_eq!(triples(&trace(numbered(gap)).analyze("t.std", "")), [[2, 9, 5]]);
    let forked = "A|begin A|r(x) A|r(x) A|end A|fork(B) B|w(x)";
    assert_eq!(trace(numbered(forked)).analyze("t.std", "")["counts"]["infeasible"], 1);
    let joined = "B|w(x) A|join(B) A|begin A|r(x) A|r(x) A|end";
    assert_eq!(trace(numbered(joined)).analyze("t.std", "")["counts"]["infeasible"], 1);
}

#[test]
fn exit_codes_and_fail_on() {
    let folder = trace(std_lines(LOST_UPDATE));
    folder.write("clean.std", numbered("A|begin A|r(x) A|end"));
    folder.write("bad.std", "nonsense\n");
    for (line, code) in [
        ("analyze clean.std", 0),
        ("analyze t.std", 1),
        ("analyze bad.std", 2),
        ("analyze t.std --fail-on possible", 1),
        ("analyze t.std --fail-on plausible", 1),
        ("analyze t.std --fail-on feasible", 1),
        ("analyze t.std --fail-on confirmed", 0),
        ("analyze t.std --model lockset --fail-on plausible", 0),
        ("analyze t.std --model lockset --fail-on feasible", 0),
        ("analyze t.std --model lockset --fail-on confirmed", 0),
        ("analyze t.std --limit 0", 1),
        ("analyze t.std --all", 1),
        ("analyze t.std --property serial", 1),
        ("analyze clean.std --property serial", 0),
        ("analyze bad.std --property serial", 2),
        ("analyze t.std --property atomic", 2),
        ("analyze bad.std --property atomic", 2),
        ("stats t.std", 0),
        ("stats bad.std", 2),
        ("dump t.std", 0),
        ("--help", 0),
        ("--version", 0),
        ("", 2),
        ("analyze", 2),
        ("stats", 2),
        ("dump", 2),
        ("convert t.std", 2),
        ("generate", 2),
        ("generate nothing", 2),
        ("analyze t.std --no-such-option", 2),
        ("analyze t.std --fail-on surely", 2),
        ("analyze t.std --format yaml", 2),
        ("analyze t.std --limit -1", 2),
        ("analyze t.std --limit many", 2),
        ("analyze t.std --regions here", 2),
        ("analyze t.std --model guess", 2),
        ("analyze t.std clean.std", 2),
        ("no-such-command", 2),
    ] {
        let run = folder.cli(line);
        assert_eq!(run.code, code, "interloper {line}: {run:?}");
        if code == 2 {
            assert_eq!(run.stdout, "", "interloper {line}");
            assert_ne!(run.stderr, "", "interloper {line}");
        } else {
            assert_eq!(run.stderr, "", "interloper {line}");
        }
    }
}

#[test]
fn output_goes_to_a_file_in_one_piece() {
    let folder = trace(std_lines(LOST_UPDATE));
    let printed = folder.cli("analyze t.std --format json");
    let run = folder.cli("analyze t.std --format json -o result.json");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (1, "", ""));
    assert_eq!(folder.text("result.json"), printed.stdout);
    assert_eq!(folder.cli("analyze t.std --format json --output -").stdout, printed.stdout);

    // What was there is replaced by a good result and kept after a failure.
    folder.write("old", "old");
    folder.write("bad.std", "nonsense\n");
    assert_eq!(folder.cli("analyze bad.std -o old").code, 2);
    assert_eq!(folder.text("old"), "old");
    assert_eq!(folder.cli("analyze bad.std -o new").code, 2);
    assert_eq!(folder.cli("analyze t.std -o old").code, 1);
    assert!(folder.text("old").starts_with("t.std: 5 events"));
    assert_eq!(folder.names(), ["bad.std", "old", "result.json", "t.std"]);
}

#[test]
fn raytracer_counts() {
    for (threads, findings) in [(10, 90), (20, 380), (40, 1560)] {
        let folder = Folder::new();
        assert_eq!(folder.cli(&format!("generate raytracer --threads {threads} -o r.std")).code, 0);
        let result = folder.analyze("r.std", "");
        assert_eq!(result["counts"]["possible"], findings);
        assert_eq!(result["findings"].as_array().unwrap().len(), findings);
        assert_eq!(result["trace"]["threads"], threads);
        let limited = folder.analyze("r.std", "--limit 7");
        assert_eq!(limited["counts"], result["counts"]);
        assert_eq!(limited["findings"].as_array().unwrap()[..], result["findings"].as_array().unwrap()[..7]);
        let ids = ids(&result);
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), findings, "ids are different");
        assert_eq!(folder.cli("convert r.std r.ilt").code, 0);
        let again = folder.analyze("r.ilt", "");
        assert_eq!(again["findings"], result["findings"], "and the same in another format");
    }
}

#[test]
fn ids_do_not_depend_on_positions_or_on_other_findings() {
    let alone = trace(std_lines("A|begin|1 A|r(x)|2 A|r(x)|3 A|end|4 B|w(x)|5")).analyze("t.std", "");
    let later = "C|w(z)|9 A|begin|1 A|r(y)|7 A|r(y)|7 A|r(x)|2 A|r(x)|3 A|end|4 B|w(x)|5 B|w(y)|8";
    let later = trace(std_lines(later)).analyze("t.std", "");
    assert_eq!(ids(&later).len(), 2);
    assert_eq!(ids(&later)[1], ids(&alone)[0]);
    assert_eq!(trace(std_lines(LOST_UPDATE)).analyze("t.std", ""), trace(std_lines(LOST_UPDATE)).analyze("t.std", ""));
}

#[test]
fn locking_that_is_not_nested_is_named() {
    let crossed = numbered("A|acq(l) A|acq(m) A|rel(l) A|rel(m) B|acq(l) B|acq(m) B|rel(m) B|rel(l)");
    for property in ["triple", "serial"] {
        let result = trace(&crossed).analyze("t.std", &format!("--property {property}"));
        assert_eq!(result["trace"]["nested_locking"], false, "{property}");
        let threads = json!([{"thread": "A", "nested": false, "index": 2, "lock": "l"}]);
        assert_eq!(result["trace"]["non_nested_threads"], threads, "{property}");
    }
    let reentrant = numbered("A|acq(l) A|acq(m) A|acq(l) A|rel(l) A|rel(m) A|rel(l)");
    for property in ["triple", "serial"] {
        let result = trace(&reentrant).analyze("t.std", &format!("--property {property}"));
        assert_eq!(result["trace"]["nested_locking"], true, "{property}");
    }
}

/// Events (by spaces) and the event that closes the first cycle, if there is one.
const ORDERS: &[(&str, Option<u64>)] = &[
    ("", None),
    ("A|begin A|r(x) B|w(x) A|end", None),
    ("A|begin A|r(x) B|w(x) A|r(x) A|end", Some(3)),
    ("A|begin A|w(x) B|r(x) A|w(x) A|end", Some(3)),
    ("A|begin A|r(x) B|r(x) A|r(x) A|end", None),
    // Two regions, each seeing the other's write.
    ("A|begin B|begin A|w(x) B|w(y) A|r(y) B|r(x) A|end B|end", Some(5)),
    // A third transaction in between; its own region has ended when the cycle closes.
    ("A|begin A|w(x) B|begin B|r(x) B|w(y) B|end A|r(y) A|end", Some(6)),
    // Nested begins count once.
    ("A|begin A|begin A|r(x) A|end B|w(x) A|r(x) A|end", Some(5)),
    // After the outermost end it is another transaction.
    ("A|begin A|r(x) A|end B|w(x) A|r(x)", None),
    // By a lock: released and taken again within a region, and in between by another thread.
    ("A|begin A|acq(l) A|rel(l) B|acq(l) B|rel(l) A|acq(l) A|rel(l) A|end", Some(5)),
    // By fork and join: all of B is both after and before the one region of A.
    ("A|begin A|fork(B) B|w(x) A|join(B) A|end", Some(3)),
    // The region is open at the end.
    ("A|begin A|r(x) B|w(x) A|w(x)", Some(3)),
];

#[test]
fn serial_names_the_event_that_closes_the_first_cycle() {
    for &(events, at) in ORDERS {
        let folder = trace(numbered(events));
        let result = folder.analyze("t.std", "--property serial");
        let serial = &result["serial"];
        assert_eq!(keys(serial), ["at", "cycle", "serializable"]);
        assert_eq!(serial["serializable"], at.is_none(), "{events}");
        assert_eq!(serial["at"], json!(at), "{events}");
        assert_eq!(result["property"], "serial");
        assert_eq!(result["findings"], json!([]));
        assert_eq!(folder.cli("analyze t.std --property serial").code, i32::from(at.is_some()), "{events}");
        check_cycle(serial, at, events);
    }
}

/// A cycle begins with the transaction of the closing event, and each edge goes forward in time.
fn check_cycle(serial: &Value, at: Option<u64>, events: &str) {
    let cycle = serial["cycle"].as_array().unwrap();
    let Some(at) = at else {
        assert!(cycle.is_empty());
        return;
    };
    assert!(cycle.len() >= 2, "{events}");
    assert_eq!(cycle[0]["enter"]["index"], at, "{events}");
    for (step, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        let (leave, enter) = (step["leave"]["index"].as_u64().unwrap(), next["enter"]["index"].as_u64().unwrap());
        assert!(leave < enter, "{events}: {leave} to {enter}");
        // In these traces every location is a line number, from one.
        assert_eq!(step["leave"]["line"], leave + 1);
        let thread_of = |index: u64| events.split(' ').nth(index as usize).unwrap().split('|').next().unwrap();
        assert_eq!(step["thread"], thread_of(leave));
    }
}

#[test]
fn a_cycle_in_full() {
    let folder = trace(numbered("A|begin A|w(x) B|begin B|r(x) B|w(y) B|end A|r(y) A|end"));
    let result = folder.analyze("t.std", "--property serial");
    let event = |index: u64, op: &str, target: &str| json!({"index": index, "op": op, "target": target, "file": null, "line": index + 1, "function": null});
    assert_eq!(
        result["serial"]["cycle"],
        json!([
            {
                "thread": "A", "region": {"source": "annotated", "thread": "A", "begin": 0, "end": 7},
                "enter": event(6, "read", "y"), "leave": event(1, "write", "x"), "conflict": "access", "on": "x",
            },
            {
                "thread": "B", "region": {"source": "annotated", "thread": "B", "begin": 2, "end": 5},
                "enter": event(3, "read", "x"), "leave": event(4, "write", "y"), "conflict": "access", "on": "y",
            },
        ])
    );
}

#[test]
fn a_bank_is_serializable_until_its_regions_are_widened() {
    let folder = Folder::new();
    assert_eq!(folder.cli("generate bank --events 20000 -o b.ilt").code, 0);
    assert_eq!(folder.analyze("b.ilt", "--property serial")["serial"]["serializable"], true);
    assert_eq!(folder.cli("generate bank --events 20000 --widen 3 -o w.ilt").code, 0);
    let wide = folder.analyze("w.ilt", "--property serial");
    assert_eq!(wide["serial"]["serializable"], false);
    let at = wide["serial"]["at"].as_u64().unwrap();
    assert_eq!(wide["serial"]["cycle"][0]["enter"]["index"], at);
    // The prefix without that event is serializable: it is the first.
    assert_eq!(folder.cli("convert w.ilt w.std").code, 0);
    let text = folder.text("w.std");
    let prefix = |events: u64| text.lines().take(events as usize).map(|line| format!("{line}\n")).collect::<String>();
    folder.write("before.std", prefix(at));
    assert_eq!(folder.analyze("before.std", "--property serial")["serial"]["serializable"], true);
    folder.write("with.std", prefix(at + 1));
    assert_eq!(folder.analyze("with.std", "--property serial")["serial"]["at"], at);
}

#[test]
fn standard_input_and_formats_by_option() {
    let folder = trace(std_lines(LOST_UPDATE));
    let expected = folder.analyze("t.std", "");
    let mut command =
        folder.command(["analyze", "-", "--model", "lockset", "--input-format", "std", "--format", "json"]);
    command.stdin(std::fs::File::open(folder.path("t.std")).unwrap());
    assert_eq!(common::Run::of(command.output().unwrap()).json(), expected);
    folder.write("no-extension", std_lines(LOST_UPDATE));
    assert_eq!(folder.analyze("no-extension", "--input-format std"), expected);
    folder.write("d.std", std_lines("A|begin|1 A|rd(x)|2 A|req(l)|2 A|wr(x)|3 B|wr(x)|4"));
    assert_eq!(folder.cli("analyze d.std").code, 2);
    assert_eq!(folder.analyze("d.std", "--std-dialect extended")["counts"]["possible"], 1);
}

/// Events, what is said of them, and the exit code.
const VALUES: &[(&str, &str, i32)] = &[
    (
        "A begin; A read x 0; B write x 5; A read x 5; A end",
        r#"{"verdict": "non-atomic", "by": "condition", "pattern": "RWR", "events": [1, 2, 3]}"#,
        1,
    ),
    (
        "A begin; A read x 0; B write x 5; A write x 1; A end",
        r#"{"verdict": "non-atomic", "by": "condition", "pattern": "RWW", "events": [1, 2, 3]}"#,
        1,
    ),
    (
        "A begin; A write x 1; B read x 1; A write x 2; A end",
        r#"{"verdict": "non-atomic", "by": "condition", "pattern": "WRW", "events": [1, 2, 3]}"#,
        1,
    ),
    (
        "A begin; A write x 1; B rmw x 1 2; A rmw x 2 3; A end",
        r#"{"verdict": "non-atomic", "by": "condition", "pattern": "WWR", "events": [1, 2, 3]}"#,
        1,
    ),
    // B saw that A was there, and is overwritten.
    (
        "A begin; A write x 1; B read x 1; B write x 2; A write x 1; A end",
        r#"{"verdict": "non-atomic", "by": "condition", "pattern": "WWW", "events": [1, 3, 4]}"#,
        1,
    ),
    // No location alone tells: each region saw the other's first write and not the second.
    (
        "A begin; B begin; A write x 1; B write y 1; A read y 1; B read x 1; A end; B end",
        r#"{"verdict": "non-atomic", "by": "exact"}"#,
        1,
    ),
    // Where the conditions of the paper are wrong.
    ("A begin; A write x 1; B read x 1; C write x 1; A write x 3; A end", r#"{"verdict": "atomic", "by": "exact"}"#, 0),
    ("B begin; B read x 0; A write x 3; B write x 3; B end", r#"{"verdict": "atomic", "by": "exact"}"#, 0),
    // Without accesses there is nothing to explain.
    ("A begin; A end", r#"{"verdict": "atomic", "by": "exact"}"#, 0),
];

#[test]
fn atomic_is_judged_by_values() {
    for (events, expected, code) in VALUES {
        let folder = Folder::new();
        folder.write("t.jsonl", with_values(events));
        assert_eq!(folder.cli("convert t.jsonl t.ilt").code, 0);
        for file in ["t.jsonl", "t.ilt"] {
            let run = folder.cli(&format!("analyze {file} --property atomic --format json"));
            assert_eq!((run.code, run.stderr.as_str()), (*code, ""), "{events}");
            let result = run.json();
            assert_eq!(result["atomic"], serde_json::from_str::<Value>(expected).unwrap(), "{events}");
            assert_eq!(result["property"], "atomic");
            assert_eq!((&result["findings"], &result["serial"]), (&json!([]), &Value::Null));
        }
    }
}

/// Of a program that was recorded nobody knows what memory held at first.
#[test]
fn atomic_may_be_unknown() {
    let folder = Folder::new();
    let events = with_values("A begin; A write x 1; B read x 1; A write x 2; A end");
    let recorded = r#"{"op":"meta","key":"runtime-version","value":"1"}"#;
    folder.write("t.jsonl", format!("{recorded}\n{events}"));
    let run = folder.cli("analyze t.jsonl --property atomic --format json");
    assert_eq!(run.code, 3);
    assert_eq!(run.json()["atomic"], json!({"verdict": "unknown", "by": "exact"}));
    assert_eq!(run.json()["notes"], json!(["it depends on values that were not recorded"]));
}

/// Regions are blocks; which, is for the user to say.
#[test]
fn atomic_knows_sources_of_regions() {
    let folder = Folder::new();
    let events = with_values("A begin; A read x 0; B write x 5; A read x 5; A end");
    folder.write(
        "t.jsonl",
        events
            .replace(r#""op":"begin""#, r#""op":"begin","source":"inferred""#)
            .replace(r#""op":"end""#, r#""op":"end","source":"inferred""#),
    );
    assert_eq!(folder.cli("analyze t.jsonl --property atomic").code, 0);
    assert_eq!(folder.cli("analyze t.jsonl --property atomic --regions inferred").code, 1);
}
