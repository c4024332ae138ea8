//! Events as text, a line each: position, thread, what is done, locks held, where.

use crate::event_text::{details, phrase, place};
use crate::printable::Printable;
use interloper_model::{HeldLocks, Nesting};
use interloper_trace::{Event, EventIndex, Tables};
use std::fmt::Write as _;

/// Renders events, keeping track of the locks each thread holds.
#[derive(Default)]
pub struct Dump {
    locks: Nesting,
}

impl Dump {
    /// Before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows an event without showing it.
    pub fn skip(&mut self, index: EventIndex, event: &Event) {
        self.locks.follow(index, event);
    }

    /// Appends the line of an event. The locks shown are those held after it.
    pub fn line(&mut self, out: &mut String, index: EventIndex, event: &Event, tables: &Tables) {
        self.skip(index, event);
        let thread = Printable(tables.thread(event.thread)).to_string();
        let mut what = phrase(&event.op, tables);
        let details = details(event, tables);
        if !details.is_empty() {
            what.push(' ');
            what.push_str(&details);
        }
        let held = self.locks.held(event.thread).into_iter().flat_map(HeldLocks::iter);
        let locks: Vec<&str> = held.map(|(lock, _)| tables.lock(lock)).collect();
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
