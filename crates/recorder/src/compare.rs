//! Whether two traces are the same, event by event, and if not, what may have made the difference.
//!
//! Ids are given in the order in which things are first named, so equal traces have equal ids, and
//! events can be compared as they are. The names behind the ids are compared as well.
//!
//! What a program reads from outside may well be something else in another run. That is no difference by itself, but
//! it is the first suspect for one that comes after it.

use interloper_trace::file::{OpenError, ReadOptions, TraceReader};
use interloper_trace::jsonl::JsonlWriter;
use interloper_trace::{Event, EventSink as _, EventSource as _, Op, StringId, Tables, ThreadId, TraceError, Value};
use std::path::Path;

/// What comparing two traces gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The first difference.
    pub mismatch: Option<Mismatch>,
    /// The last thing before that, or before the end, which was read from outside and found to be something else.
    pub other_input: Option<Suspect>,
}

/// The first difference of two traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Which event.
    pub index: u64,
    /// What it is in the first trace; nothing if that ends before.
    pub first: Option<String>,
    /// What it is in the second.
    pub second: Option<String>,
    /// What was read from outside before, and may have made the difference.
    pub suspect: Option<Suspect>,
}

/// Something that was read from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// Where it came from, as the trace has it: `pid`, `stdin`, the path of a file, ….
    pub channel: String,
    /// Who read it.
    pub thread: String,
    /// Where in the source.
    pub place: String,
    /// What it was in either run, if it was seen to be something else.
    pub difference: Option<[String; 2]>,
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

/// Compares two traces.
pub fn compare(first: &Path, second: &Path) -> Result<Comparison, CompareError> {
    let mut first = Side::open(first)?;
    let mut second = Side::open(second)?;
    let mut inputs = Inputs::default();
    let mut index = 0;
    loop {
        let events = (first.next()?, second.next()?);
        let is_same = match &events {
            (None, None) => {
                let other_input = inputs.others.last().map(|input| input.suspect(first.reader.tables()));
                return Ok(Comparison { mismatch: None, other_input });
            }
            (Some(a), Some(b)) if a == b || inputs.is_one_from(a, b) => names_agree(&mut first, &mut second),
            _ => false,
        };
        if let (true, (Some(a), Some(b))) = (is_same, &events) {
            inputs.note(a, b);
            index += 1;
            continue;
        }
        let tables = first.reader.tables();
        let thread = events.0.or(events.1).map(|event| event.thread);
        let suspect = inputs.likeliest(thread).map(|input| input.suspect(tables));
        let other_input = inputs.others.last().map(|input| input.suspect(tables));
        let text = |event: Option<Event>, side: &Side| event.map(|event| text_of(&event, side.reader.tables()));
        let (first, second) = (text(events.0, &first), text(events.1, &second));
        return Ok(Comparison { mismatch: Some(Mismatch { index, first, second, suspect }), other_input });
    }
}

/// What was read from outside so far: the last of each thread, in the order in which they came.
#[derive(Debug, Default)]
struct Inputs {
    /// Seen to be something else in the other run.
    others: Vec<Pair>,
    /// Of which too little is known to tell.
    unknown: Vec<Pair>,
}

/// An event of which both runs have one.
#[derive(Clone, Copy, Debug)]
struct Pair(Event, Event);

impl Inputs {
    /// Whether two events are inputs from the same source, whatever came from there.
    fn is_one_from(&self, a: &Event, b: &Event) -> bool {
        let (Op::Input { channel: from_a, .. }, Op::Input { channel: from_b, .. }) = (a.op, b.op) else { return false };
        (a.thread, a.site, from_a) == (b.thread, b.site, from_b)
    }

    fn note(&mut self, a: &Event, b: &Event) {
        let Op::Input { value, .. } = a.op else { return };
        let list = if a != b {
            &mut self.others
        } else if value == Value::UNKNOWN {
            &mut self.unknown
        } else {
            return;
        };
        list.retain(|Pair(known, _)| known.thread != a.thread);
        list.push(Pair(*a, *b));
    }

    /// What most likely made a difference in this thread: what was seen to be something else, rather its own, rather
    /// what came last.
    fn likeliest(&self, thread: Option<ThreadId>) -> Option<Pair> {
        let of = |list: &[Pair]| {
            let own = list.iter().find(|Pair(event, _)| Some(event.thread) == thread);
            own.or(list.last()).copied()
        };
        of(&self.others).or_else(|| of(&self.unknown))
    }
}

impl Pair {
    fn suspect(&self, tables: &Tables) -> Suspect {
        let Pair(first, second) = self;
        let Op::Input { channel, .. } = first.op else { unreachable!("only inputs are kept") };
        let difference = (first != second).then(|| [amount(first), amount(second)]);
        Suspect {
            channel: tables.strings.get(channel).to_owned(),
            thread: tables.thread(first.thread).to_owned(),
            place: place(first, tables),
            difference,
        }
    }
}

/// What an input was, or how much.
fn amount(event: &Event) -> String {
    let Op::Input { size, value, .. } = event.op else { return String::new() };
    let Some(value) = value.get() else { return format!("{size} bytes") };
    // Numbers are not made of letters and digits alone, unless they are very large.
    let bytes = value.to_le_bytes();
    let text = &bytes[..bytes.len().min(size as usize)];
    match std::str::from_utf8(text) {
        Ok(text) if text.chars().all(|c| !c.is_control() || c.is_ascii_whitespace()) => format!("{text:?}"),
        _ => value.to_string(),
    }
}

fn place(event: &Event, tables: &Tables) -> String {
    let site = tables.site(event.site);
    let name = |id: Option<StringId>| id.map(|id| tables.strings.get(id));
    match (name(site.file), site.line, name(site.function)) {
        (Some(file), Some(line), _) => format!("{file}:{line}"),
        (_, _, Some(function)) => function.to_owned(),
        _ => "a place that is not known".to_owned(),
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
/// an order that the events give away. Paths are not compared: those of sources are the binary's, and a file that is
/// read may have a name that is made up for each run.
fn names_agree(first: &mut Side, second: &mut Side) -> bool {
    let (a, b) = (&first.reader.tables().strings, &second.reader.tables().strings);
    let both = a.len().min(b.len());
    let new = first.strings..both;
    first.strings = both;
    let is_path = |id: StringId| a.get(id).starts_with('/') && b.get(id).starts_with('/');
    new.filter_map(StringId::from_index).all(|id| a.get(id) == b.get(id) || is_path(id))
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
