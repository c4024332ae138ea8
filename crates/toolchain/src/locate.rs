//! Where the runtime library and the header are, as seen from an `interloper` executable.
//!
//! Two layouts are known: the place where cargo builds (the library beside the executable, the header in
//! the checkout above it), and an installation (`PREFIX/bin`, `PREFIX/lib/interloper`, `PREFIX/include`).
//! `INTERLOPER_RUNTIME` and `INTERLOPER_INCLUDE` name the directories of library and header instead, as
//! for a cargo that builds outside of the checkout. Nothing else is searched, so that a program is never
//! recorded by another version's runtime.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The file name of the runtime library.
pub const RUNTIME_NAME: &str = "libinterloper_rt.so";

/// The file name of the header.
pub const HEADER_NAME: &str = "interloper.h";

/// The names under which compilers link a ThreadSanitizer runtime of their own, as a shared library.
///
/// gcc has numbered it 0 (gcc 4.8 to 10), 1 (11) and 2 (since 12).
pub const SHIM_NAMES: &[&str] =
    &["libtsan.so.0", "libtsan.so.1", "libtsan.so.2", "libclang_rt.tsan-x86_64.so", "libclang_rt.tsan.so"];

/// Where things are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The directory that holds the runtime library.
    pub runtime: PathBuf,
    /// The directory that holds the header.
    pub include: PathBuf,
}

/// What is missing.
#[derive(Debug, Error)]
pub enum LocateError {
    /// The library.
    #[error(
        "no {RUNTIME_NAME} in {searched}; in a checkout `make build` makes it, `make install` installs it, \
         and INTERLOPER_RUNTIME=DIRECTORY names another place"
    )]
    Runtime {
        /// The directories looked into.
        searched: String,
    },
    /// The header.
    #[error(
        "no {HEADER_NAME} in {searched}; run interloper from its checkout, install it with `make install`, \
         or name another place by INTERLOPER_INCLUDE=DIRECTORY"
    )]
    Header {
        /// Where it was looked for.
        searched: String,
    },
    /// The path of the executable cannot be made out.
    #[error("cannot make out where the interloper executable is: {0}")]
    Executable(#[source] io::Error),
}

impl Installation {
    /// Finds what belongs to the running executable.
    pub fn of_process() -> Result<Installation, LocateError> {
        let executable = std::env::current_exe().map_err(LocateError::Executable)?;
        let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty());
        Ok(Installation {
            runtime: runtime_directory(&executable, named("INTERLOPER_RUNTIME").as_deref())?,
            include: include_directory(&executable, named("INTERLOPER_INCLUDE").as_deref())?,
        })
    }
}

/// The directory that holds the runtime library of an executable, or the one that is `named` instead.
pub fn runtime_directory(executable: &Path, named: Option<&OsStr>) -> Result<PathBuf, LocateError> {
    let candidates = match named {
        Some(directory) => vec![absolute(directory)],
        None => {
            let beside = directory_of(executable)?;
            let installed = beside.parent().map(|prefix| prefix.join("lib/interloper"));
            [Some(beside), installed].into_iter().flatten().collect()
        }
    };
    let found = candidates.iter().find(|directory| directory.join(RUNTIME_NAME).is_file());
    found.cloned().ok_or_else(|| LocateError::Runtime { searched: listed(&candidates) })
}

/// The directory that holds the header of an executable, or the one that is `named` instead.
pub fn include_directory(executable: &Path, named: Option<&OsStr>) -> Result<PathBuf, LocateError> {
    let candidates = match named {
        Some(directory) => vec![absolute(directory)],
        // `PREFIX/include` and `CHECKOUT/include` are both found on the way up.
        None => directory_of(executable)?.ancestors().map(|ancestor| ancestor.join("include")).collect(),
    };
    let found = candidates.iter().find(|include| include.join(HEADER_NAME).is_file());
    found.cloned().ok_or_else(|| LocateError::Header {
        searched: match named {
            Some(_) => listed(&candidates),
            None => format!("include/ beside or above {}", executable.display()),
        },
    })
}

/// Makes `at` a directory in which the runtime goes by the names of the compilers' own, so that a program
/// linked with one of those finds ours there by `LD_LIBRARY_PATH`.
///
/// The directory is created if need be; links that are already right are left alone, so that several
/// processes may share it.
pub fn shim_directory(runtime: &Path, at: &Path) -> io::Result<()> {
    std::fs::create_dir_all(at)?;
    let library = std::path::absolute(runtime.join(RUNTIME_NAME))?;
    for name in SHIM_NAMES.iter().chain([&RUNTIME_NAME]) {
        let link = at.join(name);
        match symlink(&library, &link) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if std::fs::read_link(&link).ok().as_ref() != Some(&library) {
                    return Err(error);
                }
            }
            outcome => outcome?,
        }
    }
    Ok(())
}

/// Programs are run elsewhere than where they are linked.
fn absolute(directory: &OsStr) -> PathBuf {
    std::path::absolute(directory).unwrap_or_else(|_| directory.into())
}

/// Links are followed, since the rest lies beside the file and not beside a link to it.
fn directory_of(executable: &Path) -> Result<PathBuf, LocateError> {
    let real = executable.canonicalize().map_err(LocateError::Executable)?;
    Ok(real.parent().map(Path::to_path_buf).unwrap_or_default())
}

fn listed(directories: &[PathBuf]) -> String {
    let names: Vec<_> = directories.iter().map(|directory| directory.display().to_string()).collect();
    names.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            std::fs::write(path, "").expect("written");
        }
        root
    }

    fn found(root: &tempfile::TempDir, executable: &str) -> (String, String) {
        let real = root.path().canonicalize().expect("a path");
        let executable = root.path().join(executable);
        let relative = |path: PathBuf| path.strip_prefix(&real).expect("inside").display().to_string();
        (
            relative(runtime_directory(&executable, None).expect("found")),
            relative(include_directory(&executable, None).expect("found")),
        )
    }

    #[test]
    fn a_checkout_works_in_place() {
        let root = tree(&["target/release/interloper", "target/release/libinterloper_rt.so", "include/interloper.h"]);
        assert_eq!(found(&root, "target/release/interloper"), ("target/release".into(), "include".into()));
    }

    #[test]
    fn an_installation_works_through_a_link() {
        let root = tree(&["p/bin/interloper", "p/lib/interloper/libinterloper_rt.so", "p/include/interloper.h"]);
        symlink("p/bin/interloper", root.path().join("alias")).expect("linked");
        assert_eq!(found(&root, "alias"), ("p/lib/interloper".into(), "p/include".into()));
    }

    #[test]
    fn what_is_missing_is_said() {
        let root = tree(&["bin/interloper"]);
        let executable = root.path().join("bin/interloper");
        let error = runtime_directory(&executable, None).expect_err("nothing there").to_string();
        assert!(error.contains("lib/interloper") && error.contains("make build"), "{error}");
        let error = runtime_directory(&executable, Some("elsewhere".as_ref())).expect_err("nothing there");
        assert!(error.to_string().contains("/elsewhere;"), "{error}");
        let error = include_directory(&executable, None).expect_err("nothing there").to_string();
        assert!(error.contains("bin/interloper") && error.contains("make install"), "{error}");
    }

    #[test]
    fn the_shim_directory_can_be_made_twice_but_not_for_two_runtimes() {
        let root = tree(&["one/libinterloper_rt.so", "two/libinterloper_rt.so"]);
        let at = root.path().join("shim");
        shim_directory(&root.path().join("one"), &at).expect("made");
        shim_directory(&root.path().join("one"), &at).expect("still there");
        assert!(at.join("libtsan.so.2").is_file());
        assert!(shim_directory(&root.path().join("two"), &at).is_err());
    }
}
