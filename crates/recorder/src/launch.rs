//! Starting the program, reading what it says while it runs, and how it ends.

use crate::capture::{Capture, CapturedOutput, Printing};
use crate::control::Control;
use crate::drain::{Consumer, Drain};
use crate::error::RecordError;
use crate::stdin::Input;
use interloper_wire::VARIABLE;
use nix::sys::personality::{self, Persona};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With a status of its own.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl Exit {
    /// As a shell tells it.
    pub fn shell_code(self) -> u8 {
        match self {
            Exit::Code(code) => code as u8,
            Exit::Signal(signal) => 128_u8.wrapping_add(signal as u8),
        }
    }

    /// Whether it ended by a signal that comes from within, rather than from somebody outside.
    pub(crate) fn is_crash(self) -> bool {
        const CRASHES: [Signal; 7] = [
            Signal::SIGSEGV,
            Signal::SIGABRT,
            Signal::SIGBUS,
            Signal::SIGFPE,
            Signal::SIGILL,
            Signal::SIGTRAP,
            Signal::SIGSYS,
        ];
        matches!(self, Exit::Signal(number) if CRASHES.iter().any(|signal| *signal as i32 == number))
    }

    fn of(status: ExitStatus) -> Exit {
        match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, Some(signal)) => Exit::Signal(signal),
            (None, None) => Exit::Code(255),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "with status {code}"),
            Exit::Signal(signal) => write!(f, "by signal {signal}"),
        }
    }
}

/// How to start the program.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Where a library is that stands in for the one the program asks for.
    pub library_folder: Option<PathBuf>,
    /// A library to load though the program does not ask for it.
    pub preload: Option<PathBuf>,
}

/// Whoever waits for the program.
pub trait Observer {
    /// Called before the program is started; it may be so up to three times.
    fn starting(&mut self, run: u32) {
        let _ = run;
    }

    /// Called now and then while the program runs, with the number of bytes it has logged.
    fn running(&mut self, bytes: u64) {
        let _ = bytes;
    }

    /// Whether the program is to be asked to end (once; it may refuse).
    fn wants_end(&mut self) -> bool {
        false
    }

    /// Whether the user has had enough: the program is not started again.
    fn is_interrupted(&mut self) -> bool {
        false
    }
}

/// Does nothing but wait.
impl Observer for () {}

/// What a run has from us besides its orders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Care<'a> {
    pub(crate) input: &'a Input,
    pub(crate) printing: Printing,
    /// After how long it is killed.
    pub(crate) time_limit: Option<Duration>,
}

/// A program that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    /// It did not write what a runtime writes.
    pub(crate) garbled: bool,
    /// Addresses were chosen at random.
    pub(crate) random_addresses: bool,
    /// A runtime has come forward.
    pub(crate) attached: bool,
    /// It was killed because it took too long.
    pub(crate) timed_out: bool,
    /// What it printed, if that is kept.
    pub(crate) output: Option<CapturedOutput>,
}

impl Launch {
    /// Runs the program to its end.
    pub(crate) fn run(
        &self,
        control: &Control,
        care: Care<'_>,
        consumer: &mut impl Consumer,
        observer: &mut dyn Observer,
    ) -> Result<Ended, RecordError> {
        let fixed = FixedAddresses::set();
        let child = self.spawn(control, care);
        let random_addresses = !fixed.is_set;
        drop(fixed);
        let (child, capture) = child?;
        let mut watch = Watch { drain: Drain::new(), limit: care.time_limit, timed_out: false };
        let exit = watch.over(child, control, consumer, observer)?;
        let attached = control.is_claimed().map_err(RecordError::Control)?;
        let output = capture.read().map_err(RecordError::Capture)?;
        let (garbled, timed_out) = (watch.drain.garbled(), watch.timed_out);
        Ok(Ended { exit, garbled, random_addresses, attached, timed_out, output })
    }

    fn spawn(&self, control: &Control, care: Care<'_>) -> Result<(Child, Capture), RecordError> {
        let Some((program, arguments)) = self.command.split_first() else { return Err(RecordError::NoCommand) };
        let mut command = Command::new(program);
        command.args(arguments).env(VARIABLE, control.variable());
        if let Some(folder) = &self.library_folder {
            command.env("LD_LIBRARY_PATH", before(folder, "LD_LIBRARY_PATH"));
        }
        if let Some(library) = &self.preload {
            command.env("LD_PRELOAD", before(library, "LD_PRELOAD"));
        }
        let capture = Capture::of(&mut command, care.printing).map_err(RecordError::Capture)?;
        command.stdin(care.input.stdio().map_err(RecordError::Stdin)?);
        let mut child = command
            .spawn()
            .map_err(|source| RecordError::CannotStart { program: program.display().to_string(), source })?;
        if let Some(pipe) = child.stdin.take() {
            care.input.pump_into(pipe).map_err(RecordError::Stdin)?;
        }
        Ok((child, capture))
    }
}

/// A path, and then what is in the variable already.
fn before(path: &Path, variable: &str) -> OsString {
    let mut paths = path.as_os_str().to_owned();
    if let Some(rest) = std::env::var_os(variable).filter(|rest| !rest.is_empty()) {
        paths.push(":");
        paths.push(rest);
    }
    paths
}

/// Looks after a program that runs.
struct Watch {
    drain: Drain,
    limit: Option<Duration>,
    timed_out: bool,
}

impl Watch {
    /// Reads behind the program until it has ended and all is read.
    fn over(
        &mut self,
        mut child: Child,
        control: &Control,
        consumer: &mut impl Consumer,
        observer: &mut dyn Observer,
    ) -> Result<Exit, RecordError> {
        const SHORT: Duration = Duration::from_millis(1);
        const LONG: Duration = Duration::from_millis(5);
        /// With so much at once there is more to come.
        const PLENTY: u64 = 1 << 16;
        let begun = Instant::now();
        let mut pause = SHORT;
        let mut asked = false;
        let mut total = 0;
        loop {
            // In this order: what a dead program wrote, it wrote before.
            let status = child.try_wait().map_err(RecordError::Wait)?;
            let bytes = self.drain.poll(control, consumer).map_err(RecordError::Control)?;
            total += bytes;
            consumer.pause();
            if let Some(status) = status {
                return Ok(Exit::of(status));
            }
            observer.running(total);
            if !asked && observer.wants_end() {
                asked = true;
                // It may have ended in this very moment; then there is nothing to ask.
                let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM);
            }
            if !self.timed_out && self.limit.is_some_and(|limit| begun.elapsed() > limit) {
                self.timed_out = true;
                child.kill().map_err(RecordError::Wait)?;
            }
            if bytes < PLENTY {
                pause = if bytes > 0 { SHORT } else { (pause * 2).min(LONG) };
                std::thread::sleep(pause);
            }
        }
    }
}

/// Has children loaded at the same addresses every time, for as long as it lives.
struct FixedAddresses {
    before: Option<Persona>,
    is_set: bool,
}

impl FixedAddresses {
    fn set() -> Self {
        let Ok(before) = personality::get() else { return FixedAddresses { before: None, is_set: false } };
        // Where it is forbidden the program runs all the same, only somewhere else.
        let is_set = personality::set(before | Persona::ADDR_NO_RANDOMIZE).is_ok();
        FixedAddresses { before: Some(before).filter(|_| is_set), is_set }
    }
}

impl Drop for FixedAddresses {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = personality::set(before);
        }
    }
}
