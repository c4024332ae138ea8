//! Response files: `@file` on a command line stands for the arguments in that file.
//!
//! Read as gcc and clang read them on Linux: arguments are separated by white space, quotes of either
//! kind group, a backslash takes the next character literally, and a file may name further ones. What
//! cannot be read stays as it is, for then the compiler takes it for the name of an input.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

/// How many response files one command line may draw in; more means that they name each other in a circle.
const MAX_FILES: usize = 2000;

/// The arguments with every response file replaced by what it holds.
pub(crate) fn expand(arguments: &[OsString]) -> Vec<OsString> {
    let mut expanded = Vec::with_capacity(arguments.len());
    let mut pending: Vec<OsString> = arguments.iter().rev().cloned().collect();
    let mut files = 0;
    while let Some(argument) = pending.pop() {
        let content = match argument.as_bytes().strip_prefix(b"@") {
            Some(name) if files < MAX_FILES => std::fs::read(Path::new(OsStr::from_bytes(name))).ok(),
            _ => None,
        };
        match content {
            Some(content) => {
                files += 1;
                pending.extend(split(&content).into_iter().rev());
            }
            None => expanded.push(argument),
        }
    }
    expanded
}

fn split(content: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    // Not the same as an empty word, which quotes can make.
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = content.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (b'\'' | b'"', None) => {
                word.get_or_insert_default();
                quote = Some(byte);
            }
            (_, Some(open)) if byte == open => quote = None,
            (_, None) if byte.is_ascii_whitespace() || byte == b'\x0b' => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        split(text.as_bytes()).into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn words_are_split_as_by_the_compiler() {
        assert_eq!(words("-c  a.c\n-o\ta.o\n"), ["-c", "a.c", "-o", "a.o"]);
        assert_eq!(words(r#"'-DA="x y"' "b c".c"#), [r#"-DA="x y""#, "b c.c"]);
        assert_eq!(words(r#"-DS=\"x\" a\ b "q\"r" '' end\"#), [r#"-DS="x""#, "a b", r#"q"r"#, "", "end"]);
        assert!(words(" \n ").is_empty());
    }

    #[test]
    fn files_may_name_files_and_missing_ones_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let (outer, inner) = (folder.path().join("outer"), folder.path().join("inner"));
        std::fs::write(&outer, format!("-c @{}", inner.display())).expect("written");
        std::fs::write(&inner, "a.c").expect("written");
        let arguments = [format!("@{}", outer.display()).into(), "@missing".into(), "@".into()];
        assert_eq!(expand(&arguments), ["-c", "a.c", "@missing", "@"]);
    }

    #[test]
    fn a_circle_of_files_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("self");
        let name: OsString = format!("@{}", file.display()).into();
        std::fs::write(&file, name.as_bytes()).expect("written");
        assert_eq!(expand(std::slice::from_ref(&name)), [name]);
    }
}
