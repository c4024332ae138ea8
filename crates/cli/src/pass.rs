//! One pass over a trace.

use crate::input::Input;
use crate::interrupt;
use crate::progress::Progress;
use interloper_trace::file::TraceReader;
use interloper_trace::{Event, EventIndex, EventSource as _, Tables};

/// What to do about a damaged recording.
pub(crate) const SALVAGE: &str = "`interloper convert --salvage`";

/// A trace that has been read.
pub(crate) struct Pass {
    reader: TraceReader,
    /// Whether the user stopped it before its end.
    pub(crate) interrupted: bool,
}

impl Pass {
    /// Reads a trace, giving each event to an analysis: to its end or until the user interrupts or, if
    /// so many events are given, until there have been so many, come what may.
    ///
    /// `found` says what has been found so far, for the progress bar.
    pub(crate) fn run<A>(
        input: &Input,
        label: &'static str,
        progress: bool,
        until: Option<u64>,
        analysis: &mut A,
        mut observe: impl FnMut(&mut A, EventIndex, &Event, &Tables),
        found: impl Fn(&A) -> String,
    ) -> anyhow::Result<Pass> {
        let mut reader = input.open()?;
        let mut progress = Progress::new(label, reader.size(), progress);
        let end = until.unwrap_or(u64::MAX);
        while reader.events_read() < end {
            let more = reader.visit(|index, event, tables| {
                if index.0 < end {
                    observe(analysis, index, event, tables);
                }
            });
            if !more.map_err(|error| input.error(&error, SALVAGE))? {
                return Ok(Pass { reader, interrupted: input.cut_short() && until.is_none() });
            }
            progress.at(reader.bytes_read(), || found(analysis));
            if until.is_none() && interrupt::requested() {
                return Ok(Pass { reader, interrupted: true });
            }
        }
        Ok(Pass { reader, interrupted: false })
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
