//! Comparing events of different traces: by names, since the ids of one trace mean nothing in
//! another.

use interloper_trace::{
    Access, Event, LocationId, LockId, Op, ReadModifyWrite, Region, Site, SiteId, SiteKind, StringId, Tables, ThreadId,
};

/// Asserts that two traces have the same events, names and facts.
pub(crate) fn assert_same(one: (&[Event], &Tables), other: (&[Event], &Tables)) {
    assert_eq!(one.0.len(), other.0.len(), "number of events");
    assert_eq!(one.1.meta(), other.1.meta());
    let mut common = Tables::new();
    for (index, (first, second)) in one.0.iter().zip(other.0).enumerate() {
        let first = translate(first, one.1, &mut common);
        let second = translate(second, other.1, &mut common);
        assert_eq!(first, second, "event {index}");
    }
}

/// The event with the ids of `to` in place of those of `from`.
///
/// # Panics
///
/// If an id of the event is not in `from`.
pub(crate) fn translate(event: &Event, from: &Tables, to: &mut Tables) -> Event {
    let mut names = Translation { from, to };
    Event { thread: names.thread(event.thread), site: names.site(event.site), op: names.op(event.op) }
}

struct Translation<'a> {
    from: &'a Tables,
    to: &'a mut Tables,
}

macro_rules! name_translations {
    ($($name:ident, $count:ident, $intern:ident, $id:ty;)*) => {$(
        fn $name(&mut self, id: $id) -> $id {
            assert!(id.index() < self.from.$count(), "{id:?} has no name");
            self.to.$intern(self.from.$name(id)).expect("a test trace is small")
        }
    )*};
}

impl Translation<'_> {
    name_translations! {
        thread, thread_count, intern_thread, ThreadId;
        lock, lock_count, intern_lock, LockId;
        condition, condition_count, intern_condition, interloper_trace::ConditionId;
        semaphore, semaphore_count, intern_semaphore, interloper_trace::SemaphoreId;
        barrier, barrier_count, intern_barrier, interloper_trace::BarrierId;
        once, once_count, intern_once, interloper_trace::OnceId;
    }

    fn string(&mut self, id: StringId) -> StringId {
        assert!(id.index() < self.from.strings.len(), "{id:?} has no text");
        self.to.strings.intern(self.from.strings.get(id)).expect("a test trace is small")
    }

    fn location(&mut self, id: LocationId) -> LocationId {
        let location = self.from.location(id).expect("a location has a name");
        self.string(location.object);
        self.to.intern_location(self.from.strings.get(location.object), location.offset).expect("a test trace is small")
    }

    fn site(&mut self, id: SiteId) -> SiteId {
        if let SiteKind::Table(index) = id.kind() {
            assert!(index < self.from.site_count(), "{id:?} is in no table");
        }
        let Site { file, function, line } = self.from.site(id);
        let file = file.map(|file| self.string(file));
        let function = function.map(|function| self.string(function));
        self.to.intern_site(Site { file, function, line }).expect("a test trace is small")
    }

    fn access(&mut self, access: Access) -> Access {
        Access { location: self.location(access.location), ..access }
    }

    fn region(&mut self, region: Region) -> Region {
        Region { name: region.name.map(|name| self.string(name)), ..region }
    }

    // Without a wildcard, so that a new operation cannot be forgotten here.
    fn op(&mut self, op: Op) -> Op {
        match op {
            Op::Read(access) => Op::Read(self.access(access)),
            Op::Write(access) => Op::Write(self.access(access)),
            Op::ReadModifyWrite(rmw) => {
                Op::ReadModifyWrite(ReadModifyWrite { location: self.location(rmw.location), ..rmw })
            }
            Op::Request(lock) => Op::Request(self.lock(lock)),
            Op::Acquire { lock, mode, by } => Op::Acquire { lock: self.lock(lock), mode, by },
            Op::TryAcquireFailed { lock, mode } => Op::TryAcquireFailed { lock: self.lock(lock), mode },
            Op::Release { lock, mode } => Op::Release { lock: self.lock(lock), mode },
            Op::WaitBegin { condition, lock } => {
                Op::WaitBegin { condition: self.condition(condition), lock: self.lock(lock) }
            }
            Op::WaitEnd { condition, lock, wake } => {
                Op::WaitEnd { condition: self.condition(condition), lock: self.lock(lock), wake }
            }
            Op::Signal(condition) => Op::Signal(self.condition(condition)),
            Op::Broadcast(condition) => Op::Broadcast(self.condition(condition)),
            Op::SemaphoreWait(semaphore) => Op::SemaphoreWait(self.semaphore(semaphore)),
            Op::SemaphorePost(semaphore) => Op::SemaphorePost(self.semaphore(semaphore)),
            Op::BarrierArrive(barrier) => Op::BarrierArrive(self.barrier(barrier)),
            Op::BarrierLeave(barrier) => Op::BarrierLeave(self.barrier(barrier)),
            Op::OnceBegin(once) => Op::OnceBegin(self.once(once)),
            Op::OnceEnd(once) => Op::OnceEnd(self.once(once)),
            Op::OncePass(once) => Op::OncePass(self.once(once)),
            Op::Fork(thread) => Op::Fork(self.thread(thread)),
            Op::Join(thread) => Op::Join(self.thread(thread)),
            Op::Allocate { object, size } => Op::Allocate { object: self.string(object), size },
            Op::Free { object } => Op::Free { object: self.string(object) },
            Op::Enter { function } => Op::Enter { function: self.string(function) },
            Op::RegionBegin(region) => Op::RegionBegin(self.region(region)),
            Op::RegionEnd(region) => Op::RegionEnd(self.region(region)),
            Op::Input { channel, size, value } => Op::Input { channel: self.string(channel), size, value },
            Op::Fence(_)
            | Op::Start
            | Op::Finish
            | Op::Branch { .. }
            | Op::Exit
            | Op::Define { .. }
            | Op::Bind { .. }
            | Op::Assume { .. }
            | Op::Mark { .. } => op,
        }
    }
}
