//! Reading `.expect` files; `corpus/README.md` says what is in them.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

/// How a program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Exit(i32),
    Signal(i32),
    Deadlock,
}

impl Outcome {
    /// How a process ended, seen through a shell or us: 128 + n is signal n.
    pub(crate) fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) if code > 128 => Outcome::Signal(code - 128),
            (Some(code), _) => Outcome::Exit(code),
            (None, signal) => Outcome::Signal(signal.unwrap_or(0)),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("signal ") {
            Some(number) => number.parse().ok().map(Outcome::Signal),
            None if text == "deadlock" => Some(Outcome::Deadlock),
            None => text.strip_prefix("exit ").unwrap_or(text).parse().ok().map(Outcome::Exit),
        }
    }
}

const KEYS: &[&str] = &[
    "std",
    "libs",
    "args",
    "env",
    "stdin",
    "exit",
    "outcome",
    "stdout",
    "stdout-range",
    "any",
    "finding",
    "path",
    "violated",
    "benign",
    "tsan",
    "explore",
    "gap",
    "harm-gap",
    "note",
];

/// What is expected of a program.
pub(crate) struct Expect {
    entries: Vec<(String, String)>,
    pub(crate) outcome: Outcome,
}

impl Expect {
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut entries = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (key, value) = line.split_once(':').ok_or_else(|| format!("no key in {line:?}"))?;
            if !KEYS.contains(&key) {
                return Err(format!("an unknown key in {line:?}"));
            }
            entries.push((key.to_owned(), value.strip_prefix(' ').unwrap_or(value).to_owned()));
        }
        let outcome = entries.iter().find(|(key, _)| key == "exit" || key == "outcome");
        let outcome = outcome.and_then(|(_, value)| Outcome::parse(value)).ok_or("neither `exit` nor `outcome`")?;
        Ok(Expect { entries, outcome })
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.entries.iter().filter(move |(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    pub(crate) fn stdin(&self) -> String {
        self.all("stdin").map(|line| format!("{line}\n")).collect()
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        let (mut words, mut word, mut is_quoted) = (Vec::new(), None::<String>, false);
        for letter in self.get("args").unwrap_or_default().chars() {
            match letter {
                '"' => {
                    is_quoted = !is_quoted;
                    word.get_or_insert_default();
                }
                ' ' if !is_quoted => words.extend(word.take()),
                letter => word.get_or_insert_default().push(letter),
            }
        }
        words.extend(word);
        words
    }

    pub(crate) fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all("env").filter_map(|pair| pair.split_once('='))
    }

    /// Whether this is what the program prints.
    pub(crate) fn allows(&self, stdout: &str) -> bool {
        let mut lines = stdout.split_inclusive('\n');
        for (key, value) in &self.entries {
            let fits = match key.as_str() {
                "stdout" => lines.next() == Some(&format!("{value}\n")),
                "any" => lines.next().is_some_and(|line| value.split(" || ").any(|text| format!("{text}\n") == line)),
                "stdout-range" => {
                    let mut parts = value.splitn(3, ' ');
                    let mut number = || parts.next()?.parse::<i64>().ok();
                    let (Some(first), Some(last)) = (number(), number()) else { return false };
                    let text = parts.next().unwrap_or_default();
                    (first..=last).all(|n| lines.next() == Some(&format!("{}\n", text.replace("{}", &n.to_string()))))
                }
                _ => true,
            };
            if !fits {
                return false;
            }
        }
        lines.next().is_none()
    }

    /// Whether the program may end so when it is violated.
    pub(crate) fn is_violated_by(&self, outcome: Outcome) -> bool {
        self.all("violated")
            .flat_map(|text| text.split(" or "))
            .filter_map(Outcome::parse)
            .any(|violated| violated == outcome || (violated == Outcome::Deadlock && outcome == Outcome::Signal(9)))
    }
}
