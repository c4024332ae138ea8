//! Which compiler to run, and what kind of compiler that is.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
use thiserror::Error;

/// The language of the command that was given: which default compiler, and which of `CC` and `CXX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `interloper cc`.
    C,
    /// `interloper c++`.
    Cxx,
}

/// The variables that choose a compiler, as they are or as a test wants them.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `INTERLOPER_COMPILER`: the compiler to use.
    pub compiler: Option<OsString>,
    /// `CC` or `CXX`, after the language; ignored where it names this program.
    pub usual: Option<OsString>,
    /// `INTERLOPER_BRANCHES`: report branches, too.
    pub branches: bool,
    /// Set by us for the compiler we run. Found set, the compiler that was chosen is a wrapper around
    /// this program, and choosing it again would not end.
    pub nested: bool,
}

pub(crate) const NESTED: &str = "INTERLOPER_NESTED_COMPILER";

impl Environment {
    /// The variables of this process.
    pub fn of_process(language: Language) -> Environment {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Environment {
            compiler: set("INTERLOPER_COMPILER"),
            usual: set(match language {
                Language::C => "CC",
                Language::Cxx => "CXX",
            }),
            branches: set("INTERLOPER_BRANCHES").is_some_and(|value| value != "0"),
            nested: set(NESTED).is_some(),
        }
    }
}

/// The families of compilers whose options are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// gcc, of this major version.
    Gcc {
        /// `__GNUC__`.
        major: u32,
    },
    /// clang, and what calls itself so.
    Clang,
}

/// A compiler that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The program and its first arguments, as in `CC="ccache gcc -m64"`.
    pub words: Vec<OsString>,
    /// What it is.
    pub family: Family,
}

/// Why there is no compiler to run.
#[derive(Debug, Error)]
pub enum ChoiceError {
    /// It could not be started.
    #[error("cannot run the compiler {name}: {source}; install it, or name another with --compiler PATH")]
    Start {
        /// The program.
        name: String,
        /// Why not.
        source: std::io::Error,
    },
    /// It is neither gcc nor clang.
    #[error(
        "{name} defines neither __GNUC__ nor __clang__ when asked with `-dM -E -x c /dev/null`; \
         only gcc and clang are known, name one with --compiler PATH"
    )]
    Unknown {
        /// The program.
        name: String,
    },
}

impl Compiler {
    /// The compiler that was asked for: by option, by `INTERLOPER_COMPILER`, by `CC` or `CXX`, or gcc.
    pub fn choose(
        language: Language,
        option: Option<&OsStr>,
        environment: &Environment,
    ) -> Result<Compiler, ChoiceError> {
        Compiler::identify(chosen_words(language, option, environment))
    }

    fn identify(words: Vec<OsString>) -> Result<Compiler, ChoiceError> {
        let name = || words.join(" ".as_ref()).to_string_lossy().into_owned();
        // A wrapper around this program must not end in a circle here either.
        let output = Command::new(&words[0])
            .args(&words[1..])
            .args(["-dM", "-E", "-x", "c", "/dev/null"])
            .env(NESTED, "1")
            .stdin(Stdio::null())
            .output()
            .map_err(|source| ChoiceError::Start { name: name(), source })?;
        match family_of(&String::from_utf8_lossy(&output.stdout)) {
            Some(family) => Ok(Compiler { words, family }),
            None => Err(ChoiceError::Unknown { name: name() }),
        }
    }
}

fn chosen_words(language: Language, option: Option<&OsStr>, environment: &Environment) -> Vec<OsString> {
    let default = match language {
        Language::C => "gcc",
        Language::Cxx => "g++",
    };
    if let Some(path) = option {
        return vec![path.to_owned()];
    }
    if !environment.nested {
        if let Some(words) = environment.compiler.as_deref().map(words_of).filter(|words| !words.is_empty()) {
            return words;
        }
        let usual = environment.usual.as_deref().map(words_of).filter(|words| !words.is_empty());
        if let Some(words) = usual.filter(|words| !words.iter().any(is_this_program)) {
            return words;
        }
    }
    vec![default.into()]
}

/// As make and the shell take `CC` apart; quotes are not usual there.
fn words_of(text: &OsStr) -> Vec<OsString> {
    let words = text.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.map(|word| OsString::from_vec(word.to_vec())).collect()
}

fn is_this_program(word: &OsString) -> bool {
    let name = Path::new(word).file_name();
    name == Some("interloper".as_ref())
        || (name.is_some() && name == std::env::current_exe().ok().as_deref().and_then(Path::file_name))
}

/// By the macros that the compiler predefines; clang defines `__GNUC__`, too.
fn family_of(macros: &str) -> Option<Family> {
    let value = |name: &str| {
        macros.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' '))
    };
    if value("__clang__").is_some() {
        return Some(Family::Clang);
    }
    value("__GNUC__")?.trim().parse().ok().map(|major| Family::Gcc { major })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(option: Option<&str>, compiler: Option<&str>, usual: Option<&str>, nested: bool) -> String {
        let environment = Environment {
            compiler: compiler.map(OsString::from),
            usual: usual.map(OsString::from),
            branches: false,
            nested,
        };
        let words = chosen_words(Language::Cxx, option.map(OsStr::new), &environment);
        words.join("|".as_ref()).into_string().expect("UTF-8")
    }

    #[test]
    fn option_before_variable_before_custom() {
        assert_eq!(chosen(None, None, None, false), "g++");
        assert_eq!(chosen(None, None, Some("clang++ -m64"), false), "clang++|-m64");
        assert_eq!(chosen(None, Some("g++-12"), Some("clang++"), false), "g++-12");
        assert_eq!(chosen(Some("/odd path/g++"), Some("g++-12"), Some("clang++"), false), "/odd path/g++");
    }

    #[test]
    fn we_are_not_our_own_compiler() {
        assert_eq!(chosen(None, None, Some("/opt/bin/interloper c++"), false), "g++");
        assert_eq!(chosen(None, None, Some("ccache interloper c++"), false), "g++");
        assert_eq!(chosen(None, Some("wrapper"), Some("wrapper"), true), "g++");
        assert_eq!(chosen(None, Some(" "), Some(""), false), "g++");
    }

    #[test]
    fn macros_tell_the_family() {
        assert_eq!(family_of("#define __GNUC_MINOR__ 2\n#define __GNUC__ 12\n"), Some(Family::Gcc { major: 12 }));
        assert_eq!(family_of("#define __GNUC__ 4\n#define __clang__ 1\n"), Some(Family::Clang));
        assert_eq!(family_of("#define __TINYC__ 927\n"), None);
    }
}
