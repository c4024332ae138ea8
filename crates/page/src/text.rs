//! Text of the input: what cannot be seen is made visible, and what has no end is cut.

use interloper_report::printable::Printable;

/// Longer names are cut wherever they stand; a C++ name may have a megabyte.
pub(crate) const NAME_LIMIT: usize = 2_000;
/// What is shown of a name where there is little room. The rest is in its tooltip.
pub(crate) const SHORT: usize = 96;
/// Longer lines of source files are cut.
pub(crate) const LINE_LIMIT: usize = 240;
/// Longer output of programs is cut.
pub(crate) const OUTPUT_LIMIT: usize = 4_000;

/// Text with what acts or cannot be seen spelled out, and cut at a number of characters.
pub(crate) fn clipped(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => Printable(text).to_string(),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{}… ({more} more characters)", Printable(&text[..end]))
        }
    }
}

/// A name, whole unless it is absurdly long.
pub(crate) fn name(text: &str) -> String {
    clipped(text, NAME_LIMIT)
}

/// A name where there is little room: its beginning and its end, which for files and C++ names say most.
pub(crate) fn short(name: &str) -> String {
    let length = name.chars().count();
    if length <= SHORT {
        return name.to_owned();
    }
    let (head, tail) = (SHORT * 2 / 3, SHORT / 3);
    let beginning: String = name.chars().take(head).collect();
    let end: String = name.chars().skip(length - tail).collect();
    format!("{beginning}…{end}")
}

/// A line of source: tabs as blanks, and nothing that acts.
pub(crate) fn source_line(line: &str) -> String {
    const TAB: usize = 4;
    let mut expanded = String::with_capacity(line.len());
    let mut column = 0;
    for c in line.chars().take(LINE_LIMIT) {
        if c == '\t' {
            let blanks = TAB - column % TAB;
            expanded.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else {
            expanded.push(c);
            column += 1;
        }
    }
    if line.chars().nth(LINE_LIMIT).is_some() {
        expanded.push('…');
    }
    Printable(&expanded).to_string()
}

/// Output of a program: lines stay lines.
pub(crate) fn output(text: &str) -> String {
    let cut: String = text.chars().take(OUTPUT_LIMIT).collect();
    let lines: Vec<String> = cut.lines().map(|line| Printable(line).to_string()).collect();
    let more = if text.chars().nth(OUTPUT_LIMIT).is_some() { "\n…" } else { "" };
    lines.join("\n") + more
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// A number of things.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A number, its digits in threes.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_and_everything_ends() {
        assert_eq!(name("a\u{202e}b\u{1b}[31m"), "a\\u{202e}b\\u{1b}[31m");
        let long = "x".repeat(1 << 20);
        assert!(name(&long).chars().count() < NAME_LIMIT + 40);
        assert!(name(&long).ends_with("more characters)"));
        assert!(short(&name(&long)).chars().count() <= SHORT + 1);
        assert_eq!(source_line("\tif\t(x)\u{200b}"), "    if  (x)\\u{200b}");
        assert_eq!(output("a\r\nb\n"), "a\nb");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(1234), "1234");
        assert_eq!(file_name("/src/a.c"), "a.c");
        assert_eq!(file_name("a/"), "a/");
    }
}
