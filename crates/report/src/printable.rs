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

/// More letters of a name than this tell nobody more. Names of C++ can be as long as a book.
const LONGEST_NAME: usize = 100;

/// A name as it is shown to people: harmless, and with its middle left out if it is very long.
pub fn shown(name: &str) -> String {
    Printable(&shortened(&plain_name(name), LONGEST_NAME)).to_string()
}

/// A name without what C++ says of names that are local to a file.
pub fn plain_name(name: &str) -> std::borrow::Cow<'_, str> {
    const ANONYMOUS: &str = "(anonymous namespace)::";
    if name.contains(ANONYMOUS) { name.replace(ANONYMOUS, "").into() } else { name.into() }
}

/// Text of at most so many letters: the beginning and the end of what is longer.
pub fn shortened(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    // Letters are counted only if there may be too many.
    if text.len() <= most || text.chars().count() <= most {
        return text.into();
    }
    let tail = most / 3;
    let head = most.saturating_sub(tail + 1);
    let beginning: String = text.chars().take(head).collect();
    let mut end: Vec<char> = text.chars().rev().take(tail).collect();
    end.reverse();
    format!("{beginning}…{}", end.into_iter().collect::<String>()).into()
}

fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_NAME, shortened, shown};

    #[test]
    fn long_names_lose_their_middle() {
        let name = format!("begin{}end", "ä".repeat(1_000_000));
        let short = shown(&name);
        assert_eq!(short.chars().count(), LONGEST_NAME);
        assert!(short.starts_with("begin") && short.ends_with("end") && short.contains('…'));
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcdef", 4), "ab…f");
    }
}
