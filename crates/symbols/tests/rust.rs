//! A program in Rust: this test itself.
#![allow(clippy::unwrap_used)]

mod common;

use common::Fixture;
use std::sync::atomic::{AtomicU32, Ordering};

static COUNTER: AtomicU32 = AtomicU32::new(1);
static PAIRS: [(AtomicU32, AtomicU32); 2] = [const { (AtomicU32::new(1), AtomicU32::new(2)) }; 2];

#[inline(never)]
fn count_up(by: u32) -> u32 {
    PAIRS[1].0.fetch_add(by, Ordering::Relaxed);
    COUNTER.fetch_add(by, Ordering::Relaxed)
}

#[test]
fn statics_and_functions() {
    std::hint::black_box(count_up(std::hint::black_box(2)));
    let this = Fixture::open(std::env::current_exe().unwrap());
    let counter = this.symbols.iter().find(|symbol| symbol.name.contains("7COUNTER")).unwrap();
    assert_eq!(this.module.describe(counter.address, 4).as_deref(), Some("rust::COUNTER"));
    let pairs = this.symbols.iter().find(|symbol| symbol.name.contains("5PAIRS")).unwrap();
    assert_eq!(this.module.describe(pairs.address + 12, 4).as_deref(), Some("rust::PAIRS[1].1"));
    let count_up = this.symbols.iter().find(|symbol| symbol.name.contains("8count_up")).unwrap();
    let frames = this.module.frames(count_up.address);
    assert_eq!(frames.last().unwrap().function.as_deref(), Some("rust::count_up"));
    assert!(frames.last().unwrap().file.as_deref().unwrap().ends_with("tests/rust.rs"));
}
