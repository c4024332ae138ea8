//! Which part of a line of source an access is.
//!
//! A trace knows the line of an access, not the column. It is taken to be the variable's name, if the line has it, and
//! else the whole statement.

use std::ops::Range;

/// What to mark of a line.
pub(crate) fn marked(line: &str, variable: &str) -> Range<usize> {
    // What is after the object's name is an offset; the name may be of a member, or of an element.
    let variable = variable.split(['+', '@']).next().unwrap_or(variable);
    let member = variable.rsplit(['.', ':']).next().unwrap_or(variable);
    let member = member.split('[').next().unwrap_or(member);
    let found = [variable, member].into_iter().filter(|name| !name.is_empty()).find_map(|name| word(line, name));
    found.unwrap_or_else(|| {
        let start = line.len() - line.trim_start().len();
        // A comment at the end of the line is not what is accessed.
        let end = line.find("//").filter(|end| *end > start).unwrap_or(line.len());
        start..start + line[start..end].trim_end().len()
    })
}

/// Where a line has a name as a word; rather as a member (`x.name`, `x->name`) than alone.
fn word(line: &str, name: &str) -> Option<Range<usize>> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut alone = None;
    for (at, _) in line.match_indices(name) {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        if before.chars().next_back().is_some_and(is_word) || after.chars().next().is_some_and(is_word) {
            continue;
        }
        if before.ends_with('.') || before.ends_with("->") {
            return Some(at..at + name.len());
        }
        alone.get_or_insert(at..at + name.len());
    }
    alone
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn the_name_or_else_the_statement() {
        let part = |line: &'static str, variable| &line[marked(line, variable)];
        assert_eq!(part("  balance = account.balance;", "account.balance"), "account.balance");
        assert_eq!(part("  this->count++;", "Pool::count"), "count");
        assert_eq!(part("  return value;  // all of it", "stack:main/0+16"), "return value;");
        assert_eq!(part("", "x"), "");
    }
}
