//! Recording where there is too little of something: disk, address space, memory. The program finishes or ends with a
//! message, and what was recorded up to then is kept.

#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::compile_text;
use common::{Folder, Run};
use std::process::Command;

/// Two threads that do some ten thousand things, and then a lot of blocks that nobody needs.
const PROGRAM: &str = r#"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total, parts[64];
static void *work(void *own) {
    for (long round = 0; round < 10000; round++) {
        pthread_mutex_lock(&lock);
        total += parts[round % 64]++;
        pthread_mutex_unlock(&lock);
    }
    return own;
}
int main(int count, char **arguments) {
    (void)arguments;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    if (count > 1) {
        size_t blocks = 0;
        errno = 0;
        while (blocks < 1000000 && malloc((size_t)1 << 32)) blocks++;
        printf("%s\n", blocks > 0 && blocks < 1000000 && errno == ENOMEM ? "no more" : "endless");
    }
    printf("%ld\n", parts[0]);
    return 3;
}
"#;

/// Runs the command in a shell, after a command of the shell's.
fn limited(folder: &Folder, limit: &str, arguments: &str) -> Run {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{limit} && exec \"$0\" {arguments}")).arg(env!("CARGO_BIN_EXE_interloper"));
    command.env("INTERLOPER_RUNTIME", common::runtime_directory()).current_dir(folder.path("."));
    Run::of(command.output().unwrap())
}

fn events(folder: &Folder) -> u64 {
    let stats = folder.cli("stats t.ilt --format json");
    assert_eq!(stats.code, 0, "{}", stats.stderr);
    stats.json()["events"].as_u64().unwrap()
}

#[test]
fn a_file_that_may_not_become_longer() {
    let folder = Folder::new();
    compile_text(PROGRAM, true, &folder);
    for options in ["", "--full"] {
        // In blocks of 512 bytes: much less than the trace, and than the memory that is shared with the program.
        let run = limited(&folder, "ulimit -S -f 40", &format!("record --no-progress {options} -o t.ilt -- ./program"));
        assert_eq!((run.code, run.stdout.as_str()), (3, "314\n"), "{}", run.stderr);
        let note = "note: the trace could not be written to its end, what was written is kept: File too large";
        assert!(run.stderr.contains(note), "{}", run.stderr);
        let kept = events(&folder);
        assert!(run.stderr.contains(&format!("recorded: {kept} events")), "{kept} events are kept: {}", run.stderr);
        std::fs::remove_file(folder.path("t.ilt")).unwrap();
    }
}

/// The limit is the program's as well: lifted for the recorder's own memory, it is back when the program begins.
#[test]
fn the_limit_is_the_programs_own() {
    let folder = Folder::new();
    let text = r#"
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
int main(void) {
    struct rlimit limit;
    struct sigaction action;
    getrlimit(RLIMIT_FSIZE, &limit);
    sigaction(SIGXFSZ, NULL, &action);
    printf("%ld %d\n", (long)limit.rlim_cur, action.sa_handler == SIG_DFL);
    return 0;
}
"#;
    compile_text(text, true, &folder);
    let run = limited(&folder, "ulimit -S -f 40", "record --no-progress -o t.ilt -- ./program");
    assert_eq!((run.code, run.stdout.as_str()), (0, "20480 1\n"), "{}", run.stderr);
}

#[test]
fn too_little_address_space() {
    let folder = Folder::new();
    compile_text(PROGRAM, true, &folder);
    let run = limited(&folder, "ulimit -v 4000000", "record --no-progress -o t.ilt -- ./program");
    assert_eq!((run.code, run.stdout.as_str()), (4, "314\n"), "{}", run.stderr);
    assert!(
        run.stderr.starts_with("error: the program ran unrecorded") && run.stderr.contains("ulimit -v"),
        "{}",
        run.stderr
    );
    assert!(!folder.path("t.ilt").exists());
}

/// The program is told so, as by any other heap.
#[test]
fn memory_that_is_not_to_be_had() {
    let folder = Folder::new();
    compile_text(PROGRAM, true, &folder);
    let run = limited(&folder, "true", "record --no-progress -o t.ilt -- ./program more");
    assert_eq!((run.code, run.stdout.as_str()), (3, "no more\n314\n"), "{}", run.stderr);
    assert!(events(&folder) > 10_000);
}
