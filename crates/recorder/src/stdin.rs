//! What the program reads from standard input, the same in every run.
//!
//! A file is wound back. What comes through a pipe is kept as it comes, when the first run asks for it, and handed
//! out again; a later run that asks for more than those before gets more. A terminal is left as it is: the user is
//! asked again.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _};
use std::process::{ChildStdin, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Standard input, for one run after the other. Its clones are the same input.
#[derive(Clone, Debug)]
pub struct Input(Arc<Source>);

#[derive(Debug)]
enum Source {
    Same,
    File { file: File, from: u64 },
    Pipe(Arc<Pipe>),
}

/// A pipe, and what has come through it.
#[derive(Debug)]
struct Pipe {
    /// Whoever waits for more, for whatever run, has this locked.
    pipe: Mutex<File>,
    kept: File,
    so_far: Mutex<SoFar>,
}

#[derive(Clone, Copy, Debug)]
struct SoFar {
    len: u64,
    /// Nothing will come any more.
    is_over: bool,
}

impl Input {
    /// The standard input of this process, for as many runs as there are. It is read once.
    pub fn of_process() -> io::Result<Input> {
        let Ok(stdin) = io::stdin().as_fd().try_clone_to_owned() else { return Ok(Input::once()) };
        Input::of(File::from(stdin))
    }

    /// Standard input as it is, for a single run.
    pub(crate) fn once() -> Input {
        Input(Arc::new(Source::Same))
    }

    /// This file, for several runs.
    pub(crate) fn of(mut input: File) -> io::Result<Input> {
        let kind = input.metadata()?.file_type();
        let source = if kind.is_file() {
            let from = input.stream_position()?;
            Source::File { file: input, from }
        } else if kind.is_fifo() || kind.is_socket() {
            let so_far = Mutex::new(SoFar { len: 0, is_over: false });
            Source::Pipe(Arc::new(Pipe { pipe: Mutex::new(input), kept: tempfile::tempfile()?, so_far }))
        } else {
            Source::Same
        };
        Ok(Input(Arc::new(source)))
    }

    /// What the next run has as its standard input.
    pub(crate) fn stdio(&self) -> io::Result<Stdio> {
        match &*self.0 {
            Source::Same => Ok(Stdio::inherit()),
            Source::File { file, from } => {
                (&*file).seek(SeekFrom::Start(*from))?;
                Ok(file.try_clone()?.into())
            }
            Source::Pipe(pipe) if locked(&pipe.so_far).is_over => {
                (&pipe.kept).seek(SeekFrom::Start(0))?;
                Ok(pipe.kept.try_clone()?.into())
            }
            Source::Pipe(_) => Ok(Stdio::piped()),
        }
    }

    /// Begins to feed a run, which reads from the other end of this pipe.
    pub(crate) fn pump_into(&self, child: ChildStdin) -> io::Result<()> {
        let Source::Pipe(pipe) = &*self.0 else { return Ok(()) };
        let pipe = Arc::clone(pipe);
        // Nobody waits for this thread: it may be blocked on a pipe that never has anything to say.
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || pump(&pipe, child))?;
        Ok(())
    }
}

/// Copies until either end is closed.
fn pump(pipe: &Pipe, mut child: ChildStdin) {
    let mut buffer = vec![0; 1 << 16];
    let mut at = 0;
    while let Some(len) = pipe.next(at, &mut buffer)
        && child.write_all(&buffer[..len]).is_ok()
    {
        at += len as u64;
    }
}

impl Pipe {
    /// Reads what comes at this position, from what is kept or else from the pipe.
    fn next(&self, at: u64, buffer: &mut [u8]) -> Option<usize> {
        loop {
            let SoFar { len, is_over } = *locked(&self.so_far);
            if at < len {
                let wanted = usize::try_from(len - at).unwrap_or(usize::MAX).min(buffer.len());
                return self.kept.read_at(&mut buffer[..wanted], at).ok().filter(|len| *len > 0);
            }
            if is_over {
                return None;
            }
            let mut pipe = locked(&self.pipe);
            if locked(&self.so_far).len > len {
                // Somebody else waited for it meanwhile.
                continue;
            }
            match pipe.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => locked(&self.so_far).is_over = true,
                Ok(more) => {
                    self.kept.write_all_at(&buffer[..more], len).ok()?;
                    locked(&self.so_far).len += more as u64;
                }
            }
        }
    }
}

/// Nobody leaves anything half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;
    use std::process::Command;

    /// What a program reads in each of two runs.
    fn read_twice(input: File) -> [String; 2] {
        let input = Input::of(input).expect("an input");
        [(); 2].map(|()| {
            let stdin = input.stdio().expect("an input");
            let mut child = Command::new("cat").stdin(stdin).stdout(Stdio::piped()).spawn().expect("started");
            if let Some(pipe) = child.stdin.take() {
                input.pump_into(pipe).expect("fed");
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

    #[test]
    fn who_asks_for_more_gets_more() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let input = Input::of(File::from(OwnedFd::from(reader))).expect("an input");
        let mut read = |program: &[&str], more: Option<&[u8]>| {
            let stdin = input.stdio().expect("an input");
            let mut child = Command::new(program[0])
                .args(&program[1..])
                .stdin(stdin)
                .stdout(Stdio::piped())
                .spawn()
                .expect("started");
            if let Some(more) = more {
                writer.write_all(more).expect("written");
            }
            if let Some(pipe) = child.stdin.take() {
                input.pump_into(pipe).expect("fed");
            }
            String::from_utf8(child.wait_with_output().expect("ended").stdout).expect("text")
        };
        // The pipe stays open: nobody who has what he wants waits for its end.
        assert_eq!(read(&["true"], None), "");
        assert_eq!(read(&["head", "-n1"], Some(b"one\n")), "one\n");
        assert_eq!(read(&["head", "-n2"], Some(b"two\n")), "one\ntwo\n");
        assert_eq!(read(&["head", "-n1"], None), "one\n");
    }
}
