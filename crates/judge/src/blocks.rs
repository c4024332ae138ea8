//! From events to blocks: what each does to the cells that threads share.
//!
//! A block is an outermost region, or a single access outside of regions (all its pieces, if it is recorded as
//! several). Whatever else a thread does is of no account: serial orders of blocks are asked for here, and
//! neither locks nor fork and join restrict those.
//!
//! In a serial order nothing comes between the accesses of a block. So of a block and a cell two things
//! matter: the content that the block must *find*, if it reads before it writes, and the content that it
//! *leaves*, if it writes. A block whose own accesses contradict each other (it reads something else than it
//! has just read or written) is *torn*: no serial order has it.
//!
//! # Values that are not known
//!
//! The observed order is itself an execution, so most of what was not recorded can be told from it: a read
//! returned what was written last. What remains are symbols, one for each write of unknown value and one for
//! the initial content of each cell, and reads that returned one. A symbol stands for one value, nobody knows
//! which. An answer must not depend on it: the exact check looks both at what is possible if symbols may equal
//! anything, and at what is certain if they equal nothing but themselves.
//!
//! A read that did *not* return what was written last shows that the recording is not complete: the kernel, or
//! code that was not compiled for recording, has written there. Nothing can be concluded from such a cell
//! ([`Cellular::Unexplained`]). That is for recorded programs; a trace of which all is known
//! ([`InitialValues::Zero`]) is taken at its word.

use crate::Scope;
use crate::cells::{Cell, CellEffect, Cells};
use interloper_model::{InitialValues, RegionEdge, Regions};
use interloper_trace::{Event, Op, Tables, ThreadId};

/// The content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Content {
    Known(u64),
    /// A symbol.
    Unknown(u32),
}

impl Content {
    /// Whether the two are certainly different.
    pub(crate) fn differs(self, other: Content) -> bool {
        matches!((self, other), (Content::Known(one), Content::Known(other)) if one != other)
    }

    pub(crate) fn known(self) -> Option<u64> {
        match self {
            Content::Known(value) => Some(value),
            Content::Unknown(_) => None,
        }
    }
}

/// A block, by its number. Numbers follow the order of first accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BlockId(pub(crate) u32);

impl BlockId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Whose, by its place in [`Blocks::threads`].
    pub(crate) thread: u32,
    /// How many blocks of that thread come before it.
    pub(crate) rank: u32,
    /// Its last access.
    pub(crate) last: u32,
    /// What it does, by cell: a range of [`Blocks::effects`].
    pub(crate) effects: (u32, u32),
}

/// What a block does to a cell.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) block: BlockId,
    pub(crate) cell: Cell,
    /// What it must find.
    pub(crate) find: Option<Content>,
    /// What it leaves.
    pub(crate) leave: Option<Content>,
    /// Its touches: a range of [`Blocks::by_effect`].
    pub(crate) touches: (u32, u32),
}

/// One access, and one cell of it.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) event: u32,
    pub(crate) block: BlockId,
    pub(crate) cell: Cell,
    pub(crate) read: Option<Content>,
    pub(crate) write: Option<Content>,
    /// Its effect: a place in [`Blocks::effects`].
    pub(crate) effect: u32,
}

/// A cell.
#[derive(Clone, Debug)]
pub(crate) struct CellFacts {
    /// Before anybody has written.
    pub(crate) initial: Content,
    /// After the last write of the trace, if there is one.
    pub(crate) last: Option<Content>,
    pub(crate) kind: Cellular,
}

/// Whether a cell can tell anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cellular {
    /// Threads share it, and somebody writes.
    Shared,
    /// It looks the same in every order: only one thread uses it, or nobody writes.
    Private,
    /// Somebody has written there without being recorded.
    Unexplained,
}

/// The blocks of a trace, and what they do to cells that threads share.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) blocks: Vec<Block>,
    /// The blocks of each thread that has any, in its order.
    pub(crate) threads: Vec<Vec<BlockId>>,
    /// Sorted by block, then by cell. Only of [`Cellular::Shared`] cells.
    pub(crate) effects: Vec<Effect>,
    /// In the order of events; of all cells but private ones.
    pub(crate) touches: Vec<Touch>,
    /// The touches of shared cells, sorted by effect, then by event.
    pub(crate) by_effect: Vec<u32>,
    pub(crate) cells: Vec<CellFacts>,
    /// Places in [`Blocks::touches`] of two successive touches of an effect that contradict each other.
    pub(crate) torn: Vec<(u32, u32)>,
    /// Whether there are some that may contradict each other, depending on symbols.
    pub(crate) may_be_torn: bool,
    /// Whether a read returned something that it cannot have in any order whatsoever, being of a private cell.
    pub(crate) is_impossible: bool,
    /// Whether every read of a shared cell returned what was written last.
    pub(crate) is_consistent: bool,
    /// Whether there are cells that several threads use of which nothing can be told.
    pub(crate) has_unexplained: bool,
}

/// The effect of a touch that has none.
const NO_EFFECT: u32 = u32::MAX;

impl Blocks {
    /// The blocks of these events.
    pub(crate) fn new(events: &[Event], tables: &Tables, initial: InitialValues, scope: &Scope) -> Blocks {
        let cells = Cells::survey(events, tables);
        let mut builder = Builder::new(&cells, initial, scope);
        for (index, event) in events.iter().enumerate() {
            builder.take(index, event, &cells, tables);
        }
        builder.finish(initial)
    }

    pub(crate) fn effects_of(&self, block: BlockId) -> &[Effect] {
        let (from, to) = self.blocks[block.index()].effects;
        &self.effects[from as usize..to as usize]
    }
}

struct Builder<'s> {
    scope: &'s Scope,
    regions: Regions,
    /// Each thread by its id.
    threads: Vec<Thread>,
    blocks: Vec<Block>,
    order: Vec<Vec<BlockId>>,
    touches: Vec<Touch>,
    memory: Memory,
}

#[derive(Clone, Default)]
struct Thread {
    /// Its place among those that have blocks.
    number: Option<u32>,
    in_region: bool,
    /// The block that its next access belongs to.
    open: Option<BlockId>,
}

/// The contents as the observed order has them.
struct Memory {
    current: Vec<Content>,
    initial: Vec<Content>,
    written: Vec<bool>,
    users: Vec<Users>,
    /// Whether a read did not return what was written last.
    odd: Vec<bool>,
    /// What has become known of each symbol.
    symbols: Vec<Option<u64>>,
    /// Touches whose read value was not recorded.
    inferred: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum Users {
    None,
    One(u32),
    Several,
}

impl<'s> Builder<'s> {
    fn new(cells: &Cells, initial: InitialValues, scope: &'s Scope) -> Self {
        let count = cells.len();
        let (contents, symbols): (Vec<Content>, _) = match initial {
            InitialValues::Zero => (vec![Content::Known(0); count], Vec::new()),
            InitialValues::Unknown => ((0..count as u32).map(Content::Unknown).collect(), vec![None; count]),
        };
        let memory = Memory {
            current: contents.clone(),
            initial: contents,
            written: vec![false; count],
            users: vec![Users::None; count],
            odd: vec![false; count],
            symbols,
            inferred: Vec::new(),
        };
        Builder {
            scope,
            regions: Regions::new(scope.sources()),
            threads: Vec::new(),
            blocks: Vec::new(),
            order: Vec::new(),
            touches: Vec::new(),
            memory,
        }
    }

    fn take(&mut self, index: usize, event: &Event, cells: &Cells, tables: &Tables) {
        self.follow_region(index, event);
        let Some(effect) = cells.effect(&event.op, tables) else {
            let thread = self.thread(event.thread);
            if !thread.in_region {
                thread.open = None;
            }
            return;
        };
        let block = self.block(event.thread, index);
        let number = self.blocks[block.index()].thread;
        for part in cells.of(&effect) {
            let touch = self.memory.touch(part, number, block, index, self.touches.len());
            self.touches.push(touch);
        }
        let thread = self.thread(event.thread);
        if !thread.in_region && !effect.more {
            thread.open = None;
        }
    }

    fn follow_region(&mut self, index: usize, event: &Event) {
        let in_region = match (self.scope, event.op) {
            (Scope::Regions(_), Op::RegionBegin(region)) => {
                (self.regions.begin(event.thread, region.source) == RegionEdge::Outermost).then_some(true)
            }
            (Scope::Regions(_), Op::RegionEnd(region)) => {
                (self.regions.end(event.thread, region.source) == RegionEdge::Outermost).then_some(false)
            }
            (Scope::Regions(_), _) => None,
            (Scope::Only { thread, begin, end }, _) => {
                let is_inside = begin.0 <= index as u64 && end.is_none_or(|end| index as u64 <= end.0);
                (*thread == event.thread).then_some(is_inside)
            }
        };
        let thread = self.thread(event.thread);
        if let Some(in_region) = in_region
            && in_region != thread.in_region
        {
            thread.in_region = in_region;
            thread.open = None;
        }
    }

    fn thread(&mut self, id: ThreadId) -> &mut Thread {
        if id.index() >= self.threads.len() {
            self.threads.resize(id.index() + 1, Thread::default());
        }
        &mut self.threads[id.index()]
    }

    /// The block of the thread's access at this place.
    fn block(&mut self, id: ThreadId, index: usize) -> BlockId {
        let fresh = BlockId(self.blocks.len() as u32);
        let next = self.order.len() as u32;
        let thread = self.thread(id);
        let number = *thread.number.get_or_insert(next);
        let block = *thread.open.get_or_insert(fresh);
        if number == next {
            self.order.push(Vec::new());
        }
        if block == fresh {
            let rank = self.order[number as usize].len() as u32;
            self.order[number as usize].push(fresh);
            self.blocks.push(Block { thread: number, rank, last: index as u32, effects: (0, 0) });
        }
        self.blocks[block.index()].last = index as u32;
        block
    }

    fn finish(self, initial: InitialValues) -> Blocks {
        let Builder { blocks, order: threads, mut touches, memory, .. } = self;
        let settled = memory.settle(&mut touches, initial);
        let mut all = Blocks { blocks, threads, ..settled };
        touches.retain(|touch| all.cells[touch.cell.index()].kind != Cellular::Private);
        all.touches = touches;
        all.summarise();
        all
    }
}

impl Memory {
    fn touch(&mut self, part: CellEffect, thread: u32, block: BlockId, index: usize, place: usize) -> Touch {
        let CellEffect { cell, read, write } = part;
        let at = cell.index();
        self.users[at] = match self.users[at] {
            Users::None => Users::One(thread),
            Users::One(known) if known == thread => Users::One(known),
            _ => Users::Several,
        };
        let read = read.map(|value| self.read(at, value, place));
        let write = write.map(|value| value.map_or_else(|| self.symbol(), Content::Known));
        if let Some(content) = write {
            self.current[at] = content;
            self.written[at] = true;
        }
        Touch { event: index as u32, block, cell, read, write, effect: NO_EFFECT }
    }

    fn read(&mut self, cell: usize, value: Option<u64>, place: usize) -> Content {
        let current = self.current[cell];
        let Some(value) = value else {
            self.inferred.push(place as u32);
            return current;
        };
        match self.resolved(current) {
            Content::Known(known) => self.odd[cell] |= known != value,
            Content::Unknown(symbol) => self.symbols[symbol as usize] = Some(value),
        }
        Content::Known(value)
    }

    fn symbol(&mut self) -> Content {
        self.symbols.push(None);
        Content::Unknown(self.symbols.len() as u32 - 1)
    }

    fn resolved(&self, content: Content) -> Content {
        match content {
            Content::Unknown(symbol) => self.symbols[symbol as usize].map_or(content, Content::Known),
            Content::Known(_) => content,
        }
    }

    /// Puts in what has become known, and says which cells matter.
    fn settle(mut self, touches: &mut [Touch], initial: InitialValues) -> Blocks {
        // Where reads do not return what was written last there is no telling what the others returned.
        for place in std::mem::take(&mut self.inferred) {
            let touch = &mut touches[place as usize];
            if self.odd[touch.cell.index()] {
                touch.read = Some(self.symbol());
            }
        }
        for touch in touches {
            touch.read = touch.read.map(|content| self.resolved(content));
            touch.write = touch.write.map(|content| self.resolved(content));
        }
        let mut all = Blocks { is_consistent: true, ..Blocks::default() };
        for cell in 0..self.current.len() {
            let is_shared = self.users[cell] == Users::Several;
            let kind = match initial {
                InitialValues::Unknown if self.odd[cell] && is_shared => Cellular::Unexplained,
                _ if is_shared && self.written[cell] => Cellular::Shared,
                _ => Cellular::Private,
            };
            all.has_unexplained |= kind == Cellular::Unexplained;
            if self.odd[cell] && initial == InitialValues::Zero {
                all.is_consistent = false;
                all.is_impossible |= kind == Cellular::Private;
            }
            all.cells.push(CellFacts {
                initial: self.resolved(self.initial[cell]),
                last: self.written[cell].then(|| self.resolved(self.current[cell])),
                kind,
            });
        }
        all
    }
}

impl Blocks {
    /// Folds the touches of each block and cell into one effect.
    fn summarise(&mut self) {
        let keys: Vec<(BlockId, Cell)> = self.touches.iter().map(|touch| (touch.block, touch.cell)).collect();
        let is_shared = |place: &u32| self.cells[keys[*place as usize].1.index()].kind == Cellular::Shared;
        let mut order: Vec<u32> = (0..self.touches.len() as u32).filter(is_shared).collect();
        // Stable, so touches of one effect stay in the order of events.
        order.sort_by_key(|place| keys[*place as usize]);
        let mut from = 0;
        for run in order.chunk_by(|one, other| keys[*one as usize] == keys[*other as usize]) {
            let to = from + run.len() as u32;
            let number = self.effects.len() as u32;
            let first = &self.touches[run[0] as usize];
            let mut effect =
                Effect { block: first.block, cell: first.cell, find: None, leave: None, touches: (from, to) };
            let mut content: Option<(u32, Content)> = None;
            for &place in run {
                let touch = &mut self.touches[place as usize];
                touch.effect = number;
                if let Some(read) = touch.read {
                    match content {
                        None => effect.find = Some(read),
                        Some((before, own)) if own.differs(read) => self.torn.push((before, place)),
                        Some((_, own)) => self.may_be_torn |= own != read,
                    }
                    content = Some((place, read));
                }
                if let Some(write) = touch.write {
                    effect.leave = Some(write);
                    content = Some((place, write));
                }
            }
            let range = &mut self.blocks[effect.block.index()].effects;
            if range.0 == range.1 {
                *range = (number, number);
            }
            range.1 = number + 1;
            self.effects.push(effect);
            from = to;
        }
        self.by_effect = order;
        self.torn.sort_by_key(|(_, place)| *place);
    }
}
