//! The words of the format for the small enumerations of the model, one table for both directions.

use crate::event::{BoundValue, LockMode, MemoryOrder, Operator, RegionSource, Wake};

/// Words and what they stand for.
pub(super) type Words<T> = [(&'static str, T)];

/// Orders of atomic operations; a plain one is left out.
pub(super) const ORDERS: &Words<MemoryOrder> = &[
    ("relaxed", MemoryOrder::Relaxed),
    ("consume", MemoryOrder::Consume),
    ("acquire", MemoryOrder::Acquire),
    ("release", MemoryOrder::Release),
    ("acq_rel", MemoryOrder::AcquireRelease),
    ("seq_cst", MemoryOrder::SequentiallyConsistent),
];

/// How a lock is asked for.
pub(super) const MODES: &Words<LockMode> = &[("exclusive", LockMode::Exclusive), ("shared", LockMode::Shared)];

/// Why a wait ended.
pub(super) const WAKES: &Words<Wake> =
    &[("notified", Wake::Notified), ("timed_out", Wake::TimedOut), ("spurious", Wake::Spurious)];

/// Which value a binding speaks of.
pub(super) const BOUND: &Words<BoundValue> = &[("read", BoundValue::Read), ("written", BoundValue::Written)];

/// What a thread does at a run-once flag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Begin,
    End,
    Pass,
}

/// The phases of a run-once flag.
pub(super) const PHASES: &Words<Phase> = &[("begin", Phase::Begin), ("end", Phase::End), ("pass", Phase::Pass)];

/// Who says that a region is atomic.
pub(super) const SOURCES: &Words<RegionSource> = &const {
    let mut words = [("", RegionSource::Annotated); RegionSource::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = (RegionSource::ALL[at].name(), RegionSource::ALL[at]);
        at += 1;
    }
    words
};

/// Operators of expressions.
pub(super) const OPERATORS: &Words<Operator> = &const {
    let mut words = [("", Operator::Add); Operator::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = (Operator::ALL[at].name(), Operator::ALL[at]);
        at += 1;
    }
    words
};

/// What a word stands for.
pub(super) fn meaning<T: Copy>(words: &Words<T>, word: &str) -> Option<T> {
    words.iter().find(|(name, _)| *name == word).map(|&(_, meaning)| meaning)
}

/// The word for a meaning, if it has one.
pub(super) fn word<T: Copy + PartialEq>(words: &Words<T>, meaning: T) -> Option<&'static str> {
    words.iter().find(|(_, candidate)| *candidate == meaning).map(|&(name, _)| name)
}

/// All words, for a message: `one of "a", "b"`.
pub(super) fn all<T>(words: &Words<T>) -> String {
    let quoted: Vec<String> = words.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    format!("one of {}", quoted.join(", "))
}
