//! From records to events.
//!
//! What is claimed: one pass, constant time a record but for look-ups; the events are well-formed
//! whatever the records are, and those of a faithful runtime all arrive. The same behaviour gives the
//! same events however the runtime came to log it: branches are counted up to the next event, and
//! functions in which nothing happened are left out, so that a log of all accesses of which only the
//! hot ones are taken, and a log of the hot ones, become the same trace.
//!
//! Regions are made here: critical sections from the locks, activations from the functions, cut at
//! waits, and start routines iteration by iteration (see [`threads::Loops`] for what that misses).
//!
//! This module **never** does IO: events are collected, and whoever feeds records takes them away.

mod access;
mod emit;
mod guard;
mod memory;
mod names;
mod sites;
mod sync;
#[cfg(test)]
mod tests;
mod threads;

use crate::hot::HotSet;
use crate::identity::{EventIdentity, Identities};
use crate::lineage::Lineage;
use crate::symbolize::{Symbolizer, text_of};
use guard::Guard;
use interloper_trace::{Event, Op, Region, RegionSource, StringId, TableFull, Tables, ThreadId, Value};
use interloper_wire::{Kind, Notice, Record, RecordHeader, SegmentEnd};
use memory::{Block, Memory};
use names::Names;
use rustc_hash::{FxHashMap, FxHashSet};
use sites::Sites;
use std::path::Path;
use threads::{Loops, Thread};

/// What makes a region, besides what the program says itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionOptions {
    /// Functions each activation of which is meant to be atomic, by name with or without parameters.
    pub atomic_functions: FxHashSet<String>,
}

/// Makes events of records.
pub(crate) struct Assembler<S> {
    symbols: S,
    options: RegionOptions,
    /// If given, only accesses of these are taken.
    only: Option<HotSet>,
    /// Pieces of one access of which it is not known yet whether one is hot.
    pieces: Vec<(RecordHeader, [u64; 4])>,

    tables: Tables,
    events: Vec<Event>,
    /// What they go by in another run, if that is asked for.
    identities: Option<Identities>,
    guard: Guard,
    memory: Memory,
    names: Names,
    sites: Sites,
    loops: Loops,
    texts: FxHashMap<u64, StringId>,

    threads: Vec<Thread>,
    lineage: Lineage,
    by_number: FxHashMap<u32, usize>,
    current: usize,
    /// Records that nothing could be made of.
    dropped: u64,
    /// What deadlocked threads wait for, one after the other.
    awaited: Vec<String>,
}

impl<S: Symbolizer> Assembler<S> {
    /// Before the first record. If `identify`, it is kept what each event goes by.
    pub(crate) fn new(symbols: S, options: RegionOptions, only: Option<HotSet>, identify: bool) -> Self {
        Assembler {
            symbols,
            options,
            only,
            pieces: Vec::new(),
            tables: Tables::new(),
            events: Vec::new(),
            identities: identify.then(Identities::default),
            guard: Guard::default(),
            memory: Memory::default(),
            names: Names::default(),
            sites: Sites::new(),
            loops: Loops::default(),
            texts: FxHashMap::default(),
            threads: Vec::new(),
            lineage: Lineage::default(),
            by_number: FxHashMap::default(),
            current: 0,
            dropped: 0,
            awaited: Vec::new(),
        }
    }

    /// Takes a record. An error is final.
    pub(crate) fn take(&mut self, record: &Record<'_>) -> Result<(), TableFull> {
        let (kind, words) = (record.header.kind, record.words);
        if self.threads.is_empty() {
            self.current = self.thread_of(0)?;
        }
        match kind {
            // Of accesses it depends on their pieces.
            Kind::Read | Kind::Write | Kind::AtomicRead | Kind::AtomicWrite | Kind::ReadModifyWrite => {}
            Kind::Allocate if !self.is_block_wanted(words[1]) => {}
            Kind::Free if !self.is_block_wanted(words[0]) => {}
            _ => self.identify(&record.header),
        }
        let taken = self.take_as(kind, record);
        if let Some(identities) = &mut self.identities {
            identities.end_record();
        }
        taken
    }

    fn take_as(&mut self, kind: Kind, record: &Record<'_>) -> Result<(), TableFull> {
        let RecordHeader { arg, address, pc, .. } = record.header;
        let words = record.words;
        match kind {
            Kind::Read | Kind::Write | Kind::AtomicRead | Kind::AtomicWrite | Kind::ReadModifyWrite => {
                self.access(record)
            }
            Kind::Fence => {
                let order = access::order(record.header.aux as u8);
                self.act(kind, pc, Op::Fence(order)).map(drop)
            }
            Kind::Switch => {
                if let Some(thread) = self.threads.get_mut(self.current) {
                    thread.has_waited |= record.header.aux == SegmentEnd::Blocked as u16;
                }
                self.current = self.thread_of(number(address))?;
                Ok(())
            }
            Kind::Request
            | Kind::Acquire
            | Kind::TryFailed
            | Kind::Release
            | Kind::WaitBegin
            | Kind::WaitEnd
            | Kind::Signal
            | Kind::Broadcast
            | Kind::SemaphoreWait
            | Kind::SemaphorePost
            | Kind::BarrierArrive
            | Kind::BarrierLeave
            | Kind::OnceBegin
            | Kind::OnceEnd
            | Kind::OncePass => self.synchronise(record),
            Kind::HappensBefore => self.happens_before(record),
            Kind::HappensAfter => self.happens_after(record),
            Kind::Fork => {
                let child = self.thread_id(number(address))?;
                self.act(kind, pc, Op::Fork(child)).map(drop)
            }
            Kind::Join => {
                let child = self.thread_id(number(address))?;
                self.cut_and_act(kind, pc, Op::Join(child)).map(drop)
            }
            Kind::Start => self.act_first(pc, Op::Start).map(drop),
            Kind::Finish => self.finish_thread(pc),
            Kind::Thread => self.thread_begins(record),
            Kind::ThreadName => {
                let id = self.thread_id(number(address))?;
                let fact = format!("{} {}", self.tables.thread(id), text_of(record));
                self.tables.push_meta("thread-name".to_owned(), fact);
                Ok(())
            }
            Kind::Allocate => {
                let block = Block { len: words[0], number: words[1], calls: [pc, words[2], words[3]], is_freed: false };
                self.memory.allocate(address, block);
                if !self.is_block_wanted(block.number) {
                    return Ok(());
                }
                let object = self.naming(|names, naming| names.block(block, naming))?;
                self.act(kind, pc, Op::Allocate { object, size: words[0] }).map(drop)
            }
            Kind::Free => match self.memory.free(address, words[0]) {
                Some(block) if self.is_block_wanted(block.number) => {
                    let object = self.naming(|names, naming| names.block(block, naming))?;
                    self.act(kind, pc, Op::Free { object }).map(drop)
                }
                Some(_) => Ok(()),
                None => self.drop_record(),
            },
            Kind::StackDrop => {
                self.memory.drop_stack(address);
                Ok(())
            }
            Kind::Branch => {
                let thread = &mut self.threads[self.current];
                thread.branches = thread.branches.saturating_add(address);
                Ok(())
            }
            Kind::Enter => {
                self.threads[self.current].push_frame(pc, address);
                Ok(())
            }
            Kind::Exit => self.leave_function(pc),
            Kind::RegionBegin => {
                let region = self.announced_region(arg, address);
                self.act(kind, pc, Op::RegionBegin(region)).map(drop)
            }
            Kind::RegionEnd => {
                let region = self.announced_region(arg, address);
                self.act(kind, pc, Op::RegionEnd(region)).map(drop)
            }
            Kind::Stop => {
                self.cut();
                Ok(())
            }
            Kind::Input => {
                let channel = match self.texts.get(&address) {
                    Some(channel) => *channel,
                    None => self.tables.strings.intern("outside")?,
                };
                let size = u32::try_from(words[0]).unwrap_or(u32::MAX);
                let value = if size == 0 { Value::UNKNOWN } else { access::value(words[1], size) };
                self.act(kind, pc, Op::Input { channel, size, value }).map(drop)
            }
            Kind::Text => {
                let text = self.tables.strings.intern(&text_of(record))?;
                self.texts.insert(address, text);
                Ok(())
            }
            Kind::Module => {
                self.module_loaded(record);
                Ok(())
            }
            Kind::Notice => {
                if Notice::from_code(arg) == Some(Notice::Waits) {
                    let is_thread = record.text == b"thread";
                    let name = if is_thread {
                        self.lineage.name(words[1])
                    } else {
                        self.naming(|names, naming| names.text(words[1], naming))?
                    };
                    self.awaited.push(name);
                }
                Ok(())
            }
            Kind::Skip | Kind::Hot | Kind::Advance | Kind::End => Ok(()),
        }
    }

    /// The events since they were last taken away, and the names behind their ids.
    pub(crate) fn events(&self) -> (&[Event], &Tables) {
        (&self.events, &self.tables)
    }

    /// Takes the events away.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
    }

    /// Adds what is known about the files that the program was loaded from.
    pub(crate) fn push_build_ids(&mut self) {
        for (path, build_id) in self.symbols.build_ids() {
            self.tables.push_meta(format!("build-id {path}"), build_id);
        }
    }

    /// Adds a fact about the whole run.
    pub(crate) fn push_meta(&mut self, key: &str, value: String) {
        self.tables.push_meta(key.to_owned(), value);
    }

    /// How many records nothing could be made of.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What the threads of a deadlock wait for, in the order in which they were told.
    pub(crate) fn awaited(&self) -> &[String] {
        &self.awaited
    }

    /// The numbers that threads have in the program, by their ids.
    pub(crate) fn thread_numbers(&self) -> Vec<u32> {
        // Ids are given one after the other, as threads become known.
        debug_assert!(self.threads.iter().enumerate().all(|(index, thread)| thread.id.index() == index));
        self.threads.iter().map(|thread| thread.number).collect()
    }

    /// What each event goes by in another run.
    pub(crate) fn into_identities(self) -> Vec<Option<EventIdentity>> {
        self.identities.map_or_else(Vec::new, Identities::into_events)
    }

    /// A record is taken that every run logs which is about the same locations.
    fn identify(&mut self, header: &RecordHeader) {
        if let Some(identities) = &mut self.identities {
            identities.record(self.current, header);
        }
    }

    fn drop_record(&mut self) -> Result<(), TableFull> {
        self.dropped += 1;
        Ok(())
    }

    fn is_block_wanted(&self, number: u64) -> bool {
        self.only.as_ref().is_none_or(|only| only.has_block(number))
    }

    fn thread_begins(&mut self, record: &Record<'_>) -> Result<(), TableFull> {
        let [parent, children_before, top, end] = record.words;
        let child = number(record.header.address);
        self.lineage.add(u64::from(child), parent, children_before);
        self.thread_of(child)?;
        self.memory.add_stack(child, top, end);
        Ok(())
    }

    fn thread_id(&mut self, number: u32) -> Result<ThreadId, TableFull> {
        let index = self.thread_of(number)?;
        Ok(self.threads[index].id)
    }

    fn thread_of(&mut self, number: u32) -> Result<usize, TableFull> {
        match self.by_number.get(&number) {
            Some(index) => Ok(*index),
            None => self.add_thread(number, &self.lineage.name(u64::from(number))),
        }
    }

    fn add_thread(&mut self, number: u32, name: &str) -> Result<usize, TableFull> {
        let before = self.tables.thread_count();
        let mut id = self.tables.intern_thread(name)?;
        if self.tables.thread_count() == before {
            // Two of a lineage cannot be, but they must not be taken for one.
            id = self.tables.intern_thread(&format!("{name}#{number}"))?;
        }
        let index = self.threads.len();
        self.threads.push(Thread::new(number, id));
        self.by_number.insert(number, index);
        Ok(index)
    }

    fn announced_region(&mut self, source: u8, key: u64) -> Region {
        // Critical sections and activations are made here, and nowhere else.
        let source =
            if source == RegionSource::Inferred as u8 { RegionSource::Inferred } else { RegionSource::Annotated };
        Region { name: self.texts.get(&key).copied(), source }
    }

    fn module_loaded(&mut self, record: &Record<'_>) {
        let path = text_of(record);
        let [begin, end, ..] = record.words;
        self.symbols.add_module(Path::new(&path), record.header.address, begin..end);
        self.names.add_module(&path, record.header.address, begin..end);
        self.memory.clear(begin, end);
        self.sites.forget();
    }
}

fn number(address: u64) -> u32 {
    u32::try_from(address).unwrap_or(u32::MAX)
}
