//! Where a schedule has got to.

use super::memory::Content;
use interloper_trace::{ConditionId, LockId, LockMode, ThreadId};
use std::hash::{Hash, Hasher};

/// Where a schedule of a [`Program`](super::Program) has got to: how far each thread is, what memory
/// holds, who is stuck, who was notified, what has strayed.
///
/// Locks, semaphores, barriers and once-initialisers follow from how far the threads are. They are kept
/// at hand, and take no part in comparing and hashing. States of different programs cannot be compared.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) threads: Vec<ThreadState>,
    pub(super) memory: Vec<Content>,
    pub(super) holds: Vec<Hold>,
    pub(super) semaphores: Vec<u32>,
    /// How many have arrived at each barrier.
    pub(super) barriers: Vec<u32>,
    pub(super) onces: Vec<Once>,
    /// The loose reads that were not satisfied, ascending.
    pub(super) strayed: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ThreadState {
    /// How many steps it has done.
    pub(super) position: u32,
    /// It has read something else than observed.
    pub(super) stuck: bool,
    pub(super) wait: Option<Wait>,
}

/// The wait that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wait {
    pub(super) condition: ConditionId,
    pub(super) notified: bool,
    /// How deeply it held the lock, by mode.
    pub(super) depths: [u32; 2],
}

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) lock: LockId,
    pub(super) thread: ThreadId,
    /// How deeply, by mode; not both zero.
    pub(super) depths: [u32; 2],
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Once {
    /// Begun and not ended.
    pub(super) running: u32,
    pub(super) ended: bool,
}

impl State {
    /// How many steps a thread has done, and whether it is stuck.
    pub(crate) fn progress(&self, thread: ThreadId) -> (u32, bool) {
        self.threads.get(thread.index()).map_or((0, false), |thread| (thread.position, thread.stuck))
    }

    /// About how many words it has.
    pub(crate) fn size(&self) -> usize {
        const FIXED: usize = 32;
        let counts = self.semaphores.len() + self.barriers.len() + self.onces.len();
        FIXED + self.memory.len() + self.strayed.len() + 8 * self.threads.len() + 4 * self.holds.len() + counts
    }

    /// A loose read was not satisfied.
    pub(super) fn stray(&mut self, read: usize) {
        let at = self.strayed.partition_point(|known| *known < read);
        self.strayed.insert(at, read);
    }

    /// Another thread that holds this lock in a mode that conflicts.
    pub(super) fn rival(&self, thread: ThreadId, lock: LockId, mode: LockMode) -> Option<ThreadId> {
        let conflicts = |depths: [u32; 2]| match mode {
            LockMode::Exclusive => true,
            LockMode::Shared => depths[LockMode::Exclusive as usize] > 0,
        };
        let rivals = self.holds.iter().filter(|hold| hold.lock == lock && hold.thread != thread);
        rivals.filter(|hold| conflicts(hold.depths)).map(|hold| hold.thread).min()
    }

    pub(super) fn holds(&self, thread: ThreadId, lock: LockId) -> bool {
        self.holds.iter().any(|hold| hold.lock == lock && hold.thread == thread)
    }

    /// Takes a lock so many times, by mode.
    pub(super) fn take(&mut self, thread: ThreadId, lock: LockId, depths: [u32; 2]) {
        match self.holds.iter_mut().find(|hold| hold.lock == lock && hold.thread == thread) {
            Some(hold) => hold.depths = [hold.depths[0] + depths[0], hold.depths[1] + depths[1]],
            None => self.holds.push(Hold { lock, thread, depths }),
        }
    }

    /// Gives back one level; of the other mode if there is none of this one.
    pub(super) fn give_back(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let Some(at) = self.holds.iter().position(|hold| hold.lock == lock && hold.thread == thread) else { return };
        let depths = &mut self.holds[at].depths;
        let level = if depths[mode as usize] > 0 { mode as usize } else { 1 - mode as usize };
        depths[level] -= 1;
        if *depths == [0, 0] {
            self.holds.swap_remove(at);
        }
    }

    /// Gives a lock up, whatever the depth, which is returned.
    pub(super) fn give_up(&mut self, thread: ThreadId, lock: LockId) -> Option<[u32; 2]> {
        let at = self.holds.iter().position(|hold| hold.lock == lock && hold.thread == thread)?;
        Some(self.holds.swap_remove(at).depths)
    }

    /// The threads that wait at a condition and were not notified.
    pub(super) fn waiters(&self, condition: ConditionId) -> impl Iterator<Item = ThreadId> + '_ {
        self.threads.iter().zip(0..).filter_map(move |(state, thread)| {
            state.wait.filter(|wait| wait.condition == condition && !wait.notified).map(|_| ThreadId::new(thread))
        })
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.threads == other.threads && self.memory == other.memory && self.strayed == other.strayed
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.threads.hash(hasher);
        self.memory.hash(hasher);
        self.strayed.hash(hasher);
    }
}
