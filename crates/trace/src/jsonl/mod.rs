//! JSON Lines: the text form of everything a trace can hold, one JSON object a line.
//!
//! Meant for tests and for other tools; `docs/trace-formats-text.md` lists every operation and
//! field. Writing a trace and reading it again gives the same events, names and facts; ids may come
//! out renumbered. The reader is strict and **never** guesses: an unknown field is as much an error
//! as a missing one. The writer **never** writes what the reader would refuse.

mod decode;
mod fields;
mod lines;
mod reader;
mod words;
mod writer;

pub use lines::LONGEST_LINE;
pub use reader::JsonlReader;
pub use writer::JsonlWriter;

use crate::event::{Access, Expr, Op, ReadModifyWrite, Value};
use fields::Field;

/// A rule of the model that the types do not enforce and an operation breaks.
struct Breach {
    field: Field,
    found: String,
    expected: String,
}

/// Finds what reader and writer both refuse: values wider than their size, expressions of no width.
fn breach(op: &Op) -> Option<Breach> {
    match op {
        Op::Read(Access { size, value, .. })
        | Op::Write(Access { size, value, .. })
        | Op::Input { size, value, .. } => value_breach(Field::Value, *value, u64::from(*size)),
        Op::ReadModifyWrite(rmw) => rmw_breach(rmw),
        Op::Define { expr: Expr::Constant { width, bits }, .. } => width_breach(*width).or_else(|| {
            (bits.checked_shr(u32::from(*width)).unwrap_or(0) != 0).then(|| Breach {
                field: Field::Bits,
                found: bits.to_string(),
                expected: format!("a number of at most {width} bits"),
            })
        }),
        Op::Define { expr: Expr::Apply { operator, width, operands }, .. } => width_breach(*width).or_else(|| {
            let (used, unused) = operands.split_at(operator.arity());
            unused.iter().any(|operand| Some(operand) != used.last()).then(|| Breach {
                field: Field::Operands,
                found: "different operands".to_owned(),
                expected: format!("{} for {}", used.len(), operator.name()),
            })
        }),
        _ => None,
    }
}

fn rmw_breach(rmw: &ReadModifyWrite) -> Option<Breach> {
    let size = u64::from(rmw.size);
    if size > WIDEST_VALUE {
        return Some(Breach {
            field: Field::Size,
            found: size.to_string(),
            expected: format!("at most {WIDEST_VALUE} bytes"),
        });
    }
    if !rmw.success && rmw.written != Value::UNKNOWN {
        return Some(Breach {
            field: Field::Written,
            found: "a value".to_owned(),
            expected: "none where \"success\" is false".to_owned(),
        });
    }
    value_breach(Field::Value, rmw.read, size).or_else(|| value_breach(Field::Written, rmw.written, size))
}

/// The most bytes a value has.
const WIDEST_VALUE: u64 = 8;

fn value_breach(field: Field, value: Value, size: u64) -> Option<Breach> {
    let bits = value.get()?;
    let expected = match size {
        0 => return None,
        1..=WIDEST_VALUE if bits.checked_shr(size as u32 * 8).unwrap_or(0) == 0 => return None,
        1..=WIDEST_VALUE => format!("a value of {size} bytes"),
        _ => format!("no value where \"size\" is more than {WIDEST_VALUE}"),
    };
    Some(Breach { field, found: bits.to_string(), expected })
}

fn width_breach(width: u8) -> Option<Breach> {
    (!(1..=64).contains(&width)).then(|| Breach {
        field: Field::Width,
        found: width.to_string(),
        expected: "a width from 1 to 64 bits".to_owned(),
    })
}
