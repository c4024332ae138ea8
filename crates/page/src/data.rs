//! What the script is given: one JSON document, names once each, events in columns.
//!
//! The letters are short since there are many of them; `assets/data.js` says what they mean.

use crate::Page;
use crate::arrows::{Arrow, Kind};
use crate::story::Order;
use crate::text;
use crate::track::Track;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// The document, as it may stand in a `script` element: nothing in it can end the element, begin a comment, or be
/// taken for a line's end.
pub(crate) fn embedded(page: &Page) -> String {
    let mut names = Names::default();
    let tracks: Vec<Value> = page.story.tracks.iter().map(|track| of_track(track, &mut names)).collect();
    let findings: Vec<Value> = page
        .result
        .findings
        .iter()
        .zip(&page.story.told)
        .map(|(finding, told)| {
            json!({
                "id": text::clipped(&finding.id, 64),
                "verdict": text::clipped(&finding.verdict, 40),
                "harm": finding.harm.as_deref().map(|harm| text::clipped(harm, 40)),
                "variable": names.enter(&finding.variable.name),
                "threads": [names.enter(&finding.region.thread), names.enter(finding.remote_thread())],
                "observed": told.observed.as_ref().map(of_order),
                "witness": told.witness.as_ref().map(of_order),
            })
        })
        .collect();
    let files: Vec<Value> = page
        .sources
        .files()
        .map(|(name, excerpt)| {
            json!({ "name": names.enter(name), "changed": excerpt.is_changed, "lines": excerpt.lines })
        })
        .collect();
    let document = json!({ "tracks": tracks, "findings": findings, "files": files, "names": names.all });
    escaped(&document.to_string())
}

fn of_track(track: &Track, names: &mut Names) -> Value {
    let rows = &track.rows;
    let mut all = |list: &[String]| list.iter().map(|name| names.enter(name)).collect::<Vec<_>>();
    let threads = all(&track.threads);
    let objects = all(&track.objects);
    let locations: Vec<Value> = track
        .locations
        .iter()
        .map(|place| json!([names.enter(&place.name), names.enter(&place.object), place.offset]))
        .collect();
    let sites: Vec<Value> = track
        .sites
        .iter()
        .map(|site| {
            let mut name = |name: &Option<String>| name.as_ref().map(|name| names.enter(name));
            json!([name(&site.file), site.line, name(&site.function)])
        })
        .collect();
    json!({
        "name": names.enter(&track.name.to_string()),
        "events": track.events,
        "threads": threads,
        "objects": objects,
        "locations": locations,
        "sites": sites,
        "t": rows.iter().map(|row| row.thread).collect::<Vec<_>>(),
        "o": rows.iter().map(|row| row.op).collect::<String>(),
        "x": rows.iter().map(|row| row.target).collect::<Vec<_>>(),
        "s": rows.iter().map(|row| row.site).collect::<Vec<_>>(),
        "i": rows.iter().map(|row| row.index).collect::<Vec<_>>(),
        "v": rows.iter().map(|row| of_value(row.value)).collect::<Vec<_>>(),
        "w": rows.iter().map(|row| of_value(row.written)).collect::<Vec<_>>(),
        "z": rows.iter().map(|row| row.size).collect::<Vec<_>>(),
        "y": rows.iter().enumerate().filter_map(|(row, what)| Some((row, what.also?))).collect::<Vec<_>>(),
        "order": flat(&track.observed),
        "arrows": of_arrows(&track.arrows),
    })
}

fn of_order(order: &Order) -> Value {
    json!({
        "track": order.track,
        "schedule": order.is_schedule,
        "ranges": order.ranges.as_deref().map(flat),
        "arrows": order.arrows.as_deref().map(of_arrows),
        "gaps": order.gaps,
        "marks": order.marks,
        "region": order.region,
    })
}

/// From where to where, by kind.
fn of_arrows(arrows: &[Arrow]) -> Value {
    let of = |kind: Kind| {
        let ends: Vec<u32> =
            arrows.iter().filter(|arrow| arrow.kind == kind).flat_map(|arrow| [arrow.from, arrow.to]).collect();
        (!ends.is_empty()).then(|| (kind.name().to_owned(), ends.into()))
    };
    Value::Object(Kind::ALL.into_iter().filter_map(of).collect())
}

fn flat(ranges: &[(u32, u32)]) -> Vec<u32> {
    ranges.iter().flat_map(|&(begin, count)| [begin, count]).collect()
}

/// A script's numbers are exact up to 2⁵³ only; what is larger is a text.
fn of_value(value: Option<u64>) -> Value {
    const EXACT: u64 = 1 << 53;
    match value {
        None => Value::Null,
        Some(value) if value <= EXACT => value.into(),
        Some(value) => value.to_string().into(),
    }
}

fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(c),
        }
    }
    out
}

/// Names, each once.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    known: FxHashMap<String, usize>,
}

impl Names {
    fn enter(&mut self, name: &str) -> usize {
        let name = text::name(name);
        if let Some(&at) = self.known.get(&name) {
            return at;
        }
        self.all.push(name.clone());
        self.known.insert(name, self.all.len() - 1);
        self.all.len() - 1
    }
}
