//! What programs and compilers call of the runtime by themselves: that it is there, and what it makes of it.

#![allow(clippy::unwrap_used)]

mod common;

use common::Folder;
use common::corpus::{compile_text, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The functions of ThreadSanitizer that gcc and clang call in what they compile.
fn emitted() -> Vec<String> {
    let mut names: Vec<String> =
        ["init", "func_entry", "func_exit", "vptr_read", "vptr_update", "read_range", "write_range"]
            .map(str::to_owned)
            .into();
    for access in ["read", "write"] {
        for size in [1, 2, 4, 8, 16] {
            names.push(format!("{access}{size}"));
            names.push(format!("volatile_{access}{size}"));
            if size > 1 {
                names.push(format!("unaligned_{access}{size}"));
                names.push(format!("unaligned_volatile_{access}{size}"));
            }
        }
    }
    for size in [1, 2, 4, 8, 16] {
        names.push(format!("read_write{size}"));
        if size > 1 {
            names.push(format!("unaligned_read_write{size}"));
        }
    }
    for bits in [8, 16, 32, 64, 128] {
        let operations = [
            "load",
            "store",
            "exchange",
            "fetch_add",
            "fetch_sub",
            "fetch_and",
            "fetch_or",
            "fetch_xor",
            "fetch_nand",
            "compare_exchange_strong",
            "compare_exchange_weak",
            "compare_exchange_val",
        ];
        names.extend(operations.map(|operation| format!("atomic{bits}_{operation}")));
    }
    names.extend(["atomic_thread_fence", "atomic_signal_fence"].map(str::to_owned));
    names.iter().map(|name| format!("__tsan_{name}")).collect()
}

/// What ThreadSanitizer's runtime exports and ours does not: what asks about its reports, which there are none of, what
/// is for Java and for its own tests, and hooks that programs define and it calls.
const NOT_OURS: [&str; 11] = [
    "__tsan_default_options",
    "__tsan_default_suppressions",
    "__tsan_get_alloc_stack",
    "__tsan_get_current_report",
    "__tsan_get_report_",
    "__tsan_java_",
    "__tsan_locate_address",
    "__tsan_on_report",
    "__tsan_on_finalize",
    "__tsan_symbolize_external",
    "__tsan_testonly_",
];

/// The functions that a library exports.
fn exports(library: &Path) -> BTreeSet<String> {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(2));
    names.map(|name| name.split('@').next().unwrap().to_owned()).collect()
}

#[test]
fn nothing_that_is_called_is_missing() {
    let ours = exports(&common::runtime_directory().join("libinterloper_rt.so"));
    let missing: Vec<String> = emitted().into_iter().filter(|name| !ours.contains(name)).collect();
    assert!(missing.is_empty(), "compilers call these: {missing:?}");

    // The compiler's own runtimes, as far as they are there.
    let own = Command::new("gcc").arg("-print-file-name=libtsan.so").output().unwrap();
    let own = String::from_utf8(own.stdout).unwrap();
    let library = Path::new(own.trim());
    if !library.is_absolute() {
        return;
    }
    let is_wanted = |name: &&String| {
        let is_interface = ["__tsan_", "Annotate", "WTFAnnotate", "RunningOn", "ValgrindS", "__sanitizer_unaligned_"];
        is_interface.iter().any(|prefix| name.starts_with(prefix))
            && !NOT_OURS.iter().any(|prefix| name.starts_with(prefix))
    };
    let theirs = exports(library);
    assert!(theirs.iter().filter(is_wanted).count() > 150, "{} exports next to nothing", library.display());
    let missing: Vec<&String> = theirs.iter().filter(is_wanted).filter(|name| !ours.contains(*name)).collect();
    assert!(missing.is_empty(), "{} has these, and we do not: {missing:?}", library.display());
}

/// The events of a program that was recorded, as JSON.
#[track_caller]
fn events_of(text: &str, options: &str) -> (Folder, Vec<Value>) {
    let folder = Folder::new();
    compile_text(text, true, &folder);
    let recorded = run(&format!("record --no-progress {options} -o t.ilt -- ./program"), &folder);
    assert_eq!(recorded.code, 0, "{}", recorded.stderr);
    let converted = run("convert t.ilt t.jsonl", &folder);
    assert_eq!(converted.code, 0, "{}", converted.stderr);
    let lines = folder.text("t.jsonl");
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let events = lines.filter(|line| line["op"] != "meta").collect();
    (folder, events)
}

fn is(event: &Value, op: &str) -> bool {
    event["op"] == op
}

fn target(event: &Value) -> &str {
    event["target"].as_str().unwrap_or_default()
}

#[test]
fn announced_orders_are_in_the_trace() {
    let text = r#"
#include <pthread.h>
void AnnotateHappensBefore(const char *, int, const volatile void *);
void AnnotateHappensAfter(const char *, int, const volatile void *);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_sent, message;
static void *work(void *own) {
    message = 7;
    AnnotateHappensBefore(__FILE__, __LINE__, &message);
    AnnotateHappensBefore(__FILE__, __LINE__, &message);
    pthread_mutex_lock(&lock);
    is_sent = 1;
    pthread_mutex_unlock(&lock);
    return own;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    for (int seen = 0; !seen;) {
        pthread_mutex_lock(&lock);
        seen = is_sent;
        pthread_mutex_unlock(&lock);
    }
    AnnotateHappensAfter(__FILE__, __LINE__, &message);
    AnnotateHappensAfter(__FILE__, __LINE__, &message);
    int received = message;
    pthread_join(thread, 0);
    return received - 7;
}
"#;
    let (_folder, events) = events_of(text, "--quantum 1000");
    let of = |thread: &str| -> Vec<(String, String)> {
        let own = events
            .iter()
            .filter(|event| event["thread"] == thread && event["op"].as_str().unwrap().starts_with("sem_"));
        own.map(|event| (event["op"].as_str().unwrap().to_owned(), target(event).to_owned())).collect()
    };
    let event = |op: &str, time: u32| (op.to_owned(), format!("message announced by main.1 ({time})"));
    assert_eq!(of("main.1"), [event("sem_post", 1), event("sem_post", 2)]);
    // What came first goes without saying; who comes after may come after it again.
    let after = [event("sem_wait", 2), event("sem_post", 2)];
    assert_eq!(of("main"), [after.clone(), after].concat());
}

#[test]
fn locks_of_a_programs_own_making_are_locks() {
    let text = r#"
#include <pthread.h>
void AnnotateRWLockAcquired(const char *, int, const volatile void *, long);
void AnnotateRWLockReleased(const char *, int, const volatile void *, long);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
static int gate, nested, shared;
static void *work(void *own) {
    AnnotateRWLockAcquired(__FILE__, __LINE__, &gate, 1);
    shared++;
    AnnotateRWLockReleased(__FILE__, __LINE__, &gate, 1);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &gate, 0);
    AnnotateRWLockReleased(__FILE__, __LINE__, &gate, 0);
    __tsan_mutex_post_lock(&nested, 0, 0);
    __tsan_mutex_post_lock(&nested, 0, 0);
    int levels = __tsan_mutex_pre_unlock(&nested, 1 << 7);
    __tsan_mutex_post_lock(&nested, 1 << 6, levels);
    __tsan_mutex_pre_unlock(&nested, 0);
    __tsan_mutex_pre_unlock(&nested, 0);
    return own;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    shared++;
    return 0;
}
"#;
    let (_folder, events) = events_of(text, "--full");
    let locks = |name: &str| -> Vec<String> {
        let own = events.iter().filter(|event| target(event) == name && !is(event, "begin") && !is(event, "end"));
        own.map(|event| event["op"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(locks("gate"), ["acquire", "release", "acquire_shared", "release_shared"]);
    let twice = |op: &str| vec![op.to_owned(); 2];
    assert_eq!(locks("nested"), [twice("acquire"), twice("release"), twice("acquire"), twice("release")].concat());
}

/// Functions are those of the fiber that runs, and no region of one goes on across a switch.
#[test]
fn fibers_do_not_share_functions() {
    let program = common::corpus::corpus().join("runtime/fibers.c");
    let text = std::fs::read_to_string(program).unwrap();
    let (_folder, events) = events_of(&text, "--full");
    let mut stacks: std::collections::BTreeMap<String, Vec<String>> = Default::default();
    let mut steps = 0;
    for event in &events {
        let stack = stacks.entry(event["thread"].as_str().unwrap().to_owned()).or_default();
        if is(event, "enter") {
            stack.push(target(event).to_owned());
        } else if is(event, "exit") {
            assert!(stack.pop().is_some(), "left a function that was not entered: {event}");
        } else if target(event) == "total" {
            let callers: Vec<&str> = stack.iter().map(String::as_str).filter(|name| *name != "step").collect();
            // Not within whoever resumed the fiber, and not within the other fiber.
            let is_main = event["function"] == "main";
            assert!(is_main || callers == ["body"], "{event} within {stack:?}");
            steps += u32::from(!is_main);
        }
    }
    assert_eq!(steps, 12, "six steps of two accesses each");
}

#[test]
fn strings_that_are_printed_are_read() {
    let text = r#"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
static char plain[16], cut[16], star[16], late[16], listed[16], unused[16];
static void *work(void *own) {
    strcpy(plain, "plain");
    memcpy(cut, "cut off here", 13);
    strcpy(star, "star");
    strcpy(late, "late");
    strcpy(listed, "listed");
    strcpy(unused, "unused");
    return own;
}
static void print_list(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}
int main(void) {
    pthread_t thread;
    char buffer[200];
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    printf("%%|%-8s|%.3s|%d\n", plain, cut, 5); // here
    snprintf(buffer, sizeof buffer, "%5.2f %Lf %*d %.*s %c %zu %s\n", 1.5, 2.5L, 4, 7, 2, star, 'x', sizeof buffer, late);
    fputs(buffer, stdout);
    print_list("%g %g %g %g %g %g %g %g %g %p %s\n", 1., 2., 3., 4., 5., 6., 7., 8., 9., (void *)0, listed);
    printf("%2$s %1$s\n", unused, unused);
    return 0;
}
"#;
    let (folder, events) = events_of(text, "--full");
    let read = |name: &str| -> u64 {
        let own = events.iter().filter(|event| {
            is(event, "read") && event["thread"] == "main" && target(event).split('[').next() == Some(name)
        });
        own.map(|event| event["size"].as_u64().unwrap()).sum()
    };
    assert_eq!(["plain", "cut", "star", "late", "listed"].map(read), [6, 3, 2, 5, 7]);
    assert_eq!(read("unused"), 0, "arguments by number are not looked at, as is documented");
    let here = text.lines().position(|line| line.ends_with("// here")).unwrap() + 1;
    let first = events.iter().find(|event| is(event, "read") && target(event) == "plain[0]").unwrap();
    assert_eq!(first["line"], here);
    let printed = run("record --no-progress -o t.ilt -- ./program", &folder).stdout;
    assert_eq!(
        printed,
        "%|plain   |cut|5\n 1.50 2.500000    7 st x 200 late\n1 2 3 4 5 6 7 8 9 (nil) listed\nunused unused\n"
    );
}
