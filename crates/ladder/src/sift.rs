//! The rung of the filter: which representatives it keeps.
//!
//! A representative is kept if one of the triples behind it is, and that one is shown. It is rejected only if all of
//! them are; if some could not be listed, it is not known.

use crate::candidates::{Grouping, group};
use interloper_predict::Triple;
use interloper_predict::filter::Rejection;

/// What the filter says about a triple, or about all that one representative stands for.
#[derive(Clone, Debug)]
pub struct Sifted {
    /// The first that is kept, else the first.
    pub triple: Triple,
    /// What it says.
    pub says: Says,
}

/// What the filter says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    /// It may well happen.
    Kept,
    /// It does not.
    Rejected(Rejection),
    /// Those that were looked at do not, but there are more.
    Unknown,
}

/// Puts together what the filter says of possible triples. `is_cut` says whether there may be more than these, of
/// which so many are alike.
pub fn sift(
    triples: &[Triple],
    rejections: &[Option<Rejection>],
    grouping: Grouping,
    is_cut: impl Fn(usize) -> bool,
) -> Vec<Sifted> {
    let one = |group: &[usize]| -> Option<Sifted> {
        let kept = group.iter().find(|at| rejections[**at].is_none());
        let at = *kept.or(group.first())?;
        let says = match &rejections[at] {
            None => Says::Kept,
            Some(_) if is_cut(group.len()) => Says::Unknown,
            Some(rejection) => Says::Rejected(rejection.clone()),
        };
        Some(Sifted { triple: triples[at], says })
    };
    match grouping {
        // A triple stands for nothing but itself.
        Grouping::Triples => {
            let says = |rejection: &Option<Rejection>| rejection.clone().map_or(Says::Kept, Says::Rejected);
            let both = triples.iter().zip(rejections);
            both.map(|(triple, rejection)| Sifted { triple: *triple, says: says(rejection) }).collect()
        }
        Grouping::Threads | Grouping::Places => {
            let mut sifted: Vec<Sifted> = Vec::new();
            for (class, members) in group(triples, grouping) {
                let Some(mut one) = one(&members) else { continue };
                let kinds = [one.triple.first, one.triple.remote, one.triple.second].map(|access| access.kind);
                one.triple.pattern = class.pattern(kinds).unwrap_or(one.triple.pattern);
                sifted.push(one);
            }
            sifted.sort_by_key(|one| one.triple.sort_key());
            sifted
        }
    }
}
