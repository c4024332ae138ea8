//! The programs to record, built by every compiler that competes.

use anyhow::{Context, Result, bail, ensure};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FLAGS: &[&str] = &["-O2", "-g", "-pthread"];
const LIBRARY: &[&str] = &["blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib"];
const PBZIP2: &[&str] = &["pbzip2", "BZ2StreamScanner", "ErrorContext"];
const PBZIP2_FLAGS: &[&str] = &["-D_FILE_OFFSET_BITS=64", "-D_LARGEFILE64_SOURCE", "-DUSE_STACKSIZE_CUSTOMIZATION"];

/// A way to build programs.
pub(crate) struct Compiler {
    name: &'static str,
    c: Vec<OsString>,
    cxx: Vec<OsString>,
}

impl Compiler {
    pub(crate) fn native() -> Self {
        Compiler { name: "native", c: words(&["gcc"]), cxx: words(&["g++"]) }
    }

    pub(crate) fn gcc_tsan() -> Self {
        const FLAG: &str = "-fsanitize=thread";
        Compiler { name: "gcc-tsan", c: words(&["gcc", FLAG]), cxx: words(&["g++", FLAG]) }
    }

    /// The newest clang there is, if any.
    pub(crate) fn clang_tsan() -> Option<Self> {
        let clang = find_clang()?;
        let with = |more: &[&str]| [vec![clang.clone().into_os_string()], words(more)].concat();
        let cxx = with(&["--driver-mode=g++", "-fsanitize=thread"]);
        Some(Compiler { name: "clang-tsan", c: with(&["-fsanitize=thread"]), cxx })
    }

    pub(crate) fn ours(interloper: &Path) -> Self {
        let with = |word: &str| vec![interloper.into(), word.into()];
        Compiler { name: "ours", c: with("cc"), cxx: with("c++") }
    }

    /// Builds a program of one C file, and returns where it is.
    pub(crate) fn build(&self, source: &Path, folder: &Path) -> Result<PathBuf> {
        let name = source.file_stem().context("a source file has a name")?;
        let program = self.folder(folder)?.join(name);
        run(&self.c, &[words(FLAGS), vec![source.into(), "-o".into(), program.clone().into()]].concat())?;
        Ok(program)
    }

    /// Builds pbzip2 and the library it compresses with, and returns where it is.
    pub(crate) fn build_pbzip2(&self, sources: &Sources, folder: &Path) -> Result<PathBuf> {
        let folder = self.folder(folder)?;
        let include = OsString::from_iter([OsStr::new("-I"), sources.bzip2.as_os_str()]);
        let mut objects = Vec::new();
        for (compiler, from, extension, names) in
            [(&self.c, &sources.bzip2, "c", LIBRARY), (&self.cxx, &sources.pbzip2, "cpp", PBZIP2)]
        {
            for name in names {
                let source = from.join(name).with_extension(extension);
                let object = folder.join(name).with_extension("o");
                let files = vec![include.clone(), "-c".into(), source.into(), "-o".into(), object.clone().into()];
                run(compiler, &[words(FLAGS), words(PBZIP2_FLAGS), files].concat())?;
                objects.push(object.into());
            }
        }
        let program = folder.join("pbzip2");
        run(&self.cxx, &[words(FLAGS), objects, vec!["-o".into(), program.clone().into()]].concat())?;
        Ok(program)
    }

    fn folder(&self, folder: &Path) -> Result<PathBuf> {
        let folder = folder.join(self.name);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }
}

/// Where the sources of pbzip2 and of bzip2 are.
pub(crate) struct Sources {
    bzip2: PathBuf,
    pbzip2: PathBuf,
}

impl Sources {
    /// Those in folders of their names, with or without a version.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        let holding = |name: &str, file: &str| {
            let entries = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
            let is_named = |path: &PathBuf| {
                let rest = path.file_name().and_then(OsStr::to_str).and_then(|found| found.strip_prefix(name));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            };
            entries.filter(is_named).filter(|path| path.join(file).is_file()).max()
        };
        Some(Sources { bzip2: holding("bzip2", "bzlib.c")?, pbzip2: holding("pbzip2", "pbzip2.cpp")? })
    }
}

/// Words in lines, as compressible as a text is; the same every time.
pub(crate) fn text(length: usize) -> Vec<u8> {
    const WORDS: u64 = 2000;
    let mut state = 1_u64;
    let mut dice = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut word = || (0..2 + dice() % 8).map(|_| b"etaoinshrdlu"[(dice() % 12) as usize]).collect::<Vec<u8>>();
    let words: Vec<Vec<u8>> = (0..WORDS).map(|_| word()).collect();
    let mut text = Vec::with_capacity(length);
    while text.len() < length {
        // Few words are frequent, as in any language.
        let at = dice() % WORDS * (dice() % WORDS) / WORDS * (dice() % WORDS) / WORDS;
        text.extend_from_slice(&words[at as usize]);
        text.push(if dice() % 11 == 0 { b'\n' } else { b' ' });
    }
    text.truncate(length);
    text
}

fn run(compiler: &[OsString], arguments: &[OsString]) -> Result<()> {
    let [program, first @ ..] = compiler else { bail!("no compiler") };
    let mut command = Command::new(program);
    command.args(first).args(arguments).stdin(Stdio::null());
    // These would have ours built over another compiler than the one it is compared with.
    for variable in ["CC", "CXX", "INTERLOPER_COMPILER", "INTERLOPER_BRANCHES"] {
        command.env_remove(variable);
    }
    let output = command.output().with_context(|| format!("cannot run {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} failed ({}):\n{said}", program.display(), output.status);
    Ok(())
}

/// A `clang` in the path, or else the `clang-N` with the largest number.
fn find_clang() -> Option<PathBuf> {
    let version = |path: &Path| match path.file_name()?.to_str()?.strip_prefix("clang")? {
        "" => Some(u32::MAX),
        rest => rest.strip_prefix('-')?.parse().ok(),
    };
    let folders = std::env::var_os("PATH")?;
    let entries = std::env::split_paths(&folders).filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let clangs = entries.filter_map(|entry| Some(entry.ok()?.path())).filter_map(|path| Some((version(&path)?, path)));
    clangs.max().map(|(_, path)| path)
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_same_every_time() {
        let (once, longer) = (text(10_000), text(20_000));
        assert_eq!((once.len(), &once[..]), (10_000, &longer[..10_000]));
        assert!(once.iter().all(|byte| byte.is_ascii_lowercase() || b" \n".contains(byte)));
    }
}
