//! `interloper convert`.

use crate::args::ConvertArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::message;
use crate::output::Target;
use crate::progress::Progress;
use anyhow::anyhow;
use interloper_trace::file::{self, Format};
use interloper_trace::{BATCH, EventSource as _};

pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<Exit> {
    let format = target_format(args)?;
    let input = Input::find(&args.trace, &args.read)?;
    let mut reader = input.open()?;
    let target = Target::File(&args.output);
    let advice = if format == Format::Std && !args.lossy { " (--lossy drops it)" } else { "" };
    target.write(|out| {
        let failed = |error| target.sink_error(error, &input.name, advice);
        let mut sink = file::sink(out, format, args.lossy).map_err(failed)?;
        let mut progress = Progress::new("converting", reader.size(), !args.no_progress);
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            match reader.next_batch(&mut batch) {
                Ok(()) => {}
                Err(error) if args.salvage => {
                    message::say("note", &format!("{}: {error}", input.name));
                    message::say("note", &format!("kept the {} events before that", reader.events_read()));
                    break;
                }
                Err(error) => return Err(input.error(&error, "--salvage")),
            }
            // Before the end of the input is believed: after an interrupt it may be no end.
            interrupt::stop_if_requested()?;
            if batch.is_empty() {
                break;
            }
            sink.write(&batch, reader.tables()).map_err(failed)?;
            progress.at(reader.bytes_read(), String::new);
        }
        sink.finish(reader.tables()).map_err(failed)
    })?;
    for note in reader.notes() {
        message::say("note", &note);
    }
    Ok(Exit::Clean)
}

fn target_format(args: &ConvertArgs) -> anyhow::Result<Format> {
    const WRITABLE: &str = "expected a name that ends in .ilt, .std or .jsonl";
    let name = args.output.display();
    match Format::of_path(&args.output) {
        Some(Format::RapidBin) => Err(anyhow!("{name}: RapidBin can be read but not written; {WRITABLE}")),
        Some(format) => Ok(format),
        None => Err(anyhow!("{name}: cannot tell the format: {WRITABLE}")),
    }
}
