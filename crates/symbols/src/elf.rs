//! An ELF file in memory: its sections, its build id, the name of its separate debug file.

use crate::error::SymbolsError;
use gimli::{EndianArcSlice, RunTimeEndian, SectionId};
use object::{BinaryFormat, CompressionFormat, Object, ObjectKind, ObjectSection};
use std::fmt::Write;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::iter;
use std::path::Path;
use std::sync::Arc;

/// A run of bytes that shares the file it is from. Sections are not copied, and nothing borrows: the
/// lookups can be kept beside the bytes they read.
pub(crate) type Bytes = EndianArcSlice<RunTimeEndian>;

/// How much longer than its compressed form a section may claim to be. Deflate cannot do better, and
/// nobody's debug information compresses as well as that; more is a defect, and would be allocated.
const MAX_EXPANSION: u64 = 1032;

/// A linked ELF file: program, shared library, or the debug information split off from one.
pub(crate) struct ElfFile {
    bytes: Arc<[u8]>,
}

impl ElfFile {
    pub(crate) fn read(path: &Path) -> Result<ElfFile, SymbolsError> {
        ElfFile::from_bytes(read_whole(path)?)
    }

    pub(crate) fn from_bytes(bytes: Arc<[u8]>) -> Result<ElfFile, SymbolsError> {
        if !bytes.starts_with(b"\x7fELF") {
            return Err(SymbolsError::NotElf { found: "another kind of file" });
        }
        let object = object::File::parse(&*bytes)?;
        if object.format() != BinaryFormat::Elf {
            return Err(SymbolsError::NotElf { found: "another kind of file" });
        }
        match object.kind() {
            ObjectKind::Executable | ObjectKind::Dynamic => Ok(ElfFile { bytes }),
            ObjectKind::Relocatable => Err(SymbolsError::NotElf { found: "an object file that is not linked" }),
            ObjectKind::Core => Err(SymbolsError::NotElf { found: "a core dump" }),
            _ => Err(SymbolsError::NotElf { found: "an ELF file of unknown purpose" }),
        }
    }

    /// The headers, read anew: they are small beside what is behind them, and need not be kept.
    pub(crate) fn object(&self) -> Result<object::File<'_>, SymbolsError> {
        Ok(object::File::parse(&*self.bytes)?)
    }

    /// The build id, in hexadecimal.
    pub(crate) fn build_id(&self) -> Option<String> {
        let object = self.object().ok()?;
        let id = object.build_id().ok()??;
        (!id.is_empty()).then(|| hex(id))
    }

    /// The name and checksum of the separate debug file.
    pub(crate) fn debug_link(&self) -> Option<(String, u32)> {
        let object = self.object().ok()?;
        let (name, checksum) = object.gnu_debuglink().ok()??;
        Some((str::from_utf8(name).ok()?.to_owned(), checksum))
    }

    /// Whether there are symbols for debuggers, and not only for the dynamic linker.
    pub(crate) fn has_full_symbol_table(&self) -> bool {
        self.object().is_ok_and(|object| object.symbol_table().is_some())
    }

    pub(crate) fn has_debug_info(&self) -> bool {
        self.object()
            .ok()
            .and_then(|object| object.section_by_name(".debug_info").map(|section| section.size() > 0))
            .unwrap_or(false)
    }

    /// The sections that say where functions, lines and variables are.
    pub(crate) fn dwarf(&self) -> Result<gimli::Dwarf<Bytes>, SymbolsError> {
        let object = self.object()?;
        let endian = if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        gimli::Dwarf::load(|id| match id {
            // Where locals live, macros, and indexes that we do not use: large, and never asked for.
            SectionId::DebugLoc
            | SectionId::DebugLocLists
            | SectionId::DebugMacinfo
            | SectionId::DebugMacro
            | SectionId::DebugNames
            | SectionId::DebugTypes => Ok(empty(endian)),
            _ => self.section(&object, id.name(), endian),
        })
    }

    fn section(
        &self,
        object: &object::File<'_>,
        name: &'static str,
        endian: RunTimeEndian,
    ) -> Result<Bytes, SymbolsError> {
        let Some(section) = object.section_by_name(name) else { return Ok(empty(endian)) };
        let range = section.compressed_file_range()?;
        if range.format == CompressionFormat::None {
            let start = usize::try_from(range.offset).unwrap_or(usize::MAX);
            let len = usize::try_from(range.uncompressed_size).unwrap_or(usize::MAX);
            let end = start.saturating_add(len);
            if end > self.bytes.len() {
                return Err(SymbolsError::Section(name));
            }
            return Ok(Bytes::new(Arc::clone(&self.bytes), endian).range(start..end));
        }
        if range.uncompressed_size > range.compressed_size.saturating_mul(MAX_EXPANSION) {
            return Err(SymbolsError::Section(name));
        }
        let data = range.data(&*self.bytes)?.decompress()?;
        Ok(Bytes::new(Arc::from(&*data), endian))
    }
}

/// The bytes of a regular file.
pub(crate) fn read_whole(path: &Path) -> Result<Arc<[u8]>, SymbolsError> {
    // Before opening: that of a pipe would wait for a writer.
    let metadata = path.metadata()?;
    if !metadata.is_file() {
        return Err(SymbolsError::NotRegular);
    }
    let mut file = File::open(path)?;
    let len = usize::try_from(metadata.len()).map_err(|_| io::Error::from(ErrorKind::FileTooLarge))?;
    let mut bytes: Arc<[u8]> = iter::repeat_n(0, len).collect();
    if let Some(buffer) = Arc::get_mut(&mut bytes) {
        file.read_exact(buffer)?;
    }
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn empty(endian: RunTimeEndian) -> Bytes {
    Bytes::new(Arc::from([]), endian)
}
