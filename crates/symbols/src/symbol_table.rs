//! The ELF symbol table, by address: what is known without debug information.

use crate::elf::ElfFile;
use crate::error::SymbolsError;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use rustc_hash::FxHashMap;

/// How many symbols that begin before an address are looked at to find one that covers it. Symbols hardly
/// ever nest; where they do, it is a label or two inside a function.
const NESTED: usize = 8;

/// Functions and data objects, each sorted by address.
pub(crate) struct SymbolTable {
    functions: Vec<Symbol>,
    objects: Vec<Symbol>,
    /// All names, one after the other: one allocation, not one for each symbol.
    names: String,
}

/// A function or data object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol {
    pub(crate) start: u64,
    pub(crate) size: u64,
    /// Among symbols at the same address, the lower is the better known name.
    rank: u8,
    name: (usize, usize),
}

impl SymbolTable {
    /// The symbols of a file, or those for the dynamic linker if it has no others.
    pub(crate) fn read(elf: &ElfFile) -> Result<SymbolTable, SymbolsError> {
        let object = elf.object()?;
        let mut ends = FxHashMap::default();
        let mut code = FxHashMap::default();
        for section in object.sections() {
            ends.insert(section.index(), section.address().saturating_add(section.size()));
            code.insert(section.index(), section.kind() == SectionKind::Text);
        }

        let mut table = SymbolTable { functions: Vec::new(), objects: Vec::new(), names: String::new() };
        let mut section_ends = Vec::new();
        let symbols = if elf.has_full_symbol_table() { object.symbols() } else { object.dynamic_symbols() };
        for symbol in symbols {
            let Some(section) = symbol.section_index() else { continue };
            let Ok(bytes) = symbol.name_bytes() else { continue };
            let is_function = match symbol.kind() {
                SymbolKind::Text => true,
                SymbolKind::Data => false,
                // Functions in assembly often lack a type.
                SymbolKind::Unknown if code.get(&section) == Some(&true) => true,
                _ => continue,
            };
            if bytes.is_empty() || (!is_function && symbol.size() == 0) {
                continue;
            }
            let from = table.names.len();
            table.names.push_str(&String::from_utf8_lossy(bytes));
            let rank = if symbol.kind() == SymbolKind::Unknown {
                3
            } else if symbol.is_local() {
                2
            } else {
                u8::from(symbol.is_weak())
            };
            let entry = Symbol { start: symbol.address(), size: symbol.size(), rank, name: (from, table.names.len()) };
            if is_function {
                table.functions.push(entry);
                section_ends.push((entry.start, ends.get(&section).copied().unwrap_or(entry.start)));
            } else {
                table.objects.push(entry);
            }
        }
        table.sort();
        table.bound_unsized(section_ends);
        Ok(table)
    }

    /// The function that covers an address.
    pub(crate) fn function(&self, address: u64) -> Option<&str> {
        find(&self.functions, address).map(|symbol| self.name(symbol))
    }

    /// The data object that covers an address.
    pub(crate) fn object(&self, address: u64) -> Option<Symbol> {
        find(&self.objects, address)
    }

    /// A symbol's name as in the file.
    pub(crate) fn name(&self, symbol: Symbol) -> &str {
        self.names.get(symbol.name.0..symbol.name.1).unwrap_or_default()
    }

    /// By address; of several at one address, the best known last, where the search finds it first.
    fn sort(&mut self) {
        let names = &self.names;
        let key = |symbol: &Symbol| {
            let name = names.get(symbol.name.0..symbol.name.1).unwrap_or_default();
            (symbol.start, std::cmp::Reverse(symbol.rank), std::cmp::Reverse(name))
        };
        self.functions.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        self.objects.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
    }

    /// A function without a size, in assembly, ends where the next one begins, or its section ends.
    fn bound_unsized(&mut self, mut section_ends: Vec<(u64, u64)>) {
        section_ends.sort_unstable();
        let mut next = u64::MAX;
        let mut following = u64::MAX;
        for symbol in self.functions.iter_mut().rev() {
            if symbol.start != following {
                next = following;
                following = symbol.start;
            }
            if symbol.size == 0 {
                let at = section_ends.partition_point(|&(start, _)| start < symbol.start);
                let end = section_ends.get(at).map_or(symbol.start, |&(_, end)| end);
                symbol.size = next.min(end).saturating_sub(symbol.start);
            }
        }
    }
}

fn find(symbols: &[Symbol], address: u64) -> Option<Symbol> {
    let after = symbols.partition_point(|symbol| symbol.start <= address);
    symbols.get(..after)?.iter().rev().take(NESTED).find(|symbol| address - symbol.start < symbol.size).copied()
}
