//! One pass over a trace.

use crate::input::Input;
use crate::interrupt;
use crate::progress::Progress;
use anyhow::Context as _;
use interloper_trace::file::TraceReader;
use interloper_trace::{BATCH, Event, EventIndex, EventSource as _, Tables, TraceError};

/// A trace that has been read.
pub(crate) struct Pass {
    reader: TraceReader,
    /// Whether the user stopped it before its end.
    pub(crate) interrupted: bool,
}

impl Pass {
    /// Reads a trace to its end, giving each event to an analysis.
    ///
    /// `found` says what has been found so far, for the progress bar.
    pub(crate) fn run<A>(
        input: &Input,
        label: &'static str,
        progress: bool,
        analysis: &mut A,
        mut observe: impl FnMut(&mut A, EventIndex, &Event, &Tables),
        found: impl Fn(&A) -> String,
    ) -> anyhow::Result<Pass> {
        let mut reader = input.open()?;
        let mut progress = Progress::new(label, reader.size(), progress);
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            let first = reader.events_read();
            reader.next_batch(&mut batch).map_err(|error| hinted(error, input))?;
            if batch.is_empty() {
                return Ok(Pass { reader, interrupted: false });
            }
            let tables = reader.tables();
            for (index, event) in (first..).zip(&batch) {
                observe(analysis, EventIndex(index), event, tables);
            }
            progress.at(reader.bytes_read(), || found(analysis));
            if interrupt::requested() {
                return Ok(Pass { reader, interrupted: true });
            }
        }
    }

    /// The names in the trace.
    pub(crate) fn tables(&self) -> &Tables {
        self.reader.tables()
    }

    /// How many events there were.
    pub(crate) fn events(&self) -> u64 {
        self.reader.events_read()
    }

    /// What the reader and the user's impatience have to say.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = self.reader.notes();
        if self.interrupted {
            notes.push(format!("interrupted after {} events: the result speaks of these only", self.events()));
        }
        notes
    }
}

/// Adds the file, and for a damaged recording what can be done about it.
pub(crate) fn hinted(error: TraceError, input: &Input) -> anyhow::Error {
    let salvageable = input.name.ends_with(".ilt") && matches!(error, TraceError::Malformed(_));
    let error = Err::<(), _>(error).context(input.name.clone());
    let error = if salvageable {
        error.context("the trace is damaged; `interloper convert --salvage IN OUT` keeps what comes before the damage")
    } else {
        error
    };
    error.expect_err("made from an error")
}
