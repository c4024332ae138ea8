//! The names behind the ids of a trace.
//!
//! Tables only grow, and an entry never changes; a reader has entered whatever an event refers to
//! before it hands that event out.

use crate::ids::{
    BarrierId, ConditionId, LocationId, LockId, OnceId, SemaphoreId, SiteId, SiteKind, StringId, ThreadId,
};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The tables of one trace.
#[derive(Clone, Debug)]
pub struct Tables {
    /// All text.
    pub strings: Strings,
    threads: Interned<StringId>,
    locations: Locations,
    locks: Interned<StringId>,
    conditions: Interned<StringId>,
    semaphores: Interned<StringId>,
    barriers: Interned<StringId>,
    onces: Interned<StringId>,
    sites: Interned<Site>,
    meta: Vec<(String, String)>,
}

/// A place in memory that threads may share, named so that the name survives a re-run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The object: a global, an allocation, or whatever the trace calls it.
    pub object: StringId,
    /// Bytes from the start of the object.
    pub offset: u64,
}

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The file.
    pub file: Option<StringId>,
    /// The function.
    pub function: Option<StringId>,
    /// The line. Traces of others have negative ones too, so this is signed.
    pub line: Option<i64>,
}

impl Site {
    const NOWHERE: Site = Site { file: None, function: None, line: None };
}

/// The tables that hold nothing but names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameTable {
    Threads,
    Locks,
    Conditions,
    Semaphores,
    Barriers,
    Onces,
}

/// A table has as many entries as its ids can tell apart (2³², one less for locations, 2³¹ for sites, and 2²⁴ − 1 for
/// threads).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more different {0} in one trace than there can be")]
pub struct TableFull(pub &'static str);

macro_rules! name_tables {
    ($($intern:ident, $name:ident, $count:ident, $table:ident, $id:ident, $highest:expr;)*) => {$(
        #[doc = concat!("Enters a name into the table of ", stringify!($table), ".")]
        pub fn $intern(&mut self, name: &str) -> Result<$id, TableFull> {
            let name = self.strings.intern(name)?;
            self.$table.intern_up_to(name, $highest).map($id::new).ok_or(TableFull(stringify!($table)))
        }

        #[doc = concat!("The name of an entry of ", stringify!($table), ".")]
        pub fn $name(&self, id: $id) -> &str {
            self.$table.get(id.index()).map_or("?", |&name| self.strings.get(name))
        }

        #[doc = concat!("How many ", stringify!($table), " the trace names.")]
        pub fn $count(&self) -> usize {
            self.$table.len()
        }
    )*};
}

impl Tables {
    /// Empty tables.
    pub fn new() -> Self {
        let mut sites = Interned::default();
        sites.intern(Site::NOWHERE);
        Tables {
            strings: Strings::default(),
            threads: Interned::default(),
            locations: Locations::default(),
            locks: Interned::default(),
            conditions: Interned::default(),
            semaphores: Interned::default(),
            barriers: Interned::default(),
            onces: Interned::default(),
            sites,
            meta: Vec::new(),
        }
    }

    name_tables! {
        intern_thread, thread, thread_count, threads, ThreadId, ThreadId::HIGHEST.raw();
        intern_lock, lock, lock_count, locks, LockId, u32::MAX;
        intern_condition, condition, condition_count, conditions, ConditionId, u32::MAX;
        intern_semaphore, semaphore, semaphore_count, semaphores, SemaphoreId, u32::MAX;
        intern_barrier, barrier, barrier_count, barriers, BarrierId, u32::MAX;
        intern_once, once, once_count, onces, OnceId, u32::MAX;
    }

    /// Enters a location.
    pub fn intern_location(&mut self, object: &str, offset: u64) -> Result<LocationId, TableFull> {
        let object = self.strings.intern(object)?;
        self.intern_location_in(object, offset)
    }

    /// Enters a location of an object whose name is there already.
    pub fn intern_location_in(&mut self, object: StringId, offset: u64) -> Result<LocationId, TableFull> {
        self.locations.intern(Location { object, offset }).map(LocationId::new).ok_or(TableFull("locations"))
    }

    /// A location's object and offset.
    pub fn location(&self, id: LocationId) -> Option<Location> {
        self.locations.all.get(id.index()).copied()
    }

    /// A location as people read it: `object`, or `object+offset`.
    pub fn location_name(&self, id: LocationId) -> String {
        match self.location(id) {
            None => "?".to_owned(),
            Some(Location { object, offset: 0 }) => self.strings.get(object).to_owned(),
            Some(Location { object, offset }) => format!("{}+{offset}", self.strings.get(object)),
        }
    }

    /// How many locations the trace names.
    pub fn location_count(&self) -> usize {
        self.locations.all.len()
    }

    /// Enters a site; a line without file and function needs no entry if it is not too large.
    pub fn intern_site(&mut self, site: Site) -> Result<SiteId, TableFull> {
        if let Site { file: None, function: None, line: Some(line) } = site
            && let Some(bare) = u64::try_from(line).ok().and_then(SiteId::bare_line)
        {
            return Ok(bare);
        }
        let index = self.sites.intern(site).ok_or(TableFull("sites"))?;
        SiteId::table_entry(index as usize).ok_or(TableFull("sites"))
    }

    /// What a site id stands for.
    pub fn site(&self, id: SiteId) -> Site {
        match id.kind() {
            SiteKind::BareLine(line) => Site { line: Some(i64::from(line)), ..Site::NOWHERE },
            SiteKind::Table(index) => self.sites.get(index).copied().unwrap_or(Site::NOWHERE),
        }
    }

    /// How many entries the site table has; the first says nothing.
    pub fn site_count(&self) -> usize {
        self.sites.len()
    }

    /// All sites, in the order of their ids; the first says nothing.
    pub fn sites(&self) -> &[Site] {
        &self.sites.all
    }

    /// All locations, in the order of their ids.
    pub fn locations(&self) -> &[Location] {
        &self.locations.all
    }

    /// The names in one of the name tables, in the order of their ids.
    pub(crate) fn names(&self, table: NameTable) -> &[StringId] {
        match table {
            NameTable::Threads => &self.threads.all,
            NameTable::Locks => &self.locks.all,
            NameTable::Conditions => &self.conditions.all,
            NameTable::Semaphores => &self.semaphores.all,
            NameTable::Barriers => &self.barriers.all,
            NameTable::Onces => &self.onces.all,
        }
    }

    /// Enters a name as the next entry of a name table; false if that table has it already.
    pub(crate) fn enter_name(&mut self, table: NameTable, name: StringId) -> bool {
        match table {
            NameTable::Threads => self.threads.enter(name),
            NameTable::Locks => self.locks.enter(name),
            NameTable::Conditions => self.conditions.enter(name),
            NameTable::Semaphores => self.semaphores.enter(name),
            NameTable::Barriers => self.barriers.enter(name),
            NameTable::Onces => self.onces.enter(name),
        }
    }

    /// Enters a location as the next entry; false if it is there already.
    pub(crate) fn enter_location(&mut self, location: Location) -> bool {
        self.locations.enter(location)
    }

    /// Enters a site as the next entry, even one that would need none; false if it is there already.
    pub(crate) fn enter_site(&mut self, site: Site) -> bool {
        self.sites.enter(site)
    }

    /// Adds a fact about the trace as a whole: the command line, a build id.
    pub fn push_meta(&mut self, key: String, value: String) {
        self.meta.push((key, value));
    }

    /// The facts about the trace as a whole.
    pub fn meta(&self) -> &[(String, String)] {
        &self.meta
    }
}

impl Default for Tables {
    fn default() -> Self {
        Tables::new()
    }
}

/// Strings, each stored once.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    all: Vec<Box<str>>,
    ids: FxHashMap<Box<str>, StringId>,
}

impl Strings {
    /// The id of a string, entering it if it is new.
    pub fn intern(&mut self, text: &str) -> Result<StringId, TableFull> {
        if let Some(&id) = self.ids.get(text) {
            return Ok(id);
        }
        let id = StringId::from_index(self.all.len()).ok_or(TableFull("strings"))?;
        self.all.push(text.into());
        self.ids.insert(text.into(), id);
        Ok(id)
    }

    /// The string with this id.
    pub fn get(&self, id: StringId) -> &str {
        self.all.get(id.index()).map_or("?", |text| text)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// Values, each stored once, in the order they came.
#[derive(Clone, Debug)]
struct Interned<T> {
    all: Vec<T>,
    indices: FxHashMap<T, u32>,
}

impl<T: Copy + Eq + std::hash::Hash> Interned<T> {
    /// The index of a value, which is entered if it is new; `None` if there are too many.
    fn intern(&mut self, value: T) -> Option<u32> {
        self.intern_up_to(value, u32::MAX)
    }

    /// The same with a highest index.
    fn intern_up_to(&mut self, value: T, highest: u32) -> Option<u32> {
        match self.indices.entry(value) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(free) => {
                let index = u32::try_from(self.all.len()).ok().filter(|&index| index <= highest)?;
                self.all.push(value);
                Some(*free.insert(index))
            }
        }
    }

    /// Enters a value that is not there yet; false if it is.
    fn enter(&mut self, value: T) -> bool {
        let index = self.all.len();
        self.intern(value).is_some_and(|known| known as usize == index)
    }

    fn get(&self, index: usize) -> Option<&T> {
        self.all.get(index)
    }

    fn len(&self) -> usize {
        self.all.len()
    }
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Interned { all: Vec::new(), indices: FxHashMap::default() }
    }
}

/// Locations, each stored once, in the order they came.
///
/// Programs share buffers of which each byte is a location, and objects that are one: the index has
/// an entry for every stretch of an object that has a location, and an array only for those that have
/// more than one. So a byte of a buffer takes five bytes of index, and looking up its neighbour costs
/// next to nothing.
#[derive(Clone, Debug, Default)]
struct Locations {
    all: Vec<Location>,
    /// By object, and the number of the stretch in it.
    stretches: FxHashMap<(StringId, u64), Stretch>,
    /// The index of each location of a stretch, by its offset there.
    arrays: Vec<[u32; STRETCH]>,
}

/// What is known of a stretch.
#[derive(Clone, Copy, Debug)]
enum Stretch {
    /// It has one location, with this index and so far from the beginning of the stretch.
    One { index: u32, at: u8 },
    /// It has several; this is the number of their array.
    Many(u32),
}

/// How many bytes a stretch has. Fields have eight, mostly, so fewer would save nothing with those.
const STRETCH: usize = 32;

/// Where there is no location. The last index is not used, so that it can be told from one.
const NONE: u32 = u32::MAX;

impl Locations {
    /// The index of a location, which is entered if it is new; `None` if there are too many.
    fn intern(&mut self, location: Location) -> Option<u32> {
        let Location { object, offset } = location;
        let at = offset as usize % STRETCH;
        let next = u32::try_from(self.all.len()).ok().filter(|next| *next != NONE);
        match self.stretches.entry((object, offset / STRETCH as u64)) {
            Entry::Vacant(free) => {
                free.insert(Stretch::One { index: next?, at: at as u8 });
            }
            Entry::Occupied(mut stretch) => match *stretch.get() {
                Stretch::One { index, at: only } if usize::from(only) == at => return Some(index),
                Stretch::One { index, at: only } => {
                    let mut array = [NONE; STRETCH];
                    array[usize::from(only)] = index;
                    array[at] = next?;
                    // Fewer than locations, so its number fits.
                    stretch.insert(Stretch::Many(self.arrays.len() as u32));
                    self.arrays.push(array);
                }
                Stretch::Many(number) => {
                    let index = &mut self.arrays[number as usize][at];
                    if *index != NONE {
                        return Some(*index);
                    }
                    *index = next?;
                }
            },
        }
        self.all.push(location);
        next
    }

    /// Enters a location that is not there yet; false if it is.
    fn enter(&mut self, location: Location) -> bool {
        let index = self.all.len();
        self.intern(location).is_some_and(|known| known as usize == index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a map of all of them.
        #[test]
        fn each_location_is_entered_once(
            places in prop::collection::vec((0..3_u32, prop_oneof![0..70_u64, any::<u64>()]), 0..200),
        ) {
            let mut locations = Locations::default();
            let mut interned = Interned::default();
            for (object, offset) in places {
                let location = Location { object: StringId::new(object), offset };
                prop_assert_eq!(locations.intern(location), interned.intern(location));
                prop_assert!(!locations.enter(location));
            }
            prop_assert_eq!(&locations.all, &interned.all);
        }
    }
}
