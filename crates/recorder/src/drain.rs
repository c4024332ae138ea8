//! Reading behind the program: records out of the ring, in order.
//!
//! Up to the program's cursor every record is whole. A cursor or record that cannot be ends the
//! reading, never the program: the ring is then emptied unread, so that nobody waits for room.

use crate::control::Control;
use interloper_wire::{MAX_RECORD_LEN, Record, Records};
use std::io;

/// Takes records as they come.
pub(crate) trait Consumer {
    /// Takes a record; `raw` is what it looks like in the ring.
    fn take(&mut self, record: &Record<'_>, raw: &[u8]);

    /// Called when there is nothing to take for the moment.
    fn pause(&mut self) {}
}

/// Reads the ring of one run.
#[derive(Debug)]
pub(crate) struct Drain {
    consumed: u64,
    buffer: Vec<u8>,
    garbled: bool,
}

/// Enough to be worth the call, little enough to stay in the cache.
const BLOCK: usize = 256 << 10;
const _: () = assert!(BLOCK > MAX_RECORD_LEN, "the buffer has room for any record");

impl Drain {
    pub(crate) fn new() -> Self {
        Drain { consumed: 0, buffer: vec![0; BLOCK], garbled: false }
    }

    /// Hands out what has come since the last time, and tells how many bytes that were.
    pub(crate) fn poll(&mut self, control: &Control, consumer: &mut impl Consumer) -> io::Result<u64> {
        let begun = self.consumed;
        let produced = control.produced()?;
        self.garbled |= produced < self.consumed || produced - self.consumed > control.ring_len();
        while !self.garbled && self.consumed < produced {
            let wanted = usize::try_from(produced - self.consumed).unwrap_or(usize::MAX).min(BLOCK);
            let len = control.read_ring(self.consumed, &mut self.buffer[..wanted])?;
            let used = hand_out(&self.buffer[..len], consumer);
            // What is below the cursor is whole.
            self.garbled = used == 0;
            self.consumed += used as u64;
            control.set_consumed(self.consumed)?;
        }
        if self.garbled {
            self.consumed = produced;
            control.set_consumed(produced)?;
        }
        Ok(self.consumed.saturating_sub(begun))
    }

    /// Whether what the program wrote could not be understood to its end.
    pub(crate) fn garbled(&self) -> bool {
        self.garbled
    }
}

/// Hands out the records in these bytes, and tells how many bytes they and skips have.
fn hand_out(bytes: &[u8], consumer: &mut impl Consumer) -> usize {
    let mut records = Records::new(bytes);
    while let Some(record) = records.next() {
        let end = records.consumed();
        consumer.take(&record, &bytes[end - record.header.len()..end]);
    }
    records.consumed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Orders;
    use crate::control::tests::ORDERS;
    use crate::testing::Script;

    #[derive(Default)]
    struct Seen {
        values: Vec<u64>,
        raw: Vec<u8>,
    }

    impl Consumer for Seen {
        fn take(&mut self, record: &Record<'_>, raw: &[u8]) {
            self.values.push(record.words[0]);
            self.raw.extend_from_slice(raw);
        }
    }

    #[test]
    fn it_goes_round_the_ring_and_says_how_far() {
        let control = Control::create(&Orders { ring_len: 4096, ..ORDERS }).expect("made");
        let mut drain = Drain::new();
        let mut seen = Seen::default();
        let mut position = 0;
        let mut expected = Vec::new();
        for number in 0..1000_u64 {
            let record = Script::new().read(0x10, 8, number).bytes();
            let room = 4096 - position % 4096;
            if room < record.len() as u64 {
                control.produce(position, &[&(room << 16).to_le_bytes()[..], &vec![0; room as usize - 8]].concat());
                position += room;
            }
            control.produce(position, &record);
            position += record.len() as u64;
            expected.extend(record);
            if number % 7 == 0 {
                drain.poll(&control, &mut seen).expect("read");
                assert_eq!(control.consumed(), position);
            }
        }
        drain.poll(&control, &mut seen).expect("read");
        assert!(seen.values.into_iter().eq(0..1000));
        assert!(seen.raw == expected, "skips are no part of a record");
        assert!(!drain.garbled());
    }

    #[test]
    fn nonsense_ends_the_reading_but_makes_room() {
        let mut seen = Seen::default();
        let control = Control::create(&ORDERS).expect("made");
        let mut drain = Drain::new();
        let bytes = [Script::new().read(0x10, 8, 5).bytes(), vec![0xff; 8192]].concat();
        control.produce(0, &bytes);
        drain.poll(&control, &mut seen).expect("read");
        assert!(drain.garbled());
        assert_eq!((seen.values.len(), control.consumed()), (1, bytes.len() as u64));
    }

    #[test]
    fn a_cursor_that_cannot_be_is_not_believed() {
        let control = Control::create(&ORDERS).expect("made");
        let mut drain = Drain::new();
        control.produce(1 << 40, &[]);
        drain.poll(&control, &mut Seen::default()).expect("read");
        assert!(drain.garbled());
    }
}
