//! Which orders of which traces show a finding, and how much of them is embedded.
//!
//! *Observed* is the order of a trace that was recorded; *witness* is the order that shows the violation: a schedule
//! of the same events, or, of what is confirmed, the run that showed it. Where the finding was made in a run that
//! was led off the recorded path, and that run shows it, the order observed is still that of the recorded run, with
//! the accesses found again by what they are known by.
//!
//! A short trace is embedded whole. Of a long one there are, for each finding, the surroundings of its accesses; and
//! there is a bound on all together, beyond which findings have no lanes.

use crate::arrows::{self, Arrow};
use crate::seen::{Seen, seen};
use crate::track::{self, Ranges, RowOf, Track, is_shown};
use interloper_model::access_of;
use interloper_report::read::{Event as Access, Finding, Result as Found};
use interloper_trace::{Event, LocationId, Op, Tables, ThreadId};
use interloper_witness::EventSchedule;
use interloper_witness::confirm::{Identity, find};
use std::fmt;

/// So many findings are shown.
pub(crate) const MOST_FINDINGS: usize = 2_000;
/// Traces of so many shown events are embedded whole.
const WHOLE: usize = 20_000;
/// So many events are embedded in all.
const MOST_EVENTS: usize = 60_000;
/// So many turns of threads are embedded in all, over all orders.
const MOST_TURNS: usize = 400_000;
/// So many arrows are embedded in all, over all orders.
const MOST_ARROWS: usize = 400_000;
/// So many events are looked at in all to find out what to embed.
const MOST_EFFORT: u64 = 1_000_000_000;

/// A trace in memory.
#[derive(Debug)]
pub struct RecordedTrace {
    /// The events, in the order in which they were recorded.
    pub events: Vec<Event>,
    /// The names behind their ids.
    pub tables: Tables,
}

/// Which trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TraceName {
    /// The one that was analysed.
    Analysed,
    /// One of another run, as the result names it.
    Run(String),
}

impl fmt::Display for TraceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceName::Analysed => f.write_str("the analysed trace"),
            TraceName::Run(name) => f.write_str(name),
        }
    }
}

/// What is embedded of traces, and how it shows the findings.
#[derive(Debug, Default)]
pub(crate) struct Story {
    pub(crate) tracks: Vec<Track>,
    /// As many as there are findings, up to [`MOST_FINDINGS`].
    pub(crate) told: Vec<Told>,
    /// Traces that were not there.
    pub(crate) missing: Vec<TraceName>,
    /// Traces that are not those that the result speaks of.
    pub(crate) foreign: Vec<TraceName>,
    /// Orders that were left out, since there is too much to embed.
    pub(crate) left_out: usize,
    /// Orders without arrows, for the same reason.
    pub(crate) without_arrows: usize,
}

/// A finding in orders.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) observed: Option<Order>,
    pub(crate) witness: Option<Order>,
}

impl Told {
    /// The order that tells most.
    pub(crate) fn best(&self) -> Option<&Order> {
        self.witness.as_ref().or(self.observed.as_ref())
    }
}

/// An order of events.
#[derive(Debug)]
pub(crate) struct Order {
    /// Of which track.
    pub(crate) track: usize,
    /// Whether it is a schedule of recorded events rather than a run.
    pub(crate) is_schedule: bool,
    /// The rows; none if they are the track's, in its own order.
    pub(crate) ranges: Option<Ranges>,
    /// What comes before what; none if it is the track's own order, whose arrows the track has.
    pub(crate) arrows: Option<Vec<Arrow>>,
    /// How many events are left out, and before which position.
    pub(crate) gaps: Vec<(u32, u64)>,
    /// Where the three accesses are.
    pub(crate) marks: [Option<u32>; 3],
    /// The first and last position of the region's thread inside the region.
    pub(crate) region: Option<(u32, u32)>,
    /// What the region is called in the trace.
    pub(crate) region_name: Option<String>,
    /// What the three accesses read and wrote.
    pub(crate) seen: [Seen; 3],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Observed,
    Witness,
}

/// An order that would show a finding.
struct Wish {
    finding: usize,
    side: Side,
    accesses: Accesses,
    schedule: Option<EventSchedule>,
}

/// How the three accesses are found.
enum Accesses {
    At([u64; 3]),
    Known(Box<[Identity; 3]>),
}

impl Story {
    pub(crate) fn tell(result: &Found, shelf: &mut dyn FnMut(&TraceName) -> Option<RecordedTrace>) -> Story {
        let findings = &result.findings[..result.findings.len().min(MOST_FINDINGS)];
        let mut wishes: Vec<(TraceName, Vec<Wish>)> = Vec::new();
        for (number, finding) in findings.iter().enumerate() {
            for (name, wish) in wishes_of(number, finding) {
                match wishes.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, wishes)) => wishes.push(wish),
                    None => wishes.push((name, vec![wish])),
                }
            }
        }
        let mut story = Story { told: findings.iter().map(|_| Told::default()).collect(), ..Story::default() };
        let mut rest = Rest { events: MOST_EVENTS, turns: MOST_TURNS, arrows: MOST_ARROWS, effort: MOST_EFFORT };
        for (name, wishes) in wishes {
            match shelf(&name) {
                Some(trace) if trace.events.len() < u32::MAX as usize => {
                    story.take(name, &trace, wishes, findings, &mut rest);
                }
                _ => story.missing.push(name),
            }
        }
        story
    }

    /// Takes from a trace what shows findings.
    fn take(
        &mut self,
        name: TraceName,
        trace: &RecordedTrace,
        wishes: Vec<Wish>,
        findings: &[Finding],
        rest: &mut Rest,
    ) {
        let shown: Vec<u32> =
            (0..trace.events.len() as u32).filter(|&index| is_shown(&trace.events[index as usize].op)).collect();
        let is_whole = shown.len() <= WHOLE.min(rest.events);
        let mut kept = if is_whole { shown.clone() } else { Vec::new() };
        let mut picked = Vec::new();
        let mut is_foreign = false;
        let recorded = arrows::arrows(trace, &shown);
        for wish in wishes {
            let finding = &findings[wish.finding];
            let effort = trace.events.len() as u64 * if wish.schedule.is_some() { 6 } else { 3 };
            if rest.effort < effort {
                self.left_out += 1;
                continue;
            }
            rest.effort -= effort;
            let Some(picture) = picture(&wish, finding, trace, &shown, &recorded, is_whole) else {
                // An access that another run did not make is no reason to doubt its trace.
                is_foreign |= matches!(wish.accesses, Accesses::At(_));
                continue;
            };
            if picture.order.is_empty() {
                continue;
            }
            if !is_whole && kept.len() + picture.order.len() > rest.events {
                self.left_out += 1;
                continue;
            }
            if !is_whole {
                kept.extend_from_slice(&picture.order);
            }
            picked.push((wish, picture));
        }
        if is_foreign {
            self.foreign.push(name.clone());
        }
        if picked.is_empty() {
            return;
        }
        kept.sort_unstable();
        kept.dedup();
        rest.events = rest.events.saturating_sub(kept.len());
        let (mut track, row_of) = track::track(name, trace, &kept);
        if is_whole {
            track.arrows = self.arrows_within(recorded, rest);
        }
        let number = self.tracks.len();
        self.tracks.push(track);
        for (wish, picture) in picked {
            let mut order = picture.order(number, &row_of, wish.schedule.is_some(), is_whole);
            let turns = order.ranges.as_ref().map_or(0, Vec::len);
            if turns > rest.turns {
                self.left_out += 1;
                continue;
            }
            rest.turns -= turns;
            order.arrows = order.arrows.map(|arrows| self.arrows_within(arrows, rest));
            let told = &mut self.told[wish.finding];
            match wish.side {
                Side::Observed => told.observed = Some(order),
                Side::Witness => told.witness = Some(order),
            }
        }
    }

    /// An order's arrows, as long as there is room for them.
    fn arrows_within(&mut self, arrows: Vec<Arrow>, rest: &mut Rest) -> Vec<Arrow> {
        if arrows.len() > rest.arrows {
            self.without_arrows += 1;
            return Vec::new();
        }
        rest.arrows -= arrows.len();
        arrows
    }
}

/// What may still be embedded.
struct Rest {
    events: usize,
    turns: usize,
    arrows: usize,
    effort: u64,
}

/// The orders that would show a finding, and the traces they are of.
fn wishes_of(number: usize, finding: &Finding) -> Vec<(TraceName, Wish)> {
    let Ok(at): Result<[u64; 3], _> = finding.events.iter().map(|event| event.index).collect::<Vec<_>>().try_into()
    else {
        return Vec::new();
    };
    let wish = |side, accesses, schedule| Wish { finding: number, side, accesses, schedule };
    let own = finding.trace.clone().map_or(TraceName::Analysed, TraceName::Run);
    let mut wishes = Vec::new();
    let run = finding.execution.as_ref().and_then(|execution| Some((execution, execution.trace.clone()?)));
    if let Some((execution, trace)) = run {
        let executed_at = execution.events.as_ref().and_then(|events| events.as_slice().try_into().ok());
        let accesses = executed_at.map(Accesses::At).or_else(|| Some(Accesses::Known(Box::new(finding.identities()?))));
        if let Some(accesses) = accesses {
            wishes.push((TraceName::Run(trace), wish(Side::Witness, accesses, None)));
        }
        match finding.identities() {
            // Found in a run that was led elsewhere: what the recorded one did is the order observed.
            Some(identities) if own != TraceName::Analysed => {
                let accesses = Accesses::Known(Box::new(identities));
                wishes.push((TraceName::Analysed, wish(Side::Observed, accesses, None)));
            }
            _ => wishes.push((own, wish(Side::Observed, Accesses::At(at), None))),
        }
        return wishes;
    }
    wishes.push((own.clone(), wish(Side::Observed, Accesses::At(at), None)));
    let schedule = finding.witness.as_ref().and_then(|witness| witness.schedule.parse().ok());
    if let Some(schedule) = schedule {
        wishes.push((own, wish(Side::Witness, Accesses::At(at), Some(schedule))));
    }
    wishes
}

/// An order, in terms of the trace.
struct Picture {
    /// The events that are shown, in this order.
    order: Vec<u32>,
    arrows: Vec<Arrow>,
    gaps: Vec<(u32, u64)>,
    marks: [Option<u32>; 3],
    region: Option<(u32, u32)>,
    region_name: Option<String>,
    seen: [Seen; 3],
}

impl Picture {
    fn order(self, track: usize, row_of: &RowOf, is_schedule: bool, is_whole: bool) -> Order {
        let rows = self.order.iter().filter_map(|index| row_of.get(index).copied());
        let is_own = is_whole && !is_schedule;
        let ranges = if is_own { None } else { Some(track::ranges(rows)) };
        let Picture { arrows, gaps, marks, region, region_name, seen, .. } = self;
        let arrows = if is_own { None } else { Some(arrows) };
        Order { track, is_schedule, ranges, arrows, gaps, marks, region, region_name, seen }
    }
}

fn picture(
    wish: &Wish,
    finding: &Finding,
    trace: &RecordedTrace,
    shown: &[u32],
    recorded: &[Arrow],
    is_whole: bool,
) -> Option<Picture> {
    let (accesses, region) = match &wish.accesses {
        Accesses::At(at) => {
            let accesses = at.map(|index| usize::try_from(index).ok());
            let is_ours = accesses.iter().zip(&finding.events).all(|(at, access)| is_access(trace, *at, access));
            if !is_ours {
                return None;
            }
            let own = finding.execution.is_none() || wish.side == Side::Observed;
            let span = (finding.step().begin, finding.step().end);
            (accesses, if own { Some(span) } else { enclosing(trace, finding, accesses) })
        }
        Accesses::Known(identities) => {
            let accesses = [0, 1, 2].map(|role: usize| find(&trace.events, &trace.tables, &identities[role]));
            (accesses, enclosing(trace, finding, accesses))
        }
    };
    let all: std::borrow::Cow<'_, [u32]> = match &wish.schedule {
        None => shown.into(),
        Some(schedule) => {
            let order = schedule.to_order(&trace.events).ok()?;
            order.into_iter().filter(|&at| is_shown(&trace.events[at].op)).map(|at| at as u32).collect()
        }
    };
    let position = |access: Option<usize>| {
        let access = access? as u32;
        match &wish.schedule {
            None => all.binary_search(&access).ok(),
            Some(_) => all.iter().position(|&at| at == access),
        }
    };
    let positions = accesses.map(position);
    let picks = if is_whole { (0..all.len()).collect() } else { selection(&all, positions, trace) };
    let mut gaps = Vec::new();
    let mut next = 0;
    for (row, &pick) in picks.iter().enumerate() {
        if pick > next {
            gaps.push((row as u32, (pick - next) as u64));
        }
        next = pick + 1;
    }
    if next < all.len() {
        gaps.push((picks.len() as u32, (all.len() - next) as u64));
    }
    let order: Vec<u32> = picks.iter().map(|&pick| all[pick]).collect();
    let arrows = match &wish.schedule {
        // The track has them.
        None if is_whole => Vec::new(),
        None => arrows::between(recorded, &picks, trace, &all),
        Some(_) => arrows::between(&arrows::arrows(trace, &all), &picks, trace, &all),
    };
    let marks = positions.map(|position| Some(picks.binary_search(&position?).ok()? as u32));
    // Once a read has found something else, values need not be those recorded.
    let changed = finding.witness.as_ref().filter(|_| wish.schedule.is_some()).map(|witness| &witness.changed[..]);
    let is_recorded = |position: usize| {
        let changed = changed.unwrap_or_default();
        changed.is_empty() || !all[..=position].iter().any(|&at| changed.contains(&u64::from(at)))
    };
    let seen = [0, 1, 2].map(|role: usize| match (accesses[role], positions[role]) {
        (Some(access), Some(position)) if is_recorded(position) => {
            seen(trace, &all, access, position, wish.schedule.is_some())
        }
        _ => Seen::default(),
    });
    let region_name = region.and_then(|(begin, _)| match trace.events.get(begin as usize)?.op {
        Op::RegionBegin(region) => Some(trace.tables.strings.get(region.name?).to_owned()),
        _ => None,
    });
    let region = region.and_then(|span| rows_of_region(trace, finding, &order, span));
    Some(Picture { order, arrows, gaps, marks, region, region_name, seen })
}

/// Whether an event of a trace is the access that the result speaks of.
fn is_access(trace: &RecordedTrace, at: Option<usize>, access: &Access) -> bool {
    let Some(event) = at.and_then(|at| trace.events.get(at)) else { return false };
    access_of(&event.op).is_some()
        && trace.tables.thread(event.thread) == access.thread
        && trace.tables.site(event.site).line == access.line
}

/// The region of the finding's kind that encloses the first and, as far as it is there, the second access: the innermost
/// if that is what the finding is about, else the outermost.
fn enclosing(
    trace: &RecordedTrace,
    finding: &Finding,
    [first, _, second]: [Option<usize>; 3],
) -> Option<(u64, Option<u64>)> {
    let thread = trace.events[first.or(second)?].thread;
    let mut open = Vec::new();
    let mut spans = Vec::new();
    for (at, event) in trace.events.iter().enumerate().filter(|(_, event)| event.thread == thread) {
        match event.op {
            Op::RegionBegin(region) if region.source.name() == finding.step().source => open.push(at),
            Op::RegionEnd(region) if region.source.name() == finding.step().source => {
                spans.extend(open.pop().map(|begin| (begin, Some(at))));
            }
            _ => {}
        }
    }
    spans.extend(open.into_iter().map(|begin| (begin, None)));
    let holds = |(begin, end): &(usize, Option<usize>)| {
        [first, second].into_iter().flatten().all(|access| *begin < access && end.is_none_or(|end| access < end))
    };
    let holding = spans.into_iter().filter(holds);
    let (begin, end) = match finding.innermost {
        Some(_) => holding.max_by_key(|(begin, _)| *begin),
        None => holding.min_by_key(|(begin, _)| *begin),
    }?;
    Some((begin as u64, end.map(|end| end as u64)))
}

fn rows_of_region(
    trace: &RecordedTrace,
    finding: &Finding,
    order: &[u32],
    (begin, end): (u64, Option<u64>),
) -> Option<(u32, u32)> {
    let is_inside = |&index: &u32| {
        let is_its = trace.tables.thread(trace.events[index as usize].thread) == finding.region.thread;
        is_its && u64::from(index) >= begin && end.is_none_or(|end| u64::from(index) <= end)
    };
    let from = order.iter().position(is_inside)?;
    let to = order.iter().rposition(is_inside)?;
    Some((from as u32, to as u32))
}

/// The surroundings of three accesses in a long order: positions, sorted.
fn selection(order: &[u32], accesses: [Option<usize>; 3], trace: &RecordedTrace) -> Vec<usize> {
    /// How much is shown before and after.
    const BEFORE: usize = 100;
    const AFTER: usize = 40;
    /// If it is more than this from the first to the last access, something in between is left out.
    const MOST: usize = 2_000;
    const AROUND: usize = 150;
    const BETWEEN: usize = 1_000;
    let present: Vec<usize> = accesses.into_iter().flatten().collect();
    let (Some(&first), Some(&last)) = (present.iter().min(), present.iter().max()) else {
        return (0..order.len().min(BEFORE)).collect();
    };
    let span = first.saturating_sub(BEFORE)..(last + AFTER + 1).min(order.len());
    if span.len() <= MOST {
        return span.collect();
    }
    let events: Vec<&Event> = present.iter().map(|&at| &trace.events[order[at] as usize]).collect();
    let threads: Vec<ThreadId> = events.iter().map(|event| event.thread).collect();
    let locations: Vec<LocationId> =
        events.iter().filter_map(|event| access_of(&event.op)).map(|(location, _)| location).collect();
    let mut between = 0;
    span.filter(|&at| {
        if present.iter().any(|&access| access.abs_diff(at) <= AROUND) {
            return true;
        }
        let event = &trace.events[order[at] as usize];
        let concerns = match access_of(&event.op) {
            Some((location, _)) => locations.contains(&location),
            None => threads.contains(&event.thread),
        };
        between += usize::from(concerns);
        concerns && between <= BETWEEN
    })
    .collect()
}
