//! Whether two runs did the same, told from what both log whatever the mode.
//!
//! That is everything by which threads act on one another, and the turns they took, with the number of
//! steps; not the accesses, which one run logs and the other does not. Runs that agree in this took the
//! same path as far as any thread could tell another. Hashes are kept every so many records, so that
//! the first difference is found to within that many.

use interloper_wire::{Kind, Record, RecordHeader};

/// A run, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skeleton {
    hash: u64,
    records: u64,
    checkpoints: Vec<u64>,
}

/// Where two runs begin to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// They agree in this many records that both log.
    pub agree: u64,
    /// The first that differs is before this one.
    pub before: u64,
}

/// Records from one checkpoint to the next.
const STRIDE: u64 = 1024;

impl Skeleton {
    /// Takes a record of the run.
    pub(crate) fn take(&mut self, record: &Record<'_>) {
        if !is_in_every_mode(record.header.kind) {
            return;
        }
        let RecordHeader { kind, aux, .. } = record.header;
        // Only the kinds with text use this for a length; none of them is taken.
        debug_assert!(!kind.has_text(), "length {aux}");
        for word in record.header.to_words().into_iter().chain(record.words) {
            // The mixing step of FxHash: fast, and this is no matter of security.
            self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        self.records += 1;
        if self.records.is_multiple_of(STRIDE) {
            self.checkpoints.push(self.hash);
        }
    }

    /// Where another run begins to differ from this one, if it does.
    pub(crate) fn difference(&self, other: &Skeleton) -> Option<Difference> {
        if self == other {
            return None;
        }
        let same = self.checkpoints.iter().zip(&other.checkpoints).take_while(|(a, b)| a == b).count() as u64;
        let shorter = self.records.min(other.records);
        Some(Difference { agree: same * STRIDE, before: ((same + 1) * STRIDE).min(shorter + 1) })
    }
}

fn is_in_every_mode(kind: Kind) -> bool {
    match kind {
        Kind::Switch
        | Kind::Request
        | Kind::Acquire
        | Kind::TryFailed
        | Kind::Release
        | Kind::WaitBegin
        | Kind::WaitEnd
        | Kind::Signal
        | Kind::Broadcast
        | Kind::SemaphoreWait
        | Kind::SemaphorePost
        | Kind::HappensBefore
        | Kind::HappensAfter
        | Kind::BarrierArrive
        | Kind::BarrierLeave
        | Kind::OnceBegin
        | Kind::OnceEnd
        | Kind::OncePass
        | Kind::Fork
        | Kind::Join
        | Kind::Start
        | Kind::Finish
        | Kind::Thread
        | Kind::RegionBegin
        | Kind::RegionEnd
        | Kind::Stop
        | Kind::Advance
        | Kind::End => true,
        Kind::Skip
        | Kind::Read
        | Kind::Write
        | Kind::AtomicRead
        | Kind::AtomicWrite
        | Kind::ReadModifyWrite
        | Kind::Fence
        | Kind::ThreadName
        | Kind::Allocate
        | Kind::Free
        | Kind::StackDrop
        | Kind::Branch
        | Kind::Enter
        | Kind::Exit
        | Kind::Input
        | Kind::Text
        | Kind::Module
        | Kind::Hot
        | Kind::Notice => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Script;
    use interloper_wire::Records;

    fn of(script: Script) -> Skeleton {
        let mut skeleton = Skeleton::default();
        Records::new(&script.bytes()).for_each(|record| skeleton.take(&record));
        skeleton
    }

    #[test]
    fn accesses_do_not_matter_but_turns_do() {
        let run = |accesses: u64, steps: u64| {
            let mut script = Script::new().start_thread(1, 0);
            for number in 0..accesses {
                script = script.read(number * 8, 8, 0);
            }
            of(script.switch(0, 0, steps))
        };
        assert_eq!(run(0, 7).difference(&run(9, 7)), None);
        assert_eq!(run(0, 7).difference(&run(0, 8)), Some(Difference { agree: 0, before: 6 }));
    }

    #[test]
    fn the_first_difference_is_located() {
        let run = |odd: u64| {
            let mut script = Script::new();
            for number in 0..5000 {
                script = script.switch(1, 0, if number == odd { 2 } else { 1 });
            }
            of(script)
        };
        assert_eq!(run(2500).difference(&run(u64::MAX)), Some(Difference { agree: 2048, before: 3072 }));
    }
}
