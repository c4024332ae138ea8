//! Whether two traces are the same, event by event.
//!
//! Ids are given in the order in which things are first named, so equal traces have equal ids, and
//! events can be compared as they are. The names behind the ids are compared as well.

use interloper_trace::file::{OpenError, ReadOptions, TraceReader};
use interloper_trace::jsonl::JsonlWriter;
use interloper_trace::{Event, EventSink as _, EventSource as _, StringId, Tables, TraceError};
use std::path::Path;

/// The first difference of two traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Which event.
    pub index: u64,
    /// What it is in the first trace; nothing if that ends before.
    pub first: Option<String>,
    /// What it is in the second.
    pub second: Option<String>,
}

/// Why traces could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// One could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// One could not be read.
    #[error(transparent)]
    Read(#[from] TraceError),
}

/// The first difference of two traces, if there is one.
pub fn compare(first: &Path, second: &Path) -> Result<Option<Mismatch>, CompareError> {
    let mut first = Side::open(first)?;
    let mut second = Side::open(second)?;
    let mut index = 0;
    loop {
        let events = (first.next()?, second.next()?);
        let is_same = match &events {
            (None, None) => return Ok(None),
            (Some(a), Some(b)) if a == b => names_agree(&mut first, &mut second),
            _ => false,
        };
        if !is_same {
            let text = |event: Option<Event>, side: &Side| event.map(|event| text_of(&event, side.reader.tables()));
            return Ok(Some(Mismatch { index, first: text(events.0, &first), second: text(events.1, &second) }));
        }
        index += 1;
    }
}

/// A trace being compared.
struct Side {
    reader: TraceReader,
    batch: Vec<Event>,
    at: usize,
    /// How many strings have been found to be the same.
    strings: usize,
}

impl Side {
    fn open(path: &Path) -> Result<Side, CompareError> {
        let reader = TraceReader::open(path, ReadOptions::default())?;
        Ok(Side { reader, batch: Vec::new(), at: 0, strings: 0 })
    }

    fn next(&mut self) -> Result<Option<Event>, TraceError> {
        if self.at == self.batch.len() {
            self.reader.next_batch(&mut self.batch)?;
            self.at = 0;
        }
        let event = self.batch.get(self.at).copied();
        self.at += usize::from(event.is_some());
        Ok(event)
    }
}

/// Whether the strings that both have by now are the same. What is in other tables refers to these, in
/// an order that the events give away.
fn names_agree(first: &mut Side, second: &mut Side) -> bool {
    let (a, b) = (&first.reader.tables().strings, &second.reader.tables().strings);
    let both = a.len().min(b.len());
    let new = first.strings..both;
    first.strings = both;
    new.filter_map(StringId::from_index).all(|id| a.get(id) == b.get(id))
}

fn text_of(event: &Event, tables: &Tables) -> String {
    let mut line = Vec::new();
    let mut writer = JsonlWriter::new(&mut line);
    if writer.write(&[*event], tables).and_then(|()| writer.finish(tables)).is_err() {
        return format!("{event:?}");
    }
    drop(writer);
    // Facts about the trace come before the event.
    String::from_utf8_lossy(&line).lines().last().unwrap_or_default().to_owned()
}
