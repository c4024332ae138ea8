//! Traces with values, for solvers to chew on: bank tellers, and threads that access anything.
//!
//! A machine runs small programs, one step at a time, mostly of the thread that ran before. Values repeat, so that
//! what a read found may have come from several writes: that is what makes schedules hard to find.

use crate::dice::Dice;
use crate::inputs::write_trace;
use anyhow::Result;
use interloper_trace::{
    Access, Attempt, Event, LocationId, LockId, LockMode, Op, Region, RegionSource, SiteId, Tables, ThreadId, Value,
};
use std::path::Path;

/// A trace in memory.
pub(crate) struct Made {
    pub(crate) events: Vec<Event>,
    pub(crate) tables: Tables,
}

impl Made {
    /// Writes it to a file.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        write_trace(path, &self.events, &self.tables)
    }
}

/// Which tellers respect the flag that says that the books are open.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Protected {
    /// None: both books can be tampered with (the literature's bank-av).
    Nothing,
    /// While the first of two books is written (bank-sav).
    FirstBook,
    /// While either is (bank-nav).
    Both,
}

/// Tellers who move money between accounts under two locks, so many times, and then enter it into two books, each
/// read under a lock and written under it later.
pub(crate) fn bank(tellers: u32, transfers: u32, protected: Protected) -> Result<Made> {
    /// Variables; then come the accounts.
    const TOTAL: u32 = 0;
    const COUNT: u32 = 1;
    const BUSY: u32 = 2;
    const FIRST_ACCOUNT: u32 = 3;
    /// Locks; then come those of the accounts.
    const BOOKS: u32 = 0;
    const DOOR: u32 = 1;
    const FIRST_LOCK: u32 = 2;
    let accounts = tellers + 1;
    let program = |teller: u32| {
        let mut steps = Vec::new();
        for transfer in 0..transfers {
            let (from, to) = (teller, (teller + transfer) % accounts);
            let (low, high) = (FIRST_LOCK + from.min(to), FIRST_LOCK + from.max(to));
            steps.extend([Do::Lock(low), Do::Read(FIRST_ACCOUNT + from), Do::Add(FIRST_ACCOUNT + from, 90)]);
            if low != high {
                steps.insert(steps.len() - 2, Do::Lock(high));
            }
            steps.extend([Do::Read(FIRST_ACCOUNT + to), Do::Add(FIRST_ACCOUNT + to, 10)]);
            if low != high {
                steps.push(Do::Unlock(high));
            }
            steps.push(Do::Unlock(low));
        }
        if protected != Protected::Nothing {
            let again = steps.len();
            steps.extend([Do::Lock(DOOR), Do::Read(BUSY), Do::Retry(DOOR, again), Do::Set(BUSY, 1), Do::Unlock(DOOR)]);
        }
        let leave = [Do::Lock(DOOR), Do::Set(BUSY, 0), Do::Unlock(DOOR)];
        for (book, add) in [(TOTAL, 50), (COUNT, 50)] {
            steps.extend([Do::Begin, Do::Lock(BOOKS), Do::Read(book), Do::Unlock(BOOKS)]);
            steps.extend([Do::Lock(BOOKS), Do::Add(book, add), Do::Unlock(BOOKS), Do::End]);
            let is_last = book == COUNT;
            if protected == (if is_last { Protected::Both } else { Protected::FirstBook }) {
                steps.extend(leave);
            }
        }
        steps
    };
    run((0..tellers).map(program).collect(), FIRST_ACCOUNT + accounts, FIRST_LOCK + accounts)
}

/// Threads that access variables at random, most of the time under the variable's lock.
pub(crate) fn anything(threads: u32, events: u32, variables: u32) -> Result<Made> {
    let locks = (variables / 4).max(2);
    let mut dice = Dice(u64::from(events));
    let mut program = || {
        let mut steps = Vec::new();
        while steps.len() < (events / threads) as usize {
            let variable = dice.roll(u64::from(variables)) as u32;
            let lock = variable % locks;
            let write = if dice.roll(2) == 0 { Do::Add(variable, 1) } else { Do::Set(variable, dice.roll(8) as u32) };
            match dice.roll(10) {
                0..3 => steps.extend([Do::Lock(lock), Do::Read(variable), write, Do::Unlock(lock)]),
                3..5 => steps.extend([Do::Lock(lock), Do::Read(variable), Do::Unlock(lock)]),
                5..7 => steps.extend([
                    Do::Begin,
                    Do::Lock(lock),
                    Do::Read(variable),
                    Do::Unlock(lock),
                    Do::Lock(lock),
                    write,
                    Do::Unlock(lock),
                    Do::End,
                ]),
                7 => steps.extend([Do::Begin, Do::Read(variable), write, Do::End]),
                8 => steps.push(Do::Read(variable)),
                _ => steps.push(write),
            }
        }
        steps
    };
    let programs = (0..threads).map(|_| program()).collect();
    run(programs, variables, locks)
}

/// A step of a program. A thread has one register: what it read last.
#[derive(Clone, Copy)]
enum Do {
    Lock(u32),
    Unlock(u32),
    Read(u32),
    /// Writes the register and so much more, modulo a hundred.
    Add(u32, u32),
    Set(u32, u32),
    Begin,
    End,
    /// Unless the register is zero: lets go of this lock and goes back there.
    Retry(u32, usize),
}

#[derive(Clone, Copy, Default)]
struct Thread {
    next: usize,
    register: u32,
}

/// Runs programs side by side, after a thread that starts them and before it joins them.
fn run(programs: Vec<Vec<Do>>, variables: u32, locks: u32) -> Result<Made> {
    let mut tables = Tables::new();
    let main = tables.intern_thread("main")?;
    let names: Vec<ThreadId> = (0..programs.len())
        .map(|number| tables.intern_thread(&format!("main.{}", number + 1)))
        .collect::<Result<_, _>>()?;
    let variables: Vec<LocationId> =
        (0..variables).map(|number| tables.intern_location(&format!("x{number}"), 0)).collect::<Result<_, _>>()?;
    let locks: Vec<LockId> =
        (0..locks).map(|number| tables.intern_lock(&format!("m{number}"))).collect::<Result<_, _>>()?;
    let mut memory = vec![0_u32; variables.len()];
    let mut owners: Vec<Option<usize>> = vec![None; locks.len()];
    let mut threads = vec![Thread::default(); programs.len()];
    let mut events = Vec::new();
    let mut push = |thread, op| events.push(Event { thread, site: SiteId::UNKNOWN, op });
    names.iter().for_each(|name| push(main, Op::Fork(*name)));
    let region = Region { name: None, source: RegionSource::Annotated };
    let (mut dice, mut current) = (Dice(7), 0);
    loop {
        let can_run = |at: &usize| match programs[*at].get(threads[*at].next) {
            None => false,
            Some(Do::Lock(lock)) => owners[*lock as usize].is_none(),
            Some(_) => true,
        };
        let able: Vec<usize> = (0..programs.len()).filter(can_run).collect();
        if able.is_empty() {
            break;
        }
        if !able.contains(&current) || dice.roll(10) == 0 {
            current = able[dice.roll(able.len() as u64) as usize];
        }
        let thread = &mut threads[current];
        let step = programs[current][thread.next];
        thread.next += 1;
        let name = names[current];
        let access = |variable: u32, value: u32| Access {
            size: 4,
            value: Value::known(u64::from(value)),
            ..Access::bare(variables[variable as usize])
        };
        let mut write = |variable: u32, value: u32| {
            memory[variable as usize] = value;
            Op::Write(access(variable, value))
        };
        let mut unlock = |lock: u32| {
            owners[lock as usize] = None;
            Op::Release { lock: locks[lock as usize], mode: LockMode::Exclusive }
        };
        let op = match step {
            Do::Lock(lock) => {
                owners[lock as usize] = Some(current);
                Op::Acquire { lock: locks[lock as usize], mode: LockMode::Exclusive, by: Attempt::Blocking }
            }
            Do::Unlock(lock) => unlock(lock),
            Do::Read(variable) => {
                thread.register = memory[variable as usize];
                Op::Read(access(variable, thread.register))
            }
            Do::Add(variable, more) => write(variable, (thread.register + more) % 100),
            Do::Set(variable, value) => write(variable, value),
            Do::Begin => Op::RegionBegin(region),
            Do::End => Op::RegionEnd(region),
            Do::Retry(..) if thread.register == 0 => continue,
            Do::Retry(lock, again) => {
                thread.next = again;
                unlock(lock)
            }
        };
        push(name, op);
    }
    names.iter().for_each(|name| push(main, Op::Join(*name)));
    Ok(Made { events, tables })
}
