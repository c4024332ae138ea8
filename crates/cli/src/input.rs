//! Traces as arguments: a file, or standard input.

use crate::args::InputArgs;
use anyhow::{Context as _, bail};
use interloper_trace::file::{Format, ReadOptions, TraceReader};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A trace that can be read more than once.
pub(crate) struct Input {
    /// As the user calls it.
    pub(crate) name: String,
    path: PathBuf,
    options: ReadOptions,
    /// Where something that can be read only once has been kept.
    _spool: Option<tempfile::NamedTempFile>,
}

impl Input {
    /// Finds a trace.
    pub(crate) fn find(args: &InputArgs) -> anyhow::Result<Input> {
        let Some(given) = &args.trace else {
            bail!("no trace given, and none has been recorded yet; name a file ({})", Format::EXTENSIONS);
        };
        let stdin = given.as_os_str() == "-";
        let name = if stdin { "standard input".to_owned() } else { given.display().to_string() };
        let format = args.input_format.map(Format::from).or_else(|| Format::of_path(given));
        if format.is_none() {
            bail!(
                "{name}: cannot tell the format: expected a name that ends in {}, or --input-format",
                Format::EXTENSIONS
            );
        }
        let path = if stdin { Path::new("/dev/stdin") } else { given };
        let metadata = path.metadata().with_context(|| format!("{name}: cannot open"))?;
        if metadata.is_dir() {
            bail!("{name}: found a directory, expected a trace file");
        }
        let options = ReadOptions { format, std_dialect: args.std_dialect.into() };
        if metadata.is_file() && !stdin {
            return Ok(Input { name, path: path.to_owned(), options, _spool: None });
        }
        let mut spool = tempfile::NamedTempFile::new().context("cannot make a temporary file")?;
        let mut pipe = File::open(path).with_context(|| format!("{name}: cannot open"))?;
        io::copy(&mut pipe, &mut spool).with_context(|| format!("{name}: cannot read"))?;
        Ok(Input { name, path: spool.path().to_owned(), options, _spool: Some(spool) })
    }

    /// Begins to read it.
    pub(crate) fn open(&self) -> anyhow::Result<TraceReader> {
        TraceReader::open(&self.path, self.options).with_context(|| self.name.clone())
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.path.metadata().ok().map(|metadata| metadata.len())
    }
}
