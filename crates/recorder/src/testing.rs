//! Records for tests, written the way the runtime writes them.

use interloper_wire::{Kind, RecordHeader};

/// A header that says nothing but what it is about.
pub(crate) fn header(kind: Kind, address: u64) -> RecordHeader {
    RecordHeader { kind, arg: 0, address, pc: 0, aux: 0 }
}

/// A stretch of the ring.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    bytes: Vec<u8>,
}

impl Script {
    pub(crate) fn new() -> Self {
        Script::default()
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Any record without text; words that are not given are 0.
    pub(crate) fn record(mut self, header: RecordHeader, words: &[u64]) -> Self {
        self.push(header, words, b"");
        self
    }

    /// Any record with text.
    pub(crate) fn text(mut self, header: RecordHeader, words: &[u64], text: &str) -> Self {
        self.push(RecordHeader { aux: text.len() as u16, ..header }, words, text.as_bytes());
        self
    }

    pub(crate) fn push(&mut self, header: RecordHeader, words: &[u64], text: &[u8]) {
        for word in header.to_words() {
            self.bytes.extend(word.to_le_bytes());
        }
        for number in 0..header.kind.words() {
            self.bytes.extend(words.get(number).copied().unwrap_or(0).to_le_bytes());
        }
        self.bytes.extend(text);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }

    pub(crate) fn plain(self, kind: Kind, address: u64, pc: u64) -> Self {
        self.record(RecordHeader { pc, ..header(kind, address) }, &[])
    }

    pub(crate) fn read(self, address: u64, size: u8, value: u64) -> Self {
        self.record(RecordHeader { arg: size, ..header(Kind::Read, address) }, &[value])
    }

    pub(crate) fn access(self, kind: Kind, address: u64, pc: u64, value: u64) -> Self {
        self.record(RecordHeader { arg: 4, pc, ..header(kind, address) }, &[value])
    }

    pub(crate) fn switch(self, to: u64, end: u16, steps: u64) -> Self {
        self.record(RecordHeader { aux: end, ..header(Kind::Switch, to) }, &[steps])
    }

    /// A thread that main makes: what is said about it, its fork, and the switch to it and its start.
    pub(crate) fn start_thread(self, number: u64, children_before: u64) -> Self {
        let top = 0x7000_0000 + number * 0x10_0000;
        self.record(header(Kind::Thread, number), &[0, children_before, top, top - 0x8000])
            .plain(Kind::Fork, number, 0)
            .switch(number, 0, 1)
            .plain(Kind::Start, 0, 0)
    }
}
