//! Lines of an input, one at a time, in bounded memory and without copying.
//!
//! Knows nothing of JSON, and **never** decides whether a line is right, except for its length.

use memchr::memchr;
use std::io::{self, Read};

/// The longest line the reader takes, in bytes without the line feed.
pub const LONGEST_LINE: usize = 1 << 20;

/// What comes next.
pub(super) enum Next<'a> {
    /// A line, without its line feed.
    Line(&'a [u8]),
    /// A line of more than [`LONGEST_LINE`] bytes: how it begins.
    TooLong(&'a [u8]),
    /// Nothing.
    End,
}

/// The lines of an input.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// `buffer[start..filled]` has been read and not handed out.
    start: usize,
    filled: usize,
    consumed: u64,
    number: u64,
}

impl<R: Read> Lines<R> {
    const FIRST_BUFFER: usize = 1 << 16;
    const LARGEST_BUFFER: usize = LONGEST_LINE + 1;

    pub(super) fn new(input: R) -> Self {
        Lines { input, buffer: Vec::new(), start: 0, filled: 0, consumed: 0, number: 0 }
    }

    /// The number of the line handed out last, counted from one.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// How many bytes the lines handed out so far have, line feeds included.
    pub(super) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// The next line. After the end, or a line too long, ask no more.
    pub(super) fn next(&mut self) -> io::Result<Next<'_>> {
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[searched..self.filled]) {
                let end = searched + at;
                return Ok(self.hand_out(end, end + 1));
            }
            if self.filled - self.start > LONGEST_LINE {
                self.number += 1;
                return Ok(Next::TooLong(&self.buffer[self.start..self.filled]));
            }
            // Whatever is left moves to the front, where it has been searched already.
            self.make_room();
            searched = self.filled;
            if self.read_more()? == 0 {
                let end = self.filled;
                return Ok(if self.start == end { Next::End } else { self.hand_out(end, end) });
            }
        }
    }

    fn hand_out(&mut self, end: usize, next: usize) -> Next<'_> {
        let line = self.start..end;
        self.consumed += (next - self.start) as u64;
        self.number += 1;
        self.start = next;
        Next::Line(&self.buffer[line])
    }

    fn make_room(&mut self) {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.start = 0;
        if self.filled == self.buffer.len() {
            let larger = (self.buffer.len() * 2).clamp(Self::FIRST_BUFFER, Self::LARGEST_BUFFER);
            self.buffer.resize(larger, 0);
        }
    }

    fn read_more(&mut self) -> io::Result<usize> {
        loop {
            match self.input.read(&mut self.buffer[self.filled..]) {
                Err(interrupted) if interrupted.kind() == io::ErrorKind::Interrupted => {}
                outcome => {
                    let read = outcome?;
                    self.filled += read;
                    return Ok(read);
                }
            }
        }
    }
}
