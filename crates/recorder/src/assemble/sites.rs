//! Instructions as places in the source.
//!
//! A record's `pc` is where its call returns to, so the call itself is just before. Of inlined
//! functions the innermost that the user wrote counts: a line of `<atomic>` or `<vector>` helps nobody. Where such
//! a function was not inlined, the place counts from which the user's code called it.

use crate::symbolize::{Frame, Symbolizer};
use interloper_trace::{Site, SiteId, StringId, TableFull, Tables};
use rustc_hash::FxHashMap;

/// A function, as far as regions care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: StringId,
    /// It comes with the compiler or the system.
    pub(super) is_system: bool,
}

/// Remembers what symbols said.
#[derive(Debug)]
pub(super) struct Sites {
    /// The site, and whether it is in what the user wrote.
    sites: FxHashMap<u64, (SiteId, bool)>,
    functions: FxHashMap<u64, Function>,
}

impl Sites {
    pub(super) fn new() -> Self {
        Sites { sites: FxHashMap::default(), functions: FxHashMap::default() }
    }

    /// A module came: what had no meaning may have one now.
    pub(super) fn forget(&mut self) {
        self.sites.clear();
        self.functions.clear();
    }

    /// The place of the call that returns to `pc`.
    pub(super) fn site(
        &mut self,
        pc: u64,
        symbols: &mut impl Symbolizer,
        tables: &mut Tables,
    ) -> Result<SiteId, TableFull> {
        self.place(pc, symbols, tables).map(|(site, _)| site)
    }

    /// The same, and whether the user wrote what is there.
    fn place(
        &mut self,
        pc: u64,
        symbols: &mut impl Symbolizer,
        tables: &mut Tables,
    ) -> Result<(SiteId, bool), TableFull> {
        if pc == 0 {
            return Ok((SiteId::UNKNOWN, false));
        }
        if let Some(&place) = self.sites.get(&pc) {
            return Ok(place);
        }
        let frames = symbols.frames(pc - 1);
        let users = frames.iter().find(|frame| is_users(frame));
        let site = match users.or(frames.first()) {
            Some(frame) => enter(frame, tables)?,
            None => SiteId::UNKNOWN,
        };
        let place = (site, users.is_some());
        self.sites.insert(pc, place);
        Ok(place)
    }

    /// The place of the call that returns to `pc`, as the user sees it: if that is in a function that comes with
    /// the compiler, the place that it was called from, and so on. `calls` are the functions the thread is in,
    /// the innermost first: an address in each, and where its call returns to.
    pub(super) fn users_site(
        &mut self,
        pc: u64,
        calls: impl Iterator<Item = (u64, u64)>,
        symbols: &mut impl Symbolizer,
        tables: &mut Tables,
    ) -> Result<SiteId, TableFull> {
        let (own, is_users) = self.place(pc, symbols, tables)?;
        if is_users || pc == 0 {
            return Ok(own);
        }
        let mut at = pc;
        for (function, call) in calls {
            // Code that does not say when it is entered has no frame: then nobody knows who called it.
            let here = self.function(at, symbols, tables)?;
            if !here.is_system || here != self.function(function, symbols, tables)? || call == 0 {
                break;
            }
            let (site, is_users) = self.place(call, symbols, tables)?;
            if is_users {
                return Ok(site);
            }
            at = call;
        }
        Ok(own)
    }

    /// The outermost function that the user wrote, of those inlined where the call is that returns to `pc`.
    pub(super) fn inlined_function(
        &mut self,
        pc: u64,
        symbols: &mut impl Symbolizer,
        tables: &mut Tables,
    ) -> Result<Option<StringId>, TableFull> {
        let frames = symbols.frames(pc.saturating_sub(1));
        let outermost = frames.iter().rev().find(|frame| is_users(frame));
        outermost.and_then(|frame| frame.function.as_deref()).map(|name| tables.strings.intern(name)).transpose()
    }

    /// The function around a `pc`.
    pub(super) fn function(
        &mut self,
        pc: u64,
        symbols: &mut impl Symbolizer,
        tables: &mut Tables,
    ) -> Result<Function, TableFull> {
        if let Some(&function) = self.functions.get(&pc) {
            return Ok(function);
        }
        // Not inlined into another: that is what was entered.
        let frame = symbols.frames(pc.saturating_sub(1)).pop().unwrap_or_default();
        let name = frame.function.clone().unwrap_or_else(|| format!("{pc:#x}"));
        let is_system = frame.file.as_deref().is_some_and(is_system_file);
        let function = Function { name: tables.strings.intern(&name)?, is_system };
        self.functions.insert(pc, function);
        Ok(function)
    }
}

/// `function:line` of the first call among these that the user wrote.
pub(super) fn allocated_at(calls: [u64; 3], symbols: &mut impl Symbolizer) -> Option<String> {
    let mut innermost = None;
    for call in calls.into_iter().filter(|call| *call != 0) {
        for frame in symbols.frames(call - 1) {
            let Some(function) = &frame.function else { continue };
            let text = match frame.line {
                Some(line) => format!("{function}:{line}"),
                None => function.clone(),
            };
            if is_users(&frame) {
                return Some(text);
            }
            innermost.get_or_insert(text);
        }
    }
    innermost
}

fn enter(frame: &Frame, tables: &mut Tables) -> Result<SiteId, TableFull> {
    let mut string = |text: &Option<String>| text.as_deref().map(|text| tables.strings.intern(text)).transpose();
    let site = Site { file: string(&frame.file)?, function: string(&frame.function)?, line: frame.line.map(i64::from) };
    tables.intern_site(site)
}

fn is_users(frame: &Frame) -> bool {
    frame.file.as_deref().is_some_and(|file| !is_system_file(file))
}

fn is_system_file(file: &str) -> bool {
    const SYSTEM: [&str; 4] = ["/usr/include/", "/usr/lib/gcc/", "/usr/lib/llvm", "/usr/local/include/"];
    SYSTEM.iter().any(|folder| file.starts_with(folder))
}
