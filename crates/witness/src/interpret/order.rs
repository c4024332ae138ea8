//! Whether an order of events is in the model, and shows a triple.

use super::machine::Obstacle;
use super::waits::choose;
use super::{Program, State};
use interloper_model::{AccessKind, Pattern, access_of};

/// What is wrong with an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// The trace is not that long.
    #[error("position {position}: there is no event {event}")]
    NoSuchEvent {
        /// Where in the order.
        position: usize,
        /// What is there.
        event: usize,
    },
    /// Another event of that thread comes first.
    #[error("position {position}: event {event}, before its thread has executed event {expected}")]
    Skipped {
        /// Where in the order.
        position: usize,
        /// What is there.
        event: usize,
        /// What should come first.
        expected: usize,
    },
    /// It was executed before.
    #[error("position {position}: event {event} again")]
    Again {
        /// Where in the order.
        position: usize,
        /// What is there.
        event: usize,
    },
    /// An access of several events is interrupted.
    #[error("position {position}: event {expected} does not follow, with which event {event} forms one step")]
    Torn {
        /// Where in the order the next event of the step should be.
        position: usize,
        /// The event before it.
        event: usize,
        /// The event that should be there.
        expected: usize,
    },
    /// It cannot happen there.
    #[error("position {position}: event {event} is not enabled: {obstacle}")]
    NotEnabled {
        /// Where in the order.
        position: usize,
        /// What is there.
        event: usize,
        /// Why it cannot be.
        obstacle: Obstacle,
    },
    /// Three events that cannot be a triple, whatever the order.
    #[error("events {0:?} are not three accesses of one location by two threads")]
    NoTriple([usize; 3]),
    /// An event of the triple is not executed, or not after the one before it.
    #[error("event {event} of the triple is not executed in its place")]
    NotShown {
        /// The first that is missing.
        event: usize,
    },
    /// The triple is executed, but fits no pattern.
    #[error("the triple is executed, but as {kinds:?} fits no pattern")]
    NoPattern {
        /// What the accesses were.
        kinds: [AccessKind; 3],
    },
}

/// Whether an order of prefixes of the threads is in the model, and shows a triple.
///
/// Events without effect may be left out. Where signals have a choice, a choice that fits will do.
pub fn check_order(program: &Program<'_>, order: &[usize], triple: Option<[usize; 3]>) -> Result<(), Defect> {
    execute(program, order, triple)?.judge()
}

/// The reads of an order that return something else than observed although their thread goes on.
pub fn changed_reads(program: &Program<'_>, order: &[usize]) -> Result<Vec<usize>, Defect> {
    let run = execute(program, order, None)?;
    let goes_on = |read: &usize| {
        let mut later = order.iter().rev().take_while(|event| *event != read);
        later.any(|event| program.events[*event].thread == program.events[*read].thread)
    };
    Ok(run.state.strayed.into_iter().filter(goes_on).collect())
}

/// Executes an order to its end.
fn execute<'a, 't>(
    program: &'a Program<'t>,
    order: &'a [usize],
    triple: Option<[usize; 3]>,
) -> Result<Run<'a, 't>, Defect> {
    let mut run = Run {
        program,
        order,
        state: program.start(),
        executed: vec![0; program.thread_count()],
        shown: Vec::new(),
        triple,
    };
    let choices = choose(program, order);
    let mut position = 0;
    while let Some(&event) = order.get(position) {
        run.follows(position, event)?;
        if program.places[event].step.is_none() {
            run.pass(position, event)?;
            position += 1;
            continue;
        }
        let thread = program.events[event].thread;
        let first = position;
        let pieces: Vec<usize> = program.next_events(&run.state, thread).collect();
        let outcome = program
            .step(&mut run.state, thread, choices.get(&event).copied())
            .map_err(|obstacle| Defect::NotEnabled { position, event, obstacle })?;
        position = run.rest(first, &pieces)?;
        for piece in pieces {
            run.show(piece, outcome.satisfied);
        }
    }
    Ok(run)
}

struct Run<'a, 't> {
    program: &'a Program<'t>,
    order: &'a [usize],
    state: State,
    /// How many events of each thread have been executed, those without effect too.
    executed: Vec<u32>,
    triple: Option<[usize; 3]>,
    /// The kinds of the events of the triple that have been executed.
    shown: Vec<AccessKind>,
}

impl Run<'_, '_> {
    /// Whether an event is the thread's next one, but for those without effect.
    fn follows(&mut self, position: usize, event: usize) -> Result<(), Defect> {
        let Some(place) = self.program.places.get(event) else {
            return Err(Defect::NoSuchEvent { position, event });
        };
        let thread = self.program.events[event].thread.index();
        let executed = &mut self.executed[thread];
        if place.number < *executed {
            return Err(Defect::Again { position, event });
        }
        let passed = &self.program.threads[thread].events[*executed as usize..place.number as usize];
        if let Some(&expected) = passed.iter().find(|&&passed| self.program.places[passed].step.is_some()) {
            return Err(Defect::Skipped { position, event, expected });
        }
        *executed = place.number + 1;
        Ok(())
    }

    /// An event without effect, which only a thread cannot execute that is stuck or led astray.
    fn pass(&self, position: usize, event: usize) -> Result<(), Defect> {
        let is_stuck = self.state.threads[self.program.events[event].thread.index()].stuck;
        let astray = self.program.astray_at(&self.state, event).map(|read| Obstacle::Astray { read });
        match is_stuck.then_some(Obstacle::Stuck).or(astray) {
            Some(obstacle) => Err(Defect::NotEnabled { position, event, obstacle }),
            None => Ok(()),
        }
    }

    /// Whether the rest of a step follows at once; says what comes after it.
    fn rest(&mut self, first: usize, pieces: &[usize]) -> Result<usize, Defect> {
        let thread = self.program.events[pieces[0]].thread;
        let mut position = first + 1;
        for &expected in &pieces[1..] {
            loop {
                let torn = Defect::Torn { position, event: self.order[position - 1], expected };
                let next = self.order.get(position).copied().ok_or(torn)?;
                if self.program.events.get(next).is_none_or(|event| event.thread != thread) {
                    return Err(torn);
                }
                self.follows(position, next)?;
                position += 1;
                if next == expected {
                    break;
                }
            }
        }
        Ok(position)
    }

    fn show(&mut self, event: usize, satisfied: bool) {
        if self.triple.is_some_and(|triple| triple.get(self.shown.len()) == Some(&event)) {
            self.shown.extend(self.program.access_kind(event, satisfied));
        }
    }

    fn judge(&self) -> Result<(), Defect> {
        let Some(triple) = self.triple else { return Ok(()) };
        let events = triple.map(|event| self.program.events.get(event));
        let [Some(first), Some(remote), Some(second)] = events else { return Err(Defect::NoTriple(triple)) };
        let locations = [first, remote, second].map(|event| access_of(&event.op).map(|(location, _)| location));
        let one_location = locations[0].is_some() && locations[0] == locations[1] && locations[1] == locations[2];
        if first.thread != second.thread || first.thread == remote.thread || !one_location {
            return Err(Defect::NoTriple(triple));
        }
        match self.shown[..] {
            [a, b, c] if Pattern::of(a, b, c).is_some() => Ok(()),
            [a, b, c] => Err(Defect::NoPattern { kinds: [a, b, c] }),
            _ => Err(Defect::NotShown { event: triple[self.shown.len()] }),
        }
    }
}
