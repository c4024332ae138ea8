//! The compiler driver: the user's command line, and what recording needs besides.
//!
//! Nothing is done in place of the compiler. Its command line is completed and it is run once, so that
//! dependency files, temporary files, several sources and linking in one step are all as it does them.
//! Asked something about itself, it gets exactly what the user wrote.

use crate::arguments::{Request, Stage, understand};
use crate::choice::{ChoiceError, Compiler, Environment, Family, Language, NESTED};
use crate::flags;
use crate::locate::{Installation, LocateError};
use crate::response_file;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::process::{Command, ExitStatus};
use tempfile::NamedTempFile;
use thiserror::Error;

/// Why the compiler was not run.
#[derive(Debug, Error)]
pub enum CompileError {
    /// One of our own options is not as it should be.
    #[error("--compiler needs the path of a compiler")]
    NoCompilerNamed,
    /// There is no compiler.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// Our own files are missing.
    #[error(transparent)]
    Locate(#[from] LocateError),
    /// It would be a static program.
    #[error(
        "{option}: a statically linked program cannot be recorded, since its calls into the C library \
         cannot be seen; link it without {option} (-static-libgcc and -static-libstdc++ are fine)"
    )]
    Static {
        /// The option that says so.
        option: &'static str,
    },
    /// It would be for another processor.
    #[error("{option}: only x86-64 programs can be recorded; compile without {option}")]
    OtherArchitecture {
        /// The option that says so.
        option: &'static str,
    },
    /// The file with options for gcc cannot be written.
    #[error("cannot write a temporary file with options for gcc: {0}; TMPDIR names another place for it")]
    Specs(#[source] std::io::Error),
    /// The compiler could not be started.
    #[error("cannot run the compiler {name}: {source}")]
    Start {
        /// The program.
        name: String,
        /// Why not.
        source: std::io::Error,
    },
}

/// A compiler to be run on the user's arguments.
#[derive(Clone, Debug)]
pub struct Driver {
    compiler: Compiler,
    branches: bool,
    arguments: Vec<OsString>,
}

impl Driver {
    /// Takes our own options (`--compiler PATH`, `--branches`) off the front of the arguments, and finds
    /// the compiler that they or the environment name.
    pub fn new(
        language: Language,
        arguments: Vec<OsString>,
        environment: &Environment,
    ) -> Result<Driver, CompileError> {
        let mut named = None;
        let mut branches = environment.branches;
        let mut rest = arguments.into_iter().peekable();
        while let Some(option) = rest.next_if(|argument| is_our_option(argument)) {
            match option.to_str().and_then(|text| text.split_once('=')) {
                Some((_, path)) => named = Some(OsString::from(path)),
                None if option == "--branches" => branches = true,
                None => named = rest.next(),
            }
            if option != "--branches" && named.as_ref().is_none_or(|path| path.is_empty()) {
                return Err(CompileError::NoCompilerNamed);
            }
        }
        let compiler = Compiler::choose(language, named.as_deref(), environment)?;
        Ok(Driver { compiler, branches, arguments: rest.collect() })
    }

    /// Runs the compiler with this process's standard streams, and gives its exit status.
    ///
    /// The installation is asked for only if the compiler has something to compile or link, so that a
    /// build's first questions about the compiler are answered in any case.
    pub fn run(
        &self,
        installation: impl FnOnce() -> Result<Installation, LocateError>,
    ) -> Result<ExitStatus, CompileError> {
        let mut prepared = self.prepare(installation)?;
        prepared.command.status().map_err(|source| CompileError::Start {
            name: prepared.command.get_program().to_string_lossy().into_owned(),
            source,
        })
    }

    /// The command that [`run`](Driver::run) runs.
    pub fn prepare(
        &self,
        installation: impl FnOnce() -> Result<Installation, LocateError>,
    ) -> Result<Prepared, CompileError> {
        let mut command = Command::new(&self.compiler.words[0]);
        command.args(&self.compiler.words[1..]).env(NESTED, "1");
        let request = self.request();
        if request.stage == Stage::Nothing {
            command.args(&self.arguments);
            return Ok(Prepared { command, specs: None });
        }
        if let Some(option) = request.other_architecture {
            return Err(CompileError::OtherArchitecture { option });
        }
        let installation = installation()?;
        let links_runtime = request.stage == Stage::Link && !request.bare_link;
        if links_runtime {
            if let Some(option) = request.static_link {
                return Err(CompileError::Static { option });
            }
            command.args(flags::LINK_FIRST);
        }

        let (before, after) = self.user_arguments(&request);
        command.args(before);
        let mut specs = None;
        if request.has_source {
            command.args(flags::PREPROCESS).arg("-idirafter").arg(&installation.include);
            // Files that the user exempts stay exempt.
            if request.thread_sanitizer != Some(false) {
                specs = self.add_instrumentation(&request, &mut command)?;
            }
        }
        if links_runtime {
            // Last, so that the directory hides no library of the user's. Passed one by one, since a comma
            // in the path would end an option of `-Wl,`.
            command.arg("-L").arg(&installation.runtime);
            command.args(["-Xlinker", "-rpath", "-Xlinker"]).arg(&installation.runtime);
        }
        command.args(after);
        Ok(Prepared { command, specs })
    }

    fn add_instrumentation(
        &self,
        request: &Request,
        command: &mut Command,
    ) -> Result<Option<NamedTempFile>, CompileError> {
        let compiles = request.stage != Stage::Preprocess;
        if compiles {
            command.args(flags::instrument(self.compiler.family, self.branches));
            if !request.debug {
                command.arg("-g");
            }
        }
        match self.compiler.family {
            Family::Gcc { .. } => {
                let file = write_specs().map_err(CompileError::Specs)?;
                let mut option = OsString::from("-specs=");
                option.push(file.path());
                command.arg(option);
                Ok(Some(file))
            }
            Family::Clang => {
                if request.stage == Stage::Link {
                    command.arg("-fno-sanitize-link-runtime");
                } else if !compiles {
                    // For the macros that tell a program it is instrumented.
                    command.arg("-fsanitize=thread");
                }
                Ok(None)
            }
        }
    }

    fn request(&self) -> Request {
        understand(&response_file::expand(&self.arguments))
    }

    /// The user's arguments, with response files left alone where they can be.
    fn user_arguments(&self, request: &Request) -> (Vec<OsString>, Vec<OsString>) {
        let expanded = response_file::expand(&self.arguments);
        if request.replaced.is_empty() && request.options_end == expanded.len() {
            return (self.arguments.clone(), Vec::new());
        }
        request.without_replaced(&expanded)
    }
}

/// A command ready to run. It must outlive the run, for it holds a file that the compiler reads.
#[derive(Debug)]
pub struct Prepared {
    /// The command.
    pub command: Command,
    #[expect(dead_code, reason = "kept for its file, which is removed when this is dropped")]
    specs: Option<NamedTempFile>,
}

fn is_our_option(argument: &OsStr) -> bool {
    argument == "--branches"
        || argument == "--compiler"
        || argument.to_str().is_some_and(|text| text.starts_with("--compiler="))
}

fn write_specs() -> std::io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("interloper-").suffix(".specs").tempfile()?;
    file.write_all(flags::GCC_SPECS.as_bytes())?;
    Ok(file)
}
