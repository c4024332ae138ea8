//! Scripts as SMT-LIB 2, for another solver to answer: nodes are different integers.

use std::fmt::Write as _;

use super::bits::{Binary, Comparison, Unary, Value, cut};
use super::{Formula, Script, Step};

/// The whole script. Each solving becomes a `check-sat`.
pub fn print(script: &Script) -> String {
    let mut text = String::new();
    let mut nodes = script.nodes;
    for index in 0..script.booleans {
        line(&mut text, format_args!("(declare-const b{index} Bool)"));
    }
    for index in 0..script.vectors {
        line(&mut text, format_args!("(declare-const v{index} (_ BitVec {}))", script.width));
    }
    for index in 0..nodes {
        line(&mut text, format_args!("(declare-const n{index} Int)"));
    }
    distinct(&mut text, nodes);
    for step in &script.steps {
        match step {
            Step::Node => {
                line(&mut text, format_args!("(declare-const n{nodes} Int)"));
                nodes += 1;
                distinct(&mut text, nodes);
            }
            Step::Edge(a, b) => line(&mut text, format_args!("(assert (< n{a} n{b}))")),
            Step::Clause(parts) => {
                line(&mut text, format_args!("(assert {})", list("or", "false", parts, script.width)))
            }
            Step::AtMostOne(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| formula(part, script.width)).collect();
                for (place, first) in parts.iter().enumerate() {
                    for second in &parts[place + 1..] {
                        line(&mut text, format_args!("(assert (not (and {first} {second})))"));
                    }
                }
            }
            Step::Hint(_) | Step::Glance(_) => {}
            Step::Solve(assumed) => {
                let assumed = list("and", "true", assumed, script.width);
                line(&mut text, format_args!("(push)\n(assert {assumed})\n(check-sat)\n(pop)"));
            }
        }
    }
    text
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a string takes all");
}

fn distinct(text: &mut String, nodes: usize) {
    let names: String = (0..nodes).map(|index| format!(" n{index}")).collect();
    line(text, format_args!("(assert (distinct{names}))"));
}

/// An `and` or `or`, which SMT-LIB wants to have arguments.
fn list(operator: &str, empty: &str, parts: &[Formula], width: u32) -> String {
    if parts.is_empty() {
        return empty.to_owned();
    }
    let parts: String = parts.iter().map(|part| format!(" {}", formula(part, width))).collect();
    format!("({operator}{parts})")
}

fn formula(of: &Formula, width: u32) -> String {
    match of {
        Formula::Boolean(index) => format!("b{index}"),
        Formula::Before(a, b) => format!("(< n{a} n{b})"),
        Formula::Not(inner) => format!("(not {})", formula(inner, width)),
        Formula::And(parts) => list("and", "true", parts, width),
        Formula::Or(parts) => list("or", "false", parts, width),
        Formula::Compare(comparison, a, b) => {
            let operator = match comparison {
                Comparison::Eq => "=",
                Comparison::Ult => "bvult",
                Comparison::Ule => "bvule",
                Comparison::Slt => "bvslt",
                Comparison::Sle => "bvsle",
            };
            format!("({operator} {} {})", value(a, width), value(b, width))
        }
    }
}

fn value(of: &Value, width: u32) -> String {
    match of {
        Value::Variable(index) => format!("v{index}"),
        Value::Constant(number) => format!("(_ bv{} {width})", cut(width, *number)),
        Value::Unary(unary, a) => {
            let a = value(a, width);
            let (high, low) = unary.piece(width);
            let missing = width - (high - low + 1);
            match unary {
                Unary::Not => format!("(bvnot {a})"),
                Unary::Neg => format!("(bvneg {a})"),
                Unary::ZeroExtended(..) => format!("((_ zero_extend {missing}) ((_ extract {high} {low}) {a}))"),
                Unary::SignExtended(..) => format!("((_ sign_extend {missing}) ((_ extract {high} {low}) {a}))"),
                Unary::Rotated(place) => format!("((_ rotate_right {}) {a})", place % width),
            }
        }
        Value::Binary(binary, a, b) => {
            let operator = match binary {
                Binary::Add => "bvadd",
                Binary::Sub => "bvsub",
                Binary::Mul => "bvmul",
                Binary::Udiv => "bvudiv",
                Binary::Urem => "bvurem",
                Binary::Sdiv => "bvsdiv",
                Binary::Srem => "bvsrem",
                Binary::Shl => "bvshl",
                Binary::Lshr => "bvlshr",
                Binary::Ashr => "bvashr",
                Binary::And => "bvand",
                Binary::Or => "bvor",
                Binary::Xor => "bvxor",
            };
            format!("({operator} {} {})", value(a, width), value(b, width))
        }
        Value::Ite(condition, a, b) => {
            format!("(ite {} {} {})", formula(condition, width), value(a, width), value(b, width))
        }
    }
}
