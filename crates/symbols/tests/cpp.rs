//! Programs in C++: namespaces, classes, templates, and the standard library.
#![allow(clippy::unwrap_used)]

mod common;

use common::{DEBUG, Fixture, line_of, tag};

#[test]
fn variables_and_fields() {
    for flags in DEBUG {
        let bank = Fixture::new(&["bank.cpp"], flags, &tag("cpp-variables", flags));
        for (symbol, offset, width, expected) in [
            ("_ZN4bank7accountE", 8, 4, "bank::account.id"),
            ("_ZN4bank7accountE", 16, 8, "bank::account.tag"),
            ("_ZN4bank7accountE", 24, 4, "bank::account.balance_"),
            ("_ZN4bank7accountE", 40, 4, "bank::account.mutex_"),
            ("_ZN4bank7accountE", 0, 8, "bank::account._vptr.Entity"),
            ("_ZN4bank7Account6openedE", 0, 4, "bank::Account::opened"),
            ("_ZN4bank7Account6closedE", 0, 4, "bank::Account::closed"),
            ("_ZZN4bank7Account8withdrawEiE5calls", 0, 4, "bank::Account::withdraw::calls"),
            ("_ZN4bank3boxE", 0, 8, "bank::box.value"),
            ("_ZN4bank3BoxIlE4madeE", 0, 4, "bank::Box<long>::made"),
            ("_ZZN4bank3BoxIlE3getEvE4last", 0, 8, "bank::Box<long>::get::last"),
            ("_ZN4bank5boxesE", 8, 4, "bank::boxes[2].value"),
            ("_ZN4bank4bothE", 0, 4, "bank::both.first"),
            ("_ZN4bank4bothE", 8, 8, "bank::both.second.tag"),
            ("_ZN4bank4nameB5cxx11E", 8, 8, "bank::name[abi:cxx11]"),
            ("counter", 0, 4, "counter"),
            ("flag", 0, 1, "flag"),
            ("mutex", 4, 4, "mutex"),
            ("_ZL6ledger", 40, 8, "ledger"),
            ("_ZN12_GLOBAL__N_16hiddenE", 0, 4, "(anonymous namespace)::hidden"),
            ("_ZN12_GLOBAL__N_15Local4keptE", 0, 4, "(anonymous namespace)::Local::kept"),
            ("_ZZL5plainiE4seen", 0, 4, "plain::seen"),
        ] {
            if bank.keeps(flags, symbol) {
                assert_eq!(bank.describe(symbol, offset, width), expected, "{flags:?}");
            }
        }
        let inside = bank.symbols.iter().find(|symbol| symbol.name.ends_with("E6inside")).unwrap();
        let inside = bank.module.describe(inside.address, 4).unwrap();
        assert!(inside.starts_with("main::") && inside.ends_with("::inside"), "{inside}, {flags:?}");
    }
}

#[test]
fn functions_and_lines() {
    for flags in DEBUG {
        let bank = Fixture::new(&["bank.cpp"], flags, &tag("cpp-functions", flags));
        let twice = line_of("bank.cpp", "line of twice");
        let call = line_of("bank.cpp", "line of call");
        bank.assert_stack(
            "_ZN12_GLOBAL__N_13shyEi",
            "bank.cpp",
            &[("(anonymous namespace)::twice", twice), ("(anonymous namespace)::shy", call)],
        );
        let withdraw = line_of("bank.cpp", "line of withdraw");
        bank.assert_stack("_ZN4bank7Account8withdrawEi", "bank.cpp", &[("bank::Account::withdraw", withdraw)]);
        for (symbol, name) in [
            ("_ZNK4bank7Account8withdrawEl", "bank::Account::withdraw"),
            ("_ZN4bank3BoxIlE3getEv", "bank::Box<long>::get"),
            ("_ZL5plaini", "plain"),
            ("main", "main"),
        ] {
            let stacks = bank.stacks(symbol);
            assert!(stacks.iter().all(|stack| stack.last().unwrap().0 == name), "{name}, {flags:?}: {stacks:?}");
        }
    }
}

#[test]
fn without_debug_information_the_symbol_table_serves() {
    let bank = Fixture::new(&["bank.cpp"], &["-O2"], "cpp-plain");
    assert_eq!(bank.describe("_ZN4bank7accountE", 24, 4), "bank::account+24");
    assert_eq!(bank.describe("_ZZL5plainiE4seen", 0, 4), "plain::seen");
    let stacks = bank.stacks("_ZN4bank3BoxIlE3getEv");
    assert!(stacks.iter().all(|stack| stack[0].0 == "bank::Box<long>::get"));
}

/// As clang does with classes that have virtual functions, gcc can be told to describe a class in one unit
/// only, and to declare it in others.
#[test]
fn a_class_described_in_another_unit() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let flags = [version, "-O0", "-femit-struct-debug-baseonly"];
        let robbery = Fixture::new(&["robbery.cpp", "vault.cpp"], &flags, &tag("cpp-vault", &flags));
        assert_eq!(robbery.describe("target", 0, 4), "target.doors");
        assert_eq!(robbery.describe("target", 8, 4), "target.guards[1]");
    }
}
