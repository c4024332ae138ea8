//! Which locks and initialisers matter to more than one thread.

use interloper_trace::{Event, LockId, OnceId, Op, ThreadId};
use rustc_hash::FxHashMap;

/// What is used by more than one thread.
#[derive(Default)]
pub(super) struct Usage {
    locks: FxHashMap<LockId, Option<ThreadId>>,
    onces: FxHashMap<OnceId, (u32, bool)>,
}

impl Usage {
    pub(super) fn survey(events: &[Event]) -> Usage {
        let mut usage = Usage::default();
        for event in events {
            match event.op {
                Op::Acquire { lock, .. }
                | Op::TryAcquireFailed { lock, .. }
                | Op::WaitBegin { lock, .. }
                | Op::WaitEnd { lock, .. } => {
                    let by = usage.locks.entry(lock).or_insert(Some(event.thread));
                    *by = by.filter(|by| *by == event.thread);
                }
                Op::OnceEnd(once) => usage.onces.entry(once).or_default().0 += 1,
                _ => {}
            }
        }
        usage
    }

    pub(super) fn is_contended(&self, lock: LockId) -> bool {
        self.locks.get(&lock) == Some(&None)
    }

    pub(super) fn runs(&self, once: OnceId) -> u32 {
        self.onces.get(&once).map_or(0, |(runs, _)| *runs)
    }
}
