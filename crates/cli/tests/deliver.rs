//! How results are handed on: SARIF, suppressions, baselines; and input that means harm.

#![allow(clippy::unwrap_used)]

mod common;

use common::schema::assert_sarif;
use common::{Folder, numbered, runtime_directory};
use serde_json::{Value, json};

const CACHE: &str = "reader|begin reader|acq(m) reader|r(entry) reader|rel(m) reader|acq(m) reader|w(entry) reader|rel(m) \
                     reader|end evictor|acq(m) evictor|w(entry) evictor|rel(m)";

/// A trace of a program with a file: a counter is read and written, and another thread writes in between.
fn counter(folder: &Folder, file: &str, function: &str, variable: &str) {
    let event = |thread: &str, op: &str, line: u32| {
        let place = json!({"file": file, "function": function, "line": line}).to_string();
        format!("{{\"thread\":\"{thread}\",{op},{}\n", &place[1..])
    };
    let target = format!("\"target\":{}", json!(variable));
    let mut trace = event("main", "\"op\":\"fork\",\"target\":\"other\"", 9);
    trace += &event("main", "\"op\":\"begin\",\"source\":\"functions\"", 1);
    trace += &event("main", &format!("\"op\":\"read\",{target},\"value\":1,\"size\":4"), 2);
    trace += &event("main", &format!("\"op\":\"write\",{target},\"value\":2,\"size\":4"), 3);
    trace += &event("main", "\"op\":\"end\",\"source\":\"functions\"", 4);
    trace += &event("other", &format!("\"op\":\"write\",{target},\"value\":7,\"size\":4"), 6);
    folder.write("t.jsonl", trace);
}

const SOURCE: &str =
    "void add(void) {\n    int old = hits;\n    hits = old + 1;\n}\nvoid clear(void) {\n    hits = 7;\n}\n";

fn sarif(folder: &Folder, line: &str) -> Value {
    let run = folder.cli(line);
    let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert_sarif(&document);
    document
}

#[test]
fn sarif_is_valid() {
    let folder = Folder::new();
    folder.write("t.std", numbered(CACHE));
    folder.write("s.txt", "variable:entry because it may be evicted\n");
    counter(&folder, "add.c", "add", "hits");
    for line in [
        "analyze t.std",
        "analyze t.std --model lockset",
        "analyze t.std --model lockset --all",
        "analyze t.std --property serial",
        "analyze t.std --suppressions s.txt",
        "analyze t.jsonl",
        "analyze t.jsonl --explain-infeasible",
    ] {
        sarif(&folder, &format!("{line} --format sarif"));
    }
    let results = sarif(&folder, "analyze t.jsonl --format sarif")["runs"][0]["results"].clone();
    let text = serde_json::to_string_pretty(&results).unwrap();
    insta::assert_snapshot!(text);
    let violated = numbered("A|begin A|w(x) B|begin B|r(x) B|w(y) B|end A|r(y) A|end");
    folder.write("t.std", violated);
    let serial = sarif(&folder, "analyze t.std --property serial --format sarif");
    assert_eq!(serial["runs"][0]["results"][0]["ruleId"], "SERIAL");
}

/// A program that was checked: its stored result, the same as SARIF, and the finding told again.
#[test]
fn results_of_check() {
    let folder = Folder::new();
    let run = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command.env("INTERLOPER_RUNTIME", runtime_directory()).env_remove("CC").env_remove("INTERLOPER_COMPILER");
        command.env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"));
        common::Run::of(command.output().unwrap())
    };
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/account.c");
    folder.write("account.c", std::fs::read(source).unwrap());
    assert_eq!(run(&["cc", "-g", "-pthread", "account.c", "-o", "account"]).code, 0);
    let checked = run(&["check", "--format", "sarif", "--", "./account"]);
    assert_eq!(checked.code, 1, "{checked:?}");
    let document: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_sarif(&document);
    let result = &document["runs"][0]["results"][0];
    assert_eq!((&result["level"], &result["ruleId"]), (&json!("error"), &json!("RWW")));
    let flows = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
    let order = |flow: &Value| {
        flow["locations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|own| own["executionOrder"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    let orders: Vec<_> = flows.iter().map(|flow| (flow["id"].as_str().unwrap().to_owned(), order(flow))).collect();
    let expected = [("main", vec![1, 2]), ("main.1", vec![3, 5]), ("main.2", vec![4])];
    assert_eq!(orders, expected.map(|(thread, order)| (thread.to_owned(), order)));

    let stored: Value = serde_json::from_str(&folder.text(".interloper/latest.json")).unwrap();
    common::schema::assert_documented(&stored);
    let finding = &stored["findings"][0];
    assert_eq!(result["partialFingerprints"]["interloperFinding/v1"], finding["id"]);
    let values =
        ["read", "written", "written"].iter().enumerate().map(|(at, field)| finding["events"][at][field].as_u64());
    assert_eq!(
        values.collect::<Vec<_>>(),
        [Some(0), Some(20), Some(100)],
        "what was read and written when it happened"
    );

    let worst = run(&["replay"]);
    assert_eq!(worst.code, 1, "{worst:?}");
    assert!(run(&["replay", "0"]).refused().ends_with(&format!("there are {}", &finding["id"].as_str().unwrap()[..8])));

    // Hidden, it can still be replayed and explained.
    folder.write("s.txt", "variable:account.balance because the books are checked at night\n");
    let hidden = run(&["check", "--suppressions", "s.txt", "--", "./account"]);
    assert_eq!(hidden.code, 0, "{hidden:?}");
    let id = finding["id"].as_str().unwrap();
    assert_eq!(run(&["replay", id]).code, 1);
    assert!(run(&["explain", id]).stdout.contains("15 |     long balance = account.balance;"));
}

/// Lines of an STD file are its events: findings are shown there, for want of a source.
#[test]
fn sarif_of_a_trace_without_sources() {
    let folder = Folder::new();
    folder.write("t.std", numbered(CACHE));
    let document = sarif(&folder, "analyze t.std --format sarif");
    let location = &document["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        *location,
        json!({
            "artifactLocation": {"uri": "t.std", "uriBaseId": "SRCROOT"},
            "region": {"startLine": 3, "startColumn": 1, "endLine": 3},
        })
    );
}

#[test]
fn suppressions_hide_and_are_counted() {
    let folder = Folder::new();
    counter(&folder, "/src/add.c", "add", "stats.hits");
    let hidden = |line: &str| {
        folder.write("s.txt", format!("{line}\n"));
        let run = folder.cli("analyze t.jsonl --format json --suppressions s.txt");
        let result = run.json();
        let counts = &result["counts"];
        assert_eq!(counts["candidates"], 1);
        assert_eq!(counts["feasible"].as_u64().unwrap() + counts["suppressed"].as_u64().unwrap(), 1);
        let hidden = counts["suppressed"] == 1;
        assert_eq!(run.code, i32::from(!hidden), "{run:?}");
        assert_eq!(result["findings"].as_array().unwrap().len(), usize::from(!hidden));
        (hidden, run.stderr)
    };
    for line in ["variable:stats.* because x", "file:src/*.c because x", "function:add pattern:RWW because x"] {
        assert_eq!(hidden(line), (true, String::new()), "{line}");
    }
    let notes = ["variable:stats because x", "variable:stats.hits until 2020-01-31 because x"].map(|line| {
        let (hidden, stderr) = hidden(line);
        assert!(!hidden, "{line}");
        stderr
    });
    insta::assert_snapshot!(notes.concat());
    // Whoever wants to know finds it with its reason.
    folder.write("s.txt", "variable:stats.hits because roughly will do\n");
    let result = folder.cli("analyze t.jsonl --format json --suppressions s.txt").json();
    assert_eq!(
        result["suppressed"][0]["suppression"],
        json!({"kind": "file", "place": "s.txt:1", "reason": "roughly will do"})
    );
    let document = sarif(&folder, "analyze t.jsonl --format sarif --suppressions s.txt");
    assert_eq!(
        document["runs"][0]["results"][0]["suppressions"],
        json!([{"kind": "external", "status": "accepted", "justification": "s.txt:1: roughly will do"}])
    );
}

#[test]
fn what_is_suppressed_is_not_told_as_text() {
    let folder = Folder::new();
    counter(&folder, "add.c", "add", "hits");
    folder.write("s.txt", "variable:hits because x\nvariable:misses because y\n");
    let hidden = folder.cli("analyze t.jsonl --suppressions s.txt");
    folder.cli("analyze t.jsonl --write-baseline b.txt");
    let known = folder.cli("analyze t.jsonl --baseline b.txt");
    assert_eq!((hidden.code, known.code), (0, 0));
    folder.write("add.c", SOURCE.replace("old = hits;", "old = hits; // interloper: ignore(who counts?)"));
    let annotated = folder.cli("analyze t.jsonl");
    assert_eq!(annotated.code, 0);
    folder.write("add.c", SOURCE.replace("old = hits;", "old = hits; // interloper: ignore"));
    let wrong = folder.cli("analyze t.jsonl");
    assert_eq!(wrong.code, 1);
    let texts = [hidden, known, annotated, wrong].map(|run| run.stdout + &run.stderr);
    insta::assert_snapshot!(texts.join("\n---\n\n"));
}

#[test]
fn malformed_suppressions_and_baselines_are_refused() {
    let folder = Folder::new();
    folder.write("t.std", numbered(CACHE));
    folder.write("s.txt", "# mine\nvariable:entry\n");
    folder.write("b.txt", "0123456789abcdef\nentry\n");
    let texts = [
        "analyze t.std --suppressions s.txt",
        "analyze t.std --suppressions missing.txt",
        "analyze t.std --baseline b.txt",
        "check --suppressions s.txt -- ./nothing",
    ]
    .map(|line| folder.cli(line).refused().to_owned());
    insta::assert_snapshot!(texts.join("\n"));
    assert!(!folder.names().contains(&".interloper".to_owned()), "nothing was begun");
}

#[test]
fn only_what_is_new_counts_against_a_baseline() {
    let folder = Folder::new();
    folder.write("t.std", numbered(CACHE));
    assert_eq!(folder.cli("analyze t.std --write-baseline b.txt").code, 1);
    let known = folder.cli("analyze t.std --baseline b.txt --format json");
    assert_eq!((known.code, &known.json()["findings"][0]["known"]), (0, &json!(true)));
    // A whole result will do, too.
    folder.write("r.json", folder.cli("analyze t.std --format json").stdout);
    assert_eq!(folder.cli("analyze t.std --baseline r.json").code, 0);
    folder.write("t.std", numbered(&CACHE.replace("entry", "other")));
    let new = folder.cli("analyze t.std --baseline b.txt --format json");
    assert_eq!(new.code, 1);
    assert_eq!(new.stderr, "note: 1 of the baseline were not found again; write a new one to forget them\n");
    let states = sarif(&folder, "analyze t.std --baseline r.json --format sarif");
    assert_eq!(states["runs"][0]["results"][0].get("baselineState"), None, "nothing is known");
}

/// The same finding has the same id wherever the sources lie, and when lines move.
#[test]
fn ids_survive_folders_and_edits() {
    let folder = Folder::new();
    let id = |file: &str| {
        counter(&folder, file, "add", "hits");
        folder.analyze_by("causal", "t.jsonl", "")["findings"][0]["id"].clone()
    };
    assert_eq!(id("/home/one/src/add.c"), id("/build/add.c"));
    assert_ne!(id("/home/one/src/add.c"), id("/home/one/src/sub.c"));
}

/// Names that would do harm in a terminal, a page or a viewer, and names as long as a line of JSON Lines allows.
#[test]
fn hostile_names_do_nothing() {
    let long = format!("std::map<{}>", "std::basic_string<char>, ".repeat(12_000));
    let names = [
        "</script><script>alert(1)</script>",
        "<!--",
        "\u{1b}[2J\u{1b}]0;owned\u{7}",
        "a\u{202e}b\u{2066}c",
        "[click](https://example.com) {0}",
        "..\\..\\x",
        "%s%n",
        "\"; rm -rf /; \"",
        "line\nbreak\r\n",
        &long,
    ];
    for name in names {
        let folder = Folder::new();
        counter(&folder, &format!("/src/{name}"), name, name);
        for line in ["analyze t.jsonl", "analyze t.jsonl --model lockset", "analyze t.jsonl --property serial"] {
            let run = folder.cli(line);
            let acts = |c: char| {
                (c.is_control() && c != '\n')
                    || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            };
            assert!(!run.stdout.contains(acts), "{name:?}: {}", run.stdout);
            assert!(run.stdout.len() < 100_000, "{} bytes", run.stdout.len());
        }
        // Whole, in JSON's own escapes: it is for machines.
        let result = folder.analyze_by("causal", "t.jsonl", "");
        assert_eq!(result["findings"][0]["variable"]["name"], name);
        let document = sarif(&folder, "analyze t.jsonl --format sarif");
        let text = document.to_string();
        assert!(text.len() < 100_000, "{} bytes", text.len());
        let message = document["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
        assert!(!message.contains("](http") && !message.contains('{'), "{message}");
        let is_uri = |uri: &str| uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte));
        let location = &document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
        assert!(is_uri(location["uri"].as_str().unwrap()), "{location}");
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{name:?}");
    }
}

/// The same, from a program whose source claims to be called something nasty and whose function has a name as long as a
/// chapter, compiled, recorded, and shown in every form.
#[test]
fn hostile_names_of_a_program_do_nothing() {
    let folder = Folder::new();
    let long = format!("add{}", "_and_again".repeat(5_000));
    folder.write(
        "program.c",
        format!(
            "#include <pthread.h>\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic int total;\n\
             #line 7 \"</script><script>alert(1)</script>\u{1b}[2J\u{202e}%s.c\"\n\
             static void *{long}(void *own) {{\n    pthread_mutex_lock(&lock);\n    int seen = total;\n    \
             pthread_mutex_unlock(&lock);\n    pthread_mutex_lock(&lock);\n    total = seen + 1;\n    \
             pthread_mutex_unlock(&lock);\n    return own;\n}}\n\
             int main(void) {{\n    pthread_t a, b;\n    pthread_create(&a, 0, {long}, 0);\n    \
             pthread_create(&b, 0, {long}, 0);\n    pthread_join(a, 0);\n    pthread_join(b, 0);\n    \
             return total != 2;\n}}\n"
        ),
    );
    let run = |arguments: &[&str]| {
        let mut command = common::corpus::interloper(&runtime_directory());
        common::Run::of(command.args(arguments).current_dir(folder.path(".")).output().unwrap())
    };
    let compiled = run(&["cc", "-g", "-pthread", "program.c", "-o", "program"]);
    assert_eq!(compiled.code, 0, "{}", compiled.stderr);
    let told = run(&["check", "--no-progress", "--", "./program"]);
    assert_eq!(told.code, 1, "{told:?}");
    let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(told.stdout.contains("</script>") && told.stdout.contains("add_and_again"), "{}", told.stdout);
    assert!(!told.stdout.contains(acts) && !told.stderr.contains(acts), "{told:?}");
    assert!(told.stdout.len() < 20_000, "{} bytes", told.stdout.len());
    let dumped = run(&["dump"]);
    assert!(!dumped.stdout.contains(acts), "{}", dumped.stdout);
    let page = run(&["view", "-o", "-"]).stdout;
    assert!(page.contains("&lt;/script&gt;") && !page.contains("<script>alert"), "{page}");
    assert!(!page.contains(acts), "{page}");
    let sarif = run(&["check", "--no-progress", "--format", "sarif", "--", "./program"]);
    assert!(!sarif.stdout.contains(acts), "{}", sarif.stdout);
    assert_sarif(&serde_json::from_str(&sarif.stdout).unwrap());
}

#[test]
fn the_documented_example_is_a_result() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results.md")).unwrap();
    let example = text.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let example: Value = serde_json::from_str(example).unwrap();
    assert_eq!(example["schema"], "interloper.result/1");
    common::schema::assert_documented(&example);
}

/// `script` is a terminal to what it runs.
#[test]
fn colour_is_for_terminals() {
    let folder = Folder::new();
    folder.write("t.std", numbered(CACHE));
    let on_terminal = |variable: &str| {
        let line = format!("{} analyze t.std", env!("CARGO_BIN_EXE_interloper"));
        let mut command = std::process::Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path(".")).env_remove("NO_COLOR");
        command.env("TERM", "xterm").stdin(std::process::Stdio::null());
        if let Some((name, value)) = variable.split_once('=') {
            command.env(name, value);
        }
        command.output().map(|output| String::from_utf8(output.stdout).unwrap())
    };
    let Ok(coloured) = on_terminal("") else {
        eprintln!("not tried on a terminal: there is no script(1)");
        return;
    };
    assert!(coloured.contains("\u{1b}[1;31mfeasible\u{1b}[0m"), "{coloured}");
    for variable in ["NO_COLOR=1", "TERM=dumb"] {
        let plain = on_terminal(variable).unwrap();
        assert!(plain.contains("feasible RWW") && !plain.contains('\u{1b}'), "{variable}: {plain}");
    }
    assert!(!folder.cli("analyze t.std").stdout.contains('\u{1b}'));
}
