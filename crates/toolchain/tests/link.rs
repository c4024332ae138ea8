//! What is compiled and linked, however it is asked for, has our runtime and no other.

mod common;

use common::{Workshop, compilers, succeed};
use interloper_toolchain::{CompileError, Family, Instrumentation, Language, inspect};
use std::process::Command;

const C: &str =
    "#include <stdio.h>\nint seen = 3;\nint main(void) { seen += 4; printf(\"%d\\n\", seen); return seen; }\n";
const CXX: &str = "#include <iostream>\n#include <string>\nint seen = 3;\n\
                   int main() { seen += 4; std::string text(5, 'x'); std::cout << seen << text << '\\n'; return seen; }\n";

fn workshop() -> Workshop {
    let workshop = Workshop::new();
    workshop.write("a.c", C);
    workshop.write("a.cpp", CXX);
    workshop
}

/// The program is ours, runs without help, and has been instrumented.
fn check(workshop: &Workshop, name: &str, output: &str) {
    let path = workshop.path(name);
    assert_eq!(inspect(&path).expect("readable"), Instrumentation::Ours, "{name}");
    let sections = succeed(Command::new("readelf").args(["-Wd", "--dyn-syms"]).arg(&path));
    assert!(sections.contains("UND __tsan_write4"), "{sections}");
    let needed: Vec<&str> = sections.lines().filter(|line| line.contains("(NEEDED)")).collect();
    assert!(needed[0].contains("libinterloper_rt.so"), "the runtime comes first: {needed:?}");
    assert!(!sections.contains("libtsan"), "{sections}");
    let run = Command::new(&path).output().expect("it starts");
    assert_eq!((run.status.code(), String::from_utf8_lossy(&run.stdout).trim()), (Some(7), output), "{name}");
}

#[test]
fn in_one_step_and_in_two() {
    let workshop = workshop();
    for (language, source, output) in [(Language::C, "a.c", "7"), (Language::Cxx, "a.cpp", "7xxxxx")] {
        for (compiler, _) in compilers(language) {
            for (compiling, linking) in [("", ""), ("-fno-pie", "-no-pie"), ("-fPIE", "-pie")] {
                for level in ["", "-O2 -Wall -Wextra -Werror -flto -D_FORTIFY_SOURCE=2"] {
                    let flags = format!("--compiler {compiler} {compiling} {level}");
                    workshop.built(language, &format!("{flags} {linking} {source} -o one"));
                    check(&workshop, "one", output);
                    workshop.built(language, &format!("{flags} -c {source} -o two.o"));
                    workshop.built(language, &format!("{flags} {linking} two.o -o two"));
                    check(&workshop, "two", output);
                }
            }
        }
    }
}

#[test]
fn shared_libraries_and_programs_that_only_link_them() {
    let workshop = workshop();
    workshop.write("lib.c", "int value = 1; int bump(void) { return value += 6; }");
    workshop.write("use.c", "int bump(void); int main(void) { return bump(); }");
    for (compiler, _) in compilers(Language::C) {
        let flags = format!("--compiler {compiler} -O1");
        workshop.built(Language::C, &format!("{flags} -shared -fPIC -Wl,-z,defs lib.c -o libbump.so"));
        assert_eq!(inspect(&workshop.path("libbump.so")).expect("readable"), Instrumentation::Ours);
        workshop
            .built(Language::C, &format!("{flags} -fno-sanitize=thread use.c -L. -lbump -Wl,-rpath,$ORIGIN -o use"));
        assert_eq!(inspect(&workshop.path("use")).expect("readable"), Instrumentation::Ours);
        let run = Command::new(workshop.path("use")).status().expect("it starts");
        assert_eq!(run.code(), Some(7));
    }
}

#[test]
fn flags_of_a_thread_sanitizer_build_are_taken_over() {
    let workshop = workshop();
    workshop.built(Language::C, "-fsanitize=thread -static-libtsan -s -g -O1 a.c -o a");
    check(&workshop, "a", "7");
    let flags = workshop.write("flags", "-fsanitize=thread -O1 a.c");
    workshop.built(Language::C, &format!("@{} -o b", flags.display()));
    check(&workshop, "b", "7");
    let plain = workshop.write("plain", "-O1 a.c -o c");
    workshop.built(Language::C, &format!("@{}", plain.display()));
    check(&workshop, "c", "7");
}

#[test]
fn partial_and_bare_links_get_nothing() {
    let workshop = workshop();
    workshop.built(Language::C, "-fPIC -c a.c -o a.o");
    workshop.built(Language::C, "-r a.o -o partial.o");
    workshop.built(Language::C, "-nostdlib -shared a.o -o bare.so");
    assert_eq!(inspect(&workshop.path("bare.so")).expect("readable"), Instrumentation::Unlinked);
    workshop.built(Language::C, "partial.o -o a");
    check(&workshop, "a", "7");
}

#[test]
fn what_cannot_be_recorded_is_refused() {
    let workshop = workshop();
    let error = workshop.compile(Language::C, "-static a.c").expect_err("static").to_string();
    assert!(error.starts_with("-static: ") && error.contains("link it without -static"), "{error}");
    assert!(matches!(workshop.compile(Language::C, "-m32 a.c"), Err(CompileError::OtherArchitecture { .. })));
    // Compiling for it is harmless, and some builds say it there, too.
    workshop.built(Language::C, "-static -c a.c -o a.o");
}

#[test]
fn branches_are_reported_on_demand() {
    let workshop = workshop();
    for (compiler, family) in compilers(Language::C) {
        workshop.built(Language::C, &format!("--branches --compiler={compiler} a.c -o a"));
        check(&workshop, "a", "7");
        let symbols = succeed(Command::new("nm").arg("-u").arg(workshop.path("a")));
        let callback = if family == Family::Clang { "cov_trace_pc_guard" } else { "cov_trace_pc" };
        assert!(symbols.contains(callback), "{symbols}");
    }
}

#[test]
fn debug_information_is_there_unless_asked_for_otherwise() {
    let workshop = workshop();
    let sections = |line: &str| {
        workshop.built(Language::C, &format!("{line} -c a.c -o a.o"));
        succeed(Command::new("readelf").args(["-WS", "--debug-dump=info"]).arg(workshop.path("a.o")))
    };
    assert!(sections("-O2").contains(".debug_line"));
    assert!(sections("-g0").contains(".debug_line"));
    assert!(sections("-gdwarf-4").contains("Version:       4"));
}

#[test]
fn a_build_can_ask_what_it_likes() {
    let workshop = workshop();
    for (compiler, family) in compilers(Language::C) {
        let ask = |line: &str| workshop.built(Language::C, &format!("--compiler {compiler} {line}"));
        let plain = |line: &str| succeed(Command::new(compiler).args(line.split(' ')));
        for question in ["--version", "-dumpmachine", "-print-search-dirs", "-print-file-name=libc.so"] {
            assert_eq!(ask(question), plain(question), "{compiler} {question}");
        }
        let macros = ask("-E -dM a.c");
        assert!(macros.contains("#define __INTERLOPER__ 1"));
        assert_eq!(macros.contains("#define __SANITIZE_THREAD__ 1"), family != Family::Clang);
        assert!(ask("-M a.c").starts_with("a.o: a.c"));
        ask("-MD -MF a.d -c a.c -o a.o");
        assert!(std::fs::read_to_string(workshop.path("a.d")).expect("written").starts_with("a.o: a.c"));
        if family != Family::Clang {
            ask("-save-temps=obj -c a.c -o kept.o");
            assert!(succeed(Command::new("nm").arg(workshop.path("kept.o"))).contains("__tsan_"));
        }
        ask("-x c-header a.c -o a.h.gch");
        ask("-c -x assembler-with-cpp -Werror /dev/null -o asm.o");
        let version = workshop.compile(Language::C, &format!("--compiler {compiler} -v")).expect("it starts");
        assert!(version.status.success() && !String::from_utf8_lossy(&version.stderr).contains("interloper"));
        let failure = workshop.compile(Language::C, &format!("--compiler {compiler} missing.c")).expect("it starts");
        assert_eq!(failure.status.code(), Some(1));
    }
}

#[test]
fn a_compiler_that_is_none_is_named() {
    let workshop = workshop();
    let error = workshop.compile(Language::C, "--compiler ./nowhere a.c").expect_err("none").to_string();
    assert!(error.contains("cannot run the compiler ./nowhere"), "{error}");
    let error = workshop.compile(Language::C, "--compiler true a.c").expect_err("none").to_string();
    assert!(error.contains("only gcc and clang are known"), "{error}");
    assert!(matches!(workshop.compile(Language::C, "--compiler"), Err(CompileError::NoCompilerNamed)));
}

#[test]
fn constant_expressions_stay_constant() {
    let workshop = workshop();
    workshop.write(
        "constant.cpp",
        "#include <cstring>\nconstexpr auto length = std::strlen(\"abc\");\nstatic_assert(length == 3, \"\");\n",
    );
    workshop.built(Language::Cxx, "-O2 -c constant.cpp -o constant.o");
}
