//! What the ladder found, as a result document.

use interloper_hunt::{Caught, HuntRequest, Hunted, Outcome};
use interloper_ladder::{Climb, Finding, Standing, Trace, Unknown};
use interloper_model::RegionSources;
use interloper_recorder::{RecordOutcome, RunNotice};
use interloper_report::build::{self, Decided, TraceFacts};
use interloper_report::evidence::{Evidence, positions};
use interloper_report::result::{Counts, Execution, Explored, Program, RunOutcome, Verdict, Witness};
use interloper_report::{Document, order};
use interloper_trace::file::{ReadOptions, TraceReader};
use interloper_trace::{EventIndex, EventSource as _, Tables};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Something that must not happen did, and it is not the user's fault.
#[derive(Debug)]
pub(crate) struct OurFault(pub(crate) String);

impl fmt::Display for OurFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OurFault {}

/// The result of a climb.
pub(crate) fn document(
    trace: &Trace,
    climb: &Climb,
    regions: RegionSources,
    explain_infeasible: bool,
    mut notes: Vec<String>,
) -> Document {
    if climb.unlisted > 0 {
        notes.push(unlisted(climb.unlisted));
    }
    let listed =
        climb.findings.iter().filter(|finding| explain_infeasible || !matches!(finding.standing, Standing::Infeasible));
    let decided: Vec<Decided<'_>> = listed.map(decided).collect();
    let mut findings = build::decided(&decided, &climb.held, &trace.tables);
    let mut evidence = Evidence::new(regions);
    findings.iter().for_each(|finding| evidence.want_all_of(finding));
    (0..).zip(&trace.events).for_each(|(index, event)| evidence.observe(EventIndex(index), event));
    findings.iter_mut().for_each(|finding| describe(finding, &evidence, &trace.tables));
    let facts = TraceFacts {
        tables: &trace.tables,
        events: trace.events.len() as u64,
        threads: climb.census.threads,
        regions: climb.census.regions,
        non_nested: &climb.census.non_nested,
    };
    build::document(&facts, "causal", counts(climb), findings, notes)
}

/// Says what the trace that a finding is about knows of it.
pub(crate) fn describe(finding: &mut interloper_report::result::Finding, evidence: &Evidence, tables: &Tables) {
    evidence.name_region(finding, tables);
    if let Some(positions) = positions(finding) {
        evidence.describe(finding, positions, tables);
    }
}

fn unlisted(triples: u64) -> String {
    format!(
        "{triples} more triples are possible than could be looked at one by one; what stands behind representatives \
         that were not found feasible is therefore not known"
    )
}

/// How many got how far.
fn counts(climb: &Climb) -> Counts {
    let feasible = climb.count(|standing| matches!(standing, Standing::Feasible(_)));
    let unknown = climb.count(|standing| matches!(standing, Standing::Unknown(_)));
    Counts {
        candidates: climb.candidates,
        possible: climb.possible,
        plausible: climb.plausible.max(feasible),
        feasible,
        unknown,
        infeasible: climb.candidates.saturating_sub(feasible + unknown),
        ..Counts::default()
    }
}

/// A finding as it is told.
fn decided(finding: &Finding) -> Decided<'_> {
    let (verdict, reason, witness) = match &finding.standing {
        Standing::Feasible(witness) => {
            let witness = Witness {
                schedule: witness.schedule.to_string(),
                switches: witness.switches as u64,
                least: witness.is_least,
                changed: witness.changed.iter().map(|read| *read as u64).collect(),
            };
            (Verdict::Feasible, None, Some(witness))
        }
        Standing::Infeasible => (Verdict::Infeasible, None, None),
        Standing::Unknown(why) => (Verdict::Unknown, Some(reason(*why)), None),
    };
    Decided { triple: &finding.triple, verdict, reason, witness, execution: None }
}

/// Why something is not known.
fn reason(why: Unknown) -> String {
    match why {
        Unknown::Window => "window: what lies outside of the largest window of the trace could matter",
        Unknown::Budget => "budget: the time was up before it was decided",
        Unknown::Stopped => "interrupted before it was decided",
        Unknown::Memory => "memory: deciding it would take more than is allowed",
    }
    .to_owned()
}

/// The result of a hunt.
pub(crate) fn of_hunt(hunted: &Hunted, request: &HuntRequest, explore: &str, explain_infeasible: bool) -> Document {
    let mut all = Vec::new();
    let mut looked_up = LookedUp { regions: request.ladder.regions, traces: BTreeMap::new() };
    let recorded = recorded_end(&hunted.recorded);
    for (number, run) in hunted.runs.iter().enumerate() {
        let caught: Vec<&Caught> = hunted
            .caught
            .iter()
            .filter(|caught| caught.run == number)
            .filter(|caught| explain_infeasible || !matches!(caught.finding.standing, Standing::Infeasible))
            .collect();
        let decided: Vec<Decided<'_>> = caught.iter().map(|caught| executed(caught, &recorded)).collect();
        let mut findings = build::decided(&decided, &run.held, &run.tables);
        for (finding, caught) in findings.iter_mut().zip(caught) {
            for (event, identity) in finding.events.iter_mut().zip(caught.identities.iter().flatten()) {
                event.occurrence = Some(identity.occurrence);
            }
            if let interloper_hunt::Verdict::Confirmed(confirmation) = &caught.verdict {
                finding.harm = confirmation.harm.as_ref().map(|harm| harm.kind.name());
            }
            looked_up.want(&run.path, finding);
            finding.trace = (number > 0).then(|| run.path.display().to_string());
        }
        all.append(&mut findings);
    }
    looked_up.read();
    for finding in &mut all {
        looked_up.describe(&hunted.runs[0].path, finding);
    }
    order::sort(&mut all);
    let first = &hunted.runs[0];
    let facts = TraceFacts {
        tables: &first.tables,
        events: first.events,
        threads: first.census.threads,
        regions: first.census.regions,
        non_nested: &first.census.non_nested,
    };
    let mut notes = Vec::new();
    if hunted.totals.unlisted > 0 {
        notes.push(unlisted(hunted.totals.unlisted));
    }
    if hunted.interrupted {
        notes.push("interrupted: what was found by then is listed".to_owned());
    }
    let mut document = build::document(&facts, "causal", hunt_counts(hunted), all, notes);
    document.trace.file = Some(first.path.display().to_string());
    for finding in document.findings.iter_mut().filter(|finding| finding.verdict == Verdict::Confirmed) {
        finding.replay = Some(format!("interloper replay {}", &finding.id[..8]));
    }
    document.program = Some(Program {
        command: request.record.launch.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder: std::env::current_dir().ok().map(|folder| folder.display().to_string()),
        start_time: hunted.recorded.start_time,
        quantum: request.record.quantum,
        ended: recorded,
        runs: hunted.executions,
    });
    document.explored = Some(explored(&hunted.explored, explore));
    document
}

/// What traces of runs say about findings.
struct LookedUp {
    regions: RegionSources,
    traces: BTreeMap<PathBuf, (Evidence, Tables)>,
}

impl LookedUp {
    /// A finding was made in the trace of this run, and shown by another, perhaps.
    fn want(&mut self, path: &Path, finding: &interloper_report::result::Finding) {
        self.evidence(path.to_owned()).want_all_of(finding);
        if let Some((path, positions)) = shown_at(finding) {
            self.evidence(path).want(positions);
        }
    }

    fn evidence(&mut self, path: PathBuf) -> &mut Evidence {
        &mut self.traces.entry(path).or_insert_with(|| (Evidence::new(self.regions), Tables::new())).0
    }

    /// A trace that cannot be read has nothing to say.
    fn read(&mut self) {
        for (path, (evidence, tables)) in &mut self.traces {
            let Ok(mut reader) = TraceReader::open(path, ReadOptions::default()) else { continue };
            while let Ok(true) = reader.visit(|index, event, _| evidence.observe(index, event)) {}
            *tables = reader.tables().clone();
        }
    }

    fn describe(&self, first: &Path, finding: &mut interloper_report::result::Finding) {
        let path = finding.trace.as_ref().map_or_else(|| first.to_owned(), PathBuf::from);
        if let Some((evidence, tables)) = self.traces.get(&path) {
            describe(finding, evidence, tables);
        }
        if let Some((path, positions)) = shown_at(finding)
            && let Some((evidence, tables)) = self.traces.get(&path)
        {
            evidence.describe(finding, positions, tables);
        }
    }
}

/// The trace of the run that showed a finding, and where in it.
fn shown_at(finding: &interloper_report::result::Finding) -> Option<(PathBuf, [u64; 3])> {
    let execution = finding.execution.as_ref()?;
    Some((PathBuf::from(execution.trace.as_ref()?), execution.events?))
}

fn executed<'a>(caught: &'a Caught, recorded: &str) -> Decided<'a> {
    let mut decided = decided(&caught.finding);
    match &caught.verdict {
        interloper_hunt::Verdict::Confirmed(confirmation) => {
            decided.verdict = Verdict::Confirmed;
            decided.witness = Some(Witness {
                schedule: confirmation.schedule.to_string(),
                switches: confirmation.schedule.switches(),
                least: false,
                changed: Vec::new(),
            });
            decided.execution = Some(Execution {
                ended: confirmation.ending.outcome.to_string(),
                recorded: recorded.to_owned(),
                trace: confirmation.trace.as_ref().map(|path| path.display().to_string()),
                events: confirmation.trace.as_ref().map(|_| confirmation.at.map(|at| at as u64)),
                stdout: String::from_utf8_lossy(&confirmation.ending.output.stdout).into_owned(),
                stderr: String::from_utf8_lossy(&confirmation.ending.output.stderr).into_owned(),
                non_atomic: confirmation.atomicity.name(),
                harm: confirmation.harm.as_ref().map(|harm| harm.sentence.clone()),
            });
        }
        interloper_hunt::Verdict::NotExecuted(reason) if !reason.is_empty() => {
            decided.reason.get_or_insert_with(|| reason.clone());
        }
        interloper_hunt::Verdict::NotExecuted(_) => {}
    }
    decided
}

fn recorded_end(outcome: &RecordOutcome) -> String {
    let deadlocked = outcome.notices.iter().any(|notice| matches!(notice, RunNotice::Deadlock { .. }));
    let ended = if deadlocked { Outcome::Deadlock } else { Outcome::Ended(outcome.exit) };
    ended.to_string()
}

fn hunt_counts(hunted: &Hunted) -> Counts {
    let count = |is_so: fn(&Caught) -> bool| hunted.caught.iter().filter(|caught| is_so(caught)).count() as u64;
    let feasible = count(|caught| matches!(caught.finding.standing, Standing::Feasible(_)));
    let unknown = count(|caught| matches!(caught.finding.standing, Standing::Unknown(_)));
    // What other runs showed did not enter the ladder with the first.
    let further = count(|caught| caught.run > 0);
    let candidates = hunted.totals.candidates + further;
    Counts {
        candidates,
        possible: hunted.totals.possible + further,
        // What another run showed to be feasible may have been rejected in the first.
        plausible: (hunted.totals.plausible + further).max(feasible),
        feasible,
        confirmed: count(|caught| matches!(caught.verdict, interloper_hunt::Verdict::Confirmed(_))),
        unknown,
        infeasible: candidates.saturating_sub(feasible + unknown),
        ..Counts::default()
    }
}

fn explored(explored: &interloper_hunt::Explored, mode: &str) -> Explored {
    let outcomes = explored.outcomes.iter().map(|(ended, stdout, times)| RunOutcome {
        ended: ended.to_string(),
        stdout: String::from_utf8_lossy(stdout).into_owned(),
        times: *times,
    });
    Explored {
        mode: mode.to_owned(),
        runs: explored.runs,
        reached: explored.reached,
        impossible: explored.impossible,
        left: explored.left,
        exhausted: explored.is_exhausted,
        outcomes: outcomes.collect(),
    }
}
