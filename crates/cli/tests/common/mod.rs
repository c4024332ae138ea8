//! Running the command as a user does.

// Every test file is a crate of its own and uses a part of this.
#![allow(dead_code, clippy::unwrap_used)]

pub(crate) mod corpus;
pub(crate) mod expect;
pub(crate) mod schema;

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of its own for each test, in which the command runs.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A text that may name this folder, as it would be if it were called `FOLDER`.
    #[allow(dead_code)]
    pub(crate) fn anonymous(&self, text: &str) -> String {
        text.replace(&self.0.path().display().to_string(), "FOLDER")
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// What is in it, hidden files too, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command, to be run here. Names relative to the folder keep paths out of the output.
    pub(crate) fn command(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interloper"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        // Temporary files are the command's business; here one can see whether they are gone.
        command.env("TMPDIR", self.0.path()).env_remove("COLUMNS");
        command
    }

    pub(crate) fn run(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
        Run::of(self.command(args).output().unwrap())
    }

    /// Runs it with arguments written as on a command line, without quoting.
    pub(crate) fn cli(&self, line: &str) -> Run {
        self.run(line.split_whitespace())
    }

    /// Analyses a trace and returns the result document.
    pub(crate) fn analyze(&self, trace: &str, options: &str) -> Value {
        self.analyze_by("lockset", trace, options)
    }

    pub(crate) fn analyze_by(&self, model: &str, trace: &str, options: &str) -> Value {
        let run = self.cli(&format!("analyze {trace} --model {model} --format json {options}"));
        assert!(matches!(run.code, 0 | 1), "exit code {}: {}", run.code, run.stderr);
        run.json()
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Run {
        Run {
            code: output.status.code().unwrap_or_else(|| panic!("ended by a signal: {:?}", output.status)),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The document it wrote. Results are held against their schema, whichever test they come from.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let document = serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"));
        schema::assert_documented(&document);
        document
    }

    /// Expects a refusal: exit code 2 and nothing but a message. Returns the message.
    #[track_caller]
    pub(crate) fn refused(&self) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{self:?}");
        self.stderr.trim_end()
    }
}

/// STD text of lines given with spaces between: `T0|begin|1 T0|r(V)|2`.
pub(crate) fn std_lines(lines: &str) -> String {
    lines.split_whitespace().map(|line| format!("{line}\n")).collect()
}

/// The same with the location of each line being its number.
pub(crate) fn numbered(events: &str) -> String {
    events.split_whitespace().enumerate().map(|(at, event)| format!("{event}|{}\n", at + 1)).collect()
}

/// A file of the trace crate's test data.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/data").join(name)
}

/// RapidBin bytes: the header's counts, then (thread, operation, operand, location) each.
pub(crate) fn rapid_bin(counts: (i16, i32, i32), events: &[(u64, u64, u64, u64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(counts.0.to_be_bytes());
    bytes.extend(counts.1.to_be_bytes());
    bytes.extend(counts.2.to_be_bytes());
    bytes.extend((events.len() as i64).to_be_bytes());
    for &(thread, operation, operand, location) in events {
        bytes.extend((thread | operation << 10 | operand << 14 | location << 48).to_be_bytes());
    }
    bytes
}

/// A line of every operation that JSON Lines has. The trace crate's file is about form alone; here
/// it has to be a possible trace as well, so of its several ends of one wait the first must do.
pub(crate) fn every_operation() -> String {
    let all = fs::read_to_string(data("every_operation.jsonl")).unwrap();
    all.lines().filter(|line| !line.contains("\"wake\"")).map(|line| format!("{line}\n")).collect()
}

/// Where the runtime is, built as this command was. Cargo does not build it for a test by itself, since no crate
/// can depend on a library that only programs load.
pub(crate) fn runtime_directory() -> PathBuf {
    static BUILT: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    let build = || {
        let directory = Path::new(env!("CARGO_BIN_EXE_interloper")).parent().unwrap().to_owned();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "-p", "interloper-runtime"]);
        if directory.ends_with("release") {
            cargo.arg("--release");
        }
        cargo.arg("--target-dir").arg(directory.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(cargo.status().unwrap().success(), "the runtime cannot be built");
        directory
    };
    BUILT.get_or_init(build).clone()
}

/// JSON Lines of events written `A begin`, `A read x 0`, `A write x 1`, `A rmw x 0 1`, `A end`, by semicolons.
pub(crate) fn with_values(events: &str) -> String {
    let line = |event: &str| {
        let words: Vec<&str> = event.split_whitespace().collect();
        let rest = match words[2..] {
            [] => String::new(),
            [target, value] => format!(r#","target":"{target}","size":4,"value":{value}"#),
            [target, value, written] => {
                format!(r#","target":"{target}","size":4,"value":{value},"written":{written}"#)
            }
            _ => panic!("no such event: {event}"),
        };
        format!("{{\"thread\":\"{}\",\"op\":\"{}\"{rest},\"line\":1}}\n", words[0], words[1])
    };
    events.split(';').map(line).collect()
}
