//! What becomes of what the program prints.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::process::{Command, Stdio};

/// What becomes of what the program prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Printing {
    /// It goes where ours goes.
    #[default]
    Through,
    /// It goes nowhere.
    Away,
    /// It is kept, and is part of the outcome.
    Captured,
}

/// What the program printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// To standard output.
    pub stdout: Vec<u8>,
    /// To standard error.
    pub stderr: Vec<u8>,
    /// There was more than is kept of one of them.
    pub truncated: bool,
}

/// How many bytes of each are kept.
const KEPT: usize = 1 << 20;

/// Where a run prints to.
///
/// Files rather than pipes or the null device: nobody has to read behind the program, and what is buffered is
/// the same in all runs of which nothing is shown.
#[derive(Debug)]
pub(crate) struct Capture {
    files: Option<[File; 2]>,
}

impl Capture {
    /// Redirects a command.
    pub(crate) fn of(command: &mut Command, printing: Printing) -> io::Result<Capture> {
        match printing {
            Printing::Through => Ok(Capture { files: None }),
            Printing::Away => {
                let nowhere = || tempfile::tempfile().map_or_else(|_| Stdio::null(), Stdio::from);
                command.stdout(nowhere()).stderr(nowhere());
                Ok(Capture { files: None })
            }
            Printing::Captured => {
                let files = [tempfile::tempfile()?, tempfile::tempfile()?];
                command.stdout(files[0].try_clone()?).stderr(files[1].try_clone()?);
                Ok(Capture { files: Some(files) })
            }
        }
    }

    /// What has been printed, if that is kept.
    pub(crate) fn read(&self) -> io::Result<Option<CapturedOutput>> {
        let Some([stdout, stderr]) = &self.files else { return Ok(None) };
        let ((stdout, more_out), (stderr, more_err)) = (beginning(stdout)?, beginning(stderr)?);
        Ok(Some(CapturedOutput { stdout, stderr, truncated: more_out || more_err }))
    }
}

/// The beginning of a file, and whether there is more.
fn beginning(file: &File) -> io::Result<(Vec<u8>, bool)> {
    let len = file.metadata()?.len();
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(KEPT).min(KEPT)];
    // The program's position in the file is none of our business.
    file.read_exact_at(&mut bytes, 0)?;
    Ok((bytes, len > KEPT as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_kept() {
        let run = |script: &str, printing| {
            let mut command = Command::new("sh");
            let capture = Capture::of(command.args(["-c", script]), printing).expect("redirected");
            assert!(command.status().expect("run").success());
            capture.read().expect("read")
        };
        let output = run("echo out; echo err >&2; echo more", Printing::Captured).expect("kept");
        assert_eq!((output.stdout, output.stderr, output.truncated), (b"out\nmore\n".into(), b"err\n".into(), false));
        let output = run("head -c 1048577 /dev/zero >&2", Printing::Captured).expect("kept");
        assert_eq!((output.stdout.len(), output.stderr.len(), output.truncated), (0, KEPT, true));
        assert_eq!(run("echo lost", Printing::Away), None);
    }
}
