//! `interloper generate`.

use crate::args::GenerateArgs;
use crate::exit::Exit;
use crate::interrupt;
use crate::output;
use crate::progress::Progress;
use anyhow::{anyhow, bail};
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
    let target = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let format = match target {
        None => Format::Std,
        Some(path) => Format::of_path(path)
            .ok_or_else(|| anyhow!("{}: expected a name that ends in .std, .ilt or .jsonl", path.display()))?,
    };
    output::write(target, |out| {
        let mut sink = file::sink(out, format, false)?;
        let mut progress = Progress::new("generating", Some(generator.events()), !args.no_progress);
        let mut batch = Vec::with_capacity(BATCH);
        let mut written = 0;
        loop {
            generator.next_batch(&mut batch)?;
            if batch.is_empty() {
                break;
            }
            sink.write(&batch, generator.tables())?;
            written += batch.len() as u64;
            progress.at(written, String::new);
            if interrupt::requested() {
                bail!("interrupted; nothing was written");
            }
        }
        Ok(sink.finish(generator.tables())?)
    })
    .or_else(|error| if interrupt::requested() { Ok(eprintln!("{error:#}")) } else { Err(error) })?;
    Ok(if interrupt::requested() { Exit::Interrupted } else { Exit::Clean })
}
