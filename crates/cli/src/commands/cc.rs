//! `interloper cc` and `interloper c++`: a compiler for programs to be recorded.
//!
//! The compiler has the standard streams to itself, and the exit status is its own: a build must not
//! notice the difference. What we have to say ourselves is an error, before it was run.

use crate::args::CompileArgs;
use crate::exit::Exit;
use interloper_toolchain::{Driver, Environment, Installation, Language};

pub(crate) fn run(language: Language, args: CompileArgs) -> anyhow::Result<Exit> {
    let driver = Driver::new(language, args.arguments, &Environment::of_process(language))?;
    Ok(Exit::of_program(driver.run(Installation::of_process)?))
}
