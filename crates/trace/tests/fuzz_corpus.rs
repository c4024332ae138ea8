//! The fuzz corpus, and a fixed number of mutations of each of its files, through the same harness
//! that the fuzz targets use. Fuzzing proper finds more; this finds the same again every time.

#![allow(clippy::unwrap_used)]

#[path = "../../../fuzz/harness.rs"]
mod harness;

use interloper_trace::ilt::IltOptions;
use std::fs;
use std::path::Path;

/// How many mutations of each file are tried.
const MUTATIONS: u64 = 1000;

#[test]
fn std_corpus() {
    run("std", harness::read_std, Vec::new());
}

#[test]
fn rapidbin_corpus() {
    run("rapidbin", harness::read_rapidbin, Vec::new());
}

#[test]
fn jsonl_corpus() {
    run("jsonl", harness::read_jsonl, Vec::new());
}

/// The stored files keep old bytes readable. Those converted here follow the format as it is today.
#[test]
fn ilt_corpus() {
    let options = [
        IltOptions::DEFAULT,
        IltOptions { events_per_chunk: 7, compress: false },
        IltOptions { events_per_chunk: 1, compress: true },
    ];
    let texts = corpus("jsonl");
    let converted = options.iter().flat_map(|&options| {
        texts.iter().map(move |(name, text)| (format!("{name}, converted"), harness::jsonl_to_ilt(text, options)))
    });
    run("ilt", harness::read_ilt, converted.collect());
}

fn run(target: &str, read: fn(&[u8]), more: Vec<(String, Vec<u8>)>) {
    let mut files = corpus(target);
    assert!(files.len() >= 4, "the corpus of {target} is not there");
    files.extend(more);
    for (index, (name, bytes)) in files.iter().enumerate() {
        on_panic_say(name, None, || read(bytes));
        let mut mutator = Mutator { random: Random(index as u64), others: &files };
        for mutation in 0..MUTATIONS {
            let mutated = mutator.mutate(bytes);
            on_panic_say(name, Some((mutation, &mutated)), || read(&mutated));
        }
    }
}

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
        })
        .collect();
    // Folders are listed in any order.
    files.sort();
    files
}

/// Names the input that broke a promise before the panic goes on.
fn on_panic_say(name: &str, mutation: Option<(u64, &Vec<u8>)>, run: impl FnOnce()) {
    struct Say<'a>(&'a str, Option<(u64, &'a Vec<u8>)>);
    impl Drop for Say<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!(
                    "input: {}, mutation {:?}",
                    self.0,
                    self.1.map(|(number, bytes)| (number, bytes.escape_ascii().to_string()))
                );
            }
        }
    }
    let _say = Say(name, mutation);
    run();
}

/// Makes inputs that are nearly right.
struct Mutator<'a> {
    random: Random,
    others: &'a [(String, Vec<u8>)],
}

impl Mutator<'_> {
    fn mutate(&mut self, original: &[u8]) -> Vec<u8> {
        let mut bytes = original.to_vec();
        for _ in 0..=self.random.below(3) {
            self.mutate_once(&mut bytes);
        }
        bytes
    }

    fn mutate_once(&mut self, bytes: &mut Vec<u8>) {
        let at = self.random.below(bytes.len() + 1);
        match self.random.below(7) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, self.random.next() as u8),
            // Bytes that mean something in one format or another.
            2 => bytes.insert(at, *self.pick(b"\n\r|(){}[],:\"\\-+e0 \0\x7f\x80\xff")),
            3 => {
                let end = bytes.len().min(at + 1 + self.random.below(16));
                bytes.drain(at..end);
            }
            4 => {
                let end = bytes.len().min(at + 1 + self.random.below(64));
                bytes.extend_from_within(at..end);
            }
            5 => {
                let (_, other) = self.pick(self.others);
                let from = self.random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.random.below(8);
                }
            }
        }
    }

    fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.random.below(from.len())]
    }
}

/// SplitMix64: enough for this, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
