//! A folder to build in, with a stand-in for the runtime.

#![allow(dead_code, reason = "each test file uses its share")]

use interloper_toolchain::{CompileError, Driver, Environment, Family, Installation, Language};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The real runtime need not be built for these tests: they look at what is linked, and run only programs
/// that would behave the same without any instrumentation.
const STAND_IN: &str = r#"
#include <string.h>
#define ACCESS(n) \
    void __tsan_read##n(void *a) { (void)a; } \
    void __tsan_write##n(void *a) { (void)a; } \
    void __tsan_unaligned_read##n(void *a) { (void)a; } \
    void __tsan_unaligned_write##n(void *a) { (void)a; }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)
void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void *pc) { (void)pc; }
void __tsan_read_range(void *a, unsigned long n) { (void)a; (void)n; }
void __tsan_write_range(void *a, unsigned long n) { (void)a; (void)n; }
void __tsan_vptr_update(void *a, void *v) { (void)a; (void)v; }
void __tsan_vptr_read(void *a) { (void)a; }
void *__tsan_memcpy(void *to, const void *from, unsigned long n) { return memmove(to, from, n); }
void *__tsan_memset(void *to, int value, unsigned long n) { return memset(to, value, n); }
void __sanitizer_cov_trace_pc(void) {}
void __sanitizer_cov_trace_pc_guard(unsigned *guard) { (void)guard; }
void __sanitizer_cov_trace_pc_guard_init(unsigned *from, unsigned *to) { (void)from; (void)to; }
int interloper_regions_open;
void __interloper_region_begin(const char *name) { interloper_regions_open += name != 0; }
void __interloper_region_end(const char *name) { interloper_regions_open -= name != 0; }
"#;

pub(crate) struct Workshop {
    folder: TempDir,
}

impl Workshop {
    pub(crate) fn new() -> Workshop {
        let workshop = Workshop { folder: tempfile::tempdir().expect("a folder") };
        let source = workshop.write("stand_in.c", STAND_IN);
        // A comma and a blank, which options for the linker have to survive.
        let library = workshop.runtime().join("libinterloper_rt.so");
        std::fs::create_dir(workshop.runtime()).expect("created");
        succeed(Command::new("gcc").args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]));
        workshop
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.path("run, time")
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("written");
        path
    }

    pub(crate) fn installation(&self) -> Installation {
        Installation { runtime: self.runtime(), include: include_directory() }
    }

    /// Compiles with one of our drivers, in this folder.
    pub(crate) fn compile(&self, language: Language, line: &str) -> Result<Output, CompileError> {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let driver = Driver::new(language, arguments, &Environment::default())?;
        let mut prepared = driver.prepare(|| Ok(self.installation()))?;
        Ok(prepared.command.current_dir(self.folder.path()).output().expect("the compiler runs"))
    }

    /// The same, where it has to work and to be silent.
    pub(crate) fn built(&self, language: Language, line: &str) -> String {
        let output = self.compile(language, line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && messages.is_empty(), "{line}: {}\n{messages}", output.status);
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Runs a command in this folder, where it has to work.
    pub(crate) fn shell(&self, line: &str) {
        succeed(Command::new("sh").args(["-c", line]).current_dir(self.folder.path()));
    }
}

pub(crate) fn succeed(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

pub(crate) fn include_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include")
}

pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// The compilers that are there: gcc always, and the first clang of these, if any.
pub(crate) fn compilers(language: Language) -> Vec<(&'static str, Family)> {
    let (gcc, clangs) = match language {
        Language::C => ("gcc", ["clang", "clang-19", "clang-14"]),
        Language::Cxx => ("g++", ["clang++", "clang++-19", "clang++-14"]),
    };
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    let clang = clangs.into_iter().find(there);
    if clang.is_none() {
        eprintln!("skipped for clang, which is not installed");
    }
    // Tests only ask which family it is.
    let gcc = (gcc, Family::Gcc { major: 0 });
    [Some(gcc), clang.map(|name| (name, Family::Clang))].into_iter().flatten().collect()
}
