//! Traces as files: opened and created by extension, checked as they are read, and put in place
//! only when they are whole.

use crate::error::{Malformed, TraceError};
use crate::event::Event;
use crate::ilt::{IltReader, IltWriter};
use crate::jsonl::{JsonlReader, JsonlWriter};
use crate::rapidbin::RapidBinReader;
use crate::std_format::{StdDialect, StdReader, StdWriter};
use crate::stream::{EventSink, EventSource, SinkError};
use crate::tables::Tables;
use crate::wellformed::WellFormed;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Ours: `.ilt`.
    Ilt,
    /// RAPID's text: `.std`.
    Std,
    /// JSON Lines: `.jsonl`.
    Jsonl,
    /// RAPID's binary form: `.data`, `.bin`, `.rapidbin`; read only.
    RapidBin,
}

impl Format {
    /// The format that a file name's extension says.
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "ilt" => Some(Format::Ilt),
            "std" => Some(Format::Std),
            "jsonl" => Some(Format::Jsonl),
            "data" | "bin" | "rapidbin" => Some(Format::RapidBin),
            _ => None,
        }
    }

    /// The extensions understood, for messages.
    pub const EXTENSIONS: &'static str = ".ilt, .std, .jsonl, .data, .bin or .rapidbin";
}

/// How to read a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The format, if not by extension.
    pub format: Option<Format>,
    /// Which verbs an STD trace may use.
    pub std_dialect: StdDialect,
}

/// Why a trace file could not be opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The system says no.
    #[error("cannot open: {0}")]
    Io(#[from] io::Error),
    /// It is no trace at all, by its first bytes.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Nothing says what it is.
    #[error("cannot tell the format: expected a name that ends in {}", Format::EXTENSIONS)]
    UnknownFormat,
}

/// A trace file being read: any format, well-formed or an error.
pub struct TraceReader {
    source: Box<dyn EventSource>,
    wellformed: WellFormed,
    failure: Option<TraceError>,
    events: u64,
    size: Option<u64>,
}

impl TraceReader {
    /// Opens a file.
    pub fn open(path: &Path, options: ReadOptions) -> Result<TraceReader, OpenError> {
        let format = options.format.or_else(|| Format::of_path(path)).ok_or(OpenError::UnknownFormat)?;
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        let size = metadata.is_file().then_some(metadata.len());
        Ok(TraceReader { size, ..Self::new(file, format, options.std_dialect)? })
    }

    /// Reads from any stream.
    pub fn new(input: impl Read + 'static, format: Format, dialect: StdDialect) -> Result<TraceReader, TraceError> {
        let source: Box<dyn EventSource> = match format {
            Format::Ilt => Box::new(IltReader::new(input)?),
            Format::Std => Box::new(StdReader::with_dialect(input, dialect)),
            Format::Jsonl => Box::new(JsonlReader::new(input)),
            Format::RapidBin => Box::new(RapidBinReader::new(input)),
        };
        Ok(Self::of_source(source))
    }

    /// Checks the events of another source.
    pub fn of_source(source: Box<dyn EventSource>) -> TraceReader {
        TraceReader { source, wellformed: WellFormed::new(), failure: None, events: 0, size: None }
    }

    /// How many events have been handed out.
    pub fn events_read(&self) -> u64 {
        self.events
    }

    /// The size of the file in bytes, where there is one.
    pub fn size(&self) -> Option<u64> {
        self.size
    }
}

impl EventSource for TraceReader {
    fn next_batch(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        batch.clear();
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.source.next_batch(batch)?;
        let tables = self.source.tables();
        for (at, event) in batch.iter().enumerate() {
            if let Err(breach) = self.wellformed.check(event, tables) {
                let place = self.source.place(self.events + at as u64);
                let error = Malformed::new(place, breach.found, breach.expected).into();
                if at == 0 {
                    return Err(error);
                }
                batch.truncate(at);
                self.failure = Some(error);
                break;
            }
        }
        self.events += batch.len() as u64;
        Ok(())
    }

    fn tables(&self) -> &Tables {
        self.source.tables()
    }

    fn place(&self, index: u64) -> crate::error::Place {
        self.source.place(index)
    }

    fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    fn notes(&self) -> Vec<String> {
        self.source.notes()
    }
}

/// A file being written beside its place and moved there by [`commit`](Self::commit).
///
/// Dropped before that, it leaves nothing behind. What is not a regular file (a pipe, a device)
/// is written to directly, since there is nothing to put in place.
pub struct AtomicFile {
    output: Output,
    target: PathBuf,
}

enum Output {
    Beside(BufWriter<tempfile::NamedTempFile>),
    Direct(BufWriter<File>),
}

impl AtomicFile {
    /// Begins to write a file.
    pub fn create(target: &Path) -> io::Result<AtomicFile> {
        const BUFFER: usize = 256 << 10;
        // A link stays a link: what it points to is replaced.
        let target = match target.canonicalize() {
            Ok(existing) => existing,
            Err(_) => target.to_owned(),
        };
        let output = match target.metadata() {
            Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => {
                Output::Direct(BufWriter::with_capacity(BUFFER, File::options().write(true).open(&target)?))
            }
            _ => {
                let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
                let mut builder = tempfile::Builder::new();
                builder.prefix(".interloper-");
                set_ordinary_permissions(&mut builder);
                let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
                Output::Beside(BufWriter::with_capacity(BUFFER, file))
            }
        };
        Ok(AtomicFile { output, target })
    }

    /// Puts the file in its place.
    pub fn commit(self) -> io::Result<()> {
        match self.output {
            Output::Direct(mut output) => output.flush(),
            Output::Beside(output) => {
                let file = output.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(&self.target).map(drop).map_err(|failed| failed.error)
            }
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.output {
            Output::Beside(output) => output.write(bytes),
            Output::Direct(output) => output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.output {
            Output::Beside(output) => output.flush(),
            Output::Direct(output) => output.flush(),
        }
    }
}

/// Temporary files are private by default; a trace is an ordinary file, subject to the umask.
fn set_ordinary_permissions(builder: &mut tempfile::Builder<'_, '_>) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
}

/// A writer of the given format; RapidBin cannot be written.
pub fn sink<'w>(output: impl Write + 'w, format: Format, lossy: bool) -> Result<Box<dyn EventSink + 'w>, SinkError> {
    match format {
        Format::Ilt => Ok(Box::new(IltWriter::new(output)?)),
        Format::Std if lossy => Ok(Box::new(StdWriter::lossy(output))),
        Format::Std => Ok(Box::new(StdWriter::new(output))),
        Format::Jsonl => Ok(Box::new(JsonlWriter::new(output))),
        Format::RapidBin => {
            Err(io::Error::new(io::ErrorKind::Unsupported, "RapidBin can be read but not written").into())
        }
    }
}
