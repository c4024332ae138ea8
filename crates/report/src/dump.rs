//! Events as text, a line each: position, thread, what is done, locks held, where.

use crate::event_text::{details, phrase, place};
use crate::printable::Printable;
use interloper_model::HeldLocks;
use interloper_trace::{Event, EventIndex, Op, Tables};
use std::fmt::Write as _;

/// Renders events, keeping track of the locks each thread holds.
#[derive(Default)]
pub struct Dump {
    held: Vec<HeldLocks>,
}

impl Dump {
    /// Before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows an event without showing it.
    pub fn skip(&mut self, event: &Event) {
        if event.thread.index() >= self.held.len() {
            self.held.resize(event.thread.index() + 1, HeldLocks::default());
        }
        let held = &mut self.held[event.thread.index()];
        match event.op {
            Op::Acquire { lock, mode, .. } => held.acquire(lock, mode),
            Op::Release { lock, .. } => held.release(lock),
            Op::WaitBegin { lock, .. } => held.wait_begin(lock),
            Op::WaitEnd { lock, .. } => held.wait_end(lock),
            _ => return,
        };
    }

    /// Appends the line of an event. The locks shown are those held after it.
    pub fn line(&mut self, out: &mut String, index: EventIndex, event: &Event, tables: &Tables) {
        self.skip(event);
        let thread = Printable(tables.thread(event.thread)).to_string();
        let mut what = phrase(&event.op, tables);
        let details = details(event, tables);
        if !details.is_empty() {
            what.push(' ');
            what.push_str(&details);
        }
        let locks: Vec<&str> = self.held[event.thread.index()].iter().map(|(lock, _)| tables.lock(lock)).collect();
        let site = tables.site(event.site);
        let _ = write!(out, "{:>8}  {thread:<8} {:<28}", index.0, Printable(&what).to_string());
        let _ = write!(out, " {{{}}}  ", Printable(&locks.join(" ")));
        let text = |id| tables.strings.get(id);
        if site.file.is_some() || site.line.is_some() || site.function.is_some() {
            out.push_str(&place(site.file.map(text), site.line, site.function.map(text)));
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}
