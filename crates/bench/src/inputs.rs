//! The traces to measure on: generated once, and kept for the next time.
//!
//! A kept trace cannot be out of date: its name has all options that matter, and the generator
//! gives the same trace for the same options for ever.

use anyhow::{Context, Result, ensure};
use interloper_trace::file::{AtomicFile, Format, sink};
use interloper_trace::{Event, Tables};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the traces are, and how to get them.
pub(crate) struct Inputs {
    interloper: PathBuf,
    folder: PathBuf,
}

/// A trace to measure on. A size that is not given is the shape's own.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted {
    pub(crate) shape: &'static str,
    pub(crate) extension: &'static str,
    pub(crate) events: Option<u64>,
    pub(crate) threads: Option<u32>,
    pub(crate) locks: Option<u32>,
    pub(crate) variables: Option<u32>,
    pub(crate) widen: Option<u32>,
}

impl Inputs {
    pub(crate) fn new(interloper: PathBuf, folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Inputs { interloper, folder })
    }

    /// The trace, generated if it is not there.
    pub(crate) fn get(&self, wanted: &Wanted) -> Result<PathBuf> {
        let options = wanted.options();
        let mut name = wanted.shape.to_owned();
        for (option, value) in &options {
            name += &format!("-{option}{value}");
        }
        let path = self.folder.join(format!("{name}.{}", wanted.extension));
        if path.exists() {
            return Ok(path);
        }
        eprintln!("generating {}", path.display());
        let mut command = Command::new(&self.interloper);
        command.args(["generate", wanted.shape, "-o"]).arg(&path);
        for (option, value) in &options {
            command.args([format!("--{option}"), value.to_string()]);
        }
        let status = command.status().with_context(|| format!("cannot run {}", self.interloper.display()))?;
        ensure!(status.success(), "interloper generate failed: {status}");
        Ok(path)
    }
}

/// Writes a trace that was made here.
pub(crate) fn write_trace(path: &Path, events: &[Event], tables: &Tables) -> Result<()> {
    let cannot_write = || format!("cannot write {}", path.display());
    let mut file = AtomicFile::create(path).with_context(cannot_write)?;
    let mut writer = sink(&mut file, Format::Ilt, false)?;
    writer.write(events, tables)?;
    writer.finish(tables)?;
    drop(writer);
    file.commit().with_context(cannot_write)
}

impl Wanted {
    fn options(&self) -> Vec<(&'static str, u64)> {
        let given = [
            ("events", self.events),
            ("threads", self.threads.map(u64::from)),
            ("locks", self.locks.map(u64::from)),
            ("variables", self.variables.map(u64::from)),
            ("widen", self.widen.map(u64::from)),
            ("seed", Some(1)),
        ];
        given.into_iter().filter_map(|(option, value)| Some((option, value?))).collect()
    }
}
