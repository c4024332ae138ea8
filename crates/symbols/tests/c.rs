//! Programs in C: compiled in many ways, they mean the same.
#![allow(clippy::unwrap_used)]

mod common;

use common::{DEBUG, Fixture, compile, line_of, run, scratch, tag};
use interloper_symbols::{Module, Program};
use std::process::Command;

#[test]
fn variables_and_fields() {
    for flags in DEBUG {
        let bank = Fixture::new(&["bank.c"], flags, &tag("variables", flags));
        assert!(bank.module.has_debug_info());
        let size = bank.symbol("accounts").size / 4;
        for (symbol, offset, width, expected) in [
            ("accounts", 0, 4, "accounts[0].id"),
            ("accounts", 2 * size + 8, 8, "accounts[2].balance"),
            ("accounts", 2 * size + 12, 1, "accounts[2].balance"),
            ("accounts", size + 16, 1, "accounts[1].owner.first[0]"),
            ("accounts", size + 31, 1, "accounts[1].owner.last[7]"),
            ("accounts", size + 16, 8, "accounts[1].owner.first"),
            ("accounts", size + 16, 16, "accounts[1].owner"),
            ("accounts", size + 20, 8, "accounts[1].owner"),
            ("accounts", 3 * size, size, "accounts[3]"),
            ("accounts", 32, 4, "accounts[0].small"),
            ("accounts", 33, 1, "accounts[0].bytes[1]"),
            ("accounts", 32, 8, "accounts[0].bytes"),
            ("accounts", 40, 1, "accounts[0].{open, frozen}"),
            ("accounts", 41, 2, "accounts[0].branch"),
            ("accounts", 40, 4, "accounts[0].{open, frozen, branch}"),
            ("accounts", 48, 8, "accounts[0].next"),
            ("accounts", 56 + 6 + 2, 2, "accounts[0].limits[1][1]"),
            ("accounts", 4, 4, "accounts[0]"),
            ("accounts", size - 4, 8, "accounts+68"),
            ("grid", 0, 4, "grid[0][0]"),
            ("grid", 4 * (2 * 5 + 3), 4, "grid[2][3]"),
            ("lock", 0, 4, "lock"),
            ("lock", 8, 4, "lock"),
            ("buffer", 17, 1, "buffer[17]"),
            ("buffer", 16, 8, "buffer+16"),
            ("rate", 4, 4, "rate"),
            ("late", 0, 4, "late"),
            ("last", 0, 4, "next_id::last"),
            ("calls", 0, 4, "next_id::calls"),
        ] {
            if bank.keeps(flags, symbol) {
                assert_eq!(bank.describe(symbol, offset, width), expected, "{flags:?}");
            }
        }
        let accounts = bank.symbol("accounts");
        let found = bank.module.variable(accounts.address + 100).unwrap();
        assert_eq!((found.start, found.size), (accounts.address, accounts.size));
        let after = bank.module.variable(accounts.address + accounts.size);
        assert!(after.is_none_or(|after| after.name != "accounts"));
    }
}

#[test]
fn functions_and_lines() {
    for flags in DEBUG {
        let bank = Fixture::new(&["bank.c"], flags, &tag("functions", flags));
        let credit = line_of("bank.c", "line of credit");
        let call = line_of("bank.c", "line of call");
        bank.assert_stack("deposit", "bank.c", &[("credit", credit), ("deposit", call)]);
        let last = line_of("bank.c", "last += calls");
        bank.assert_stack("next_id", "bank.c", &[("next_id", last)]);
        assert!(bank.stacks("corner").iter().all(|stack| stack.last().unwrap().0 == "corner"));
    }
}

#[test]
fn without_debug_information_the_symbol_table_serves() {
    for flags in [&["-O2"][..], &["-O0", "-no-pie", "-fno-pie"], &["-O2", "-shared", "-fPIC"]] {
        let bank = Fixture::new(&["bank.c"], flags, &tag("plain", flags));
        assert!(!bank.module.has_debug_info());
        assert_eq!(bank.module.debug_info_error(), None);
        assert_eq!(bank.describe("accounts", 0, 4), "accounts");
        assert_eq!(bank.describe("accounts", 80, 4), "accounts+80");
        assert_eq!(bank.describe("last", 0, 4), "last");
        let stacks = bank.stacks("corner");
        assert!(stacks.iter().all(|stack| *stack == [("corner".to_owned(), String::new(), 0)]));
        assert!(bank.module.variable(bank.symbol("accounts").address).unwrap().ty.is_none());
    }
}

#[test]
fn stripped_of_all_but_dynamic_symbols() {
    let path = compile(&["bank.c"], &["-g", "-O2", "-shared", "-fPIC"], "stripped.so");
    let whole = Fixture::open(path.clone());
    run(Command::new("strip").arg(&path));
    let stripped = Module::open(&path).unwrap();
    assert!(!stripped.has_debug_info());
    assert_eq!(stripped.build_id(), whole.module.build_id());
    let deposit = stripped.frames(whole.symbol("deposit").address);
    assert_eq!(deposit.len(), 1);
    assert_eq!(deposit[0].function.as_deref(), Some("deposit"));
    assert_eq!(stripped.describe(whole.symbol("accounts").address, 4).as_deref(), Some("accounts"));
    assert_eq!(stripped.variable(whole.symbol("grid").address), None);
    assert!(stripped.frames(whole.symbol("corner").address).is_empty());
    assert!(stripped.frames(u64::MAX).is_empty() && stripped.variable(0).is_none());
}

#[test]
fn separate_debug_files_are_found_and_checked() {
    for (way, build_id) in [("with", "-Wl,--build-id"), ("without", "-Wl,--build-id=none")] {
        let path = compile(&["bank.c"], &["-g", "-O2", build_id], &format!("separate-{way}"));
        let whole = Fixture::open(path.clone());
        let debug = scratch(&format!("separate-{way}.debug"));
        run(Command::new("objcopy").arg("--only-keep-debug").arg(&path).arg(&debug));
        run(Command::new("strip").arg(&path));
        run(Command::new("objcopy").arg(format!("--add-gnu-debuglink={}", debug.display())).arg(&path));

        let split = Module::open(&path).unwrap();
        assert!(split.has_debug_info());
        let address = whole.symbol("grid").address;
        assert_eq!(split.describe(address + 4, 4).as_deref(), Some("grid[0][1]"));
        let address = whole.symbol("deposit").address;
        assert_eq!(split.frames(address), whole.module.frames(address));

        // That of another program is not taken.
        let other = compile(&["bank.c"], &["-g", "-O0", build_id], &format!("separate-{way}-other"));
        run(Command::new("objcopy").arg("--only-keep-debug").arg(&other).arg(&debug));
        assert!(!Module::open(&path).unwrap().has_debug_info());
    }
}

#[test]
fn the_build_id_is_that_of_the_linker() {
    let flags = ["-Wl,--build-id=0x00ff10aB"];
    let path = compile(&["bank.c"], &flags, "build-id");
    assert_eq!(Module::open(&path).unwrap().build_id().as_deref(), Some("00ff10ab"));
    let path = compile(&["bank.c"], &["-Wl,--build-id=none"], "no-build-id");
    assert_eq!(Module::open(&path).unwrap().build_id(), None);
}

#[test]
fn a_program_of_modules_at_biases() {
    let bank = Fixture::new(&["bank.c"], &["-g", "-O0"], "program");
    let library = Fixture::new(&["bank.c"], &["-g", "-O0", "-shared", "-fPIC"], "program.so");
    let mut program = Program::new();
    program.add(&bank.path, 0x5555_0000_0000, 0x5555_0000_0000..0x5555_0001_0000);
    program.add(&library.path, 0x7fff_0000_0000, 0x7fff_0000_0000..0x7fff_0001_0000);
    program.add(scratch("program-gone"), 0, 0..0x1000);

    let rate = library.symbol("rate").address;
    let (module, variable) = program.variable(0x7fff_0000_0000 + rate + 1).unwrap();
    assert_eq!((variable.name.as_str(), variable.start), ("rate", 0x7fff_0000_0000 + rate));
    assert_eq!(module.build_id(), library.module.build_id());
    let grid = 0x5555_0000_0000 + bank.symbol("grid").address;
    assert_eq!(program.describe(grid + 24, 4).as_deref(), Some("grid[1][1]"));
    let deposit = bank.symbol("deposit").address;
    assert_eq!(program.frames(0x5555_0000_0000 + deposit), bank.module.frames(deposit));
    assert_eq!(program.frames(0x6000_0000_0000), []);
    assert!(program.locate(0x10).is_none());
    let failures: Vec<_> = program.failures().map(|(path, _)| path.to_owned()).collect();
    assert_eq!(failures, [scratch("program-gone")]);
}
