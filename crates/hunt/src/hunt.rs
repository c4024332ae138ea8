//! The circle: record, climb, execute; then lead the program elsewhere, and again.

use crate::aftermath::{ends_otherwise, is_harmless};
use crate::caught::{Caught, Ending, Explored, Hunted, ObservedRun, Totals, Verdict};
use crate::execute::{Executor, identities, is_confirmed};
use crate::explore::Frontier;
use crate::request::{Explore, HuntError, HuntObserver, HuntRequest, Stage};
use crate::runs::{Run, Runner};
use interloper_ladder::{Climb, Finding, Standing, climb};
use interloper_predict::Triple;
use interloper_recorder::Directed;
use interloper_trace::Tables;
use rustc_hash::FxHashSet;
use std::sync::{Mutex, PoisonError};

/// Hunts for violations in a program.
pub fn hunt(request: &HuntRequest, observer: &mut dyn HuntObserver) -> Result<Hunted, HuntError> {
    let mut hunt = Hunt {
        request,
        runner: Runner::new(request)?,
        runs: Vec::new(),
        observed: Vec::new(),
        caught: Vec::new(),
        known: FxHashSet::default(),
        explored: Explored::default(),
        totals: Totals::default(),
    };
    observer.at(Stage::Recording);
    let first = hunt.runner.first(observer)?;
    observer.recorded(&first.outcome);
    hunt.explored.ended(&first.ending);
    hunt.look_at(first, observer)?;
    hunt.explore(observer)?;
    Ok(hunt.finish(observer))
}

struct Hunt<'r> {
    request: &'r HuntRequest,
    runner: Runner<'r>,
    runs: Vec<Run>,
    observed: Vec<ObservedRun>,
    caught: Vec<Caught>,
    /// Violations that have been confirmed, by their places in the source.
    known: FxHashSet<Shape>,
    explored: Explored,
    totals: Totals,
}

/// What a violation is about, whichever threads do it: pattern, places, variable.
type Shape = (&'static str, [(String, Option<i64>); 3], String);

impl Hunt<'_> {
    /// Puts a run through the ladder.
    fn look_at(&mut self, run: Run, observer: &mut dyn HuntObserver) -> Result<(), HuntError> {
        let mut options = self.request.ladder.clone();
        options.limits.deadline = self.request.deadline;
        // The solver's progress is told by whichever of its threads has some.
        let told = Mutex::new(&mut *observer);
        let climbed = climb(&run.trace, &options, &|progress| {
            told.lock().unwrap_or_else(PoisonError::into_inner).at(Stage::Climbing(progress));
        })?;
        let number = self.runs.len();
        let Climb { candidates, possible, plausible, findings, unlisted, held, census } = climbed;
        if number == 0 {
            self.totals = Totals { candidates, possible, plausible, unlisted };
        }
        let mut caught = self.news(&run, findings);
        self.execute(&mut caught, &run, observer)?;
        let confirmed = caught.iter().filter(|caught| is_confirmed(caught));
        self.known.extend(confirmed.map(|caught| shape(&caught.finding.triple, &run.trace.tables)));
        self.caught.append(&mut caught);
        let path = if number == 0 { run.path.clone() } else { self.runner.keep(&run.path)? };
        self.observed.push(ObservedRun {
            path,
            tables: run.trace.tables.clone(),
            events: run.trace.events.len() as u64,
            held,
            census,
        });
        self.runs.push(run);
        Ok(())
    }

    /// What came of the run that was recorded first, if this is not the one.
    fn usual<'a>(&'a self, run: &'a Run) -> &'a Ending {
        &self.runs.first().unwrap_or(run).ending
    }

    /// The findings of a run that are worth looking at: of a further run those that can happen, if they are not known.
    /// If it did not end as usual, it may show what harm is done by what did none before.
    fn news(&self, run: &Run, findings: Vec<Finding>) -> Vec<Caught> {
        let number = self.runs.len();
        let ended_otherwise = ends_otherwise(&run.ending, self.usual(run));
        let harmless = self.harmless();
        let is_news = |finding: &Finding| {
            let shape = shape(&finding.triple, &run.trace.tables);
            let is_new = !self.known.contains(&shape) || (ended_otherwise && harmless.contains(&shape));
            is_new && matches!(finding.standing, Standing::Feasible(_))
        };
        let news = findings.into_iter().filter(|finding| number == 0 || is_news(finding));
        news.map(|finding| self.to_execute(number, run, finding)).collect()
    }

    /// Makes happen what can happen, and says what comes of it.
    fn execute(
        &mut self,
        caught: &mut Vec<Caught>,
        run: &Run,
        observer: &mut dyn HuntObserver,
    ) -> Result<(), HuntError> {
        let usual = self.usual(run).clone();
        let is_first = self.runs.is_empty();
        let mut executor = Executor { runner: &mut self.runner, regions: self.request.ladder.regions };
        if !is_first {
            // It may have happened already. What is known, and has not, need not be made to.
            executor.look_for_all(caught, run, &mut None)?;
            let is_known = |caught: &Caught| self.known.contains(&shape(&caught.finding.triple, &run.trace.tables));
            caught.retain(|caught| is_confirmed(caught) || !is_known(caught));
        }
        executor.execute(caught, &run.trace, &run.outcome, observer)?;
        executor.judge_harm(caught, run, &usual, observer)?;
        caught.iter().filter(|caught| is_confirmed(caught)).for_each(|caught| observer.caught(caught));
        if !is_first {
            self.replace_harmless(caught, run);
            let mut executor = Executor { runner: &mut self.runner, regions: self.request.ladder.regions };
            executor.look_for_harm(&mut self.caught, run, &usual)?;
            self.caught.iter().filter(|caught| is_confirmed(caught)).for_each(|caught| observer.caught(caught));
        }
        Ok(())
    }

    /// What has been confirmed and did no harm.
    fn harmless(&self) -> FxHashSet<Shape> {
        self.caught.iter().filter(|caught| is_harmless(caught)).map(|caught| self.shape_of(caught)).collect()
    }

    fn shape_of(&self, caught: &Caught) -> Shape {
        shape(&caught.finding.triple, &self.runs[caught.run].trace.tables)
    }

    /// Of what is known twice, keeps what does harm.
    fn replace_harmless(&mut self, caught: &mut Vec<Caught>, run: &Run) {
        let harmless = self.harmless();
        let new_shape = |caught: &Caught| shape(&caught.finding.triple, &run.trace.tables);
        caught.retain(|caught| !is_harmless(caught) || !harmless.contains(&new_shape(caught)));
        let harmful: FxHashSet<Shape> = caught.iter().filter(|caught| is_confirmed(caught)).map(new_shape).collect();
        let mut known = std::mem::take(&mut self.caught);
        known.retain(|caught| !is_harmless(caught) || !harmful.contains(&self.shape_of(caught)));
        self.caught = known;
    }

    fn to_execute(&self, run: usize, of: &Run, finding: Finding) -> Caught {
        let triple = &finding.triple;
        let events = [triple.first, triple.remote, triple.second].map(|access| access.index.0);
        let identities = identities(&of.trace, events);
        Caught { run, finding, identities, verdict: Verdict::NotExecuted(String::new()) }
    }

    /// Leads the program off the paths it has taken.
    fn explore(&mut self, observer: &mut dyn HuntObserver) -> Result<(), HuntError> {
        let (most, thorough) = match self.request.explore {
            Explore::Off => return Ok(()),
            Explore::Runs(runs) => (runs, false),
            Explore::Exhaust => (u64::MAX, true),
        };
        let mut frontier = Frontier::default();
        let regions = self.request.ladder.regions;
        frontier.add(0, &self.runs[0], regions);
        let mut limits = self.request.ladder.limits.clone();
        limits.deadline = self.request.deadline;
        let mut is_over = false;
        while self.explored.runs < most && self.runner.may_run(observer) {
            let confirmed = self.caught.iter().filter(|caught| is_confirmed(caught)).count();
            observer.at(Stage::Exploring { runs: self.explored.runs, confirmed });
            let Some(lead) = frontier.next(&self.runs, &limits) else {
                is_over = true;
                break;
            };
            let led = self.runner.directed(lead.directions, observer)?;
            self.explored.runs += 1;
            self.explored.reached += u64::from(matches!(led.outcome.directed, Some(Directed::Followed)));
            self.explored.ended(&led.ending);
            if !self.runner.may_run(observer) {
                break;
            }
            // Directed runs log what was shared before; this one, what is shared now.
            let run = self.runner.again(&led.outcome, observer)?;
            self.look_at(run, observer)?;
            let number = self.runs.len() - 1;
            frontier.add(number, &self.runs[number], regions);
        }
        self.explored.impossible = frontier.impossible;
        self.explored.left = frontier.len();
        self.explored.is_exhausted = is_over && thorough && !frontier.has_gaps;
        Ok(())
    }

    fn finish(self, observer: &mut dyn HuntObserver) -> Hunted {
        let recorded = match self.runs.into_iter().next() {
            Some(run) => run.outcome,
            None => unreachable!("the first run was looked at"),
        };
        Hunted {
            runs: self.observed,
            recorded,
            caught: self.caught,
            totals: self.totals,
            executions: self.runner.executions,
            explored: self.explored,
            interrupted: observer.is_interrupted(),
        }
    }
}

fn shape(triple: &Triple, tables: &Tables) -> Shape {
    let places = [triple.first, triple.remote, triple.second].map(|access| {
        let site = tables.site(access.site);
        (site.file.map(|file| tables.strings.get(file).to_owned()).unwrap_or_default(), site.line)
    });
    (triple.pattern.name(), places, tables.location_name(triple.location))
}
