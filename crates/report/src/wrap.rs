//! Lines that fit 80 columns.

/// The width of the text output.
pub(crate) const COLUMNS: usize = 80;

/// Appends text, broken at spaces; the first line begins with `first`, the others with `rest`.
///
/// A word that is too long for a line has one of its own, whole: it may be a name to copy.
pub fn wrapped(out: &mut String, first: &str, rest: &str, text: &str) {
    out.push_str(first);
    let mut column = width(first);
    let mut line_is_empty = true;
    for word in text.split_whitespace() {
        if !line_is_empty && column + 1 + width(word) > COLUMNS {
            out.push('\n');
            out.push_str(rest);
            column = width(rest);
            line_is_empty = true;
        }
        if !line_is_empty {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width(word);
        line_is_empty = false;
    }
    out.push('\n');
}

/// How many columns text takes, as far as one can tell without a table of all scripts. Colour takes none.
pub(crate) fn width(text: &str) -> usize {
    let mut pieces = text.split('\u{1b}');
    let plain = pieces.next().map_or(0, |piece| piece.chars().count());
    // What is ours after an escape ends with the first m; no text of the input has an escape in it.
    plain + pieces.map(|piece| piece.split_once('m').map_or(0, |(_, rest)| rest.chars().count())).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, wrapped};

    #[test]
    fn lines_fit_and_long_words_stay_whole() {
        let long = "x".repeat(100);
        let mut out = String::new();
        wrapped(&mut out, "note: ", "      ", &format!("{} {long} end", "word ".repeat(40)));
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS || line.contains(&long)));
        assert!(lines[1..].iter().all(|line| line.starts_with("      ")));
        assert_eq!(out.split_whitespace().count(), 1 + 40 + 2);
    }
}
