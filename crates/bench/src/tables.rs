//! The tables: what is compared with what, in Markdown.

use crate::inputs::{Inputs, Wanted};
use crate::measure::{Contender, Cost, side_by_side};
use anyhow::{Context, Result};
use interloper_generate::{Generator, Options, Shape};
use interloper_trace::EventSource;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SERIAL: &[&str] = &["analyze", "--property", "serial", "--format", "json", "--no-progress"];
const LOCKSET: &[&str] = &["analyze", "--model", "lockset", "--format", "json", "--no-progress"];
const LOCKSET_STATS: &[&str] = &["analyze", "--model", "lockset", "--format", "json", "--no-progress", "--stats"];

const LOCKSET_ALL: &[&str] =
    &["analyze", "--model", "lockset", "--all", "--limit", "1", "--format", "json", "--no-progress"];
const PAPER: &[&str] = &[
    "analyze",
    "--model",
    "filtered",
    "--filter",
    "paper",
    "--all",
    "--limit",
    "1",
    "--format",
    "json",
    "--no-progress",
];
const SOUND: &[&str] = &[
    "analyze",
    "--model",
    "filtered",
    "--filter",
    "sound",
    "--all",
    "--limit",
    "1",
    "--format",
    "json",
    "--no-progress",
];

/// Makes events and drops them.
pub(crate) fn make(shape: Shape, events: u64) -> Result<()> {
    let mut generator = Generator::new(shape, Options { events: Some(events), seed: 1, ..Options::default() })?;
    let mut batch = Vec::new();
    loop {
        generator.next_batch(&mut batch)?;
        if black_box(&batch).is_empty() {
            return Ok(());
        }
    }
}

/// Everything a table needs.
pub(crate) struct Bench {
    pub(crate) interloper: PathBuf,
    pub(crate) floor: PathBuf,
    pub(crate) inputs: Inputs,
    pub(crate) rounds: u32,
    pub(crate) large: bool,
}

impl Bench {
    /// How fast traces are made, without writing them anywhere.
    pub(crate) fn generate(&self) -> Result<()> {
        const EVENTS: &str = "20000000";
        println!("## Generating\n\n| shape | CPU ns/event | M events/s | peak memory |\n|---|---:|---:|---:|");
        let this = std::env::current_exe().context("cannot find this program")?;
        let contender = |shape: Shape| Contender::new(shape.name(), &this, &["--make", EVENTS], shape.name().as_ref());
        let contenders = Shape::ALL.map(contender);
        let events = EVENTS.parse()?;
        for (contender, cost) in contenders.iter().zip(side_by_side(&contenders, self.rounds)?) {
            let (per_event, rate) = (per_event(cost.cpu, events), rate(cost.wall, events));
            println!("| {} | {per_event:.1} | {rate:.1} | {} |", contender.name, megabytes(cost.memory));
        }
        println!();
        Ok(())
    }

    /// The filter beside the lockset model alone, on traces with a known number of candidates.
    pub(crate) fn filter(&self) -> Result<()> {
        println!(
            "## The filter\n\n| events | candidates | lockset `--all`, CPU s | paper, CPU s | sound, CPU s | peak memory |\n\
             |---:|---:|---:|---:|---:|---:|"
        );
        let mut sizes = vec![(140_532, 155), (3_300_000, 5_202), (10_000_000, 100_000), (10_000_000, 200_000)];
        if self.large {
            sizes.push((100_000_000, 1_000_000));
        }
        for (events, candidates) in sizes {
            let wanted = Wanted {
                shape: "needles",
                extension: "ilt",
                events: Some(events),
                variables: Some(candidates),
                ..Wanted::default()
            };
            let input = self.inputs.get(&wanted)?;
            let contender = |name, arguments| Contender::new(name, &self.interloper, arguments, &input);
            let contenders = [contender("lockset", LOCKSET_ALL), contender("paper", PAPER), contender("sound", SOUND)];
            let costs = side_by_side(&contenders, self.rounds)?;
            let seconds: Vec<String> = costs.iter().map(|cost| format!("{:.2}", cost.cpu.as_secs_f64())).collect();
            let memory = costs.iter().map(|cost| cost.memory).max().unwrap_or_default();
            println!("| {events} | {candidates} | {} | {} |", seconds.join(" | "), megabytes(memory));
        }
        println!();
        Ok(())
    }

    /// The floor and both linear analyses on one bank trace.
    pub(crate) fn bank(&self, title: &str, events: u64, extension: &'static str) -> Result<()> {
        println!("## Bank, {title}, 8 threads, 16 locks\n");
        let wanted = Wanted { shape: "bank", events: Some(events), extension, ..Wanted::default() };
        // The floor reads text only: whatever the others read, it reads the same events as STD.
        let text = self.inputs.get(&Wanted { extension: "std", ..wanted })?;
        let input = self.inputs.get(&wanted)?;
        let contenders = self.contenders(&text, &input);
        let costs = side_by_side(&contenders, self.rounds)?;
        println!("| run | CPU s | CPU ns/event | × floor | M events/s | peak memory |\n|---|---:|---:|---:|---:|---:|");
        for (contender, cost) in contenders.iter().zip(&costs) {
            println!("| {} | {} |", contender.name, figures(cost, &costs[0], events));
        }
        println!("\nFiles: {} of STD text, {} as measured.\n", size(&text)?, size(&input)?);
        Ok(())
    }

    /// How cost grows with events, threads and locks: each alone, the others as in the first table.
    pub(crate) fn growth(&self) -> Result<()> {
        const EVENTS: u64 = 10_000_000;
        println!("## Bank, STD, growth\n");
        println!("| events | threads | locks | run | CPU s | CPU ns/event | × floor | M events/s | peak memory |");
        println!("|---:|---:|---:|---|---:|---:|---:|---:|---:|");
        let mut rows = vec![(1_000_000, 8, 16), (EVENTS, 8, 16)];
        if self.large {
            rows.push((100_000_000, 8, 16));
        }
        rows.extend([(EVENTS, 100, 16), (EVENTS, 1000, 16), (EVENTS, 8, 1000), (EVENTS, 8, 10_000)]);
        for (events, threads, locks) in rows {
            let (more_threads, more_locks) = ((threads != 8).then_some(threads), (locks != 16).then_some(locks));
            let wanted = Wanted {
                shape: "bank",
                extension: "std",
                events: Some(events),
                threads: more_threads,
                locks: more_locks,
                ..Wanted::default()
            };
            let input = self.inputs.get(&wanted)?;
            let contenders = self.contenders(&input, &input);
            let costs = side_by_side(&contenders, self.rounds)?;
            for (contender, cost) in contenders.iter().zip(&costs) {
                let figures = figures(cost, &costs[0], events);
                println!("| {} M | {threads} | {locks} | {} | {figures} |", events / 1_000_000, contender.name);
            }
        }
        println!();
        Ok(())
    }

    /// The phase that compares acquisition histories, on the trace made to be hard for it.
    pub(crate) fn elevator(&self) -> Result<()> {
        println!("## Elevator, 5 threads, 50 locks, 200 variables, 78,000 events\n");
        let input = self.inputs.get(&Wanted { shape: "elevator", extension: "std", ..Wanted::default() })?;
        let contenders = [Contender::new("lockset", &self.interloper, LOCKSET_STATS, &input)];
        let costs = side_by_side(&contenders, self.rounds)?;
        let joins = costs[0].said.lines().filter_map(join_phase);
        let join = joins.min().context("--stats did not say how long the join phase took")?;
        println!("| run | whole run, CPU ms | join phase, ms | peak memory |\n|---|---:|---:|---:|");
        let (cpu, join) = (costs[0].cpu.as_secs_f64() * 1e3, join.as_secs_f64() * 1e3);
        println!("| lockset | {cpu:.1} | {join:.3} | {} |\n", megabytes(costs[0].memory));
        Ok(())
    }

    fn contenders(&self, text: &Path, input: &Path) -> [Contender; 3] {
        [
            Contender::new("floor", &self.floor, &[], text),
            Contender::new("serial", &self.interloper, SERIAL, input),
            Contender::new("lockset", &self.interloper, LOCKSET, input),
        ]
    }
}

fn figures(cost: &Cost, floor: &Cost, events: u64) -> String {
    let ratio = cost.cpu.as_secs_f64() / floor.cpu.as_secs_f64();
    format!(
        "{:.2} | {:.1} | {ratio:.2} | {:.1} | {}",
        cost.cpu.as_secs_f64(),
        per_event(cost.cpu, events),
        rate(cost.wall, events),
        megabytes(cost.memory)
    )
}

fn per_event(time: Duration, events: u64) -> f64 {
    time.as_secs_f64() * 1e9 / events as f64
}

fn rate(time: Duration, events: u64) -> f64 {
    events as f64 / time.as_secs_f64() / 1e6
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn size(file: &Path) -> Result<String> {
    Ok(megabytes(std::fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?.len()))
}

/// The time in a line like `join phase: 1.234 ms`.
fn join_phase(line: &str) -> Option<Duration> {
    let (number, unit) = line.trim().strip_prefix("join phase:")?.trim().split_once(' ')?;
    let seconds = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "µs" | "us" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_join_phase_is_read_from_what_stats_say() {
        assert_eq!(join_phase("join phase: 1.234 ms"), Some(Duration::from_micros(1234)));
        assert_eq!(join_phase("  join phase: 2 s"), Some(Duration::from_secs(2)));
        assert_eq!(join_phase("join phase: 12 µs"), Some(Duration::from_micros(12)));
        assert_eq!(join_phase("join phase: soon"), None);
        assert_eq!(join_phase("join phase: -1 ms"), None);
        assert_eq!(join_phase("profile phase: 1 ms"), None);
    }

    #[test]
    fn figures_are_by_event_and_by_floor() {
        let cost = |milliseconds| Cost {
            cpu: Duration::from_millis(milliseconds),
            wall: Duration::from_millis(milliseconds),
            memory: 4_200_000,
            said: String::new(),
        };
        assert_eq!(figures(&cost(150), &cost(100), 1_000_000), "0.15 | 150.0 | 1.50 | 6.7 | 4.2 MB");
    }
}
