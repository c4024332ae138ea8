//! `interloper view` and `--format html`, and the page in a real browser.

#![allow(clippy::unwrap_used)]

mod browser;
mod common;

use browser::Chromium;
use common::{Folder, Run, numbered, runtime_directory};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const CACHE: &str = "reader|begin reader|acq(mutex) reader|r(entry) reader|rel(mutex) reader|acq(mutex) reader|w(entry) \
                     reader|rel(mutex) reader|end evictor|acq(mutex) evictor|w(entry) evictor|rel(mutex)";

/// The demo's program, checked.
fn account() -> Folder {
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/account.c");
    folder.write("account.c", std::fs::read(source).unwrap());
    let run = |line: &str| {
        let mut command = folder.command(line.split_whitespace());
        command.env("INTERLOPER_RUNTIME", runtime_directory());
        command.env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"));
        command.env_remove("INTERLOPER_BRANCHES");
        Run::of(command.output().unwrap())
    };
    assert_eq!(run("cc -g -pthread account.c -o account").code, 0);
    let checked = run("check --no-progress -- ./account");
    assert_eq!(checked.code, 1, "{checked:?}");
    folder
}

#[test]
fn a_page_beside_the_result() {
    let folder = account();
    let page = ".interloper/results/1/result.html";
    for line in ["view", "view 1", "view .interloper/results/1", "view .interloper/results/1/result.json"] {
        let run = folder.cli(line);
        assert_eq!((run.code, run.stdout.trim_end(), run.stderr.as_str()), (0, page, ""), "{line}");
    }
    let text = folder.text(page);
    assert!(text.contains("1 confirmed atomicity violation"));
    assert!(text.contains("long balance = account.balance;"), "the source is shown");
    assert!(text.contains("interloper replay "));
    assert_eq!(folder.cli("view -o elsewhere.html --no-source").stdout, "elsewhere.html\n");
    assert!(!folder.text("elsewhere.html").contains("long balance"));
    assert_eq!(folder.cli("view -o - --open").stdout, text, "the same, whenever it is made");
    let opened = folder.cli("view --open");
    assert_eq!((opened.code, opened.stderr.as_str()), (0, "note: not opened: there is no terminal\n"));
    // A page without the traces, and one of a source that was changed.
    folder.write("account.c", "int main(void) {}\n");
    std::fs::remove_dir_all(folder.path(".interloper/traces")).unwrap();
    assert_eq!(folder.cli("view").code, 0);
    let text = folder.text(page);
    assert!(text.contains("since it cannot be read: the analysed trace"));
    assert!(text.contains("changed since the result was made"));
}

#[test]
fn results_that_are_none() {
    let folder = Folder::new();
    for line in ["view", "view latest", "replay", "replay latest"] {
        assert_eq!(
            folder.anonymous(folder.cli(line).refused()),
            "error: there is no result in FOLDER/.interloper yet; `interloper check -- CMD` makes one",
            "{line}"
        );
    }
    assert!(
        folder.cli("view 7").refused().starts_with("error: there is no result 7: .interloper/results/7/result.json")
    );
    assert!(folder.cli("view nowhere.json").refused().starts_with("error: nowhere.json: cannot read"));
    folder.write("other.json", "{\"schema\": \"interloper.result/2\"}");
    for line in ["view other.json", "replay other.json:ab", "explain other.json:ab"] {
        assert_eq!(
            folder.cli(line).refused(),
            "error: other.json: found schema interloper.result/2, expected interloper.result/1: another version of \
             interloper made it",
            "{line}"
        );
    }
    folder.write("none.json", "[1");
    assert!(folder.cli("view none.json").refused().starts_with("error: none.json: found no result of interloper"));
    assert_eq!(folder.names(), ["none.json", "other.json"]);
}

#[test]
fn analyses_as_pages() {
    let folder = Folder::new();
    folder.write("t.std", numbered(CACHE));
    let page = folder.cli("analyze t.std --format html");
    assert_eq!(page.code, 1);
    assert!(page.stdout.contains("1 feasible atomicity violation"));
    assert_eq!(folder.cli("analyze t.std --format html -o page.html").stdout, "");
    assert_eq!(folder.text("page.html"), page.stdout);
    // The same by way of the JSON form, which does not name the trace.
    assert_eq!(folder.cli("analyze t.std --format json -o result.json").code, 1);
    assert_eq!(folder.cli("view result.json --trace t.std").stdout, "result.html\n");
    assert_eq!(embedded(&folder.text("result.html")), embedded(&page.stdout));
    assert!(
        folder.cli("analyze t.std --format html --model lockset").stdout.contains("1 possible atomicity violation")
    );
    let serial = folder.cli("analyze t.std --format html --property serial").stdout;
    assert!(serial.contains("The observed order is serializable"));
    // From a pipe there is nothing to name, but what was read is shown.
    let mut command = folder.command(["analyze", "-", "--input-format", "std", "--format", "html"]);
    command.stdin(std::fs::File::open(folder.path("t.std")).unwrap());
    let piped = Run::of(command.output().unwrap());
    assert_eq!(embedded(&piped.stdout)["tracks"], embedded(&page.stdout)["tracks"]);
    // A trace that is another by now is not shown as the one that was analysed.
    folder.write("t.std", numbered("x|r(a) x|r(a) x|w(b) x|r(b) x|r(c) x|r(c) x|r(c) y|w(c) y|w(c) y|w(c) y|w(c)"));
    assert_eq!(folder.cli("view result.json --trace t.std").code, 0);
    let text = folder.text("result.html");
    assert!(text.contains("since it is not what the result speaks of"), "{text}");
    assert_eq!(embedded(&text)["tracks"], json!([]));
    assert_eq!(folder.cli("view result.json").code, 0);
    assert!(folder.text("result.html").contains("since it cannot be read: the analysed trace"));
    assert!(folder.cli("view result.json --trace u.std").refused().starts_with("error: u.std: cannot read"));
}

/// What the script of a page is given.
fn embedded(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

/// Where a folder's file is, for the browser.
fn file(folder: &Folder, name: &str) -> PathBuf {
    folder.path(name)
}

/// All that a person does with the page of the demo.
#[test]
fn the_demo_in_a_browser() {
    let Some(mut chromium) = Chromium::start() else { return };
    let folder = account();
    assert_eq!(folder.cli("view -o page.html").code, 0);
    chromium.open(&file(&folder, "page.html"));

    // The verdict first, then who did what, then the lanes.
    assert_eq!(chromium.text("h1"), "1 confirmed atomicity violation");
    assert_eq!(chromium.text(".finding h2"), "main.2 got in between two accesses of main.1 to account.balance");
    assert_eq!(
        chromium.text(".outcome"),
        "Harm: the program exited with status 1; in a serial order it exited with status 0. No serial order explains \
         what was read."
    );
    assert_eq!(chromium.text(".who.local"), "main.1 in deposit, one activation of a function");
    assert_eq!(chromium.text(".access.first .what"), "(1) main.1 reads account.balance 0");
    assert_eq!(chromium.text(".access.remote .what"), "(2) main.2 writes account.balance 20");
    assert_eq!(chromium.text(".access.second .what"), "(3) main.1 writes account.balance 100");
    chromium.picture("light.png");

    // It begins at (2), where the other thread's value has just become old.
    assert!(chromium.text(".live").starts_with("(2) main.2 writes account.balance: 20, the interloper"));
    assert_eq!(values(&mut chromium), ["account.balance", "20", "0 old", "20"]);
    assert_eq!(at(&mut chromium, ".pane.local"), "16");
    assert_eq!(at(&mut chromium, ".pane.remote"), "23");

    // Steps, by keys of all kinds; the pane, the values and what is said go along.
    chromium.eval("document.querySelector('[role=listbox]').focus()");
    let step = |chromium: &mut Chromium| chromium.text(".count").split(' ').next().unwrap().parse::<u32>().unwrap();
    let begun = step(&mut chromium);
    for (key, moved) in [("ArrowDown", 1), ("ArrowRight", 2), ("j", 3), ("ArrowUp", 2), ("ArrowLeft", 1), ("k", 0)] {
        chromium.key(key);
        assert_eq!(step(&mut chromium), begun + moved, "{key}");
    }
    chromium.key("3");
    assert!(chromium.text(".live").starts_with("(3) main.1 writes account.balance: 100"));
    assert_eq!(values(&mut chromium), ["account.balance", "100", "100", "20"]);
    assert_eq!(at(&mut chromium, ".pane.local"), "23");
    assert_eq!(chromium.text("[role=option][aria-selected=true] .mark"), "(3)");
    chromium.key("1");
    assert!(chromium.text(".live").starts_with("(1) main.1 reads account.balance: 0"));
    chromium.key("]");
    assert!(chromium.text(".live").starts_with("main.1 unlocks account.mutex"));
    chromium.key("Home");
    assert_eq!(step(&mut chromium), 1);
    chromium.key("End");
    assert!(chromium.text(".live").starts_with("main reads account.balance: 100"));
    // And by the slider, which says where it is.
    chromium.eval("document.querySelector('.slider').focus()");
    chromium.key("Home");
    assert_eq!(step(&mut chromium), 1);
    chromium.key("ArrowRight");
    assert_eq!(step(&mut chromium), 2);
    let said = chromium.eval("document.querySelector('.slider').getAttribute('aria-valuetext')");
    assert_eq!(said, "2 of 18: main forks main.2 – account.c:43 in main");
    // And by the mouse.
    chromium.click("[role=option]:nth-child(5)");
    assert_eq!(step(&mut chromium), 5);

    // What is drawn: a region, spans of locks, arrows of all kinds.
    for drawn in [".region", ".span", ".arrow.fork", ".arrow.join", ".arrow.lock", ".arrow.reads"] {
        let count = chromium.eval(&format!("document.querySelectorAll('.drawing {drawn}').length"));
        assert!(count.as_u64().unwrap() > 0, "{drawn}");
    }

    // The order that was observed had (1) (3) (2): the same accesses, another order, other values.
    chromium.key("2");
    chromium.key("o");
    assert!(chromium.text(".why").contains("(1) (3) (2)"));
    assert!(chromium.text(".live").starts_with("(2) main.2 writes account.balance: 120, the interloper"));
    let marks = "[...document.querySelectorAll('.row .mark')].map((mark) => mark.innerText).join('')";
    assert_eq!(chromium.eval(marks), "(1)(3)(2)");
    assert_eq!(chromium.eval("document.querySelector('input[value=observed]').checked"), true);
    chromium.picture("observed.png");
    chromium.click("input[value=witness]");
    assert_eq!(chromium.eval(marks), "(1)(2)(3)");
    let rows = "document.querySelectorAll('[role=option]').length";
    assert_eq!(chromium.eval(rows), 18);
    chromium.click("input[value=all]");
    assert_eq!(chromium.eval(rows), 22);
    chromium.click("input[value=finding]");

    // The command, copied.
    let command = chromium.text(".replay .command");
    assert!(command.starts_with("interloper replay "));
    chromium.click(".copy");
    chromium.pause();
    assert_eq!(chromium.text(".said"), "copied");
    assert_eq!(chromium.eval("navigator.clipboard.readText()"), command.as_str());
    // And without the way that wants a secure context.
    chromium.eval("navigator.clipboard.writeText = () => Promise.reject(new Error('no')); 0");
    chromium.click(".copy");
    chromium.pause();
    assert_eq!(chromium.eval("document.getSelection().toString()"), command.as_str());

    // Keys that are switched off are off.
    chromium.eval("document.querySelector('.keys').open = true; 0");
    chromium.click(".keys input");
    chromium.eval("document.activeElement.blur()");
    let before = step(&mut chromium);
    chromium.key("j");
    assert_eq!(step(&mut chromium), before);
    chromium.click(".keys input");

    for scheme in ["light", "dark"] {
        chromium.scheme(scheme);
        assert_eq!(chromium.obstacles(), Vec::<String>::new(), "{scheme}");
    }
    let ground = chromium.eval("getComputedStyle(document.documentElement).backgroundColor");
    assert_eq!(ground, "rgb(21, 23, 26)", "dark is dark");
    chromium.eval("scrollTo(0, 0)");
    chromium.picture("dark.png");
    chromium.scheme("light");
    chromium.size(480, 900);
    chromium.eval("scrollTo(0, 0)");
    assert_eq!(chromium.obstacles(), Vec::<String>::new(), "on a narrow screen");
    let sideways = chromium.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(sideways, 0, "nothing sticks out");
    chromium.picture("narrow.png");
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}

/// Two threads that wait for each other in every way there is, around a region of one of them.
const WAYS: &str = r#"
main fork A; main fork B; A begin step; A read x; A acquire m; A wait_begin c; B acquire m; B signal c; B release m;
A wait_end c; A release m; B sem_post s; A sem_wait s; A barrier b; B barrier b; B barrier_leave b; A barrier_leave b;
A once o begin; A once o end; B once o pass; A write flag release; B read flag acquire; B write y; A read y; A write x;
A end step; B write x; main join A; main join B"#;

/// The trace of such a text as JSON Lines.
fn ways() -> String {
    let line = |step: &str| {
        let words: Vec<&str> = step.split_whitespace().collect();
        let mut event = serde_json::json!({"thread": words[0], "op": words[1], "target": words[2]});
        match words[1] {
            "wait_begin" | "wait_end" => event["lock"] = "m".into(),
            "once" => event["phase"] = words[3].into(),
            _ if words.len() > 3 => event["order"] = words[3].into(),
            _ => {}
        }
        format!("{event}\n")
    };
    WAYS.split(';').map(line).collect()
}

/// Whatever one thread waits for in another has its arrow.
#[test]
fn arrows_of_all_kinds() {
    let Some(mut chromium) = Chromium::start() else { return };
    let folder = Folder::new();
    folder.write("ways.jsonl", ways());
    assert_eq!(folder.cli("analyze ways.jsonl --model lockset --format html -o page.html").code, 1);
    chromium.open(&file(&folder, "page.html"));
    let drawn = "[...document.querySelectorAll('.drawing .tip')].map((tip) => tip.getAttribute('class')).join(' ')";
    chromium.click("input[value=all]");
    let mut kinds = String::new();
    // Rows that are out of sight are not drawn.
    for key in ["Home", "End"] {
        chromium.eval("document.querySelector('[role=listbox]').focus()");
        chromium.key(key);
        kinds += &format!("{} ", chromium.eval(drawn).as_str().unwrap());
        chromium.picture(&format!("ways-{key}.png"));
    }
    for kind in ["fork", "join", "lock", "reads", "wake", "semaphore", "barrier", "once", "atomic"] {
        assert!(kinds.split(' ').any(|one| one == kind), "{kind}: {kinds}");
    }
    chromium.key("Home");
    let waits = "document.querySelectorAll('[aria-label=\"A waits at c, unlocking m\"]').length";
    assert_eq!(chromium.eval(waits), 1, "a wait names its condition variable");
    assert_eq!(chromium.obstacles(), Vec::<String>::new());
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}

/// The row of the finding's variable: its name, its value, and what the two threads saw.
#[track_caller]
fn values(chromium: &mut Chromium) -> Vec<String> {
    let cells = chromium.eval("[...document.querySelectorAll('tr.ours > *')].map((cell) => cell.innerText)");
    cells.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().replace('\n', " ").trim().to_owned()).collect()
}

/// The line that a source pane is at.
#[track_caller]
fn at(chromium: &mut Chromium, pane: &str) -> String {
    chromium.text(&format!("{pane} .source-line.at .number"))
}

/// Without a script everything can still be read, and on paper too.
#[test]
fn without_a_script_and_on_paper() {
    let Some(mut chromium) = Chromium::start() else { return };
    let folder = Folder::new();
    folder.write("t.std", two_findings());
    assert_eq!(folder.cli("analyze t.std --format html -o page.html").code, 1);
    chromium.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    chromium.open(&file(&folder, "page.html"));
    let visible = "[...document.querySelectorAll('article .access')].filter((one) => one.checkVisibility()).length";
    assert_eq!(chromium.eval(visible), 6);
    assert!(chromium.text("#f2 h2").contains("to limit"));
    assert!(chromium.text(".proof").contains("Not proved"));
    assert_eq!(chromium.eval("document.querySelectorAll('button').length"), 0);
    assert_eq!(chromium.complaints(), Vec::<String>::new());
    chromium.picture("unscripted.png");

    chromium.call("Emulation.setScriptExecutionDisabled", &json!({ "value": false }));
    chromium.open(&file(&folder, "page.html"));
    assert_eq!(chromium.eval(visible), 3, "one at a time");
    chromium.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    assert_eq!(chromium.eval(visible), 6, "all of them");
    assert_eq!(chromium.eval("document.querySelector('.stage').checkVisibility()"), false);
    let pdf = chromium.call("Page.printToPDF", &json!({}));
    assert!(pdf["data"].as_str().unwrap().starts_with("JVBER"), "a PDF");
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}

/// A trace with two findings, of other variables and threads.
fn two_findings() -> String {
    numbered(
        "main|begin main|r(balance) main|w(balance) main|end teller|w(balance) main|begin main|r(limit) main|r(limit) \
         main|end clerk|w(limit)",
    )
}

#[test]
fn filters() {
    let Some(mut chromium) = Chromium::start() else { return };
    let folder = Folder::new();
    folder.write("t.std", two_findings());
    assert_eq!(folder.cli("analyze t.std --format html -o page.html").code, 1);
    chromium.open(&file(&folder, "page.html"));
    let listed = |chromium: &mut Chromium| {
        chromium.eval(
            "[...document.querySelectorAll('#list li:not([hidden]) code')].map((name) => name.textContent).join()",
        )
    };
    let choose = |chromium: &mut Chromium, what: &str, text: &str| {
        chromium.eval(&format!(
            "(() => {{ const select = document.querySelector('#filter-{what}'); \
             select.value = [...select.options].find((option) => option.text === '{text}').value; \
             select.dispatchEvent(new Event('change')); }})()"
        ));
    };
    assert_eq!(listed(&mut chromium), "balance,limit");
    assert!(chromium.text("article:not([hidden]) h2").contains("to balance"));
    choose(&mut chromium, "variable", "limit");
    assert_eq!(listed(&mut chromium), "limit");
    assert_eq!(chromium.text("#filters [role=status]"), "1 of 2 listed");
    assert!(chromium.text("article:not([hidden]) h2").contains("to limit"), "what is listed is shown");
    choose(&mut chromium, "variable", "all");
    choose(&mut chromium, "thread", "teller");
    assert_eq!(listed(&mut chromium), "balance");
    choose(&mut chromium, "thread", "main");
    assert_eq!(listed(&mut chromium), "balance,limit");
    choose(&mut chromium, "verdict", "feasible");
    assert_eq!(listed(&mut chromium), "balance,limit");
    choose(&mut chromium, "variable", "balance");
    choose(&mut chromium, "thread", "clerk");
    assert_eq!(listed(&mut chromium), "");
    assert!(chromium.text("#nothing").contains("Loosen the filters"));
    choose(&mut chromium, "variable", "all");
    choose(&mut chromium, "thread", "all");

    // By link, by key, by address.
    chromium.click("#list li:nth-child(2) a");
    chromium.pause();
    assert!(chromium.text("article:not([hidden]) h2").contains("to limit"));
    chromium.key("p");
    chromium.pause();
    assert!(chromium.text("article:not([hidden]) h2").contains("to balance"));
    chromium.eval("location.hash = 'f2'");
    chromium.pause();
    assert!(chromium.text("article:not([hidden]) h2").contains("to limit"));
    // The last read of a thread finds what the interloper left; without values, that is not known.
    assert_eq!(chromium.eval("document.querySelector('[aria-current] code').textContent"), "limit");
    for scheme in ["light", "dark"] {
        chromium.scheme(scheme);
        assert_eq!(chromium.obstacles(), Vec::<String>::new(), "{scheme}");
    }
    chromium.picture("filters.png");
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}

/// Pages with nothing to step through, or hardly anything.
#[test]
fn pages_with_little_on_them() {
    let Some(mut chromium) = Chromium::start() else { return };
    let folder = Folder::new();
    folder.write("t.std", two_findings());
    folder.write("none.std", numbered("main|begin main|r(x) main|end teller|r(x)"));
    folder.write("cycle.std", numbered("a|begin a|r(x) b|w(x) a|w(x) a|end"));
    assert_eq!(folder.cli("analyze t.std --format json -o result.json").code, 1);
    assert_eq!(folder.cli("view result.json -o untraced.html").code, 0);
    assert_eq!(folder.cli("analyze none.std --format html -o none.html").code, 0);
    assert_eq!(folder.cli("analyze cycle.std --property serial --format html -o cycle.html").code, 1);
    assert_eq!(folder.cli("analyze t.std --model lockset --format html -o lockset.html").code, 1);
    for (page, headline) in [
        ("untraced.html", "2 feasible atomicity violations"),
        ("none.html", "No atomicity violation found"),
        ("cycle.html", "The observed order is not serializable"),
        ("lockset.html", "2 possible atomicity violations"),
    ] {
        chromium.open(&file(&folder, page));
        assert_eq!(chromium.text("h1"), headline);
        let has_lanes = chromium.eval("document.querySelector('[role=listbox]') !== null");
        assert_eq!(has_lanes, page == "lockset.html", "{page}");
        assert_eq!(chromium.obstacles(), Vec::<String>::new(), "{page}");
        assert_eq!(chromium.complaints(), Vec::<String>::new(), "{page}");
    }
    // Of what is only possible there is no witness, and the page says so.
    assert_eq!(chromium.eval("document.querySelector('input[value=witness]').disabled"), true);
    assert!(chromium.text(".why").contains("There is no witness"));
    chromium.key("o");
    assert_eq!(chromium.eval("document.querySelector('input[value=observed]').checked"), true);
    chromium.picture("lockset.png");
}

/// Names that would be markup, script, or something else than they seem.
#[test]
fn hostile_names() {
    let Some(mut chromium) = Chromium::start() else { return };
    let folder = Folder::new();
    let attack =
        "</script><script>window.owned=1</script><img src=x onerror=window.owned=2>\u{202e}\u{0}\u{2028}'\"--><!--";
    let long = format!("std::map<{}>", "std::pair<int, long>, ".repeat(30_000));
    let event = |thread: &str, op: &str, target: &str| {
        json!({ "thread": format!("{thread}{attack}"), "op": op, "target": target, "file": format!("/a/{attack}.c"),
                "line": 3, "function": long, "size": 4, "value": 1 })
    };
    let region =
        |op: &str| json!({ "thread": format!("A{attack}"), "op": op, "target": attack, "source": "annotated" });
    let lines = [
        region("begin"),
        event("A", "read", attack),
        event("A", "write", attack),
        region("end"),
        event("B", "write", attack),
    ];
    let trace = lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    });
    folder.write("t.jsonl", trace);
    let run = folder.cli("analyze t.jsonl --format html -o page.html");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(folder.text("page.html").len() < 400_000, "a long name is cut");
    chromium.open(&file(&folder, "page.html"));
    assert_eq!(chromium.eval("window.owned"), Value::Null);
    assert_eq!(chromium.eval("document.querySelectorAll('img, iframe, object, embed').length"), 0);
    assert_eq!(chromium.eval("document.scripts.length"), 2);
    let heading = chromium.text("article h2");
    assert!(heading.contains("<script>") && heading.contains("\\u{202e}"), "{heading}");
    chromium.eval("document.querySelector('[role=listbox]').focus()");
    for key in ["Home", "j", "j", "o", "End"] {
        chromium.key(key);
    }
    assert!(chromium.text(".live").contains("script"));
    assert_eq!(chromium.eval("window.owned"), Value::Null);
    assert_eq!(chromium.obstacles(), Vec::<String>::new());
    let sideways = chromium.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(sideways, 0, "nothing sticks out");
    chromium.picture("hostile.png");
    // The policy would have said so if anything had tried.
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}

/// 500 findings, each with a witness of about 5,000 events. How long steps take is printed, and not judged.
#[test]
fn a_large_result_in_a_browser() {
    const FINDINGS: usize = 500;
    let Some(mut chromium) = Chromium::start() else { return };
    let mut trace = "A|begin|1\n".to_owned();
    for role in ["r", "w"] {
        for variable in 0..FINDINGS {
            let _ = writeln!(trace, "A|{role}(v{variable})|2");
        }
    }
    trace += "A|end|3\n";
    for round in 0..1400 {
        let _ = write!(trace, "B|acq(m)|4\nB|w(b{})|5\nB|rel(m)|6\n", round % 20);
    }
    for variable in 0..FINDINGS {
        let _ = writeln!(trace, "B|w(v{variable})|7");
    }
    let folder = Folder::new();
    folder.write("t.std", trace);
    assert_eq!(folder.cli("analyze t.std --no-progress --format html -o page.html").code, 1);
    let bytes = folder.text("page.html").len();
    assert!(bytes < 4 << 20, "{bytes} bytes");
    chromium.open(&file(&folder, "page.html"));
    assert_eq!(chromium.eval("document.querySelectorAll('article').length"), FINDINGS);
    chromium.eval("location.hash = 'f500'");
    chromium.pause();
    chromium.click("input[value=all]");
    let count = chromium.text(".count");
    assert!(count.ends_with("of 5701"), "{count}");
    assert!(
        chromium.eval("document.querySelectorAll('[role=option]').length").as_u64().unwrap() < 60,
        "only what is seen"
    );
    let figures = chromium.eval(
        "(async () => {
            const box = document.querySelector('[role=listbox]');
            const median = (times) => times.sort((one, other) => one - other)[times.length >> 1];
            const press = (key) => box.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
            const stepped = (keys) => {
                const times = [];
                for (let step = 0; step < 200; step++) {
                    const begun = performance.now();
                    press(keys[step % keys.length]);
                    box.getBoundingClientRect();
                    times.push(performance.now() - begun);
                }
                return median(times);
            };
            const back = stepped(['ArrowUp', 'PageUp']);
            const on = stepped(['ArrowDown', 'PageDown']);
            const begun = performance.now();
            location.hash = 'f1';
            await new Promise((done) => addEventListener('hashchange', () => setTimeout(done), { once: true }));
            return { on, back, open: performance.now() - begun };
        })()",
    );
    println!("page of {bytes} bytes; milliseconds: {figures}");
    assert!(chromium.text("article:not([hidden]) h2").ends_with("to v0"));
    chromium.picture("large.png");
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}
