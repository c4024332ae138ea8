//! A witness on the program.
//!
//! The program is directed along the witness until the three accesses have happened, and then runs on by itself:
//! that is where harm shows. Whether they did happen is for the checker of recorded runs to say, on the trace of
//! that run. One run may show more than the violation it was made for; that counts, too.

use crate::caught::{Atomicity, Caught, Confirmation, Ending, Verdict};
use crate::harm::{Harm, HarmKind, harm, serial_orders};
use crate::request::{HuntError, HuntObserver, Stage};
use crate::runs::{Run, Runner};
use interloper_judge::{Budget, Proof, Question, Scope, judge};
use interloper_ladder::{Standing, Trace};
use interloper_model::RegionSources;
use interloper_recorder::{Directed, Directions, RecordOutcome};
use interloper_trace::{Event, EventIndex, Op, RegionSource};
use interloper_witness::confirm::{Identity, shows};
use std::path::PathBuf;

/// In how many other ways a program goes on after a violation that did no harm.
const CONTINUATIONS: u64 = 4;

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

    /// Whether a run up to a violation is explained by a serial order.
    fn atomicity(&self, run: &Run, at: [usize; 3]) -> Atomicity {
        let Trace { events, tables } = &run.trace;
        let Some(begin) = innermost_region(events, self.regions, at) else { return Atomicity::Unknown };
        let triple = at.map(|at| EventIndex(at as u64));
        let ask = |scope| {
            let question = Question::up_to(triple, events, tables, run.trace.initial_values(), scope);
            judge(&question, &Budget::for_a_finding())
        };
        // If it is not this region alone, it may be this and others together.
        let only = Scope::Only { thread: events[at[0]].thread, begin: EventIndex(begin as u64), end: None };
        let verdict = match ask(only) {
            proved @ interloper_judge::Verdict::NonAtomic(_) => proved,
            _ => ask(Scope::Regions(self.regions)),
        };
        match verdict {
            interloper_judge::Verdict::NonAtomic(Proof::Condition(_)) => Atomicity::NotByCondition,
            interloper_judge::Verdict::NonAtomic(Proof::Exact) => Atomicity::NotExactly,
            interloper_judge::Verdict::Atomic => Atomicity::Atomic,
            interloper_judge::Verdict::Unknown(_) => Atomicity::Unknown,
        }
    }

    /// Says of what happened what harm it did, as far as the program may be run. `usual` is what came of the run that
    /// was recorded first.
    pub(crate) fn judge_harm(
        &mut self,
        caught: &mut [Caught],
        from: &Run,
        usual: &Ending,
        observer: &mut dyn HuntObserver,
    ) -> Result<(), HuntError> {
        let mut known = vec![usual.clone()];
        if self.is_serial(from) {
            known.push(from.ending());
        }
        for caught in caught {
            let Verdict::Confirmed(confirmation) = &caught.verdict else { continue };
            let mut serial = known.clone();
            // If it is as harmless as these, no other run is needed to say so.
            if !is_benign(caught, &confirmation.ending, &serial) {
                for order in self.serial_orders(caught, &from.trace) {
                    if !self.runner.may_run(observer) {
                        break;
                    }
                    let directions = Directions::of(&order, &from.trace.events, &from.outcome);
                    let run = self.runner.directed(directions, observer)?;
                    if self.is_serial(&run) {
                        serial.push(run.ending());
                    }
                }
            }
            set_harm(caught, &serial);
            self.go_on_otherwise(caught, from, &serial, observer)?;
        }
        Ok(())
    }

    /// A run that did not end as usual shows what harm is done by violations that did none when they were executed.
    pub(crate) fn look_for_harm(&mut self, caught: &mut [Caught], run: &Run, usual: &Ending) -> Result<(), HuntError> {
        let found = harm(&run.ending(), &[usual], &[]);
        if found.kind >= HarmKind::Output {
            return Ok(());
        }
        let mut kept = None;
        for caught in caught {
            if !is_harmless(caught) {
                continue;
            }
            let Some(at) = self.shown(caught, run) else { continue };
            if kept.is_none() {
                kept = Some(self.runner.keep(&run.path)?);
            }
            caught.verdict = self.confirmed(run, at, Some(found.clone()), kept.clone());
        }
        Ok(())
    }

    fn confirmed(&self, run: &Run, at: [usize; 3], harm: Option<Harm>, trace: Option<PathBuf>) -> Verdict {
        Verdict::Confirmed(Box::new(Confirmation {
            schedule: run.outcome.schedule.clone(),
            ending: run.ending(),
            atomicity: self.atomicity(run, at),
            harm,
            trace,
            at,
        }))
    }

    /// A violation that did no harm may do some if the program goes on in another way. What ends otherwise then
    /// counts; what is only printed or left otherwise does not, since that may come of the other way alone.
    fn go_on_otherwise(
        &mut self,
        caught: &mut Caught,
        from: &Run,
        serial: &[Ending],
        observer: &mut dyn HuntObserver,
    ) -> Result<(), HuntError> {
        let Standing::Feasible(witness) = &caught.finding.standing else { return Ok(()) };
        let directions = Directions::of(&witness.order, &from.trace.events, &from.outcome);
        for seed in 0..CONTINUATIONS {
            let Verdict::Confirmed(confirmation) = &caught.verdict else { return Ok(()) };
            // What a serial order explains goes on as it would after that.
            let may_harm = is_harmless(caught) && confirmation.atomicity != Atomicity::Atomic;
            if !may_harm || !self.runner.may_run(observer) {
                return Ok(());
            }
            let run = self.runner.directed_then_random(directions.clone(), seed, observer)?;
            let Some(at) = self.shown(caught, &run) else { continue };
            let found = harm(&run.ending(), &serial.iter().collect::<Vec<_>>(), &[]);
            if found.kind < HarmKind::Output {
                let trace = Some(self.runner.keep(&run.path)?);
                caught.verdict = self.confirmed(&run, at, Some(found), trace);
            }
        }
        Ok(())
    }

    /// Whether a serial order of all regions explains a run.
    fn is_serial(&self, run: &Run) -> bool {
        let Trace { events, tables } = &run.trace;
        let question = Question::whole(events, tables, run.trace.initial_values(), self.regions);
        judge(&question, &Budget::for_a_finding()) == interloper_judge::Verdict::Atomic
    }

    fn serial_orders(&self, caught: &Caught, trace: &Trace) -> Vec<Vec<usize>> {
        let Standing::Feasible(witness) = &caught.finding.standing else { return Vec::new() };
        let triple = &caught.finding.triple;
        let triple = [triple.first, triple.remote, triple.second].map(|access| access.index.0 as usize);
        serial_orders(&witness.order, triple, &trace.events)
    }

    fn shown(&self, caught: &Caught, run: &Run) -> Option<[usize; 3]> {
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

/// Says what harm a violation did, beside these runs.
fn set_harm(caught: &mut Caught, serial: &[Ending]) {
    let Verdict::Confirmed(confirmation) = &mut caught.verdict else { return };
    let variable = caught.identities.as_ref().map(|identities| identities[0].location.clone());
    let mut found = harm(&confirmation.ending, &serial.iter().collect::<Vec<_>>(), variable.as_slice());
    // What is explained by a serial order is no fault of the region, whatever else has changed since.
    if confirmation.atomicity == Atomicity::Atomic && matches!(found.kind, HarmKind::Output | HarmKind::State) {
        found = Harm {
            kind: HarmKind::Benign,
            sentence: "a serial order of the region and the rest explains all that was read and left".to_owned(),
        };
    }
    confirmation.harm = Some(found);
}

/// Whether a run did nothing that the others did not.
fn is_benign(caught: &Caught, run: &Ending, serial: &[Ending]) -> bool {
    let variable = caught.identities.as_ref().map(|identities| identities[0].location.clone());
    harm(run, &serial.iter().collect::<Vec<_>>(), variable.as_slice()).kind == HarmKind::Benign
}

/// The event that begins the smallest region that both local accesses are in.
fn innermost_region(events: &[Event], sources: RegionSources, [first, _, second]: [usize; 3]) -> Option<usize> {
    let thread = events.get(first)?.thread;
    let mut open: Vec<(RegionSource, usize)> = Vec::new();
    let own = events.iter().enumerate().take(second + 1).filter(|(_, event)| event.thread == thread);
    for (at, event) in own {
        match event.op {
            Op::RegionBegin(region) if sources.contains(region.source) => open.push((region.source, at)),
            Op::RegionEnd(region) if sources.contains(region.source) => {
                let last = open.iter().rposition(|(source, _)| *source == region.source);
                last.map(|last| open.remove(last));
            }
            _ => {}
        }
    }
    open.iter().map(|(_, begin)| *begin).filter(|begin| *begin < first).max()
}

/// What the three accesses of a finding are known by.
pub(crate) fn identities(trace: &Trace, events: [u64; 3]) -> Option<[Identity; 3]> {
    let [first, remote, second] = events.map(|event| Identity::of(&trace.events, &trace.tables, event as usize));
    Some([first?, remote?, second?])
}

/// Whether a violation happened, and the program ended as usual.
pub(crate) fn is_harmless(caught: &Caught) -> bool {
    match &caught.verdict {
        Verdict::Confirmed(confirmation) => {
            confirmation.harm.as_ref().is_some_and(|harm| harm.kind >= HarmKind::Output)
        }
        Verdict::NotExecuted(_) => false,
    }
}

/// Whether a run ended in another way than the usual one.
pub(crate) fn ends_otherwise(run: &Ending, usual: &Ending) -> bool {
    harm(run, &[usual], &[]).kind < HarmKind::Output
}

pub(crate) fn is_confirmed(caught: &Caught) -> bool {
    matches!(caught.verdict, Verdict::Confirmed(_))
}

fn is_to_be_executed(caught: &Caught) -> bool {
    let is_new = matches!(&caught.verdict, Verdict::NotExecuted(reason) if reason.is_empty());
    is_new && matches!(caught.finding.standing, Standing::Feasible(_))
}
