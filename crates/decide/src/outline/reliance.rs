//! Which reads may find something else without their thread noticing, and who would pass it on.
//!
//! What is called *loose*, and what depends on what, is said by the rules in `interloper_witness::interpret`.

use interloper_trace::{BoundValue, Event, Expr, ExprId, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// So many reads an expression may be made of to be clear.
const WIDEST: usize = 64;

/// On which reads of its thread an event relies, by number of the event.
#[derive(Clone, Debug)]
pub(super) enum Reliance {
    /// On every one before it.
    OnAll,
    On(Vec<u64>),
}

/// What a trace says about the reads that its threads rely on.
#[derive(Debug, Default)]
pub(super) struct Reliances {
    loose: FxHashSet<u64>,
    /// Of assumptions, and of writes that are bound.
    of_event: FxHashMap<u64, Reliance>,
    /// Writes that may leave something else than they left.
    dependent: FxHashSet<u64>,
}

impl Reliances {
    pub(super) fn survey(events: &[Event]) -> Reliances {
        if !events.iter().any(|event| matches!(event.op, Op::Bind { of: BoundValue::Read, .. })) {
            return Reliances::default();
        }
        let mut reading = Reading { introductions: introductions(events), ..Reading::default() };
        for (at, event) in (0..).zip(events) {
            reading.take(at, event);
        }
        let Reading { mut bound, strict, uses, .. } = reading;
        bound.retain(|read| !strict.contains(read));
        let mut reliances = Reliances { loose: bound, ..Reliances::default() };
        for (event, made) in uses {
            let known = reliances.of_event.remove(&event);
            let reliance = match (known, made) {
                (Some(Reliance::OnAll), _) | (_, Made::Unclear) => Reliance::OnAll,
                (known, Made::Of(reads)) => {
                    let known = if let Some(Reliance::On(known)) = known { known } else { Vec::new() };
                    let loose = reads.iter().copied().filter(|read| reliances.loose.contains(read));
                    Reliance::On(known.into_iter().chain(loose).collect())
                }
            };
            reliances.of_event.insert(event, reliance);
        }
        let mut have_read: FxHashSet<ThreadId> = FxHashSet::default();
        for (at, event) in (0..).zip(events) {
            if reliances.is_loose(at) {
                have_read.insert(event.thread);
            }
            let relies = !matches!(reliances.of_event.get(&at), Some(Reliance::On(reads)) if reads.is_empty());
            if matches!(event.op, Op::Write(_)) && relies && have_read.contains(&event.thread) {
                reliances.dependent.insert(at);
            }
        }
        reliances
    }

    pub(super) fn is_loose(&self, event: u64) -> bool {
        self.loose.contains(&event)
    }

    pub(super) fn is_dependent(&self, write: u64) -> bool {
        self.dependent.contains(&write)
    }

    /// On what an assumption or a write relies.
    pub(super) fn of(&self, event: u64) -> &Reliance {
        self.of_event.get(&event).unwrap_or(&Reliance::OnAll)
    }
}

/// How often an expression comes into the trace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Introduced {
    Once,
    Repeatedly,
}

fn introductions(events: &[Event]) -> FxHashMap<ExprId, Introduced> {
    let mut introductions: FxHashMap<ExprId, Introduced> = FxHashMap::default();
    for event in events {
        if let Op::Define { id: expr, .. } | Op::Bind { expr, of: BoundValue::Read } = event.op {
            introductions.entry(expr).and_modify(|known| *known = Introduced::Repeatedly).or_insert(Introduced::Once);
        }
    }
    introductions
}

/// The reads that an expression is made of.
#[derive(Clone, Debug)]
enum Made {
    Of(Rc<[u64]>),
    Unclear,
}

/// What the events so far have said.
#[derive(Default)]
struct Reading {
    introductions: FxHashMap<ExprId, Introduced>,
    made: FxHashMap<ExprId, Made>,
    threads: FxHashMap<ThreadId, Recent>,
    /// Who did the reads that are bound.
    readers: FxHashMap<u64, ThreadId>,
    bound: FxHashSet<u64>,
    /// Bound reads that are not loose.
    strict: FxHashSet<u64>,
    uses: Vec<(u64, Made)>,
}

/// What a thread did last.
#[derive(Clone, Copy, Default)]
struct Recent {
    /// Its last access or input.
    value: Option<Source>,
    /// That access goes on with the next.
    goes_on: bool,
}

#[derive(Clone, Copy)]
enum Source {
    /// A read that is a step of its own.
    Read(u64),
    Write(u64),
    /// What is always as it was.
    Other,
}

impl Reading {
    fn take(&mut self, at: u64, event: &Event) {
        let thread = event.thread;
        match event.op {
            Op::Read(access) => self.access(thread, access.more, Source::Read(at)),
            Op::Write(access) => self.access(thread, access.more, Source::Write(at)),
            Op::ReadModifyWrite(rmw) => self.access(thread, rmw.more, Source::Other),
            Op::Input { .. } => self.threads.entry(thread).or_default().value = Some(Source::Other),
            Op::Define { id, expr } => {
                let made = match expr {
                    Expr::Constant { .. } => Made::Of(Rc::from([])),
                    Expr::Apply { operands, .. } => self.compose(thread, id, &operands),
                };
                self.made.insert(id, made);
            }
            Op::Bind { expr, of: BoundValue::Read } => self.bind(thread, expr),
            Op::Bind { expr, of: BoundValue::Written } => {
                let made = self.mention(thread, expr);
                if let Some(Source::Write(write)) = self.threads.get(&thread).and_then(|recent| recent.value) {
                    self.uses.push((write, made));
                }
            }
            Op::Assume { expr, .. } => {
                let made = self.mention(thread, expr);
                self.uses.push((at, made));
            }
            Op::Fence(_)
            | Op::Request(_)
            | Op::Start
            | Op::Finish
            | Op::Branch { .. }
            | Op::Enter { .. }
            | Op::Exit
            | Op::RegionBegin(_)
            | Op::RegionEnd(_)
            | Op::Mark { .. } => {}
            _ => self.threads.entry(thread).or_default().goes_on = false,
        }
    }

    fn access(&mut self, thread: ThreadId, more: bool, source: Source) {
        let recent = self.threads.entry(thread).or_default();
        let is_piece = more || recent.goes_on;
        let is_strict = is_piece && matches!(source, Source::Read(_));
        *recent = Recent { value: Some(if is_strict { Source::Other } else { source }), goes_on: more };
    }

    fn bind(&mut self, thread: ThreadId, variable: ExprId) {
        let made = match self.threads.get(&thread).and_then(|recent| recent.value) {
            Some(Source::Read(read)) => {
                self.bound.insert(read);
                self.readers.insert(read, thread);
                if !self.is_only(variable) {
                    self.strict.insert(read);
                }
                Made::Of(Rc::from([read]))
            }
            Some(Source::Other) => Made::Of(Rc::from([])),
            Some(Source::Write(_)) | None => Made::Unclear,
        };
        self.made.insert(variable, made);
    }

    /// Whether one event alone introduces an expression.
    fn is_only(&self, expr: ExprId) -> bool {
        self.introductions.get(&expr) == Some(&Introduced::Once)
    }

    /// A thread makes use of an expression, which may be another's.
    fn mention(&mut self, thread: ThreadId, expr: ExprId) -> Made {
        let made = self.made.get(&expr).filter(|_| self.is_only(expr)).cloned().unwrap_or(Made::Unclear);
        if let Made::Of(reads) = &made {
            let foreign = reads.iter().filter(|read| self.readers.get(read) != Some(&thread));
            self.strict.extend(foreign);
        }
        made
    }

    fn compose(&mut self, thread: ThreadId, id: ExprId, operands: &[ExprId]) -> Made {
        let mut all: Vec<u64> = Vec::new();
        let mut is_clear = self.is_only(id);
        for operand in operands {
            match self.mention(thread, *operand) {
                Made::Of(reads) => all.extend(reads.iter()),
                Made::Unclear => is_clear = false,
            }
        }
        all.sort_unstable();
        all.dedup();
        if is_clear && all.len() <= WIDEST {
            return Made::Of(Rc::from(all));
        }
        self.strict.extend(all);
        Made::Unclear
    }
}
