//! What a run was, apart from its events: its schedule, what was shared, what there is to tell.

use crate::hot::HotSet;
use crate::lineage::Lineage;
use crate::notice::{RunNotice, Wait};
use crate::skeleton::Skeleton;
use crate::symbolize::text_of;
use interloper_wire::{Birth, HotRange, Kind, Notice, PlanEntry, Record, SegmentEnd, Space};
use interloper_witness::Schedule;
use rustc_hash::FxHashMap;

/// Collects it, record by record.
#[derive(Debug)]
pub(crate) struct Survey {
    entries: Vec<PlanEntry>,
    /// A turn is told of when the next begins, so what the clock does between them is told before.
    advances: Vec<PlanEntry>,
    running: u32,
    threads: Lineage,
    births: Vec<Birth>,
    /// Threads in the order in which they were made, by number. That is what schedules count by; the numbers
    /// themselves are others where they come from an earlier run.
    made: FxHashMap<u64, u32>,
    hot: Vec<HotRange>,
    /// When there are so many ranges it is time to merge them.
    merge_at: usize,
    pub(crate) skeleton: Skeleton,
    pub(crate) notices: Vec<RunNotice>,
    /// The log lacks plain accesses from some point on.
    pub(crate) is_partial: bool,
    /// The first turn has begun.
    pub(crate) has_turn: bool,
    ended: bool,
    /// All directions were followed.
    pub(crate) is_directed: bool,
    /// Steps of all turns that ended.
    pub(crate) steps: u64,
}

impl Survey {
    pub(crate) fn new() -> Self {
        Survey {
            entries: Vec::new(),
            advances: Vec::new(),
            running: 0,
            threads: Lineage::default(),
            births: Vec::new(),
            made: FxHashMap::default(),
            hot: Vec::new(),
            merge_at: 1 << 16,
            skeleton: Skeleton::default(),
            notices: Vec::new(),
            is_partial: false,
            has_turn: false,
            ended: false,
            is_directed: false,
            steps: 0,
        }
    }

    /// Threads that are born like this are called so from the beginning.
    pub(crate) fn expect(&mut self, births: &[Birth]) {
        let mut births = births.to_vec();
        // Parents have lower numbers than their children.
        births.sort_unstable_by_key(|birth| birth.number);
        for Birth { parent, children_before, number } in births {
            self.threads.add(u64::from(number), u64::from(parent), u64::from(children_before));
        }
    }

    pub(crate) fn take(&mut self, record: &Record<'_>) {
        self.skeleton.take(record);
        let header = &record.header;
        match header.kind {
            Kind::Switch => {
                let end = SegmentEnd::from_code(header.aux as u8).unwrap_or(SegmentEnd::Preempted);
                // The first turn begins with a switch, too, but no turn ends with that.
                if self.has_turn {
                    self.turn(record.words[0], end);
                }
                self.has_turn = true;
                self.entries.append(&mut self.advances);
                let number = u32::try_from(header.address).unwrap_or(u32::MAX);
                self.running = self.made.get(&header.address).copied().unwrap_or(number);
            }
            Kind::End => {
                self.ended = true;
                let is_deadlock = matches!(self.notices.last(), Some(RunNotice::Deadlock { .. }));
                let end = if is_deadlock { SegmentEnd::Blocked } else { SegmentEnd::Finished };
                self.turn(record.words[0], end);
            }
            Kind::Advance => self.advances.push(PlanEntry::Advance { nanoseconds: record.words[0] }),
            Kind::Hot => {
                if let Some(space) = Space::from_code(header.arg) {
                    let [number, offset, len, _] = record.words;
                    self.hot.push(HotRange { space: space as u8, number, offset, len });
                    if self.hot.len() >= self.merge_at {
                        self.hot = HotSet::new(std::mem::take(&mut self.hot)).to_ranges();
                        self.merge_at = self.merge_at.max(2 * self.hot.len());
                    }
                }
            }
            Kind::Notice => self.notice(record),
            Kind::Thread => self.thread(header.address, record.words[0], record.words[1]),
            _ => {}
        }
    }

    /// The schedule that the run followed. If it `crashed`, the running thread had its turn to the end.
    pub(crate) fn schedule(&self, crashed: bool) -> Schedule {
        let mut entries = self.entries.clone();
        if crashed && !self.ended && self.has_turn {
            entries.push(PlanEntry::Run { thread: self.running, steps: u64::MAX, end: SegmentEnd::Finished });
        }
        Schedule::new(entries)
    }

    /// Whether the program said that it ends.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// What is shared.
    pub(crate) fn hot(&self) -> HotSet {
        HotSet::new(self.hot.clone())
    }

    /// What a thread is called.
    pub(crate) fn thread_name(&self, number: u32) -> String {
        self.threads.name(u64::from(number))
    }

    /// Which thread got which number; sorted.
    pub(crate) fn births(&self) -> Vec<Birth> {
        let mut births = self.births.clone();
        births.sort_unstable();
        births.dedup_by_key(|birth| (birth.parent, birth.children_before));
        births
    }

    fn thread(&mut self, number: u64, parent: u64, children_before: u64) {
        self.threads.add(number, parent, children_before);
        let made = u32::try_from(self.made.len()).unwrap_or(u32::MAX);
        self.made.entry(number).or_insert(made);
        let words = [number, parent, children_before].map(u32::try_from);
        if let [Ok(number @ 1..), Ok(parent), Ok(children_before)] = words {
            self.births.push(Birth { parent, children_before, number });
        }
    }

    fn turn(&mut self, steps: u64, end: SegmentEnd) {
        self.steps = self.steps.saturating_add(steps);
        self.entries.push(PlanEntry::Run { thread: self.running, steps, end });
    }

    fn notice(&mut self, record: &Record<'_>) {
        let [first, second, third, _] = record.words;
        let thread = |word: u64| self.threads.name(word);
        let text = text_of(record);
        let notice = match Notice::from_code(record.header.arg) {
            Some(Notice::Deadlock) => RunNotice::Deadlock { waits: Vec::new() },
            Some(Notice::Waits) => {
                let holder = third.checked_sub(1).map(thread);
                // Who waits for a thread to end waits for nobody else.
                let is_join = text == "thread";
                let object = if is_join { thread(second) } else { format!("{second:#x}") };
                let holder = holder.filter(|_| !is_join);
                let wait = Wait { thread: thread(first), object, holder, what: text };
                if let Some(RunNotice::Deadlock { waits }) = self.notices.last_mut() {
                    waits.push(wait);
                    return;
                }
                RunNotice::Deadlock { waits: vec![wait] }
            }
            Some(Notice::Diverged) => {
                RunNotice::Diverged { entry: first, steps: second, thread: thread(third), how: text }
            }
            Some(Notice::Uncontrolled) => RunNotice::Uncontrolled { thread: thread(first) },
            Some(Notice::NoLongerFull) => {
                self.is_partial = true;
                return;
            }
            Some(Notice::Directed) => {
                self.is_directed = true;
                return;
            }
            Some(Notice::Signal) => {
                RunNotice::Signal { signal: i32::try_from(first).unwrap_or(0), thread: thread(second) }
            }
            Some(Notice::Forked) => RunNotice::Forked { process: first },
            Some(Notice::Exec) => RunNotice::Exec,
            Some(Notice::NoShadow) => RunNotice::NoShadow,
            Some(Notice::OutOfMemory) => RunNotice::OutOfMemory,
            Some(Notice::Unsupported) => RunNotice::Unsupported { what: text },
            Some(Notice::Nondeterministic) => RunNotice::Nondeterministic { what: text },
            None => return,
        };
        self.notices.push(notice);
    }
}
