//! A line of source with a mark under what is accessed.
//!
//! Lines and names that are too long are cut, so that the mark can be seen.

use super::style::{Role, Style};
use crate::mark::marked;
use crate::printable::Printable;
use crate::wrap::{COLUMNS, width};
use std::fmt::Write as _;
use std::ops::Range;

const INDENT: &str = "       ";
/// What a tab is shown as.
const TAB: &str = "    ";

/// Appends the line, numbered, and the mark below it.
pub(super) fn snippet(out: &mut String, number: i64, line: &str, variable: &str, style: Style) {
    let line = line.trim_end().replace('\t', TAB);
    if line.trim().is_empty() {
        return;
    }
    let marked = marked(&line, variable);
    let margin = number.to_string();
    let room = COLUMNS.saturating_sub(INDENT.len() + margin.len() + 3);
    let (before, under, after) = fitted(&line, marked, room);
    let shown = Printable(&before).to_string();
    let name = Printable(&under).to_string();
    let bar = style.paint(Role::Faint, "|");
    let _ = writeln!(out, "{INDENT}{} {bar} {shown}{name}{}", style.paint(Role::Faint, &margin), Printable(&after));
    let gap = " ".repeat(width(&shown));
    let mark = style.paint(Role::Mark, &"^".repeat(width(&name).max(1)));
    let _ = writeln!(out, "{INDENT}{:margin$} {bar} {gap}{mark}", "", margin = margin.len());
}

/// The line before the mark, under which it is, and after it: as much as there is room for.
fn fitted(line: &str, marked: Range<usize>, room: usize) -> (String, String, String) {
    let mut before: Vec<char> = line[..marked.start].chars().collect();
    let mut under: Vec<char> = line[marked.clone()].chars().collect();
    let mut after: Vec<char> = line[marked.end..].chars().collect();
    // Room for escapes is not reckoned with: what needs them is hardly ever there.
    if before.len() + under.len() + after.len() > room {
        if under.len() > room {
            under.truncate(room - 1);
            under.push('…');
            after.clear();
        }
        let left = room - under.len();
        if before.len() + after.len().min(1) > left {
            let keep = left.saturating_sub(2);
            before.drain(..before.len() - keep.min(before.len()));
            if left > 0 {
                before.insert(0, '…');
            }
        }
        let left = room.saturating_sub(under.len() + before.len());
        if after.len() > left {
            after.truncate(left.saturating_sub(1));
            if left > 0 {
                after.push('…');
            }
        }
    }
    let text = |letters: Vec<char>| letters.into_iter().collect::<String>();
    (text(before), text(under), text(after))
}

#[cfg(test)]
mod tests {
    use super::snippet;
    use crate::text::style::Style;

    fn lines(line: &str, variable: &str) -> String {
        let mut out = String::new();
        snippet(&mut out, 42, line, variable, Style { colour: false });
        out
    }

    #[test]
    fn marks_stand_under_what_is_accessed() {
        let cases = [
            ("    balance = account.balance;", "account.balance"),
            ("\tthis->count++;", "Pool::count"),
            ("    balance2 = balance;", "balance"),
            ("    queue[head] = item;  // full", "heap#main/3@q.c:12+8"),
            ("    return value;", "stack:main/0+16"),
            ("    x\u{202e}y = total;\u{1b}[31m", "total"),
        ];
        insta::assert_snapshot!(cases.map(|(line, variable)| lines(line, variable)).join("\n"));
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let far = format!("{}total{}", "a + ".repeat(40), " + b".repeat(40));
        let cases = [far.clone(), format!("total{}", " + b".repeat(40)), "x".repeat(500), format!("{far} // {far}")];
        let text = cases.map(|line| lines(&line, "total")).join("\n");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn no_line_is_too_odd() {
        for line in ["", " ", "\t", "//", "ä", "\u{200b}", "日本語 = total"] {
            for variable in ["", "+", "@", "total", ".", "日"] {
                lines(line, variable);
            }
        }
        lines(&"日本total".repeat(100_000), &"total".repeat(1000));
    }
}
