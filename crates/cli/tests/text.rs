//! What people read.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, Run, every_operation, numbered, with_values};

fn output(trace: &str, line: &str) -> String {
    let folder = Folder::new();
    folder.write("t.std", trace);
    let run = folder.cli(line);
    assert_eq!(run.stderr, "");
    run.stdout
}

#[track_caller]
fn assert_narrow(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}

const BANK: &str = "main|begin main|acq(bank) main|r(balance) main|rel(bank) main|acq(bank) main|w(balance) \
                    main|rel(bank) main|end teller|acq(bank) teller|r(balance) teller|w(balance) teller|rel(bank)";

#[test]
fn findings() {
    let text = output(&numbered(BANK), "analyze t.std --model lockset");
    assert_narrow(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn feasible_findings() {
    let text = output(&numbered(BANK), "analyze t.std --model causal");
    assert_narrow(&text);
    insta::assert_snapshot!(text);
    let text = output(&numbered(BANK), "analyze t.std --all --explain-infeasible");
    assert_narrow(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn every_pattern_is_explained() {
    let text = output(
        &numbered(
            "A|begin A|r(a) A|r(a) A|w(b) A|r(b) A|r(c) A|w(c) A|w(d) A|w(d) A|w(e) A|w(e) B|w(a) B|w(b) B|w(c) B|r(d) \
             B|w(e)",
        ),
        "analyze t.std --model lockset",
    );
    assert_narrow(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn more_findings_than_listed() {
    let folder = Folder::new();
    assert_eq!(folder.cli("generate raytracer -o t.std").code, 0);
    let text = folder.cli("analyze t.std --model lockset --limit 1").stdout;
    assert_narrow(&text);
    insta::assert_snapshot!(text);
    let text = folder.cli("analyze t.std --model lockset").stdout;
    assert_eq!(text.matches("<- the interloper").count(), 20);
}

#[test]
fn sources_with_files_and_long_names() {
    let folder = Folder::new();
    let event = |thread: &str, op: &str, line: u32| {
        format!(
            "{{\"thread\":\"{thread}\",{op},\"file\":\"src/server/connection/pool/manager.c\",\"line\":{line},\
             \"function\":\"connection_pool_take_or_wait\"}}\n"
        )
    };
    let target = "\"target\":\"connection_pool_global_state\",\"offset\":16";
    let mut trace = event("worker-thread-1", "\"op\":\"begin\",\"source\":\"functions\"", 1);
    trace += &event("worker-thread-1", &format!("\"op\":\"rmw\",{target}"), 1234);
    trace += &event("worker-thread-2", &format!("\"op\":\"write\",{target}"), 1300);
    trace += &event("worker-thread-1", &format!("\"op\":\"read\",{target}"), 1240);
    folder.write("t.jsonl", trace);
    let texts = ["--model lockset", "--property serial"]
        .map(|options| folder.cli(&format!("analyze t.jsonl {options}")).stdout);
    texts.iter().for_each(|text| assert_narrow(text));
    insta::assert_snapshot!(texts.join("\n---\n\n"));
}

#[test]
fn nothing_found() {
    let forbidden = output(&numbered("A|begin A|r(x) A|r(x) A|end A|fork(B) B|w(x)"), "analyze t.std --model lockset");
    let all = output(&numbered("A|begin A|w(x) A|w(x) A|end A|fork(B) B|w(x) B|r(x)"), "analyze t.std --model lockset");
    let no_candidate = output(&numbered("A|begin A|r(x) A|r(x) A|end B|r(x)"), "analyze t.std --model lockset");
    let no_region = output("", "analyze t.std --model lockset");
    let texts = [forbidden, all, no_candidate, no_region].join("\n---\n\n");
    assert_narrow(&texts);
    insta::assert_snapshot!(texts);
}

#[test]
fn locking_that_is_not_nested() {
    let events = "A|begin A|acq(l) A|r(x) A|acq(m) A|rel(l) A|r(x) A|rel(m) B|w(x)";
    let text = output(&numbered(events), "analyze t.std --model lockset");
    assert_narrow(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn serial_violations() {
    let access =
        output(&numbered("A|begin A|w(x) B|begin B|r(x) B|w(y) B|end A|r(y) A|end"), "analyze t.std --property serial");
    let lock = "A|begin A|acq(l) A|rel(l) B|acq(l) B|rel(l) A|acq(l) A|rel(l)";
    let lock = output(&numbered(lock), "analyze t.std --property serial");
    let fork = output(&numbered("A|begin A|fork(B) B|w(x) A|join(B) A|end"), "analyze t.std --property serial");
    let texts = [access, lock, fork].join("\n---\n\n");
    assert_narrow(&texts);
    insta::assert_snapshot!(texts);
}

#[test]
fn atomic_answers() {
    let folder = Folder::new();
    let mut texts = Vec::new();
    let recorded = "{\"op\":\"meta\",\"key\":\"runtime-version\",\"value\":\"1\"}\n";
    for (meta, events) in [
        ("", "A begin; A read balance 100; B write balance 80; A write balance 90; A end"),
        ("", "A begin; B begin; A write x 1; B write y 1; A read y 1; B read x 1; A end; B end"),
        ("", "A begin; A read x 0; B write x 3; A write x 3; A end"),
        (recorded, "A begin; A write x 1; B read x 1; A write x 2; A end"),
    ] {
        folder.write("t.jsonl", format!("{meta}{}", with_values(events)));
        let run = folder.cli("analyze t.jsonl --property atomic");
        assert_eq!(run.stderr, "");
        texts.push(run.stdout);
    }
    folder.write("t.std", numbered("A|begin A|r(x) A|end B|w(x)"));
    texts.push(folder.cli("analyze t.std --property atomic").stderr);
    texts.iter().take(4).for_each(|text| assert_narrow(text));
    insta::assert_snapshot!(texts.join("\n---\n\n"));
}

#[test]
fn serial_order() {
    let text = output(&numbered("A|begin A|r(x) A|end B|w(x)"), "analyze t.std --property serial");
    assert_narrow(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn stats() {
    let folder = Folder::new();
    folder.write("t.std", numbered(BANK));
    folder.write("every.jsonl", every_operation());
    let texts = ["stats t.std", "stats t.std --format json", "stats every.jsonl"].map(|line| folder.cli(line).stdout);
    insta::assert_snapshot!(texts.join("\n---\n\n"));
}

#[test]
fn dump() {
    let folder = Folder::new();
    folder.write("t.std", numbered(BANK));
    folder.write("every.jsonl", every_operation());
    let whole = folder.cli("dump t.std").stdout;
    let part = folder.cli("dump t.std --from 5 --count 2").stdout;
    assert_eq!(part, whole.lines().skip(5).take(2).map(|line| format!("{line}\n")).collect::<String>());
    assert_eq!(folder.cli("dump t.std --from 100").stdout, "");
    insta::assert_snapshot!([whole, folder.cli("dump every.jsonl").stdout].join("\n---\n\n"));
}

#[test]
fn help() {
    let folder = Folder::new();
    let texts = ["--help", "analyze -h", "check -h", "replay -h"].map(|line| {
        let run = folder.cli(line);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert_narrow(&run.stdout);
        run.stdout
    });
    insta::assert_snapshot!(texts.join("\n---\n\n"));
    for command in ["check", "record", "replay", "analyze", "explain", "doctor", "stats", "dump", "convert", "generate"]
    {
        let run = folder.cli(&format!("{command} --help"));
        assert_eq!(run.code, 0);
        assert_narrow(&run.stdout);
    }
}

#[test]
fn words_are_explained() {
    let folder = Folder::new();
    let words = ["", "confirmed", "feasible", "possible", "infeasible", "unknown", "functions", "rww", "RWR"];
    let texts = words.map(|word| folder.cli(&format!("explain {word}")).stdout);
    texts.iter().for_each(|text| assert_narrow(text));
    let refused = ["explain nonsense", "explain abc", "explain missing.json:abc"]
        .map(|line| folder.anonymous(folder.cli(line).refused()));
    insta::assert_snapshot!(texts.join("\n") + "\n" + &refused.join("\n"));
}

#[test]
fn a_finding_is_explained_again() {
    let folder = Folder::new();
    folder.write("t.std", numbered("A|begin A|r(x) A|w(x) A|end B|w(x)"));
    let result = folder.cli("analyze t.std --format json");
    folder.write("result.json", &result.stdout);
    let id = result.json()["findings"][0]["id"].as_str().unwrap()[..6].to_owned();
    let run = folder.cli(&format!("explain result.json:{id}"));
    assert_eq!(run.code, 0, "{run:?}");
    assert_narrow(&run.stdout);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn manual_and_completions() {
    let folder = Folder::new();
    assert_eq!(folder.cli("man pages").code, 0);
    let page = folder.text("pages/interloper-check.1");
    for part in ["suppressions", "SYNOPSIS", "Examples:"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let run = folder.cli(&format!("completions {shell}"));
        assert!(run.code == 0 && run.stdout.contains("write-baseline"), "{shell}");
    }
}

/// Nothing that a terminal would act on, or that would make a line read as another.
#[track_caller]
fn assert_harmless(run: &Run) {
    for text in [&run.stdout, &run.stderr] {
        let acting = text.chars().find(|&c| {
            (c.is_control() && c != '\n')
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        });
        assert_eq!(acting, None, "{text}");
    }
}

#[test]
fn names_cannot_act_on_terminals() {
    let bad = [
        "\u{1b}[31m",
        "\u{1b}]0;title\u{7}",
        "\u{9b}2J",
        "\u{202e}",
        "\u{2066}x\u{2069}",
        "\u{8}\u{8}",
        "\u{7f}",
        "\u{200b}",
    ];
    for name in bad {
        let folder = Folder::new();
        let n = format!("n{name}n");
        let events = format!(
            "{n}|begin {n}|r({n}) B|acq({n}) B|w({n}) B|rel({n}) {n}|acq({n}) {n}|acq(m) {n}|rel({n}) {n}|w({n}) {n}|end"
        );
        folder.write("t.std", numbered(&events));
        let file = format!("{n}.std");
        folder.write(&file, numbered(&format!("{n}|rel({n})")));
        for line in [
            "analyze t.std --model lockset",
            "analyze t.std --property serial",
            "stats t.std",
            "dump t.std",
            "convert t.std t.jsonl",
            "dump t.jsonl",
        ] {
            let run = folder.cli(line);
            assert!(matches!(run.code, 0 | 1), "{run:?}");
            assert_harmless(&run);
            if line.starts_with("analyze") {
                assert!(run.stdout.contains("n\\u{"), "the name is shown, escaped: {}", run.stdout);
            }
        }
        for args in [["analyze", &file], ["stats", &format!("missing{file}")]] {
            let run = folder.run(args);
            assert_eq!(run.code, 2);
            assert_harmless(&run);
        }
        // Machines get the name as it is, in JSON's own escapes where those are needed.
        assert_eq!(folder.analyze("t.std", "")["findings"][0]["variable"]["name"], n);
    }
}
