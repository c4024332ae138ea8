//! How long it takes to judge whether an execution is atomic.
//!
//! Generated traces have no values, so they get some here: every write a new one, or one of a few, and every read
//! what was written last. `turns` is made here altogether: threads take turns at adding one to a number that goes
//! round, until at the end one gets in between another's read and write.

use crate::dice::Dice;
use crate::inputs::write_trace;
use crate::measure::{Contender, side_by_side};
use anyhow::{Context, Result};
use interloper_generate::{Generator, Options, Shape};
use interloper_trace::{
    Access, Event, EventSource, LocationId, Op, Region, RegionSource, SiteId, Tables, ThreadId, Value,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const ATOMIC: &[&str] = &["analyze", "--property", "atomic", "--format", "json", "--no-progress", "--stats"];

/// What is judged.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    make: fn(usize) -> Result<(Vec<Event>, Tables)>,
    says: &'static str,
}

const CASES: [Case; 5] = [
    Case { name: "bank", make: |events| bank(events, 1, u64::MAX), says: "serializable as observed" },
    Case { name: "bank-widened", make: |events| bank(events, 2, u64::MAX), says: "many regions broken" },
    Case { name: "bank-widened-3-values", make: |events| bank(events, 2, 3), says: "the same, values repeated" },
    Case { name: "turns-lost", make: |events| turns(events, true), says: "non-atomic at the very end" },
    Case { name: "turns-same", make: |events| turns(events, false), says: "broken at the very end, yet atomic" },
];

/// Prints the table.
pub(crate) fn print(interloper: &Path, folder: &Path, rounds: u32) -> Result<()> {
    println!("## Atomic\n\n| trace | | events | verdict | judging, ms | whole run, CPU ms | peak memory |");
    println!("|---|---|---:|---|---:|---:|---:|");
    for case in CASES {
        for events in [10_000, 100_000, 1_000_000] {
            let input = input(folder, case, events)?;
            let contenders = [Contender::new("atomic", interloper, ATOMIC, &input)];
            let costs = side_by_side(&contenders, rounds)?;
            let judging = costs[0].said.lines().filter_map(judging).min_by(f64::total_cmp);
            let judging = judging.context("--stats did not say how long judging took")?;
            let (cpu, memory) = (costs[0].cpu.as_secs_f64() * 1e3, costs[0].memory as f64 / 1e6);
            let verdict = verdict(interloper, &input)?;
            println!(
                "| {} | {} | {events} | {verdict} | {judging:.1} | {cpu:.1} | {memory:.1} MB |",
                case.name, case.says
            );
        }
    }
    println!();
    Ok(())
}

/// What is said of a trace.
fn verdict(interloper: &Path, input: &Path) -> Result<String> {
    let output = std::process::Command::new(interloper).args(ATOMIC).arg(input).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let field = |name: &str| {
        let (_, rest) = printed.split_once(&format!("\"{name}\": \""))?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let verdict = field("verdict").context("no verdict")?;
    Ok(format!("{verdict}, by {}", field("by").unwrap_or_default()))
}

/// The time in a line like `judge: 1.234 ms`.
fn judging(line: &str) -> Option<f64> {
    line.trim().strip_prefix("judge:")?.trim().strip_suffix("ms")?.trim().parse().ok()
}

/// A trace, made if it is not there.
fn input(folder: &Path, case: Case, events: usize) -> Result<PathBuf> {
    let path = folder.join(format!("atomic-{}-{events}.ilt", case.name));
    if !path.exists() {
        let (events, tables) = (case.make)(events)?;
        write_trace(&path, &events, &tables)?;
    }
    Ok(path)
}

/// A bank whose writes are one of so many values.
fn bank(count: usize, widen: u32, values: u64) -> Result<(Vec<Event>, Tables)> {
    let options = Options { events: Some(count as u64), widen, seed: 1, ..Options::default() };
    let mut generator = Generator::new(Shape::Bank, options)?;
    let (mut events, mut batch) = (Vec::new(), Vec::new());
    loop {
        generator.next_batch(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        events.extend_from_slice(&batch);
    }
    let mut memory: HashMap<LocationId, u64> = HashMap::new();
    let mut dice = Dice(1);
    for event in &mut events {
        match &mut event.op {
            Op::Read(access) => access.value = Value::known(memory.get(&access.location).copied().unwrap_or(0)),
            Op::Write(access) => {
                let value = dice.roll(values);
                memory.insert(access.location, value);
                access.value = Value::known(value);
            }
            _ => {}
        }
    }
    Ok((events, generator.tables().clone()))
}

/// Four threads add one to a number modulo three. Near the end one writes between another's read and write: after
/// it has read, so that an addition is lost, or without, and the same as the other writes.
fn turns(count: usize, is_lost: bool) -> Result<(Vec<Event>, Tables)> {
    const THREADS: u64 = 4;
    let mut tables = Tables::new();
    for thread in 0..THREADS {
        tables.intern_thread(&format!("T{thread}"))?;
    }
    let location = tables.intern_location("x", 0)?;
    let site = SiteId::bare_line(1).context("no site")?;
    let event = |thread: u64, op| Event { thread: ThreadId::new(thread as u32), site, op };
    let access = |value| Access { size: 4, value: Value::known(value), ..Access::bare(location) };
    let region = Region { name: None, source: RegionSource::Annotated };
    let mut dice = Dice(1);
    let mut events = Vec::with_capacity(count);
    let mut number = 0;
    while events.len() < count {
        let thread = dice.roll(THREADS);
        let next = (number + 1) % 3;
        events.push(event(thread, Op::RegionBegin(region)));
        events.push(event(thread, Op::Read(access(number))));
        if events.len() + 2 >= count {
            let other = (thread + 1) % THREADS;
            if is_lost {
                events.push(event(other, Op::RegionBegin(region)));
                events.push(event(other, Op::Read(access(number))));
            }
            events.push(event(other, Op::Write(access(next))));
        }
        number = next;
        events.push(event(thread, Op::Write(access(number))));
        events.push(event(thread, Op::RegionEnd(region)));
    }
    Ok((events, tables))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judging_is_read_from_what_stats_say() {
        assert_eq!(judging("judge: 1.234 ms"), Some(1.234));
        assert_eq!(judging("read: 1.234 ms"), None);
    }

    #[test]
    fn traces_have_about_as_many_events_as_asked() {
        for case in CASES {
            let (events, _) = (case.make)(10_000).expect("a trace");
            assert!((10_000..10_010).contains(&events.len()), "{}: {}", case.name, events.len());
        }
    }
}
