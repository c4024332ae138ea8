//! `interloper generate`.

use crate::args::GenerateArgs;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Target;
use crate::progress::Progress;
use anyhow::anyhow;
use interloper_generate::{Generator, Options};
use interloper_trace::file::{self, Format};
use interloper_trace::{BATCH, EventSource as _};

pub(crate) fn run(args: &GenerateArgs) -> anyhow::Result<Exit> {
    let options = Options {
        events: args.events,
        threads: args.threads,
        locks: args.locks,
        variables: args.variables,
        seed: args.seed,
        widen: args.widen,
        forks: !args.no_forks,
        non_nested: args.non_nested,
        ..Options::default()
    };
    let mut generator = Generator::new(args.shape, options)?;
    let target = Target::of(args.output.as_deref());
    let format = target_format(target)?;
    target.write(|out| {
        let failed = |error| target.sink_error(error, "the generated trace", "");
        let mut sink = file::sink(out, format, false).map_err(failed)?;
        let mut progress = Progress::new("generating", Some(generator.events()), !args.no_progress);
        let mut batch = Vec::with_capacity(BATCH);
        let mut written = 0;
        loop {
            interrupt::stop_if_requested()?;
            generator.next_batch(&mut batch)?;
            if batch.is_empty() {
                break;
            }
            sink.write(&batch, generator.tables()).map_err(failed)?;
            written += batch.len() as u64;
            progress.at(written, String::new);
        }
        sink.finish(generator.tables()).map_err(failed)
    })?;
    Ok(Exit::Clean)
}

fn target_format(target: Target<'_>) -> anyhow::Result<Format> {
    const WRITABLE: &str = "expected a name that ends in .std, .ilt or .jsonl";
    let Target::File(path) = target else { return Ok(Format::Std) };
    match Format::of_path(path) {
        Some(Format::RapidBin) => Err(anyhow!("{}: RapidBin can be read but not written; {WRITABLE}", path.display())),
        Some(format) => Ok(format),
        None => Err(anyhow!("{}: cannot tell the format: {WRITABLE}", path.display())),
    }
}
