//! Running contenders in turns, and what the kernel says each run has cost.

use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// A command line that competes.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    program: OsString,
    arguments: Vec<OsString>,
    environment: &'static [(&'static str, &'static str)],
    /// The statuses it may end with.
    expected: &'static [i32],
}

impl Contender {
    pub(crate) fn new(name: &'static str, program: &Path, arguments: &[&str], input: &Path) -> Self {
        let mut arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        arguments.push(input.into());
        // One means that something was found, which is none of our business.
        Contender { name, program: program.into(), arguments, environment: &[], expected: &[0, 1] }
    }

    /// Any program with its arguments and what it needs to find in its environment; it must succeed.
    pub(crate) fn program(
        name: &'static str,
        command: Vec<OsString>,
        environment: &'static [(&'static str, &'static str)],
    ) -> Self {
        let mut words = command.into_iter();
        let program = words.next().unwrap_or_default();
        Contender { name, program, arguments: words.collect(), environment, expected: &[0] }
    }
}

/// What a run has cost; of several runs, the least of each.
#[derive(Clone)]
pub(crate) struct Cost {
    /// User and system time of all its threads, and of the processes it waited for.
    pub(crate) cpu: Duration,
    /// From start to end.
    pub(crate) wall: Duration,
    /// The most memory it ever had, in bytes.
    pub(crate) memory: u64,
    /// What it said on standard error; of several runs, all of it.
    pub(crate) said: String,
}

impl Cost {
    fn merge(&mut self, other: Cost) {
        self.cpu = self.cpu.min(other.cpu);
        self.wall = self.wall.min(other.wall);
        self.memory = self.memory.min(other.memory);
        self.said += &other.said;
    }
}

/// Runs the contenders in turns and returns what each cost, in their order.
///
/// A round before the first brings files and binaries into memory; it does not count.
pub(crate) fn side_by_side(contenders: &[Contender], rounds: u32) -> Result<Vec<Cost>> {
    for contender in contenders {
        run(contender)?;
    }
    let mut costs = contenders.iter().map(run).collect::<Result<Vec<Cost>>>()?;
    for _ in 1..rounds {
        for (contender, cost) in contenders.iter().zip(&mut costs) {
            cost.merge(run(contender)?);
        }
    }
    Ok(costs)
}

/// A run that may have been cut short.
pub(crate) struct Limited {
    pub(crate) cost: Cost,
    /// What it printed until then.
    pub(crate) printed: String,
    /// It used up its time.
    pub(crate) is_over: bool,
}

/// Runs a command that may use so many seconds of CPU time, and has to end with one of these statuses within them.
pub(crate) fn limited(command: &[OsString], expected: &[i32], seconds: u64) -> Result<Limited> {
    let mut limiter = Command::new("sh");
    limiter.args(["-c", "ulimit -t \"$0\"; exec \"$@\"", &seconds.to_string()]).args(command);
    limiter.stdout(Stdio::piped()).stderr(Stdio::null());
    let name = command[0].display();
    let (status, cost, printed) = account(limiter).with_context(|| format!("cannot run {name}"))?;
    let is_fine = status.code().is_some_and(|code| expected.contains(&code));
    let is_over = !is_fine && cost.cpu.as_secs_f64() > 0.95 * seconds as f64;
    if !is_fine && !is_over {
        bail!("{name} failed ({status}):\n{printed}");
    }
    Ok(Limited { cost, printed, is_over })
}

fn run(contender: &Contender) -> Result<Cost> {
    let mut command = Command::new(&contender.program);
    command.args(&contender.arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    command.envs(contender.environment.iter().copied());
    let name = contender.program.display();
    let (status, cost, said) = account(command).with_context(|| format!("cannot run {name}"))?;
    if !status.code().is_some_and(|code| contender.expected.contains(&code)) {
        bail!("{name} failed ({status}):\n{said}");
    }
    Ok(Cost { said, ..cost })
}

/// Runs a command to its end: how it ended, what that cost, and what came through the pipe that it was given.
fn account(mut command: Command) -> std::io::Result<(ExitStatus, Cost, String)> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).spawn()?;
    let mut piped = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut piped)?;
    }
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut piped)?;
    }
    let used = child.wait4()?;
    let cpu = used.rusage.utime + used.rusage.stime;
    let cost = Cost { cpu, wall: started.elapsed(), memory: used.rusage.maxrss, said: String::new() };
    Ok((used.status, cost, piped))
}
