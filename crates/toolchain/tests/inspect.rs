//! Binaries of every kind are told apart.

mod common;

use common::{Workshop, compilers};
use interloper_toolchain::{Family, InspectError, Instrumentation, Language, inspect, shim_directory};
use std::path::Path;
use std::process::Command;

fn of(workshop: &Workshop, name: &str) -> Instrumentation {
    inspect(&workshop.path(name)).expect("readable")
}

#[test]
fn what_gcc_makes() {
    let workshop = Workshop::new();
    workshop.write("a.c", "int seen; int main(void) { return seen++; }");
    workshop.built(Language::C, "a.c -o ours");
    assert_eq!(of(&workshop, "ours"), Instrumentation::Ours);
    workshop.shell("cp ours stripped && strip stripped");
    assert_eq!(of(&workshop, "stripped"), Instrumentation::Ours);
    for (flags, expected) in [
        ("", Instrumentation::NotInstrumented),
        ("-no-pie", Instrumentation::NotInstrumented),
        ("-static", Instrumentation::StaticBinary),
        ("-static-pie", Instrumentation::StaticBinary),
        ("-shared -fPIC", Instrumentation::NotInstrumented),
    ] {
        workshop.shell(&format!("gcc {flags} a.c -o plain"));
        assert_eq!(of(&workshop, "plain"), expected, "{flags}");
        assert!(expected.obstacle().is_some());
    }
    workshop.shell("gcc -fsanitize=thread -fPIC -c a.c -o a.o && gcc -shared a.o -o unlinked.so");
    assert_eq!(of(&workshop, "unlinked.so"), Instrumentation::Unlinked);
}

#[test]
fn a_thread_sanitizer_of_gccs_is_replaced_by_the_shim() {
    let workshop = Workshop::new();
    // The preinit object of gcc calls __tsan_init in ours; more is not wanted here.
    workshop.write("a.c", "int seen; int main(void) { return seen++; }");
    workshop.shell("gcc -fsanitize=thread a.c -o tsan");
    let kind = of(&workshop, "tsan");
    assert_eq!((kind, kind.obstacle()), (Instrumentation::GccTsan, None));
    assert!(kind.note().is_some_and(|note| note.contains("invisible")));
    shim_directory(&workshop.runtime(), &workshop.path("shim")).expect("made");
    let run = Command::new(workshop.path("tsan"))
        .env("LD_LIBRARY_PATH", workshop.path("shim"))
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .output()
        .expect("it starts");
    let loaded = String::from_utf8_lossy(&run.stdout);
    assert!(loaded.contains("shim/libtsan.so"), "{loaded}");
    let run = Command::new(workshop.path("tsan")).env("LD_LIBRARY_PATH", workshop.path("shim")).status();
    assert_eq!(run.expect("it starts").code(), Some(0));

    workshop.shell("gcc -fsanitize=thread -static-libtsan a.c -o static-tsan");
    assert_eq!(of(&workshop, "static-tsan"), Instrumentation::StaticTsan);
}

#[test]
fn what_clang_makes() {
    let workshop = Workshop::new();
    workshop.write("a.c", "int seen; int main(void) { return seen++; }");
    for (compiler, _) in compilers(Language::C).into_iter().filter(|(_, family)| *family == Family::Clang) {
        workshop.shell(&format!("{compiler} -fsanitize=thread a.c -o a && strip a"));
        assert_eq!(of(&workshop, "a"), Instrumentation::StaticTsan, "{compiler}");
        workshop.shell(&format!("{compiler} -fsanitize=thread -shared-libsan a.c -o a"));
        assert_eq!(of(&workshop, "a"), Instrumentation::ClangSharedTsan, "{compiler}");
    }
}

#[test]
fn what_is_no_program() {
    let workshop = Workshop::new();
    workshop.write("script", "#!/bin/sh\n");
    workshop.write("text", "hello");
    workshop.write("empty", "");
    assert_eq!(of(&workshop, "script"), Instrumentation::Script);
    assert_eq!(of(&workshop, "text"), Instrumentation::NotElf);
    assert_eq!(of(&workshop, "empty"), Instrumentation::NotElf);
    assert!(matches!(inspect(&workshop.path("missing")), Err(InspectError::Read(_))));
    assert!(matches!(inspect(Path::new("/")), Err(InspectError::Read(_))));
}

#[test]
fn other_processors_and_damage() {
    let workshop = Workshop::new();
    workshop.write("a.c", "int main(void) { return 0; }");
    workshop.shell("gcc a.c -o a");
    let whole = std::fs::read(workshop.path("a")).expect("readable");
    let mut other = whole.clone();
    other[18] = 183; // AArch64
    std::fs::write(workshop.path("other"), &other).expect("written");
    assert_eq!(of(&workshop, "other"), Instrumentation::OtherArchitecture);
    // However short it is cut: an answer or an error, and no panic.
    for length in (0..whole.len()).step_by(97).chain(0..128) {
        std::fs::write(workshop.path("cut"), &whole[..length]).expect("written");
        let _ = inspect(&workshop.path("cut"));
    }
    std::fs::write(workshop.path("cut"), &whole[..whole.len() / 2]).expect("written");
    assert!(matches!(inspect(&workshop.path("cut")), Err(InspectError::Damaged(_))));
}
