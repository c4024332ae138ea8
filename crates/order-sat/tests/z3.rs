//! The same answers as Z3, on formulas too large to try everything.

mod common;

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use common::{Script, Size, scripts, smt};
use interloper_order_sat::{Options, smtlib};
use proptest::prelude::*;

/// Set to any value to do without this test.
const SKIP: &str = "INTERLOPER_NO_Z3";

/// The program, sought where `scripts/z3.sh` seeks it. None if it is not wanted.
fn z3() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        if env::var_os(SKIP).is_some() {
            eprintln!("not compared with Z3: {SKIP} is set");
            return None;
        }
        if let Some(path) = env::var_os("INTERLOPER_Z3") {
            return Some(PathBuf::from(path));
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let target = root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into()));
        let places = [PathBuf::from("z3"), target.join("tools/z3/bin/z3")];
        let found = places.into_iter().find(|path| {
            let version = Command::new(path).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            version.is_ok_and(|status| status.success())
        });
        assert!(
            found.is_some(),
            "there is no z3: `make test` installs it (scripts/z3.sh), or set {SKIP} to do without"
        );
        found
    };
    FOUND.get_or_init(find).as_deref()
}

/// Z3's answers to each question of a text.
fn answers_of_z3(z3: &Path, text: &str) -> Vec<String> {
    let mut process = Command::new(z3)
        .args(["-in", "-smt2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 was found, and runs");
    let mut input = process.stdin.take().expect("it was asked for");
    // All answers together fit into a pipe, so it never waits for us to read.
    input.write_all(text.as_bytes()).expect("z3 reads its input");
    drop(input);
    let output = process.wait_with_output().expect("z3 ends");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn check(script: &Script) {
    let Some(z3) = z3() else { return };
    let mut ours = Vec::new();
    script.run(Options::default(), |_, _, judged| {
        if judged.is_glance {
            return;
        }
        ours.push(match judged.answer.is_satisfiable() {
            Some(true) => "sat",
            Some(false) => "unsat",
            None => "unknown",
        });
    });
    assert_eq!(answers_of_z3(z3, &smt::print(script)), ours);
}

/// The same for the formula as it was told to our solver, as clauses and atoms.
fn check_told(script: &Script) {
    let Some(z3) = z3() else { return };
    let mut options = Options::default();
    options.proof = true;
    let mut questions = Vec::new();
    let mut solver = script.run(options, |_, _, judged| questions.push(judged.assumptions));
    let told = smtlib::Script::new(&solver.take_proof(), questions);
    let mut ours = Vec::new();
    told.answer(Options::default(), |answer| {
        ours.push(if answer.is_satisfiable() == Some(true) { "sat" } else { "unsat" });
    });
    assert_eq!(answers_of_z3(z3, &told.to_string()), ours);
}

/// Failures are not kept: the usual one is that there is no Z3, whatever the script.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn orders(script in scripts(Size { nodes: 16, steps: 120, vectors: 0, width: 0 })) {
        check(&script);
    }

    #[test]
    fn orders_as_told(script in scripts(Size { nodes: 16, steps: 120, vectors: 0, width: 0 })) {
        check_told(&script);
    }

    #[test]
    fn orders_and_bits(script in scripts(Size { nodes: 6, steps: 30, vectors: 3, width: 8 })) {
        check(&script);
    }
}
