//! The strings that `printf` and its kin are given to print: they are read.
//!
//! What is missed: arguments given by number (`%2$s`), after which nothing is looked at any more, the format itself,
//! which is a constant in all but a few programs, and what `%n` writes.

use super::passage::Arguments;
use crate::call::Call;
use crate::ranges;
use libc::{c_char, wchar_t};

/// Logs what will be read by this format.
pub(super) unsafe fn read_strings(call: &mut Call, format: *const c_char, mut list: Arguments, pc: usize) {
    let mut at = Format(format.cast());
    // SAFETY: the format ends with a zero byte, and tells what the arguments are; a `Call` is proof of the token.
    unsafe {
        while at.seek_conversion() {
            let Some(conversion) = at.conversion(&mut list) else { return };
            let Conversion { what, size, precision } = conversion;
            match what {
                b'%' | b'm' => {}
                b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' | b'C' | b'p' | b'n' => {
                    list.next();
                }
                b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' if size == Size::LongDouble => {
                    list.skip_long_double();
                }
                b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' => list.skip_double(),
                b's' | b'S' => {
                    let text = list.next();
                    let len = match (what, size) {
                        _ if text == 0 => 0,
                        (b'S', _) | (_, Size::Long) => wide_len(text, precision),
                        _ => len(text, precision),
                    };
                    ranges::read(call, text, len, pc);
                }
                // Whoever has registered conversions of his own knows what they take.
                _ => return,
            }
        }
    }
}

/// How many bytes of a string are looked at: no more than there may be printed, and else the zero byte, too.
unsafe fn len(text: usize, precision: Option<usize>) -> usize {
    // SAFETY: the program has it printed.
    unsafe {
        match precision {
            None => libc::strlen(text as *const c_char) + 1,
            Some(most) => (libc::strnlen(text as *const c_char, most) + 1).min(most),
        }
    }
}

/// The same for wide characters. How many of them make up that many bytes is not worth finding out: as many at most.
unsafe fn wide_len(text: usize, precision: Option<usize>) -> usize {
    let most = precision.unwrap_or(usize::MAX);
    let mut count = 0;
    // SAFETY: the program has it printed.
    while count < most && unsafe { *(text as *const wchar_t).add(count) } != 0 {
        count += 1;
    }
    (count + 1).min(most) * size_of::<wchar_t>()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Usual,
    Long,
    LongDouble,
}

struct Conversion {
    what: u8,
    size: Size,
    precision: Option<usize>,
}

/// Where we are in a format.
struct Format(*const u8);

impl Format {
    /// The next byte, which stays the next.
    unsafe fn peek(&self) -> u8 {
        // SAFETY: not behind the end.
        unsafe { *self.0 }
    }

    unsafe fn skip(&mut self) {
        // SAFETY: the caller has seen that it is not the end.
        self.0 = unsafe { self.0.add(1) };
    }

    /// Goes behind the next percent sign; false if there is none.
    unsafe fn seek_conversion(&mut self) -> bool {
        // SAFETY: the format ends with a zero byte.
        unsafe {
            loop {
                match self.peek() {
                    0 => return false,
                    b'%' => {
                        self.skip();
                        return true;
                    }
                    _ => self.skip(),
                }
            }
        }
    }

    unsafe fn number(&mut self) -> usize {
        let mut number = 0usize;
        // SAFETY: a digit is not the end.
        unsafe {
            while self.peek().is_ascii_digit() {
                number = number.saturating_mul(10).saturating_add(usize::from(self.peek() - b'0'));
                self.skip();
            }
        }
        number
    }

    /// What comes after a percent sign, with its arguments but the one to be printed; `None` if that is not for us.
    unsafe fn conversion(&mut self, list: &mut Arguments) -> Option<Conversion> {
        // SAFETY: the format tells what arguments there are, and ends with a zero byte.
        unsafe {
            while matches!(self.peek(), b'-' | b'+' | b' ' | b'#' | b'0' | b'\'' | b'I') {
                self.skip();
            }
            if self.peek() == b'*' {
                self.skip();
                list.next();
            } else {
                self.number();
            }
            let mut precision = None;
            if self.peek() == b'.' {
                self.skip();
                precision = if self.peek() == b'*' {
                    self.skip();
                    // A negative one is none.
                    usize::try_from(list.next() as i32).ok()
                } else {
                    Some(self.number())
                };
            }
            let mut size = Size::Usual;
            loop {
                match self.peek() {
                    b'l' | b'z' | b'j' | b't' | b'q' => size = Size::Long,
                    b'L' => size = Size::LongDouble,
                    b'h' => {}
                    _ => break,
                }
                self.skip();
            }
            match self.peek() {
                0 | b'$' => None,
                what => {
                    self.skip();
                    Some(Conversion { what, size, precision })
                }
            }
        }
    }
}
