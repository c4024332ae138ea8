//! What can be said of a program before it is recorded.

use super::{Findings, State};
use interloper_toolchain::{Instrumentation, has_debug_info, inspect};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Libraries that nobody instruments, and whose calls are known.
const USUAL: [&str; 12] = [
    "ld-linux",
    "libc.so",
    "libm.so",
    "libpthread",
    "libdl.so",
    "librt.so",
    "libstdc++",
    "libc++",
    "libgcc_s",
    "libtsan",
    "libclang_rt",
    "libinterloper_rt",
];

pub(super) fn look_at(findings: &mut Findings, program: &Path) {
    let instrumentation = match inspect(program) {
        Ok(instrumentation) => instrumentation,
        Err(error) => {
            return findings.say(State::Bad, &error.to_string(), "give a program that `interloper cc` has built");
        }
    };
    match (instrumentation.obstacle(), instrumentation.note()) {
        (Some(obstacle), _) => findings.say(State::Bad, &format!("it {obstacle}"), ""),
        (None, Some(note)) => findings.say(State::Poor, &format!("it {note}"), ""),
        (None, None) => findings.say(State::Good, "it is instrumented", ""),
    }
    if matches!(instrumentation, Instrumentation::Script | Instrumentation::NotElf | Instrumentation::OtherArchitecture)
    {
        return;
    }
    match has_debug_info(program) {
        Ok(true) => findings.say(State::Good, "it has debug information", ""),
        Ok(false) => findings.say(
            State::Poor,
            "it has no debug information: findings will name neither files nor variables",
            "compile with -g, and do not strip it",
        ),
        Err(error) => findings.say(State::Poor, &error.to_string(), ""),
    }
    libraries(findings, program);
}

/// Which of its libraries are not seen into.
fn libraries(findings: &mut Findings, program: &Path) {
    let libraries = libraries_of(program);
    let own: Vec<&PathBuf> = libraries
        .iter()
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            !USUAL.iter().any(|usual| name.starts_with(usual))
        })
        .collect();
    let (seen, unseen): (Vec<&PathBuf>, Vec<&PathBuf>) =
        own.into_iter().partition(|path| !matches!(inspect(path), Ok(Instrumentation::NotInstrumented)));
    for library in seen {
        findings.say(State::Good, &format!("{} is instrumented", library.display()), "");
    }
    for library in unseen {
        findings.say(
            State::Poor,
            &format!("{} is not instrumented: what it accesses is not seen", library.display()),
            "build it with `interloper cc` or `interloper c++`, too, if it has to do with threads",
        );
    }
}

/// What the loader would load.
fn libraries_of(program: &Path) -> Vec<PathBuf> {
    let path = std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
    let Ok(output) = Command::new("ldd").arg(path).stdin(Stdio::null()).output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| line.split_once("=> ")?.1.split(" (").next())
        .filter(|path| path.starts_with('/'))
        .map(PathBuf::from)
        .collect()
}
