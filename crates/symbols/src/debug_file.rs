//! Debug information that was split off into a file of its own.
//!
//! It is looked for where gdb does: by build id, then by debug link beside the file, in `.debug` beside
//! it, and below the global directory. A file is taken only if it is known to belong: by equal build ids,
//! or, where the file has none, by the checksum of the debug link.

use crate::elf::{ElfFile, read_whole};
use std::path::{Component, Path, PathBuf};

/// Where distributions put debug information.
const GLOBAL: &str = "/usr/lib/debug";

/// The separate debug file of `elf`, which was read from `path`.
pub(crate) fn find(path: &Path, elf: &ElfFile) -> Option<ElfFile> {
    let build_id = elf.build_id();
    let link = elf.debug_link();
    let name = link.as_ref().map(|(name, _)| name.as_str());
    let path = path.canonicalize().ok()?;
    candidates(&path, build_id.as_deref(), name).into_iter().filter(|candidate| *candidate != path).find_map(
        |candidate| {
            let bytes = read_whole(&candidate).ok()?;
            let checksum = link.as_ref().map(|&(_, checksum)| checksum);
            let by_checksum = || checksum == Some(crc32fast::hash(&bytes));
            let belongs_by_checksum = build_id.is_none() && by_checksum();
            let debug = ElfFile::from_bytes(bytes).ok()?;
            let belongs = belongs_by_checksum || (build_id.is_some() && debug.build_id() == build_id);
            (belongs && debug.has_debug_info()).then_some(debug)
        },
    )
}

/// Where the debug file may be, best first.
fn candidates(path: &Path, build_id: Option<&str>, link: Option<&str>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some((directory, rest)) = build_id.and_then(|id| id.split_at_checked(2)) {
        found.push(Path::new(GLOBAL).join(".build-id").join(directory).join(format!("{rest}.debug")));
    }
    // The link is the name of a file; with more in it, it would lead anywhere.
    let link = link.filter(|name| matches!(single(name), Some(Component::Normal(_))));
    if let (Some(name), Some(directory)) = (link, path.parent()) {
        found.push(directory.join(name));
        found.push(directory.join(".debug").join(name));
        found.push(Path::new(GLOBAL).join(directory.strip_prefix("/").unwrap_or(directory)).join(name));
    }
    found
}

fn single(name: &str) -> Option<Component<'_>> {
    let mut components = Path::new(name).components();
    let first = components.next()?;
    components.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_gdb() {
        let found = candidates(Path::new("/opt/bank/teller"), Some("abcdef"), Some("teller.debug"));
        let found: Vec<_> = found.iter().map(|path| path.to_str().unwrap_or_default()).collect();
        assert_eq!(
            found,
            [
                "/usr/lib/debug/.build-id/ab/cdef.debug",
                "/opt/bank/teller.debug",
                "/opt/bank/.debug/teller.debug",
                "/usr/lib/debug/opt/bank/teller.debug"
            ]
        );
    }

    #[test]
    fn a_link_does_not_lead_elsewhere() {
        assert!(candidates(Path::new("/opt/teller"), None, Some("../../etc/passwd")).is_empty());
        assert!(candidates(Path::new("/opt/teller"), None, Some("..")).is_empty());
        assert!(candidates(Path::new("/opt/teller"), None, Some("/etc/passwd")).is_empty());
        assert!(candidates(Path::new("/opt/teller"), Some("a"), None).is_empty());
    }
}
