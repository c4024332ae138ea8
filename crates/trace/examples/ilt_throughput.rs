//! How fast `.ilt` is written and read, and how large it is.
//!
//! Makes the events of a bank in memory (threads take two accounts' locks, move money and release
//! them, and take turns after every single event), writes and reads them there, and prints the best
//! of a few rounds.
//!
//! `cargo run --release -p interloper-trace --example ilt_throughput [-- EVENTS [MOST_TURN]]`

use interloper_trace::ilt::{IltOptions, IltReader, IltWriter};
use interloper_trace::{
    Access, Attempt, Event, EventSink, EventSource, LocationId, LockId, LockMode, MemoryOrder, Op, SiteId, TableFull,
    Tables, ThreadId, Value,
};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const THREADS: u64 = 8;
const ACCOUNTS: u64 = 1000;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(Ok(10_000_000), |text| text.parse())?;
    let most_turn = arguments.next().map_or(Ok(1), |text| text.parse())?;
    println!("{count} events, {THREADS} threads taking turns of 1 to {most_turn} events, {ACCOUNTS} accounts");
    for (what, locked, values) in
        [("accesses without values", false, false), ("accesses", false, true), ("accesses under locks", true, true)]
    {
        let mut tables = Tables::new();
        let events = Bank::new(&mut tables, locked, values)?.run(count, most_turn);
        for compress in [false, true] {
            let options = IltOptions { compress, ..IltOptions::default() };
            measure(what, &events, &tables, options)?;
        }
    }
    Ok(())
}

fn measure(
    what: &str,
    events: &[Event],
    tables: &Tables,
    options: IltOptions,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut file = Vec::new();
    let mut write = Duration::MAX;
    for _ in 0..ROUNDS {
        file.clear();
        let start = now();
        let mut writer = IltWriter::with_options(&mut file, options)?;
        writer.write(events, tables)?;
        writer.finish(tables)?;
        write = write.min(now() - start);
    }
    let mut read = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = now();
        let mut reader = IltReader::new(&file[..])?;
        let mut batch = Vec::new();
        let mut total = 0;
        loop {
            reader.next_batch(&mut batch)?;
            if batch.is_empty() {
                break;
            }
            total += batch.len();
        }
        read = read.min(now() - start);
        assert_eq!(total, events.len());
    }
    let each = |time: Duration| time.as_secs_f64() * 1e9 / events.len() as f64;
    println!(
        "{what:24} {:10} {:5.2} bytes, write {:5.1} ns, read {:5.2} ns per event; reads {:5.1} M/s",
        if options.compress { "compressed" } else { "stored" },
        file.len() as f64 / events.len() as f64,
        each(write),
        each(read),
        1e3 / each(read),
    );
    Ok(())
}

/// A clock that stands still while others use the processor, where the system has one (Linux).
fn now() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let busy = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = busy.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Threads that move money between accounts at random.
struct Bank {
    threads: Vec<ThreadId>,
    accounts: Vec<(LocationId, LockId)>,
    balances: Vec<u64>,
    /// What each thread is about to do, last first.
    planned: Vec<Vec<Event>>,
    locked: bool,
    values: bool,
    random: u64,
}

impl Bank {
    fn new(tables: &mut Tables, locked: bool, values: bool) -> Result<Self, TableFull> {
        let threads = (0..THREADS).map(|n| tables.intern_thread(&format!("T{n}"))).collect::<Result<Vec<_>, _>>()?;
        let mut accounts = Vec::new();
        for n in 0..ACCOUNTS {
            accounts.push((tables.intern_location("accounts", 8 * n)?, tables.intern_lock(&format!("lock {n}"))?));
        }
        let balances = vec![1000; accounts.len()];
        let planned = vec![Vec::new(); threads.len()];
        Ok(Bank { threads, accounts, balances, planned, locked, values, random: 0x9e37_79b9_7f4a_7c15 })
    }

    fn run(&mut self, count: usize, most_turn: u64) -> Vec<Event> {
        let mut events = Vec::with_capacity(count);
        while events.len() < count {
            let thread = self.below(THREADS) as usize;
            for _ in 0..=self.below(most_turn) {
                if self.planned[thread].is_empty() {
                    self.plan(thread);
                }
                events.extend(self.planned[thread].pop());
            }
        }
        events.truncate(count);
        events
    }

    fn plan(&mut self, thread: usize) {
        let (from, to, amount) = (self.below(ACCOUNTS) as usize, self.below(ACCOUNTS) as usize, self.below(100));
        let [source, target] = [self.accounts[from], self.accounts[to]];
        let mut ops = Vec::new();
        if self.locked {
            ops.push(acquire(source.1));
            ops.push(acquire(target.1));
        }
        ops.push((Op::Read(self.access(source.0, from)), 12));
        self.balances[from] = self.balances[from].saturating_sub(amount);
        ops.push((Op::Write(self.access(source.0, from)), 13));
        ops.push((Op::Read(self.access(target.0, to)), 14));
        self.balances[to] += amount;
        ops.push((Op::Write(self.access(target.0, to)), 15));
        if self.locked {
            ops.push(release(target.1));
            ops.push(release(source.1));
        }
        let thread_id = self.threads[thread];
        self.planned[thread] = ops
            .into_iter()
            .rev()
            .map(|(op, line)| Event { thread: thread_id, site: SiteId::bare_line(line).unwrap_or(SiteId::UNKNOWN), op })
            .collect();
    }

    fn access(&self, location: LocationId, account: usize) -> Access {
        let value = if self.values { Value::known(self.balances[account]) } else { Value::UNKNOWN };
        Access { location, size: 8, order: MemoryOrder::Plain, more: false, value }
    }

    /// A number below a bound, by xorshift: good enough to confuse a branch predictor.
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) % bound
    }
}

fn acquire(lock: LockId) -> (Op, u64) {
    (Op::Acquire { lock, mode: LockMode::Exclusive, by: Attempt::Blocking }, 10)
}

fn release(lock: LockId) -> (Op, u64) {
    (Op::Release { lock, mode: LockMode::Exclusive }, 17)
}
