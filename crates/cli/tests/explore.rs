//! `interloper check --explore exhaust` on programs of a few steps: it comes to exactly the ends that there are.
//!
//! What ends there are is found out by going through all interleavings of the same steps, written down a second
//! time as a list. Both numbers are pinned: how many interleavings there are, and how many runs it took.

#![allow(clippy::unwrap_used)]

mod common;

use common::Folder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};

/// A step of a thread: what it does to memory and to the thread's own variable; false if the thread ends here.
type Step = fn(&mut [i64; 4], &mut i64) -> bool;

struct Litmus {
    name: &'static str,
    source: &'static str,
    threads: &'static [&'static [Step]],
    /// What the program prints.
    result: fn(&[i64; 4]) -> String,
    interleavings: u64,
    runs: u64,
}

const WRITE_1: Step = |m, _| {
    m[1] += 1;
    true
};
const WRITE_2: Step = |m, _| {
    m[2] += 1;
    true
};

const MAIN: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n";

const LITMUS: [Litmus; 4] = [
    // Two stores, each followed by a load of the other.
    Litmus {
        name: "store buffering",
        source: "static atomic_int x, y; static int r1 = -1, r2 = -1;
            static void *a(void *p) { atomic_store(&x, 1); r1 = atomic_load(&y); return p; }
            static void *b(void *p) { atomic_store(&y, 1); r2 = atomic_load(&x); return p; }
            int main(void) { pthread_t t, u; pthread_create(&t, 0, a, 0); pthread_create(&u, 0, b, 0);
            pthread_join(t, 0); pthread_join(u, 0); printf(\"%d %d\\n\", r1, r2); }",
        threads: &[
            &[|m, _| { m[0] = 1; true }, |m, _| { m[2] = m[1]; true }],
            &[|m, _| { m[1] = 1; true }, |m, _| { m[3] = m[0]; true }],
        ],
        result: |m| format!("{} {}", m[2], m[3]),
        interleavings: 6,
        runs: 4,
    },
    // A message, which is overwritten, and a reader that looks only if there is one.
    Litmus {
        name: "message passing with a branch",
        source: "static atomic_int data, flag; static int seen = -1;
            static void *a(void *p) { atomic_store(&data, 1); atomic_store(&flag, 1); atomic_store(&data, 2); return p; }
            static void *b(void *p) { if (atomic_load(&flag)) seen = atomic_load(&data); return p; }
            int main(void) { pthread_t t, u; pthread_create(&t, 0, a, 0); pthread_create(&u, 0, b, 0);
            pthread_join(t, 0); pthread_join(u, 0); printf(\"%d\\n\", seen); }",
        threads: &[
            &[|m, _| { m[0] = 1; true }, |m, _| { m[1] = 1; true }, |m, _| { m[0] = 2; true }],
            &[|m, _| m[1] != 0, |m, _| { m[2] = m[0]; true }],
        ],
        result: |m| (if m[2] == 0 { -1 } else { m[2] }).to_string(),
        interleavings: 5,
        runs: 4,
    },
    // Two increments that may be lost, and a check-then-act.
    Litmus {
        name: "lost updates and a check",
        source: "static atomic_int c;
            static void *a(void *p) { int v = atomic_load(&c); atomic_store(&c, v + 1); return p; }
            static void *b(void *p) { if (!atomic_load(&c)) atomic_store(&c, 10); return p; }
            int main(void) { pthread_t t[3]; pthread_create(&t[0], 0, a, 0); pthread_create(&t[1], 0, a, 0);
            pthread_create(&t[2], 0, b, 0); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); printf(\"%d\\n\", c); }",
        threads: &[
            &[|m, v| { *v = m[0]; true }, |m, v| { m[0] = *v + 1; true }],
            &[|m, v| { *v = m[0]; true }, |m, v| { m[0] = *v + 1; true }],
            &[|m, _| m[0] == 0, |m, _| { m[0] = 10; true }],
        ],
        result: |m| m[0].to_string(),
        interleavings: 80,
        runs: 43,
    },
    // Much that does not matter, and one store and one load that do.
    Litmus {
        name: "mostly independent",
        source: "static atomic_int x, a, b; static int r = -1;
            static void *one(void *p) { for (int i = 1; i < 6; i++) atomic_store(&a, i); atomic_store(&x, 1); return p; }
            static void *two(void *p) { for (int i = 1; i < 6; i++) atomic_store(&b, i); r = atomic_load(&x); return p; }
            int main(void) { pthread_t t, u; pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
            pthread_join(t, 0); pthread_join(u, 0); printf(\"%d\\n\", r); }",
        threads: &[
            &[WRITE_1, WRITE_1, WRITE_1, WRITE_1, WRITE_1, |m, _| { m[0] = 1; true }],
            &[WRITE_2, WRITE_2, WRITE_2, WRITE_2, WRITE_2, |m, _| { m[3] = m[0]; true }],
        ],
        result: |m| m[3].to_string(),
        interleavings: 924,
        runs: 2,
    },
];

#[test]
fn every_end_is_come_to_and_no_other() {
    let runtime = common::runtime_directory();
    for litmus in &LITMUS {
        let (mut ends, mut interleavings) = (BTreeSet::new(), 0);
        let threads: Vec<(usize, i64)> = litmus.threads.iter().map(|_| (0, 0)).collect();
        interleave(litmus, [0; 4], &threads, &mut ends, &mut interleavings);
        assert_eq!(interleavings, litmus.interleavings, "{}", litmus.name);

        let explored = explore(litmus, &runtime);
        let outcomes = explored["outcomes"].as_array().unwrap();
        let found = outcomes.iter().map(|outcome| outcome["stdout"].as_str().unwrap().trim().to_owned());
        assert_eq!(found.collect::<BTreeSet<String>>(), ends, "{}", litmus.name);
        assert_eq!((&explored["exhausted"], &explored["left"]), (&Value::from(true), &Value::from(0)));
        assert_eq!(explored["runs"], litmus.runs, "{}", litmus.name);
    }
}

/// Goes through all interleavings, and notes what they end with.
fn interleave(
    litmus: &Litmus,
    memory: [i64; 4],
    threads: &[(usize, i64)],
    ends: &mut BTreeSet<String>,
    interleavings: &mut u64,
) {
    let mut is_over = true;
    for (thread, steps) in litmus.threads.iter().enumerate() {
        let (at, mut own) = threads[thread];
        let Some(step) = steps.get(at) else { continue };
        is_over = false;
        let mut memory = memory;
        let goes_on = step(&mut memory, &mut own);
        let mut threads = threads.to_vec();
        threads[thread] = (if goes_on { at + 1 } else { steps.len() }, own);
        interleave(litmus, memory, &threads, ends, interleavings);
    }
    if is_over {
        *interleavings += 1;
        ends.insert((litmus.result)(&memory));
    }
}

fn explore(litmus: &Litmus, runtime: &std::path::Path) -> Value {
    let folder = Folder::new();
    folder.write("program.c", format!("{MAIN}{}", litmus.source));
    let interloper = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interloper"));
        for name in ["CC", "CXX", "INTERLOPER_COMPILER", "INTERLOPER_BRANCHES"] {
            command.env_remove(name);
        }
        command
            .env("INTERLOPER_RUNTIME", runtime)
            .env("INTERLOPER_INCLUDE", concat!(env!("CARGO_MANIFEST_DIR"), "/../../include"))
            .args(args)
            .stdin(Stdio::null())
            .current_dir(folder.path("."));
        command.output().unwrap()
    };
    let compiled = interloper(&["cc", "-g", "-O1", "-pthread", "program.c", "-o", "program"]);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let checked = interloper(&[
        "check",
        "--explore",
        "exhaust",
        "--runs",
        "10000",
        "--budget",
        "10m",
        "--format",
        "json",
        "--",
        "./program",
    ]);
    let result: Value = serde_json::from_slice(&checked.stdout).unwrap();
    common::schema::assert_documented(&result);
    result["explored"].clone()
}
