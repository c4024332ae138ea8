//! Our solver beside Z3, on the same formulas.
//!
//! The formulas are those of the causal model of a trace, as far as they were needed to answer the questions, with a
//! question for each of some possible triples; nothing was ruled out beforehand by cheaper means. Both solvers read
//! them from the same file, and each may use so much CPU time. Beside it stands what the whole command takes for all
//! triples of the trace, of which most are decided by cheaper means.

use crate::measure::{Limited, limited};
use crate::tellers::{Made, Protected, anything, bank};
use anyhow::{Context, Result, bail};
use interloper_ladder::{Limits, Trace, formula};
use interloper_model::RegionSources;
use interloper_order_sat::smtlib::Script;
use interloper_order_sat::{Answer, Options};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// CPU seconds for each solver and set.
const SECONDS: u64 = 60;

/// What was found best for Z3 on such formulas.
const Z3_SETTINGS: [&str; 2] = ["smt.auto_config=false", "smt.arith.solver=3"];

struct Set {
    name: &'static str,
    make: fn() -> Result<Made>,
    questions: usize,
}

const SETS: [Set; 6] = [
    Set { name: "bank-av-8", make: || bank(8, 9, Protected::Nothing), questions: 32 },
    Set { name: "bank-sav-8", make: || bank(8, 9, Protected::FirstBook), questions: 32 },
    Set { name: "bank-nav-8", make: || bank(8, 9, Protected::Both), questions: 32 },
    Set { name: "random-2000", make: || anything(8, 2000, 40), questions: 20 },
    Set { name: "random-5000", make: || anything(8, 5000, 40), questions: 20 },
    Set { name: "random-5000-100", make: || anything(8, 5000, 100), questions: 20 },
];

/// Prints the table.
pub(crate) fn print(interloper: &Path, folder: &Path) -> Result<()> {
    let Some(z3) = z3() else {
        println!("## Solver\n\nNot measured: there is no Z3. scripts/z3.sh installs one.\n");
        return Ok(());
    };
    println!("## Solver\n\n{}, {}\n", version(&z3)?, Z3_SETTINGS.join(" "));
    println!(
        "| set | events | clauses | questions | yes / no | ours, CPU s | Z3, CPU s | ratio | ours, MB | Z3, MB \
         | `analyze --all`, CPU s |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let contest = Contest {
        own: OsString::from(std::env::current_exe().context("cannot find this program")?),
        z3,
        interloper: interloper.to_owned(),
        folder: folder.to_owned(),
    };
    let mut ratios = Vec::new();
    for set in &SETS {
        ratios.push(contest.print_row(set)?);
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    println!("\nGeometric mean of the ratios: {mean:.1}. Out of time counts as {SECONDS} s.\n");
    Ok(())
}

/// The programs that take part, and where their files are.
struct Contest {
    own: OsString,
    z3: PathBuf,
    interloper: PathBuf,
    folder: PathBuf,
}

impl Contest {
    /// Measures one set; how many times longer Z3 takes.
    fn print_row(&self, set: &Set) -> Result<f64> {
        let file = |extension| OsString::from(self.folder.join(format!("solver-{}.{extension}", set.name)));
        let (formula, trace) = (file("smt2"), file("ilt"));
        // By a process of its own: what it took would count as taken by those that are started here.
        let make = [self.own.clone(), "--formulate".into(), set.name.into(), formula.clone(), trace.clone()];
        let size = Size::read(&limited(&make, &[0], u64::from(u32::MAX))?.printed)?;
        let ours = limited(&[self.own.clone(), "--solve".into(), formula.clone()], &[0], SECONDS)?;
        let [first, second] = Z3_SETTINGS.map(OsString::from);
        let theirs = limited(&[self.z3.clone().into(), first, second, formula], &[0], SECONDS)?;
        let answers = agreed(set.name, &ours, &theirs)?;
        let yes = answers.iter().filter(|answer| **answer == "sat").count();
        let ratio = seconds(&theirs) / seconds(&ours);
        println!(
            "| {} | {} | {} | {} | {yes} / {} | {} | {} | {ratio:.1} | {:.0} | {:.0} | {} |",
            set.name,
            size.events,
            size.clauses,
            size.questions,
            answers.len() - yes,
            told(&ours, size.questions),
            told(&theirs, size.questions),
            ours.cost.memory as f64 / 1e6,
            theirs.cost.memory as f64 / 1e6,
            self.whole(trace)?,
        );
        Ok(ratio)
    }

    /// What it takes to decide every triple, most of them without the solver.
    fn whole(&self, trace: OsString) -> Result<String> {
        const CAUSAL: &str = "analyze --model causal --all --jobs 1 --limit 0 --format json --no-progress";
        let mut command = vec![self.interloper.clone().into()];
        command.extend(CAUSAL.split(' ').map(OsString::from));
        command.push(trace);
        // Something found, nothing found, or something left undecided.
        let run = limited(&command, &[0, 1, 3], SECONDS)?;
        Ok(if run.is_over { format!(">{SECONDS}") } else { format!("{:.2}", seconds(&run)) })
    }
}

/// How large a set is.
struct Size {
    events: usize,
    clauses: usize,
    questions: usize,
}

impl Size {
    fn read(text: &str) -> Result<Size> {
        let numbers: Vec<usize> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [events, clauses, questions] = numbers[..] else { bail!("no set was made: {text}") };
        Ok(Size { events, clauses, questions })
    }
}

/// Makes a set: its formula and its trace. Prints how large they are.
pub(crate) fn formulate(name: &str, formula_file: &Path, trace_file: &Path) -> Result<()> {
    let set = SETS.iter().find(|set| set.name == name).with_context(|| format!("there is no set {name}"))?;
    let made = (set.make)()?;
    made.write(trace_file)?;
    let trace = Trace { events: made.events, tables: made.tables };
    let script = formula(&trace, RegionSources::default_choice(), set.questions, &Limits::default());
    let cannot_write = || format!("cannot write {}", formula_file.display());
    std::fs::write(formula_file, script.to_string()).with_context(cannot_write)?;
    println!("{} {} {}", trace.events.len(), script.clauses(), script.questions());
    Ok(())
}

/// Answers the questions of a file: one of the two contenders.
pub(crate) fn solve(path: &Path) -> Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let script = Script::read(&text).with_context(|| path.display().to_string())?;
    script.answer(Options::default(), |answer| {
        println!(
            "{}",
            match answer {
                Answer::Satisfiable(_) => "sat",
                Answer::Unsatisfiable(_) => "unsat",
                Answer::Unknown(_) => "unknown",
            }
        );
    });
    Ok(())
}

/// What both say, as far as both got; an answer that differs is an error. Of who got further, the rest.
fn agreed<'r>(set: &str, ours: &'r Limited, theirs: &'r Limited) -> Result<Vec<&'r str>> {
    let (ours, theirs) = (answers(ours), answers(theirs));
    if let Some(at) = ours.iter().zip(&theirs).position(|(one, other)| one != other && *other != "unknown") {
        bail!("{set}: question {at}: ours {}, Z3 {}", ours[at], theirs[at]);
    }
    Ok(if ours.len() >= theirs.len() { ours } else { theirs })
}

fn answers(run: &Limited) -> Vec<&str> {
    run.printed.lines().filter(|line| ["sat", "unsat", "unknown"].contains(line)).collect()
}

fn seconds(run: &Limited) -> f64 {
    if run.is_over { SECONDS as f64 } else { run.cost.cpu.as_secs_f64() }
}

fn told(run: &Limited, questions: usize) -> String {
    let done = answers(run).iter().filter(|answer| **answer != "unknown").count();
    let time = if run.is_over { format!(">{SECONDS}") } else { format!("{:.2}", seconds(run)) };
    if done < questions { format!("{time}, {done} answered") } else { time }
}

/// The program, sought where `scripts/z3.sh` seeks it.
fn z3() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("INTERLOPER_Z3") {
        return Some(PathBuf::from(path));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let places = [PathBuf::from("z3"), target.join("tools/z3/bin/z3")];
    places.into_iter().find(|path| version(path).is_ok())
}

fn version(z3: &Path) -> Result<String> {
    let output = Command::new(z3).arg("--version").stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}
