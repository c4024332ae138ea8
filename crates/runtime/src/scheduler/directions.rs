//! Following directions: each names a thread, and what it has to have done when its turn ends.
//!
//! A turn goes on through everything by which a turn of its own accord would end: a yield, a sleep or a wait with a
//! time limit, whose time then comes at once, and a system call, during which nobody else runs unless that [helps](help).
//! It ends before the step after the one that did it. Whatever else that step did is counted for the thread's later turns.
//!
//! If the thread cannot do it (it waits for another, ends, goes round in circles, or is not there), the directions are
//! given up. That is logged, once, with the direction and what was found instead; from there on nothing is followed.
//!
//! *What is missed:* what comes in one step cannot be told apart. Pieces of a copied range, or the arrival that
//! completes a barrier and the departure after it, come together, wherever the directions would have them.

use super::plan::Next;
use super::{Scheduler, notice};
use crate::log::{self, header};
use crate::memory::CONTROL;
use crate::thread::{State, Thread, Waiting, What};
use interloper_wire::{DIRECTED_AT, Direction, Guidance, Kind, Notice, PlanEntry, RecordHeader, SegmentEnd, Until};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Directions, and how far they have been followed.
pub(super) struct Directions {
    entries: &'static [[u64; 3]],
    /// Of each, how often what it waits for still has to come.
    left: Vec<u32>,
    /// For each, the next one of its thread, or [`NONE`].
    next: Vec<u32>,
    /// For each thread, the next one of it that is not over, or [`NONE`].
    upcoming: Vec<u32>,
    at: usize,
    phase: Phase,
    /// The later one that the running thread, past the end of its turn, is ahead with.
    ahead: Option<usize>,
    /// Steps of the turn under way.
    pub(super) steps: u64,
    /// How often the thread gave way in it.
    circles: u64,
    /// How much was logged when it began.
    logged: u64,
    /// Who has helped since its thread last ran.
    pub(super) helped: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The turn at hand is to begin.
    Next,
    /// It is under way.
    UnderWay,
    /// It is under way, and another thread helps.
    Helping,
    /// Nothing is followed any more.
    Over,
}

const NONE: u32 = u32::MAX;

/// A thread that gives way so often in a turn does not get anywhere, and so for every record that is expected.
const CIRCLES: u64 = 20_000;
const CIRCLES_PER_RECORD: u64 = 4;
/// As much is logged in a turn by a thread that does not get anywhere, in bytes, and for every record that is expected.
const LOGGED: u64 = 64 << 20;
const LOGGED_PER_RECORD: u64 = 64;

impl Directions {
    /// # Safety
    /// The shared file is mapped, and holds what the guidance says.
    pub(super) unsafe fn new(guidance: &Guidance) -> Self {
        let start = (CONTROL + guidance.directions_at as usize) as *const [u64; 3];
        let count = guidance.directions as usize;
        // SAFETY: as the caller says; the recorder aligns them to a page.
        let entries =
            unsafe { std::slice::from_raw_parts(if count == 0 { CONTROL as *const _ } else { start }, count) };
        let mut directions = Directions {
            entries,
            left: vec![0; count],
            next: vec![NONE; count],
            upcoming: Vec::new(),
            at: 0,
            phase: if count == 0 { Phase::Over } else { Phase::Next },
            ahead: None,
            steps: 0,
            circles: 0,
            logged: 0,
            helped: Vec::new(),
        };
        for at in (0..count).rev() {
            let Some(direction) = directions.direction(at) else { continue };
            let thread = direction.thread as usize;
            if directions.upcoming.len() <= thread {
                directions.upcoming.resize(thread + 1, NONE);
            }
            directions.next[at] = std::mem::replace(&mut directions.upcoming[thread], at as u32);
            if let Until::Done { times, .. } = direction.until {
                directions.left[at] = times;
            }
        }
        directions
    }

    pub(super) fn is_active(&self) -> bool {
        self.phase != Phase::Over
    }

    fn direction(&self, at: usize) -> Option<Direction> {
        Direction::from_words(*self.entries.get(at)?)
    }

    /// The turn at hand is over.
    fn pass(&mut self) {
        if let Some(direction) = self.direction(self.at) {
            self.upcoming[direction.thread as usize] = self.next[self.at];
        }
        self.at += 1;
        self.phase = Phase::Next;
        self.skip_done();
    }

    /// Passes over turns that have nothing left to do, because their threads were ahead.
    fn skip_done(&mut self) {
        while let Some(Direction { until: Until::Done { .. }, thread, .. }) = self.direction(self.at)
            && self.left[self.at] == 0
        {
            self.upcoming[thread as usize] = self.next[self.at];
            self.at += 1;
        }
        // SAFETY: it is in the shared file, which stays mapped.
        unsafe { (*((CONTROL + DIRECTED_AT) as *const AtomicU64)).store(self.at as u64, Relaxed) };
    }

    /// Has what the turn at hand, or another, waits for looked out for.
    unsafe fn look_out(&self, at: usize) {
        if let Some(Direction { until: Until::Done { kind, pc, .. }, .. }) = self.direction(at) {
            // SAFETY: the caller has the token, or nobody has and it holds the lock.
            unsafe { log::wait_for_record(kind, pc, self.left[at]) };
        }
    }

    /// The running thread goes on past the end of its turn, up to its next step.
    unsafe fn get_ahead(&mut self, thread: u32) {
        let is_countable =
            |at: &usize| matches!(self.direction(*at), Some(Direction { until: Until::Done { .. }, .. }));
        self.ahead = self.upcoming.get(thread as usize).map(|at| *at as usize).filter(is_countable);
        if let Some(at) = self.ahead {
            // SAFETY: as the caller's.
            unsafe { self.look_out(at) };
        }
    }

    /// The last thread does not go on: how far it was ahead is noted.
    unsafe fn settle(&mut self) {
        if let Some(at) = self.ahead.take() {
            // SAFETY: as the caller's.
            self.left[at] = unsafe { log::stop_waiting() };
        }
    }

    /// A thread is to help that of the turn under way. How far that has come is noted.
    pub(super) unsafe fn begin_help(&mut self, helper: u32) {
        // SAFETY: as the caller's.
        unsafe {
            if let Some(Direction { until: Until::Done { .. }, .. }) = self.direction(self.at) {
                self.left[self.at] = log::stop_waiting();
            }
            self.phase = Phase::Helping;
            self.get_ahead(helper);
        }
    }

    /// The turn under way goes on without help.
    unsafe fn end_help(&mut self) {
        // SAFETY: as the caller's.
        unsafe {
            self.settle();
            self.phase = Phase::UnderWay;
            self.look_out(self.at);
        }
    }

    /// Whose turn is under way, and whose was before.
    pub(super) fn under_way(&self) -> Option<(u32, Option<u32>)> {
        let before = self.at.checked_sub(1).and_then(|at| self.direction(at)).map(|direction| direction.thread);
        let direction = self.direction(self.at).filter(|_| self.phase == Phase::UnderWay)?;
        Some((direction.thread, before))
    }

    /// Who of those that wait is to be woken: whose turn comes first, unless it is to wait until its time is up.
    fn whom_to_wake(&self, waiting: &[u32]) -> usize {
        let rank = |number: &u32| {
            let upcoming = self.upcoming.get(*number as usize).copied().unwrap_or(NONE);
            match self.direction(upcoming as usize) {
                Some(Direction { unwoken: false, .. }) => (0, upcoming),
                None => (1, 0),
                Some(_) => (2, 0),
            }
        };
        let ranks = waiting.iter().map(rank).enumerate();
        // Of equals the first: the one who has waited longest.
        ranks.min_by_key(|(_, rank)| *rank).map_or(0, |(at, _)| at)
    }
}

impl Scheduler {
    /// What the turn under way was to do has been done. The caller has the token.
    pub(super) unsafe fn reached(&mut self) {
        let Some(holder) = self.holder else { return };
        // SAFETY: the caller has the token; threads are never freed.
        unsafe {
            match self.directions.phase {
                Phase::Over => {}
                Phase::UnderWay => {
                    self.directions.pass();
                    if self.directions.at == self.directions.entries.len() {
                        self.end_directions();
                        return;
                    }
                    end_turn(&mut *self.threads[holder as usize]);
                    self.directions.get_ahead(holder);
                }
                Phase::Next | Phase::Helping => {
                    let Some(at) = self.directions.ahead.take() else { return };
                    self.directions.left[at] = 0;
                    // Those after it are looked at one by one: the next may be another's turn away.
                    let next = self.directions.next[at] as usize;
                    if let Some(Direction { until: Until::Done { .. }, .. }) = self.directions.direction(next) {
                        self.directions.ahead = Some(next);
                        self.directions.look_out(next);
                    }
                }
            }
        }
    }

    /// The last thread has nothing left to do but to end the program. The caller has the token.
    pub(super) unsafe fn is_ending(&mut self, number: u32) {
        let is_meant = |direction: Direction| direction.thread == number && direction.until == Until::Ended;
        if self.directions.phase == Phase::UnderWay
            && self.directions.direction(self.directions.at).is_some_and(is_meant)
        {
            self.directions.pass();
            if self.directions.at == self.directions.entries.len() {
                self.end_directions();
            }
        }
    }

    /// Who runs next, after a turn ended like this.
    pub(super) unsafe fn direct(&mut self, end: SegmentEnd) -> Next {
        // SAFETY: the lock is held, and the caller has the token, or nobody has; threads are never freed.
        unsafe {
            let mut end = end;
            if self.directions.phase == Phase::Helping {
                self.directions.end_help();
                end = SegmentEnd::Preempted;
            }
            loop {
                if self.directions.phase == Phase::UnderWay {
                    match self.go_on(end) {
                        Some(next) => return next,
                        None => self.directions.pass(),
                    }
                }
                self.directions.settle();
                self.directions.skip_done();
                let at = self.directions.at;
                let Some(Direction { thread: number, until, .. }) = self.directions.direction(at) else {
                    self.end_directions();
                    return Next::Over;
                };
                match self.threads.get(number as usize).copied().filter(|thread| *thread != self.nobody) {
                    None => return self.stray("the thread was to run, but is not there"),
                    Some(thread) if (*thread).state == State::Dead && until != Until::Ended => {
                        return self.stray("the thread was to run, but has ended");
                    }
                    Some(_) => self.release(number),
                };
                self.directions.phase = Phase::UnderWay;
                (self.directions.steps, self.directions.circles) = (0, 0);
                self.directions.logged = log::produced();
                self.directions.look_out(at);
                end = SegmentEnd::Preempted;
            }
        }
    }

    /// The turn under way goes on; `None` if it was to last until the thread has ended, and it has.
    unsafe fn go_on(&mut self, end: SegmentEnd) -> Option<Next> {
        // SAFETY: as the caller's.
        unsafe {
            let Direction { thread: number, until, records, .. } = self.directions.direction(self.directions.at)?;
            let thread = self.threads[number as usize];
            match ((*thread).state, (*thread).deadline) {
                (State::Outside, _) => return Some(Next::NotYet),
                (State::Dead, _) if until == Until::Ended => return None,
                (State::Dead, _) => return Some(self.stray("the thread ends before it gets there")),
                (State::Blocked(Waiting { what, .. }), None) => {
                    let may_help = matches!(what, What::Stream | What::Futex);
                    if let Some(helper) = if may_help { self.call_help() } else { None } {
                        return Some(Next::Thread(helper));
                    }
                    return Some(self.stray(&format!("the thread waits for a {} before it gets there", what.name())));
                }
                (State::Blocked(_), Some(_)) => {
                    self.directions.circles += 1;
                    self.release(number);
                }
                (State::Ready, _) => self.directions.circles += u64::from(end == SegmentEnd::Yielded),
            }
            let records = u64::from(records);
            if self.directions.circles > CIRCLES + CIRCLES_PER_RECORD * records
                || log::produced() - self.directions.logged > LOGGED + LOGGED_PER_RECORD * records
            {
                return Some(self.stray("the thread goes round in circles before it gets there"));
            }
            self.directions.circles += self.directions.helped.drain(..).len() as u64;
            self.start_turn(number, self.chooser.quantum());
            Some(Next::Thread(number))
        }
    }

    fn end_directions(&mut self) {
        self.directions.phase = Phase::Over;
        // SAFETY: the caller has the token, or nobody has and it holds the lock.
        unsafe { notice(Notice::Directed, [0; 3], b"") };
    }

    /// Gives the directions up.
    pub(super) unsafe fn stray(&mut self, how: &str) -> Next {
        let Directions { at, steps, .. } = self.directions;
        let thread = self.directions.direction(at).map_or(0, |direction| direction.thread);
        let steps = if self.directions.phase == Phase::Next { 0 } else { steps };
        self.directions.phase = Phase::Over;
        self.directions.ahead = None;
        // SAFETY: the caller has the token, or nobody has and it holds the lock.
        unsafe {
            log::stop_waiting();
            notice(Notice::Diverged, [at as u64, steps, u64::from(thread)], how.as_bytes());
        }
        Next::Over
    }

    /// Who of those that wait is woken by the running thread: the first, unless the directions would have another, or
    /// the schedule of a run in which they had.
    ///
    /// In the log that is a turn of no steps of the one who is woken, in the middle of that of the one who wakes it.
    pub(super) unsafe fn whom_to_wake(&mut self, thread: &mut Thread, waiting: &[u32]) -> usize {
        // SAFETY: the caller has the token.
        unsafe {
            if self.directions.is_active() {
                let at = self.directions.whom_to_wake(waiting);
                if at != 0 {
                    self.directions.steps += thread.steps();
                    log_choice(thread, waiting[at]);
                    thread.turn = thread.budget;
                }
                return at;
            }
            if thread.budget == 0
                && let Some([chosen, rest]) = self.plan.upcoming()
                && let PlanEntry::Run { thread: chosen, steps: 0, end: SegmentEnd::Yielded } = chosen
                && let PlanEntry::Run { thread: again, steps, end } = rest
                && again == thread.number
                && let Some(at) = waiting.iter().position(|number| *number == chosen)
            {
                log_choice(thread, chosen);
                self.plan.take_two(end);
                self.start_turn(again, steps);
                return at;
            }
            0
        }
    }
}

unsafe fn log_choice(thread: &mut Thread, chosen: u32) {
    // SAFETY: the caller has the token.
    unsafe {
        thread.settle();
        let switch =
            |to: u32, end: SegmentEnd| RecordHeader { aux: end as u16, ..header(Kind::Switch, to as usize, 0) };
        log::append(switch(chosen, SegmentEnd::Preempted), [thread.steps()]);
        log::append(switch(thread.number, SegmentEnd::Yielded), [0]);
    }
}

/// Makes the next step of the running thread the first of another turn.
fn end_turn(thread: &mut Thread) {
    // A signal that came meanwhile would want to do the same.
    thread.inside += 1;
    thread.turn -= thread.budget;
    (thread.budget, thread.withheld) = (0, 0);
    thread.inside -= 1;
}
