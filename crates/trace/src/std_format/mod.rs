//! RAPID STD, the text format the field exchanges traces in: `thread|op(operand)|location`.
//!
//! ```text
//! line   := thread '|' op '|' loc         exactly three fields, no escaping, no header, no comments
//! op     := ('acq'|'rel'|'r'|'w'|'fork'|'join') '(' operand ')'
//!         | text starting with 'begin' | text starting with 'end'
//! loc    := decimal integer
//! ```
//!
//! The reader is strict: whatever is not exactly this is an error at its line. Every line is one
//! event, so line numbers and event positions agree. What lines mean *together* (locks, forks,
//! regions) is checked for all formats alike by [`WellFormed`](crate::wellformed::WellFormed).
//!
//! | module | holds |
//! |---|---|
//! | `line` | the grammar of one line: the obvious parser, and a fast one that gives up in doubt |
//! | `reader` | buffering, interning of names, batches |
//! | `writer` | the way back |

mod line;
mod names;
mod reader;
mod writer;

pub use line::StdDialect;
pub use reader::StdReader;
pub use writer::StdWriter;
