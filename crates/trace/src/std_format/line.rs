//! The grammar of one STD line.
//!
//! Two parsers: [`parse`] is the definition and the source of all error messages. The fast one,
//! [`parse_head`] and [`parse_tail`], looks at eight bytes at a time, accepts only lines of the common
//! form with short names, and answers `None` to everything else, malformed or merely unusual. Whatever it accepts, `parse`
//! accepts with the same outcome, provided the names pass [`check_operand`] when they are first
//! seen; a property test holds the two together.

use crate::error::quote;

/// What a line says, in terms of byte ranges of that line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The thread's name: bytes from the start of the line.
    pub(super) thread_len: usize,
    pub(super) verb: Verb,
    /// The operand's first byte and its length; empty for verbs without operand.
    pub(super) operand: (usize, usize),
    pub(super) location: i64,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Acquire,
    Release,
    Read,
    Write,
    Fork,
    Join,
    Begin,
    End,
    /// A lock request; only in the extended dialect.
    Request,
}

/// Which verbs are understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StdDialect {
    /// RAPID's own.
    #[default]
    Rapid,
    /// Also `rd`, `wr` and `req`, as other tools write them.
    Extended,
}

/// What is wrong with a line: found, expected.
pub(super) type Defect = (String, String);

/// Parses a line (without its newline).
pub(super) fn parse(line: &[u8], dialect: StdDialect) -> Result<Line, Defect> {
    if line.is_empty() {
        return Err(("an empty line".into(), "thread|op|location".into()));
    }
    if line.last() == Some(&b'\r') {
        return Err(("a carriage return at the end of the line".into(), "a line feed alone (LF, not CRLF)".into()));
    }
    let bars = line.iter().filter(|&&byte| byte == b'|').count();
    let mut fields = line.split(|&byte| byte == b'|');
    let (Some(thread), Some(op), Some(location), 2) = (fields.next(), fields.next(), fields.next(), bars) else {
        let fields = if bars == 0 { "1 field".into() } else { format!("{} fields", bars + 1) };
        return Err((format!("{fields} in {}", quote(line)), "three fields, thread|op|location".into()));
    };
    if thread.is_empty() {
        return Err((format!("no thread in {}", quote(line)), "a thread name before the first '|'".into()));
    }
    let (verb, operand) = parse_op(op, thread.len() + 1, dialect)?;
    Ok(Line { thread_len: thread.len(), verb, operand, location: parse_location(location)? })
}

fn parse_op(op: &[u8], op_start: usize, dialect: StdDialect) -> Result<(Verb, (usize, usize)), Defect> {
    if op.starts_with(b"begin") {
        return Ok((Verb::Begin, (0, 0)));
    }
    if op.starts_with(b"end") {
        return Ok((Verb::End, (0, 0)));
    }
    let unknown = || {
        let verbs = match dialect {
            StdDialect::Rapid => "r, w, acq, rel, fork or join with an operand, begin or end",
            StdDialect::Extended => "r, rd, w, wr, acq, rel, req, fork or join with an operand, begin or end",
        };
        (format!("operation {}", quote(op)), verbs.to_owned())
    };
    let open = op.iter().position(|&byte| byte == b'(').ok_or_else(unknown)?;
    let verb = match (&op[..open], dialect) {
        (b"r", _) | (b"rd", StdDialect::Extended) => Verb::Read,
        (b"w", _) | (b"wr", StdDialect::Extended) => Verb::Write,
        (b"acq", _) => Verb::Acquire,
        (b"rel", _) => Verb::Release,
        (b"fork", _) => Verb::Fork,
        (b"join", _) => Verb::Join,
        (b"req", StdDialect::Extended) => Verb::Request,
        _ => return Err(unknown()),
    };
    let Some((&b')', operand)) = op[open + 1..].split_last() else {
        return Err((format!("operation {}", quote(op)), "a closing parenthesis at its end".into()));
    };
    check_operand(operand)?;
    Ok((verb, (op_start + open + 1, operand.len())))
}

/// What every operand must satisfy, apart from standing in its field.
pub(super) fn check_operand(operand: &[u8]) -> Result<(), Defect> {
    if operand.is_empty() {
        return Err(("an empty operand".into(), "a name between the parentheses".into()));
    }
    match std::str::from_utf8(operand) {
        Err(_) => Err((format!("operand {}", quote(operand)), "UTF-8 text".into())),
        Ok(text) if text.contains(char::is_whitespace) => {
            Err((format!("operand {}", quote(operand)), "no white space in it".into()))
        }
        Ok(_) => Ok(()),
    }
}

fn parse_location(field: &[u8]) -> Result<i64, Defect> {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err((format!("location {}", quote(field)), "a decimal integer".into()));
    }
    // ASCII digits are UTF-8, so only the range can fail.
    std::str::from_utf8(field)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| (format!("location {}", quote(field)), "an integer that fits 64 bits".into()))
}

/// The longest name the fast parser takes: one byte less than a word, so that the length fits in.
pub(super) const SHORT: usize = 7;

/// How many bytes the fast parser may look at.
pub(super) const WINDOW: usize = 48;

/// The first half of a line, up to its operand.
#[derive(Clone, Copy)]
pub(super) struct FastHead {
    pub(super) thread: ShortName,
    /// Where the operation begins, and its first eight bytes.
    pub(super) op_start: usize,
    op: u64,
}

/// The second half of a line, from its operand on.
#[derive(Clone, Copy)]
pub(super) struct FastTail {
    pub(super) operand: ShortName,
    pub(super) location: u32,
    /// Length of the line with its newline.
    pub(super) consumed: usize,
}

/// A name of one to seven bytes in one word: bytes, zeros, length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ShortName(u64);

impl ShortName {
    /// No name.
    pub(super) const NONE: ShortName = ShortName(0);

    /// The name made of the first `len` (at most [`SHORT`]) bytes of a little-endian word.
    #[inline]
    fn of_word(word: u64, len: u32) -> Self {
        let mask = (1u64 << (8 * len)) - 1;
        ShortName(word & mask | u64::from(len) << 56)
    }

    /// The name, if it is short enough.
    #[inline]
    pub(super) fn of_bytes(name: &[u8]) -> Option<Self> {
        if name.len() > SHORT {
            return None;
        }
        let mut word = [0; 8];
        word[..name.len()].copy_from_slice(name);
        Some(ShortName(u64::from_le_bytes(word) | (name.len() as u64) << 56))
    }

    #[inline]
    pub(super) fn word(self) -> u64 {
        self.0
    }
}

/// Parses the first half of a line of the common form; the window may reach beyond the line.
#[inline(always)]
pub(super) fn parse_head(window: &[u8; WINDOW]) -> Option<FastHead> {
    let head = word_at(window, 0);
    let thread_len = first_byte(head, b'|')?;
    if thread_len == 0 {
        return None;
    }
    let op_start = thread_len as usize + 1;
    Some(FastHead { thread: ShortName::of_word(head, thread_len), op_start, op: word_at(window, op_start) })
}

impl FastHead {
    /// Whether the operation begins with this text.
    #[inline(always)]
    pub(super) fn is<const N: usize>(&self, text: &[u8; N]) -> bool {
        let mut word = [0; 8];
        word[..N].copy_from_slice(text);
        self.op & ((1 << (8 * N)) - 1) == u64::from_le_bytes(word)
    }
}

/// Parses the second half of a line, where the operand or, without one, the last bar begins.
///
/// Which operation comes next cannot be predicted when threads take turns, and a mispredicted branch
/// costs as much as a quarter of a line. So callers branch on the operation once, and call this with
/// what follows from it as constants.
#[inline(always)]
pub(super) fn parse_tail<const OPERAND: bool>(window: &[u8; WINDOW], start: usize) -> Option<FastTail> {
    let (operand, digits_start) = if OPERAND {
        let word = word_at(window, start);
        let len = first_byte(word, b')')?;
        let end = start + len as usize;
        if len == 0 || window[end + 1] != b'|' {
            return None;
        }
        (ShortName::of_word(word, len), end + 2)
    } else {
        (ShortName::NONE, start + 1)
    };
    let mut at = digits_start;
    let mut location = 0u32;
    loop {
        let digit = window[at].wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        // At most nine digits are accepted below, so this cannot overflow for them.
        location = location.wrapping_mul(10).wrapping_add(u32::from(digit));
        at += 1;
        if at - digits_start > 9 {
            return None;
        }
    }
    if at == digits_start || window[at] != b'\n' {
        return None;
    }
    Some(FastTail { operand, location, consumed: at + 1 })
}

/// Eight bytes of the window. The furthest read is the operand's: 7 + 1 + 5, and eight more.
#[inline]
fn word_at(window: &[u8; WINDOW], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&window[at..at + 8]);
    u64::from_le_bytes(word)
}

/// The position of the first such byte among the lower seven; none if there is none.
#[inline]
fn first_byte(word: u64, byte: u8) -> Option<u32> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let zeroed = word ^ (ONES * u64::from(byte));
    // The lowest set bit of this is exact: borrows only spread upwards.
    let hits = zeroed.wrapping_sub(ONES) & !zeroed & (ONES << 7);
    let at = hits.trailing_zeros() / 8;
    if at as usize <= SHORT { Some(at) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl ShortName {
        fn bytes(self) -> Vec<u8> {
            self.0.to_le_bytes()[..(self.0 >> 56) as usize].to_vec()
        }
    }

    /// What the reader does with the two halves.
    fn fast(line: &[u8]) -> Option<(ShortName, Verb, FastTail)> {
        let mut window = [0; WINDOW];
        let shown = line.len().min(WINDOW - 1);
        window[..shown].copy_from_slice(&line[..shown]);
        window[shown] = b'\n';
        let head = parse_head(&window)?;
        let with = |verb, len| Some((head.thread, verb, parse_tail::<true>(&window, head.op_start + len)?));
        let without = |verb, len| Some((head.thread, verb, parse_tail::<false>(&window, head.op_start + len)?));
        let parsed = match () {
            () if head.is(b"r(") => with(Verb::Read, 2),
            () if head.is(b"w(") => with(Verb::Write, 2),
            () if head.is(b"acq(") => with(Verb::Acquire, 4),
            () if head.is(b"rel(") => with(Verb::Release, 4),
            () if head.is(b"begin|") => without(Verb::Begin, 5),
            () if head.is(b"end|") => without(Verb::End, 3),
            () => None,
        };
        parsed.filter(|(_, _, tail)| tail.consumed == line.len() + 1)
    }

    #[test]
    fn common_lines_take_the_fast_way() {
        for line in ["T0|r(V1)|7", "T0|w(V1234)|1234", "Thread1|acq(L)|0", "T|rel(L)|9"] {
            assert!(fast(line.as_bytes()).is_some(), "{line}");
        }
        for line in ["T0|begin|3", "T0|end|4"] {
            assert!(fast(line.as_bytes()).is_some(), "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Where the fast parser answers, the obvious one says the same.
        #[test]
        fn fast_agrees_with_obvious(
            line in "(T[0-9]{0,8}|[a-z|() ]{0,3})\\|(r|w|acq|rel|fork|join|begin|end|rd|x|)(\\([Va-b|()\\t]{0,9}[)]?)?\\|-?[0-9]{0,11}\r?"
        ) {
            let bytes = line.as_bytes();
            let Some((thread, verb, tail)) = fast(bytes) else { return Ok(()) };
            let operand = tail.operand.bytes();
            let obvious = parse(bytes, StdDialect::Rapid);
            if tail.operand != ShortName::NONE && (check_operand(&operand).is_err() || operand.contains(&b'|')) {
                prop_assert!(obvious.is_err());
                return Ok(());
            }
            let obvious = obvious.expect("accepted by the fast parser");
            prop_assert_eq!(&bytes[..obvious.thread_len], thread.bytes());
            prop_assert_eq!(obvious.verb, verb);
            prop_assert_eq!(&bytes[obvious.operand.0..][..obvious.operand.1], operand);
            prop_assert_eq!(obvious.location, i64::from(tail.location));
        }
    }
}
