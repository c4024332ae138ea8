//! How the time to decide every triple grows with events, threads and candidates.

use crate::inputs::Wanted;
use crate::measure::{Contender, side_by_side};
use crate::tables::Bench;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

const CAUSAL: &[&str] = &[
    "analyze",
    "--model",
    "causal",
    "--all",
    "--jobs",
    "1",
    "--budget",
    "10m",
    "--limit",
    "0",
    "--format",
    "json",
    "--no-progress",
];

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
        let [possible, feasible, unknown] = counts(&bench.interloper, &input)?;
        let contenders = [Contender::new("causal", &bench.interloper, CAUSAL, &input)];
        let costs = side_by_side(&contenders, bench.rounds.min(2))?;
        println!(
            "| {events} | {threads} | {widen} | {possible} | {feasible} | {unknown} | {:.1} | {:.0} MB |",
            costs[0].cpu.as_secs_f64(),
            costs[0].memory as f64 / 1e6
        );
    }
    println!();
    Ok(())
}

/// How many triples are possible, feasible and unknown.
fn counts(interloper: &Path, input: &Path) -> Result<[u64; 3]> {
    let output = Command::new(interloper).args(CAUSAL).arg(input).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let count = |name: &str| {
        let (_, rest) = printed.split_once(&format!("\"{name}\": ")).with_context(|| format!("no count of {name}"))?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().with_context(|| format!("the count of {name} is no number"))
    };
    Ok([count("possible")?, count("feasible")?, count("unknown")?])
}
