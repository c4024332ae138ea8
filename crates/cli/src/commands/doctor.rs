//! `interloper doctor`: is all there that recording needs, and what is to be done if not?
//!
//! What can be tried is tried: a small program is compiled with each compiler, and recorded.

mod program;

use crate::args::DoctorArgs;
use crate::exit::Exit;
use crate::output::Target;
use interloper_report::printable::Printable;
use interloper_report::wrapped;
use interloper_toolchain::{HEADER_NAME, Installation, Instrumentation, RUNTIME_NAME, inspect};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Two threads and a lock: what any program to be checked has.
const PROBE: &str = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static void *work(void *none) {
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    return none;
}
int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, 0, work, 0)) return 2;
    work(0);
    pthread_join(thread, 0);
    return shared == 2 ? 0 : 1;
}
";

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Good,
    /// It can be done without.
    Poor,
    /// It cannot.
    Bad,
}

/// What was found out.
#[derive(Default)]
struct Findings {
    text: String,
    is_bad: bool,
}

impl Findings {
    fn heading(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", if self.text.is_empty() { "" } else { "\n" });
    }

    /// Says how something is, and what to do about it.
    fn say(&mut self, state: State, text: &str, advice: &str) {
        let mark = match state {
            State::Good => "ok  ",
            State::Poor => "note",
            State::Bad => "BAD ",
        };
        self.is_bad |= state == State::Bad;
        wrapped(&mut self.text, &format!("  {mark}  "), "          ", &Printable(text).to_string());
        if state != State::Good && !advice.is_empty() {
            wrapped(&mut self.text, "        > ", "          ", &Printable(advice).to_string());
        }
    }
}

pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<Exit> {
    let mut findings = Findings::default();
    findings.heading("interloper");
    let is_installed = installation(&mut findings);
    findings.heading("compilers");
    let scratch = tempfile::tempdir()?;
    // Without its own files no compiler could be of use, and none is to blame.
    let compiled = is_installed && compilers(&mut findings, scratch.path());
    if !is_installed {
        findings.say(State::Poor, "not tried, since interloper itself is not complete", "");
    }
    findings.heading("system");
    system(&mut findings);
    if compiled {
        recording(&mut findings, scratch.path());
    }
    if let Some(program) = &args.program {
        findings.heading(&program.display().to_string());
        program::look_at(&mut findings, program);
    }
    let advice =
        if findings.is_bad { "\nWhat is marked BAD has to be mended before programs can be checked.\n" } else { "" };
    Target::Stdout.write_text(&(findings.text + advice))?;
    Ok(if findings.is_bad { Exit::Unsupported } else { Exit::Clean })
}

fn installation(findings: &mut Findings) -> bool {
    findings.say(State::Good, concat!("version ", env!("CARGO_PKG_VERSION")), "");
    match Installation::of_process() {
        Ok(found) => {
            findings.say(State::Good, &format!("runtime {}", found.runtime.join(RUNTIME_NAME).display()), "");
            findings.say(State::Good, &format!("header {}", found.include.join(HEADER_NAME).display()), "");
            true
        }
        Err(error) => {
            findings.say(State::Bad, &error.to_string(), "build it with `cargo build --release`, or `make install` it");
            false
        }
    }
}

/// Tries each compiler; true if `probe` was built by one.
fn compilers(findings: &mut Findings, scratch: &Path) -> bool {
    let _ = std::fs::write(scratch.join("probe.c"), PROBE);
    let mut is_built = false;
    for (compiler, command, package) in
        [("gcc", "cc", "gcc"), ("g++", "c++", "g++"), ("clang", "cc", "clang"), ("clang++", "c++", "clang")]
    {
        let Some(version) = version(compiler) else {
            match compiler.starts_with('g') {
                true => findings.say(State::Poor, &format!("{compiler} is not there"), &format!("install {package}")),
                false => findings.say(State::Good, &format!("{compiler} is not there, and need not be"), ""),
            }
            continue;
        };
        let name = format!("probe-{compiler}");
        let built = interloper(scratch)
            .args([command, "--compiler", compiler, "-g", "-pthread", "probe.c", "-o", &name])
            .output();
        match built {
            Ok(output) if output.status.success() => {
                let is_ours = matches!(inspect(&scratch.join(&name)), Ok(Instrumentation::Ours));
                let state = if is_ours { State::Good } else { State::Bad };
                findings.say(
                    state,
                    &format!("{version} instruments for recording"),
                    "the program is not linked as it should be",
                );
                if is_ours && !is_built {
                    is_built = std::fs::rename(scratch.join(&name), scratch.join("probe")).is_ok();
                }
            }
            failed => {
                let why = first_line(failed.ok().as_ref());
                let advice = format!("-fsanitize=thread does not work: {why}");
                findings.say(State::Poor, &format!("{version} does not instrument"), &advice);
            }
        }
    }
    if !is_built {
        findings.say(
            State::Bad,
            "no compiler can build programs for recording",
            "install gcc and g++ (Debian: apt-get install g++)",
        );
    }
    is_built
}

fn version(compiler: &str) -> Option<String> {
    let output = Command::new(compiler).arg("--version").stdin(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or(compiler).to_owned())
}

fn first_line(output: Option<&Output>) -> String {
    let text = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("it cannot be run").to_owned()
}

/// This very command, somewhere else.
fn interloper(folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "interloper".into()));
    command.current_dir(folder).stdin(Stdio::null());
    for name in ["CC", "CXX", "INTERLOPER_COMPILER"] {
        command.env_remove(name);
    }
    command
}

fn system(findings: &mut Findings) {
    let machine = std::env::consts::ARCH;
    let state = if machine == "x86_64" { State::Good } else { State::Bad };
    findings.say(state, &format!("Linux on {machine}"), "programs can be recorded on x86-64 only");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    findings.say(State::Good, &format!("{cores} processors to decide with"), "");
    // The same addresses in every run make heap and stack the same in every run.
    let fixed = Command::new("setarch").args(["-R", "true"]).stdin(Stdio::null()).stderr(Stdio::null()).status();
    match fixed {
        Ok(status) if status.success() => findings.say(State::Good, "addresses can be kept the same in every run", ""),
        Ok(_) => findings.say(
            State::Poor,
            "addresses cannot be kept the same in every run: personality(2) is forbidden here",
            "in a container: --security-opt seccomp=unconfined, or a profile that allows personality",
        ),
        Err(_) => findings.say(State::Poor, "not known whether addresses can be kept the same", "install util-linux"),
    }
    let writable = std::env::temp_dir();
    match tempfile::tempfile() {
        Ok(_) => findings.say(State::Good, &format!("{} can be written to", writable.display()), ""),
        Err(error) => {
            findings.say(State::Bad, &format!("{}: {error}", writable.display()), "set TMPDIR to a folder with room");
        }
    }
}

/// Records what was compiled.
fn recording(findings: &mut Findings, scratch: &Path) {
    let recorded = interloper(scratch).args(["record", "--no-progress", "-o", "probe.ilt", "--", "./probe"]).output();
    match recorded {
        Ok(output) if output.status.success() => findings.say(State::Good, "a program was recorded", ""),
        failed => findings.say(
            State::Bad,
            "a program could not be recorded",
            &format!("interloper record says: {}", first_line(failed.ok().as_ref())),
        ),
    }
}
