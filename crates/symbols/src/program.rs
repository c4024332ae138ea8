//! The modules of one process, each where it was loaded.

use crate::error::SymbolsError;
use crate::module::{Frame, Module, Variable};
use std::cell::OnceCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Modules by address. A module is opened when something in it is first asked for; one that cannot be
/// opened says nothing, and is not tried again.
#[derive(Default)]
pub struct Program {
    files: Vec<LazyModule>,
    /// Sorted, without overlaps.
    mappings: Vec<Mapping>,
}

struct LazyModule {
    path: PathBuf,
    module: OnceCell<Result<Module, SymbolsError>>,
}

struct Mapping {
    range: Range<u64>,
    bias: u64,
    file: usize,
}

impl Program {
    /// A program without modules.
    pub fn new() -> Program {
        Program::default()
    }

    /// Adds a module: the file, what was added to the addresses in it, and where it is. What was there
    /// before is forgotten: libraries are unloaded and others take their place. A file may be added several
    /// times, for each of its segments or copies; it is opened once.
    pub fn add(&mut self, path: impl Into<PathBuf>, bias: u64, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let path = path.into();
        let file = self.files.iter().position(|file| file.path == path).unwrap_or_else(|| {
            self.files.push(LazyModule { path, module: OnceCell::new() });
            self.files.len() - 1
        });
        self.forget(&range);
        let at = self.mappings.partition_point(|mapping| mapping.range.start < range.start);
        self.mappings.insert(at, Mapping { range, bias, file });
    }

    /// The module that an address is in, and the address as in its file.
    pub fn locate(&self, address: u64) -> Option<(&Module, u64)> {
        let mapping = self.mapping(address)?;
        let file = self.files.get(mapping.file)?;
        let module = file.module.get_or_init(|| Module::open(&file.path)).as_ref().ok()?;
        Some((module, address.wrapping_sub(mapping.bias)))
    }

    /// The file that an address is in, whether or not it can be opened, and the address as in it.
    pub fn file(&self, address: u64) -> Option<(&Path, u64)> {
        let mapping = self.mapping(address)?;
        Some((&self.files.get(mapping.file)?.path, address.wrapping_sub(mapping.bias)))
    }

    /// See [`Module::frames`].
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        self.locate(address).map_or_else(Vec::new, |(module, address)| module.frames(address))
    }

    /// See [`Module::variable`]. The variable starts where it was loaded. The module is there to ask about
    /// its type.
    pub fn variable(&self, address: u64) -> Option<(&Module, Variable)> {
        let (module, in_file) = self.locate(address)?;
        let mut variable = module.variable(in_file)?;
        variable.start = variable.start.wrapping_add(address.wrapping_sub(in_file));
        Some((module, variable))
    }

    /// See [`Module::describe`].
    pub fn describe(&self, address: u64, size: u64) -> Option<String> {
        let (module, address) = self.locate(address)?;
        module.describe(address, size)
    }

    /// The modules that were asked for but could not be opened, and why.
    pub fn failures(&self) -> impl Iterator<Item = (&Path, &SymbolsError)> {
        self.files.iter().filter_map(|file| Some((file.path.as_path(), file.module.get()?.as_ref().err()?)))
    }

    fn mapping(&self, address: u64) -> Option<&Mapping> {
        let after = self.mappings.partition_point(|mapping| mapping.range.start <= address);
        self.mappings.get(after.checked_sub(1)?).filter(|mapping| mapping.range.contains(&address))
    }

    fn forget(&mut self, range: &Range<u64>) {
        let mut rest = Vec::new();
        self.mappings.retain_mut(|mapping| {
            if mapping.range.end <= range.start || range.end <= mapping.range.start {
                return true;
            }
            if range.end < mapping.range.end {
                rest.push(Mapping { range: range.end..mapping.range.end, bias: mapping.bias, file: mapping.file });
            }
            mapping.range.end = range.start;
            !mapping.range.is_empty()
        });
        self.mappings.append(&mut rest);
        self.mappings.sort_unstable_by_key(|mapping| mapping.range.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_module_at_an_address_counts() {
        let mut program = Program::new();
        program.add("/a", 0x1000, 0x1000..0x5000);
        program.add("/b", 0x2000, 0x2000..0x3000);
        program.add("/c", 0, 0x7000..0x7000);
        let at = |address| program.file(address).map(|(path, address)| (path.to_str().unwrap_or_default(), address));
        assert_eq!(at(0xfff), None);
        assert_eq!(at(0x1fff), Some(("/a", 0xfff)));
        assert_eq!(at(0x2000), Some(("/b", 0)));
        assert_eq!(at(0x3000), Some(("/a", 0x2000)));
        assert_eq!(at(0x5000), None);
        assert_eq!(at(0x7000), None);
        assert_eq!(program.failures().count(), 0, "nothing was opened");
    }

    #[test]
    fn a_program_can_move_to_another_thread() {
        fn assert_send<T: Send>(_: &T) {}
        assert_send(&Program::new());
    }

    #[test]
    fn a_module_that_cannot_be_opened_is_remembered() {
        let mut program = Program::new();
        program.add("/nowhere/at/all", 0, 0..0x1000);
        assert!(program.frames(0x10).is_empty());
        assert!(program.variable(0x10).is_none());
        assert_eq!(program.failures().count(), 1);
    }
}
