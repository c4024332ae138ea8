//! What is said to people, on standard error.

use interloper_report::printable::Printable;
use std::io::Write as _;

/// Says something, a line.
///
/// Messages quote file names and names of the trace, so they are made harmless first. Where
/// standard error is closed or full there is nobody to tell, and no reason to fail: the exit code
/// says enough.
pub(crate) fn say(kind: &str, text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{kind}: {}", Printable(text));
}
