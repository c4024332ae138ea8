//! What functions and variables are called, in full.
//!
//! A mangled name says it all. Where there is none (C, and whatever C++ keeps inside one file), the name
//! is put together from the scopes around the declaration, as a demangler would write them.

use crate::demangle;
use crate::dies::{DieOffset, Dies};
use crate::survey::{ScopeId, Static, Survey, is_function};

/// How many references and scopes are followed for one name. Malformed ones may lead in circles.
const MAX_STEPS: u32 = 64;

/// What a name is made from.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) dies: &'a Dies,
    pub(crate) survey: &'a Survey,
}

impl Names<'_> {
    /// The name of the function that an entry is, or is an inlined copy of.
    pub(crate) fn function(&self, die: DieOffset) -> Option<String> {
        self.qualified(die, None, &mut { MAX_STEPS })
    }

    /// The name of a variable. One inside a function is called `function::name`.
    pub(crate) fn variable(&self, variable: Static) -> Option<String> {
        self.qualified(variable.die, variable.scope, &mut { MAX_STEPS })
    }

    /// Follows an entry to the one that is named.
    fn qualified(&self, die: DieOffset, mut scope: Option<ScopeId>, steps: &mut u32) -> Option<String> {
        let mut at = die;
        loop {
            *steps = steps.checked_sub(1)?;
            let (unit, die) = self.dies.get(at)?;
            if let Some(mangled) = self.dies.linkage_name(unit, &die) {
                return Some(demangle::pretty(&mangled));
            }
            if let Some(name) = self.dies.text(unit, &die, gimli::DW_AT_name) {
                let scope = self.survey.scope_of(at).or(scope);
                return Some(match self.prefix(scope, steps) {
                    Some(prefix) => format!("{prefix}::{name}"),
                    None => name,
                });
            }
            let specification = self.dies.reference(unit, &die, gimli::DW_AT_specification);
            if specification.is_some() {
                // It is declared elsewhere; where it is defined does not matter.
                scope = None;
            }
            at = specification.or_else(|| self.dies.reference(unit, &die, gimli::DW_AT_abstract_origin))?;
        }
    }

    /// What stands before the last `::`.
    fn prefix(&self, scope: Option<ScopeId>, steps: &mut u32) -> Option<String> {
        let mut next = scope;
        let mut parts = Vec::new();
        while let Some(scope) = next.and_then(|id| self.survey.scope(id)) {
            *steps = steps.checked_sub(1)?;
            if is_function(scope.tag) {
                // Its name is complete.
                parts.extend(self.qualified(scope.die, scope.parent, steps));
                break;
            }
            let (unit, die) = self.dies.get(scope.die)?;
            let name = self.dies.text(unit, &die, gimli::DW_AT_name);
            let is_namespace = scope.tag == gimli::DW_TAG_namespace;
            parts.extend(name.or_else(|| is_namespace.then(|| "(anonymous namespace)".to_owned())));
            next = scope.parent;
        }
        parts.reverse();
        (!parts.is_empty()).then(|| parts.join("::"))
    }
}
