//! One walk over all entries, which notes what cannot be found by following references: where static
//! variables are, and what encloses what.
//!
//! References lead from an entry to others, but never to the one around it, so whatever is to be named
//! in full has its scope noted here. Only what may need it is: variables at an address, and declarations
//! without a mangled name inside namespaces and classes. Nearly all entries are skipped unread.

use crate::dies::{DieOffset, Dies, Unit};
use gimli::{Abbreviation, DwAt, DwTag};
use rustc_hash::FxHashMap;

/// How deep entries may nest. Lookups of functions follow nested entries by recursion, and the stack is
/// finite. Compilers stay below a hundred.
const MAX_DEPTH: isize = 1000;

/// What the walk found.
pub(crate) struct Survey {
    /// Sorted by address.
    pub(crate) statics: Vec<Static>,
    /// The scopes of declarations that have no mangled name.
    declared: FxHashMap<DieOffset, ScopeId>,
    scopes: Vec<Scope>,
    /// Entries nest deeper than any compiler has them.
    pub(crate) is_too_deep: bool,
}

/// A variable at a fixed address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Static {
    pub(crate) address: u64,
    pub(crate) die: DieOffset,
    pub(crate) scope: Option<ScopeId>,
}

/// A namespace, class or function, as one that things are declared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScopeId(u32);

/// An entry that encloses others, and the one around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) die: DieOffset,
    pub(crate) tag: DwTag,
    pub(crate) parent: Option<ScopeId>,
}

impl Survey {
    pub(crate) fn new(dies: &Dies) -> Survey {
        let mut survey =
            Survey { statics: Vec::new(), declared: FxHashMap::default(), scopes: Vec::new(), is_too_deep: false };
        for unit in dies.units() {
            // After a defect, what the unit holds before it is kept, and the next unit is read.
            let _ = survey.walk(dies, unit);
        }
        survey.statics.sort_by_key(|variable| variable.address);
        survey
    }

    /// Where an entry is declared; nothing for those at the outermost level.
    pub(crate) fn scope_of(&self, die: DieOffset) -> Option<ScopeId> {
        self.declared.get(&die).copied()
    }

    pub(crate) fn scope(&self, id: ScopeId) -> Option<Scope> {
        self.scopes.get(id.0 as usize).copied()
    }

    fn walk(&mut self, dies: &Dies, unit: &Unit) -> gimli::Result<()> {
        let mut entries = unit.entries()?;
        let mut around = Enclosing::default();
        while !entries.is_empty() {
            let depth = entries.next_depth();
            let die = unit.offset_of(entries.next_offset());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            if depth > MAX_DEPTH {
                self.is_too_deep = true;
                return Ok(());
            }
            around.leave(depth);
            let tag = abbreviation.tag();
            if tag == gimli::DW_TAG_variable && has(abbreviation, gimli::DW_AT_location) {
                let mut location = None;
                for &specification in abbreviation.attributes() {
                    let attribute = entries.read_attribute(specification)?;
                    if attribute.name() == gimli::DW_AT_location {
                        location = Some(attribute.value());
                    }
                }
                // Linkers leave zero, or the last address, where they have thrown a variable away.
                let address = location
                    .and_then(|location| dies.fixed_address(unit, location))
                    .filter(|&address| address != 0 && address < u64::MAX - 1);
                if let Some(address) = address {
                    let scope = around.materialise(&mut self.scopes);
                    self.statics.push(Static { address, die, scope });
                }
            } else {
                entries.skip_attributes(abbreviation.attributes())?;
            }
            if is_declarative(abbreviation)
                && around.is_static()
                && let Some(scope) = around.materialise(&mut self.scopes)
            {
                self.declared.insert(die, scope);
            }
            if abbreviation.has_children() && is_scope(tag) {
                around.enter(depth, die, tag);
            }
        }
        Ok(())
    }
}

/// The scopes around the current entry, outermost first.
#[derive(Default)]
struct Enclosing(Vec<Level>);

struct Level {
    depth: isize,
    die: DieOffset,
    tag: DwTag,
    /// Once something in it needed a name.
    id: Option<ScopeId>,
}

impl Enclosing {
    fn leave(&mut self, depth: isize) {
        while self.0.last().is_some_and(|level| level.depth >= depth) {
            self.0.pop();
        }
    }

    fn enter(&mut self, depth: isize, die: DieOffset, tag: DwTag) {
        self.0.push(Level { depth, die, tag, id: None });
    }

    /// Whether we are inside a namespace or class, with no function nearer.
    fn is_static(&self) -> bool {
        self.0.last().is_some_and(|level| !is_function(level.tag))
    }

    /// The innermost scope. Scopes are noted when they are first needed: few ever are.
    fn materialise(&mut self, scopes: &mut Vec<Scope>) -> Option<ScopeId> {
        let known = self.0.iter().rposition(|level| level.id.is_some());
        let mut parent = known.and_then(|at| self.0[at].id);
        for level in self.0.iter_mut().skip(known.map_or(0, |at| at + 1)) {
            let id = ScopeId(u32::try_from(scopes.len()).ok()?);
            scopes.push(Scope { die: level.die, tag: level.tag, parent });
            level.id = Some(id);
            parent = Some(id);
        }
        parent
    }
}

pub(crate) fn is_function(tag: DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine)
}

pub(crate) fn is_record(tag: DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type)
}

fn is_scope(tag: DwTag) -> bool {
    tag == gimli::DW_TAG_namespace || tag == gimli::DW_TAG_enumeration_type || is_record(tag) || is_function(tag)
}

/// Whether something elsewhere may be the definition of this entry, and rely on it for its name.
fn is_declarative(abbreviation: &Abbreviation) -> bool {
    let is_named = match abbreviation.tag() {
        gimli::DW_TAG_subprogram | gimli::DW_TAG_variable => true,
        // Before DWARF 5, a static member is like any other, but for this.
        gimli::DW_TAG_member => has(abbreviation, gimli::DW_AT_declaration) || has(abbreviation, gimli::DW_AT_external),
        _ => false,
    };
    is_named
        && has(abbreviation, gimli::DW_AT_name)
        && !has(abbreviation, gimli::DW_AT_linkage_name)
        && !has(abbreviation, gimli::DW_AT_MIPS_linkage_name)
}

pub(crate) fn has(abbreviation: &Abbreviation, attribute: DwAt) -> bool {
    abbreviation.attributes().iter().any(|specification| specification.name() == attribute)
}
