//! What depends on what threads read, as far as the trace says it.
//!
//! See *Values that may change* in the rules. Without bound reads there is nothing to be found here, and nothing
//! is kept.

use interloper_trace::{BoundValue, Event, Expr, ExprId, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// An expression of more reads than that is not clear.
const MOST_READS: usize = 64;

/// On which reads something depends.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Needs {
    /// On all loose reads of its thread so far.
    All,
    /// On these.
    Reads(Vec<usize>),
}

/// Which reads may return anything, and what depends on them.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    loose: FxHashSet<usize>,
    /// What the path depends on, by assumption.
    assumptions: FxHashMap<usize, Needs>,
    /// What the values depend on that writes leave; writes that depend on no loose read are not listed.
    written: FxHashMap<usize, Needs>,
}

impl Flow {
    pub(super) fn new(events: &[Event]) -> Flow {
        let candidates = candidates(events);
        if candidates.is_empty() {
            return Flow::default();
        }
        let mut expressions = Expressions::new(events, &candidates);
        let mentions: Vec<Option<Needs>> = (0..events.len()).map(|at| expressions.event(at)).collect();
        let Expressions { rejected, accesses, .. } = expressions;
        let loose: FxHashSet<usize> = candidates.values().copied().filter(|read| !rejected.contains(read)).collect();
        let mut flow = Flow { loose, ..Flow::default() };
        let mut has_loose: FxHashSet<ThreadId> = FxHashSet::default();
        for (at, event) in events.iter().enumerate() {
            match event.op {
                Op::Read(_) if flow.loose.contains(&at) => {
                    has_loose.insert(event.thread);
                }
                Op::Write(_) if has_loose.contains(&event.thread) => {
                    flow.written.insert(at, Needs::All);
                }
                _ => {}
            }
        }
        // What is bound is bound to all its expressions: mostly there is one.
        let mut bound: FxHashMap<usize, Needs> = FxHashMap::default();
        for (at, needs) in mentions.into_iter().enumerate() {
            let Some(needs) = needs else { continue };
            let needs = flow.only_loose(needs);
            match (events[at].op, accesses.get(&at)) {
                (Op::Assume { .. }, _) => {
                    flow.assumptions.insert(at, needs);
                }
                (Op::Bind { of: BoundValue::Written, .. }, Some(&write)) => {
                    let known = bound.remove(&write).unwrap_or(Needs::Reads(Vec::new()));
                    bound.insert(write, known.and(needs));
                }
                _ => {}
            }
        }
        for (write, needs) in bound {
            if needs == Needs::Reads(Vec::new()) {
                flow.written.remove(&write);
            } else if let Some(known) = flow.written.get_mut(&write) {
                *known = needs;
            }
        }
        flow
    }

    /// Whether a read may return anything.
    pub(super) fn is_loose(&self, read: usize) -> bool {
        self.loose.contains(&read)
    }

    /// Whether what a write leaves depends on any loose read.
    pub(super) fn is_dependent(&self, write: usize) -> bool {
        self.written.contains_key(&write)
    }

    /// The first of the reads that were not satisfied, `strayed`, on which it depends whether an event happens.
    pub(super) fn led_astray(&self, events: &[Event], at: usize, strayed: &[usize]) -> Option<usize> {
        let needs = match events[at].op {
            Op::Branch { .. } | Op::ReadModifyWrite(_) | Op::Fork(_) => &Needs::All,
            Op::Assume { .. } => self.assumptions.get(&at)?,
            _ => return None,
        };
        needs.first(events, events[at].thread, strayed)
    }

    /// Whether what a write leaves depends on a read that was not satisfied.
    pub(super) fn is_doubtful(&self, events: &[Event], write: usize, strayed: &[usize]) -> bool {
        let needs = self.written.get(&write);
        needs.is_some_and(|needs| needs.first(events, events[write].thread, strayed).is_some())
    }

    fn only_loose(&self, needs: Needs) -> Needs {
        match needs {
            Needs::All => Needs::All,
            Needs::Reads(reads) => Needs::Reads(reads.into_iter().filter(|read| self.is_loose(*read)).collect()),
        }
    }
}

impl Needs {
    fn reads(&self) -> &[usize] {
        match self {
            Needs::All => &[],
            Needs::Reads(reads) => reads,
        }
    }

    fn and(self, other: Needs) -> Needs {
        match (self, other) {
            (Needs::Reads(one), Needs::Reads(other)) => Needs::Reads(one.into_iter().chain(other).collect()),
            _ => Needs::All,
        }
    }

    fn first(&self, events: &[Event], thread: ThreadId, strayed: &[usize]) -> Option<usize> {
        let is_needed = |read: &usize| match self {
            // What has strayed has been executed, so it comes before.
            Needs::All => events[*read].thread == thread,
            Needs::Reads(reads) => reads.contains(read),
        };
        strayed.iter().copied().find(is_needed)
    }
}

/// The bound reads, by the event that binds them: those that are a step of their own.
fn candidates(events: &[Event]) -> FxHashMap<usize, usize> {
    /// What a thread did last.
    #[derive(Default)]
    struct Last {
        /// The access or input, and whether that is a read and a step of its own.
        value: Option<(usize, bool)>,
        /// The step goes on.
        continued: bool,
    }
    let mut threads: FxHashMap<ThreadId, Last> = FxHashMap::default();
    let mut candidates = FxHashMap::default();
    for (at, event) in events.iter().enumerate() {
        let last = threads.entry(event.thread).or_default();
        let more = match event.op {
            Op::Bind { of: BoundValue::Read, .. } => {
                if let Some((read, true)) = last.value {
                    candidates.insert(at, read);
                }
                continue;
            }
            Op::Read(access) | Op::Write(access) => access.more,
            Op::ReadModifyWrite(rmw) => rmw.more,
            Op::Input { .. } => {
                last.value = Some((at, false));
                continue;
            }
            ref op if super::is_effect_free(op) => continue,
            _ => {
                last.continued = false;
                continue;
            }
        };
        let is_continued = std::mem::replace(&mut last.continued, more);
        let is_alone = !more && !is_continued;
        last.value = Some((at, is_alone && matches!(event.op, Op::Read(_))));
    }
    candidates
}

/// What expressions are made of, as the trace goes on.
struct Expressions<'t> {
    events: &'t [Event],
    /// By the event that binds.
    candidates: &'t FxHashMap<usize, usize>,
    /// How often each is introduced.
    introduced: FxHashMap<ExprId, u32>,
    known: FxHashMap<ExprId, Needs>,
    /// Bound reads that have to be satisfied all the same.
    rejected: FxHashSet<usize>,
    /// Each thread's last access or input.
    last: FxHashMap<ThreadId, usize>,
    /// The access that each binding is about.
    accesses: FxHashMap<usize, usize>,
}

impl<'t> Expressions<'t> {
    fn new(events: &'t [Event], candidates: &'t FxHashMap<usize, usize>) -> Self {
        let mut introduced: FxHashMap<ExprId, u32> = FxHashMap::default();
        for event in events {
            if let Op::Define { id: expr, .. } | Op::Bind { expr, of: BoundValue::Read } = event.op {
                *introduced.entry(expr).or_default() += 1;
            }
        }
        Expressions {
            events,
            candidates,
            introduced,
            known: FxHashMap::default(),
            rejected: FxHashSet::default(),
            last: FxHashMap::default(),
            accesses: FxHashMap::default(),
        }
    }

    /// Takes in the next event; what it depends on, if it mentions an expression.
    fn event(&mut self, at: usize) -> Option<Needs> {
        let Event { thread, op, .. } = self.events[at];
        match op {
            Op::Read(_) | Op::Write(_) | Op::ReadModifyWrite(_) | Op::Input { .. } => {
                self.last.insert(thread, at);
                None
            }
            Op::Define { id, expr } => {
                let needs = match expr {
                    Expr::Constant { .. } => Needs::Reads(Vec::new()),
                    Expr::Apply { operands, .. } => {
                        let operands = operands.map(|operand| self.mention(thread, operand));
                        self.apply(id, operands)
                    }
                };
                self.known.insert(id, needs);
                None
            }
            Op::Bind { expr, of: BoundValue::Read } => {
                let needs = match (self.candidates.get(&at), self.last.get(&thread)) {
                    (Some(&read), _) => {
                        if self.introduced.get(&expr) != Some(&1) {
                            self.rejected.insert(read);
                        }
                        Needs::Reads(vec![read])
                    }
                    (None, Some(last)) if !matches!(self.events[*last].op, Op::Write(_)) => Needs::Reads(Vec::new()),
                    (None, _) => Needs::All,
                };
                self.known.insert(expr, needs);
                None
            }
            Op::Bind { expr, of: BoundValue::Written } => {
                self.accesses.extend(self.last.get(&thread).map(|last| (at, *last)));
                Some(self.mention(thread, expr))
            }
            Op::Assume { expr, .. } => Some(self.mention(thread, expr)),
            _ => None,
        }
    }

    /// A thread makes use of an expression.
    fn mention(&mut self, thread: ThreadId, expr: ExprId) -> Needs {
        let known = self.known.get(&expr).filter(|_| self.introduced.get(&expr) == Some(&1));
        let needs = known.cloned().unwrap_or(Needs::All);
        self.rejected.extend(needs.reads().iter().filter(|read| self.events[**read].thread != thread));
        needs
    }

    /// What an expression is made of, given what its operands are.
    fn apply(&mut self, id: ExprId, operands: [Needs; 3]) -> Needs {
        let mut reads: Vec<usize> = operands.iter().flat_map(Needs::reads).copied().collect();
        reads.sort_unstable();
        reads.dedup();
        if self.introduced.get(&id) == Some(&1) && !operands.contains(&Needs::All) && reads.len() <= MOST_READS {
            return Needs::Reads(reads);
        }
        self.rejected.extend(reads);
        Needs::All
    }
}
