//! Events as text, a line each: position, thread, what is done, locks held, where.

use crate::event_text::{push_details, push_phrase, push_place, push_printable};
use interloper_trace::{Event, EventIndex, LockId, Op, Tables};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Renders events, keeping track of the locks each thread holds.
#[derive(Default)]
pub struct Dump {
    held: Vec<Held>,
    /// What an event does, before it is safe to print.
    what: String,
}

/// The columns of what is done.
const WIDTH: usize = 28;

/// So many of the locks that a thread holds are shown, those it took first.
const MOST_LOCKS: usize = 4;

impl Dump {
    /// Before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows an event without showing it.
    pub fn skip(&mut self, _: EventIndex, event: &Event) {
        if !matches!(event.op, Op::Acquire { .. } | Op::Release { .. } | Op::WaitBegin { .. } | Op::WaitEnd { .. }) {
            return;
        }
        if event.thread.index() >= self.held.len() {
            self.held.resize_with(event.thread.index() + 1, Held::default);
        }
        self.held[event.thread.index()].follow(&event.op);
    }

    /// Appends the line of an event. The locks shown are those held after it.
    pub fn line(&mut self, out: &mut String, index: EventIndex, event: &Event, tables: &Tables) {
        self.skip(index, event);
        let _ = write!(out, "{:>8}  ", index.0);
        push_padded(out, tables.thread(event.thread), 8);
        out.push(' ');
        self.what.clear();
        push_phrase(&mut self.what, &event.op, tables);
        push_details(&mut self.what, event, tables);
        push_padded(out, &self.what, WIDTH);
        out.push_str(" {");
        if let Some(held) = self.held.get(event.thread.index()) {
            held.push_names(out, tables);
        }
        out.push_str("}  ");
        let site = tables.site(event.site);
        let text = |id| tables.strings.get(id);
        if site.file.is_some() || site.line.is_some() || site.function.is_some() {
            push_place(out, site.file.map(text), site.line, site.function.map(text));
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}

/// Appends text, safe to print, and spaces up to a width.
fn push_padded(out: &mut String, text: &str, width: usize) {
    let begin = out.len();
    push_printable(out, text);
    let columns = out[begin..].chars().count();
    out.extend(std::iter::repeat_n(' ', width.saturating_sub(columns)));
}

/// The locks a thread holds. There may be very many, so nothing here looks at all of them.
#[derive(Default)]
struct Held {
    /// How many it has taken so far.
    taken: u64,
    /// By when they were taken.
    order: BTreeMap<u64, LockId>,
    /// When each was taken, and how often more than it was released.
    locks: FxHashMap<LockId, (u64, u32)>,
    /// Those given up by waits that have not ended, with how often they were held.
    given_up: FxHashMap<LockId, u32>,
}

impl Held {
    fn follow(&mut self, op: &Op) {
        match *op {
            Op::Acquire { lock, .. } => match self.locks.get_mut(&lock) {
                Some((_, depth)) => *depth += 1,
                None => self.take(lock, 1),
            },
            Op::Release { lock, .. } => match self.locks.get_mut(&lock) {
                Some((_, depth)) if *depth > 1 => *depth -= 1,
                _ => drop(self.give_up(lock)),
            },
            Op::WaitBegin { lock, .. } => {
                if let Some(depth) = self.give_up(lock) {
                    self.given_up.insert(lock, depth);
                }
            }
            Op::WaitEnd { lock, .. } => {
                self.give_up(lock);
                let depth = self.given_up.remove(&lock).unwrap_or(1);
                self.take(lock, depth);
            }
            _ => {}
        }
    }

    fn take(&mut self, lock: LockId, depth: u32) {
        self.order.insert(self.taken, lock);
        self.locks.insert(lock, (self.taken, depth));
        self.taken += 1;
    }

    /// How often it was held.
    fn give_up(&mut self, lock: LockId) -> Option<u32> {
        let (taken, depth) = self.locks.remove(&lock)?;
        self.order.remove(&taken);
        Some(depth)
    }

    /// Appends their names, in the order they were taken.
    fn push_names(&self, out: &mut String, tables: &Tables) {
        for (number, lock) in self.order.values().take(MOST_LOCKS).enumerate() {
            if number > 0 {
                out.push(' ');
            }
            push_printable(out, tables.lock(*lock));
        }
        if self.order.len() > MOST_LOCKS {
            let _ = write!(out, " +{} more", self.order.len() - MOST_LOCKS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interloper_trace::{Attempt, ConditionId, LockMode, SiteId, ThreadId, Wake};

    /// The locks shown after each of these.
    fn shown(ops: &[Op]) -> Vec<String> {
        let mut tables = Tables::new();
        tables.intern_thread("main").expect("room");
        for number in 0..9 {
            tables.intern_lock(&format!("l{number}")).expect("room");
        }
        let mut dump = Dump::new();
        let lines = ops.iter().zip(0..).map(|(op, index)| {
            let mut line = String::new();
            let event = Event { thread: ThreadId::new(0), site: SiteId::UNKNOWN, op: *op };
            dump.line(&mut line, EventIndex(index), &event, &tables);
            line.split_once('{').and_then(|(_, rest)| rest.split_once('}')).expect("braces").0.to_owned()
        });
        lines.collect()
    }

    fn acquire(lock: u32) -> Op {
        Op::Acquire { lock: LockId::new(lock), mode: LockMode::Exclusive, by: Attempt::Blocking }
    }

    fn release(lock: u32) -> Op {
        Op::Release { lock: LockId::new(lock), mode: LockMode::Exclusive }
    }

    #[test]
    fn many_locks_are_counted() {
        let mut ops: Vec<Op> = (0..6).map(acquire).collect();
        ops.extend([release(1), release(5), release(0)]);
        let expected = [
            "l0",
            "l0 l1",
            "l0 l1 l2",
            "l0 l1 l2 l3",
            "l0 l1 l2 l3 +1 more",
            "l0 l1 l2 l3 +2 more",
            "l0 l2 l3 l4 +1 more",
            "l0 l2 l3 l4",
            "l2 l3 l4",
        ];
        assert_eq!(shown(&ops), expected);
    }

    #[test]
    fn a_wait_gives_up_all_levels_and_takes_them_back() {
        let (condition, lock) = (ConditionId::new(0), LockId::new(0));
        let ops = [
            acquire(0),
            acquire(0),
            acquire(1),
            Op::WaitBegin { condition, lock },
            Op::WaitEnd { condition, lock, wake: Wake::Notified },
            release(0),
            release(0),
        ];
        assert_eq!(shown(&ops), ["l0", "l0", "l0 l1", "l1", "l1 l0", "l1 l0", "l1"]);
    }
}
