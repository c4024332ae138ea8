//! What a trace holds, as text and as JSON.

use crate::printable::Printable;
use crate::wrap::wrapped;
use interloper_model::Census;
use interloper_trace::{RegionSource, Tables, ThreadId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The numbers of a trace, schema `interloper.stats/1`.
#[derive(Clone, Debug, Serialize)]
pub struct Stats {
    schema: &'static str,
    events: u64,
    threads: u64,
    locations: u64,
    locks: u64,
    regions: u64,
    bytes: Option<u64>,
    branches: u64,
    values: u64,
    sites: u64,
    by_kind: BTreeMap<&'static str, u64>,
    by_region_source: BTreeMap<&'static str, u64>,
    by_thread: Vec<ThreadStats>,
    meta: Vec<(String, String)>,
    notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct ThreadStats {
    thread: String,
    events: u64,
}

/// Puts names to numbers.
pub fn stats(census: &Census, tables: &Tables, bytes: Option<u64>, notes: Vec<String>) -> Stats {
    let threads = (0..tables.thread_count()).filter_map(ThreadId::from_index);
    let sources = RegionSource::ALL.into_iter().map(|source| (source.name(), census.region_begins[source as usize]));
    Stats {
        schema: "interloper.stats/1",
        events: census.events,
        threads: census.threads() as u64,
        locations: tables.location_count() as u64,
        locks: tables.lock_count() as u64,
        regions: census.regions,
        bytes,
        branches: census.branches,
        values: census.values,
        sites: tables.site_count() as u64 - 1,
        by_kind: census.by_kind.clone(),
        by_region_source: sources.filter(|(_, begins)| *begins > 0).collect(),
        by_thread: threads
            .map(|thread| ThreadStats { thread: tables.thread(thread).to_owned(), events: census.of_thread(thread) })
            .filter(|thread| thread.events > 0)
            .collect(),
        meta: tables.meta().to_vec(),
        notes,
    }
}

impl Stats {
    /// For people.
    pub fn text(&self) -> String {
        const SHOWN_THREADS: usize = 20;
        let mut out = String::new();
        let mut row = |name: &str, value: String| {
            let _ = writeln!(out, "{}", format_args!("{name:<16}{value}").to_string().trim_end());
        };
        row("events", self.events.to_string());
        row("threads", self.threads.to_string());
        row("locations", self.locations.to_string());
        row("locks", self.locks.to_string());
        row("regions", self.regions.to_string());
        if let Some(bytes) = self.bytes {
            let each = if self.events == 0 { 0.0 } else { bytes as f64 / self.events as f64 };
            row("bytes", format!("{bytes} ({each:.2} an event)"));
        }
        if self.branches > 0 {
            row("branches", self.branches.to_string());
        }
        if self.values > 0 {
            row("values", self.values.to_string());
        }
        for (key, value) in &self.meta {
            row(&Printable(key).to_string(), Printable(value).to_string());
        }
        out.push_str("\nevents by kind\n");
        for (kind, count) in &self.by_kind {
            let _ = writeln!(out, "  {kind:<14}{count:>14}");
        }
        out.push_str("\nevents by thread\n");
        for thread in self.by_thread.iter().take(SHOWN_THREADS) {
            let _ = writeln!(out, "  {:<14}{:>14}", Printable(&thread.thread).to_string(), thread.events);
        }
        if self.by_thread.len() > SHOWN_THREADS {
            let _ =
                writeln!(out, "  and {} more threads (--format json lists all)", self.by_thread.len() - SHOWN_THREADS);
        }
        for note in &self.notes {
            wrapped(&mut out, "note: ", "      ", &Printable(note).to_string());
        }
        out
    }
}
