//! What is asked about, and the question it is to the solver.

use crate::causal::{Keep, Query};
use crate::outline::{Outline, StepId};
use interloper_model::{AccessKind, Pattern};
use interloper_trace::EventIndex;

/// Three accesses that may violate a region's atomicity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The region's first access, the remote one, and the region's second.
    pub events: [EventIndex; 3],
    /// What they do.
    pub kinds: [AccessKind; 3],
    /// As what they are asked about.
    pub class: Class,
}

/// Which patterns three accesses are to make. It matters for read-modify-writes, which may make several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Any.
    Any,
    /// One in which an intermediate value is seen.
    Wrw,
    /// One of the four others.
    Others,
}

impl Class {
    /// The pattern of this class that three accesses make, if they do.
    pub fn pattern(self, [first, remote, second]: [AccessKind; 3]) -> Option<Pattern> {
        let is_asked = |pattern: &Pattern| match self {
            Class::Any => true,
            Class::Wrw => *pattern == Pattern::Wrw,
            Class::Others => *pattern != Pattern::Wrw,
        };
        Pattern::ALL.into_iter().filter(is_asked).find(|pattern| pattern.fits(first, remote, second))
    }
}

/// The steps of the three accesses, if threads can notice them.
pub(crate) fn steps(outline: &Outline, candidate: &Candidate) -> Option<[StepId; 3]> {
    let [first, remote, second] = candidate.events.map(|event| outline.step_of(event.0));
    Some([first?, remote?, second?])
}

/// What a candidate asks.
pub(crate) fn query(outline: &Outline, candidate: &Candidate) -> Option<Query> {
    let [first, remote, second] = steps(outline, candidate)?;
    Some(Query { first, remote, second, keep: keep(candidate) })
}

/// What must be kept for three accesses to fit a pattern, if a read-modify-write that is led astray only reads.
fn keep(Candidate { kinds: [first, remote, second], class, .. }: &Candidate) -> Keep {
    let astray = |kind: AccessKind| if kind == AccessKind::ReadWrite { AccessKind::Read } else { kind };
    let fits = |remote, second| class.pattern([*first, remote, second]).is_some();
    let (without_remote, without_second) = (fits(astray(*remote), *second), fits(*remote, astray(*second)));
    match (fits(astray(*remote), astray(*second)), without_remote, without_second) {
        (true, ..) => Keep::Neither,
        (_, true, true) => Keep::Either,
        (_, true, false) => Keep::Second,
        (_, false, true) => Keep::Remote,
        (_, false, false) => Keep::Both,
    }
}
