//! Files that are no good: whatever their bytes, there is an answer or none, and never a panic.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Fixture, compile, run, scratch, symbols};
use interloper_symbols::{Module, SymbolsError};
use object::{Object, ObjectSection};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// A small generator, so that a failure comes back.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// Asks all kinds of questions.
fn question(path: &Path, code: &[u64], data: &[u64]) -> usize {
    let Ok(module) = Module::open(path) else { return 0 };
    let mut known = module.build_id().map_or(0, |id| id.len());
    for &address in code.iter().chain(&[0, 1, u64::MAX, u64::MAX - 1, 1 << 63]) {
        known += module.frames(address).len();
    }
    for &address in data.iter().chain(&[0, 1, u64::MAX, u64::MAX - 1, 1 << 63]) {
        let Some(variable) = module.variable(address) else { continue };
        known += 1;
        assert!(address >= variable.start && address - variable.start < variable.size);
        for (offset, size) in [(0, 1), (4, 4), (8, 8), (u64::MAX, 1), (1 << 60, u64::MAX), (0, 0)] {
            known += variable.ty.and_then(|ty| module.member(ty, offset, size)).map_or(0, |text| text.len());
        }
        known += module.describe(address, 8).map_or(0, |text| text.len());
    }
    known
}

/// Questions about what is really in a program.
fn addresses(path: &Path) -> (Vec<u64>, Vec<u64>) {
    let (mut code, mut data) = (Vec::new(), Vec::new());
    for symbol in symbols(path) {
        let list = if symbol.is_code { &mut code } else { &mut data };
        list.extend((0..symbol.size.clamp(1, 24)).step_by(8).map(|offset| symbol.address + offset));
    }
    (code, data)
}

/// Where it hurts: the headers, and each section that is read.
fn targets(path: &Path) -> Vec<Range<usize>> {
    let bytes = fs::read(path).unwrap();
    let object = object::File::parse(&*bytes).unwrap();
    let mut targets = vec![0..64, bytes.len() - 64 * object.sections().count()..bytes.len(), 0..bytes.len()];
    for section in object.sections() {
        let name = section.name().unwrap();
        if let Some((start, len)) = section.file_range()
            && len > 0
            && (name.starts_with(".debug") || name.contains("sym") || name.contains("str") || name.contains("note"))
        {
            let start = usize::try_from(start).unwrap();
            targets.push(start..start + usize::try_from(len).unwrap());
        }
    }
    targets
}

fn mutate(path: &Path, out: &str, rounds: usize) {
    let original = fs::read(path).unwrap();
    let (code, data) = addresses(path);
    let targets = targets(path);
    let good = question(path, &code, &data);
    assert!(good > 100, "the questions have answers");
    let copy = scratch(out);
    let mut random = Random(7);
    for round in 0..rounds {
        let mut bytes = original.clone();
        match round % 8 {
            0 => bytes.truncate(random.below(original.len())),
            1 => {
                let target = targets[random.below(targets.len())].clone();
                bytes[target.clone()].fill([0, 0xff, 0x80, 1][random.below(4)]);
            }
            _ => {
                let target = targets[random.below(targets.len())].clone();
                for _ in 0..=random.below(8) {
                    let at = target.start + random.below(target.len());
                    bytes[at] = match random.below(4) {
                        0 => 0xff,
                        1 => 0,
                        _ => bytes[at] ^ (1 << random.below(8)),
                    };
                }
            }
        }
        fs::write(&copy, bytes).unwrap();
        question(&copy, &code, &data);
    }
}

#[test]
fn mutated_c() {
    mutate(&compile(&["bank.c"], &["-g", "-O2"], "malformed-c"), "malformed-c-copy", 800);
}

#[test]
fn mutated_dwarf_4() {
    mutate(&compile(&["bank.c"], &["-gdwarf-4", "-O1"], "malformed-c4"), "malformed-c4-copy", 400);
}

#[test]
fn mutated_cpp() {
    let flags = ["-g", "-O1", "-no-pie", "-fno-pie"];
    mutate(&compile(&["bank.cpp"], &flags, "malformed-cpp"), "malformed-cpp-copy", 300);
}

#[test]
fn mutated_compressed() {
    mutate(&compile(&["bank.c"], &["-g", "-O2", "-gz"], "malformed-gz"), "malformed-gz-copy", 200);
}

/// Entries nested a hundred thousand deep would exhaust the stack of whoever follows them by recursion.
#[test]
fn nested_without_end() {
    let assembly = scratch("deep.s");
    fs::write(
        &assembly,
        "
        .text
        .globl main
        .type main, @function
main:   ret
        .size main, . - main
        .section .debug_abbrev
        .byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0
        .byte 2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 7, 0, 0
        .byte 3, 0x1d, 1, 0x11, 1, 0x12, 7, 0, 0
        .byte 0
        .section .debug_info
        .long end - begin
begin:  .short 4
        .long 0
        .byte 8
        .byte 1
        .quad main, 1
        .byte 2
        .asciz \"deep\"
        .quad main, 1
        .rept DEPTH
        .byte 3
        .quad main, 1
        .endr
        .rept DEPTH + 2
        .byte 0
        .endr
end:
        ",
    )
    .unwrap();
    for (depth, count, outermost) in [("2", 3, "deep"), ("100000", 1, "main")] {
        let out = scratch(&format!("deep-{depth}"));
        run(Command::new("gcc").arg(&assembly).arg(format!("-Wa,--defsym,DEPTH={depth}")).arg("-o").arg(&out));
        let deep = Fixture::open(out);
        assert!(deep.module.has_debug_info());
        let frames = deep.module.frames(deep.symbol("main").address);
        assert_eq!(frames.len(), count);
        assert_eq!(frames.last().unwrap().function.as_deref(), Some(outermost));
    }
}

#[test]
fn other_files_are_told_apart() {
    let open = |path: &Path| Module::open(path).map(|_| ()).unwrap_err();
    let empty = scratch("empty");
    fs::write(&empty, "").unwrap();
    assert!(matches!(open(&empty), SymbolsError::NotElf { .. }));
    assert!(matches!(open(empty.parent().unwrap()), SymbolsError::NotRegular));
    assert!(matches!(open(&scratch("not-there")), SymbolsError::Io(_)));
    assert!(matches!(open(&common::source("bank.c")), SymbolsError::NotElf { .. }));
    let object = compile(&["bank.c"], &["-c"], "unlinked.o");
    assert_eq!(open(&object).to_string(), "found an object file that is not linked, expected a linked ELF file");
    let header = scratch("header-only");
    fs::write(&header, b"\x7fELF\x02\x01\x01").unwrap();
    assert!(matches!(open(&header), SymbolsError::Malformed(_)));
}
