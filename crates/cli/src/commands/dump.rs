//! `interloper dump`: what is complete is shown, then the damage, if there is any, is an error.

use crate::args::DumpArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::message;
use crate::output::Target;
use crate::pass::SALVAGE;
use anyhow::Context as _;
use interloper_report::dump::Dump;
use interloper_trace::{BATCH, EventIndex, EventSource as _};

pub(crate) fn run(args: &DumpArgs) -> anyhow::Result<Exit> {
    let input = Input::find_or_latest(args.trace.as_deref(), &args.read)?;
    let mut reader = input.open()?;
    let last = args.from.saturating_add(args.count.unwrap_or(u64::MAX));
    let mut dump = Dump::new();
    let mut exit = if input.cut_short() { Exit::Interrupted } else { Exit::Clean };
    let mut failure = None;
    Target::Stdout.write(|out| {
        let mut batch = Vec::with_capacity(BATCH);
        let mut lines = String::new();
        loop {
            let first = reader.events_read();
            if first >= last {
                break;
            }
            if let Err(error) = reader.next_batch(&mut batch) {
                failure = Some(input.error(&error, SALVAGE));
                break;
            }
            if batch.is_empty() {
                break;
            }
            lines.clear();
            for (index, event) in (first..last).zip(&batch) {
                if index < args.from {
                    dump.skip(EventIndex(index), event);
                } else {
                    dump.line(&mut lines, EventIndex(index), event, reader.tables());
                }
            }
            out.write_all(lines.as_bytes()).with_context(|| Target::Stdout.cannot_write())?;
            if interrupt::requested() {
                exit = Exit::Interrupted;
                break;
            }
        }
        Ok(())
    })?;
    for note in reader.notes() {
        message::say("note", &note);
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(exit),
    }
}
