//! The rules about values that may change, to the letter: everything is looked up anew each time.

use super::naive::{Naive, Run, access, has_effect};
use interloper_trace::{BoundValue, Event, Expr, ExprId, Op};
use std::collections::BTreeSet;

impl Naive<'_> {
    fn earlier_loose(&self, at: usize) -> BTreeSet<usize> {
        let thread = self.event(at).thread;
        (0..at).filter(|&read| self.event(read).thread == thread && self.is_loose(read)).collect()
    }

    /// The events that a thread comes by when it executes its next one with an effect, which is the last of them.
    pub(super) fn on_the_way(&self, run: &Run, at: usize) -> Vec<usize> {
        let mine = self.all().take(at + 1).filter(|(_, event)| event.thread == self.event(at).thread);
        let mut way: Vec<usize> = mine.map(|(at, _)| at).collect();
        let last = way.iter().rposition(|event| run.executed.contains(event)).map_or(0, |last| last + 1);
        way.drain(..last);
        way
    }

    /// The loose reads on which it depends whether an event happens.
    pub(super) fn decides(&self, at: usize) -> BTreeSet<usize> {
        match self.event(at).op {
            Op::Branch { .. } | Op::ReadModifyWrite(_) | Op::Fork(_) => self.earlier_loose(at),
            Op::Assume { expr, .. } => self.loose_reads_of(expr, at),
            _ => BTreeSet::new(),
        }
    }

    fn loose_reads_of(&self, expr: ExprId, at: usize) -> BTreeSet<usize> {
        match self.is_clear(expr, at) {
            true => self.made_of(expr).into_iter().filter(|&read| self.is_loose(read)).collect(),
            false => self.earlier_loose(at),
        }
    }

    /// The loose reads on which the value of a write depends.
    pub(super) fn written_from(&self, write: usize) -> BTreeSet<usize> {
        let mut exprs = self.bindings(write, BoundValue::Written).into_iter().peekable();
        if exprs.peek().is_none() {
            return self.earlier_loose(write);
        }
        exprs.flat_map(|(at, expr)| self.loose_reads_of(expr, at)).collect()
    }

    /// Where an access or input is bound, and to what.
    fn bindings(&self, at: usize, which: BoundValue) -> Vec<(usize, ExprId)> {
        let mine = self.all().skip(at + 1).filter(|(_, event)| event.thread == self.event(at).thread);
        let mine = mine.take_while(|(_, event)| access(&event.op).is_none() && !matches!(event.op, Op::Input { .. }));
        mine.filter_map(|(at, event)| match event.op {
            Op::Bind { expr, of } if of == which => Some((at, expr)),
            _ => None,
        })
        .collect()
    }

    fn introductions(&self, expr: ExprId) -> Vec<usize> {
        let introduces = |op: &Op| match *op {
            Op::Define { id, .. } => id == expr,
            Op::Bind { expr: bound, of: BoundValue::Read } => bound == expr,
            _ => false,
        };
        self.all().filter(|(_, event)| introduces(&event.op)).map(|(at, _)| at).collect()
    }

    fn is_clear(&self, expr: ExprId, at: usize) -> bool {
        let [introduction] = self.introductions(expr)[..] else { return false };
        let operands = self.operands(introduction);
        let binds = (0..introduction).any(|value| {
            let is_value = matches!(self.event(value).op, Op::Read(_) | Op::ReadModifyWrite(_) | Op::Input { .. });
            is_value && self.bindings(value, BoundValue::Read).iter().any(|(bind, _)| *bind == introduction)
        });
        let introduces = binds || matches!(self.event(introduction).op, Op::Define { .. });
        let is_clear = operands.iter().all(|operand| self.is_clear(*operand, introduction));
        introduction < at && introduces && is_clear && self.made_of(expr).len() <= 64
    }

    /// The reads that a clear expression is made of, among those that a variable may stand for.
    fn made_of(&self, expr: ExprId) -> BTreeSet<usize> {
        let [introduction] = self.introductions(expr)[..] else { return BTreeSet::new() };
        let operands = self.operands(introduction);
        let bound = (0..introduction).filter(|&read| {
            let bindings = || self.bindings(read, BoundValue::Read);
            matches!(self.event(read).op, Op::Read(_)) && bindings().iter().any(|(bind, _)| *bind == introduction)
        });
        bound.chain(operands.into_iter().flat_map(|operand| self.made_of(operand))).collect()
    }

    fn operands(&self, at: usize) -> Vec<ExprId> {
        match self.event(at).op {
            Op::Define { expr: Expr::Apply { operands, .. }, .. } => operands.to_vec(),
            _ => Vec::new(),
        }
    }

    pub(super) fn is_loose(&self, read: usize) -> bool {
        let Event { thread, op, .. } = *self.event(read);
        let before = self.all().take(read).filter(|(_, event)| event.thread == thread && has_effect(&event.op));
        let goes_on = before.last().and_then(|(_, event)| access(&event.op)).is_some_and(|(.., more)| more);
        let is_alone = matches!(op, Op::Read(access) if !access.more) && !goes_on;
        let variables = self.bindings(read, BoundValue::Read);
        let is_bound = !variables.is_empty() && variables.iter().all(|(_, expr)| self.introductions(*expr).len() == 1);
        let forbids = |at: usize, event: &Event| {
            let mentioned = match event.op {
                Op::Assume { expr, .. } | Op::Bind { expr, of: BoundValue::Written } => vec![expr],
                _ => self.operands(at),
            };
            let is_unclear = match event.op {
                Op::Define { id, .. } => !self.is_clear(id, at + 1),
                _ => false,
            };
            mentioned.iter().any(|expr| {
                let is_in = self.is_clear(*expr, at) && self.made_of(*expr).contains(&read);
                is_in && (is_unclear || event.thread != thread)
            })
        };
        is_alone && is_bound && !self.all().any(|(at, event)| forbids(at, event))
    }
}
