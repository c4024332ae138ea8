//! A program killed at any instant leaves a trace that opens, up to its last complete chunk.

#![allow(clippy::unwrap_used)]

mod common;

use common::Folder;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often; `INTERLOPER_KILLS=200` for more.
const KILLS: u32 = 30;

/// Two threads that never stop by themselves within the time of the test.
const PROGRAM: &str = "
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total, parts[64];
static void *work(void *own) {
    for (long round = 0; round < 100000000; round++) {
        pthread_mutex_lock(&lock);
        total += parts[round % 64]++;
        pthread_mutex_unlock(&lock);
    }
    return own;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
";

#[test]
fn a_killed_program_leaves_its_trace() {
    let kills = std::env::var("INTERLOPER_KILLS").map_or(KILLS, |count| count.parse().unwrap());
    let folder = Folder::new();
    folder.write("program.c", PROGRAM);
    let equip = |mut command: Command| {
        for name in ["CC", "CXX", "INTERLOPER_COMPILER", "INTERLOPER_BRANCHES"] {
            command.env_remove(name);
        }
        command
            .env("INTERLOPER_RUNTIME", common::runtime_directory())
            .env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"));
        command
    };
    let line = "cc -g -O1 -pthread program.c -o program";
    assert!(equip(folder.command(line.split_whitespace())).status().unwrap().success());

    let mut most = 0;
    for number in 0..kills {
        let mut record =
            equip(folder.command(["record", "-o", "killed.ilt", "--full", "--quantum", "1000", "--", "./program"]));
        let mut recorder = record.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let program = child_of(recorder.id());
        // From before the runtime has begun to when several chunks have been written.
        std::thread::sleep(Duration::from_micros(u64::from(number * 7919 % 400) * 1000));
        kill(program);
        let is_recorder_killed = number % 2 == 1;
        if is_recorder_killed {
            kill(recorder.id());
        }
        let status = recorder.wait().unwrap();
        if !is_recorder_killed {
            assert_eq!(status.code(), Some(137), "kill {number}");
        }
        // Killed itself before it wrote anything, the recorder may not have made the file.
        if folder.path("killed.ilt").exists() {
            let stats = folder.cli("stats killed.ilt --format json");
            let is_empty = std::fs::metadata(folder.path("killed.ilt")).unwrap().len() == 0;
            assert!(stats.code == 0 || (is_recorder_killed && is_empty), "kill {number}: {}", stats.stderr);
            if stats.code == 0 {
                most = most.max(stats.json()["events"].as_u64().unwrap());
            }
            std::fs::remove_file(folder.path("killed.ilt")).unwrap();
        }
    }
    assert!(most > 1000, "the longest of {kills} traces has only {most} events");
}

/// The process that another has started, once it has.
fn child_of(parent: u32) -> u32 {
    let begin = Instant::now();
    loop {
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
        if let Some(child) = children.split_whitespace().next() {
            return child.parse().unwrap();
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "the program does not start");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn kill(process: u32) {
    Command::new("kill").args(["-9", &process.to_string()]).stderr(Stdio::null()).status().unwrap();
}
