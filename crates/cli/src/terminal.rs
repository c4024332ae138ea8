//! The terminal that progress is drawn on.

use console::Term;
use indicatif::{ProgressDrawTarget, TermLike};
use std::io;

/// Where progress is drawn.
pub(crate) fn draw_target() -> ProgressDrawTarget {
    ProgressDrawTarget::term_like(Box::new(Margin(Term::stderr())))
}

/// A terminal with a margin at the right.
///
/// What is drawn fills its line, and the `^C` that the terminal shows when one is typed would go to the next: the line
/// that was drawn could then no longer be cleared away. With a margin it stays where it is.
#[derive(Debug)]
struct Margin(Term);

/// Room for two `^C`.
const MARGIN: u16 = 5;

impl TermLike for Margin {
    fn width(&self) -> u16 {
        TermLike::width(&self.0).saturating_sub(MARGIN).max(1)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_left(columns)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}
