//! Where recordings go when nobody says where: a folder beside the work.
//!
//! `.interloper/traces/1.ilt`, `2.ilt`, …, and `.interloper/latest.ilt`, a link to the one recorded last. Results of
//! `check` are in `.interloper/results/1/result.json`, …, with traces of the runs they speak of beside them, and
//! `.interloper/latest.json` is a link to the last.

use anyhow::{Context as _, bail};
use interloper_trace::file::Format;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const FOLDER: &str = ".interloper";
const LATEST: &str = ".interloper/latest.ilt";
const LATEST_RESULT: &str = ".interloper/latest.json";

/// A place for a new trace: a file that is there already, so that nobody else takes it.
pub(crate) fn new_trace() -> anyhow::Result<PathBuf> {
    new_number("traces", ".ilt", |path| fs::File::create_new(path).map(drop))
}

/// Makes a trace the latest.
pub(crate) fn set_latest(trace: &Path) -> io::Result<()> {
    fs::create_dir_all(FOLDER)?;
    let target = match trace.strip_prefix(FOLDER) {
        Ok(inside) => inside.to_owned(),
        Err(_) => std::path::absolute(trace)?,
    };
    // Beside and then in place, so that there always is a latest one.
    let link = Path::new(FOLDER).join(format!("latest.{}", std::process::id()));
    std::os::unix::fs::symlink(target, &link)?;
    fs::rename(&link, LATEST)
}

/// The trace that was recorded last.
pub(crate) fn latest() -> anyhow::Result<PathBuf> {
    let path = PathBuf::from(LATEST);
    if path.exists() {
        return Ok(path);
    }
    bail!(
        "no trace given, and none has been recorded in {}; name a file ({}), or record a program: `interloper record \
         -- CMD`",
        here(),
        Format::EXTENSIONS
    )
}

/// Whether the user means what was made last. A file of that name goes before.
pub(crate) fn is_latest(given: &Path) -> bool {
    given.as_os_str() == "latest" && !given.exists()
}

/// Says that there is no result, and what to do about it.
pub(crate) fn no_result() -> String {
    format!("there is no result in {} yet; `interloper check -- CMD` makes one", here())
}

/// The folder that traces and results are kept in.
fn here() -> String {
    std::path::absolute(FOLDER).map_or_else(|_| FOLDER.to_owned(), |folder| folder.display().to_string())
}

/// A place for a new result: a folder of its own.
pub(crate) fn new_result() -> anyhow::Result<PathBuf> {
    new_number("results", "", |path| fs::create_dir(path))
}

/// The name of a result in its folder.
pub(crate) const RESULT: &str = "result.json";

/// Makes a result the latest.
pub(crate) fn set_latest_result(folder: &Path) -> io::Result<()> {
    let inside = folder.strip_prefix(FOLDER).unwrap_or(folder).join(RESULT);
    let link = Path::new(FOLDER).join(format!("latest.{}.json", std::process::id()));
    std::os::unix::fs::symlink(inside, &link)?;
    fs::rename(&link, LATEST_RESULT)
}

/// The result that was written last, if there is one.
pub(crate) fn latest_result() -> Option<PathBuf> {
    let path = PathBuf::from(LATEST_RESULT);
    path.exists().then_some(path)
}

/// Where the result with this number is.
pub(crate) fn result_numbered(number: u64) -> PathBuf {
    Path::new(FOLDER).join("results").join(number.to_string()).join(RESULT)
}

/// The folder in which a result was made, if it is where such results are.
pub(crate) fn folder_of_result(result: &Path) -> Option<PathBuf> {
    let store = result.parent()?.parent()?.parent()?;
    store.ends_with(FOLDER).then(|| store.parent().map(Path::to_owned))?
}

/// A folder for libraries that stand in for others.
pub(crate) fn shim_folder() -> anyhow::Result<PathBuf> {
    let folder = Path::new(FOLDER).join("shim");
    std::path::absolute(&folder).with_context(|| format!("{}: cannot be found", folder.display()))
}

/// Makes the next of what is numbered.
fn new_number(kind: &str, extension: &str, make: fn(&Path) -> io::Result<()>) -> anyhow::Result<PathBuf> {
    let folder = Path::new(FOLDER).join(kind);
    fs::create_dir_all(&folder).with_context(|| {
        format!(
            "{} (where traces and results are kept; run interloper in a folder that you may write to): cannot create",
            here()
        )
    })?;
    let entries = fs::read_dir(&folder).with_context(|| format!("{}: cannot read", folder.display()))?;
    let numbers = entries.filter_map(|entry| entry.ok()?.path().file_stem()?.to_str()?.parse::<u64>().ok());
    let mut number = numbers.max().unwrap_or(0);
    loop {
        number += 1;
        let path = folder.join(format!("{number}{extension}"));
        match make(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("{}: cannot create", path.display())),
        }
    }
}
