//! How the time to decide every triple grows with events, threads and candidates.

use crate::inputs::Wanted;
use crate::measure::{Limited, limited};
use crate::tables::Bench;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::Path;

const CAUSAL: &str = "analyze --model causal --all --jobs 1 --budget 10m --limit 0 --format json --no-progress";

/// CPU seconds for a run: more than its budget.
const LONGEST: u64 = 900;

/// Events, threads, and how many transactions a region spans: the wider, the more candidates.
const SIZES: [(u64, u32, u32); 8] = [
    (10_000, 8, 3),
    (30_000, 8, 3),
    (100_000, 8, 3),
    (100_000, 2, 3),
    (100_000, 4, 3),
    (100_000, 16, 3),
    (100_000, 8, 2),
    (100_000, 8, 5),
];

/// Prints the table. A run takes long, so that two rounds have to do.
pub(crate) fn print(bench: &Bench) -> Result<()> {
    println!("## Deciding: bank, every triple, one core\n");
    println!("| events | threads | regions widened | possible triples | feasible | unknown | CPU s | peak memory |");
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (events, threads, widen) in SIZES {
        let wanted = Wanted {
            shape: "bank",
            extension: "ilt",
            events: Some(events),
            threads: Some(threads),
            widen: Some(widen),
            ..Wanted::default()
        };
        let input = bench.inputs.get(&wanted)?;
        let (first, second) = (decide(bench, &input)?, decide(bench, &input)?);
        let [possible, feasible, unknown] = counts(&first.printed)?;
        let (cpu, memory) = (first.cost.cpu.min(second.cost.cpu), first.cost.memory.min(second.cost.memory));
        println!(
            "| {events} | {threads} | {widen} | {possible} | {feasible} | {unknown} | {:.1} | {:.0} MB |",
            cpu.as_secs_f64(),
            memory as f64 / 1e6
        );
    }
    println!();
    Ok(())
}

fn decide(bench: &Bench, input: &Path) -> Result<Limited> {
    let mut command = vec![bench.interloper.clone().into()];
    command.extend(CAUSAL.split(' ').map(OsString::from));
    command.push(input.into());
    // Something found, nothing found, or something left undecided: that is in the table.
    limited(&command, &[0, 1, 3], LONGEST)
}

/// How many triples are possible, feasible and unknown, as a result says it.
fn counts(printed: &str) -> Result<[u64; 3]> {
    let count = |name: &str| {
        let (_, rest) = printed.split_once(&format!("\"{name}\": ")).with_context(|| format!("no count of {name}"))?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().with_context(|| format!("the count of {name} is no number"))
    };
    Ok([count("possible")?, count("feasible")?, count("unknown")?])
}
