//! Where results go: standard output, or a file that is whole or not there.

use anyhow::{Context as _, anyhow};
use interloper_trace::SinkError;
use interloper_trace::file::AtomicFile;
use std::io::{self, Write};
use std::path::Path;

/// Where something is written to.
#[derive(Clone, Copy)]
pub(crate) enum Target<'p> {
    Stdout,
    File(&'p Path),
}

impl<'p> Target<'p> {
    /// What an `-o` option says; `-` is standard output, too.
    pub(crate) fn of(option: Option<&'p Path>) -> Target<'p> {
        match option.filter(|path| path.as_os_str() != "-") {
            None => Target::Stdout,
            Some(path) => Target::File(path),
        }
    }

    /// Whether it can be written there, before much is done for it.
    pub(crate) fn try_out(self) -> anyhow::Result<()> {
        match self {
            Target::Stdout => Ok(()),
            // Whoever reads a pipe would take this for all there is.
            Target::File(path) if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) => Ok(()),
            Target::File(path) => self.create(path).map(drop),
        }
    }

    fn create(self, path: &Path) -> anyhow::Result<AtomicFile> {
        // The name of the temporary file would only confuse.
        AtomicFile::create(path).map_err(|error| anyhow!("{}: {}", self.cannot_write(), plain(&error)))
    }

    /// Writes there. A file is put in place at the end, and only if `content` has no error, which
    /// is returned as it is: it may well be about something else than the output.
    pub(crate) fn write(self, content: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
        match self {
            Target::Stdout => {
                let mut stdout = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
                content(&mut stdout)?;
                stdout.flush().with_context(|| self.cannot_write())
            }
            Target::File(path) => {
                let mut file = self.create(path)?;
                content(&mut file)?;
                file.commit().with_context(|| self.cannot_write())
            }
        }
    }

    /// Writes text.
    pub(crate) fn write_text(self, text: &str) -> anyhow::Result<()> {
        self.write(|out| out.write_all(text.as_bytes()).with_context(|| self.cannot_write()))
    }

    /// For an error of the system.
    pub(crate) fn cannot_write(self) -> String {
        match self {
            Target::Stdout => "cannot write to standard output".to_owned(),
            Target::File(path) => format!("{}: cannot write", path.display()),
        }
    }

    /// For an error of a trace writer: it is either about the output or about an event of `input`.
    pub(crate) fn sink_error(self, error: SinkError, input: &str, advice: &str) -> anyhow::Error {
        match error {
            // A name cannot be left out, so no option helps.
            SinkError::Inexpressible { ref what, .. } if what.starts_with("the name \"") => anyhow!("{input}: {error}"),
            SinkError::Inexpressible { .. } => anyhow!("{input}: {error}{advice}"),
            error => anyhow::Error::new(error).context(self.cannot_write()),
        }
    }
}

/// The system's own error, without what the library of temporary files says around it.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" at path ").next().unwrap_or(&text).to_owned()
}
