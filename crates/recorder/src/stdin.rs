//! What the program reads from standard input, the same in every run.
//!
//! A file is wound back. What comes through a pipe is kept on its way to the first run. A terminal is
//! left as it is: the user is asked again.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::process::{ChildStdin, Stdio};

/// Feeds one run after the other.
#[derive(Debug)]
pub(crate) struct Feed {
    source: Source,
    runs: u32,
}

#[derive(Debug)]
enum Source {
    Same,
    File { file: File, from: u64 },
    Pipe { pipe: File, kept: File },
}

impl Feed {
    /// Standard input as it is, for a single run.
    pub(crate) fn once() -> Feed {
        Feed { source: Source::Same, runs: 0 }
    }

    /// Standard input, for several runs.
    pub(crate) fn repeated() -> io::Result<Feed> {
        let Ok(stdin) = io::stdin().as_fd().try_clone_to_owned() else { return Ok(Feed::once()) };
        Feed::of(File::from(stdin))
    }

    /// This file, for several runs.
    pub(crate) fn of(mut input: File) -> io::Result<Feed> {
        let kind = input.metadata()?.file_type();
        let source = if kind.is_file() {
            let from = input.stream_position()?;
            Source::File { file: input, from }
        } else if kind.is_fifo() || kind.is_socket() {
            Source::Pipe { pipe: input, kept: tempfile::tempfile()? }
        } else {
            Source::Same
        };
        Ok(Feed { source, runs: 0 })
    }

    /// What the next run has as its standard input.
    pub(crate) fn stdio(&mut self) -> io::Result<Stdio> {
        self.runs += 1;
        Ok(match &mut self.source {
            Source::Same => Stdio::inherit(),
            Source::File { file, from } => {
                file.seek(SeekFrom::Start(*from))?;
                file.try_clone()?.into()
            }
            Source::Pipe { .. } if self.runs == 1 => Stdio::piped(),
            Source::Pipe { kept, .. } => {
                kept.seek(SeekFrom::Start(0))?;
                kept.try_clone()?.into()
            }
        })
    }

    /// Begins to feed the first run, which reads from the other end of this pipe.
    pub(crate) fn pump_into(&self, child: ChildStdin) -> io::Result<()> {
        let Source::Pipe { pipe, kept } = &self.source else { return Ok(()) };
        let (pipe, kept) = (pipe.try_clone()?, kept.try_clone()?);
        // Nobody waits for this thread: it may be blocked on a pipe that never has anything to say.
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || pump(pipe, kept, child))?;
        Ok(())
    }
}

/// Copies until either end is closed.
fn pump(mut pipe: File, mut kept: File, mut child: ChildStdin) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let len = match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        if kept.write_all(&buffer[..len]).and_then(|()| child.write_all(&buffer[..len])).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;
    use std::process::Command;

    /// What a program reads in each of two runs.
    fn read_twice(input: File) -> [String; 2] {
        let mut feed = Feed::of(input).expect("a feed");
        [(); 2].map(|()| {
            let stdin = feed.stdio().expect("an input");
            let mut child = Command::new("cat").stdin(stdin).stdout(Stdio::piped()).spawn().expect("started");
            if let Some(pipe) = child.stdin.take() {
                feed.pump_into(pipe).expect("fed");
            }
            String::from_utf8(child.wait_with_output().expect("ended").stdout).expect("text")
        })
    }

    #[test]
    fn a_pipe_is_read_again() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let long = "line\n".repeat(100_000);
        let text = long.clone();
        let sender = std::thread::spawn(move || writer.write_all(text.as_bytes()));
        let [first, second] = read_twice(File::from(OwnedFd::from(reader)));
        sender.join().expect("sent").expect("sent");
        assert!(first == long && second == long);
    }

    #[test]
    fn a_file_is_read_again_from_where_it_was() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"before after").expect("written");
        file.seek(SeekFrom::Start(7)).expect("there");
        assert_eq!(read_twice(file), ["after", "after"]);
    }
}
