//! Pages of results: finds the traces and sources that a page shows, and hands them to what makes it.

use crate::input::Input;
use crate::results;
use crate::store;
use anyhow::Context as _;
use interloper_page::{Page, RecordedTrace, SourceText, TraceName};
use interloper_report::Document;
use interloper_report::sources::is_source;
use interloper_trace::file::{ReadOptions, TraceReader};
use interloper_trace::std_format::StdDialect;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Traces of more events are not shown: they would have to be in memory.
const MOST_EVENTS: usize = 8_000_000;
/// Source files of more bytes are not shown.
const MOST_SOURCE: u64 = 4 << 20;
/// The page of a trace that was just analysed.
pub(crate) fn of_analysed(document: &Document, input: &Input) -> anyhow::Result<String> {
    let made = input.path().and_then(modified);
    let shelf = Shelf { folders: vec![PathBuf::from(".")], made };
    let mut page = page(document, &input.name)?;
    page.read_traces(&mut |name| match name {
        TraceName::Analysed => read(input.open().ok()?),
        TraceName::Run(path) => shelf.trace(Path::new(path)),
    });
    shelf.add_sources(&mut page);
    Ok(page.render())
}

/// The page of a program that was just checked. `result` is where the result was stored.
pub(crate) fn of_checked(document: &Document, result: &Path) -> anyhow::Result<String> {
    let mut page = page(document, &result.display().to_string())?;
    fill(&mut page, result, None, true);
    Ok(page.render())
}

/// The page of a result that was stored. `trace` is the one that was analysed, if the result does not say.
pub(crate) fn of_stored(result: &Path, trace: Option<&Path>, with_source: bool) -> anyhow::Result<String> {
    let name = result.display().to_string();
    let json = results::text(result)?;
    let mut page = Page::new(&name, &json).with_context(|| name.clone())?;
    if let Some(trace) = trace {
        trace.metadata().with_context(|| format!("{}: cannot read", trace.display()))?;
    }
    fill(&mut page, result, trace, with_source);
    Ok(page.render())
}

fn page(document: &Document, name: &str) -> anyhow::Result<Page> {
    let json = serde_json::to_string(document).context("cannot write the result as JSON")?;
    Page::new(name, &json).context("cannot make a page of the result")
}

fn fill(page: &mut Page, result: &Path, trace: Option<&Path>, with_source: bool) {
    let given = trace.and_then(|trace| std::path::absolute(trace).ok());
    let analysed = given.or_else(|| page.result().trace.file.clone().map(PathBuf::from));
    let program = page.result().program.as_ref().and_then(|program| program.folder.clone());
    let folders = [store::folder_of_result(result), program.map(PathBuf::from), Some(PathBuf::from("."))];
    let shelf = Shelf { folders: folders.into_iter().flatten().collect(), made: modified(result) };
    page.read_traces(&mut |name| match name {
        TraceName::Analysed => shelf.trace(analysed.as_deref()?),
        TraceName::Run(path) => shelf.trace(Path::new(path)),
    });
    if with_source {
        shelf.add_sources(page);
    }
}

/// Where files are sought.
struct Shelf {
    /// What names that are not absolute may be relative to.
    folders: Vec<PathBuf>,
    /// When the result, or the trace, was made.
    made: Option<SystemTime>,
}

impl Shelf {
    fn find(&self, name: &Path) -> Option<PathBuf> {
        self.folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    fn trace(&self, name: &Path) -> Option<RecordedTrace> {
        let path = self.find(name)?;
        let open = |std_dialect| {
            let options = ReadOptions { std_dialect, ..ReadOptions::default() };
            read(TraceReader::open(&path, options).ok()?)
        };
        open(StdDialect::Rapid).or_else(|| open(StdDialect::Extended))
    }

    fn add_sources(&self, page: &mut Page) {
        for file in page.source_files() {
            if let Some(source) = self.source(&file) {
                page.add_source(&file, &source);
            }
        }
    }

    fn source(&self, name: &str) -> Option<SourceText> {
        if !is_source(name) {
            return None;
        }
        let path = self.find(Path::new(name))?;
        let mut bytes = Vec::new();
        let file = std::fs::File::open(&path).ok()?;
        file.take(MOST_SOURCE + 1).read_to_end(&mut bytes).ok()?;
        if bytes.len() as u64 > MOST_SOURCE {
            return None;
        }
        let is_changed = matches!((modified(&path), self.made), (Some(changed), Some(made)) if changed > made);
        Some(SourceText { text: String::from_utf8_lossy(&bytes).into_owned(), is_changed })
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// All of a trace, if it can be read and is not too long.
fn read(mut reader: TraceReader) -> Option<RecordedTrace> {
    use interloper_trace::EventSource as _;
    let mut events = Vec::new();
    while reader.visit(|_, event, _| events.push(*event)).ok()? {
        if events.len() > MOST_EVENTS {
            return None;
        }
    }
    Some(RecordedTrace { events, tables: reader.tables().clone() })
}
