//! The table of what recording costs: native, both ThreadSanitizers, and ours, side by side.

use crate::measure::{Contender, Cost, side_by_side};
use crate::programs::{Compiler, Sources, text};
use anyhow::{Context, Result};
use nix::sys::personality::{self, Persona};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The micro-benchmarks, and what is counted in them if the cost of one is of interest.
const PROGRAMS: &[(&str, Option<Count>)] = &[
    ("locks", None),
    ("atomics", None),
    ("scan", None),
    ("private", Some(Count::Accesses(200_000_000))),
    ("handoff", Some(Count::Handoffs(200_000))),
];

/// Length of the text that pbzip2 compresses.
const TEXT_LEN: usize = 4_000_000;
/// Two threads, blocks of 100 kB, and nothing but the output changes.
const PBZIP2: &[&str] = &["-k", "-c", "-p2", "-b1", "-1"];

/// It looks for races as always, but does not tell: a report is no part of the cost of looking.
const QUIET: &[(&str, &str)] = &[("TSAN_OPTIONS", "exitcode=0:report_bugs=0")];

#[derive(Clone, Copy)]
enum Count {
    Accesses(u64),
    Handoffs(u64),
}

/// What the table needs.
pub(crate) struct Recording {
    /// The binary to measure.
    pub(crate) interloper: PathBuf,
    /// Where the sources of the micro-benchmarks are.
    pub(crate) programs: PathBuf,
    /// Where those of pbzip2 may be.
    pub(crate) pbzip2: PathBuf,
    /// Where to build.
    pub(crate) folder: PathBuf,
    pub(crate) rounds: u32,
}

/// One program, built by all.
struct Builds {
    native: PathBuf,
    gcc_tsan: PathBuf,
    clang_tsan: Option<PathBuf>,
    ours: PathBuf,
}

/// What one program has cost.
struct Row {
    native: Cost,
    gcc_tsan: Cost,
    clang_tsan: Option<Cost>,
    unrecorded: Cost,
    scout: Cost,
    record: Cost,
    /// The size of the trace, in bytes.
    trace: u64,
}

impl Recording {
    /// Builds, runs and prints.
    pub(crate) fn print(&self) -> Result<()> {
        // For all alike, as the recorder does: an old ThreadSanitizer does not start everywhere else.
        // Where it is forbidden they run all the same.
        let _ = personality::get().and_then(|before| personality::set(before | Persona::ADDR_NO_RANDOMIZE));
        println!("## Recording, CPU s (× native)\n");
        println!("| program | native | gcc TSan | clang TSan | ours, unrecorded | scout | record, in all | trace |");
        println!("|---|---:|---:|---:|---:|---:|---:|---:|");
        let clang = Compiler::clang_tsan();
        let mut notes = Vec::new();
        for (name, count) in PROGRAMS {
            let source = self.programs.join(name).with_extension("c");
            let builds = self.builds(clang.as_ref(), |compiler| compiler.build(&source, &self.folder))?;
            let row = self.measure(name, &builds, &[])?;
            println!("| {name} | {} |", row.cells());
            notes.extend(count.map(|count| row.single(count)));
            notes.extend(row.remarks(name));
        }
        if let Some(sources) = Sources::find(&self.pbzip2) {
            let builds = self.builds(clang.as_ref(), |compiler| compiler.build_pbzip2(&sources, &self.folder))?;
            let input = self.folder.join("text");
            fs::write(&input, text(TEXT_LEN)).with_context(|| format!("cannot write {}", input.display()))?;
            let mut arguments: Vec<OsString> = PBZIP2.iter().map(OsString::from).collect();
            arguments.push(input.into());
            let row = self.measure("pbzip2", &builds, &arguments)?;
            println!("| pbzip2, {} MB | {} |", TEXT_LEN / 1_000_000, row.cells());
            notes.extend(row.remarks("pbzip2"));
        } else {
            notes.push(format!("pbzip2: no sources in {}; `make test-real` gets them", self.pbzip2.display()));
        }
        println!();
        for note in notes {
            println!("- {note}");
        }
        println!();
        Ok(())
    }

    fn builds(&self, clang: Option<&Compiler>, mut build: impl FnMut(&Compiler) -> Result<PathBuf>) -> Result<Builds> {
        Ok(Builds {
            native: build(&Compiler::native())?,
            gcc_tsan: build(&Compiler::gcc_tsan())?,
            clang_tsan: clang.map(&mut build).transpose()?,
            ours: build(&Compiler::ours(&self.interloper))?,
        })
    }

    fn measure(&self, name: &str, builds: &Builds, arguments: &[OsString]) -> Result<Row> {
        let this = std::env::current_exe().context("cannot find this program")?;
        let trace = self.folder.join(name).with_extension("ilt");
        let command = |first: &[OsString], program: &Path| {
            let mut command = first.to_vec();
            command.push(program.into());
            command.extend_from_slice(arguments);
            command
        };
        let scout = [this.into(), "--scout".into(), "--".into()];
        let record = ["record", "--no-progress", "-o"].map(OsString::from);
        let record = [vec![self.interloper.clone().into()], record.into(), vec![trace.clone().into(), "--".into()]];
        let mut contenders = vec![
            Contender::program("native", command(&[], &builds.native), &[]),
            Contender::program("gcc TSan", command(&[], &builds.gcc_tsan), QUIET),
            Contender::program("unrecorded", command(&[], &builds.ours), &[]),
            Contender::program("scout", command(&scout, &builds.ours), &[]),
            Contender::program("record", command(&record.concat(), &builds.ours), &[]),
        ];
        let clang_tsan = builds.clang_tsan.as_ref();
        contenders.extend(clang_tsan.map(|program| Contender::program("clang TSan", command(&[], program), QUIET)));
        let costs = side_by_side(&contenders, self.rounds)?;
        let trace = fs::metadata(&trace).with_context(|| format!("cannot read {}", trace.display()))?.len();
        let mut costs = costs.into_iter();
        let mut next = || costs.next().context("every contender has a cost");
        Ok(Row {
            native: next()?,
            gcc_tsan: next()?,
            unrecorded: next()?,
            scout: next()?,
            record: next()?,
            clang_tsan: clang_tsan.map(|_| next()).transpose()?,
            trace,
        })
    }
}

impl Row {
    fn cells(&self) -> String {
        let native = self.native.cpu.as_secs_f64();
        let cell = |cost: &Cost| {
            let seconds = cost.cpu.as_secs_f64();
            format!("{seconds:.3} ({:.1})", seconds / native)
        };
        let clang_tsan = self.clang_tsan.as_ref().map_or_else(|| "–".to_owned(), cell);
        let ours = [&self.unrecorded, &self.scout, &self.record].map(cell).join(" | ");
        format!("{native:.3} | {} | {clang_tsan} | {ours} | {:.1} MB", cell(&self.gcc_tsan), self.trace as f64 / 1e6)
    }

    /// What a single access or handoff costs.
    fn single(&self, count: Count) -> String {
        let each = |time: Duration, count: u64| time.as_secs_f64() / count as f64;
        match count {
            Count::Accesses(count) => {
                let [unrecorded, scout] = [&self.unrecorded, &self.scout]
                    .map(|cost| each(cost.cpu.saturating_sub(self.native.cpu), count) * 1e9);
                format!("private: an access that is not logged costs {scout:.2} ns, unrecorded {unrecorded:.2} ns")
            }
            Count::Handoffs(count) => {
                let [native, unrecorded, scout] = [&self.native, &self.unrecorded, &self.scout].map(|cost| {
                    format!(
                        "{:.2} µs of CPU, {:.2} µs in all",
                        each(cost.cpu, count) * 1e6,
                        each(cost.wall, count) * 1e6
                    )
                });
                format!("handoff: {scout}; unrecorded {unrecorded}; natively {native}")
            }
        }
    }

    /// What the recorder says about how it went: how many events, in how many runs, and all its warnings.
    fn remarks(&self, name: &str) -> Vec<String> {
        // It is the same in every round; what is not is worth knowing.
        let mut lines: Vec<&str> = self.record.said.lines().filter(|line| is_remark(line)).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.into_iter().map(|line| format!("{name}: {line}")).collect()
    }
}

/// Whether a line of the recorder is about this recording, rather than about what to do next.
fn is_remark(line: &str) -> bool {
    !["trace:", "next:"].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let cost = |milliseconds| Cost {
            cpu: Duration::from_millis(milliseconds),
            wall: Duration::from_millis(2 * milliseconds),
            memory: 0,
            said: String::new(),
        };
        Row {
            native: cost(100),
            gcc_tsan: cost(1000),
            clang_tsan: None,
            unrecorded: cost(200),
            scout: cost(500),
            record: cost(1500),
            trace: 4_200_000,
        }
    }

    #[test]
    fn figures_are_multiples_of_native() {
        let cells = "0.100 | 1.000 (10.0) | – | 0.200 (2.0) | 0.500 (5.0) | 1.500 (15.0) | 4.2 MB";
        assert_eq!(row().cells(), cells);
    }

    #[test]
    fn what_the_recorder_said_is_told_once() {
        let mut row = row();
        for _ in 0..2 {
            row.record.said += "recorded: 5 events\ntrace: a.ilt (7 bytes)\nnext: `interloper analyze a.ilt`\n";
        }
        assert_eq!(row.remarks("scan"), ["scan: recorded: 5 events"]);
    }

    #[test]
    fn an_access_costs_what_is_added_and_a_handoff_all_of_it() {
        let access = "private: an access that is not logged costs 4.00 ns, unrecorded 1.00 ns";
        assert_eq!(row().single(Count::Accesses(100_000_000)), access);
        let handoff = "handoff: 5.00 µs of CPU, 10.00 µs in all; unrecorded 2.00 µs of CPU, 4.00 µs in all; natively \
                       1.00 µs of CPU, 2.00 µs in all";
        assert_eq!(row().single(Count::Handoffs(100_000)), handoff);
    }
}
