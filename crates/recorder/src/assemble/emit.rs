//! Events with what belongs before them: the functions entered, the regions begun, the branches passed.

use super::Assembler;
use super::names::Naming;
use super::threads::{Frame, FrameRegion, Iteration, Thread};
use crate::symbolize::Symbolizer;
use interloper_trace::{Event, Op, Region, RegionSource, SiteId, StringId, TableFull};
use interloper_wire::Kind;
use rustc_hash::FxHashSet;

/// What an event is to the regions around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Something of its own.
    Own,
    /// A further part of the thread's last access.
    Further,
    /// Something during which nobody expects to be alone.
    Pause,
}

impl<S: Symbolizer> Assembler<S> {
    /// An event of the running thread; false if it is impossible, and nothing was made of it.
    pub(super) fn act(&mut self, kind: Kind, pc: u64, op: Op) -> Result<bool, TableFull> {
        self.act_as(Part::Own, kind, pc, op, None)
    }

    /// An event during which nobody expects to be alone: function regions end before it, and begin
    /// anew with the next.
    pub(super) fn cut_and_act(&mut self, kind: Kind, pc: u64, op: Op) -> Result<bool, TableFull> {
        self.act_as(Part::Pause, kind, pc, op, None)
    }

    /// An event before which the thread cannot have done anything: its first, or that after a wait.
    pub(super) fn act_first(&mut self, pc: u64, op: Op) -> Result<bool, TableFull> {
        let site = self.sites.site(pc, &mut self.symbols, &mut self.tables)?;
        let admitted = self.push(site, op);
        self.dropped += u64::from(!admitted);
        Ok(admitted)
    }

    /// An event of the running thread, with what belongs before it; a region that it ends, last.
    pub(super) fn act_as(
        &mut self,
        part: Part,
        kind: Kind,
        pc: u64,
        op: Op,
        ends: Option<Region>,
    ) -> Result<bool, TableFull> {
        let Thread { id, last, .. } = self.threads[self.current];
        if !self.guard.allows(id, &op) {
            self.dropped += 1;
            return Ok(false);
        }
        self.enter_functions()?;
        self.adopt_start_routine(pc)?;
        // One operation may be several records, of different kinds but from the same place.
        let is_same_call = last.is_some_and(|(last_kind, last_pc)| last_pc == pc && last_kind != kind);
        if part != Part::Further && !is_same_call {
            self.iterate(pc);
        }
        if part == Part::Pause {
            self.cut();
        } else {
            self.begin_regions();
        }
        let calls = self.threads[self.current].frames.iter().rev().map(|frame| (frame.pc, frame.call));
        let site = self.sites.users_site(pc, calls, &mut self.symbols, &mut self.tables)?;
        let branches = std::mem::take(&mut self.threads[self.current].branches);
        if branches > 0 {
            self.push(site, Op::Branch { count: u32::try_from(branches).unwrap_or(u32::MAX) });
        }
        if let Some(region) = ends {
            self.push(site, Op::RegionEnd(region));
        }
        self.threads[self.current].last = Some((kind, pc));
        self.threads[self.current].has_waited = false;
        Ok(self.push(site, op))
    }

    /// The running thread leaves the innermost function it entered.
    pub(super) fn leave_function(&mut self, pc: u64) -> Result<(), TableFull> {
        let thread = &mut self.threads[self.current];
        let had_event = thread.entered == thread.frames.len();
        let Some(frame) = thread.frames.pop() else { return self.drop_record() };
        if !had_event {
            return Ok(());
        }
        thread.entered -= 1;
        thread.users -= usize::from(frame.is_users);
        let index = thread.entered;
        let site = self.sites.site(pc, &mut self.symbols, &mut self.tables)?;
        self.end_region(index, &frame);
        self.push(site, Op::Exit);
        Ok(())
    }

    /// The running thread ends, in whatever functions it is.
    pub(super) fn finish_thread(&mut self, pc: u64) -> Result<(), TableFull> {
        let frames = std::mem::take(&mut self.threads[self.current].frames);
        for (index, frame) in frames.iter().enumerate().rev() {
            self.end_region(index, frame);
        }
        let thread = &mut self.threads[self.current];
        (thread.entered, thread.users) = (0, 0);
        self.act(Kind::Finish, pc, Op::Finish).map(drop)
    }

    /// Ends the function regions of the running thread; the outermost begins anew with its next event.
    pub(super) fn cut(&mut self) {
        while let Some(index) = self.threads[self.current].open.pop() {
            if let FrameRegion::Function { name } = self.threads[self.current].frames[index].region {
                self.push(SiteId::UNKNOWN, Op::RegionEnd(functions(name)));
            }
        }
    }

    /// Begins a region right after the event that was just made.
    pub(super) fn begin_region(&mut self, region: Region) {
        let site = self.events.last().map_or(SiteId::UNKNOWN, |event| event.site);
        self.push(site, Op::RegionBegin(region));
    }

    /// Adds an event if it is possible after those before.
    pub(super) fn push(&mut self, site: SiteId, op: Op) -> bool {
        let thread = self.threads[self.current].id;
        let admitted = self.guard.admit(thread, &op);
        if admitted {
            self.events.push(Event { thread, site, op });
            if let Some(identities) = &mut self.identities {
                identities.event(&op);
            }
        }
        admitted
    }

    /// The parts that names are made from, and the names.
    pub(super) fn naming<T>(
        &mut self,
        look: impl FnOnce(&mut super::Names, &mut Naming<'_, S>) -> Result<T, TableFull>,
    ) -> Result<T, TableFull> {
        let (by_number, threads) = (&self.by_number, &self.threads);
        let thread_name = |number: u32| by_number.get(&number).map(|index| threads[*index].id);
        let mut naming = Naming {
            memory: &mut self.memory,
            symbols: &mut self.symbols,
            tables: &mut self.tables,
            thread_name: &thread_name,
        };
        look(&mut self.names, &mut naming)
    }

    /// Something happens, so the functions it happens in are worth an event.
    fn enter_functions(&mut self) -> Result<(), TableFull> {
        while self.threads[self.current].entered < self.threads[self.current].frames.len() {
            let thread = &self.threads[self.current];
            let Frame { pc, call, .. } = thread.frames[thread.entered];
            let function = self.sites.function(pc, &mut self.symbols, &mut self.tables)?;
            let site = self.sites.site(call, &mut self.symbols, &mut self.tables)?;
            self.iterate(call);
            self.begin_regions();
            self.push(site, Op::Enter { function: function.name });

            let name = self.tables.strings.get(function.name);
            let is_listed = is_listed(name, &self.options.atomic_functions);
            let thread = &mut self.threads[self.current];
            let is_main = thread.number == 0 && is_called(name, "main");
            let is_start = thread.starts_with(function);
            let frame = &mut thread.frames[thread.entered];
            frame.region = if is_listed {
                FrameRegion::Annotated { name: function.name }
            } else if is_main || function.is_system {
                FrameRegion::None
            } else {
                FrameRegion::Function { name: function.name }
            };
            let is_region = matches!(frame.region, FrameRegion::Function { .. });
            frame.is_users = !function.is_system;
            frame.iteration = is_start.then(|| Iteration::new(function.name));
            let index = thread.entered;
            thread.users += usize::from(!function.is_system);
            thread.entered += 1;
            if is_region {
                thread.outermost.get_or_insert(index);
                self.begin_function(index, function.name);
            } else if is_listed {
                let region = Region { name: Some(function.name), source: RegionSource::Annotated };
                self.push(site, Op::RegionBegin(region));
            }
        }
        Ok(())
    }

    /// Something happens at `pc`, in a function of the system into which the thread's start routine was inlined, as
    /// that of `std::thread` is: from here on it is the start routine.
    fn adopt_start_routine(&mut self, pc: u64) -> Result<(), TableFull> {
        let thread = &self.threads[self.current];
        let Some(index) = thread.entered.checked_sub(1) else { return Ok(()) };
        let frame = &thread.frames[index];
        if thread.number == 0 || thread.users > 0 || frame.region != FrameRegion::None || pc == 0 {
            return Ok(());
        }
        let (inside, around) = (
            self.sites.function(pc, &mut self.symbols, &mut self.tables)?,
            self.sites.function(frame.pc, &mut self.symbols, &mut self.tables)?,
        );
        if inside != around {
            return Ok(());
        }
        let Some(name) = self.sites.inlined_function(pc, &mut self.symbols, &mut self.tables)? else { return Ok(()) };
        let thread = &mut self.threads[self.current];
        thread.users += 1;
        thread.outermost.get_or_insert(index);
        let frame = &mut thread.frames[index];
        frame.region = FrameRegion::Function { name };
        frame.is_users = true;
        frame.iteration = Some(Iteration::new(name));
        Ok(())
    }

    /// Something happens at `pc`: if that is a start routine's, another iteration may begin.
    fn iterate(&mut self, pc: u64) {
        const FAR: u64 = 1 << 24;
        let thread = &mut self.threads[self.current];
        let Some(frame) = thread.entered.checked_sub(1).and_then(|last| thread.frames.get_mut(last)) else { return };
        let Some(iteration) = &mut frame.iteration else { return };
        // A call from a library on the function's behalf says nothing about its loops.
        if pc != 0 && pc.abs_diff(frame.pc) < FAR && self.loops.begins_iteration(iteration, pc) {
            self.cut();
        }
    }

    /// Begins the region of the outermost function that the thread is in, if it has been cut.
    fn begin_regions(&mut self) {
        let thread = &self.threads[self.current];
        if let Some(index) = thread.outermost
            && thread.open.is_empty()
            && let FrameRegion::Function { name } = thread.frames[index].region
        {
            self.begin_function(index, name);
        }
    }

    fn begin_function(&mut self, index: usize, name: StringId) {
        if self.push(SiteId::UNKNOWN, Op::RegionBegin(functions(name))) {
            self.threads[self.current].open.push(index);
        }
    }

    /// The function of a frame that is no more is left.
    fn end_region(&mut self, index: usize, frame: &Frame) {
        let thread = &mut self.threads[self.current];
        let is_open = thread.open.pop_if(|open| *open == index).is_some();
        thread.outermost = thread.outermost.filter(|outermost| *outermost != index);
        let region = match frame.region {
            FrameRegion::Function { name } if is_open => functions(name),
            FrameRegion::Annotated { name } => Region { name: Some(name), source: RegionSource::Annotated },
            FrameRegion::Function { .. } | FrameRegion::None => return,
        };
        self.push(SiteId::UNKNOWN, Op::RegionEnd(region));
    }
}

fn functions(name: StringId) -> Region {
    Region { name: Some(name), source: RegionSource::Functions }
}

/// Whether a function has this name, whatever its parameters.
fn is_called(function: &str, name: &str) -> bool {
    function.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
}

fn is_listed(function: &str, names: &FxHashSet<String>) -> bool {
    !names.is_empty()
        && (names.contains(function)
            || function.split_once('(').is_some_and(|(name, _)| !name.is_empty() && names.contains(name)))
}
