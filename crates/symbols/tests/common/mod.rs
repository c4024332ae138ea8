//! Fixtures: small programs, compiled as a test wants them.
#![allow(dead_code, clippy::unwrap_used)]

use interloper_symbols::Module;
use object::{Object, ObjectSymbol, SymbolKind};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Ways to compile that keep debug information.
pub(crate) const DEBUG: &[&[&str]] = &[
    &["-g", "-O0"],
    &["-g", "-O2"],
    &["-gdwarf-4", "-O0"],
    &["-gdwarf-4", "-O2"],
    &["-g", "-O1", "-no-pie", "-fno-pie"],
    &["-g", "-O2", "-shared", "-fPIC"],
    &["-g", "-O2", "-gz", "-flto=auto"],
    &["-g", "-O0", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
];

pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Where a test may write. Tests run side by side: each must use a name of its own.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("symbols");
    fs::create_dir_all(&directory).unwrap();
    directory.join(name)
}

/// Compiles fixtures. `out` is the name of the result.
pub(crate) fn compile(sources: &[&str], flags: &[&str], out: &str) -> PathBuf {
    let compiler = if sources[0].ends_with(".cpp") { "g++" } else { "gcc" };
    let out = scratch(out);
    let mut command = Command::new(compiler);
    command.args(sources.iter().map(|name| source(name))).args(flags).arg("-pthread").arg("-o").arg(&out);
    run(&mut command);
    out
}

pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A file name for a way of compiling.
pub(crate) fn tag(prefix: &str, flags: &[&str]) -> String {
    format!("{prefix}{}", flags.concat()).replace([',', '='], "_")
}

/// The line of a fixture that contains a text, counted from one.
pub(crate) fn line_of(fixture: &str, text: &str) -> u32 {
    let text_of = fs::read_to_string(source(fixture)).unwrap();
    let line = text_of.lines().position(|line| line.contains(text)).unwrap();
    u32::try_from(line).unwrap() + 1
}

/// An entry of a symbol table.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) is_code: bool,
}

pub(crate) fn symbols(path: &Path) -> Vec<Symbol> {
    let bytes = fs::read(path).unwrap();
    let object = object::File::parse(&*bytes).unwrap();
    object
        .symbols()
        .chain(object.dynamic_symbols())
        .filter(|symbol| symbol.is_definition() && matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Data))
        .map(|symbol| Symbol {
            name: symbol.name().unwrap().to_owned(),
            address: symbol.address(),
            size: symbol.size(),
            is_code: symbol.kind() == SymbolKind::Text,
        })
        .collect()
}

/// A program and its symbols.
pub(crate) struct Fixture {
    pub(crate) path: PathBuf,
    pub(crate) module: Module,
    pub(crate) symbols: Vec<Symbol>,
}

impl Fixture {
    pub(crate) fn new(sources: &[&str], flags: &[&str], out: &str) -> Fixture {
        Fixture::open(compile(sources, flags, out))
    }

    pub(crate) fn open(path: PathBuf) -> Fixture {
        let module = Module::open(&path).unwrap();
        let symbols = symbols(&path);
        Fixture { path, module, symbols }
    }

    /// The symbol of a name, or of a name with what compilers append.
    pub(crate) fn symbol(&self, name: &str) -> &Symbol {
        let is_it = |symbol: &&Symbol| {
            symbol.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.symbols
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("{name} is not in {}: {:?}", self.path.display(), self.symbols))
    }

    /// Whether the compiler has left a variable in the program. With the whole program in view, it drops
    /// what does nothing.
    pub(crate) fn keeps(&self, flags: &[&str], name: &str) -> bool {
        !flags.contains(&"-flto=auto") || self.symbols.iter().any(|symbol| symbol.name == name)
    }

    pub(crate) fn describe(&self, symbol: &str, offset: u64, size: u64) -> String {
        let address = self.symbol(symbol).address + offset;
        self.module.describe(address, size).unwrap_or_else(|| panic!("{symbol}+{offset} in {}", self.path.display()))
    }

    /// The functions and lines at each address of a function, innermost first.
    pub(crate) fn stacks(&self, symbol: &str) -> Vec<Vec<(String, String, u32)>> {
        let symbol = self.symbol(symbol);
        (symbol.address..symbol.address + symbol.size)
            .map(|address| {
                let frames = self.module.frames(address);
                assert!(!frames.is_empty(), "{address:x} in {}", self.path.display());
                frames
                    .into_iter()
                    .map(|frame| {
                        (
                            frame.function.unwrap_or_default(),
                            frame.file.unwrap_or_default(),
                            frame.line.unwrap_or_default(),
                        )
                    })
                    .collect()
            })
            .collect()
    }

    /// Asserts that some instruction of a function is at these functions and lines.
    pub(crate) fn assert_stack(&self, symbol: &str, fixture: &str, expected: &[(&str, u32)]) {
        let file = source(fixture);
        let file = file.to_str().unwrap();
        let stacks = self.stacks(symbol);
        let is_it = |stack: &Vec<(String, String, u32)>| {
            stack.len() == expected.len()
                && stack
                    .iter()
                    .zip(expected)
                    .all(|(found, expected)| found.0 == expected.0 && found.1 == file && found.2 == expected.1)
        };
        assert!(stacks.iter().any(is_it), "{expected:?} in {}: {stacks:#?}", self.path.display());
    }
}
