//! How types are laid out in memory, read from their entries when first asked for.

use crate::dies::{Die, DieOffset, Dies, Unit};
use crate::survey::{has, is_record};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How many names for one type are seen through. Malformed ones may go round in circles.
const MAX_ALIASES: u32 = 32;
/// How deep types within types are read. The stack is finite.
const MAX_NESTING: u32 = 100;

/// A type of the [`Module`](crate::Module) it came from, and of no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub(crate) DieOffset);

/// The layouts of one module.
#[derive(Default)]
pub(crate) struct Layouts {
    known: RefCell<FxHashMap<TypeId, Arc<Layout>>>,
    definitions: OnceCell<Definitions>,
}

/// What is where in a value.
#[derive(Debug)]
pub(crate) struct Layout {
    /// In bytes.
    pub(crate) size: Option<u64>,
    pub(crate) shape: Shape,
}

#[derive(Debug)]
pub(crate) enum Shape {
    /// No parts that we know of.
    Whole,
    Array {
        element: TypeId,
        stride: u64,
        /// Of each dimension, outermost first; unknown for `[]`.
        counts: Vec<Option<u64>>,
    },
    /// A structure, class or union.
    Record { name: Option<String>, parts: Vec<Part>, is_rust: bool },
}

/// A member or base class.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) kind: PartKind,
    /// The bytes that hold it: `start..end`. A bit field's are those it has bits in.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) ty: TypeId,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PartKind {
    Member(String),
    BitField(String),
    /// A base class, or an anonymous structure or union: its members are written as if they were ours.
    Transparent,
}

impl Layouts {
    pub(crate) fn get(&self, dies: &Dies, ty: TypeId) -> Arc<Layout> {
        self.nested(dies, ty, MAX_NESTING)
    }

    fn nested(&self, dies: &Dies, ty: TypeId, nesting: u32) -> Arc<Layout> {
        if let Some(layout) = self.known.borrow().get(&ty) {
            return Arc::clone(layout);
        }
        let unknown = || Arc::new(Layout { size: None, shape: Shape::Whole });
        let Some(nesting) = nesting.checked_sub(1) else { return unknown() };
        // While it is being read: a malformed type may contain itself.
        self.known.borrow_mut().insert(ty, unknown());
        let Some(layout) = self.read(dies, ty, nesting) else { return unknown() };
        let layout = Arc::new(layout);
        self.known.borrow_mut().insert(ty, Arc::clone(&layout));
        layout
    }

    fn read(&self, dies: &Dies, ty: TypeId, nesting: u32) -> Option<Layout> {
        let mut at = ty.0;
        for _ in 0..MAX_ALIASES {
            let (unit, die) = dies.get(at)?;
            let size = die.attr_value(gimli::DW_AT_byte_size).and_then(|value| value.udata_value());
            let tag = die.tag();
            if is_record(tag) {
                if die.has_attr(gimli::DW_AT_declaration) {
                    let definitions = self.definitions.get_or_init(|| Definitions::new(dies));
                    at = definitions.of(at)?;
                    continue;
                }
                let parts =
                    dies.children(at).iter().filter_map(|child| self.part(dies, unit, child, nesting)).collect();
                let name = dies.text(unit, &die, gimli::DW_AT_name);
                return Some(Layout { size, shape: Shape::Record { name, parts, is_rust: unit.is_rust } });
            }
            if tag == gimli::DW_TAG_array_type {
                let element = TypeId(dies.reference(unit, &die, gimli::DW_AT_type)?);
                return self.array(dies, at, element, size, nesting);
            }
            if !is_alias(tag) {
                let is_pointer = matches!(
                    tag,
                    gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type
                );
                let size = size.or_else(|| is_pointer.then(|| u64::from(unit.address_size())));
                return Some(Layout { size, shape: Shape::Whole });
            }
            at = dies.reference(unit, &die, gimli::DW_AT_type)?;
        }
        None
    }

    fn array(&self, dies: &Dies, at: DieOffset, element: TypeId, size: Option<u64>, nesting: u32) -> Option<Layout> {
        let stride = self.nested(dies, element, nesting).size?;
        let counts: Vec<_> = dies
            .children(at)
            .iter()
            .filter(|child| child.tag() == gimli::DW_TAG_subrange_type)
            .map(|range| {
                let number = |attribute| range.attr_value(attribute).and_then(|value| value.udata_value());
                number(gimli::DW_AT_count).or_else(|| number(gimli::DW_AT_upper_bound)?.checked_add(1))
            })
            .collect();
        let total = counts.iter().try_fold(stride, |product, &count| product.checked_mul(count?));
        Some(Layout { size: size.or(total), shape: Shape::Array { element, stride, counts } })
    }

    fn part(&self, dies: &Dies, unit: &Unit, die: &Die, nesting: u32) -> Option<Part> {
        let is_base = die.tag() == gimli::DW_TAG_inheritance;
        let is_static = die.has_attr(gimli::DW_AT_external) || die.has_attr(gimli::DW_AT_declaration);
        if !is_base && (die.tag() != gimli::DW_TAG_member || is_static) {
            return None;
        }
        let ty = TypeId(dies.reference(unit, die, gimli::DW_AT_type)?);
        let name = dies.text(unit, die, gimli::DW_AT_name);
        let number = |attribute| die.attr_value(attribute).and_then(|value| value.udata_value());
        let location = match die.attr_value(gimli::DW_AT_data_member_location) {
            // In a union, and before DWARF 5 bit fields, it may be left out.
            None => 0,
            // The place of a virtual base is known at run time only.
            Some(value) => value.udata_value()?,
        };
        if let Some(bits) = number(gimli::DW_AT_bit_size) {
            let first = match (number(gimli::DW_AT_data_bit_offset), number(gimli::DW_AT_bit_offset)) {
                (Some(first), _) => first,
                // The older way: counted from the most significant bit of a unit of storage.
                (None, Some(from_top)) => {
                    let storage = number(gimli::DW_AT_byte_size).or_else(|| self.nested(dies, ty, nesting).size)?;
                    let first = storage.checked_mul(8)?.checked_sub(from_top)?.checked_sub(bits)?;
                    location.checked_mul(8)?.checked_add(first)?
                }
                (None, None) => location.checked_mul(8)?,
            };
            let end = first.checked_add(bits)?.div_ceil(8);
            return Some(Part { kind: PartKind::BitField(name?), start: first / 8, end, ty });
        }
        let kind = match name {
            Some(name) if !is_base => PartKind::Member(name),
            _ => PartKind::Transparent,
        };
        let size = self.nested(dies, ty, nesting).size?;
        Some(Part { kind, start: location, end: location.checked_add(size)?, ty })
    }
}

/// Whether a type of this tag is laid out as the one it refers to.
fn is_alias(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_template_alias
    )
}

/// Where classes are defined that are only declared in other units: clang describes a class where its
/// first virtual function is, and nowhere else.
struct Definitions {
    declared: FxHashMap<DieOffset, u64>,
    defined: FxHashMap<u64, DieOffset>,
}

impl Definitions {
    fn new(dies: &Dies) -> Definitions {
        let mut definitions = Definitions { declared: FxHashMap::default(), defined: FxHashMap::default() };
        for unit in dies.units() {
            let _ = definitions.walk(dies, unit);
        }
        definitions
    }

    fn of(&self, declaration: DieOffset) -> Option<DieOffset> {
        self.defined.get(self.declared.get(&declaration)?).copied()
    }

    /// Names are compared in full, by their hashes. Inside functions and unnamed scopes, names are of no
    /// use elsewhere.
    fn walk(&mut self, dies: &Dies, unit: &Unit) -> gimli::Result<()> {
        let mut entries = unit.entries()?;
        let mut around: Vec<(isize, Option<u64>)> = Vec::new();
        while !entries.is_empty() {
            let depth = entries.next_depth();
            let at = unit.offset_of(entries.next_offset());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            entries.skip_attributes(abbreviation.attributes())?;
            while around.last().is_some_and(|&(outer, _)| outer >= depth) {
                around.pop();
            }
            let tag = abbreviation.tag();
            if tag == gimli::DW_TAG_compile_unit || tag == gimli::DW_TAG_partial_unit {
                continue;
            }
            let mut name = None;
            if (is_record(tag) || tag == gimli::DW_TAG_namespace)
                && let Some((_, die)) = dies.get(at)
                && let Some(text) = dies.text(unit, &die, gimli::DW_AT_name)
            {
                name = around.last().map_or(Some(0), |&(_, outer)| outer).map(|outer: u64| {
                    let mut hasher = DefaultHasher::new();
                    (outer, text).hash(&mut hasher);
                    hasher.finish()
                });
            }
            if let Some(name) = name.filter(|_| is_record(tag)) {
                if has(abbreviation, gimli::DW_AT_declaration) {
                    self.declared.insert(at, name);
                } else {
                    self.defined.entry(name).or_insert(at);
                }
            }
            if abbreviation.has_children() {
                around.push((depth, name));
            }
        }
        Ok(())
    }
}
