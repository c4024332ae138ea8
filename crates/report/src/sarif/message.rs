//! Text that cannot act, and is not longer than viewers show.

use crate::printable::{Printable, plain_name, shortened};

/// Viewers cut longer messages.
pub(super) const LONGEST_TEXT: usize = 1_000;
/// Longer names tell nobody more.
const LONGEST_NAME: usize = 200;

/// Text of the input: harmless, and not too long.
pub(super) fn text(text: &str, most: usize) -> String {
    Printable(&shortened(text, most)).to_string()
}

/// A name of the input.
pub(super) fn name(name: &str) -> String {
    text(&plain_name(name), LONGEST_NAME)
}

/// A message. In SARIF, braces hold the place of arguments, and brackets before parentheses are links.
pub(super) fn message(text: &str) -> String {
    let text = self::text(text, LONGEST_TEXT);
    let mut message = String::new();
    for letter in text.chars() {
        match letter {
            '{' => message.push('<'),
            '}' => message.push('>'),
            '(' if message.ends_with(']') => message.push_str(" ("),
            letter => message.push(letter),
        }
    }
    message
}

/// A message in which `(1)`, `(2)` and `(3)`, where they begin a sentence, lead to the locations of these numbers.
pub(super) fn linked(text: &str) -> String {
    (1..=3).fold(message(text), |text, number| {
        text.replacen(&format!(". ({number}) "), &format!(". [({number})]({number}) "), 1)
    })
}
