//! The rung of the solver: what the causal model admits, with witnesses that have been checked.

use crate::candidates::{CandidateSet, Candidates, Census, Grouping};
use crate::trace::Trace;
use interloper_decide::{Ask, Candidate, Decision, Limits, Outline, Unknown, decide};
use interloper_model::{Pattern, RegionSources, StateId};
use interloper_predict::Triple;
use interloper_predict::filter::{Rule, filter};
use interloper_trace::{LockId, LockMode};
use interloper_witness::interpret::{Defect, Program, changed_reads};
use interloper_witness::minimise::{Budget, minimise};
use interloper_witness::{EventSchedule, OrderError};
use rustc_hash::FxHashMap;
use std::time::Instant;

/// Up to so many triples are sorted by the filter; for more it is not worth the time.
const MOST_FILTERED: usize = 20_000;

/// Orders of the solver are kept up to this length.
const LONGEST_ORIGINAL: usize = 100_000;

/// How to climb.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose regions count.
    pub regions: RegionSources,
    /// Whether every triple is decided, or one representative for all that are alike.
    pub grouping: Grouping,
    /// How many triples are listed at the most.
    pub triples: usize,
    /// What the solver may take.
    pub limits: Limits,
    /// What making witnesses short may take, for all of them together.
    pub shortening: Budget,
}

impl Options {
    /// The usual.
    pub fn new(regions: RegionSources) -> Self {
        Options {
            regions,
            grouping: Grouping::Threads,
            triples: 200_000,
            limits: Limits::default(),
            shortening: Budget(400_000_000),
        }
    }
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The lock sets are looked at.
    Predicting,
    /// The solver is at work.
    Deciding {
        /// Triples decided.
        decided: usize,
        /// Of them feasible.
        feasible: usize,
        /// All triples.
        all: usize,
    },
    /// Witnesses are checked and made shorter.
    Checking {
        /// Witnesses done.
        done: usize,
        /// All of them.
        all: usize,
    },
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Climb {
    /// What entered the ladder.
    pub candidates: u64,
    /// What locks, fork and join do not forbid.
    pub possible: u64,
    /// What the filter does not reject.
    pub plausible: u64,
    /// What was decided about that, in the order of the trace.
    pub findings: Vec<Finding>,
    /// How many possible triples were too many to be listed.
    pub unlisted: u64,
    /// The locks held in the states of the findings' triples.
    pub held: FxHashMap<StateId, Vec<(LockId, LockMode)>>,
    /// What the trace has.
    pub census: Census,
}

impl Climb {
    /// How many findings stand so.
    pub fn count(&self, is_so: impl Fn(&Standing) -> bool) -> u64 {
        self.findings.iter().filter(|finding| is_so(&finding.standing)).count() as u64
    }
}

/// A possible violation, decided.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The three accesses.
    pub triple: Triple,
    /// What was decided.
    pub standing: Standing,
}

/// What was decided about a possible violation.
#[derive(Clone, Debug)]
pub enum Standing {
    /// It can happen.
    Feasible(Witness),
    /// It cannot.
    Infeasible,
    /// It is not known.
    Unknown(Unknown),
}

/// A schedule that shows a violation.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The events that matter, in order.
    pub order: Vec<usize>,
    /// The order that the solver gave, if it is not too long to be kept.
    pub original: Option<Vec<usize>>,
    /// The schedule.
    pub schedule: EventSchedule,
    /// How many times another thread comes to run.
    pub switches: usize,
    /// Whether no schedule does with fewer.
    pub is_least: bool,
    /// Reads that find something else than observed although their threads go on: nothing depends on them there.
    pub changed: Vec<usize>,
}

/// What must not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LadderError {
    /// The solver's schedule is not one.
    #[error(
        "the solver gave a schedule for events {events:?} that the interpreter of traces does not accept: {defect}"
    )]
    BadWitness {
        /// The triple it was to show.
        events: [u64; 3],
        /// What is wrong with it.
        defect: Defect,
    },
    /// The same, noticed otherwise.
    #[error("the solver gave a schedule for events {events:?} that is none: {error}")]
    BadOrder {
        /// The triple it was to show.
        events: [u64; 3],
        /// What is wrong with it.
        error: OrderError,
    },
}

/// Climbs.
pub fn climb(trace: &Trace, options: &Options, progress: &(dyn Fn(Progress) + Sync)) -> Result<Climb, LadderError> {
    progress(Progress::Predicting);
    let every_triple = options.grouping == Grouping::Triples;
    let candidates = Candidates::new(trace, options.regions, options.grouping, options.triples);
    let Candidates { all, sets, unlisted, held, census } = candidates;
    let mut climb = Climb { candidates: all, possible: sets.len() as u64, unlisted, held, census, ..Climb::default() };
    let unlisted_plausible = if every_triple { unlisted } else { 0 };
    climb.possible += unlisted_plausible;
    if sets.is_empty() {
        return Ok(climb);
    }
    let outline = Outline::new(&trace.events, &trace.tables, trace.initial_values());
    let report = |at: interloper_decide::Progress| {
        progress(Progress::Deciding { decided: at.decided, feasible: at.feasible, all: at.all });
    };
    let is_plausible = plausible(trace, &sets);
    climb.plausible = is_plausible.iter().filter(|is_plausible| **is_plausible).count() as u64 + unlisted_plausible;
    let ask = if every_triple { Ask::Each } else { Ask::First };
    // What the filter rejects is decided, too, but last: if time runs out, it was spent on the rest.
    let mut decisions: Vec<Vec<Option<Decision>>> = vec![Vec::new(); sets.len()];
    for turn in [true, false] {
        let chosen: Vec<usize> = (0..sets.len()).filter(|at| is_plausible[*at] == turn).collect();
        let questions = questions(&sets, &chosen, every_triple);
        let decided = decide(&outline, &questions, ask, &options.limits, &report);
        let decided = decided.into_iter().flat_map(|set| match ask {
            Ask::Each => set.into_iter().map(|one| vec![one]).collect(),
            Ask::First => vec![set],
        });
        chosen.into_iter().zip(decided).for_each(|(at, set)| decisions[at] = set);
    }
    let judge = Judge::new(trace, &decisions, options, progress);
    climb.findings = judge.findings(&sets, decisions)?;
    Ok(climb)
}

/// Which sets the filter keeps.
fn plausible(trace: &Trace, sets: &[CandidateSet]) -> Vec<bool> {
    let triples: Vec<Triple> = sets.iter().flat_map(|set| set.triples.iter().copied()).collect();
    if triples.len() > MOST_FILTERED {
        return vec![true; sets.len()];
    }
    let rejections = filter(Rule::Sound, &triples, &trace.events, &trace.tables, trace.initial_values());
    let mut rejections = rejections.into_iter();
    let kept = |set: &CandidateSet| {
        // All of them have to be taken, whatever the first says.
        let kept = rejections.by_ref().take(set.triples.len()).filter(Option::is_none).count();
        kept > 0 || set.is_cut
    };
    sets.iter().map(kept).collect()
}

/// What is put to the solver: the sets, or all triples as one set, which is decided as a whole if it can be.
fn questions(sets: &[CandidateSet], chosen: &[usize], every_triple: bool) -> Vec<Vec<Candidate>> {
    let chosen = chosen.iter().map(|at| &sets[*at].candidates);
    if every_triple { vec![chosen.flatten().copied().collect()] } else { chosen.cloned().collect() }
}

/// Checks what the solver says.
struct Judge<'t> {
    trace: &'t Trace,
    program: Program<'t>,
    /// For each witness.
    shortening: Budget,
    deadline: Option<Instant>,
    all: usize,
    progress: &'t (dyn Fn(Progress) + Sync),
}

impl<'t> Judge<'t> {
    fn new(
        trace: &'t Trace,
        decisions: &[Vec<Option<Decision>>],
        options: &Options,
        progress: &'t (dyn Fn(Progress) + Sync),
    ) -> Self {
        let is_feasible = |decision: &&Option<Decision>| matches!(decision, Some(Decision::Feasible(_)));
        let all = decisions.iter().flatten().filter(is_feasible).count();
        let program = Program::new(&trace.events, &trace.tables, trace.initial_values());
        let shortening = Budget(options.shortening.0 / all.max(1) as u64);
        Judge { trace, program, shortening, deadline: options.limits.deadline, all, progress }
    }

    fn findings(
        &self,
        sets: &[CandidateSet],
        decisions: Vec<Vec<Option<Decision>>>,
    ) -> Result<Vec<Finding>, LadderError> {
        let mut findings = Vec::new();
        let mut done = 0;
        for (set, decisions) in sets.iter().zip(decisions) {
            let finding = self.finding(set, decisions)?;
            if matches!(finding, Some(Finding { standing: Standing::Feasible(_), .. })) {
                done += 1;
                (self.progress)(Progress::Checking { done, all: self.all });
            }
            findings.extend(finding);
        }
        Ok(findings)
    }

    /// What the decisions about some triples come to.
    fn finding(&self, set: &CandidateSet, decisions: Vec<Option<Decision>>) -> Result<Option<Finding>, LadderError> {
        let mut unknown = set.is_cut.then_some((0, Unknown::Budget));
        for (at, decision) in decisions.into_iter().enumerate() {
            match decision {
                Some(Decision::Feasible(order)) => {
                    let order: Vec<usize> =
                        order.in_full(&self.trace.events).into_iter().map(|event| event as usize).collect();
                    let witness = self.witness(&set.candidates[at], &order)?;
                    let standing = Standing::Feasible(witness);
                    return Ok(Some(Finding { triple: with_pattern(set, at), standing }));
                }
                Some(Decision::Unknown(why)) => {
                    unknown = unknown.or(Some((at, why)));
                }
                Some(Decision::Infeasible) | None => {}
            }
        }
        Ok((!set.triples.is_empty()).then(|| match unknown {
            Some((at, why)) => Finding { triple: with_pattern(set, at), standing: Standing::Unknown(why) },
            None => Finding { triple: with_pattern(set, 0), standing: Standing::Infeasible },
        }))
    }

    fn witness(&self, candidate: &Candidate, order: &[usize]) -> Result<Witness, LadderError> {
        let events = candidate.events.map(|event| event.0);
        let triple = events.map(|event| event as usize);
        // When the time is up, witnesses are still checked, but not made shorter.
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let shortening = if is_late { Budget(0) } else { self.shortening };
        let minimised = minimise(&self.program, order, triple, shortening)
            .map_err(|defect| LadderError::BadWitness { events, defect })?;
        let schedule = EventSchedule::of_order(&self.trace.events, &minimised.order)
            .map_err(|error| LadderError::BadOrder { events, error })?;
        let changed = changed_reads(&self.program, &minimised.order)
            .map_err(|defect| LadderError::BadWitness { events, defect })?;
        let is_other = minimised.order != order && order.len() <= LONGEST_ORIGINAL;
        Ok(Witness {
            order: minimised.order,
            original: is_other.then(|| order.to_vec()),
            schedule,
            switches: minimised.switches,
            is_least: minimised.proved,
            changed,
        })
    }
}

/// A triple of a set, with the pattern that it is asked about.
fn with_pattern(set: &CandidateSet, at: usize) -> Triple {
    let triple = set.triples[at];
    let pattern: Option<Pattern> = set.candidates[at].class.pattern(set.candidates[at].kinds);
    Triple { pattern: pattern.unwrap_or(triple.pattern), ..triple }
}
