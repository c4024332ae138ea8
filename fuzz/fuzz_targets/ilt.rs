//! Feeds arbitrary bytes to the reader of this format.

#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::read_ilt(data));
