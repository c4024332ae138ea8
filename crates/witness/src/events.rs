//! A schedule of the events of a trace, and its text form.
//!
//! ```text
//! il1:e:0x12.1x3.0x1
//! │   │ └── turns, joined by dots: THREADxEVENTS
//! │   └──── what is counted: events
//! └──────── the version of the text form
//! ```
//!
//! Threads have the numbers that they have in the trace, and all events of a thread count, those without
//! effect too. No turn is empty, and no two neighbours are of one thread, so that every schedule has exactly
//! one text, and every text one schedule.

use crate::interpret::is_effect_free;
use crate::schedule::{Input, ScheduleError};
use interloper_trace::{Event, ThreadId};
use rustc_hash::FxHashMap;
use std::fmt;
use std::str::FromStr;

/// Which thread executes how many of its events, turn by turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventSchedule {
    turns: Vec<EventTurn>,
}

/// Some events of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventTurn {
    /// Whose.
    pub thread: ThreadId,
    /// How many.
    pub events: u64,
}

/// Why a schedule and a trace do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// The trace is not that long.
    #[error("position {position}: there is no event {event}")]
    NoSuchEvent {
        /// Where in the order.
        position: usize,
        /// What is there.
        event: usize,
    },
    /// Another event of that thread has to come first, or this one came before.
    #[error("position {position}: event {event} is not the next of its thread that has an effect")]
    NotNext {
        /// Where in the order.
        position: usize,
        /// What is there.
        event: usize,
    },
    /// A thread has fewer events.
    #[error("turn {turn}: thread {thread} has only {has} events, and is to execute {wants}", thread = thread.raw())]
    TooFew {
        /// Which turn, from zero.
        turn: usize,
        /// Whose.
        thread: ThreadId,
        /// How many events the thread has in the trace.
        has: u64,
        /// How many it would have executed by the end of that turn.
        wants: u64,
    },
}

impl EventSchedule {
    /// What every schedule that is counted in events begins with.
    pub const PREFIX: &'static str = "il1:e:";

    /// A schedule of these turns. Empty ones are left out, and neighbours of one thread are one.
    pub fn new(turns: impl IntoIterator<Item = EventTurn>) -> Self {
        let mut schedule = EventSchedule::default();
        for turn in turns.into_iter().filter(|turn| turn.events > 0) {
            match schedule.turns.last_mut() {
                Some(last) if last.thread == turn.thread => last.events = last.events.saturating_add(turn.events),
                _ => schedule.turns.push(turn),
            }
        }
        schedule
    }

    /// The schedule of an order of a trace's events, from the beginning of each thread. The order may leave
    /// out events without effect; they are executed just before the next one of their thread.
    pub fn of_order(events: &[Event], order: &[usize]) -> Result<Self, OrderError> {
        let threads = by_thread(events);
        let mut executed: FxHashMap<ThreadId, usize> = FxHashMap::default();
        let mut turns = Vec::with_capacity(order.len());
        for (position, &event) in order.iter().enumerate() {
            let Some(Event { thread, .. }) = events.get(event) else {
                return Err(OrderError::NoSuchEvent { position, event });
            };
            let mine = threads.get(thread).map_or(&[][..], Vec::as_slice);
            let before = executed.entry(*thread).or_default();
            let not_next = OrderError::NotNext { position, event };
            let number = mine.binary_search(&event).map_err(|_| not_next)?;
            let passed = mine.get(*before..number).ok_or(not_next)?;
            if !passed.iter().all(|&passed| is_effect_free(&events[passed].op)) {
                return Err(not_next);
            }
            turns.push(EventTurn { thread: *thread, events: (number + 1 - *before) as u64 });
            *before = number + 1;
        }
        Ok(EventSchedule::new(turns))
    }

    /// The order of a trace's events that this prescribes; all of them are listed.
    pub fn to_order(&self, events: &[Event]) -> Result<Vec<usize>, OrderError> {
        let threads = by_thread(events);
        let mut executed: FxHashMap<ThreadId, u64> = FxHashMap::default();
        let mut order = Vec::new();
        for (turn, &EventTurn { thread, events }) in self.turns.iter().enumerate() {
            let mine = threads.get(&thread).map_or(&[][..], Vec::as_slice);
            let before = executed.entry(thread).or_default();
            let wants = before.saturating_add(events);
            let Some(run) = mine.get(*before as usize..usize::try_from(wants).unwrap_or(usize::MAX)) else {
                return Err(OrderError::TooFew { turn, thread, has: mine.len() as u64, wants });
            };
            order.extend_from_slice(run);
            *before = wants;
        }
        Ok(order)
    }

    /// The turns.
    pub fn turns(&self) -> &[EventTurn] {
        &self.turns
    }

    /// How many times another thread comes to run.
    pub fn switches(&self) -> u64 {
        self.turns.len().saturating_sub(1) as u64
    }
}

/// The events of each thread, in order.
fn by_thread(events: &[Event]) -> FxHashMap<ThreadId, Vec<usize>> {
    let mut threads: FxHashMap<ThreadId, Vec<usize>> = FxHashMap::default();
    for (at, event) in events.iter().enumerate() {
        threads.entry(event.thread).or_default().push(at);
    }
    threads
}

impl fmt::Display for EventSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        for (position, turn) in self.turns.iter().enumerate() {
            let dot = if position > 0 { "." } else { "" };
            write!(f, "{dot}{}x{}", turn.thread.raw(), turn.events)?;
        }
        Ok(())
    }
}

impl FromStr for EventSchedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let mut input = Input::after(text, Self::PREFIX, "a schedule of events, which begins with \"il1:e:\"")?;
        let mut schedule = EventSchedule::default();
        if input.peek().is_none() {
            return Ok(schedule);
        }
        loop {
            let turn = turn(&mut input, schedule.turns.last().map(|last| last.thread))?;
            schedule.turns.push(turn);
            match input.peek() {
                None => return Ok(schedule),
                Some(b'.') => input.at += 1,
                Some(_) => return Err(input.error("\".\" or the end")),
            }
        }
    }
}

fn turn(input: &mut Input<'_>, last: Option<ThreadId>) -> Result<EventTurn, ScheduleError> {
    let begun = input.at;
    let thread = ThreadId::new(input.thread("a thread's number")?);
    if last == Some(thread) {
        return Err(input.error_at(begun, "another thread than before"));
    }
    if input.peek() != Some(b'x') {
        return Err(input.error("\"x\" and a number of events"));
    }
    input.at += 1;
    const NUMBER: &str = "a number without leading zeros, from 1 to 18446744073709551615";
    let begun = input.at;
    let events = input.number(NUMBER)?;
    if events == 0 {
        return Err(input.error_at(begun, NUMBER));
    }
    Ok(EventTurn { thread, events })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;
    use crate::interpret::{InitialValues, Program, check_order};
    use crate::testing::{Shape, traces};
    use proptest::prelude::*;

    fn turns() -> impl Strategy<Value = EventTurn> {
        let thread = prop_oneof![0..3_u32, any::<u32>()].prop_map(ThreadId::new);
        (thread, prop_oneof![0..20_u64, any::<u64>()]).prop_map(|(thread, events)| EventTurn { thread, events })
    }

    proptest! {
        #[test]
        fn what_is_printed_parses_back(turns in prop::collection::vec(turns(), 0..20)) {
            let schedule = EventSchedule::new(turns);
            let text = schedule.to_string();
            prop_assert!(Schedule::is_meant_by(&text));
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":.".contains(&byte)));
            prop_assert_eq!(text.parse(), Ok(schedule));
        }

        #[test]
        fn what_parses_prints_back(text in "il1:e:[0-2]x[0-3](\\.[0-2]x[0-3]){0,4}|il1:e:[0-9x.]{0,12}|\\PC{0,8}") {
            match text.parse::<EventSchedule>() {
                Ok(schedule) => prop_assert_eq!(schedule.to_string(), text),
                Err(error) => prop_assert!(error.at <= text.len()),
            }
        }

        /// Out of an order and back; what was left out comes in again.
        #[test]
        fn orders_and_schedules_say_the_same(
            trace in traces(Shape { events: 40, ..Shape::ALL }),
            kept in prop::collection::vec(any::<bool>(), 40),
            end in 0..40_usize,
        ) {
            let events = &trace.events;
            let order: Vec<usize> = (0..events.len().min(end))
                .filter(|&at| !is_effect_free(&events[at].op) || kept.get(at).is_some_and(|kept| *kept))
                .collect();
            let schedule = EventSchedule::of_order(events, &order).expect("an order");
            let full = schedule.to_order(events).expect("a schedule of this trace");
            prop_assert_eq!(EventSchedule::of_order(events, &full), Ok(schedule.clone()));
            let listed: Vec<usize> = full.iter().copied().filter(|at| order.contains(at)).collect();
            prop_assert_eq!(&listed, &order);
            prop_assert!(full.iter().all(|at| order.contains(at) || is_effect_free(&events[*at].op)));
            let executed: u64 = schedule.turns().iter().map(|turn| turn.events).sum();
            prop_assert_eq!(executed, full.len() as u64);
            let program = Program::new(events, &trace.tables, InitialValues::Zero);
            prop_assert_eq!(check_order(&program, &full, None).is_ok(), check_order(&program, &order, None).is_ok());
        }
    }

    #[test]
    fn the_example() {
        let schedule: EventSchedule = "il1:e:0x12.1x3.0x1".parse().expect("a schedule");
        assert_eq!(schedule.switches(), 2);
        assert_eq!(schedule.turns()[1], EventTurn { thread: ThreadId::new(1), events: 3 });
    }

    #[test]
    fn errors_say_where_and_what() {
        let error = |text: &str| text.parse::<EventSchedule>().expect_err("no schedule").to_string();
        assert_eq!(
            error("il1:s:0x1p"),
            "schedule, character 4: found \"s:0x1p\", expected a schedule of events, which begins with \"il1:e:\""
        );
        assert_eq!(
            error("il1:e:0x3.0x4"),
            "schedule, character 10: found \"0x4\", expected another thread than before"
        );
        assert!(error("il1:e:0x0").starts_with("schedule, character 8: found \"0\", expected a number without"));
        assert!(error("il1:e:0x01").contains("leading zeros"));
        assert!(error("il1:e:0x1p").contains("\".\" or the end"));
        assert!(error("il1:e:0x1.").contains("found the end, expected a thread's number"));
        assert!(error("il1:e:4294967296x1").starts_with("schedule, character 6"));
    }

    #[test]
    fn a_schedule_of_another_trace_does_not_fit() {
        use interloper_trace::{Op, SiteId};
        let event = |thread, op| Event { thread: ThreadId::new(thread), site: SiteId::from_raw(0), op };
        let events = [event(0, Op::Fork(ThreadId::new(1))), event(1, Op::Start), event(0, Op::Join(ThreadId::new(1)))];
        let order = |text: &str| text.parse::<EventSchedule>().expect("a schedule").to_order(&events);
        assert_eq!(order("il1:e:0x1.1x1.0x1"), Ok(vec![0, 1, 2]));
        let wanted = OrderError::TooFew { turn: 2, thread: ThreadId::new(0), has: 2, wants: 3 };
        assert_eq!(order("il1:e:0x1.1x1.0x2"), Err(wanted));
        assert_eq!(wanted.to_string(), "turn 2: thread 0 has only 2 events, and is to execute 3");
        let not_next = |position, event| Err(OrderError::NotNext { position, event });
        assert_eq!(EventSchedule::of_order(&events, &[2]), not_next(0, 2));
        assert_eq!(EventSchedule::of_order(&events, &[0, 0]), not_next(1, 0));
        assert_eq!(EventSchedule::of_order(&events, &[0, 7]), Err(OrderError::NoSuchEvent { position: 1, event: 7 }));
    }
}
