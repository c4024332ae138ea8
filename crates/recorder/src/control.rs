//! The file that the recorder and the program share.
//!
//! It is read and written, never mapped: a program that does strange things to its copy cannot do
//! them to ours.

use interloper_wire::{
    CLAIM_AT, CONSUMED_AT, HotRange, Mode, PRODUCED_AT, PlanEntry, Policy, RING_AT, Settings, VARIABLE_WIDTH,
};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub(crate) struct Orders<'a> {
    /// What is logged of plain accesses.
    pub(crate) mode: Mode,
    /// Who decides which thread runs.
    pub(crate) policy: Policy,
    /// What random choices are made from.
    pub(crate) seed: u64,
    /// After how many steps a thread gives way.
    pub(crate) quantum: u64,
    /// The number of ordering constraints of [`Policy::Pct`].
    pub(crate) depth: u64,
    /// About how many steps the run has, for [`Policy::Pct`].
    pub(crate) expected_steps: u64,
    /// After how many bytes [`Mode::Try`] gives up.
    pub(crate) full_limit: u64,
    /// The time the run begins at, in nanoseconds since 1970.
    pub(crate) start_time: u64,
    /// Length of the ring in bytes.
    pub(crate) ring_len: u64,
    /// The schedule to follow, with [`Policy::Replay`].
    pub(crate) plan: &'a [PlanEntry],
    /// The locations to log, with [`Mode::Hot`]; sorted.
    pub(crate) hot: &'a [HotRange],
}

/// The shared file.
#[derive(Debug)]
pub(crate) struct Control {
    file: File,
    ring_len: u64,
}

const PAGE: u64 = 4096;

impl Control {
    /// Makes the file. A child that is started while this exists inherits it under the same number.
    pub(crate) fn create(orders: &Orders<'_>) -> io::Result<Control> {
        // Without MFD_CLOEXEC: the child is to have it.
        let file = File::from(memfd_create(c"interloper", MFdFlags::empty())?);
        let ring_len = orders.ring_len.max(1).next_multiple_of(PAGE);
        let plan: Vec<u8> = orders.plan.iter().flat_map(|entry| entry.to_bytes()).collect();
        let hot: Vec<u8> = orders.hot.iter().flat_map(|range| range.to_bytes()).collect();
        let plan_at = RING_AT as u64 + ring_len;
        let hot_at = plan_at + (plan.len() as u64).next_multiple_of(PAGE);
        let settings = Settings {
            mode: orders.mode,
            policy: orders.policy,
            seed: orders.seed,
            quantum: orders.quantum.max(1),
            depth: orders.depth.max(1),
            expected_steps: orders.expected_steps.max(1),
            full_limit: orders.full_limit,
            start_time: orders.start_time,
            ring_len,
            plan_at,
            plan_entries: orders.plan.len() as u64,
            hot_at,
            hot_entries: orders.hot.len() as u64,
            file_len: hot_at + (hot.len() as u64).next_multiple_of(PAGE),
        };
        file.set_len(settings.file_len)?;
        file.write_all_at(&settings.to_bytes(), 0)?;
        file.write_all_at(&plan, plan_at)?;
        file.write_all_at(&hot, hot_at)?;
        Ok(Control { file, ring_len })
    }

    /// The value of the environment variable by which the child finds the file.
    pub(crate) fn variable(&self) -> String {
        format!("{:0width$}", self.file.as_raw_fd(), width = VARIABLE_WIDTH)
    }

    /// Length of the ring in bytes.
    pub(crate) fn ring_len(&self) -> u64 {
        self.ring_len
    }

    /// How many bytes of records the program has produced.
    pub(crate) fn produced(&self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, PRODUCED_AT as u64)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Whether a runtime has come forward to be recorded.
    pub(crate) fn is_claimed(&self) -> io::Result<bool> {
        let mut bytes = [0; 4];
        self.file.read_exact_at(&mut bytes, CLAIM_AT as u64)?;
        Ok(bytes != [0; 4])
    }

    /// Tells the program how many of them are not needed any more.
    pub(crate) fn set_consumed(&self, consumed: u64) -> io::Result<()> {
        self.file.write_all_at(&consumed.to_le_bytes(), CONSUMED_AT as u64)
    }

    /// Reads records from this position of all produced, up to the end of the ring at the most.
    pub(crate) fn read_ring(&self, position: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let at = position % self.ring_len;
        let room = usize::try_from(self.ring_len - at).unwrap_or(usize::MAX);
        let len = bytes.len().min(room);
        self.file.read_exact_at(&mut bytes[..len], RING_AT as u64 + at)?;
        Ok(len)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Orders that suit tests.
    pub(crate) const ORDERS: Orders<'static> = Orders {
        mode: Mode::Full,
        policy: Policy::RunAhead,
        seed: 1,
        quantum: 100,
        depth: 3,
        expected_steps: 1000,
        full_limit: 1 << 20,
        start_time: 0,
        ring_len: 1 << 16,
        plan: &[],
        hot: &[],
    };

    impl Control {
        /// Writes as the program would, and moves its cursor.
        pub(crate) fn produce(&self, position: u64, bytes: &[u8]) {
            let at = RING_AT as u64 + position % self.ring_len;
            self.file.write_all_at(bytes, at).expect("written");
            let produced = position + bytes.len() as u64;
            self.file.write_all_at(&produced.to_le_bytes(), PRODUCED_AT as u64).expect("written");
        }

        pub(crate) fn consumed(&self) -> u64 {
            let mut bytes = [0; 8];
            self.file.read_exact_at(&mut bytes, CONSUMED_AT as u64).expect("read");
            u64::from_le_bytes(bytes)
        }
    }

    #[test]
    fn the_file_says_what_was_asked() {
        let plan = [PlanEntry::Advance { nanoseconds: 5 }; 300];
        let hot = [HotRange { space: 1, number: 2, offset: 8, len: 16 }];
        let control = Control::create(&Orders { ring_len: 5000, plan: &plan, hot: &hot, ..ORDERS }).expect("made");
        assert_eq!((control.ring_len(), control.variable().len()), (8192, VARIABLE_WIDTH));
        let mut bytes = vec![0; control.file.metadata().expect("there").len() as usize];
        control.file.read_exact_at(&mut bytes, 0).expect("read");
        let settings = Settings::from_bytes(&bytes).expect("settings");
        assert_eq!((settings.plan_entries, settings.hot_entries), (300, 1));
        assert_eq!(settings.file_len as usize, bytes.len());
        assert_eq!(bytes[settings.plan_at as usize..][..16], plan[0].to_bytes());
        assert_eq!(bytes[settings.hot_at as usize..][..32], hot[0].to_bytes());
    }
}
