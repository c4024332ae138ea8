//! `interloper analyze --model filtered`.
//!
//! Four passes over the trace: where something is possible, which triples, what to look for, and which of them to
//! keep. A long trace is read anew for each of them, a short one is remembered.

use super::{Analysed, Clock, Found, facts, note_regions};
use crate::args::{AnalyzeArgs, FilterRule};
use crate::input::Input;
use crate::interrupt;
use crate::message;
use crate::pass::Pass;
use crate::progress::Progress;
use interloper_ladder::{Grouping, RepresentativeCount, Says, Sifted, sift};
use interloper_model::{InitialValues, RegionSources};
use interloper_predict::filter::{Filter, Rejection, Rule, Survey};
use interloper_predict::lockset::{self, Enumerator, Prediction, Profiler};
use interloper_report::build::{self, Decided};
use interloper_report::result::{Counts, Verdict};
use interloper_trace::{Event, EventIndex};
use std::collections::BTreeMap;

/// How many triples are looked at at the most.
const MOST_TRIPLES: usize = 4_000_000;

/// How many behind each representative.
const MOST_ALIKE: usize = 256;

/// Traces of up to so many events, 40 MB of them, are read once.
const MOST_REMEMBERED: usize = 1 << 20;

pub(super) fn analyse(args: &AnalyzeArgs, input: &Input, sources: RegionSources) -> anyhow::Result<Analysed> {
    let mut options = lockset::Options::new(sources).with_limit(MOST_TRIPLES);
    if !args.all {
        options = options.with_each(MOST_ALIKE);
    }
    let clock = Clock::new(args.stats);
    let mut profiling = (Profiler::new(&options), Remembered::default());
    let first = Pass::run(
        input,
        "profiling",
        !args.no_progress,
        None,
        &mut profiling,
        |(profiler, remembered), index, event, _| {
            profiler.observe(index, event);
            remembered.push(event);
        },
        |_| String::new(),
    )?;
    let (profiler, remembered) = profiling;
    let mut profile = profiler.finish();
    let overview = profile.overview();
    clock.lap("read and profile");

    let until = first.interrupted.then(|| first.events());
    let mut passes = Passes { args, input, remembered, until, is_stopped: false };
    let clock = Clock::new(args.stats);
    let count = (!args.all).then(|| RepresentativeCount::new(sources));
    let mut listing = (Enumerator::new(&options, &overview), count);
    passes.run("enumerating", &mut listing, |(enumerator, count), index, event| {
        enumerator.observe(index, event);
        if let Some(count) = count {
            count.observe(event);
        }
    })?;
    let (enumerator, count) = listing;
    let prediction = enumerator.finish();
    clock.lap("enumerate");

    let clock = Clock::new(args.stats);
    let rejections = passes.filter(&prediction, &first)?;
    clock.lap("filter");

    let grouping = if args.all { Grouping::Triples } else { Grouping::Threads };
    let unlisted = prediction.possible - prediction.triples.len() as u64;
    let mut sifted = sift(&prediction.triples, &rejections, grouping, |alike| unlisted > 0 || alike >= MOST_ALIKE);
    if passes.is_stopped {
        // Nobody has looked whether these are to be kept.
        let unseen = sifted.iter_mut().filter(|one| one.says == Says::Kept);
        unseen.for_each(|one| one.says = Says::Unknown);
    }
    let mut counts = counts(&sifted);
    counts.candidates = count.map_or(prediction.candidates, |count| count.finish());
    if args.all {
        counts.possible += unlisted;
        counts.unknown += unlisted;
    }
    counts.infeasible = counts.candidates.saturating_sub(counts.plausible + counts.unknown);
    if args.stats {
        tell_reasons(&sifted);
    }

    let mut notes = first.notes();
    note_regions(args, profile.regions(), &mut notes);
    if passes.is_stopped {
        notes.push("interrupted before everything was filtered: what was not looked at is unknown".to_owned());
    } else if counts.unknown > 0 {
        notes.push(format!(
            "{} representatives stand for more triples than could be looked at; those that were are rejected",
            counts.unknown
        ));
    }
    if args.all && unlisted > 0 {
        notes.push(format!("{unlisted} more triples are possible than could be looked at one by one"));
    }
    let listed = sifted.iter().filter(|one| args.explain_infeasible || !matches!(one.says, Says::Rejected(_)));
    let unknown = if passes.is_stopped {
        "interrupted before it was looked at"
    } else {
        "there are more triples than could be looked at"
    };
    let decided: Vec<Decided<'_>> = listed.map(|one| decided(one, unknown)).collect();
    let findings = build::decided(&decided, &prediction.held, first.tables());
    let fail_on = args.fail_on.map_or(Verdict::Plausible, Verdict::from);
    let document = build::document(&facts(&profile, &first), "filtered", counts, findings, notes);
    Ok(Analysed { document, interrupted: first.interrupted || passes.is_stopped, found: Found::AtLeast(fail_on) })
}

/// The events of a trace, unless there are too many.
#[derive(Default)]
struct Remembered {
    events: Vec<Event>,
    are_too_many: bool,
}

impl Remembered {
    #[inline]
    fn push(&mut self, event: &Event) {
        if self.are_too_many {
            return;
        }
        if self.events.len() < MOST_REMEMBERED {
            self.events.push(*event);
        } else {
            *self = Remembered { events: Vec::new(), are_too_many: true };
        }
    }

    /// Gives each event to `observe`, as long as `goes_on`, which now and then hears how many it were. Whether it got
    /// to the end.
    fn visit(&self, mut observe: impl FnMut(EventIndex, &Event), mut goes_on: impl FnMut(u64) -> bool) -> bool {
        const BATCH: usize = 4096;
        let mut done = 0;
        self.events.chunks(BATCH).all(|events| {
            (done..).map(EventIndex).zip(events).for_each(|(index, event)| observe(index, event));
            done += events.len() as u64;
            goes_on(done)
        })
    }
}

/// The passes after the first.
struct Passes<'a> {
    args: &'a AnalyzeArgs,
    input: &'a Input,
    remembered: Remembered,
    /// What was found before an interrupt is still told: then the others read as far as the first.
    until: Option<u64>,
    /// The user has stopped one of these. What the later ones would say would speak of a part of the trace only.
    is_stopped: bool,
}

impl Passes<'_> {
    fn run<A>(
        &mut self,
        label: &'static str,
        analysis: &mut A,
        mut observe: impl FnMut(&mut A, EventIndex, &Event),
    ) -> anyhow::Result<()> {
        let progress = !self.args.no_progress;
        let is_stopped = if self.remembered.are_too_many {
            let observe = |analysis: &mut A, index, event: &_, _: &_| observe(analysis, index, event);
            let pass = Pass::run(self.input, label, progress, self.until, analysis, observe, |_| String::new())?;
            pass.interrupted
        } else {
            let mut progress = Progress::new(label, Some(self.remembered.events.len() as u64), progress);
            !self.remembered.visit(
                |index, event| observe(analysis, index, event),
                |done| {
                    progress.at(done, String::new);
                    self.until.is_some() || !interrupt::requested()
                },
            )
        };
        self.is_stopped |= is_stopped;
        Ok(())
    }

    fn filter(&mut self, prediction: &Prediction, first: &Pass) -> anyhow::Result<Vec<Option<Rejection>>> {
        let nothing = vec![None; prediction.triples.len()];
        if nothing.is_empty() || self.is_stopped {
            return Ok(nothing);
        }
        let rule = match self.args.rule {
            FilterRule::Sound => Rule::Sound,
            FilterRule::Paper => Rule::Paper,
        };
        let mut survey = Survey::new(rule, &prediction.triples, InitialValues::of(first.tables()));
        self.run("surveying", &mut survey, Survey::observe)?;
        if self.is_stopped {
            return Ok(nothing);
        }
        let mut filter = survey.finish(first.tables());
        self.run("filtering", &mut filter, Filter::observe)?;
        Ok(filter.finish())
    }
}

fn counts(sifted: &[Sifted]) -> Counts {
    let count = |is_so: fn(&Says) -> bool| sifted.iter().filter(|one| is_so(&one.says)).count() as u64;
    Counts {
        possible: sifted.len() as u64,
        plausible: count(|says| *says == Says::Kept),
        unknown: count(|says| *says == Says::Unknown),
        ..Counts::default()
    }
}

fn decided<'s>(one: &'s Sifted, unknown: &str) -> Decided<'s> {
    let (verdict, reason) = match &one.says {
        Says::Kept => (Verdict::Plausible, None),
        Says::Rejected(rejection) => (Verdict::Infeasible, Some(rejection.to_string())),
        Says::Unknown => (Verdict::Unknown, Some(unknown.to_owned())),
    };
    Decided { triple: &one.triple, verdict, reason, witness: None, execution: None }
}

/// How many were rejected for what.
fn tell_reasons(sifted: &[Sifted]) {
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for one in sifted {
        if let Says::Rejected(rejection) = &one.says {
            *reasons.entry(rejection.kind()).or_default() += 1;
        }
    }
    for (reason, count) in reasons {
        message::say(&format!("rejected by {reason}"), &count.to_string());
    }
}
