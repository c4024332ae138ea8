//! The file that the recorder and the program share.
//!
//! It is read and written, never mapped: a program that does strange things to its copy cannot do
//! them to ours.

use interloper_wire::{
    Birth, CLAIM_AT, CONSUMED_AT, DIRECTED_AT, Direction, GUIDANCE_AT, Guidance, HotRange, Mode, PRODUCED_AT,
    PlanEntry, Policy, RING_AT, Settings, VARIABLE_WIDTH,
};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
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
    /// The directions to follow, with [`Policy::Replay`] and no plan.
    pub(crate) directions: &'a [Direction],
    /// Which numbers threads get; sorted.
    pub(crate) births: &'a [Birth],
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
        let directions: Vec<u8> = orders.directions.iter().flat_map(|direction| direction.to_bytes()).collect();
        let births: Vec<u8> = orders.births.iter().flat_map(|birth| birth.to_bytes()).collect();
        let after = |at: u64, table: &[u8]| at + (table.len() as u64).next_multiple_of(PAGE);
        let plan_at = RING_AT as u64 + ring_len;
        let hot_at = after(plan_at, &plan);
        let directions_at = after(hot_at, &hot);
        let births_at = after(directions_at, &directions);
        let guidance = Guidance {
            directions_at,
            directions: orders.directions.len() as u64,
            births_at,
            births: orders.births.len() as u64,
        };
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
            file_len: after(births_at, &births),
        };
        // It takes no room on any disk.
        let _lifted = LiftedLimit::new();
        file.set_len(settings.file_len)?;
        file.write_all_at(&settings.to_bytes(), 0)?;
        file.write_all_at(&guidance.to_bytes(), GUIDANCE_AT as u64)?;
        file.write_all_at(&plan, plan_at)?;
        file.write_all_at(&hot, hot_at)?;
        file.write_all_at(&directions, directions_at)?;
        file.write_all_at(&births, births_at)?;
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

    /// How many directions have been followed.
    pub(crate) fn directed(&self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, DIRECTED_AT as u64)?;
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

/// Lifts the limit on the length of files (`ulimit -f`) as far as the system allows, for as long as this lives.
struct LiftedLimit(Option<(u64, u64)>);

impl LiftedLimit {
    fn new() -> Self {
        let before = getrlimit(Resource::RLIMIT_FSIZE).ok();
        let is_lifted = before.is_some_and(|(_, hard)| setrlimit(Resource::RLIMIT_FSIZE, hard, hard).is_ok());
        LiftedLimit(before.filter(|_| is_lifted))
    }
}

impl Drop for LiftedLimit {
    fn drop(&mut self) {
        if let Some((soft, hard)) = self.0 {
            let _ = setrlimit(Resource::RLIMIT_FSIZE, soft, hard);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use interloper_wire::{BIRTH_LEN, DIRECTION_LEN, Until};

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
        directions: &[],
        births: &[],
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
        let directions = [Direction { thread: 3, until: Until::Ended, unwoken: false, records: 7 }; 200];
        let births = [Birth { parent: 0, children_before: 1, number: 2 }];
        let orders =
            Orders { ring_len: 5000, plan: &plan, hot: &hot, directions: &directions, births: &births, ..ORDERS };
        let control = Control::create(&orders).expect("made");
        assert_eq!((control.ring_len(), control.variable().len()), (8192, VARIABLE_WIDTH));
        let mut bytes = vec![0; control.file.metadata().expect("there").len() as usize];
        control.file.read_exact_at(&mut bytes, 0).expect("read");
        let settings = Settings::from_bytes(&bytes).expect("settings");
        assert_eq!((settings.plan_entries, settings.hot_entries), (300, 1));
        assert_eq!(settings.file_len as usize, bytes.len());
        assert_eq!(bytes[settings.plan_at as usize..][..16], plan[0].to_bytes());
        assert_eq!(bytes[settings.hot_at as usize..][..32], hot[0].to_bytes());
        let guidance: Vec<u64> =
            bytes[GUIDANCE_AT..].as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let [directions_at, 200, births_at, 1, ..] = guidance[..] else { panic!("{guidance:?}") };
        assert_eq!(bytes[directions_at as usize + 199 * DIRECTION_LEN..][..DIRECTION_LEN], directions[199].to_bytes());
        assert_eq!(bytes[births_at as usize..][..BIRTH_LEN], births[0].to_bytes());
        assert_eq!(control.directed().expect("read"), 0);
    }
}
