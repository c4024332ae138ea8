//! Names of places in memory that survive another run, and the ids that stand for them.

use super::memory::{Block, Memory, Spot};
use super::sites;
use crate::symbolize::Symbolizer;
use interloper_trace::{
    BarrierId, ConditionId, LocationId, LockId, OnceId, SemaphoreId, StringId, TableFull, Tables, ThreadId,
};
use interloper_wire::BLOCK_BITS;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What has been named.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Static memory by address.
    statics: FxHashMap<u64, (StringId, u64)>,
    /// The stacks' lives by thread and number.
    stacks: FxHashMap<(u32, u32), StringId>,
    /// Blocks by their number.
    blocks: FxHashMap<u64, StringId>,
    /// The one of them that was asked for last.
    last_block: Option<(u64, StringId)>,
    /// Which address a name of static memory was given to. Files may have variables of the same name.
    given: FxHashMap<(String, u64), u64>,
    modules: Vec<Module>,
    /// Locations that were accessed lately: most are accessed again and again.
    recent: Vec<Recent>,
    locks: FxHashMap<Spot, (LockId, StringId)>,
    conditions: FxHashMap<Spot, ConditionId>,
    semaphores: FxHashMap<Spot, SemaphoreId>,
    barriers: FxHashMap<Spot, BarrierId>,
    onces: FxHashMap<Spot, OnceId>,
}

#[derive(Clone, Copy, Debug)]
struct Recent {
    address: u64,
    /// How often memory had changed then; an address may be another place after.
    changes: u64,
    location: LocationId,
}

/// A megabyte and a half: large arrays that are scanned again and again find their place in it.
const RECENT: usize = 1 << 16;

/// Neighbours stand beside each other, so that a scan of memory is one of this table, too.
fn recent_slot(address: u64) -> usize {
    let (cell, byte) = (address >> 3, address & 7);
    (cell ^ cell >> 16 ^ byte << 13) as usize % RECENT
}

#[derive(Debug)]
struct Module {
    name: String,
    bias: u64,
    range: Range<u64>,
}

/// What names are made from.
pub(super) struct Naming<'a, S> {
    pub(super) memory: &'a mut Memory,
    pub(super) symbols: &'a mut S,
    pub(super) tables: &'a mut Tables,
    pub(super) thread_name: &'a dyn Fn(u32) -> Option<ThreadId>,
}

macro_rules! sync_objects {
    ($($method:ident, $map:ident, $id:ident, $intern:ident;)*) => {$(
        pub(super) fn $method<S: Symbolizer>(
            &mut self,
            address: u64,
            naming: &mut Naming<'_, S>,
        ) -> Result<$id, TableFull> {
            let spot = naming.memory.touch(address);
            if let Some(&id) = self.$map.get(&spot) {
                return Ok(id);
            }
            let name = self.text(address, naming)?;
            let id = naming.tables.$intern(&name)?;
            self.$map.insert(spot, id);
            Ok(id)
        }
    )*};
}

impl Names {
    /// The location that begins at an address.
    pub(super) fn location<S: Symbolizer>(
        &mut self,
        address: u64,
        naming: &mut Naming<'_, S>,
    ) -> Result<LocationId, TableFull> {
        let slot = recent_slot(address);
        let changes = naming.memory.changes();
        if let Some(&Recent { address: known, changes: then, location }) = self.recent.get(slot)
            && (known, then) == (address, changes)
        {
            return Ok(location);
        }
        let (object, offset) = self.object(address, naming)?;
        let location = naming.tables.intern_location_in(object, offset)?;
        if self.recent.is_empty() {
            self.recent = vec![Recent { address: u64::MAX, changes: 0, location }; RECENT];
        }
        self.recent[slot] = Recent { address, changes, location };
        Ok(location)
    }

    /// The lock at an address, and its name.
    pub(super) fn lock<S: Symbolizer>(
        &mut self,
        address: u64,
        naming: &mut Naming<'_, S>,
    ) -> Result<(LockId, StringId), TableFull> {
        let spot = naming.memory.touch(address);
        if let Some(&entry) = self.locks.get(&spot) {
            return Ok(entry);
        }
        let name = self.text(address, naming)?;
        let entry = (naming.tables.intern_lock(&name)?, naming.tables.strings.intern(&name)?);
        self.locks.insert(spot, entry);
        Ok(entry)
    }

    sync_objects! {
        condition, conditions, ConditionId, intern_condition;
        semaphore, semaphores, SemaphoreId, intern_semaphore;
        barrier, barriers, BarrierId, intern_barrier;
        once, onces, OnceId, intern_once;
    }

    /// The name of a block.
    pub(super) fn block<S: Symbolizer>(
        &mut self,
        block: Block,
        naming: &mut Naming<'_, S>,
    ) -> Result<StringId, TableFull> {
        if let Some((_, name)) = self.last_block.filter(|(number, _)| *number == block.number) {
            return Ok(name);
        }
        if let Some(&name) = self.blocks.get(&block.number) {
            self.last_block = Some((block.number, name));
            return Ok(name);
        }
        let (thread, count) = (block.number >> BLOCK_BITS, block.number & ((1 << BLOCK_BITS) - 1));
        let thread = u32::try_from(thread).ok().and_then(naming.thread_name);
        let thread = thread.map_or("?", |id| naming.tables.thread(id));
        let at = sites::allocated_at(block.calls, naming.symbols).map_or(String::new(), |at| format!("@{at}"));
        let name = format!("heap#{thread}/{count}{at}");
        let name = naming.tables.strings.intern(&name)?;
        self.blocks.insert(block.number, name);
        Ok(name)
    }

    /// What is at an address, as people read it.
    pub(super) fn text<S: Symbolizer>(
        &mut self,
        address: u64,
        naming: &mut Naming<'_, S>,
    ) -> Result<String, TableFull> {
        let (object, offset) = self.object(address, naming)?;
        let object = naming.tables.strings.get(object);
        Ok(if offset == 0 { object.to_owned() } else { format!("{object}+{offset}") })
    }

    /// A module is loaded.
    pub(super) fn add_module(&mut self, path: &str, bias: u64, range: Range<u64>) {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        self.modules.push(Module { name, bias, range });
    }

    fn object<S: Symbolizer>(
        &mut self,
        address: u64,
        naming: &mut Naming<'_, S>,
    ) -> Result<(StringId, u64), TableFull> {
        match naming.memory.touch(address) {
            Spot::Heap { offset, .. } => {
                let block = naming.memory.block_at(address).unwrap_or_default();
                Ok((self.block(block, naming)?, offset))
            }
            Spot::Stack { thread, life, offset } => {
                if let Some(&name) = self.stacks.get(&(thread, life)) {
                    return Ok((name, offset));
                }
                let owner = (naming.thread_name)(thread).map_or("?", |id| naming.tables.thread(id));
                let name = format!("stack:{owner}/{life}");
                let name = naming.tables.strings.intern(&name)?;
                self.stacks.insert((thread, life), name);
                Ok((name, offset))
            }
            Spot::Static(address) => {
                if let Some(&named) = self.statics.get(&address) {
                    return Ok(named);
                }
                let (name, offset) = self.name_static(address, naming.symbols);
                let named = (naming.tables.strings.intern(&name)?, offset);
                self.statics.insert(address, named);
                Ok(named)
            }
        }
    }

    fn name_static(&mut self, address: u64, symbols: &mut impl Symbolizer) -> (String, u64) {
        let module = self.modules.iter().rev().find(|module| module.range.contains(&address));
        let in_module = || module.map(|module| format!("{}+{:#x}", module.name, address.wrapping_sub(module.bias)));
        if let Some(variable) = symbols.variable(address) {
            let key = (variable.name.clone(), variable.offset);
            if *self.given.entry(key).or_insert(address) == address {
                return (variable.name, variable.offset);
            }
            let place = in_module().unwrap_or_else(|| format!("{address:#x}"));
            return (format!("{}@{place}", variable.name), 0);
        }
        match in_module() {
            Some(name) => (name, 0),
            None => ("memory".to_owned(), address),
        }
    }
}
