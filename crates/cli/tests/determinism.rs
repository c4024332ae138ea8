//! `record --check-determinism`: what is the same in every run, and the cause that is named for what is not.

#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{compile_text, interloper, run};
use common::{Folder, Run};
use std::process::Stdio;

/// A thread asks for what the argument says, and tells another.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static long told;

static long text_of(int file) {
    char text[200] = "";
    if (read(file, text, sizeof text - 1) < 0) abort();
    if (file != 0) close(file);
    return atol(text);
}

static long ask(const char *what) {
    if (!strcmp(what, "pid")) return getpid();  // pid
    if (!strcmp(what, "tid")) return syscall(SYS_gettid);  // tid
    if (!strcmp(what, "proc")) return text_of(open("/proc/self/stat", O_RDONLY));  // proc
    if (!strcmp(what, "usage")) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);  // usage
        return usage.ru_utime.tv_usec + usage.ru_stime.tv_usec + usage.ru_minflt + getpid();
    }
    if (!strcmp(what, "file")) {
        long count = text_of(open("counter", O_RDONLY)) + 1;
        FILE *file = fopen("counter", "w");
        fprintf(file, "%ld", count);
        fclose(file);
        return count;
    }
    if (!strcmp(what, "stream")) {
        long count = 0;
        FILE *file = fopen("counter", "r+");
        if (fscanf(file, "%ld", &count) != 1) abort();  // stream
        rewind(file);
        fprintf(file, "%ld", count + 1);
        fclose(file);
        return count;
    }
    if (!strcmp(what, "processor")) return _rdtsc();

    if (!strcmp(what, "stdin")) return text_of(0);
    if (!strcmp(what, "time")) {
        struct timespec now, used;
        struct tms all;
        clock_gettime(CLOCK_REALTIME, &now);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        srand(time(0));
        return now.tv_nsec + used.tv_nsec + clock() + times(&all) + all.tms_utime + rand();
    }
    if (!strcmp(what, "random")) {
        long sum[4] = {0};
        FILE *stream = fopen("/dev/urandom", "r");
        if (fread(&sum[0], 8, 1, stream) != 1 || fgetc(stream) < 0) abort();
        fclose(stream);
        int file = open("/dev/urandom", O_RDONLY);
        if (read(file, &sum[1], 8) != 8 || getrandom(&sum[2], 8, 0) != 8) abort();
        close(file);
        arc4random_buf(&sum[3], 8);
        return (sum[0] ^ sum[1] ^ sum[2] ^ sum[3]) + arc4random() + arc4random_uniform(1000);
    }
    if (!strcmp(what, "machine")) {
        unsigned processor;
        getcpu(&processor, NULL);
        return sched_getcpu() + processor + sysconf(_SC_NPROCESSORS_ONLN);
    }
    if (!strcmp(what, "temporary")) {
        char name[10] = "./t";
        memset(name + 3, 'X', 6);
        int file = mkstemp(name);
        if (write(file, "5", 1) != 1 || lseek(file, 0, SEEK_SET) != 0) abort();
        return text_of(file);
    }
    if (!strcmp(what, "addresses")) {
        char *block = malloc(100), *again;
        free(block);
        again = malloc(100);
        return (long)block ^ (long)again ^ (long)&again ^ (long)getenv("HOME") ^ (long)ask;
    }
    abort();
}

static void *work(void *what) {
    told = ask(what);
    return NULL;
}

int main(int count, char **arguments) {
    (void)count;
    pthread_t thread;
    pthread_create(&thread, NULL, work, arguments[1]);
    pthread_join(thread, NULL);
    printf("%d\n", told != 0);
    return 0;
}
"#;

/// The line that ends with this comment.
fn line_of(comment: &str) -> usize {
    let end = format!("  // {comment}");
    PROGRAM.lines().position(|line| line.ends_with(&end)).unwrap() + 1
}

fn check(folder: &Folder, what: &str) -> Run {
    run(&format!("record --no-progress --check-determinism -o t.ilt -- ./program {what}"), folder)
}

#[test]
fn what_differs_has_a_cause() {
    let folder = Folder::new();
    compile_text(PROGRAM, true, &folder);
    let at = |comment| format!("program.c:{}", line_of(comment));
    for (what, expected) in [
        (
            "pid",
            vec!["the number of the process, read by thread main.1 at ".to_owned(), at("pid"), ": first ".to_owned()],
        ),
        ("tid", vec!["the number of a thread, read by thread main.1 at ".to_owned(), at("tid")]),
        ("proc", vec!["the file /proc/self/stat, read by thread main.1 at ".to_owned()]),
        ("file", vec!["/counter, read by thread main.1".to_owned(), r#"first "41", then "42""#.to_owned()]),
        (
            "stream",
            vec![
                "/counter, read by thread main.1 at ".to_owned(),
                at("stream"),
                r#"first "41\n", then "42\n""#.to_owned(),
            ],
        ),
        ("processor", vec!["not known".to_owned(), "the processor's own instructions".to_owned()]),
    ] {
        // A stream that is read to its end has an empty buffer, which tells nothing.
        folder.write("counter", if what == "stream" { "41\n" } else { "41" });
        let run = check(&folder, what);
        assert_eq!((run.code, run.stdout.as_str()), (0, "1\n"), "{what}: {}", run.stderr);
        let cause = run.stderr.lines().find(|line| line.starts_with("  likely cause: "));
        let cause = cause.unwrap_or_else(|| panic!("no cause for {what}: {}", run.stderr));
        for part in expected {
            assert!(cause.contains(&part), "{what}: expected {part:?}, found {cause:?}");
        }
        assert!(
            run.stderr.contains("determinism: two runs along the same schedule differ at event "),
            "{}",
            run.stderr
        );
    }
}

/// What was seen to be another is a likelier cause than what came last.
#[test]
fn of_several_causes_the_one_that_was_seen_to_differ_is_named() {
    let folder = Folder::new();
    let text = PROGRAM
        .replace("+ getpid();", "* 0 + told;")
        .replace("told = ask(what);", "told = getpid(); told = ask(what);");
    assert_ne!(text, PROGRAM);
    compile_text(&text, true, &folder);
    let run = check(&folder, "usage");
    assert!(run.stderr.contains("likely cause: the number of the process"), "{}", run.stderr);
    // Nothing but the number of the process is kept of what was read.
    let dump = common::corpus::run("dump t.ilt", &folder).stdout;
    assert!(dump.contains("getrusage"), "{dump}");
}

#[test]
fn what_is_controlled_is_the_same() {
    let folder = Folder::new();
    compile_text(PROGRAM, true, &folder);
    for what in ["time", "random", "machine", "addresses", "temporary"] {
        let run = check(&folder, what);
        assert_eq!((run.code, run.stdout.as_str()), (0, "1\n"), "{what}: {}", run.stderr);
        let expected = "determinism: a second run along the same schedule gave the same events\nrecorded: ";
        assert!(run.stderr.contains(expected), "{what}: {}", run.stderr);
    }
}

/// The second run reads what the first has read, and what it prints goes nowhere.
#[test]
fn standard_input_is_read_once() {
    let folder = Folder::new();
    compile_text(PROGRAM, true, &folder);
    let mut command = interloper(&common::runtime_directory());
    command.args(["record", "--no-progress", "--check-determinism", "-o", "t.ilt", "--", "./program", "stdin"]);
    command.current_dir(folder.path(".")).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"77\n").unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.stdout.as_str()), (0, "1\n"), "{}", run.stderr);
    assert!(run.stderr.contains("gave the same events\n"), "{}", run.stderr);
}

/// What nothing comes of is no difference, but it is said.
#[test]
fn what_nothing_comes_of_is_no_difference() {
    let folder = Folder::new();
    let text = PROGRAM.replace("told = ask(what);", "told = ask(what) != 0;");
    compile_text(&text, true, &folder);
    let run = check(&folder, "pid");
    assert!(run.stderr.contains("gave the same events\n  but: the number of the process, "), "{}", run.stderr);
    let run = check(&folder, "time");
    assert!(!run.stderr.contains("  but: "), "{}", run.stderr);
}

/// `std::random_device` asks the processor where nobody is in its way.
#[test]
fn random_devices_of_cpp_are_the_same() {
    let folder = Folder::new();
    let text = r#"
#include <random>
#include <thread>
unsigned told;
int main() {
    std::thread([] { std::random_device device; told = device(); }).join();
    return told == 0;
}
"#;
    compile_text(text, false, &folder);
    let run = check(&folder, "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("gave the same events\nrecorded: "), "{}", run.stderr);
}
