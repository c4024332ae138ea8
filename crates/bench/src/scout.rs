//! The scout alone: a recorder that asks a program for nothing but its first run, and drops its log.
//!
//! `interloper record` has no option for it, since nobody but this benchmark has a use for it.

use anyhow::{Context, Result, bail, ensure};
use interloper_wire::{CONSUMED_AT, Mode, PRODUCED_AT, Policy, RING_AT, Settings, VARIABLE, VARIABLE_WIDTH};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::process::Command;
use std::time::Duration;

/// As long as the recorder's.
const RING_LEN: u64 = 64 << 20;

/// Runs the program as a scout, to its end.
pub(crate) fn run(command: &[OsString]) -> Result<()> {
    let [program, arguments @ ..] = command else { bail!("no program to run") };
    let file = control().context("cannot make the shared file")?;
    let variable = format!("{:0width$}", file.as_raw_fd(), width = VARIABLE_WIDTH);
    let cannot_run = || format!("cannot run {}", program.display());
    let mut child = Command::new(program).args(arguments).env(VARIABLE, variable).spawn().with_context(cannot_run)?;
    let status = loop {
        // In this order: what a dead program wrote, it wrote before.
        let status = child.try_wait().with_context(cannot_run)?;
        let mut produced = [0; 8];
        file.read_exact_at(&mut produced, PRODUCED_AT as u64)?;
        file.write_all_at(&produced, CONSUMED_AT as u64)?;
        if let Some(status) = status {
            ensure!(produced != [0; 8], "{} is not built for recording", program.display());
            break status;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    ensure!(status.success(), "{} failed: {status}", program.display());
    Ok(())
}

/// The file by which the program is asked.
fn control() -> Result<File> {
    // Without MFD_CLOEXEC: the child is to have it.
    let file = File::from(memfd_create(c"interloper", MFdFlags::empty())?);
    let end = RING_AT as u64 + RING_LEN;
    let settings = Settings {
        mode: Mode::Scout,
        policy: Policy::RunAhead,
        seed: 0,
        quantum: 1_000_000,
        depth: 1,
        expected_steps: 1,
        full_limit: 0,
        start_time: 1_700_000_000_000_000_000,
        ring_len: RING_LEN,
        plan_at: end,
        plan_entries: 0,
        hot_at: end,
        hot_entries: 0,
        file_len: end,
    };
    file.set_len(end)?;
    file.write_all_at(&settings.to_bytes(), 0)?;
    Ok(file)
}
