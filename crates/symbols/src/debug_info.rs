//! The questions that DWARF answers.
//!
//! Functions and lines are looked up by `addr2line`, which reads a unit when an address in it is first
//! asked for. Variables, names and types are read by us.

use crate::dies::{DieOffset, Dies};
use crate::elf::{Bytes, ElfFile};
use crate::layout::{Layouts, TypeId};
use crate::member;
use crate::module::{Frame, Variable};
use crate::names::Names;
use crate::survey::{Static, Survey};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

/// The debug information of one file.
pub(crate) struct DebugInfo {
    context: addr2line::Context<Bytes>,
    dwarf: Arc<gimli::Dwarf<Bytes>>,
    /// On the first question: what an address means depends on all units.
    survey: OnceCell<(Dies, Survey)>,
    layouts: Layouts,
    /// Names of functions. Many addresses are in the same ones, and demangling is slow.
    functions: RefCell<FxHashMap<DieOffset, Option<Arc<str>>>>,
}

impl DebugInfo {
    /// The reason why not is text: nothing can be done but to show it.
    pub(crate) fn read(elf: &ElfFile) -> Result<DebugInfo, String> {
        let mut dwarf = elf.dwarf().map_err(|error| error.to_string())?;
        // Each unit is read twice: by addr2line and by us.
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::All);
        let dwarf = Arc::new(dwarf);
        let context = addr2line::Context::from_arc_dwarf(Arc::clone(&dwarf))
            .map_err(|error| format!("malformed debug information: {error}"))?;
        Ok(DebugInfo {
            context,
            dwarf,
            survey: OnceCell::new(),
            layouts: Layouts::default(),
            functions: RefCell::default(),
        })
    }

    /// The functions and lines at an address, innermost first; none if not known.
    pub(crate) fn frames(&self, address: u64) -> Vec<Frame> {
        let mut found = Vec::new();
        // There is no instruction at the last address, and addr2line would look for the one after it.
        if address != u64::MAX && !self.survey().1.is_too_deep {
            // A defect ends the list where it is met.
            let _ = self.each_frame(address, |frame| found.push(frame));
        }
        found
    }

    /// The static variable that covers an address. `size_of` says how large one is that starts at an
    /// address, if its type does not.
    pub(crate) fn variable(&self, address: u64, size_of: impl Fn(u64) -> Option<u64>) -> Option<Variable> {
        let (dies, survey) = self.survey();
        let after = survey.statics.partition_point(|variable| variable.address <= address);
        let start = survey.statics.get(after.checked_sub(1)?)?.address;
        let first = survey.statics.partition_point(|variable| variable.address < start);
        // The same variable in several units, or several without a size.
        survey.statics.get(first..after)?.iter().find_map(|&variable| {
            let ty = self.type_of(dies, variable);
            let size = ty.and_then(|ty| self.layouts.get(dies, ty).size).or_else(|| size_of(start))?;
            if address - start >= size {
                return None;
            }
            let name = Names { dies, survey }.variable(variable)?;
            Some(Variable { name, start, size, ty })
        })
    }

    /// See [`member::member`].
    pub(crate) fn member(&self, ty: TypeId, offset: u64, size: u64) -> Option<String> {
        member::member(&self.survey().0, &self.layouts, ty, offset, size)
    }

    /// See [`member::is_indivisible`].
    pub(crate) fn is_indivisible(&self, ty: TypeId) -> bool {
        member::is_indivisible(&self.survey().0, &self.layouts, ty)
    }

    fn each_frame(&self, address: u64, mut visit: impl FnMut(Frame)) -> gimli::Result<()> {
        let mut frames = self.context.find_frames(address).skip_all_loads()?;
        let unit = self.context.find_dwarf_and_unit(address).skip_all_loads();
        let start = unit.and_then(|unit| unit.header.debug_info_offset());
        while let Some(frame) = frames.next()? {
            let die = start.zip(frame.dw_die_offset).map(|(start, die)| DieOffset(start.0.saturating_add(die.0)));
            let location = frame.location;
            visit(Frame {
                function: die.and_then(|die| self.function(die)).map(|name| name.to_string()),
                file: location.as_ref().and_then(|location| location.file).map(str::to_owned),
                line: location.and_then(|location| location.line).filter(|&line| line != 0),
            });
        }
        Ok(())
    }

    fn function(&self, die: DieOffset) -> Option<Arc<str>> {
        if let Some(name) = self.functions.borrow().get(&die) {
            return name.clone();
        }
        let (dies, survey) = self.survey();
        let name = Names { dies, survey }.function(die).map(Arc::from);
        self.functions.borrow_mut().insert(die, name.clone());
        name
    }

    fn type_of(&self, dies: &Dies, variable: Static) -> Option<TypeId> {
        let mut at = variable.die;
        // A definition may leave the type to its declaration; malformed ones may refer in circles.
        for _ in 0..8 {
            let (unit, die) = dies.get(at)?;
            if let Some(ty) = dies.reference(unit, &die, gimli::DW_AT_type) {
                return Some(TypeId(ty));
            }
            at = dies
                .reference(unit, &die, gimli::DW_AT_specification)
                .or_else(|| dies.reference(unit, &die, gimli::DW_AT_abstract_origin))?;
        }
        None
    }

    fn survey(&self) -> &(Dies, Survey) {
        self.survey.get_or_init(|| {
            let dies = Dies::new(Arc::clone(&self.dwarf));
            let survey = Survey::new(&dies);
            (dies, survey)
        })
    }
}
