//! Source files, as far as they are there to be read.
//!
//! A trace may come from another machine, or name whatever it likes. So nothing here fails: a file that is missing,
//! huge, no text or no file at all merely has no lines.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// What source files are called. A trace may name any file as one, and what is passed on must hold nothing else.
const EXTENSIONS: [&str; 24] = [
    "c", "h", "cc", "hh", "cp", "cpp", "hpp", "cxx", "hxx", "c++", "h++", "inl", "ipp", "ixx", "tcc", "tpp", "def",
    "inc", "y", "l", "s", "cu", "rs", "m",
];

/// Whether a file is called as source files are.
pub fn is_source(file: &str) -> bool {
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()))
}

/// Larger files are hardly written by people.
const LARGEST: u64 = 16 << 20;

/// Reads source files, each once.
#[derive(Debug, Default)]
pub struct Sources {
    /// What relative names are relative to, and names are shown relative to; none if nothing is to be read.
    folder: Option<PathBuf>,
    read: RefCell<HashMap<String, Option<Rc<Vec<String>>>>>,
}

impl Sources {
    /// Reads nothing.
    pub fn none() -> Self {
        Sources::default()
    }

    /// Reads files; relative names are taken from this folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Sources { folder: Some(folder.into()), read: RefCell::default() }
    }

    /// A line of a file, from one.
    pub fn line(&self, file: &str, line: i64) -> Option<String> {
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        self.lines(file)?.get(at).cloned()
    }

    /// A file's name as it is best shown: relative to the folder, if it is in it.
    pub fn shown<'f>(&self, file: &'f str) -> &'f str {
        let inside = self.folder.as_ref().and_then(|folder| Path::new(file).strip_prefix(folder).ok());
        match inside.and_then(Path::to_str) {
            Some(inside) if !inside.is_empty() => inside,
            _ => file.strip_prefix("./").unwrap_or(file),
        }
    }

    fn lines(&self, file: &str) -> Option<Rc<Vec<String>>> {
        let folder = self.folder.as_ref()?;
        let mut read = self.read.borrow_mut();
        read.entry(file.to_owned()).or_insert_with(|| read_lines(&folder.join(file)).map(Rc::new)).clone()
    }
}

fn read_lines(path: &Path) -> Option<Vec<String>> {
    // A device or a pipe would keep us waiting; what the kernel makes up is no source.
    let is_made_up = ["proc", "sys", "dev"]
        .iter()
        .any(|name| path.components().nth(1) == Some(Component::Normal(name.as_ref())) && path.is_absolute());
    if is_made_up || !fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LARGEST) {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::Sources;

    #[test]
    fn what_cannot_be_read_has_no_lines() {
        let sources = Sources::in_folder(env!("CARGO_MANIFEST_DIR"));
        for file in ["missing.c", "src", "/dev/zero", "/proc/self/environ", "\0", ""] {
            assert_eq!(sources.line(file, 1), None, "{file:?}");
        }
        assert_eq!(sources.line("Cargo.toml", 1).as_deref(), Some("[package]"));
        assert_eq!(sources.line("Cargo.toml", 0), None);
        assert_eq!(sources.line("Cargo.toml", i64::MIN), None);
        assert_eq!(Sources::none().line("Cargo.toml", 1), None);
    }

    #[test]
    fn source_files_are_told_by_their_names() {
        assert!(["a.c", "/src/B.HPP", "x.c++"].into_iter().all(super::is_source));
        assert!(!["/etc/passwd", "key.pem", ".c", "a", ""].into_iter().any(super::is_source));
    }

    #[test]
    fn names_are_shown_relative_to_the_folder() {
        let sources = Sources::in_folder("/src");
        assert_eq!(["/src/a/b.c", "/srca/b.c", "./b.c"].map(|file| sources.shown(file)), ["a/b.c", "/srca/b.c", "b.c"]);
    }
}
