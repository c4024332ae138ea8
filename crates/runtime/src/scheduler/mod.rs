//! One thread runs at a time: the one that has the token.
//!
//! A thread runs on without asking anybody until its budget of steps is used up, it has to wait for
//! another thread, it makes a system call that may block, or it ends. Then its *turn* is over: it
//! logs who comes next ([`policy`]), and wakes that thread. So the order of everything the program
//! does is known and can be repeated; a turn is all that has to be written down.
//!
//! Two locks of different kinds are at work. The *token* guards what the program sees and the log.
//! [`LOCK`] guards who has the token and what threads wait for; it is held for moments, also by
//! threads that come back from system calls and do not have the token.
//!
//! What is not controlled: threads that were not made by `pthread_create`, other processes, and
//! which of two threads that are both in system calls is served first.

mod directions;
mod help;
mod plan;
mod policy;
mod roster;
mod timers;
pub(crate) use policy::Random;
pub(crate) use roster::{add, find, for_each, is_dead, thread, withdraw};
pub(crate) mod watch;

use crate::clock;
use crate::current::set_current;
use crate::log::{self, header};
use crate::memory::{self, CONTROL};
use crate::sys::{self, Lock, syscall};
use crate::thread::{Guarded, State, Thread, Waiting, What, Woken};
use directions::Directions;
use interloper_wire::{Birth, GUIDANCE_AT, Guidance, Kind, Notice, Policy, RecordHeader, SegmentEnd, Settings};
use plan::Plan;
use policy::Chooser;
use std::arch::asm;
use std::sync::atomic::Ordering::*;

/// Everything about who runs.
pub(crate) struct Scheduler {
    /// All threads there ever were, by number. They are never freed.
    pub(crate) threads: Vec<*mut Thread>,
    /// One that is dead, in the place of those that are not there yet.
    nobody: *mut Thread,
    /// Which number a thread gets, by whose how manieth child it is; others get numbers above all of these.
    births: &'static [[u64; 2]],
    holder: Option<u32>,
    /// How the last turn ended, if nobody has had the token since.
    unlogged: (SegmentEnd, u64),
    /// Since when nobody has had it, in real time.
    idle_since: u64,
    chooser: Chooser,
    plan: Plan,
    directions: Directions,
    /// Turns so far: tells the watchdog whether anything happens.
    turns: u64,
}

static LOCK: Lock = Lock::new();
static SCHEDULER: Guarded<Option<Scheduler>> = Guarded::new(None);

/// The scheduler.
///
/// # Safety
/// The caller holds [`LOCK`], or the token for what only that guards; and the runtime has begun.
unsafe fn scheduler() -> &'static mut Scheduler {
    // SAFETY: as the caller says.
    match unsafe { SCHEDULER.get() } {
        Some(scheduler) => scheduler,
        None => std::process::abort(),
    }
}

/// Begins, with the first thread running.
pub(crate) unsafe fn begin(settings: &Settings, main: *mut Thread) {
    // SAFETY: there is one thread yet; the plan, directions and births are in the shared file, which stays mapped.
    unsafe {
        let plan = Plan::new(settings);
        let guidance = guidance();
        let births = roster::births(&guidance);
        let reserved = births.iter().map(|birth| Birth::from_words(*birth).number as usize + 1).max().unwrap_or(1);
        let nobody = crate::sync::threads::new_thread();
        (*nobody).state = State::Dead;
        let mut threads = Vec::with_capacity(reserved.max(64));
        threads.resize(reserved, nobody);
        threads[0] = main;
        *SCHEDULER.get() = Some(Scheduler {
            threads,
            nobody,
            births,
            holder: Some(0),
            unlogged: (SegmentEnd::Preempted, 0),
            idle_since: 0,
            chooser: Chooser::new(settings),
            plan,
            directions: Directions::new(&guidance),
            turns: 0,
        });
        let scheduler = scheduler();
        scheduler.chooser.meet(&mut *main);
        let next = scheduler.choose(0, SegmentEnd::Preempted);
        log::append(header(Kind::Switch, next.map_or(0, |next| next as usize), 0), [0]);
        if next != Some(0) {
            scheduler.diverge(&*main, 0, "the schedule does not begin with the first thread");
            scheduler.start_turn(0, settings.quantum);
        }
    }
}

unsafe fn guidance() -> Guidance {
    // SAFETY: the shared file is mapped, and longer than that.
    Guidance::from_words(unsafe { *((CONTROL + GUIDANCE_AT) as *const [u64; 4]) })
}

/// Whether the schedule of an earlier run is being followed.
pub(crate) unsafe fn is_following() -> bool {
    // SAFETY: the plan is advanced by who has the token.
    unsafe { scheduler().plan.is_active() }
}

/// What the directions wait for has been logged. The caller has the token.
pub(crate) unsafe fn reached() {
    // SAFETY: directions are followed by who has the token.
    unsafe { scheduler().reached() };
}

/// Which of those that wait the thread is to wake. The caller has the token.
pub(crate) unsafe fn whom_to_wake(thread: &mut Thread, waiting: &[u32]) -> usize {
    // SAFETY: plan and directions are followed by who has the token.
    unsafe { scheduler().whom_to_wake(thread, waiting) }
}

/// The program is about to end: those go before whose turn it is.
pub(crate) unsafe fn before_end(thread: &mut Thread) {
    // SAFETY: the running thread, which has the token; `hand_over` gives the lock back.
    unsafe {
        while (thread.budget <= 0 || thread.is_helping)
            && (scheduler().directions.is_active() || scheduler().plan.has_more())
        {
            LOCK.lock();
            hand_over(thread, SegmentEnd::Preempted, true);
        }
    }
}

/// Ends the turn of a thread that helps, before the step that it has just counted: what is to be done is logged.
#[inline(always)]
pub(crate) unsafe fn stop_if_helping(thread: *mut Thread) {
    // SAFETY: the running thread's own data.
    unsafe {
        if (*thread).is_helping {
            help::stop(&mut *thread);
        }
    }
}

/// The last thread ends, and the program with it. The caller has the token.
pub(crate) unsafe fn is_ending(thread: &Thread) {
    // SAFETY: directions are followed by who has the token.
    unsafe { scheduler().is_ending(thread.number) };
}

/// Counts a step; true if there was none left, and the turn is over: then [`out_of_steps`] sees to it.
#[inline(always)]
#[must_use]
pub(crate) unsafe fn count_step(thread: *mut Thread) -> bool {
    // SAFETY: the budget is the thread's own. One instruction, so that a signal handler finds it
    // either way whole.
    unsafe {
        asm!(
            "dec qword ptr [{budget}]",
            "js {over}",
            budget = in(reg) &raw mut (*thread).budget,
            over = label { return true },
            options(nostack),
        );
    }
    false
}

/// Counts a step, which may be the last of the turn.
#[inline(always)]
pub(crate) unsafe fn step(thread: *mut Thread) {
    // SAFETY: the running thread's own data.
    unsafe {
        if count_step(thread) {
            out_of_steps(thread);
        }
    }
}

/// Ends a turn, and takes the first step of the next.
#[cold]
#[inline(never)]
pub(crate) unsafe fn out_of_steps(thread: *mut Thread) {
    // SAFETY: this is the thread itself, in a callback.
    unsafe {
        let thread = &mut *thread;
        thread.budget = 0;
        thread.inside += 1;
        crate::signals::attend(thread);
        thread.is_before_step = true;
        while thread.budget <= 0 {
            LOCK.lock();
            let scheduler = scheduler();
            if let Some(end @ (SegmentEnd::Blocked | SegmentEnd::Outside | SegmentEnd::Finished)) = scheduler.plan.end()
            {
                let how = match end {
                    SegmentEnd::Blocked => "the thread was to wait here, and does not",
                    SegmentEnd::Outside => "the thread was to make a system call here, and does not",
                    _ => "the thread was to end here, and does not",
                };
                scheduler.diverge(thread, thread.steps(), how);
            }
            hand_over(thread, SegmentEnd::Preempted, true);
        }
        thread.is_before_step = false;
        thread.inside -= 1;
        thread.budget -= 1;
    }
}

/// Lets others go first.
pub(crate) unsafe fn give_way(thread: &mut Thread) {
    LOCK.lock();
    // SAFETY: the lock is held, and the caller has the token.
    unsafe { hand_over(thread, SegmentEnd::Yielded, true) };
}

/// Gives way if the thread has been at `pc`, without success, for too long.
#[inline]
pub(crate) unsafe fn spins_at(thread: &mut Thread, pc: usize) {
    const TOO_OFTEN: u32 = 64;
    if thread.spin.0 != pc {
        thread.spin = (pc, 0);
        return;
    }
    thread.spin.1 += 1;
    if thread.spin.1 > TOO_OFTEN {
        thread.spin.1 = 0;
        // SAFETY: the caller has the token.
        unsafe {
            if !is_following() {
                thread.inside += 1;
                give_way(thread);
                thread.inside -= 1;
            }
        }
    }
}

/// Waits until another thread wakes this one, or virtual time reaches the deadline.
pub(crate) unsafe fn block(thread: &mut Thread, waiting: Waiting, deadline: Option<u64>) -> Woken {
    LOCK.lock();
    thread.state = State::Blocked(waiting);
    thread.deadline = deadline;
    // SAFETY: the lock is held, and the caller has the token.
    unsafe { hand_over(thread, SegmentEnd::Blocked, true) };
    thread.deadline = None;
    thread.woken
}

/// Lets a waiting thread go on. The caller has the token.
pub(crate) unsafe fn wake(number: u32, woken: Woken) {
    LOCK.lock();
    // SAFETY: the lock is held.
    unsafe {
        let thread = &mut *scheduler().threads[number as usize];
        if let State::Blocked(_) = thread.state {
            thread.state = State::Ready;
            thread.woken = woken;
        }
    }
    LOCK.unlock();
}

/// Lets all threads go on that wait for this. The caller has the token.
pub(crate) unsafe fn wake_those_waiting_for(what: What, object: usize) {
    LOCK.lock();
    // SAFETY: the lock is held; threads are never freed.
    unsafe {
        for thread in &scheduler().threads {
            let thread = &mut **thread;
            if thread.state == State::Blocked(Waiting { what, object }) {
                thread.state = State::Ready;
                thread.woken = Woken::Notified;
            }
        }
    }
    LOCK.unlock();
}

/// Waits for the first turn of a thread that has just begun.
pub(crate) unsafe fn begin_thread(thread: &mut Thread) {
    // SAFETY: the thread was added by who created it.
    unsafe { wait_for_token(thread) };
}

/// Ends the thread's turns for good; the caller does not have the token any more.
pub(crate) unsafe fn finish(thread: &mut Thread) {
    set_current(std::ptr::null_mut());
    LOCK.lock();
    thread.state = State::Dead;
    // SAFETY: the lock is held, and the caller has the token.
    unsafe { hand_over(thread, SegmentEnd::Finished, false) };
}

/// Whether a system call that may block is to be made without the token.
///
/// When an earlier run is followed, then as it was done there.
pub(crate) unsafe fn leaves(thread: &Thread, may_block: bool) -> bool {
    // SAFETY: the plan is advanced by who has the token.
    match unsafe { scheduler().plan.end() } {
        None => may_block,
        Some(end) => end == SegmentEnd::Outside && thread.budget == 0,
    }
}

/// Gives the token up to make a system call.
pub(crate) unsafe fn leave(thread: &mut Thread) {
    LOCK.lock();
    thread.state = State::Outside;
    // SAFETY: the lock is held, and the caller has the token.
    unsafe { hand_over(thread, SegmentEnd::Outside, false) };
}

/// Comes back from a system call, and waits for the token.
pub(crate) unsafe fn come_back(thread: &mut Thread) {
    LOCK.lock();
    (thread.state, thread.is_back) = (State::Ready, true);
    // SAFETY: the lock is held.
    unsafe {
        fill_vacancy();
        LOCK.unlock();
        wait_for_token(thread);
    }
    thread.is_back = false;
}

/// Finds somebody for the token if nobody has it. The lock is held.
unsafe fn fill_vacancy() {
    // SAFETY: the lock is held, and nobody has the token.
    unsafe {
        let scheduler = scheduler();
        if scheduler.holder.is_some() {
            return;
        }
        if !scheduler.is_guided() {
            let now = sys::real_nanoseconds();
            let elapsed = now - std::mem::replace(&mut scheduler.idle_since, now);
            clock::advance(elapsed);
            log::append(header(Kind::Advance, 0, 0), [elapsed]);
        }
        let (end, steps) = scheduler.unlogged;
        if let Some(next) = scheduler.choose(u32::MAX, end) {
            scheduler.pass_to(next, end, steps);
        }
    }
}

/// Ends the turn of a thread that has the token and holds the lock, whose state is set already.
unsafe fn hand_over(thread: &mut Thread, end: SegmentEnd, returns: bool) {
    // SAFETY: as said above.
    unsafe {
        let scheduler = scheduler();
        thread.settle();
        let (steps, left) = (thread.steps(), thread.budget);
        (thread.turn, thread.budget, thread.is_helping) = (0, 0, false);
        scheduler.chooser.count(steps);
        scheduler.directions.steps += steps;
        if scheduler.plan.is_active() && left > 0 {
            let how = match end {
                SegmentEnd::Blocked => "the thread waits, but was to go on",
                SegmentEnd::Outside => "the thread makes a system call that blocks, but was to go on",
                SegmentEnd::Finished => "the thread ends, but was to go on",
                SegmentEnd::Preempted | SegmentEnd::Yielded => "the thread gives way, but was to go on",
            };
            scheduler.diverge(thread, steps, how);
        }
        match scheduler.choose(thread.number, end) {
            Some(next) => {
                scheduler.pass_to(next, end, steps);
                LOCK.unlock();
            }
            None => {
                scheduler.holder = None;
                scheduler.unlogged = (end, steps);
                scheduler.idle_since = sys::real_nanoseconds();
                if scheduler.is_deadlock() {
                    scheduler.end_in_deadlock();
                }
                LOCK.unlock();
                watch::nudge();
            }
        }
        if returns {
            wait_for_token(thread);
        }
    }
}

unsafe fn wait_for_token(thread: &mut Thread) {
    while thread.go.swap(0, Acquire) == 0 {
        sys::futex_wait(&thread.go, 0, None);
        if thread.signals.any() {
            // SAFETY: the thread does not hold the lock.
            unsafe { interrupt(thread) };
        }
    }
}

/// Wakes a thread that waits, because of a signal.
unsafe fn interrupt(thread: &mut Thread) {
    LOCK.lock();
    // SAFETY: the lock is held.
    unsafe {
        if let State::Blocked(_) = thread.state {
            thread.state = State::Ready;
            thread.woken = Woken::Interrupted;
            fill_vacancy();
        }
    }
    LOCK.unlock();
}

impl Scheduler {
    /// Whether something says who runs, and the clock only moves when that says so.
    fn is_guided(&self) -> bool {
        self.plan.is_active() || self.directions.is_active()
    }

    /// Who runs next, with a budget; `None` if that depends on who comes back from a system call.
    unsafe fn choose(&mut self, from: u32, end: SegmentEnd) -> Option<u32> {
        // SAFETY: the lock is held.
        unsafe {
            if self.plan.is_active() {
                match self.follow() {
                    plan::Next::Thread(next) => return Some(next),
                    plan::Next::NotYet => return None,
                    plan::Next::Over => {}
                }
            }
            if self.directions.is_active() {
                match self.direct(end) {
                    plan::Next::Thread(next) => return Some(next),
                    plan::Next::NotYet => return None,
                    plan::Next::Over => {}
                }
            }
            let (next, budget) = self.chooser.choose(&self.threads, from, end).or_else(|| self.fire_timer())?;
            self.start_turn(next, budget);
            Some(next)
        }
    }

    unsafe fn start_turn(&mut self, number: u32, budget: u64) {
        // SAFETY: threads are never freed, and the lock is held.
        let thread = unsafe { &mut *self.threads[number as usize] };
        thread.turn = i64::try_from(budget).unwrap_or(i64::MAX);
        thread.budget = thread.turn;
    }

    unsafe fn pass_to(&mut self, next: u32, end: SegmentEnd, steps: u64) {
        let switch = RecordHeader { aux: end as u16, ..header(Kind::Switch, next as usize, 0) };
        // SAFETY: the caller has the token, or nobody has, and the lock is held.
        unsafe {
            log::append(switch, [steps]);
            self.holder = Some(next);
            self.turns += 1;
            let thread = &*self.threads[next as usize];
            thread.go.store(1, Release);
            sys::futex_wake(&thread.go);
        }
    }

    fn is_deadlock(&self) -> bool {
        let mut someone_waits = false;
        for thread in &self.threads {
            // SAFETY: threads are never freed, and the lock is held.
            match unsafe { (**thread).state } {
                State::Blocked(_) => someone_waits = true,
                State::Ready | State::Outside => return false,
                State::Dead => {}
            }
        }
        someone_waits
    }

    /// Says who waits for whom, and ends the program, which could only hang.
    unsafe fn end_in_deadlock(&mut self) -> ! {
        // SAFETY: nobody has the token and nobody ever will; the lock is held.
        unsafe {
            let (_, steps) = self.unlogged;
            notice(Notice::Deadlock, [0; 3], b"");
            for thread in &self.threads {
                let thread = &**thread;
                let State::Blocked(Waiting { what, object }) = thread.state else { continue };
                let owner = crate::sync::owner(what, object).map_or(0, |owner| u64::from(owner) + 1);
                notice(Notice::Waits, [u64::from(thread.number), object as u64, owner], what.name().as_bytes());
            }
            log::append(RecordHeader { aux: SegmentEnd::Blocked as u16, ..header(Kind::End, 0, 0) }, [steps]);
            syscall!(libc::SYS_kill, syscall!(libc::SYS_getpid), libc::SIGKILL);
            memory::stop()
        }
    }
}

/// Logs something to tell the user. The caller has the token, or nobody has.
pub(crate) unsafe fn notice(what: Notice, words: [u64; 3], text: &[u8]) {
    // SAFETY: as said above.
    unsafe { log::append_text(RecordHeader { arg: what as u8, ..header(Kind::Notice, 0, 0) }, words, text) };
}

/// Whether a plan is what decides, for settings that ask for one.
pub(crate) fn has_plan(settings: &Settings) -> bool {
    settings.policy == Policy::Replay && settings.plan_entries > 0
}
