//! `interloper cc` and `interloper c++` in the place of a build's compilers.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, Run};
use std::process::Command;

/// Enough of a runtime for the programs here.
const STAND_IN: &str = "
void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void *pc) { (void)pc; }
void __tsan_read4(void *a) { (void)a; }
void __tsan_write4(void *a) { (void)a; }
void __interloper_region_begin(const char *name) { (void)name; }
void __interloper_region_end(const char *name) { (void)name; }
";

const PROGRAM: &str = "#include <interloper.h>\nint seen;\n\
                       int main(void) { INTERLOPER_ATOMIC_BEGIN(\"main\"); seen += 7;\n\
                       INTERLOPER_ATOMIC_END(\"main\"); return seen; }\n";

/// A folder with a stand-in for the runtime and a program.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("runtime")).unwrap();
    folder.write("stand_in.c", STAND_IN);
    folder.write("conftest.c", PROGRAM);
    let made = Command::new("gcc")
        .args(["-shared", "-fPIC", "-o", "runtime/libinterloper_rt.so", "stand_in.c"])
        .current_dir(folder.path("."))
        .status();
    assert!(made.unwrap().success());
    folder
}

fn equip<'a>(folder: &Folder, command: &'a mut Command) -> &'a mut Command {
    for name in ["CC", "CXX", "INTERLOPER_COMPILER", "INTERLOPER_BRANCHES", "MAKEFLAGS"] {
        command.env_remove(name);
    }
    command
        .env("INTERLOPER_RUNTIME", folder.path("runtime"))
        .env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"))
}

fn cc(folder: &Folder, line: &str) -> Run {
    Run::of(equip(folder, &mut folder.command(line.split_whitespace())).output().unwrap())
}

#[test]
fn a_configure_script_is_content() {
    let folder = folder();
    let version = cc(&folder, "cc --version");
    let plain = Run::of(Command::new("gcc").arg("--version").output().unwrap());
    assert_eq!((version.code, version.stdout, version.stderr), (0, plain.stdout, String::new()));
    assert!(cc(&folder, "cc --help").stdout.starts_with("Usage: gcc"));

    for command in ["cc", "c++ -x c++"] {
        let built = cc(&folder, &format!("{command} -O2 -Wall -Werror -o conftest conftest.c"));
        assert_eq!((built.code, built.stdout.as_str(), built.stderr.as_str()), (0, "", ""));
        assert_eq!(Command::new(folder.path("conftest")).status().unwrap().code(), Some(7));
    }
    assert!(cc(&folder, "cc -E conftest.c").stdout.contains("__interloper_region_begin"));
    // Nothing of ours is left lying about.
    assert_eq!(folder.names(), ["conftest", "conftest.c", "runtime", "stand_in.c"]);
}

#[test]
fn the_exit_status_and_the_messages_are_the_compilers() {
    let folder = folder();
    folder.write("broken.c", "int main(void) { return }\n");
    let ours = cc(&folder, "cc -c broken.c");
    assert_eq!(ours.code, 1);
    assert!(ours.stderr.starts_with("broken.c: In function"), "{}", ours.stderr);
    assert!(ours.stdout.is_empty());
}

#[test]
fn what_goes_wrong_on_our_side_is_said() {
    let folder = folder();
    let run = cc(&folder, "cc -static conftest.c");
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("error: -static: a statically linked program cannot be recorded"), "{}", run.stderr);
    let run = cc(&folder, "cc --compiler");
    assert_eq!((run.code, run.stderr.as_str()), (2, "error: --compiler needs the path of a compiler\n"));
    std::fs::remove_file(folder.path("runtime/libinterloper_rt.so")).unwrap();
    let run = cc(&folder, "cc conftest.c");
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("error: no libinterloper_rt.so in "), "{}", run.stderr);
    assert_eq!(cc(&folder, "cc -dumpversion").code, 0);
}

#[test]
fn make_builds_with_it() {
    let folder = folder();
    folder.write("Makefile", "export CC\nprogram: conftest.o\n\t$(CC) $(CFLAGS) -o $@ $^\n");
    let compiler = format!("CC={} cc", env!("CARGO_BIN_EXE_interloper"));
    let mut make = Command::new("make");
    make.args([compiler.as_str(), "CFLAGS=-O2 -pthread"]).current_dir(folder.path("."));
    let run = Run::of(equip(&folder, &mut make).output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert_eq!(Command::new(folder.path("program")).status().unwrap().code(), Some(7));
}

#[test]
fn a_wrapper_around_us_does_not_go_in_circles() {
    let folder = folder();
    folder.write("wrapper", format!("#!/bin/sh\nexec {} cc \"$@\"\n", env!("CARGO_BIN_EXE_interloper")));
    assert!(Command::new("chmod").arg("+x").arg(folder.path("wrapper")).status().unwrap().success());
    let mut command = folder.command(["cc", "-o", "conftest", "conftest.c"]);
    let run = Run::of(equip(&folder, &mut command).env("CC", folder.path("wrapper")).output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(Command::new(folder.path("conftest")).status().unwrap().code(), Some(7));
}
