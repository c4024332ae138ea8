//! The first byte of every event: what it is.
//!
//! Reads and writes are most of a trace, so half of all tags are theirs, with flags and the size
//! in the bits; the other operations have a tag each. Everything small that an operation carries
//! (lock mode, wake, region source) is part of its tag.

/// Bits 5 and 6 of the tag of an access: plain.
pub(super) const PLAIN: u8 = 0x00;
/// Plain, and the thread's next event belongs to it.
pub(super) const PLAIN_MORE: u8 = 0x20;
/// Atomic; a byte says in which order.
pub(super) const ATOMIC: u8 = 0x40;
/// A read-modify-write; a byte says in which order, and whether it wrote.
pub(super) const READ_MODIFY_WRITE: u8 = 0x60;
/// The bits that tell these apart.
pub(super) const CLASS: u8 = 0x60;

/// The bits of an access that hold its size code.
pub(super) const SIZE_CODE: u8 = 0x07;
/// The value is there; of a read-modify-write, the value read.
pub(super) const HAS_VALUE: u8 = 0x08;
/// A write rather than a read.
pub(super) const IS_WRITE: u8 = 0x10;
/// Of a read-modify-write, the value written is there.
pub(super) const HAS_WRITTEN: u8 = 0x10;

/// The sizes that have a code of their own: the code is the index.
pub(super) const SIZES: [u32; 5] = [0, 1, 2, 4, 8];
/// The size is written out.
pub(super) const SIZE_FOLLOWS: u8 = 5;

/// The bits of the order byte that hold the order.
pub(super) const ORDER: u8 = 0x07;
/// Order byte: the thread's next event belongs to the same access.
pub(super) const ORDER_MORE: u8 = 0x08;
/// Order byte of a read-modify-write: it wrote.
pub(super) const ORDER_SUCCESS: u8 = 0x10;

macro_rules! tags {
    ($($name:ident = $code:literal;)*) => {
        $(pub(super) const $name: u8 = $code;)*

        /// All tags of other operations than accesses, with their names in the documentation.
        #[cfg(test)]
        pub(super) const NAMED: &[(u8, &str)] = &[$(($name, stringify!($name))),*];
    };
}

tags! {
    FENCE = 0x80;
    REQUEST = 0x81;
    ACQUIRE_EXCLUSIVE = 0x82;
    ACQUIRE_SHARED = 0x83;
    TRY_ACQUIRE_EXCLUSIVE = 0x84;
    TRY_ACQUIRE_SHARED = 0x85;
    TRY_FAILED_EXCLUSIVE = 0x86;
    TRY_FAILED_SHARED = 0x87;
    RELEASE_EXCLUSIVE = 0x88;
    RELEASE_SHARED = 0x89;
    WAIT_BEGIN = 0x8a;
    WAIT_END_NOTIFIED = 0x8b;
    WAIT_END_TIMED_OUT = 0x8c;
    WAIT_END_SPURIOUS = 0x8d;
    SIGNAL = 0x8e;
    BROADCAST = 0x8f;
    SEMAPHORE_WAIT = 0x90;
    SEMAPHORE_POST = 0x91;
    BARRIER_ARRIVE = 0x92;
    BARRIER_LEAVE = 0x93;
    ONCE_BEGIN = 0x94;
    ONCE_END = 0x95;
    ONCE_PASS = 0x96;
    FORK = 0x97;
    JOIN = 0x98;
    START = 0x99;
    FINISH = 0x9a;
    ALLOCATE = 0x9b;
    FREE = 0x9c;
    BRANCH = 0x9d;
    ENTER = 0x9e;
    EXIT = 0x9f;
    REGION_BEGIN_ANNOTATED = 0xa0;
    REGION_BEGIN_LOCKS = 0xa1;
    REGION_BEGIN_FUNCTIONS = 0xa2;
    REGION_BEGIN_INFERRED = 0xa3;
    REGION_END_ANNOTATED = 0xa4;
    REGION_END_LOCKS = 0xa5;
    REGION_END_FUNCTIONS = 0xa6;
    REGION_END_INFERRED = 0xa7;
    INPUT = 0xa8;
    INPUT_VALUE = 0xa9;
    DEFINE_CONSTANT = 0xaa;
    DEFINE_APPLY = 0xab;
    BIND_READ = 0xac;
    BIND_WRITTEN = 0xad;
    ASSUME_FALSE = 0xae;
    ASSUME_TRUE = 0xaf;
    MARK = 0xb0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_tag() {
        let document = include_str!("../../../../docs/trace-format.md");
        let rows: Vec<Vec<&str>> = document
            .lines()
            .filter(|line| line.starts_with("| `0x"))
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        for (code, name) in NAMED {
            let rows: Vec<_> = rows.iter().filter(|row| row[1] == format!("`{code:#04x}`")).collect();
            assert_eq!(rows.len(), 1, "rows of {name} ({code:#04x}) in docs/trace-format.md");
            assert_eq!(rows[0][2], format!("`{name}`"));
        }
    }

    #[test]
    fn tags_are_dense() {
        for (position, (code, name)) in NAMED.iter().enumerate() {
            assert_eq!(usize::from(*code), 0x80 + position, "{name}");
        }
    }
}
