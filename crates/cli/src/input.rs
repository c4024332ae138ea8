//! Traces as arguments: a file, or standard input.

use crate::args::ReadArgs;
use crate::interrupt::Interrupted;
use crate::spool::Spool;
use crate::store;
use anyhow::{Context as _, anyhow, bail};
use interloper_trace::TraceError;
use interloper_trace::file::{Format, OpenError, ReadOptions, TraceReader};
use interloper_trace::std_format::StdDialect;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A trace that can be read more than once.
pub(crate) struct Input {
    /// As the user calls it.
    pub(crate) name: String,
    format: Format,
    dialect: StdDialect,
    place: Place,
}

enum Place {
    File(PathBuf),
    Spool(Spool),
}

impl Input {
    /// Finds the trace that is given, or the one that was recorded last.
    pub(crate) fn find_or_latest(given: Option<&Path>, args: &ReadArgs) -> anyhow::Result<Input> {
        match given {
            Some(given) if !store::is_latest(given) => Input::find(given, args),
            _ => Input::find(&store::latest()?, args),
        }
    }

    /// Finds a trace.
    pub(crate) fn find(given: &Path, args: &ReadArgs) -> anyhow::Result<Input> {
        let stdin = given.as_os_str() == "-";
        let name = if stdin { "standard input".to_owned() } else { given.display().to_string() };
        let path = if stdin { Path::new("/dev/stdin") } else { given };
        let cannot_open = || format!("{name}: cannot open");
        let metadata = path.metadata().with_context(cannot_open)?;
        if metadata.is_dir() {
            bail!("{name}: found a directory, expected a trace file");
        }
        let Some(format) = args.input_format.map(Format::from).or_else(|| Format::of_path(given)) else {
            bail!(
                "{name}: cannot tell the format: expected a name that ends in {}, or --input-format",
                Format::EXTENSIONS
            );
        };
        let place = if metadata.is_file() && !stdin {
            Place::File(path.to_owned())
        } else {
            let pipe = File::open(path).with_context(cannot_open)?;
            Place::Spool(Spool::fill(pipe).with_context(|| format!("{name}: cannot keep what it says"))?)
        };
        Ok(Input { name, format, dialect: args.std_dialect.into(), place })
    }

    /// Begins to read it.
    pub(crate) fn open(&self) -> anyhow::Result<TraceReader> {
        let opened = match &self.place {
            Place::File(path) => {
                TraceReader::open(path, ReadOptions { format: Some(self.format), std_dialect: self.dialect })
            }
            Place::Spool(spool) => TraceReader::new(spool.reader(), self.format, self.dialect)
                .map(|reader| reader.with_size(spool.length))
                .map_err(OpenError::from),
        };
        // Half a header is no header; but that is not the input's fault then.
        if opened.is_err() && self.cut_short() {
            return Err(Interrupted("there was nothing to read yet").into());
        }
        opened.with_context(|| self.name.clone())
    }

    /// Where it is, if it is a file.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) => Some(path),
            Place::Spool(_) => None,
        }
    }

    /// The file, if its lines are its events.
    pub(crate) fn lines(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) if self.format == Format::Std => Some(path),
            _ => None,
        }
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> Option<u64> {
        match &self.place {
            Place::File(path) => path.metadata().ok().map(|metadata| metadata.len()),
            Place::Spool(spool) => Some(spool.length),
        }
    }

    /// Whether the user stopped it from being read to its end, so that it is a part of the trace.
    pub(crate) fn cut_short(&self) -> bool {
        matches!(&self.place, Place::Spool(spool) if spool.interrupted)
    }

    /// An error in it, with its name and, for a damaged recording, what can be done about it.
    pub(crate) fn error(&self, error: &TraceError, salvage: &str) -> anyhow::Error {
        let name = &self.name;
        if self.format == Format::Ilt && matches!(error, TraceError::Malformed(_)) {
            anyhow!("{name}: {error} ({salvage} keeps the events before that)")
        } else {
            anyhow!("{name}: {error}")
        }
    }
}
