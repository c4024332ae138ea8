//! Who woke whom.

use super::{ConditionFacts, StepId, Wait, WaitId, WaitNeed};
use interloper_trace::Wake;
use rustc_hash::FxHashMap;

/// What each wait needed, in view of who could have woken it.
///
/// Signals go to the waiter that was woken first: if any assignment of signals to waiters explains
/// the trace, this one does.
pub(super) fn account_for(
    waits: &[(Wait, Wake)],
    conditions: &[ConditionFacts],
) -> (Vec<Wait>, FxHashMap<WaitId, StepId>) {
    let mut all: Vec<Wait> = waits.iter().map(|(wait, _)| *wait).collect();
    let mut notified: FxHashMap<WaitId, StepId> = FxHashMap::default();
    for condition in conditions {
        let mut notices: Vec<(StepId, bool)> = condition.signals.iter().map(|step| (*step, false)).collect();
        notices.extend(condition.broadcasts.iter().map(|step| (*step, true)));
        notices.sort_unstable();
        for (notice, wakes_all) in notices {
            let waiting = condition.waits.iter().copied().filter(|wait| {
                let (wait_facts, _) = &waits[wait.index()];
                let is_over = wait_facts.end.is_some_and(|end| end < notice);
                wait_facts.begin < notice && !is_over && !notified.contains_key(wait)
            });
            if wakes_all {
                let waiting: Vec<WaitId> = waiting.collect();
                notified.extend(waiting.into_iter().map(|wait| (wait, notice)));
            } else {
                let key = |wait: &WaitId| {
                    let (wait_facts, wake) = &waits[wait.index()];
                    let end = wait_facts.end.filter(|_| *wake == Wake::Notified);
                    (end.is_none(), end, *wait)
                };
                let chosen = waiting.min_by_key(key);
                notified.extend(chosen.map(|wait| (wait, notice)));
            }
        }
        for wait in &condition.waits {
            let (facts, wake) = &waits[wait.index()];
            all[wait.index()].need = match wake {
                _ if facts.end.is_none() => WaitNeed::Nothing,
                // One that was told and yet timed out had not noticed: there is no saying what it needs.
                Wake::TimedOut if !notified.contains_key(wait) => WaitNeed::NoNotice,
                Wake::Notified if notified.contains_key(wait) => WaitNeed::Notice,
                Wake::TimedOut | Wake::Notified | Wake::Spurious => WaitNeed::Nothing,
            };
        }
    }
    (all, notified)
}
