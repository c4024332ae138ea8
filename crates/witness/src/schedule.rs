//! A schedule and its text form.
//!
//! ```text
//! il1:s:0x3b.1x8p.+1500.0x4f
//! │   │ └── turns, joined by dots: THREADxSTEPS and how the turn ends, or +NANOSECONDS
//! │   └──── what is counted: steps
//! └──────── the version of the text form
//! ```
//!
//! A turn ends `p` preempted, `b` blocked, `o` outside in a system call, `f` finished, `y` yielded. `STEPS` is `all`
//! where nobody was left to count them: the process died in that turn.
//! A `+` moves the virtual clock on while every thread is outside. The text has no character that a
//! shell takes for its own, and every schedule has exactly one text: parsing what was printed gives
//! the schedule back, and printing what was parsed gives the text back.

use interloper_wire::{PlanEntry, SegmentEnd};
use std::fmt;
use std::str::FromStr;

/// Which thread takes how many steps, turn by turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The turns.
    pub entries: Vec<PlanEntry>,
}

/// As many steps as it takes.
const ALL: (u64, &str) = (u64::MAX, "all");

impl Schedule {
    /// What every schedule that is counted in steps begins with.
    pub const PREFIX: &'static str = "il1:s:";

    /// A schedule of these turns.
    pub fn new(entries: Vec<PlanEntry>) -> Self {
        Schedule { entries }
    }

    /// How many times another thread came to run.
    pub fn switches(&self) -> u64 {
        let threads = self.entries.iter().filter_map(|entry| match entry {
            PlanEntry::Run { thread, .. } => Some(*thread),
            PlanEntry::Advance { .. } => None,
        });
        let mut switches = 0;
        let mut running = None;
        for thread in threads {
            switches += u64::from(running.is_some_and(|before| before != thread));
            running = Some(thread);
        }
        switches
    }

    /// Whether a text means to be a schedule, rather than a name of a file.
    pub fn is_meant_by(text: &str) -> bool {
        text.strip_prefix("il").is_some_and(|rest| {
            rest.split_once(':')
                .is_some_and(|(version, _)| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()))
        })
    }
}

/// Why a text is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("schedule, character {at}: found {found}, expected {expected}")]
pub struct ScheduleError {
    /// Where, counted from zero, in bytes.
    pub at: usize,
    /// What is there.
    pub found: String,
    /// What should have been there.
    pub expected: &'static str,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        for (position, entry) in self.entries.iter().enumerate() {
            if position > 0 {
                f.write_str(".")?;
            }
            match entry {
                PlanEntry::Run { thread, steps, end } if *steps == ALL.0 => {
                    write!(f, "{thread}x{}{}", ALL.1, letter(*end))?;
                }
                PlanEntry::Run { thread, steps, end } => write!(f, "{thread}x{steps}{}", letter(*end))?,
                PlanEntry::Advance { nanoseconds } => write!(f, "+{nanoseconds}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let mut input = Input::after(text, Self::PREFIX, "a schedule, which begins with \"il1:s:\"")?;
        let mut entries = Vec::new();
        if input.peek().is_none() {
            return Ok(Schedule { entries });
        }
        loop {
            entries.push(input.entry()?);
            match input.peek() {
                None => return Ok(Schedule { entries }),
                Some(b'.') => input.at += 1,
                Some(_) => return Err(input.error("\".\" or the end")),
            }
        }
    }
}

const LETTERS: [(SegmentEnd, char); 5] = [
    (SegmentEnd::Preempted, 'p'),
    (SegmentEnd::Blocked, 'b'),
    (SegmentEnd::Outside, 'o'),
    (SegmentEnd::Finished, 'f'),
    (SegmentEnd::Yielded, 'y'),
];

fn letter(end: SegmentEnd) -> char {
    LETTERS.iter().find(|(known, _)| *known == end).map_or('?', |(_, letter)| *letter)
}

/// A text that is being taken apart.
pub(crate) struct Input<'t> {
    text: &'t str,
    pub(crate) at: usize,
}

impl<'t> Input<'t> {
    /// What comes after the prefix, which has to be there.
    pub(crate) fn after(text: &'t str, prefix: &str, expected: &'static str) -> Result<Self, ScheduleError> {
        let input = Input { text, at: prefix.len() };
        if !text.starts_with(prefix) {
            let known = prefix.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
            return Err(input.error_at(known, expected));
        }
        Ok(input)
    }

    fn entry(&mut self) -> Result<PlanEntry, ScheduleError> {
        const NUMBER: &str = "a number without leading zeros, up to 18446744073709551615";
        if self.peek() == Some(b'+') {
            self.at += 1;
            return Ok(PlanEntry::Advance { nanoseconds: self.number(NUMBER)? });
        }
        let thread = self.thread("a thread's number, or \"+\" and nanoseconds")?;
        if self.peek() != Some(b'x') {
            return Err(self.error("\"x\" and a number of steps"));
        }
        self.at += 1;
        let steps = self.steps()?;
        let end = self.peek().and_then(|byte| LETTERS.iter().find(|(_, letter)| *letter == char::from(byte)));
        let Some((end, _)) = end else {
            return Err(self.error("how the turn ends: one of p, b, o, f and y"));
        };
        self.at += 1;
        Ok(PlanEntry::Run { thread, steps, end: *end })
    }

    fn steps(&mut self) -> Result<u64, ScheduleError> {
        const STEPS: &str = "a number without leading zeros, up to 18446744073709551614, or \"all\"";
        if self.text[self.at..].starts_with(ALL.1) {
            self.at += ALL.1.len();
            return Ok(ALL.0);
        }
        let begun = self.at;
        let steps = self.number(STEPS)?;
        if steps == ALL.0 { Err(self.error_at(begun, STEPS)) } else { Ok(steps) }
    }

    /// The number of a thread.
    pub(crate) fn thread(&mut self, expected: &'static str) -> Result<u32, ScheduleError> {
        let begun = self.at;
        let thread = self.number(expected)?;
        u32::try_from(thread).map_err(|_| self.error_at(begun, "a thread's number, up to 4294967295"))
    }

    pub(crate) fn number(&mut self, expected: &'static str) -> Result<u64, ScheduleError> {
        let rest = &self.text[self.at..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let canonical = digits == 1 || !rest.starts_with('0');
        let Some(number) = rest[..digits].parse().ok().filter(|_| canonical) else {
            return Err(self.error(expected));
        };
        self.at += digits;
        Ok(number)
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(crate) fn error(&self, expected: &'static str) -> ScheduleError {
        self.error_at(self.at, expected)
    }

    pub(crate) fn error_at(&self, at: usize, expected: &'static str) -> ScheduleError {
        const SHOWN: usize = 24;
        // Only ASCII has been passed over, except where a prefix ends inside a character.
        let rest = String::from_utf8_lossy(&self.text.as_bytes()[at..]);
        let shown: String = rest.chars().take(SHOWN).collect();
        let found = match (rest.is_empty(), shown.len() < rest.len()) {
            (true, _) => "the end".to_owned(),
            (false, false) => format!("{shown:?}"),
            (false, true) => format!("{:?}…", shown),
        };
        ScheduleError { at, found, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entries() -> impl Strategy<Value = PlanEntry> {
        let number = prop_oneof![0..20_u64, any::<u64>()];
        prop_oneof![
            (prop_oneof![0..4_u32, any::<u32>()], number.clone(), 0..SegmentEnd::ALL.len())
                .prop_map(|(thread, steps, end)| PlanEntry::Run { thread, steps, end: SegmentEnd::ALL[end] }),
            number.prop_map(|nanoseconds| PlanEntry::Advance { nanoseconds }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_printed_parses_back(entries in prop::collection::vec(entries(), 0..20)) {
            let schedule = Schedule::new(entries);
            let text = schedule.to_string();
            prop_assert!(Schedule::is_meant_by(&text));
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":.+".contains(&byte)));
            prop_assert_eq!(text.parse(), Ok(schedule));
        }

        #[test]
        fn what_parses_prints_back(text in "il1:s:[0-9xpbofy.+]{0,12}|il1:s:[0-2]x(all|[0-9])[pf]|\\PC{0,8}|il1[:s]{0,3}.{0,3}") {
            match text.parse::<Schedule>() {
                Ok(schedule) => prop_assert_eq!(schedule.to_string(), text),
                Err(error) => prop_assert!(error.at <= text.len()),
            }
        }
    }

    #[test]
    fn the_example() {
        let schedule: Schedule = "il1:s:0x3b.1x8p.+1500.0x4f".parse().expect("a schedule");
        assert_eq!(schedule.entries.len(), 4);
        assert_eq!(schedule.switches(), 2);
        let died: Schedule = "il1:s:0xallf".parse().expect("a schedule");
        assert_eq!(died.entries, [PlanEntry::Run { thread: 0, steps: u64::MAX, end: SegmentEnd::Finished }]);
        assert_eq!(schedule.entries[1], PlanEntry::Run { thread: 1, steps: 8, end: SegmentEnd::Preempted });
    }

    #[test]
    fn errors_say_where_and_what() {
        let error = |text: &str| text.parse::<Schedule>().expect_err("no schedule").to_string();
        assert_eq!(
            error("il2:s:0x1p"),
            "schedule, character 2: found \"2:s:0x1p\", expected a schedule, which begins with \"il1:s:\""
        );
        assert_eq!(
            error("il1:s:0x3"),
            "schedule, character 9: found the end, expected how the turn ends: one of p, b, o, f and y"
        );
        assert_eq!(error("il1:s:0x3q.1x1p").split(',').next(), Some("schedule"));
        assert!(error("il1:s:0x03p").contains("leading zeros"));
        assert!(error("il1:s:4294967296x1p").starts_with("schedule, character 6"));
        assert!(error("il1:s:0x99999999999999999999p").contains("up to 18446744073709551614, or"));
        assert!(error("il1:s:0x18446744073709551615p").starts_with("schedule, character 8"));
        assert!(error("il1:s:0x1p.").contains("found the end"));
        assert!(error("").contains("found the end"));
    }
}
