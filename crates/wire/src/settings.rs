//! What the recorder asks of the runtime, and where things are in the shared file.

/// The environment variable that holds the number of the inherited file, [`VARIABLE_WIDTH`] digits.
///
/// Always as long: the environment lies on the stack, and a stack that begins elsewhere is another run.
pub const VARIABLE: &str = "INTERLOPER_CONTROL";
/// How many digits the number of the file is written with.
pub const VARIABLE_WIDTH: usize = 5;

/// Length of the settings at the beginning of the file.
pub const SETTINGS_LEN: usize = 4096;
/// Where the [`Guidance`](crate::Guidance) is.
pub const GUIDANCE_AT: usize = 1024;
/// Where the two cursors are.
pub const LIVE_AT: usize = SETTINGS_LEN;
/// Length of the page that holds them.
pub const LIVE_LEN: usize = 4096;
/// Offset of a `u64`: how many bytes of records the program has produced, since it began.
pub const PRODUCED_AT: usize = LIVE_AT;
/// Offset of a `u64`: how many the recorder has consumed. On a cache line of its own.
pub const CONSUMED_AT: usize = LIVE_AT + 128;
/// Offset of a `u32`: set to 1 by the first process that records. Others that inherit the file do not.
pub const CLAIM_AT: usize = LIVE_AT + 256;
/// Offset of a `u64`: how many directions the program has followed.
pub const DIRECTED_AT: usize = LIVE_AT + 384;
/// Where the ring begins. A record at position `p` of all produced is at `p % ring_len` there, and
/// does not wrap around the end.
pub const RING_AT: usize = LIVE_AT + LIVE_LEN;
/// No record is longer than this, in bytes.
pub const MAX_RECORD_LEN: usize = 16 + 4096;

const _: () = assert!(GUIDANCE_AT >= Settings::WORDS * 8 && GUIDANCE_AT + crate::GUIDANCE_LEN <= SETTINGS_LEN);

const MAGIC: u64 = u64::from_le_bytes(*b"ILWIRE\x00\x03");

macro_rules! coded {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant = $code,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The one with this code.
            #[inline]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }
        }
    };
}
pub(crate) use coded;

coded! {
    /// What is logged of plain accesses.
    Mode {
        /// None; only which locations two threads touch, one of them writing ([`Kind::Hot`](crate::Kind::Hot)).
        Scout = 0,
        /// All, and which locations are shared too. When the log passes
        /// [`full_limit`](Settings::full_limit), the run goes on as a scout.
        Try = 1,
        /// All.
        Full = 2,
        /// Those of the listed hot locations.
        Hot = 3,
    }
}

coded! {
    /// Who decides which thread runs.
    Policy {
        /// A thread runs until it blocks or its quantum is used up; then the next in turn.
        RunAhead = 0,
        /// Quanta of random length, then a thread at random.
        Random = 1,
        /// Probabilistic concurrency testing: random priorities, and a few random points at which
        /// the running thread's drops below all others.
        Pct = 2,
        /// As the plan says, or else the directions, and as with run-ahead when they have been followed to their end.
        Replay = 3,
    }
}

/// What the recorder asks of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What is logged of plain accesses.
    pub mode: Mode,
    /// Who decides which thread runs.
    pub policy: Policy,
    /// What random choices are made from.
    pub seed: u64,
    /// After how many steps a thread is to give way, at least 1.
    pub quantum: u64,
    /// With [`Policy::Pct`]: the number of ordering constraints to hit, at least 1.
    pub depth: u64,
    /// With [`Policy::Pct`]: about how many steps the run has.
    pub expected_steps: u64,
    /// With [`Mode::Try`]: how many bytes of log are enough.
    pub full_limit: u64,
    /// The time the run begins at, in nanoseconds since 1970; its clock is virtual.
    pub start_time: u64,
    /// Length of the ring, a multiple of 4096.
    pub ring_len: u64,
    /// Where the plan begins ([`PlanEntry`](crate::PlanEntry)).
    pub plan_at: u64,
    /// How many entries it has.
    pub plan_entries: u64,
    /// Where the hot locations begin ([`HotRange`](crate::HotRange)), sorted.
    pub hot_at: u64,
    /// How many there are.
    pub hot_entries: u64,
    /// Length of the whole file.
    pub file_len: u64,
}

impl Settings {
    const WORDS: usize = 15;

    /// The beginning of the file.
    pub fn to_bytes(&self) -> [u8; Self::WORDS * 8] {
        let words: [u64; Self::WORDS] = [
            MAGIC,
            self.mode as u64,
            self.policy as u64,
            self.seed,
            self.quantum,
            self.depth,
            self.expected_steps,
            self.full_limit,
            self.start_time,
            self.ring_len,
            self.plan_at,
            self.plan_entries,
            self.hot_at,
            self.hot_entries,
            self.file_len,
        ];
        let mut bytes = [0; Self::WORDS * 8];
        for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// What a file that begins like this asks for; `None` if it is not one of ours, of this version.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut words = [0; Self::WORDS];
        let (chunks, _) = bytes.as_chunks::<8>();
        for (at, word) in words.iter_mut().enumerate() {
            *word = u64::from_le_bytes(*chunks.get(at)?);
        }
        let code = |word: u64| u8::try_from(word).ok();
        let settings = Settings {
            mode: Mode::from_code(code(words[1])?)?,
            policy: Policy::from_code(code(words[2])?)?,
            seed: words[3],
            quantum: words[4].max(1),
            depth: words[5].max(1),
            expected_steps: words[6].max(1),
            full_limit: words[7],
            start_time: words[8],
            ring_len: words[9],
            plan_at: words[10],
            plan_entries: words[11],
            hot_at: words[12],
            hot_entries: words[13],
            file_len: words[14],
        };
        (words[0] == MAGIC).then_some(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive() {
        let settings = Settings {
            mode: Mode::Hot,
            policy: Policy::Pct,
            seed: 7,
            quantum: 100,
            depth: 3,
            expected_steps: 1000,
            full_limit: 1 << 26,
            start_time: u64::MAX,
            ring_len: 1 << 20,
            plan_at: 5,
            plan_entries: 6,
            hot_at: 7,
            hot_entries: 8,
            file_len: 9,
        };
        assert_eq!(Settings::from_bytes(&settings.to_bytes()), Some(settings));
        assert_eq!(Settings::from_bytes(&settings.to_bytes()[..100]), None);
        let mut bytes = settings.to_bytes();
        bytes[0] ^= 1;
        assert_eq!(Settings::from_bytes(&bytes), None);
    }
}
