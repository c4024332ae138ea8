//! Patterns of names: `*` is anything, `?` any one letter, `\` takes the next letter as it is.
//!
//! Brackets mean nothing, since names of variables have them: `table[3].next`.

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob(Vec<Piece>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Letter(char),
    AnyLetter,
    /// Anything, but for this.
    Anything {
        but: Option<char>,
    },
}

impl Glob {
    /// A pattern of names.
    pub(crate) fn of_names(text: &str) -> Glob {
        Glob::parse(text, None)
    }

    /// A pattern of paths: `*` stays within a folder, `**` does not.
    pub(crate) fn of_paths(text: &str) -> Glob {
        Glob::parse(text, Some('/'))
    }

    fn parse(text: &str, separator: Option<char>) -> Glob {
        let mut pieces = Vec::new();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            pieces.push(match letter {
                '\\' => Piece::Letter(letters.next().unwrap_or('\\')),
                '?' => Piece::AnyLetter,
                '*' if letters.next_if_eq(&'*').is_some() => Piece::Anything { but: None },
                '*' => Piece::Anything { but: separator },
                letter => Piece::Letter(letter),
            });
        }
        Glob(pieces)
    }

    /// Whether it is the whole of a name. Takes time by the product of both lengths at the most.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        // Which beginnings of the pattern match the part of the name seen so far.
        let mut reached = vec![false; self.0.len() + 1];
        reached[0] = true;
        self.skip_empty(&mut reached);
        for &letter in &name {
            let mut next = vec![false; self.0.len() + 1];
            for (at, piece) in self.0.iter().enumerate().filter(|(at, _)| reached[*at]) {
                match *piece {
                    Piece::Letter(own) if own == letter => next[at + 1] = true,
                    Piece::AnyLetter => next[at + 1] = true,
                    Piece::Anything { but } if but != Some(letter) => next[at] = true,
                    _ => {}
                }
            }
            self.skip_empty(&mut next);
            reached = next;
        }
        reached[self.0.len()]
    }

    /// Whether it is a path, or what a path ends with, from the beginning of a folder or file on.
    pub(crate) fn matches_end_of(&self, path: &str) -> bool {
        let path = path.strip_prefix("./").unwrap_or(path);
        let starts = path.match_indices('/').map(|(at, _)| at + 1);
        std::iter::once(0).chain(starts).any(|start| self.matches(&path[start..]))
    }

    /// Whatever may be anything may be nothing.
    fn skip_empty(&self, reached: &mut [bool]) {
        for (at, piece) in self.0.iter().enumerate() {
            if reached[at] && matches!(piece, Piece::Anything { .. }) {
                reached[at + 1] = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn names() {
        let matching = |pattern: &str, name: &str| Glob::of_names(pattern).matches(name);
        for (pattern, name) in [
            ("*", ""),
            ("*", "a::b(int, char)"),
            ("stats.*", "stats.hits"),
            ("s?ats", "stats"),
            ("table[3].*", "table[3].next"),
            ("operator\\*", "operator*"),
            ("a*b*c", "aXbXbc"),
        ] {
            assert!(matching(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("", "a"), ("stats", "stats.hits"), ("?", ""), ("operator\\*", "operator+"), ("table[3]", "table3")]
        {
            assert!(!matching(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn paths() {
        let matching = |pattern: &str, path: &str| Glob::of_paths(pattern).matches_end_of(path);
        for (pattern, path) in [
            ("bank.c", "/src/bank/bank.c"),
            ("src/*.c", "/home/a/src/bank.c"),
            ("third_party/**", "/b/third_party/x/y.c"),
            ("/src/**", "/src/a/b.c"),
            ("bank.c", "./bank.c"),
        ] {
            assert!(matching(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [("bank.c", "/src/mybank.c"), ("src/*.c", "/src/a/bank.c"), ("/src/**", "/a/src/b.c")] {
            assert!(!matching(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!Glob::of_names(&"*a".repeat(50)).matches(&"a".repeat(40)));
    }
}
