//! One ELF file, and what its addresses mean.

use crate::debug_file;
use crate::debug_info::DebugInfo;
use crate::demangle;
use crate::elf::ElfFile;
use crate::error::SymbolsError;
use crate::layout::TypeId;
use crate::symbol_table::SymbolTable;
use std::path::Path;

/// A program or shared library and its debug information. Addresses are as in the file: where it is
/// loaded is the business of a [`Program`](crate::Program).
///
/// The file is read once, when it is opened: what happens to it later does not matter. It stays in memory,
/// as does what was found out. Questions may come from one thread at a time.
pub struct Module {
    build_id: Option<String>,
    symbols: SymbolTable,
    debug_info: Option<DebugInfo>,
    debug_info_error: Option<String>,
}

/// A function that an address is in, and the line in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Its name, with namespaces and template arguments, without parameters.
    pub function: Option<String>,
    /// The source file: absolute, unless the compiler was not told where it ran.
    pub file: Option<String>,
    /// The line, counted from one. Of a frame that others were inlined into, that of the call.
    pub line: Option<u32>,
}

/// A variable that stays at one address as long as its module is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// Its name, with namespaces and classes. One inside a function is called `function::name`.
    pub name: String,
    /// Its first byte.
    pub start: u64,
    /// How many bytes it has; at least one.
    pub size: u64,
    /// Its type, if there is debug information.
    pub ty: Option<TypeId>,
}

impl Module {
    /// Reads a file, and its separate debug file if it has one. Debug information that cannot be used is
    /// no error; see [`Module::debug_info_error`].
    pub fn open(path: &Path) -> Result<Module, SymbolsError> {
        let elf = ElfFile::read(path)?;
        let separate = if elf.has_debug_info() { None } else { debug_file::find(path, &elf) };
        let described = separate.as_ref().unwrap_or(&elf);
        let symbols = match &separate {
            Some(debug) if debug.has_full_symbol_table() && !elf.has_full_symbol_table() => SymbolTable::read(debug)?,
            _ => SymbolTable::read(&elf)?,
        };
        let (debug_info, debug_info_error) = match described.has_debug_info().then(|| DebugInfo::read(described)) {
            None => (None, None),
            Some(Ok(debug_info)) => (Some(debug_info), None),
            Some(Err(error)) => (None, Some(error)),
        };
        Ok(Module { build_id: elf.build_id(), symbols, debug_info, debug_info_error })
    }

    /// The functions and lines at an address, innermost first: those that were inlined, and last the one
    /// they were inlined into. Empty if nothing is known.
    ///
    /// The address is that of an instruction. Of a return address, ask for one less: the call is before it.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let mut frames = self.debug_info.as_ref().map_or_else(Vec::new, |debug_info| debug_info.frames(address));
        let by_symbol = || self.symbols.function(address).map(demangle::pretty);
        match frames.last_mut() {
            Some(outermost) if outermost.function.is_none() => outermost.function = by_symbol(),
            Some(_) => {}
            None => frames.extend(by_symbol().map(|name| Frame { function: Some(name), file: None, line: None })),
        }
        frames
    }

    /// The static variable, or ELF data symbol, that covers an address.
    pub fn variable(&self, address: u64) -> Option<Variable> {
        let size_of =
            |start| self.symbols.object(start).filter(|symbol| symbol.start == start).map(|symbol| symbol.size);
        let described = self.debug_info.as_ref().and_then(|debug_info| debug_info.variable(address, size_of));
        described.or_else(|| {
            let symbol = self.symbols.object(address)?;
            let name = demangle::pretty(self.symbols.name(symbol));
            Some(Variable { name, start: symbol.start, size: symbol.size, ty: None })
        })
    }

    /// How C or C++ would write the part of a value that holds the `size` bytes from `offset`, behind the
    /// value's name: `.balance`, `[3].x`. The part is the smallest that holds them all, never leads through
    /// a pointer, and stops at types of the standard library. `None` if that is the whole value, or
    /// nothing is known.
    pub fn member(&self, ty: TypeId, offset: u64, size: u64) -> Option<String> {
        self.debug_info.as_ref()?.member(ty, offset, size)
    }

    /// The variable and the part of it that holds the `size` bytes from an address, as people write it:
    /// `accounts[2].balance`. Where no part is known, the offset stands for it: `buffer+24`.
    pub fn describe(&self, address: u64, size: u64) -> Option<String> {
        let variable = self.variable(address)?;
        let offset = address - variable.start;
        let part = match variable.ty.and_then(|ty| self.member(ty, offset, size)) {
            Some(part) => part,
            None if offset == 0 || variable.ty.is_some_and(|ty| self.is_indivisible(ty)) => String::new(),
            None => format!("+{offset}"),
        };
        Some(variable.name + &part)
    }

    /// The build id, in hexadecimal.
    pub fn build_id(&self) -> Option<String> {
        self.build_id.clone()
    }

    /// Whether there is debug information, in the file or beside it.
    pub fn has_debug_info(&self) -> bool {
        self.debug_info.is_some()
    }

    /// Why there is debug information, but it is of no use.
    pub fn debug_info_error(&self) -> Option<&str> {
        self.debug_info_error.as_deref()
    }

    fn is_indivisible(&self, ty: TypeId) -> bool {
        self.debug_info.as_ref().is_some_and(|debug_info| debug_info.is_indivisible(ty))
    }
}
