//! Text of the input on its way to a terminal: nothing in it may act.

use std::fmt;

/// Displays text with everything escaped that a terminal would act on or that cannot be seen.
///
/// Besides control characters these are the bidirectional controls, which can make a line read as
/// something else than it is; line and paragraph separators; and characters without width, which
/// make different names look the same.
#[derive(Clone, Copy, Debug)]
pub struct Printable<'t>(pub &'t str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for c in self.0.chars() {
            if acts(c) {
                write!(f, "{}", c.escape_unicode())?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
