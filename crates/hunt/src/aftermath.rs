//! What comes of a violation that was executed: whether a serial order explains it, and what harm it does.
//!
//! The comparison itself is `harm`'s business; here are the runs that are compared, and the judge's questions.

use crate::caught::{Atomicity, Caught, Ending, Verdict};
use crate::execute::{Executor, is_confirmed};
use crate::harm::{Harm, HarmKind, harm, serial_orders};
use crate::request::{HuntError, HuntObserver};
use crate::runs::Run;
use interloper_judge::{Budget, Proof, Question, Scope, judge};
use interloper_ladder::{Standing, Trace};
use interloper_model::RegionSources;
use interloper_recorder::Directions;
use interloper_trace::{Event, EventIndex, Op, RegionSource};

/// In how many other ways a program goes on after a violation that did no harm.
const CONTINUATIONS: u64 = 4;

impl Executor<'_, '_> {
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
            known.push(from.ending.clone());
        }
        for caught in caught {
            if !is_confirmed(caught) {
                continue;
            }
            let mut serial = known.clone();
            set_harm(caught, &serial);
            // If it is as harmless as these, no other run is needed to say so.
            if !is_benign(caught) {
                for order in self.serial_orders(caught, &from.trace) {
                    if !self.runner.may_run(observer) {
                        break;
                    }
                    let directions = Directions::of(&order, &from.trace.events, &from.outcome);
                    let run = self.runner.directed(directions, observer)?;
                    if self.is_serial(&run) {
                        serial.push(run.ending.clone());
                    }
                }
                set_harm(caught, &serial);
            }
            self.go_on_otherwise(caught, from, &serial, observer)?;
        }
        Ok(())
    }

    /// A run that did not end as usual shows what harm is done by violations that did none when they were executed.
    pub(crate) fn look_for_harm(&mut self, caught: &mut [Caught], run: &Run, usual: &Ending) -> Result<(), HuntError> {
        let found = harm(&run.ending, std::slice::from_ref(usual), None);
        if !found.kind.is_in_the_end() {
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
            let found = harm(&run.ending, serial, None);
            if found.kind.is_in_the_end() {
                let trace = Some(self.runner.keep(&run.path)?);
                caught.verdict = self.confirmed(&run, at, Some(found), trace);
            }
        }
        Ok(())
    }

    /// Whether a run up to a violation is explained by a serial order.
    pub(crate) fn atomicity(&self, run: &Run, at: [usize; 3]) -> Atomicity {
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
}

/// Says what harm a violation did, beside these runs.
fn set_harm(caught: &mut Caught, serial: &[Ending]) {
    let Verdict::Confirmed(confirmation) = &mut caught.verdict else { return };
    let variable = caught.identities.as_ref().map(|[first, ..]| first.location.as_str());
    let mut found = harm(&confirmation.ending, serial, variable);
    // What is explained by a serial order is no fault of the region, whatever else has changed since.
    if confirmation.atomicity == Atomicity::Atomic && matches!(found.kind, HarmKind::Output | HarmKind::State) {
        found = Harm {
            kind: HarmKind::Benign,
            sentence: "a serial order of the region and the rest explains all that was read and left".to_owned(),
        };
    }
    confirmation.harm = Some(found);
}

/// What harm a violation did, as far as that was judged.
fn harm_of(caught: &Caught) -> Option<HarmKind> {
    match &caught.verdict {
        Verdict::Confirmed(confirmation) => confirmation.harm.as_ref().map(|harm| harm.kind),
        Verdict::NotExecuted(_) => None,
    }
}

fn is_benign(caught: &Caught) -> bool {
    harm_of(caught) == Some(HarmKind::Benign)
}

/// Whether a violation happened, and the program ended as usual.
pub(crate) fn is_harmless(caught: &Caught) -> bool {
    harm_of(caught).is_some_and(|kind| !kind.is_in_the_end())
}

/// Whether a run ended in another way than the usual one.
pub(crate) fn ends_otherwise(run: &Ending, usual: &Ending) -> bool {
    harm(run, std::slice::from_ref(usual), None).kind.is_in_the_end()
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
