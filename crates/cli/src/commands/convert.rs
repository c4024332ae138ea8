//! `interloper convert`.

use crate::args::ConvertArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::output;
use crate::pass::hinted;
use crate::progress::Progress;
use anyhow::{Context as _, anyhow, bail};
use interloper_trace::file::{self, Format};
use interloper_trace::{BATCH, EventSource as _};

pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<Exit> {
    let input = Input::find(&args.input)?;
    let format = Format::of_path(&args.output)
        .ok_or_else(|| anyhow!("{}: expected a name that ends in .ilt, .std or .jsonl", args.output.display()))?;
    let mut reader = input.open()?;
    output::write(Some(&args.output), |out| {
        let mut sink = file::sink(out, format, args.lossy)?;
        let mut progress = Progress::new("converting", reader.size(), !args.no_progress);
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            match reader.next_batch(&mut batch) {
                Ok(()) => {}
                Err(error) if args.salvage => {
                    eprintln!("note: {}: {error}", input.name);
                    eprintln!("note: kept the {} events before that", reader.events_read());
                    break;
                }
                Err(error) => return Err(hinted(error, &input)),
            }
            if batch.is_empty() {
                break;
            }
            sink.write(&batch, reader.tables()).context(hint(format, args.lossy))?;
            progress.at(reader.bytes_read(), String::new);
            if interrupt::requested() {
                bail!("interrupted; nothing was written");
            }
        }
        Ok(sink.finish(reader.tables())?)
    })
    .or_else(|error| if interrupt::requested() { Ok(eprintln!("{error:#}")) } else { Err(error) })?;
    for note in reader.notes() {
        eprintln!("note: {note}");
    }
    Ok(if interrupt::requested() { Exit::Interrupted } else { Exit::Clean })
}

fn hint(format: Format, lossy: bool) -> &'static str {
    match format {
        Format::Std if !lossy => "STD holds less than the input does (--lossy drops the rest)",
        _ => "cannot write the trace",
    }
}
