//! Which waiter a signal wakes.
//!
//! A signal wakes any one of those that wait. An order of events does not say which one; whether some
//! choice fits is found out here, exactly. A waiter that ends notified needs a signal of its own; one that
//! ends spuriously, or not at all, may take one; one whose time is up must not be left as the only one.
//!
//! Of several waiters that need a signal the one that ends first is the best choice, and likewise of
//! several that may take one: what another choice allows, this one allows too, with the two exchanged. If
//! the first of those that may take one ends no sooner than the first of those that need one, the latter is
//! the best choice, by the same argument. Else both are tried.

use super::Program;
use super::program::Effect;
use interloper_trace::{ConditionId, Event, Op, ThreadId, Wake};
use rustc_hash::{FxHashMap, FxHashSet};

/// The waits that were observed to end notified although no signal accounts for it.
pub(super) fn spurious_ends(events: &[Event]) -> FxHashSet<usize> {
    let mut conditions: FxHashMap<ConditionId, Vec<Moment>> = FxHashMap::default();
    let ops = events.iter().enumerate().map(|(at, event)| (at, event.thread, event.op));
    for (at, thread, op) in ops {
        let (condition, what) = match op {
            Op::WaitBegin { condition, .. } => (condition, What::Begin),
            Op::WaitEnd { condition, wake, .. } => (condition, What::End(wake)),
            Op::Signal(condition) => (condition, What::Signal),
            Op::Broadcast(condition) => (condition, What::Broadcast),
            _ => continue,
        };
        conditions.entry(condition).or_default().push(Moment { event: at, thread, what });
    }
    let mut spurious = FxHashSet::default();
    for moments in conditions.values() {
        let waits = Waits::new(moments);
        // Ends of waits that need a signal and have none yet.
        let mut wanting: Vec<usize> = Vec::new();
        for (at, moment) in moments.iter().enumerate() {
            match moment.what {
                What::Begin if waits.fate[at] == Fate::Notified => wanting.push(waits.end[at]),
                What::Begin => {}
                What::End(_) => {
                    if let Some(found) = wanting.iter().position(|&end| end == at) {
                        wanting.swap_remove(found);
                        spurious.insert(moment.event);
                    }
                }
                What::Signal => {
                    if let Some(first) = (0..wanting.len()).min_by_key(|&wait| wanting[wait]) {
                        wanting.swap_remove(first);
                    }
                }
                What::Broadcast => wanting.clear(),
            }
        }
    }
    spurious
}

/// Whom each signal of an order of events should wake, by event. If no choice fits, some choice that
/// does not; signals that find nobody are left out.
pub(super) fn choose(program: &Program<'_>, order: &[usize]) -> FxHashMap<usize, ThreadId> {
    let mut conditions: FxHashMap<ConditionId, Vec<Moment>> = FxHashMap::default();
    for &at in order {
        let Some((thread, effect)) = program.effect(at) else { continue };
        let (condition, what) = match *effect {
            Effect::WaitBegin { condition, .. } => (condition, What::Begin),
            Effect::WaitEnd { condition, wake, .. } => (condition, What::End(wake)),
            Effect::Signal(condition) => (condition, What::Signal),
            Effect::Broadcast(condition) => (condition, What::Broadcast),
            _ => continue,
        };
        conditions.entry(condition).or_default().push(Moment { event: at, thread, what });
    }
    conditions.values().flat_map(|moments| Search::new(moments).run()).collect()
}

/// Something that happens at one condition.
#[derive(Clone, Copy)]
struct Moment {
    event: usize,
    thread: ThreadId,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Begin,
    End(Wake),
    Signal,
    Broadcast,
}

/// How a wait goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Notified,
    TimedOut,
    /// It ends spuriously, or not at all.
    Any,
}

/// How the waits of one condition end, by the moments at which they begin.
struct Waits {
    fate: Vec<Fate>,
    /// The moment, or one past the last.
    end: Vec<usize>,
}

impl Waits {
    fn new(moments: &[Moment]) -> Self {
        let mut waits = Waits { fate: vec![Fate::Any; moments.len()], end: vec![moments.len(); moments.len()] };
        let mut begun: FxHashMap<ThreadId, usize> = FxHashMap::default();
        for (at, moment) in moments.iter().enumerate() {
            match moment.what {
                What::Begin => {
                    begun.insert(moment.thread, at);
                }
                What::End(wake) => {
                    let Some(begin) = begun.remove(&moment.thread) else { continue };
                    waits.end[begin] = at;
                    waits.fate[begin] = match wake {
                        Wake::Notified => Fate::Notified,
                        Wake::TimedOut => Fate::TimedOut,
                        Wake::Spurious => Fate::Any,
                    };
                }
                What::Signal | What::Broadcast => {}
            }
        }
        waits
    }
}

/// The search for choices that fit.
struct Search<'m> {
    moments: &'m [Moment],
    waits: Waits,
    /// From where nothing fits: the next moment, and who waits without being notified.
    hopeless: FxHashSet<(usize, Vec<usize>)>,
}

/// How far a try has got.
#[derive(Clone)]
struct Try {
    next: usize,
    /// The waits that have begun, not ended, and were not notified, as they began.
    waiting: Vec<usize>,
    /// The signal and the wait it wakes.
    chosen: Vec<(usize, usize)>,
}

impl<'m> Search<'m> {
    fn new(moments: &'m [Moment]) -> Self {
        Search { moments, waits: Waits::new(moments), hopeless: FxHashSet::default() }
    }

    fn run(mut self) -> Vec<(usize, ThreadId)> {
        let mut first_failure = None;
        let mut tries = vec![Try { next: 0, waiting: Vec::new(), chosen: Vec::new() }];
        while let Some(mut attempt) = tries.pop() {
            match self.advance(&mut attempt) {
                Progress::Done => return self.named(&attempt),
                Progress::Failed => {
                    first_failure.get_or_insert(attempt);
                }
                Progress::Branch { needs, may } => {
                    // Each branching is entered once; whoever comes to it again fares as before.
                    if self.hopeless.insert((attempt.next, attempt.waiting.clone())) {
                        let mut other = attempt.clone();
                        other.wake(may);
                        attempt.wake(needs);
                        tries.push(other);
                        tries.push(attempt);
                    }
                }
            }
        }
        first_failure.map(|attempt| self.named(&attempt)).unwrap_or_default()
    }

    /// Goes on until there are two ways, or none.
    fn advance(&self, attempt: &mut Try) -> Progress {
        while let Some(moment) = self.moments.get(attempt.next) {
            let at = attempt.next;
            match moment.what {
                What::Begin => attempt.waiting.push(at),
                What::End(wake) => {
                    let place = attempt.waiting.iter().position(|&wait| self.waits.end[wait] == at);
                    if matches!((place, wake), (Some(_), Wake::Notified) | (None, Wake::TimedOut)) {
                        return Progress::Failed;
                    }
                    if let Some(place) = place {
                        attempt.waiting.remove(place);
                    }
                }
                What::Broadcast => attempt.waiting.clear(),
                What::Signal => {
                    let first = |fate: Fate| {
                        let fitting = attempt.waiting.iter().filter(|&&wait| self.waits.fate[wait] == fate);
                        fitting.copied().min_by_key(|&wait| self.waits.end[wait])
                    };
                    let woken = match (first(Fate::Notified), first(Fate::Any)) {
                        (Some(needs), Some(may)) if self.waits.end[may] < self.waits.end[needs] => {
                            return Progress::Branch { needs, may };
                        }
                        (Some(wait), _) | (None, Some(wait)) => Some(wait),
                        (None, None) => first(Fate::TimedOut),
                    };
                    if let Some(wait) = woken {
                        attempt.wake(wait);
                        continue;
                    }
                }
            }
            attempt.next += 1;
        }
        Progress::Done
    }

    fn named(&self, attempt: &Try) -> Vec<(usize, ThreadId)> {
        attempt.chosen.iter().map(|&(signal, wait)| (self.moments[signal].event, self.moments[wait].thread)).collect()
    }
}

enum Progress {
    Done,
    Failed,
    Branch { needs: usize, may: usize },
}

impl Try {
    /// The next moment is a signal, which wakes this wait.
    fn wake(&mut self, wait: usize) {
        self.waiting.retain(|&waiting| waiting != wait);
        self.chosen.push((self.next, wait));
        self.next += 1;
    }
}
