//! Whether and how a binary can be recorded.
//!
//! Told from the file alone, which is neither run nor loaded: from the libraries that its dynamic
//! section names and the symbols it defines and lacks. Libraries are not followed; a program that is
//! not instrumented itself counts as not instrumented even if a library of its own is.

use object::elf;
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSymbol as _, ReadCache};
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use thiserror::Error;

/// How a file is instrumented, or why it cannot be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instrumentation {
    /// Linked with our runtime by `interloper cc` or `interloper c++`.
    Ours,
    /// Linked with gcc's ThreadSanitizer, as a shared library.
    GccTsan,
    /// Linked with clang's ThreadSanitizer, as a shared library.
    ClangSharedTsan,
    /// Calls a ThreadSanitizer that no library it names is; ours has to be preloaded.
    Unlinked,
    /// Holds a ThreadSanitizer of its own. A program that gcc linked so and that was stripped then cannot
    /// be told from one that is not instrumented; the advice is the same.
    StaticTsan,
    /// Not instrumented.
    NotInstrumented,
    /// Statically linked.
    StaticBinary,
    /// A script: what to record is the program that it starts.
    Script,
    /// An ELF file for another processor, word size or byte order.
    OtherArchitecture,
    /// Something else.
    NotElf,
}

impl Instrumentation {
    /// Why the file cannot be recorded and what to do about it: a clause that fits after its name.
    pub fn obstacle(self) -> Option<&'static str> {
        match self {
            Self::Ours | Self::GccTsan | Self::ClangSharedTsan | Self::Unlinked => None,
            Self::StaticTsan => Some(
                "holds ThreadSanitizer's own runtime, which cannot be replaced; link it again with \
                 `interloper cc` or `interloper c++` (or with gcc -fsanitize=thread and no -static-libtsan, \
                 or with clang -fsanitize=thread -shared-libsan)",
            ),
            Self::NotInstrumented => Some(
                "is not instrumented; build it with `interloper cc` or `interloper c++` as the compiler \
                 (in many builds: make CC=\"interloper cc\" CXX=\"interloper c++\")",
            ),
            Self::StaticBinary => Some(
                "is statically linked, so that its calls into the C library cannot be seen; build it with \
                 `interloper cc` or `interloper c++` and without -static",
            ),
            Self::Script => Some("is a script; give the program that it starts, with its arguments, instead"),
            Self::OtherArchitecture => {
                Some("is not built for x86-64, which is all that can be recorded; build it for that (-m64)")
            }
            Self::NotElf => Some("is not a program (an ELF file); give one that `interloper cc` has built"),
        }
    }

    /// What to keep in mind about a file that can be recorded: a clause that fits after its name.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::GccTsan | Self::ClangSharedTsan | Self::Unlinked => Some(
                "was not built with `interloper cc` or `interloper c++`: pairs of accesses that its compiler \
                 merged are invisible",
            ),
            _ => None,
        }
    }
}

/// Why a file could not be looked into.
#[derive(Debug, Error)]
pub enum InspectError {
    /// It could not be read.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// It begins as an ELF file but is not a whole one.
    #[error("is a damaged ELF file: {0}")]
    Damaged(#[from] object::Error),
}

/// Tells whether and how a file can be recorded.
pub fn inspect(path: &Path) -> Result<Instrumentation, InspectError> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    (&mut file).take(20).read_to_end(&mut start)?;
    if start.starts_with(b"#!") {
        return Ok(Instrumentation::Script);
    }
    if !start.starts_with(&elf::ELFMAG) {
        return Ok(Instrumentation::NotElf);
    }
    // The file's first bytes say word size and byte order; then follow the type and, at 18, the machine.
    let little_64 = [elf::ELFCLASS64.0, elf::ELFDATA2LSB.0];
    if start.get(4..6) != Some(&little_64) || start.get(18..20) != Some(&elf::EM_X86_64.0.to_le_bytes()) {
        return Ok(Instrumentation::OtherArchitecture);
    }
    file.rewind()?;
    let cache = ReadCache::new(file);
    let file = ElfFile64::<Endianness, _>::parse(&cache)?;
    classify(&file)
}

/// Whether a file says which lines its code comes from.
pub fn has_debug_info(path: &Path) -> Result<bool, InspectError> {
    let cache = ReadCache::new(File::open(path)?);
    let file = object::File::parse(&cache)?;
    Ok([".debug_line", ".zdebug_line", ".gnu_debuglink"].iter().any(|name| file.section_by_name(name).is_some()))
}

type Elf<'data> = ElfFile64<'data, Endianness, &'data ReadCache<File>>;

fn classify(file: &Elf<'_>) -> Result<Instrumentation, InspectError> {
    let dynamic = Dynamic::read(file)?;
    if dynamic.is_static {
        return Ok(Instrumentation::StaticBinary);
    }
    let needs = |start: &[u8]| dynamic.needed.iter().any(|name| name.starts_with(start));
    if needs(b"libinterloper_rt.so") {
        return Ok(Instrumentation::Ours);
    }
    if needs(b"libtsan.so") {
        return Ok(Instrumentation::GccTsan);
    }
    if needs(b"libclang_rt.tsan") {
        return Ok(Instrumentation::ClangSharedTsan);
    }
    let mut calls_runtime = false;
    for symbol in file.dynamic_symbols().chain(file.symbols()) {
        let name = symbol.name_bytes()?;
        if name == b"__tsan_init" && symbol.is_definition() {
            return Ok(Instrumentation::StaticTsan);
        }
        calls_runtime |= name.starts_with(b"__tsan_") && symbol.is_undefined();
    }
    Ok(if calls_runtime { Instrumentation::Unlinked } else { Instrumentation::NotInstrumented })
}

/// What the loader is told.
struct Dynamic<'data> {
    is_static: bool,
    needed: Vec<&'data [u8]>,
}

impl<'data> Dynamic<'data> {
    fn read(file: &Elf<'data>) -> Result<Self, object::Error> {
        let endian = file.endian();
        let table = file.elf_dynamic_table()?;
        let mut needed = Vec::new();
        let mut is_program = file.elf_header().e_type(endian) == elf::ET_EXEC;
        for entry in &table {
            match entry.tag {
                elf::DT_NEEDED => needed.push(table.string(entry)?),
                elf::DT_FLAGS_1 => is_program |= entry.val & elf::DF_1_PIE.0 != 0,
                _ => {}
            }
        }
        // A static position-independent program has a dynamic section, too, but nobody to interpret it.
        let interpreted = file.elf_program_headers().iter().any(|segment| segment.p_type(endian) == elf::PT_INTERP);
        Ok(Dynamic { is_static: is_program && !interpreted, needed })
    }
}
