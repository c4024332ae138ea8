//! Having a program run in another order than it was recorded in.
//!
//! A witness is an order of recorded events. It is cut into turns, in each of which one thread runs until it has done
//! the last event of the turn; what that is in the other run is told by its [identity](EventIdentity). What events
//! there are besides, and when, is the program's business.
//!
//! *What is missed:* an event without an identity ends no turn, so that a turn may end before it. None of these is
//! anything that another thread could notice. Records of which no event could be made, which a faithful runtime
//! does not log, are taken to come after the events around them.

use crate::hot::HotSet;
use crate::identity::EventIdentity;
use crate::outcome::RecordOutcome;
use interloper_trace::{Event, Op, Wake};
use interloper_wire::{Birth, Direction as Turn, HotRange, Kind, Mode, Until};
use rustc_hash::FxHashMap;

/// In which order a program is to do what it did.
#[derive(Clone, Debug)]
pub struct Directions {
    /// Who runs until when. After the last turn the program runs on by itself.
    pub turns: Vec<Turn>,
    /// What is to be logged: as in the run that the turns are told in terms of.
    pub shared: SharedLocations,
    /// Which numbers threads have: those of that run.
    pub births: Births,
}

/// Whether a run followed its directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directed {
    /// To their end.
    Followed,
    /// Not from some point on.
    Diverged {
        /// The turn that was not taken as directed, counted from zero.
        turn: u64,
        /// Whose turn that was.
        thread: String,
        /// What was found instead.
        how: String,
    },
}

/// The locations that a recording is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLocations(pub(crate) Shared);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shared {
    /// All there are.
    Everything,
    /// Those that several threads touch, one of them writing.
    Only(HotSet),
}

impl SharedLocations {
    /// What a run is to log, to log these.
    pub(crate) fn mode(&self) -> (Mode, Vec<HotRange>) {
        match &self.0 {
            Shared::Everything => (Mode::Full, Vec::new()),
            Shared::Only(hot) => (Mode::Hot, hot.to_ranges()),
        }
    }
}

/// The numbers that the threads of a run had, by whose how manieth child each was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Births(pub(crate) Vec<Birth>);

impl Directions {
    /// Directions by which events of a recording come in another order: `order` holds indices of `events`, which
    /// are those of the recording, in the order wanted. Each thread's are in the order it did them, from its first on,
    /// without gaps.
    ///
    /// The recording must have been made with [`identify`](crate::RecordRequest::identify).
    pub fn of(order: &[usize], events: &[Event], recording: &RecordOutcome) -> Directions {
        let turns = turns(order, events, &recording.identities, &recording.thread_numbers);
        Directions { turns, shared: recording.shared.clone(), births: recording.births.clone() }
    }
}

fn turns(order: &[usize], events: &[Event], identities: &[Option<EventIdentity>], thread_numbers: &[u32]) -> Vec<Turn> {
    let identity = |at: &usize| identities.get(*at).copied().flatten();
    // How many records of each kind and place each thread has logged by now.
    let mut done: FxHashMap<(u32, Kind, u64), u32> = FxHashMap::default();
    let mut turns = Vec::new();
    let thread = |at: usize| events.get(at).map(|event| event.thread);
    for block in order.chunk_by(|first, second| thread(*first) == thread(*second)) {
        let [Some(first), Some(last)] = [block.first(), block.last()].map(|at| events.get(*at?)) else { continue };
        let Some(&thread) = thread_numbers.get(first.thread.index()) else { continue };
        let until = if let Op::Finish = last.op {
            Some(Until::Ended)
        } else {
            block.iter().rev().find_map(identity).and_then(|EventIdentity { kind, occurrence, pc }| {
                let before = done.get(&(thread, kind, pc)).copied().unwrap_or(0);
                let times = occurrence.saturating_add(1).checked_sub(before).filter(|times| *times > 0)?;
                Some(Until::Done { kind, pc, times })
            })
        };
        let records = u32::try_from(block.iter().filter_map(identity).count()).unwrap_or(u32::MAX);
        // Who waited, and was not woken then, must not be woken now.
        let unwoken = matches!(first.op, Op::WaitEnd { wake: Wake::TimedOut | Wake::Spurious, .. });
        for EventIdentity { kind, occurrence, pc } in block.iter().filter_map(identity) {
            done.insert((thread, kind, pc), occurrence.saturating_add(1));
        }
        turns.extend(until.map(|until| Turn { thread, until, unwoken, records }));
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use interloper_trace::{MemoryOrder, SiteId, ThreadId};
    use proptest::prelude::*;

    /// What a thread logs: kind and place.
    type Deed = (Kind, u64);

    /// Threads take turns as directed: how far the thread of each has come by its end.
    fn follow(turns: &[Turn], threads: &[Vec<Deed>]) -> Vec<(u32, usize)> {
        let mut progress = vec![0; threads.len()];
        let turn = |turn: &Turn| {
            let (deeds, done) = (&threads[turn.thread as usize], &mut progress[turn.thread as usize]);
            let rest = deeds[*done..].iter();
            *done += match turn.until {
                Until::Ended => rest.len(),
                Until::Done { kind, pc, times } => {
                    let mut matching = rest.enumerate().filter(|(_, deed)| **deed == (kind, pc));
                    matching.nth(times as usize - 1).expect("it comes so often").0 + 1
                }
            };
            (turn.thread, *done)
        };
        turns.iter().map(turn).collect()
    }

    fn deeds() -> impl Strategy<Value = Deed> {
        (prop_oneof![Just(Kind::Read), Just(Kind::Write), Just(Kind::Acquire)], 0..2_u64)
    }

    proptest! {
        /// Whoever follows the directions comes, turn by turn, as far as the order says.
        #[test]
        fn following_them_gives_the_order(
            threads in prop::collection::vec(prop::collection::vec(deeds(), 0..12), 3),
            picks in prop::collection::vec((0..3_usize, 1..6_usize), 0..20),
            finishes in prop::collection::vec(any::<bool>(), 3),
        ) {
            // Thread by thread; before every deed there is an event that is none, and at the end perhaps the last.
            let (mut events, mut identities, mut by_thread) = (Vec::new(), Vec::new(), vec![Vec::new(); 3]);
            for (thread, deeds) in threads.iter().enumerate() {
                let mut counts = FxHashMap::default();
                let mut push = |op, identity| {
                    by_thread[thread].push(events.len());
                    let thread = ThreadId::from_index(thread).expect("few");
                    events.push(Event { thread, site: SiteId::UNKNOWN, op });
                    identities.push(identity);
                };
                for &(kind, pc) in deeds {
                    let count = counts.entry((kind, pc)).or_insert(0);
                    push(Op::Exit, None);
                    push(Op::Fence(MemoryOrder::Acquire), Some(EventIdentity { kind, occurrence: *count, pc }));
                    *count += 1;
                }
                push(if finishes[thread] { Op::Finish } else { Op::Exit }, None);
            }
            let (mut order, mut taken, mut expected) = (Vec::new(), [0_usize; 3], Vec::new());
            for block in picks.chunk_by(|first, second| first.0 == second.0) {
                let (thread, count) = (block[0].0, block.iter().map(|(_, count)| count).sum::<usize>());
                let before = taken[thread];
                let block = &by_thread[thread][before..].iter().take(count).collect::<Vec<_>>();
                order.extend(block.iter().copied().copied());
                taken[thread] += block.len();
                let is_last = block.last().is_some_and(|at| events[**at].op == Op::Finish);
                if is_last || taken[thread] / 2 > before / 2 {
                    expected.push((thread as u32, taken[thread] / 2));
                }
            }
            // Blocks of which nothing is left may bring two of the same thread together.
            let last_of_each = |turns: Vec<(u32, usize)>| {
                let groups = turns.chunk_by(|first, second| first.0 == second.0);
                groups.filter_map(|group| group.last().copied()).collect::<Vec<_>>()
            };
            let came = follow(&turns(&order, &events, &identities, &[0, 1, 2]), &threads);
            prop_assert_eq!(last_of_each(came), last_of_each(expected));
        }
    }
}
