//! Where things are: files relative to the root of the sources, lines, and what stands there as far as it can be read.

use super::message::{message, name, text};
use crate::mark::marked;
use crate::sources::{Sources, is_source};
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

/// So many lines before and after what is found are shown with it.
const CONTEXT: i64 = 2;
/// Longer lines are hardly written by people.
const LONGEST_LINE: usize = 500;
pub(super) const ROOT: &str = "SRCROOT";

/// Where things are.
#[derive(Debug)]
pub struct Places {
    /// What relative names are relative to.
    pub folder: PathBuf,
    /// What paths are written relative to: the root of the sources.
    pub root: PathBuf,
    /// The trace, if its lines are its events: findings without a place in the source are shown there.
    pub lines: Option<String>,
    /// Lines of source, which viewers that have no sources show.
    pub sources: Sources,
}

/// A place in the source, or else in the trace.
#[derive(Clone, Copy)]
pub(super) struct Place<'f> {
    pub(super) file: Option<&'f str>,
    pub(super) line: Option<i64>,
    pub(super) function: Option<&'f str>,
    pub(super) index: u64,
    /// What is accessed there.
    pub(super) variable: &'f str,
}

/// A location, as far as it is known.
pub(super) fn location(place: Place<'_>, text: &str, places: &Places) -> Value {
    let mut location = json!({"message": {"text": message(text)}});
    if let Some((file, line)) = physical(place, places) {
        location["physicalLocation"] = json!({"artifactLocation": artifact(file, places)});
        if let Some(line) = line {
            location["physicalLocation"]["region"] = region(file, line, place.variable, &places.sources);
        }
    }
    if let Some(function) = place.function {
        location["logicalLocations"] = json!([{"fullyQualifiedName": name(function), "kind": "function"}]);
    }
    location
}

/// The same, with the lines around it.
pub(super) fn location_in_context(place: Place<'_>, text: &str, places: &Places) -> Value {
    let mut location = location(place, text, places);
    if let Some((file, Some(line))) = physical(place, places)
        && let Some(context) = context(file, line, &places.sources)
    {
        location["physicalLocation"]["contextRegion"] = context;
    }
    location
}

fn physical<'f>(place: Place<'f>, places: &'f Places) -> Option<(&'f str, Option<i64>)> {
    let line = |line: Option<i64>| line.filter(|line| (1..=i64::from(i32::MAX)).contains(line));
    match (place.file, &places.lines) {
        (Some(file), _) => Some((file, line(place.line))),
        (None, Some(trace)) => Some((trace.as_str(), line(i64::try_from(place.index + 1).ok()))),
        (None, None) => None,
    }
}

/// What is marked of a line. Viewers want all four numbers, although three of them say what goes without saying.
fn region(file: &str, line: i64, variable: &str, sources: &Sources) -> Value {
    let mut region = json!({"startLine": line, "startColumn": 1, "endLine": line});
    let source = shown_line(file, line, sources).filter(|source| !source.trim().is_empty());
    if let Some(source) = source {
        let marked = marked(&source, variable);
        let column = |at: usize| source[..at].encode_utf16().count() + 1;
        region["startColumn"] = json!(column(marked.start));
        region["endColumn"] = json!(column(marked.end));
        region["snippet"] = json!({"text": text(&source[marked], LONGEST_LINE)});
    }
    region
}

fn context(file: &str, line: i64, sources: &Sources) -> Option<Value> {
    let known = |number: &i64| shown_line(file, *number, sources).is_some();
    let first = (line - CONTEXT..=line).find(known)?;
    let last = (first..=line + CONTEXT).take_while(known).last()?;
    let lines: Vec<String> = (first..=last)
        .filter_map(|number| shown_line(file, number, sources))
        .map(|line| line.split('\t').map(|part| text(part, LONGEST_LINE)).collect::<Vec<_>>().join("\t"))
        .collect();
    (last >= line).then(|| json!({"startLine": first, "endLine": last, "snippet": {"text": lines.join("\n")}}))
}

/// A line that may be passed on.
fn shown_line(file: &str, line: i64, sources: &Sources) -> Option<String> {
    let source = sources.line(file, line).filter(|source| is_source(file) && source.len() <= LONGEST_LINE)?;
    Some(source.trim_end().to_owned())
}

pub(super) fn has_place(location: &Value) -> bool {
    location.get("physicalLocation").is_some()
}

/// A file: relative to the root, if it is below it.
pub(super) fn artifact(file: &str, places: &Places) -> Value {
    let path = normal(&places.folder.join(file));
    match path.strip_prefix(normal(&places.root)) {
        Ok(inside) if !inside.as_os_str().is_empty() => json!({"uri": encoded(inside), "uriBaseId": ROOT}),
        _ => json!({"uri": format!("file://{}", encoded(&path))}),
    }
}

pub(super) fn folder_uri(folder: &Path) -> String {
    let uri = format!("file://{}", encoded(&normal(folder)));
    if uri.ends_with('/') { uri } else { uri + "/" }
}

/// A path without `.` and `..`. Files need not exist, so links are not followed.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            component => normal.push(component),
        }
    }
    normal
}

/// A path as part of a URI.
fn encoded(path: &Path) -> String {
    /// Longer paths than systems allow are no paths.
    const LONGEST: usize = 4096;
    use std::os::unix::ffi::OsStrExt as _;
    let mut uri = String::new();
    for &byte in path.as_os_str().as_bytes().iter().take(LONGEST) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
