//! `analyze --model filtered` on recorded programs: the rows of AVFilter's Table 3.

#![allow(clippy::unwrap_used)]

mod common;

use common::expect::Expect;
use common::{Folder, Run, corpus};
use std::collections::BTreeSet;

/// Program, and how many variables lock sets, the filter as published, the sound one and the solver keep.
///
/// The programs are our own with the shapes of the paper's (`teller_*` are its `bank-*-8`): the first two numbers are
/// those of the paper's table. `atom002` is the filter's known miss.
const TABLE_3: [(&str, [usize; 4]); 6] = [
    ("fail/atom001", [1, 1, 1, 1]),
    ("pass/atom001a", [1, 0, 0, 0]),
    ("fail/atom002", [1, 0, 0, 0]),
    ("fail/teller_av", [8, 8, 8, 8]),
    ("fail/teller_sav", [8, 8, 8, 8]),
    ("pass/teller_nav", [8, 0, 0, 0]),
];

#[test]
fn table_3() {
    let folder = Folder::new();
    for (program, kept) in TABLE_3 {
        let trace = record(&folder, program);
        let models = ["lockset", "filtered --filter paper", "filtered --filter sound", "causal"];
        let rows = models.map(|model| variables(&folder, &trace, model).len());
        assert_eq!(rows, kept, "{program}: lock sets, paper, sound, causal");
    }
}

/// A rejection says why.
#[test]
fn a_rejection_is_explained() {
    let folder = Folder::new();
    let trace = record(&folder, "pass/atom001a");
    let reasons = |filter: &str| {
        let result = analyse(&folder, &trace, &format!("filtered --filter {filter} --explain-infeasible"));
        result["findings"].as_array().unwrap().iter().map(|f| f["reason"].to_string()).collect::<Vec<_>>()
    };
    let paper = reasons("paper");
    assert!(!paper.is_empty() && paper.iter().all(|reason| reason.contains("lemma 1 case 1")), "{paper:?}");
    let sound = reasons("sound");
    assert!(!sound.is_empty() && sound.iter().all(|reason| reason.contains("before the next")), "{sound:?}");
    let told = folder.cli(&format!("analyze {trace} --model filtered --stats --no-progress")).stderr;
    assert!(told.contains("rejected by cycle"), "{told}");
}

/// A trace that is read anew for each pass is filtered like one that is remembered.
#[test]
fn long_traces_are_filtered_like_short_ones() {
    let folder = Folder::new();
    for events in [1_000_000, 1_100_000] {
        folder.cli(&format!("generate needles --events {events} --variables 300 -o needles.ilt --no-progress"));
        for rule in ["paper", "sound"] {
            let result = analyse(&folder, "needles.ilt", &format!("filtered --filter {rule} --all --limit 0"));
            let counts = &result["counts"];
            assert_eq!((&counts["possible"], &counts["plausible"]), (&300.into(), &150.into()), "{events}: {rule}");
        }
    }
}

fn record(folder: &Folder, program: &str) -> String {
    let runtime = common::runtime_directory();
    let source = corpus::corpus().join(program).with_extension("c");
    corpus::compile(&source, &runtime, &Expect::read(&source.with_extension("expect")).unwrap(), folder).unwrap();
    let mut command = corpus::interloper(&runtime);
    command.current_dir(folder.path(".")).args(["record", "-o", "run.ilt", "--no-progress", "--", "./program"]);
    let done = Run::of(command.output().unwrap());
    assert_eq!(done.code, 0, "{program}: {}", done.stderr);
    "run.ilt".to_owned()
}

fn variables(folder: &Folder, trace: &str, model: &str) -> BTreeSet<String> {
    let result = analyse(folder, trace, model);
    let findings = result["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["variable"]["name"].to_string()).collect()
}

fn analyse(folder: &Folder, trace: &str, model: &str) -> serde_json::Value {
    folder.cli(&format!("analyze {trace} --regions annotated --format json --no-progress --model {model}")).json()
}
