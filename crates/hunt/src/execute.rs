//! A witness on the program.
//!
//! The program is directed along the witness until the three accesses have happened, and then runs on by itself:
//! that is where harm shows. Whether they did happen is for the checker of recorded runs to say, on the trace of
//! that run. One run may show more than the violation it was made for; that counts, too. What comes of it is for
//! `aftermath`.

use crate::caught::{Caught, Confirmation, Verdict};
use crate::harm::Harm;
use crate::request::{HuntError, HuntObserver, Stage};
use crate::runs::{Run, Runner};
use interloper_ladder::{Standing, Trace};
use interloper_model::RegionSources;
use interloper_recorder::{Directed, Directions, RecordOutcome};
use interloper_witness::confirm::{Identity, shows};
use std::path::PathBuf;

/// Executes the witnesses of what was found in one recorded run.
pub(crate) struct Executor<'r, 'q> {
    pub(crate) runner: &'r mut Runner<'q>,
    pub(crate) regions: RegionSources,
}

impl Executor<'_, '_> {
    /// Executes what is feasible, as far as the program may be run.
    pub(crate) fn execute(
        &mut self,
        caught: &mut [Caught],
        trace: &Trace,
        recorded: &RecordOutcome,
        observer: &mut dyn HuntObserver,
    ) -> Result<(), HuntError> {
        let all = caught.iter().filter(|caught| is_to_be_executed(caught)).count();
        for at in 0..caught.len() {
            if !is_to_be_executed(&caught[at]) {
                continue;
            }
            if !self.runner.may_run(observer) {
                caught[at].verdict = Verdict::NotExecuted("not executed: no time or run was left for it".to_owned());
                continue;
            }
            let confirmed = caught.iter().filter(|caught| is_confirmed(caught)).count();
            let left = caught.iter().filter(|caught| is_to_be_executed(caught)).count();
            observer.at(Stage::Executing { done: all.saturating_sub(left), all, confirmed });
            let Standing::Feasible(witness) = &caught[at].finding.standing else { continue };
            // The shortest first; if the program does not follow, the solver's own, which is nearer to what was seen.
            let orders = [Some(witness.order.clone()), witness.original.clone()];
            let mut reason = String::new();
            for order in orders.iter().flatten() {
                if !self.runner.may_run(observer) {
                    break;
                }
                let directions = Directions::of(order, &trace.events, recorded);
                let run = self.runner.directed(directions, observer)?;
                let mut kept = None;
                self.look_for_all(caught, &run, &mut kept)?;
                if is_confirmed(&caught[at]) {
                    observer.caught(&caught[at]);
                    break;
                }
                reason = self.reason(&caught[at], &run);
            }
            if !is_confirmed(&caught[at]) {
                caught[at].verdict = Verdict::NotExecuted(reason);
            }
        }
        Ok(())
    }

    /// Confirms what a run shows.
    pub(crate) fn look_for_all(
        &mut self,
        caught: &mut [Caught],
        run: &Run,
        kept: &mut Option<PathBuf>,
    ) -> Result<(), HuntError> {
        for caught in caught.iter_mut().filter(|caught| !is_confirmed(caught)) {
            if !matches!(caught.finding.standing, Standing::Feasible(_)) {
                continue;
            }
            let Some(at) = self.shown(caught, run) else { continue };
            if kept.is_none() {
                *kept = Some(self.runner.keep(&run.path)?);
            }
            caught.verdict = self.confirmed(run, at, None, kept.clone());
        }
        Ok(())
    }

    /// A violation that a run shows, at these events.
    pub(crate) fn confirmed(&self, run: &Run, at: [usize; 3], harm: Option<Harm>, trace: Option<PathBuf>) -> Verdict {
        Verdict::Confirmed(Box::new(Confirmation {
            schedule: run.outcome.schedule.clone(),
            ending: run.ending.clone(),
            atomicity: self.atomicity(run, at),
            harm,
            trace,
            at,
        }))
    }

    /// Where a run shows a violation, if it does.
    pub(crate) fn shown(&self, caught: &Caught, run: &Run) -> Option<[usize; 3]> {
        let identities = caught.identities.as_ref()?;
        shows(&run.trace.events, &run.trace.tables, self.regions, identities).ok()
    }

    /// Why a violation did not happen.
    fn reason(&self, caught: &Caught, run: &Run) -> String {
        match (&run.outcome.directed, &caught.identities) {
            (Some(Directed::Diverged { turn, thread, how }), _) => {
                format!("the program left the witness at its turn {turn}, thread {thread}: {how}")
            }
            (_, Some(identities)) => match shows(&run.trace.events, &run.trace.tables, self.regions, identities) {
                Ok(_) => String::new(),
                Err(mismatch) => format!("the witness was followed, but the run does not show it: {mismatch}"),
            },
            (_, None) => "its accesses cannot be told from others".to_owned(),
        }
    }
}

/// What the three accesses of a finding are known by.
pub(crate) fn identities(trace: &Trace, events: [u64; 3]) -> Option<[Identity; 3]> {
    let [first, remote, second] = events.map(|event| Identity::of(&trace.events, &trace.tables, event as usize));
    Some([first?, remote?, second?])
}

pub(crate) fn is_confirmed(caught: &Caught) -> bool {
    matches!(caught.verdict, Verdict::Confirmed(_))
}

fn is_to_be_executed(caught: &Caught) -> bool {
    let is_new = matches!(&caught.verdict, Verdict::NotExecuted(reason) if reason.is_empty());
    is_new && matches!(caught.finding.standing, Standing::Feasible(_))
}
