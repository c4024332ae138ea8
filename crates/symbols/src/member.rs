//! How C or C++ would write a part of a value: `.balance`, `[3].x`, `.grid[1][2]`.
//!
//! The part is the smallest that holds all the bytes, and never leads through a pointer. Of a union's
//! members it is the first that has exactly those bytes, or else the first that holds them. Bit fields
//! that share bytes cannot be told apart by address, and are named together: `.{open, frozen}`.
//!
//! The insides of the standard library are nobody's business: a `std::atomic<int>` or `pthread_mutex_t`
//! has no parts here. They are known by their names, which are all reserved (`_M_i`, `__data`), so that
//! the public members of `std::pair` are still found. The elements of a `std::array` are, too.

use crate::dies::Dies;
use crate::layout::{Layouts, Part, PartKind, Shape, TypeId};
use std::fmt::Write;
use std::ops::Range;

/// How deep parts of parts are followed. Malformed types may contain themselves.
const MAX_DEPTH: u32 = 64;
/// How many members of unions are tried at most. Nested ones multiply.
const MAX_TRIES: u32 = 10_000;

/// The part that holds bytes `offset..offset + size` of a value, as it is written behind the value's name.
/// Nothing if that is the whole value, or nothing is known.
pub(crate) fn member(dies: &Dies, layouts: &Layouts, ty: TypeId, offset: u64, size: u64) -> Option<String> {
    let bytes = offset..offset.checked_add(size.max(1))?;
    let mut search = Search { dies, layouts, tries: MAX_TRIES };
    let (path, _) = search.find(ty, bytes, MAX_DEPTH);
    (!path.is_empty()).then_some(path)
}

/// Whether values of a type have no parts that would be named.
pub(crate) fn is_indivisible(dies: &Dies, layouts: &Layouts, ty: TypeId) -> bool {
    // The first base class of the first base class and so on; malformed ones may go round in circles.
    let mut next = Some(ty);
    for _ in 0..MAX_DEPTH {
        let Some(ty) = next else { return true };
        match &layouts.get(dies, ty).shape {
            Shape::Whole => return true,
            Shape::Array { .. } => return false,
            Shape::Record { name, parts, is_rust } => match parts.as_slice() {
                parts if array_elements(name.as_deref(), parts).is_some() => return false,
                parts if is_opaque(name.as_deref(), parts, *is_rust) => return true,
                [] => next = None,
                [Part { kind: PartKind::Transparent, ty, .. }] => next = Some(*ty),
                _ => return false,
            },
        }
    }
    false
}

struct Search<'a> {
    dies: &'a Dies,
    layouts: &'a Layouts,
    tries: u32,
}

impl Search<'_> {
    /// The part that holds the bytes, and whether it has no others.
    fn find(&mut self, ty: TypeId, bytes: Range<u64>, depth: u32) -> (String, bool) {
        let layout = self.layouts.get(self.dies, ty);
        let is_whole = bytes.start == 0 && layout.size == Some(bytes.end);
        let whole = (String::new(), is_whole);
        let Some(depth) = depth.checked_sub(1) else { return whole };
        if layout.size.is_some_and(|size| bytes.end > size) || self.tries == 0 {
            return whole;
        }
        self.tries -= 1;
        match &layout.shape {
            Shape::Whole => whole,
            Shape::Array { element, stride, counts } => {
                let Some((mut path, inside)) = index(*stride, counts, &bytes) else { return whole };
                let (rest, is_exact) = self.find(*element, inside, depth);
                path.push_str(&rest);
                (path, is_exact)
            }
            Shape::Record { name, parts, is_rust } => {
                if let Some(elements) = array_elements(name.as_deref(), parts) {
                    return self.find(elements, bytes, depth);
                }
                if is_opaque(name.as_deref(), parts, *is_rust) {
                    return whole;
                }
                self.part(parts, *is_rust, &bytes, depth).unwrap_or(whole)
            }
        }
    }

    fn part(&mut self, parts: &[Part], is_rust: bool, bytes: &Range<u64>, depth: u32) -> Option<(String, bool)> {
        if let Some(fields) = bit_fields(parts, bytes) {
            return Some((fields, false));
        }
        let mut best = None;
        for part in parts.iter().filter(|part| part.start <= bytes.start && bytes.end <= part.end) {
            let inside = bytes.start - part.start..bytes.end - part.start;
            let (rest, is_exact) = self.find(part.ty, inside, depth);
            let path = match &part.kind {
                PartKind::Member(name) | PartKind::BitField(name) => {
                    // The fields of Rust's tuples are numbered.
                    let name = if is_rust { name.strip_prefix("__").unwrap_or(name) } else { name };
                    format!(".{name}{rest}")
                }
                PartKind::Transparent => rest,
            };
            if is_exact && !path.is_empty() {
                return Some((path, true));
            }
            // A base class without a member there says nothing.
            if best.is_none() && !path.is_empty() {
                best = Some((path, is_exact));
            }
        }
        best
    }
}

/// The element that holds the bytes, and where they are in it.
fn index(stride: u64, counts: &[Option<u64>], bytes: &Range<u64>) -> Option<(String, Range<u64>)> {
    let mut number = bytes.start.checked_div(stride)?;
    let start = bytes.start - number * stride;
    let end = bytes.end - number * stride;
    if end > stride || counts.is_empty() {
        return None;
    }
    let mut indices = Vec::with_capacity(counts.len());
    for (dimension, count) in counts.iter().enumerate().rev() {
        // What is left over at the outermost is its index, whatever the bound is said to be.
        if dimension == 0 {
            if count.is_some_and(|count| number >= count) {
                return None;
            }
            indices.push(number);
        } else {
            indices.push(number.checked_rem((*count)?)?);
            number = number.checked_div((*count)?)?;
        }
    }
    let path = indices.iter().rev().fold(String::new(), |mut path, index| {
        let _ = write!(path, "[{index}]");
        path
    });
    Some((path, start..end))
}

/// The bit fields that have bits in the bytes, if nothing else has.
fn bit_fields(parts: &[Part], bytes: &Range<u64>) -> Option<String> {
    let mut names = Vec::new();
    for part in parts.iter().filter(|part| part.start < bytes.end && bytes.start < part.end) {
        let PartKind::BitField(name) = &part.kind else { return None };
        names.push(name.as_str());
    }
    match names.as_slice() {
        [] => None,
        [name] => Some(format!(".{name}")),
        names => Some(format!(".{{{}}}", names.join(", "))),
    }
}

/// The elements of a `std::array`, as libstdc++ and libc++ have it.
fn array_elements(name: Option<&str>, parts: &[Part]) -> Option<TypeId> {
    match parts {
        [Part { kind: PartKind::Member(member), ty, .. }]
            if name?.starts_with("array<") && (member == "_M_elems" || member == "__elems_") =>
        {
            Some(*ty)
        }
        _ => None,
    }
}

/// Whether a record is of the standard library, and shows nothing.
fn is_opaque(name: Option<&str>, parts: &[Part], is_rust: bool) -> bool {
    if is_rust {
        return name.is_some_and(|name| name.starts_with("Atomic"));
    }
    let mut names = parts.iter().filter_map(|part| match &part.kind {
        PartKind::Member(name) | PartKind::BitField(name) => Some(name.as_str()),
        PartKind::Transparent => None,
    });
    names.next().is_some_and(is_reserved) && names.all(is_reserved)
}

fn is_reserved(name: &str) -> bool {
    name.strip_prefix('_').is_some_and(|rest| rest.starts_with(|next: char| next == '_' || next.is_ascii_uppercase()))
}
