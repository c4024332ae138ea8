//! Symbols from the files that the program was loaded from.

use crate::symbolize::{Frame, Symbolizer, Variable};
use interloper_symbols::Program;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Reads the modules of the program, each when something in it is first asked for.
#[derive(Default)]
pub(crate) struct FileSymbols {
    program: Program,
    /// The modules that were of use, each with an address in it.
    used: BTreeMap<PathBuf, u64>,
}

impl FileSymbols {
    fn note(&mut self, address: u64) {
        if let Some((path, _)) = self.program.file(address)
            && !self.used.contains_key(path)
        {
            self.used.insert(path.to_owned(), address);
        }
    }
}

impl Symbolizer for FileSymbols {
    fn add_module(&mut self, path: &Path, bias: u64, range: Range<u64>) {
        self.program.add(path, bias, range);
    }

    fn frames(&mut self, address: u64) -> Vec<Frame> {
        self.note(address);
        let frames = self.program.frames(address).into_iter();
        frames.map(|frame| Frame { function: frame.function, file: frame.file, line: frame.line }).collect()
    }

    fn variable(&mut self, address: u64) -> Option<Variable> {
        /// Parts that are wider and have no parts themselves are rare, and only named less well.
        const WIDEST: u64 = 256;
        let (module, variable) = self.program.variable(address)?;
        let offset = address - variable.start;
        let part_at = |offset: u64| variable.ty.and_then(|ty| module.member(ty, offset, 1));
        let Some(part) = part_at(offset) else { return Some(Variable { name: variable.name, offset }) };
        let before = (1..=offset.min(WIDEST)).take_while(|back| part_at(offset - back).as_ref() == Some(&part));
        let offset = before.count() as u64;
        Some(Variable { name: variable.name + &part, offset })
    }

    fn build_ids(&self) -> Vec<(String, String)> {
        let ids = self.used.iter().filter_map(|(path, address)| {
            let (module, _) = self.program.locate(*address)?;
            Some((path.display().to_string(), module.build_id()?))
        });
        ids.collect()
    }
}
