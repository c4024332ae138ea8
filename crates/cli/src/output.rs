//! Where results go: standard output, or a file that is whole or not there.

use anyhow::Context as _;
use interloper_trace::file::AtomicFile;
use std::io::{self, Write};
use std::path::Path;

/// Writes to standard output, or to a file put in place at the end.
pub(crate) fn write(
    target: Option<&Path>,
    content: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    match target.filter(|path| path.as_os_str() != "-") {
        None => {
            let mut stdout = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
            content(&mut stdout)?;
            stdout.flush().context("cannot write to standard output")
        }
        Some(path) => {
            let cannot = || format!("{}: cannot write", path.display());
            let mut file = AtomicFile::create(path).with_context(cannot)?;
            content(&mut file).with_context(cannot)?;
            file.commit().with_context(cannot)
        }
    }
}

/// Writes text.
pub(crate) fn write_text(target: Option<&Path>, text: &str) -> anyhow::Result<()> {
    write(target, |out| out.write_all(text.as_bytes()).context("cannot write the output"))
}
