//! How fast a trace file is read, without and with the well-formedness check:
//! `cargo run --release -p interloper-trace --example read_throughput -- FILE`.

use interloper_trace::EventSource;
use interloper_trace::file::{Format, ReadOptions, TraceReader};
use interloper_trace::std_format::StdReader;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read_throughput FILE")?;
    let path = Path::new(&path);
    for _ in 0..3 {
        if Format::of_path(path) == Some(Format::Std) {
            measure("parsed", &mut StdReader::new(File::open(path)?))?;
        }
        measure("checked", &mut TraceReader::open(path, ReadOptions::default())?)?;
    }
    Ok(())
}

fn measure(what: &str, source: &mut dyn EventSource) -> Result<(), Box<dyn std::error::Error>> {
    let begun = Instant::now();
    let mut batch = Vec::new();
    let mut events = 0;
    loop {
        source.next_batch(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        events += batch.len();
    }
    println!("{what}: {:.1} ns an event", begun.elapsed().as_secs_f64() * 1e9 / events as f64);
    Ok(())
}
