//! `interloper.h` is valid everywhere, tells the runtime in our builds, and is nothing in others.

mod common;

use common::{Workshop, compilers, include_directory, succeed};
use interloper_toolchain::Language;
use std::process::Command;

const C: &str = r#"
#include <interloper.h>
extern int shared;
int f(int amount)
{
    if (amount)
        INTERLOPER_ATOMIC_BEGIN("f");
    else
        return 0;
    shared -= amount;
    INTERLOPER_ATOMIC_END("f");
    return 1;
}
"#;

const CXX: &str = r#"
#include <interloper.h>
#include <interloper.h>
extern int shared;
int g(int amount)
{
    INTERLOPER_ATOMIC("outer");
    {
        INTERLOPER_ATOMIC("inner");
        if (amount < 0)
            throw amount;
        shared -= amount;
    }
    INTERLOPER_ATOMIC_BEGIN("g");
    INTERLOPER_ATOMIC_END("g");
    return shared;
}
"#;

const C_STANDARDS: [&str; 7] = ["c89", "gnu89", "c99", "c11", "c17", "gnu17", "c2x"];
const CXX_STANDARDS: [&str; 6] = ["c++98", "c++11", "c++14", "c++17", "c++20", "gnu++20"];
const WARNINGS: &str = "-Wall -Wextra -pedantic -Werror -Wshadow -Wcast-qual";

#[test]
fn no_warnings_in_any_standard() {
    let workshop = Workshop::new();
    workshop.write("a.c", C);
    workshop.write("a.cpp", CXX);
    let include = include_directory();
    for (language, source, standards) in
        [(Language::C, "a.c", &C_STANDARDS[..]), (Language::Cxx, "a.cpp", &CXX_STANDARDS[..])]
    {
        let more = if language == Language::Cxx { "-Wold-style-cast -Wzero-as-null-pointer-constant" } else { "" };
        for (compiler, _) in compilers(language) {
            for standard in standards {
                // With -I the header is not a system header, so that nothing is hushed up.
                let flags = format!("-std={standard} {WARNINGS} {more} -I{} -c {source} -o a.o", include.display());
                workshop.built(language, &format!("--compiler {compiler} {flags}"));
                let symbols = succeed(Command::new("nm").arg(workshop.path("a.o")));
                assert!(symbols.contains("w __interloper_region_begin"), "{symbols}");
                workshop.shell(&format!("{compiler} {flags}"));
                let symbols = succeed(Command::new("nm").arg(workshop.path("a.o")));
                assert!(!symbols.contains("interloper"), "{symbols}");
            }
        }
    }
}

#[test]
fn without_us_it_is_no_code() {
    let workshop = Workshop::new();
    workshop.write("with.c", "#include <interloper.h>\nvoid f(void) { INTERLOPER_ATOMIC_BEGIN(\"f\"); }");
    workshop.write("without.c", "\nvoid f(void) { }");
    let include = include_directory();
    for name in ["with", "without"] {
        workshop.shell(&format!("gcc -O0 -I'{}' -S -o - {name}.c | grep -v '\\.file' > {name}.s", include.display()));
    }
    let text = |name: &str| std::fs::read_to_string(workshop.path(name)).expect("readable");
    assert_eq!(text("with.s"), text("without.s"));
}

#[test]
fn only_literals_are_names() {
    let workshop = Workshop::new();
    workshop.write("a.c", "#include <interloper.h>\nvoid f(const char *name) { INTERLOPER_ATOMIC_BEGIN(name); }");
    let include = include_directory();
    let plain = Command::new("gcc").arg("-fsyntax-only").arg("-I").arg(&include).arg(workshop.path("a.c")).output();
    assert!(!plain.expect("it starts").status.success());
    assert!(!workshop.compile(Language::C, "-c a.c").expect("it starts").status.success());
}

#[test]
fn the_guard_ends_its_region_however_it_is_left() {
    let workshop = Workshop::new();
    let main = "int shared = 5; extern \"C\" int interloper_regions_open;\n\
                int main() { int at = g(1); try { g(-1); } catch (int) { at += 10; }\n\
                return interloper_regions_open ? 99 : at; }\n";
    workshop.write("a.cpp", &format!("{CXX}{main}"));
    for (compiler, _) in compilers(Language::Cxx) {
        workshop.built(Language::Cxx, &format!("--compiler {compiler} -O1 a.cpp -o a"));
        // Cargo tells the loader about its own folders, where the real runtime may be.
        let run = Command::new(workshop.path("a")).env_remove("LD_LIBRARY_PATH").status().expect("it starts");
        assert_eq!(run.code(), Some(14), "{compiler}");
    }
}
