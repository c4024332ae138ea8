//! The order that fork and join impose, whatever the schedule.
//!
//! Fork and join events cut a thread into *strands*. What must have happened in other threads by
//! the time a thread is in a strand is the same for all of the strand, so a vector clock for each
//! strand is enough, and nothing is kept for an ordinary event.
//!
//! A *position* of a thread is the moment after one of its events; a fork or join puts the thread
//! into its next strand. The clock of a strand says for each other thread in which strand that
//! thread must at least be. Threads that are never forked run from the start. Joining a thread
//! without events orders nothing.

use interloper_trace::ThreadId;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// A stretch of a thread without forks and joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Strand {
    /// The thread.
    pub thread: ThreadId,
    /// How many forks and joins it has done before.
    pub number: u32,
}

/// The forks and joins of a trace. Logs of different threads of one trace can be merged.
#[derive(Clone, Debug, Default)]
pub struct ForkJoinLog {
    entries: Vec<LogEntry>,
}

#[derive(Clone, Copy, Debug)]
struct LogEntry {
    index: u64,
    thread: ThreadId,
    other: ThreadId,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fork,
    Join,
}

impl ForkJoinLog {
    /// Notes a fork.
    pub fn fork(&mut self, index: u64, parent: ThreadId, child: ThreadId) {
        self.entries.push(LogEntry { index, thread: parent, other: child, kind: Kind::Fork });
    }

    /// Notes a join.
    pub fn join(&mut self, index: u64, parent: ThreadId, child: ThreadId) {
        self.entries.push(LogEntry { index, thread: parent, other: child, kind: Kind::Join });
    }

    /// Adds the entries of another log of the same trace.
    pub fn merge(&mut self, other: ForkJoinLog) {
        self.entries.extend(other.entries);
        self.entries.sort_by_key(|entry| entry.index);
    }

    /// Computes the order. `has_events` says which threads do anything at all.
    pub fn order(&self, has_events: impl Fn(ThreadId) -> bool) -> StrandOrder {
        let mut order = StrandOrder::default();
        for entry in &self.entries {
            let before = order.current(entry.thread);
            let clock = order.clock(before);
            let after = Strand { number: before.number + 1, ..before };
            match entry.kind {
                Kind::Fork => {
                    order.clocks.insert(after, Arc::clone(&clock));
                    let mut child = (*clock).clone();
                    child.insert(after.thread, after.number);
                    order.clocks.insert(Strand { thread: entry.other, number: 0 }, Arc::new(child));
                }
                Kind::Join if has_events(entry.other) => {
                    let last = order.current(entry.other);
                    let mut joined = (*clock).clone();
                    for (&thread, &number) in order.clock(last).iter() {
                        raise(&mut joined, thread, number);
                    }
                    // One past its last strand: it has ended, and can be at no position any more.
                    raise(&mut joined, last.thread, last.number + 1);
                    joined.remove(&after.thread);
                    order.clocks.insert(after, Arc::new(joined));
                }
                Kind::Join => {
                    order.clocks.insert(after, clock);
                }
            }
            order.last.insert(after.thread, after.number);
        }
        order
    }
}

/// For each other thread, the strand in which it must at least be; absent means from the start.
type Clock = FxHashMap<ThreadId, u32>;

/// Which strands of different threads can be current at the same time.
#[derive(Clone, Debug, Default)]
pub struct StrandOrder {
    clocks: FxHashMap<Strand, Arc<Clock>>,
    last: FxHashMap<ThreadId, u32>,
}

impl StrandOrder {
    /// Whether one thread can be at a position in strand `a` while another is in strand `b`.
    pub fn concurrent(&self, a: Strand, b: Strand) -> bool {
        self.required(a, b.thread) <= b.number && self.required(b, a.thread) <= a.number
    }

    fn required(&self, strand: Strand, of: ThreadId) -> u32 {
        self.clocks.get(&strand).and_then(|clock| clock.get(&of)).copied().unwrap_or(0)
    }

    fn current(&self, thread: ThreadId) -> Strand {
        Strand { thread, number: self.last.get(&thread).copied().unwrap_or(0) }
    }

    fn clock(&self, strand: Strand) -> Arc<Clock> {
        self.clocks.get(&strand).cloned().unwrap_or_default()
    }
}

fn raise(clock: &mut Clock, thread: ThreadId, number: u32) {
    match clock.entry(thread) {
        Entry::Occupied(mut entry) => *entry.get_mut() = number.max(*entry.get()),
        Entry::Vacant(entry) => {
            entry.insert(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strand(thread: u32, number: u32) -> Strand {
        Strand { thread: ThreadId::new(thread), number }
    }

    /// Main (0) forks 1, forks 2, joins 1, joins 2.
    #[test]
    fn forks_and_joins_order_strands() {
        let mut log = ForkJoinLog::default();
        let [main, one, two] = [0, 1, 2].map(ThreadId::new);
        log.fork(10, main, one);
        log.fork(20, main, two);
        log.join(30, main, one);
        log.join(40, main, two);
        let order = log.order(|_| true);
        let with_main = |thread| (0..5).map(|n| order.concurrent(strand(0, n), strand(thread, 0))).collect::<Vec<_>>();
        assert_eq!(with_main(1), [false, true, true, false, false]);
        assert_eq!(with_main(2), [false, false, true, true, false]);
        assert!(order.concurrent(strand(1, 0), strand(2, 0)));
    }

    /// 0 forks 1 and joins it; then forks 2: the two never meet.
    #[test]
    fn order_is_transitive() {
        let mut log = ForkJoinLog::default();
        let [main, one, two] = [0, 1, 2].map(ThreadId::new);
        log.fork(1, main, one);
        log.join(2, main, one);
        log.fork(3, main, two);
        assert!(!log.order(|_| true).concurrent(strand(1, 0), strand(2, 0)));
        assert!(log.order(|thread| thread != one).concurrent(strand(1, 0), strand(2, 0)), "joined without events");
    }
}
