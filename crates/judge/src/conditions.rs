//! Sufficient conditions for non-atomicity: Figure 5 of the paper, re-derived.
//!
//! Let `B` be the block of the two local accesses `e1`, `e2`, and `F` that of the remote access `f` between
//! them; all touch cell `c`. In a serial order nothing comes between accesses of `B`. Either the accesses of
//! `B` contradict each other by themselves, or one of `F < B`, `B < F` holds, and the execution is non-atomic if
//! both are refuted.
//!
//! Of a block and a cell, *find* is what the block must find there (it reads before it writes), *leave* what it
//! leaves (it writes). A *producer* of `v` is a block that leaves `v`; in a serial order, a block finds what the
//! last block before it that wrote has left, or the initial value. That is all the arguments below use.
//!
//! **Torn** (C_RWR and C_WWR of the paper, which are right; here only the last own access before `e2` counts, so
//! more is found): `e2` reads something else than `B` has just read or written. No serial order explains that
//! read. RWR if that access of `B` is a read, WWR if it is a write.
//!
//! **Refuted** (all five patterns): `X < Y` is refuted by any of
//!
//! 1. *Forced.* `Y`, or a later block of its thread, is the only producer of something that `X`, or an earlier
//!    block of its thread, finds in some cell, and that is not initial there. Then `Y < X`.
//! 2. *Out of date.* `Y` finds `v`, `X` leaves something else, and every other producer of `v` comes before `X`
//!    or after `Y` by the order of their threads. Somebody has to leave `v` between `X` and `Y`, and
//!    nobody can.
//! 3. *Used up.* `Y` finds `v`, of which there is only one source: a block other than these two, or the initial
//!    value. That source is forced to come before `X` (as in 1, or by the order of a thread; the initial value
//!    always does), and `X` writes: it comes between source and `Y`.
//! 4. *Not there yet.* `X` finds `u`, which is not initial, and all producers of `u` are `Y`, come after `Y`, or
//!    come after `X`, by the order of their threads.
//! 5. *Lost.* `Y` leaves something else than the final value, and every other producer of that comes before
//!    `X` or before `Y` by the order of their threads, or is `X`: nobody can restore it after `Y`.
//!
//! **Overspent** (RWW): a block that finds `v` and leaves something else uses `v` up: somebody must leave it again
//! before another can find it. If `v` is used up more often than it is made (by blocks that leave it and did not
//! find it, and initially; and once more if it must be there at the end), no order explains that, however the
//! blocks that use it up are ordered. It is told of such a block whose read was out of date when it wrote.
//!
//! The printed C_WRW is 4 for `F < B` and 2 for `B < F`, where the paper looks for other producers in the two
//! threads only. A third thread may be one: `T0 w(x,1) · T1 r(x):1 · T2 w(x,1) · T0 w(x,3)` is atomic. Nor does it
//! look at initial values. What is written and overwritten within one block is no production, so here fewer
//! writes stand in the way. The printed C_RWW is 2 for `F < B`, and nothing for `B < F`, which is a serial
//! order like any other unless something tells: `T1 r(x):0 · T0 w(x,3) · T1 w(x,3)` is atomic. What tells is 5,
//! or, if `F` reads too, 2 and 3, or that the value is overspent: a lost update, as two blocks find the same value
//! and both overwrite it. The paper has none for WWW: 1 and 5.
//!
//! A write whose value is not known counts as a producer of everything, and an unknown initial value as any;
//! nothing is concluded from a read or a final value that is not known.
//!
//! *Cost:* a remote access and a block around it are looked at once, in `O(log n)`; there are at most as many of
//! those as accesses times threads.

use crate::Instance;
use crate::blocks::{BlockId, Blocks, Cellular, Content, Effect, Touch};
use crate::cells::Cell;
use interloper_model::{AccessKind, Pattern};
use interloper_trace::EventIndex;
use rustc_hash::{FxHashMap, FxHashSet};

/// Finds three accesses of which a condition holds: the suspects, or else those that are complete first.
pub(crate) fn find(blocks: &Blocks, suspects: Option<[EventIndex; 3]>) -> Option<Instance> {
    let conditions = Conditions::new(blocks);
    suspects.and_then(|suspects| conditions.holds_of(suspects)).or_else(|| {
        let found = [conditions.torn(), conditions.refuted()];
        found.into_iter().flatten().min_by_key(|instance| instance.events[2])
    })
}

/// A block, by thread and rank.
type Place = (u32, u32);

struct Conditions<'b> {
    blocks: &'b Blocks,
    /// Who leaves what in which cell, by thread and rank; `None` is what is not known.
    producers: FxHashMap<(Cell, Option<u64>), Vec<Place>>,
    /// By thread that finds and thread that leaves: the rank of a block that finds something only the other
    /// leaves, and the rank of that other. Both ascend.
    forced: FxHashMap<(u32, u32), Vec<(u32, u32)>>,
    /// The touches of each shared cell, in the order of events.
    by_cell: Vec<Vec<u32>>,
    /// For each touch of an effect, in the order of [`Blocks::by_effect`], the nearest of the same effect before
    /// it that reads, if it only writes, or writes, if it only reads; and the nearest after it.
    complements: [Vec<Option<u32>>; 2],
    /// What is used up more often than it is made.
    overspent: FxHashSet<(Cell, u64)>,
}

/// What comes before or after a block in its thread.
#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
    FromHereOn,
}

impl<'b> Conditions<'b> {
    fn new(blocks: &'b Blocks) -> Self {
        let mut producers: FxHashMap<(Cell, Option<u64>), Vec<Place>> = FxHashMap::default();
        for effect in &blocks.effects {
            if let Some(leave) = effect.leave {
                let block = &blocks.blocks[effect.block.index()];
                producers.entry((effect.cell, leave.known())).or_default().push((block.thread, block.rank));
            }
        }
        for blocks in producers.values_mut() {
            blocks.sort_unstable();
        }
        let mut by_cell = vec![Vec::new(); blocks.cells.len()];
        for (place, touch) in blocks.touches.iter().enumerate() {
            if blocks.cells[touch.cell.index()].kind == Cellular::Shared {
                by_cell[touch.cell.index()].push(place as u32);
            }
        }
        let complements = complements(blocks);
        let mut conditions = Conditions {
            blocks,
            producers,
            forced: FxHashMap::default(),
            by_cell,
            complements,
            overspent: overspent(blocks),
        };
        conditions.force();
        conditions
    }

    /// Notes who must come before whom because it is the only one who leaves what the other finds.
    fn force(&mut self) {
        let mut forced: FxHashMap<(u32, u32), Vec<(u32, u32)>> = FxHashMap::default();
        for thread in &self.blocks.threads {
            for effect in thread.iter().flat_map(|block| self.blocks.effects_of(*block)) {
                let block = &self.blocks.blocks[effect.block.index()];
                if let Some((source_thread, source)) = self.only_source(effect)
                    && source_thread != block.thread
                {
                    let steps = forced.entry((block.thread, source_thread)).or_default();
                    // Later blocks come after whatever earlier ones come after.
                    if steps.last().is_none_or(|(_, known)| *known < source) {
                        steps.push((block.rank, source));
                    }
                }
            }
        }
        self.forced = forced;
    }

    /// The only block that leaves what another finds, if that is not initial.
    fn only_source(&self, effect: &Effect) -> Option<Place> {
        let find = effect.find?.known()?;
        let initial = self.blocks.cells[effect.cell.index()].initial;
        if !initial.differs(Content::Known(find)) {
            return None;
        }
        let mut only = None;
        for producers in self.producers_of(effect.cell, find) {
            let own = self.range(producers, effect.block, Side::FromHereOn);
            match (producers.len() - own.len(), only) {
                (0, _) => {}
                (1, None) => only = Some(if own.start > 0 { producers[0] } else { producers[own.end] }),
                _ => return None,
            }
        }
        only
    }

    /// The blocks that leave this value, and those that may.
    fn producers_of(&self, cell: Cell, value: u64) -> [&[Place]; 2] {
        [Some(value), None].map(|value| self.producers.get(&(cell, value)).map_or(&[][..], Vec::as_slice))
    }

    /// Which of these are on one side of a block in its thread.
    fn range(&self, producers: &[Place], block: BlockId, side: Side) -> std::ops::Range<usize> {
        let block = &self.blocks.blocks[block.index()];
        let at = |bound: Place| producers.partition_point(|producer| *producer < bound);
        let (here, next) = (at((block.thread, block.rank)), at((block.thread, block.rank + 1)));
        match side {
            Side::Before => at((block.thread, 0))..here,
            Side::After => next..at((block.thread + 1, 0)),
            Side::FromHereOn => here..at((block.thread + 1, 0)),
        }
    }

    /// Whether all who leave, or may leave, this value are on the given sides of two blocks of different
    /// threads, or are among the `exempt`.
    fn all_aside(&self, cell: Cell, value: u64, sides: [(BlockId, Side); 2], exempt: &[&Effect]) -> bool {
        let all: usize = self.producers_of(cell, value).iter().map(|producers| producers.len()).sum();
        let aside: usize = self
            .producers_of(cell, value)
            .iter()
            .flat_map(|producers| sides.map(|(block, side)| self.range(producers, block, side).len()))
            .sum();
        let exempted = exempt.iter().filter(|effect| effect.leave.is_some_and(|leave| may_be(leave, value))).count();
        all == aside + exempted
    }

    /// Whether a block must come before another of another thread.
    fn is_forced(&self, (thread, rank): Place, before: BlockId) -> bool {
        let block = &self.blocks.blocks[before.index()];
        if thread == block.thread {
            return rank < block.rank;
        }
        let Some(steps) = self.forced.get(&(block.thread, thread)) else { return false };
        let up_to = steps.partition_point(|(found, _)| *found <= block.rank);
        up_to > 0 && steps[up_to - 1].1 >= rank
    }

    /// Whether no serial order has the block of `x` before that of `y`.
    fn refutes(&self, x: &Effect, y: &Effect) -> bool {
        let cell = x.cell;
        let facts = &self.blocks.cells[cell.index()];
        let place = |effect: &Effect| {
            let block = &self.blocks.blocks[effect.block.index()];
            (block.thread, block.rank)
        };
        // Forced.
        if self.is_forced(place(y), x.block) {
            return true;
        }
        if let (Some(Content::Known(find)), Some(leave)) = (y.find, x.leave) {
            // Out of date.
            let sides = [(x.block, Side::Before), (y.block, Side::After)];
            if leave.differs(Content::Known(find)) && self.all_aside(cell, find, sides, &[y]) {
                return true;
            }
            // Used up.
            let mut sources = self.producers_of(cell, find).into_iter().flatten();
            let may_be_initial = may_be(facts.initial, find);
            let is_used_up = match (sources.next(), sources.next(), may_be_initial) {
                (None, _, _) => true,
                (Some(&only), None, false) => only != place(x) && only != place(y) && self.is_forced(only, x.block),
                _ => false,
            };
            if is_used_up {
                return true;
            }
        }
        // Not there yet.
        if let Some(Content::Known(find)) = x.find
            && !may_be(facts.initial, find)
            && self.all_aside(cell, find, [(x.block, Side::FromHereOn), (y.block, Side::FromHereOn)], &[])
        {
            return true;
        }
        // Lost.
        if let (Some(Content::Known(last)), Some(leave)) = (facts.last, y.leave) {
            let sides = [(x.block, Side::Before), (y.block, Side::Before)];
            return leave.differs(Content::Known(last)) && self.all_aside(cell, last, sides, &[x]);
        }
        false
    }

    /// Whether a block uses up what is used up too often, and somebody has written since it read.
    fn is_overspent(&self, pattern: Pattern, local: &Effect, remote: &Touch) -> bool {
        let Some(find) = local.find.and_then(Content::known) else { return false };
        let uses_up = local.leave.is_some_and(|leave| leave.differs(Content::Known(find)));
        let is_out_of_date = remote.write.is_some_and(|write| write.differs(Content::Known(find)));
        pattern == Pattern::Rww && uses_up && is_out_of_date && self.overspent.contains(&(local.cell, find))
    }

    /// The first read that contradicts its own block, if somebody else wrote in between.
    fn torn(&self) -> Option<Instance> {
        self.blocks.torn.iter().find_map(|&(first, second)| {
            let (first, second) = (self.touch(first), self.touch(second));
            self.torn_by(first, second).map(|remote| {
                let pattern = if first.write.is_some() { Pattern::Wwr } else { Pattern::Rwr };
                instance(pattern, first, remote, second)
            })
        })
    }

    /// The last write of others between two touches of a block; what the second reads, if it is there.
    fn torn_by(&self, first: &Touch, second: &Touch) -> Option<&Touch> {
        let touches = &self.by_cell[first.cell.index()];
        let at = |event: u32| touches.partition_point(|place| self.touch(*place).event < event);
        let between = touches[at(first.event)..at(second.event)].iter().rev().map(|place| self.touch(*place));
        let mut writes = between.filter(|touch| touch.block != first.block && touch.write.is_some());
        let latest = writes.next()?;
        let is_seen = |touch: &&Touch| touch.write == second.read;
        Some(Some(latest).into_iter().chain(writes).find(is_seen).unwrap_or(latest))
    }

    /// Three accesses whose blocks can come in neither order, those that are complete first.
    fn refuted(&self) -> Option<Instance> {
        let mut open: Vec<Vec<u32>> = vec![Vec::new(); self.blocks.cells.len()];
        let mut best: Option<Instance> = None;
        for (place, remote) in self.blocks.touches.iter().enumerate() {
            if self.blocks.cells[remote.cell.index()].kind != Cellular::Shared {
                continue;
            }
            if best.is_some_and(|best| best.events[2].0 <= u64::from(remote.event)) {
                break;
            }
            let around = &mut open[remote.cell.index()];
            around.retain(|effect| self.last_touch(*effect) > place as u32);
            for &effect in around.iter().filter(|effect| **effect != remote.effect) {
                let found = self.instance_around(remote, &self.blocks.effects[effect as usize]);
                best = [best, found].into_iter().flatten().min_by_key(|found| found.events[2]);
            }
            if !around.contains(&remote.effect) && self.last_touch(remote.effect) > place as u32 {
                around.push(remote.effect);
            }
        }
        best
    }

    /// The pattern that a remote access makes with a block around it, if they can come in neither order.
    fn instance_around(&self, remote: &Touch, local: &Effect) -> Option<Instance> {
        let (from, to) = (local.touches.0 as usize, local.touches.1 as usize);
        let own = &self.blocks.by_effect[from..to];
        let at = from + own.partition_point(|place| self.touch(*place).event < remote.event);
        if at == from || at == to {
            return None;
        }
        let [before, after] = &self.complements;
        let firsts = [Some(self.blocks.by_effect[at - 1]), before[at - 1]].into_iter().flatten();
        let seconds = [Some(self.blocks.by_effect[at]), after[at]].into_iter().flatten();
        let mut pairs = firsts.flat_map(|first| seconds.clone().map(move |second| (first, second)));
        let pair = pairs.find_map(|(first, second)| {
            let (first, second) = (self.touch(first), self.touch(second));
            Some((Pattern::of(kind(first)?, kind(remote)?, kind(second)?)?, first, second))
        });
        let (pattern, first, second) = pair?;
        let other = &self.blocks.effects[remote.effect as usize];
        let neither = self.refutes(local, other) && self.refutes(other, local);
        (neither || self.is_overspent(pattern, local, remote)).then(|| instance(pattern, first, remote, second))
    }

    /// Whether a condition holds of three given accesses.
    fn holds_of(&self, suspects: [EventIndex; 3]) -> Option<Instance> {
        let [first, remote, second] = suspects.map(|index| self.touches_at(index));
        for remote in remote {
            let on_cell = |touches: &'b [Touch]| touches.iter().find(|touch| touch.cell == remote.cell);
            let (Some(first), Some(second)) = (on_cell(first), on_cell(second)) else { continue };
            let is_shared = self.blocks.cells[remote.cell.index()].kind == Cellular::Shared;
            if !is_shared || first.block != second.block || first.block == remote.block {
                continue;
            }
            let (Some(one), Some(other), Some(two)) = (kind(first), kind(remote), kind(second)) else { continue };
            let Some(pattern) = Pattern::of(one, other, two) else { continue };
            let contradicts = |(_, place): &(u32, u32)| {
                let touch = self.touch(*place);
                (touch.event, touch.cell) == (second.event, second.cell)
            };
            let is_torn = other.writes() && two.reads() && self.blocks.torn.iter().any(contradicts);
            let pattern_if_torn = if one.writes() { Pattern::Wwr } else { Pattern::Rwr };
            if is_torn {
                return Some(instance(pattern_if_torn, first, remote, second));
            }
            let effects = [first.effect, remote.effect].map(|effect| &self.blocks.effects[effect as usize]);
            let neither = self.refutes(effects[0], effects[1]) && self.refutes(effects[1], effects[0]);
            if neither || self.is_overspent(pattern, effects[0], remote) {
                return Some(instance(pattern, first, remote, second));
            }
        }
        None
    }

    fn touches_at(&self, index: EventIndex) -> &'b [Touch] {
        let touches = &self.blocks.touches;
        let from = touches.partition_point(|touch| u64::from(touch.event) < index.0);
        let to = touches.partition_point(|touch| u64::from(touch.event) <= index.0);
        &touches[from..to]
    }

    fn last_touch(&self, effect: u32) -> u32 {
        let (_, to) = self.blocks.effects[effect as usize].touches;
        self.blocks.by_effect[to as usize - 1]
    }

    fn touch(&self, place: u32) -> &'b Touch {
        &self.blocks.touches[place as usize]
    }
}

/// See [`Conditions::overspent`].
fn overspent(blocks: &Blocks) -> FxHashSet<(Cell, u64)> {
    let mut used: FxHashMap<(Cell, u64), usize> = FxHashMap::default();
    let mut made: FxHashMap<(Cell, Option<u64>), usize> = FxHashMap::default();
    for effect in &blocks.effects {
        let Some(leave) = effect.leave else { continue };
        if let Some(find) = effect.find.and_then(Content::known)
            && leave.differs(Content::Known(find))
        {
            *used.entry((effect.cell, find)).or_default() += 1;
        }
        if effect.find != Some(leave) {
            *made.entry((effect.cell, leave.known())).or_default() += 1;
        }
    }
    let is_overspent = |&(&(cell, value), &used): &(&(Cell, u64), &usize)| {
        let facts = &blocks.cells[cell.index()];
        let count = |value| made.get(&(cell, value)).copied().unwrap_or(0);
        let made = count(Some(value)) + count(None) + usize::from(may_be(facts.initial, value));
        used + usize::from(facts.last == Some(Content::Known(value))) > made
    };
    used.iter().filter(is_overspent).map(|(key, _)| *key).collect()
}

/// See [`Conditions::complements`].
fn complements(blocks: &Blocks) -> [Vec<Option<u32>>; 2] {
    let mut all = [vec![None; blocks.by_effect.len()], vec![None; blocks.by_effect.len()]];
    for effect in &blocks.effects {
        let range = effect.touches.0 as usize..effect.touches.1 as usize;
        let [before, after] = &mut all;
        note_complements(blocks, before, range.clone());
        note_complements(blocks, after, range.rev());
    }
    all
}

fn note_complements(blocks: &Blocks, all: &mut [Option<u32>], order: impl Iterator<Item = usize>) {
    let (mut read, mut write) = (None, None);
    for at in order {
        let place = blocks.by_effect[at];
        let touch = &blocks.touches[place as usize];
        all[at] = match (touch.read, touch.write) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => write,
            (None, _) => read,
        };
        read = touch.read.map_or(read, |_| Some(place));
        write = touch.write.map_or(write, |_| Some(place));
    }
}

fn may_be(content: Content, value: u64) -> bool {
    !content.differs(Content::Known(value))
}

fn kind(touch: &Touch) -> Option<AccessKind> {
    match (touch.read, touch.write) {
        (Some(_), Some(_)) => Some(AccessKind::ReadWrite),
        (Some(_), None) => Some(AccessKind::Read),
        (None, Some(_)) => Some(AccessKind::Write),
        (None, None) => None,
    }
}

fn instance(pattern: Pattern, first: &Touch, remote: &Touch, second: &Touch) -> Instance {
    Instance { pattern, events: [first, remote, second].map(|touch| EventIndex(u64::from(touch.event))) }
}
