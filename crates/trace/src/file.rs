//! Traces as files: opened and created by extension, checked as they are read, and put in place
//! only when they are whole.

use crate::error::{Malformed, TraceError};
use crate::event::Event;
use crate::ids::EventIndex;
use crate::ilt::{IltReader, IltWriter};
use crate::jsonl::{JsonlReader, JsonlWriter};
use crate::rapidbin::RapidBinReader;
use crate::std_format::{StdDialect, StdReader, StdWriter};
use crate::stream::{BATCH, EventSink, EventSource, SinkError, Visitor};
use crate::tables::Tables;
use crate::wellformed::{Breach, Rules, WellFormed};
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
    #[error("cannot open")]
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
    source: Source,
    wellformed: WellFormed,
    failure: Option<TraceError>,
    events: u64,
    size: Option<u64>,
    /// For sources that are not known by type.
    batch: Vec<Event>,
}

/// The formats that are read fastest are known by type, so that reading, checking and analysing an
/// event can be compiled into one loop.
#[expect(clippy::large_enum_variant, reason = "there is one for each reader")]
enum Source {
    Ilt(IltReader<Box<dyn Read>>),
    Std(StdReader<Box<dyn Read>>),
    Other(Box<dyn EventSource>),
}

/// Gives events to an analysis for as long as they are well-formed.
struct Checked<'r, O> {
    wellformed: &'r mut WellFormed,
    /// The index of the next event.
    next: u64,
    breach: Option<Box<Breach>>,
    observe: &'r mut O,
}

impl<O: FnMut(EventIndex, &Event, &Tables)> Visitor for Checked<'_, O> {
    #[inline(always)]
    fn visit(&mut self, event: &Event, tables: &Tables) -> bool {
        match self.wellformed.check(event, tables) {
            Ok(()) => {
                (self.observe)(EventIndex(self.next), event, tables);
                self.next += 1;
                true
            }
            Err(breach) => {
                self.breach = Some(breach);
                false
            }
        }
    }
}

impl Source {
    fn get(&self) -> &dyn EventSource {
        match self {
            Source::Ilt(reader) => reader,
            Source::Std(reader) => reader,
            Source::Other(source) => source.as_ref(),
        }
    }
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
        let input: Box<dyn Read> = Box::new(input);
        Ok(Self::checked(match format {
            Format::Ilt => Source::Ilt(IltReader::new(input)?),
            Format::Std => Source::Std(StdReader::with_dialect(input, dialect)),
            Format::Jsonl => Source::Other(Box::new(JsonlReader::new(input))),
            Format::RapidBin => Source::Other(Box::new(RapidBinReader::new(input))),
        }))
    }

    /// Checks the events of another source.
    pub fn of_source(source: Box<dyn EventSource>) -> TraceReader {
        Self::checked(Source::Other(source))
    }

    fn checked(source: Source) -> TraceReader {
        let rules = if matches!(source, Source::Std(_)) { Rules::Std } else { Rules::General };
        TraceReader {
            source,
            wellformed: WellFormed::new(rules),
            failure: None,
            events: 0,
            size: None,
            batch: Vec::new(),
        }
    }

    /// Gives the next few thousand events to an analysis. Returns whether there were any; if not, this
    /// was the end. An error comes after the events before it.
    ///
    /// The same as [`next_batch`](EventSource::next_batch), but faster.
    pub fn visit(&mut self, mut observe: impl FnMut(EventIndex, &Event, &Tables)) -> Result<bool, TraceError> {
        /// Few enough that progress is shown and interrupts are seen in time.
        const MOST: usize = 16 * BATCH;
        self.visit_some(MOST, &mut observe)
    }

    fn visit_some(
        &mut self,
        most: usize,
        observe: &mut impl FnMut(EventIndex, &Event, &Tables),
    ) -> Result<bool, TraceError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let TraceReader { source, wellformed, events, batch, .. } = self;
        let before = *events;
        let mut checked = Checked { wellformed, next: *events, breach: None, observe };
        let result = match source {
            Source::Ilt(reader) => reader.visit(most, &mut checked).map(drop),
            Source::Std(reader) => reader.visit(most, &mut checked).map(drop),
            Source::Other(source) => source.next_batch(batch).map(|()| {
                let _ = batch.iter().all(|event| checked.visit(event, source.tables()));
            }),
        };
        let Checked { next, breach, .. } = checked;
        *events = next;
        result?;
        if let Some(breach) = breach {
            let place = self.source.get().place(self.events);
            return Err(Malformed::new(place, breach.found, breach.expected).into());
        }
        Ok(self.events > before)
    }

    /// The same, of a stream that is known to have this many bytes.
    #[must_use]
    pub fn with_size(self, size: u64) -> TraceReader {
        TraceReader { size: Some(size), ..self }
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
        match self.visit_some(BATCH, &mut |_, event, _| batch.push(*event)) {
            Err(error) if !batch.is_empty() => self.failure = Some(error),
            result => drop(result?),
        }
        Ok(())
    }

    fn tables(&self) -> &Tables {
        self.source.get().tables()
    }

    fn place(&self, index: u64) -> crate::error::Place {
        self.source.get().place(index)
    }

    fn bytes_read(&self) -> u64 {
        self.source.get().bytes_read()
    }

    fn notes(&self) -> Vec<String> {
        self.source.get().notes()
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
