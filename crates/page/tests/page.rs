//! What a page is made of: markup that parses, a policy that fits, and nothing that acts.

#![allow(clippy::unwrap_used)]

use base64::Engine as _;
use html5ever::tendril::TendrilSink as _;
use interloper_page::{Page, RecordedTrace, SourceText, TraceName};
use interloper_trace::{Access, Event, MemoryOrder, Op, Region, RegionSource, Site, Tables, Value};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use serde_json::json;
use sha2::{Digest as _, Sha256};

const HOSTILE: &str = "</script></script x<!--<script <script>alert(1)//\u{202e}\u{1b}]0;x\u{7}\u{2028}&lt;\"'";

/// A trace: a region of A with a read and a write of a variable, and a write of B, all in a hostile file.
fn trace(names: &str) -> RecordedTrace {
    let mut tables = Tables::new();
    let [a, b] = ["A", "B"].map(|thread| tables.intern_thread(&format!("{thread}{names}")).unwrap());
    let location = tables.intern_location(&format!("x{names}"), 0).unwrap();
    let file = tables.strings.intern(&format!("a{names}.c")).unwrap();
    let function = tables.strings.intern(&format!("f{names}")).unwrap();
    let mut site =
        |line| tables.intern_site(Site { file: Some(file), function: Some(function), line: Some(line) }).unwrap();
    let sites = [site(1), site(2), site(3)];
    let name = tables.strings.intern(&format!("r{names}")).unwrap();
    let region = Region { name: Some(name), source: RegionSource::Annotated };
    let access =
        |value| Access { location, size: 4, order: MemoryOrder::Plain, more: false, value: Value::known(value) };
    let event = |thread, site, op| Event { thread, site, op };
    let events = vec![
        event(a, sites[0], Op::RegionBegin(region)),
        event(a, sites[0], Op::Read(access(5))),
        event(a, sites[1], Op::Write(access(6))),
        event(a, sites[1], Op::RegionEnd(region)),
        event(b, sites[2], Op::Write(access(u64::from(u32::MAX)))),
    ];
    RecordedTrace { events, tables }
}

/// A result about it.
fn result(names: &str) -> serde_json::Value {
    let event = |role: &str, index: u64, thread: &str, op: &str, line: i64| {
        json!({ "role": role, "index": index, "thread": format!("{thread}{names}"), "op": op,
                "file": format!("a{names}.c"), "line": line, "function": format!("f{names}") })
    };
    json!({
        "schema": "interloper.result/1",
        "trace": { "events": 5, "threads": 2, "locations": 1, "locks": 0, "regions": 1 },
        "model": "causal",
        "property": "triple",
        "counts": { "candidates": 1, "possible": 1, "feasible": 1 },
        "memory_model": "sequentially consistent",
        "findings": [{
            "id": format!("id{names}"), "verdict": "feasible", "reason": format!("because {names}"), "harm": null,
            "pattern": "RWW", "variable": { "name": format!("x{names}") },
            "region": { "source": "annotated", "thread": format!("A{names}"), "begin": 0, "end": 3 },
            "events": [event("first", 1, "A", "r", 1), event("remote", 4, "B", "w", 3), event("second", 2, "A", "w", 2)],
            "locks": { "region": [format!("m{names}")], "remote": [] },
            "witness": { "schedule": "il1:e:0x2.1x1.0x1", "switches": 2, "least": true },
            "replay": format!("interloper replay {names}"),
            "execution": null, "trace": null, "future": [1, 2, 3],
        }],
        "serial": null,
        "notes": [format!("note {names}")],
    })
}

fn page(names: &str, change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut result = result(names);
    change(&mut result);
    let mut page = Page::new(&format!("result{names}"), &result.to_string()).unwrap();
    page.read_traces(&mut |name| (*name == TraceName::Analysed).then(|| trace(names)));
    let files = page.source_files();
    for file in &files {
        let text = format!("int one; {names}\n\tint two;\nint three;\n");
        page.add_source(file, &SourceText { text, is_changed: false });
    }
    page.render()
}

fn parsed(html: &str) -> RcDom {
    html5ever::parse_document(RcDom::default(), html5ever::ParseOpts::default()).one(html)
}

/// An element, with the text directly inside.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
}

impl Element {
    fn has(&self, attribute: &str, value: &str) -> bool {
        self.attributes.contains(&(attribute.to_owned(), value.to_owned()))
    }
}

fn elements(handle: &Handle, found: &mut Vec<Element>) {
    if let NodeData::Element { name, attrs, .. } = &handle.data {
        let attributes = attrs.borrow();
        let attributes = attributes
            .iter()
            .map(|attribute| (attribute.name.local.to_string(), attribute.value.to_string()))
            .collect();
        let children = handle.children.borrow();
        let text = children.iter().filter_map(|child| match &child.data {
            NodeData::Text { contents } => Some(contents.borrow().to_string()),
            _ => None,
        });
        found.push(Element { name: name.local.to_string(), attributes, text: text.collect() });
    }
    for child in handle.children.borrow().iter() {
        elements(child, found);
    }
}

fn all_elements(html: &str) -> Vec<Element> {
    let dom = parsed(html);
    assert_eq!(dom.errors.borrow().as_slice(), &[] as &[std::borrow::Cow<'static, str>]);
    let mut found = Vec::new();
    elements(&dom.document, &mut found);
    found
}

#[test]
fn hostile_names_are_text() {
    let plain = all_elements(&page("", |_| {}));
    let html = page(HOSTILE, |_| {});
    let hostile = all_elements(&html);
    let names = |all: &[Element]| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&plain), names(&hostile), "names make no elements");
    for Element { name, attributes, .. } in &hostile {
        for (attribute, value) in attributes {
            assert!(!attribute.starts_with("on") && attribute != "style" && attribute != "src", "{name} {attribute}");
            assert!(attribute != "href" || value.starts_with('#') || value == "data:,", "{name}: {value}");
        }
    }
    assert!(!html.contains('\u{202e}') && !html.contains('\u{1b}') && !html.contains('\u{2028}'), "nothing acts");
    // Nothing in the data can end its element, whatever parses it.
    let raw = html.split_once("id=\"data\">").and_then(|(_, rest)| rest.split_once("</script>")).unwrap().0;
    assert!(!raw.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
    let data = data(&hostile);
    assert!(data["names"].as_array().unwrap().iter().any(|name| name.as_str().unwrap().contains("</script>")));
}

fn data(elements: &[Element]) -> serde_json::Value {
    let element = elements.iter().find(|one| one.has("id", "data")).unwrap();
    serde_json::from_str(&element.text).unwrap()
}

#[test]
fn the_policy_lets_ours_run_and_nothing_else() {
    let html = page(HOSTILE, |_| {});
    let all = all_elements(&html);
    let policy = all
        .iter()
        .find(|one| one.has("http-equiv", "Content-Security-Policy"))
        .and_then(|one| one.attributes.iter().find(|(name, _)| name == "content"))
        .map(|(_, value)| value.clone())
        .unwrap();
    let hash = |text: &str| base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()));
    let text_of = |name: &str, attributes: usize| {
        let all: Vec<_> = all.iter().filter(|one| one.name == name && one.attributes.len() == attributes).collect();
        assert_eq!(all.len(), 1, "{name}");
        all[0].text.clone()
    };
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; \
             form-action 'none'",
            hash(&text_of("script", 0)),
            hash(&text_of("style", 0)),
        )
    );
    // The one address that there is names a vocabulary, and is never asked for.
    let addresses =
        html.match_indices("http://").chain(html.match_indices("https://")).map(|(at, _)| &html[at..at + 26]);
    assert_eq!(addresses.collect::<Vec<_>>(), ["http://www.w3.org/2000/svg"]);
}

/// The script makes elements and text, and neither markup nor code.
#[test]
fn the_script_has_no_way_to_make_markup() {
    let html = page("", |_| {});
    for forbidden in
        ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"]
    {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn what_can_be_read_without_a_script() {
    let html = page("", |_| {});
    let text: String = strip(&html);
    insta::assert_snapshot!(text);
}

/// The text of a page's body, without the script and its data.
fn strip(html: &str) -> String {
    fn walk(handle: &Handle, out: &mut String) {
        match &handle.data {
            NodeData::Text { contents } => out.push_str(&contents.borrow()),
            NodeData::Element { name, .. } if matches!(&*name.local, "script" | "style" | "head") => {}
            NodeData::Element { name, .. } => {
                let is_block = matches!(
                    &*name.local,
                    "p" | "h1"
                        | "h2"
                        | "li"
                        | "dt"
                        | "dd"
                        | "header"
                        | "article"
                        | "section"
                        | "summary"
                        | "footer"
                        | "pre"
                );
                if is_block && !out.ends_with('\n') {
                    out.push('\n');
                }
                handle.children.borrow().iter().for_each(|child| walk(child, out));
            }
            _ => handle.children.borrow().iter().for_each(|child| walk(child, out)),
        }
    }
    let mut out = String::new();
    walk(&parsed(html).document, &mut out);
    let lines: Vec<&str> = out.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

#[test]
fn every_harm_has_its_sentence() {
    let mut told = String::new();
    for harm in ["crash", "hang", "assert", "exit", "output", "state", "benign", "something new"] {
        let html = page("", |result| {
            let finding = &mut result["findings"][0];
            finding["verdict"] = "confirmed".into();
            finding["harm"] = harm.into();
            finding["execution"] = json!({ "ended": "was killed by signal 6", "recorded": "exited with status 0",
                                           "stdout": "", "stderr": "assertion failed\n" });
        });
        let text = strip(&html);
        let outcome = text.lines().find(|line| line.contains("After it")).unwrap();
        told += &format!("{harm}: {outcome}\n");
        assert!(html.contains(&format!(">{harm}</span>")));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn orders_and_values() {
    let html = page("", |_| {});
    let data = data(&all_elements(&html));
    let finding = &data["findings"][0];
    // Rows stand thread by thread: A's four, then B's one.
    assert_eq!(data["tracks"][0]["o"], "BrwEw");
    assert_eq!(data["tracks"][0]["order"], json!([0, 5]));
    assert_eq!(finding["observed"]["ranges"], json!(null));
    assert_eq!(finding["observed"]["marks"], json!([1, 4, 2]));
    assert_eq!(finding["witness"]["ranges"], json!([0, 2, 4, 1, 2, 1]));
    assert_eq!(finding["witness"]["marks"], json!([1, 2, 3]));
    assert_eq!(finding["witness"]["region"], json!([0, 3]));
    assert!(strip(&html).contains("(2) B writes x 4294967295 (-1)"));
}

/// A thread's last read in a schedule finds what was written before it there, not what it found.
#[test]
fn a_last_read_finds_what_the_schedule_leaves() {
    let html = page("", |result| {
        result["findings"][0]["events"] = json!([
            { "role": "first", "index": 2, "thread": "A", "op": "w", "line": 2 },
            { "role": "remote", "index": 4, "thread": "B", "op": "w", "line": 3 },
            { "role": "second", "index": 1, "thread": "A", "op": "r", "line": 1 },
        ]);
        result["findings"][0]["witness"]["schedule"] = "il1:e:1x1.0x2".into();
    });
    assert!(strip(&html).contains("A reads x 4294967295 (-1) (5 when recorded)"), "{}", strip(&html));
}

#[test]
fn a_long_trace_is_shown_around_the_accesses() {
    let mut long = trace("");
    let far = long.events.pop().unwrap();
    let filler = Event { op: Op::Write(Access { ..bare(&long) }), ..far };
    long.events.extend(std::iter::repeat_n(filler, 200_000));
    long.events.push(far);
    let mut result = result("");
    result["findings"][0]["events"][1]["index"] = 200_004.into();
    result["findings"][0]["witness"]["schedule"] = "il1:e:0x2.1x200001.0x1".into();
    let mut page = Page::new("long", &result.to_string()).unwrap();
    let mut shelf = Some(long);
    page.read_traces(&mut |_| shelf.take());
    let html = page.render();
    assert!(html.len() < 400_000, "{}", html.len());
    let data = data(&all_elements(&html));
    for side in ["observed", "witness"] {
        let order = &data["findings"][0][side];
        let skipped: u64 = order["gaps"].as_array().unwrap().iter().map(|gap| gap[1].as_u64().unwrap()).sum();
        let ranges = order["ranges"].as_array().unwrap();
        let shown: u64 = ranges.iter().skip(1).step_by(2).map(|count| count.as_u64().unwrap()).sum();
        let all = if side == "observed" { 200_005 } else { 200_004 };
        assert_eq!(shown + skipped, all, "{side}");
        assert!(shown < 3_000, "{side}: {shown}");
        let marks: Vec<u64> = order["marks"].as_array().unwrap().iter().map(|mark| mark.as_u64().unwrap()).collect();
        assert_eq!(marks.iter().max(), Some(&(shown - 1)), "{side}");
    }
}

/// An access of another location.
fn bare(trace: &RecordedTrace) -> Access {
    let mut tables = trace.tables.clone();
    Access::bare(tables.intern_location("x", 0).unwrap())
}

#[test]
fn what_is_too_much_is_said() {
    let html = page("", |result| {
        let one = result["findings"][0].clone();
        result["findings"] = std::iter::repeat_n(one, 2_345).collect();
    });
    assert!(strip(&html).contains("345 findings are not on this page, which shows the first 2000"));
    assert_eq!(html.matches("<article").count(), 2_000);
}

#[test]
fn an_empty_result_says_what_that_means() {
    let html = page("", |result| {
        result["findings"] = json!([]);
        result["counts"] = json!({ "candidates": 3, "infeasible": 3 });
    });
    all_elements(&html);
    let text = strip(&html);
    assert!(text.contains("No atomicity violation found"));
    assert!(text.contains("It does not mean that the program is free of violations."));
    assert!(text.contains("3 candidates are ruled out"));
}

#[test]
fn a_cycle_is_listed() {
    let html = page("", |result| {
        result["findings"] = json!([]);
        let event = json!({ "index": 3, "op": "read", "target": HOSTILE, "file": "a.c", "line": 4 });
        result["serial"] = json!({ "serializable": false, "at": 3, "cycle": [
            { "thread": "T0", "region": { "begin": 0, "end": 4 }, "enter": event, "leave": event, "conflict": "access", "on": "x" },
        ] });
    });
    all_elements(&html);
    assert!(strip(&html).contains("The observed order is not serializable"));
    assert!(strip(&html).contains("Region of T0, event 0 to 4"));
}

#[test]
fn damaged_results_are_refused_or_survived() {
    assert!(Page::new("x", "{").is_err());
    assert!(Page::new("x", "{\"schema\": 1}").is_err());
    let error = Page::new("x", "{\"schema\": \"\\u001b[31m\"}").unwrap_err().to_string();
    assert_eq!(error, "found schema \\u{1b}[31m, expected interloper.result/1: another version of interloper made it");
    // Nonsense in every field, as far as the types go.
    let html = page("", |result| {
        let finding = &mut result["findings"][0];
        finding["events"] = json!([{}, {}]);
        finding["region"] = json!({ "begin": u64::MAX });
        finding["witness"]["schedule"] = "il1:e:99x99".into();
        finding["trace"] = "nowhere.ilt".into();
        finding["verdict"] = "\u{202e}".into();
    });
    all_elements(&html);
}
