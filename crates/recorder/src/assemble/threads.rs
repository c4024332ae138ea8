//! What each thread is in the middle of: its functions and regions, and what waits to be said.

use super::sites::Function;
use interloper_trace::{LockId, LockMode, StringId, ThreadId};
use interloper_wire::Kind;
use rustc_hash::{FxHashMap, FxHashSet};

/// A thread of the program.
#[derive(Debug)]
pub(super) struct Thread {
    /// Its number in the program, in order of creation.
    pub(super) number: u32,
    pub(super) id: ThreadId,
    pub(super) frames: Vec<Frame>,
    /// How many of the frames, from the outermost on, have had their event. The others only get one
    /// if something happens in them.
    pub(super) entered: usize,
    /// How many of those are of functions the user wrote.
    pub(super) users: usize,
    /// The outermost frame that is a region which may be cut. After a cut this one begins anew; those
    /// within it do not, since they would say nothing more.
    pub(super) outermost: Option<usize>,
    /// The frames whose regions are open, from the outermost on, of those that may be cut.
    pub(super) open: Vec<usize>,
    /// The locks it has, by address: what is at an address may change while it is locked.
    pub(super) held: FxHashMap<(u64, LockMode), Held>,
    /// It has had to wait for another since its last event.
    pub(super) has_waited: bool,
    /// Branches passed since its last event.
    pub(super) branches: u64,
    /// Its last access has a further piece.
    pub(super) goes_on: bool,
    /// The kind and place of its last event.
    pub(super) last: Option<(Kind, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) lock: LockId,
    pub(super) depth: u32,
    pub(super) name: StringId,
}

/// An activation of a function.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) pc: u64,
    /// Where the call returns to.
    pub(super) call: u64,
    pub(super) region: FrameRegion,
    /// What it has executed, if it is the thread's start routine.
    pub(super) iteration: Option<Iteration>,
    pub(super) is_users: bool,
}

/// The region that an activation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameRegion {
    None,
    /// Cut at waits.
    Function {
        name: StringId,
    },
    /// Listed by the user, hence never cut.
    Annotated {
        name: StringId,
    },
}

impl Thread {
    pub(super) fn new(number: u32, id: ThreadId) -> Self {
        Thread {
            number,
            id,
            frames: Vec::new(),
            entered: 0,
            users: 0,
            outermost: None,
            open: Vec::new(),
            held: FxHashMap::default(),
            has_waited: false,
            branches: 0,
            goes_on: false,
            last: None,
        }
    }

    /// A function is entered, if something happens in it.
    pub(super) fn push_frame(&mut self, pc: u64, call: u64) {
        self.frames.push(Frame { pc, call, region: FrameRegion::None, iteration: None, is_users: false });
    }

    /// Whether a function that is entered now would be the thread's start routine.
    pub(super) fn starts_with(&self, function: Function) -> bool {
        self.number != 0 && self.users == 0 && !function.is_system
    }
}

/// What is known about the loops of start routines.
///
/// Something that is executed again is in a loop, and so is whatever was executed in between: that is
/// *inside*, and does not begin an iteration any more, for this function and ever. What repeats and is
/// not inside begins one. Nothing is read from where code lies, since compilers move it about. So the
/// first iteration of an outer loop may be cut too finely, at the repetitions of a loop within it;
/// after that the inner one is known to be inside.
#[derive(Debug, Default)]
pub(super) struct Loops {
    inside: FxHashMap<StringId, FxHashSet<u64>>,
}

/// What an activation of a start routine has executed.
#[derive(Debug)]
pub(super) struct Iteration {
    function: StringId,
    /// When each place was executed last.
    last: FxHashMap<u64, u64>,
    now: u64,
    /// What began the present iteration.
    head: Option<u64>,
    /// What was executed for the first time since.
    fresh: Vec<u64>,
}

impl Iteration {
    pub(super) fn new(function: StringId) -> Self {
        Iteration { function, last: FxHashMap::default(), now: 0, head: None, fresh: Vec::new() }
    }
}

impl Loops {
    /// Whether something at `pc` begins another iteration.
    pub(super) fn begins_iteration(&mut self, iteration: &mut Iteration, pc: u64) -> bool {
        iteration.now += 1;
        let before = iteration.last.insert(pc, iteration.now);
        let inside = self.inside.entry(iteration.function).or_default();
        if inside.contains(&pc) {
            return false;
        }
        let Some(then) = before else {
            iteration.fresh.push(pc);
            return false;
        };
        if iteration.head == Some(pc) {
            // Whatever else repeats would be the head, or is inside already.
            inside.extend(&iteration.fresh);
        } else {
            let between = iteration.last.iter().filter(|(place, time)| **time > then && **place != pc);
            inside.extend(between.map(|(place, _)| place));
        }
        iteration.fresh.clear();
        iteration.head = Some(pc);
        true
    }
}
