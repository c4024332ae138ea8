//! Expressions over bit-vectors of one width, and what they mean in plain arithmetic.

use interloper_order_sat::{Lit, Solver, bits::BitVector};
use proptest::prelude::*;

use super::{Formula, Interpretation, Names};

/// An expression whose value is a bit-vector.
#[derive(Clone, Debug)]
pub enum Value {
    Variable(usize),
    Constant(u64),
    Unary(Unary, Box<Value>),
    Binary(Binary, Box<Value>, Box<Value>),
    Ite(Box<Formula>, Box<Value>, Box<Value>),
}

/// Operations on one vector. The last three cut a piece out and make it as wide again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    Not,
    Neg,
    /// Bits `low..=high`, extended with zeros. Both are taken modulo the width, and swapped if need be.
    ZeroExtended(u32, u32),
    /// The same, extended with its sign.
    SignExtended(u32, u32),
    /// The part from this bit on, modulo the width, and above it the part below it.
    Rotated(u32),
}

/// Operations on two vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Udiv,
    Urem,
    Sdiv,
    Srem,
    Shl,
    Lshr,
    Ashr,
    And,
    Or,
    Xor,
}

/// Comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,
}

pub const BINARIES: [Binary; 13] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Udiv,
    Binary::Urem,
    Binary::Sdiv,
    Binary::Srem,
    Binary::Shl,
    Binary::Lshr,
    Binary::Ashr,
    Binary::And,
    Binary::Or,
    Binary::Xor,
];

pub const COMPARISONS: [Comparison; 5] =
    [Comparison::Eq, Comparison::Ult, Comparison::Ule, Comparison::Slt, Comparison::Sle];

/// The low bits of a value.
pub fn cut(width: u32, value: u64) -> u64 {
    if width == 64 { value } else { value & ((1 << width) - 1) }
}

/// The low bits of a value, as a two's complement number.
fn signed(width: u32, value: u64) -> i128 {
    let value = i128::from(cut(width, value));
    if value >> (width - 1) & 1 == 1 { value - (1 << width) } else { value }
}

impl Unary {
    pub fn apply(self, width: u32, a: u64) -> u64 {
        match self {
            Unary::Not => cut(width, !a),
            Unary::Neg => cut(width, a.wrapping_neg()),
            Unary::ZeroExtended(..) => {
                let (high, low) = self.piece(width);
                cut(high - low + 1, a >> low)
            }
            Unary::SignExtended(..) => {
                let (high, low) = self.piece(width);
                cut(width, signed(high - low + 1, a >> low) as u64)
            }
            Unary::Rotated(place) => {
                let place = place % width;
                if place == 0 { a } else { cut(width, a >> place | a << (width - place)) }
            }
        }
    }

    /// The highest and the lowest bit of the piece.
    pub fn piece(self, width: u32) -> (u32, u32) {
        match self {
            Unary::ZeroExtended(a, b) | Unary::SignExtended(a, b) => {
                let (a, b) = (a % width, b % width);
                (a.max(b), a.min(b))
            }
            _ => (width - 1, 0),
        }
    }

    pub fn build(self, solver: &mut Solver, a: &BitVector) -> BitVector {
        let width = a.width();
        let (high, low) = self.piece(width);
        match self {
            Unary::Not => a.not(),
            Unary::Neg => a.neg(solver),
            Unary::ZeroExtended(..) => a.extract(high, low).zero_extend(width),
            Unary::SignExtended(..) => a.extract(high, low).sign_extend(width),
            Unary::Rotated(place) => match place % width {
                0 => a.clone(),
                place => a.extract(place - 1, 0).concat(&a.extract(width - 1, place)),
            },
        }
    }
}

impl Binary {
    pub fn apply(self, width: u32, a: u64, b: u64) -> u64 {
        let (sa, sb) = (signed(width, a), signed(width, b));
        let all = cut(width, u64::MAX);
        let value = match self {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::Udiv => a.checked_div(b).unwrap_or(all),
            Binary::Urem => a.checked_rem(b).unwrap_or(a),
            Binary::Sdiv => sa.checked_div(sb).unwrap_or(if sa < 0 { 1 } else { -1 }) as u64,
            Binary::Srem => sa.checked_rem(sb).unwrap_or(sa) as u64,
            Binary::Shl if b >= u64::from(width) => 0,
            Binary::Lshr if b >= u64::from(width) => 0,
            Binary::Ashr if b >= u64::from(width) => (sa >> 64) as u64,
            Binary::Shl => a << b,
            Binary::Lshr => a >> b,
            Binary::Ashr => (sa >> b) as u64,
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
        };
        cut(width, value)
    }

    pub fn build(self, solver: &mut Solver, a: &BitVector, b: &BitVector) -> BitVector {
        match self {
            Binary::Add => a.add(solver, b),
            Binary::Sub => a.sub(solver, b),
            Binary::Mul => a.mul(solver, b),
            Binary::Udiv => a.udiv(solver, b),
            Binary::Urem => a.urem(solver, b),
            Binary::Sdiv => a.sdiv(solver, b),
            Binary::Srem => a.srem(solver, b),
            Binary::Shl => a.shl(solver, b),
            Binary::Lshr => a.lshr(solver, b),
            Binary::Ashr => a.ashr(solver, b),
            Binary::And => a.and(solver, b),
            Binary::Or => a.or(solver, b),
            Binary::Xor => a.xor(solver, b),
        }
    }
}

impl Comparison {
    pub fn apply(self, width: u32, a: u64, b: u64) -> bool {
        match self {
            Comparison::Eq => a == b,
            Comparison::Ult => a < b,
            Comparison::Ule => a <= b,
            Comparison::Slt => signed(width, a) < signed(width, b),
            Comparison::Sle => signed(width, a) <= signed(width, b),
        }
    }

    pub fn build(self, solver: &mut Solver, a: &BitVector, b: &BitVector) -> Lit {
        match self {
            Comparison::Eq => a.eq(solver, b),
            Comparison::Ult => a.ult(solver, b),
            Comparison::Ule => a.ule(solver, b),
            Comparison::Slt => a.slt(solver, b),
            Comparison::Sle => a.sle(solver, b),
        }
    }
}

impl Value {
    pub fn compute(&self, i: &impl Interpretation) -> u64 {
        let width = i.width();
        match self {
            Value::Variable(index) => i.vector(*index),
            Value::Constant(value) => cut(width, *value),
            Value::Unary(unary, a) => unary.apply(width, a.compute(i)),
            Value::Binary(binary, a, b) => binary.apply(width, a.compute(i), b.compute(i)),
            Value::Ite(condition, a, b) => {
                if condition.holds(i) {
                    a.compute(i)
                } else {
                    b.compute(i)
                }
            }
        }
    }

    pub fn vector(&self, solver: &mut Solver, names: &Names) -> BitVector {
        match self {
            Value::Variable(index) => names.vectors[*index].clone(),
            Value::Constant(value) => BitVector::constant(names.width, *value),
            Value::Unary(unary, a) => {
                let a = a.vector(solver, names);
                unary.build(solver, &a)
            }
            Value::Binary(binary, a, b) => {
                let (a, b) = (a.vector(solver, names), b.vector(solver, names));
                binary.build(solver, &a, &b)
            }
            Value::Ite(condition, a, b) => {
                let condition = condition.literal(solver, names);
                let (a, b) = (a.vector(solver, names), b.vector(solver, names));
                BitVector::ite(solver, condition, &a, &b)
            }
        }
    }

    /// Applies `change` to each formula within, and makes the numbers of variables small enough.
    pub fn wrap(&mut self, vectors: usize, change: &mut impl FnMut(&mut Formula)) {
        match self {
            Value::Variable(index) => *index %= vectors,
            Value::Constant(_) => {}
            Value::Unary(_, a) => a.wrap(vectors, change),
            Value::Binary(_, a, b) => {
                a.wrap(vectors, change);
                b.wrap(vectors, change);
            }
            Value::Ite(condition, a, b) => {
                change(condition);
                a.wrap(vectors, change);
                b.wrap(vectors, change);
            }
        }
    }
}

/// Values that are often at an edge.
pub fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![3 => any::<u64>(), 2 => 0..4_u64, 1 => (0..64_u32).prop_map(|place| 1 << place), 1 => Just(u64::MAX)]
}

pub fn unaries() -> impl Strategy<Value = Unary> {
    prop_oneof![
        Just(Unary::Not),
        Just(Unary::Neg),
        (0..64_u32, 0..64_u32).prop_map(|(a, b)| Unary::ZeroExtended(a, b)),
        (0..64_u32, 0..64_u32).prop_map(|(a, b)| Unary::SignExtended(a, b)),
        (0..64_u32).prop_map(Unary::Rotated),
    ]
}

/// Expressions; `condition` makes those that an `ite` asks for.
pub fn values(condition: impl Strategy<Value = Formula> + 'static) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![3 => (0..3_usize).prop_map(Value::Variable), 1 => numbers().prop_map(Value::Constant)];
    let condition = condition.boxed();
    leaf.prop_recursive(2, 6, 2, move |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            2 => (unaries(), inner).prop_map(|(unary, a)| Value::Unary(unary, Box::new(a))),
            6 => (prop::sample::select(&BINARIES[..]), pair.clone())
                .prop_map(|(binary, (a, b))| Value::Binary(binary, Box::new(a), Box::new(b))),
            1 => (condition.clone(), pair)
                .prop_map(|(condition, (a, b))| Value::Ite(Box::new(condition), Box::new(a), Box::new(b))),
        ]
    })
}
