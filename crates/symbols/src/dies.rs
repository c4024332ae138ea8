//! The entries of `.debug_info`, by their offset in it.

use crate::elf::Bytes;
use gimli::{AttributeValue, Reader, UnitOffset, UnitType};
use std::sync::Arc;

/// An entry's attributes.
pub(crate) type Die = gimli::DebuggingInformationEntry<Bytes>;

/// Where an entry is in `.debug_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DieOffset(pub(crate) usize);

/// The entries of all units.
pub(crate) struct Dies {
    dwarf: Arc<gimli::Dwarf<Bytes>>,
    units: Vec<Unit>,
}

/// A compilation unit.
pub(crate) struct Unit {
    start: usize,
    end: usize,
    unit: gimli::Unit<Bytes>,
    /// Whether it is of Rust, which has other customs of naming than C and C++.
    pub(crate) is_rust: bool,
}

impl Dies {
    /// The units, as far as their headers can be read.
    pub(crate) fn new(dwarf: Arc<gimli::Dwarf<Bytes>>) -> Dies {
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            let Some(start) = header.debug_info_offset() else { continue };
            if matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. }) {
                continue;
            }
            let end = start.0.saturating_add(header.length_including_self());
            let Ok(mut unit) = dwarf.unit(header) else { continue };
            // Lines are looked up elsewhere; the tables of file names are large.
            unit.line_program = None;
            let language =
                unit.entry(unit.header.root_offset()).ok().and_then(|root| root.attr_value(gimli::DW_AT_language));
            let is_rust = matches!(language, Some(AttributeValue::Language(gimli::DW_LANG_Rust)));
            units.push(Unit { start: start.0, end, unit, is_rust });
        }
        Dies { dwarf, units }
    }

    pub(crate) fn units(&self) -> &[Unit] {
        &self.units
    }

    /// An entry and the unit it is in.
    pub(crate) fn get(&self, at: DieOffset) -> Option<(&Unit, Die)> {
        let unit = self.unit_of(at)?;
        let die = unit.unit.entry(UnitOffset(at.0.checked_sub(unit.start)?)).ok()?;
        (!die.is_null()).then_some((unit, die))
    }

    /// The entries directly below one. What comes after a defect is left out.
    pub(crate) fn children(&self, at: DieOffset) -> Vec<Die> {
        let mut found = Vec::new();
        let _ = self.each_child(at, |child| found.push(child));
        found
    }

    /// The entry that an attribute refers to.
    pub(crate) fn reference(&self, unit: &Unit, die: &Die, attribute: gimli::DwAt) -> Option<DieOffset> {
        match die.attr_value(attribute)? {
            AttributeValue::UnitRef(offset) => unit.start.checked_add(offset.0).map(DieOffset),
            AttributeValue::DebugInfoRef(offset) => Some(DieOffset(offset.0)),
            _ => None,
        }
    }

    /// An attribute that is text.
    pub(crate) fn text(&self, unit: &Unit, die: &Die, attribute: gimli::DwAt) -> Option<String> {
        let value = die.attr_value(attribute)?;
        let text = self.dwarf.attr_string(&unit.unit, value).ok()?;
        let text = text.to_string_lossy().ok()?;
        (!text.is_empty()).then(|| text.into_owned())
    }

    /// The mangled name, if the entry itself has one.
    pub(crate) fn linkage_name(&self, unit: &Unit, die: &Die) -> Option<String> {
        self.text(unit, die, gimli::DW_AT_linkage_name).or_else(|| self.text(unit, die, gimli::DW_AT_MIPS_linkage_name))
    }

    /// The address that a location is, if it is one and the same at all times and for all threads.
    pub(crate) fn fixed_address(&self, unit: &Unit, location: AttributeValue<Bytes>) -> Option<u64> {
        let mut operations = location.exprloc_value()?.operations(unit.unit.encoding());
        let mut address = None;
        while let Some(operation) = operations.next().ok()? {
            address = Some(match (operation, address) {
                (gimli::Operation::Address { address }, None) => address,
                (gimli::Operation::AddressIndex { index }, None) => self.dwarf.address(&unit.unit, index).ok()?,
                // Where clang has merged small variables into one.
                (gimli::Operation::PlusConstant { value }, Some(address)) => u64::checked_add(address, value)?,
                _ => return None,
            });
        }
        address
    }

    fn each_child(&self, at: DieOffset, mut visit: impl FnMut(Die)) -> gimli::Result<()> {
        let Some(unit) = self.unit_of(at) else { return Ok(()) };
        let mut tree = unit.unit.entries_tree(Some(UnitOffset(at.0.saturating_sub(unit.start))))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            visit(child.entry().clone());
        }
        Ok(())
    }

    fn unit_of(&self, at: DieOffset) -> Option<&Unit> {
        let after = self.units.partition_point(|unit| unit.start <= at.0);
        self.units.get(after.checked_sub(1)?).filter(|unit| at.0 < unit.end)
    }
}

impl Unit {
    /// All entries, to be walked.
    pub(crate) fn entries(&self) -> gimli::Result<gimli::EntriesRaw<'_, Bytes>> {
        self.unit.entries_raw(None)
    }

    /// The size of a pointer.
    pub(crate) fn address_size(&self) -> u8 {
        self.unit.header.address_size()
    }

    /// Where in `.debug_info` an entry of this unit is.
    pub(crate) fn offset_of(&self, offset: UnitOffset<usize>) -> DieOffset {
        DieOffset(self.start.saturating_add(offset.0))
    }
}
