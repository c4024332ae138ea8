//! Expressions of a made-up run: what threads say about where values go.

use super::simulation::Simulation;
use interloper_trace::{BoundValue, Expr, ExprId, Op, Operator};

impl Simulation {
    pub(super) fn define(&mut self, thread: u32, with: u32, value: u8) {
        let expr = match with % 4 {
            0 => Expr::Constant { width: 8, bits: u64::from(value) },
            _ => {
                let [one, other] = [with, with.rotate_right(3)].map(|with| self.expression(thread, with));
                Expr::Apply { operator: Operator::Add, width: 8, operands: [one, other, other] }
            }
        };
        let id = self.introduce(thread, value);
        self.push(thread, Op::Define { id, expr });
    }

    /// Binds what was accessed last, mostly.
    pub(super) fn bind(&mut self, thread: u32, op: Op, value: u8) {
        let dice = value >> 5;
        match op {
            Op::Write(_) if dice.is_multiple_of(2) => {
                let expr = self.expression(thread, u32::from(value) >> 2);
                self.push(thread, Op::Bind { expr, of: BoundValue::Written });
            }
            Op::Read(_) | Op::ReadModifyWrite(_) if dice < 5 => {
                let expr = self.introduce(thread, value);
                self.push(thread, Op::Bind { expr, of: BoundValue::Read });
            }
            _ => {}
        }
    }

    /// An expression for a thread to mention: mostly one of its own, but it may be another's, or not there.
    pub(super) fn expression(&self, thread: u32, with: u32) -> ExprId {
        let own: Vec<ExprId> = self.expressions.iter().filter(|known| known.0 == thread).map(|known| known.1).collect();
        let with = with as usize;
        match with % 16 {
            15 => self.expressions.get(with / 16).map_or(ExprId::new(99), |known| known.1),
            _ => own.get(own.len().wrapping_sub(1 + with / 3 % 3)).copied().unwrap_or(ExprId::new(99)),
        }
    }

    /// A new expression; rarely one that has been introduced before.
    fn introduce(&mut self, thread: u32, value: u8) -> ExprId {
        let again = self.expressions.first().filter(|_| value % 32 == 31).map(|known| known.1);
        let id = again.unwrap_or(ExprId::new(self.expressions.len() as u32));
        self.expressions.push((thread, id));
        id
    }
}
