//! Every instruction of a program, asked of us and of binutils' `addr2line`.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Fixture, tag};
use std::fs;
use std::process::{Command, Stdio};

/// Place of each frame, innermost first, for each address. `addr2line` writes a line for the
/// address, then two for each frame: function and place.
fn ask_binutils(fixture: &Fixture, addresses: &[u64]) -> Vec<Vec<String>> {
    let input = fixture.path.with_extension("addresses");
    fs::write(&input, addresses.iter().map(|address| format!("{address:#x}\n")).collect::<String>()).unwrap();
    let output = Command::new("addr2line")
        .args(["-a", "-i", "-f", "-e"])
        .arg(&fixture.path)
        .stdin(Stdio::from(fs::File::open(&input).unwrap()))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut answers: Vec<Vec<String>> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            answers.push(Vec::new());
        } else {
            let place = lines.next().unwrap().split(" (discriminator").next().unwrap();
            answers.last_mut().unwrap().push(place.to_owned());
        }
    }
    answers
}

#[test]
fn frames_are_those_of_binutils() {
    for flags in [&["-g", "-O2"][..], &["-g", "-O0"], &["-gdwarf-4", "-O2"]] {
        let bank = Fixture::new(&["bank.cpp"], flags, &tag("oracle", flags));
        let ours = ["bank", "GLOBAL", "main", "plain", "ledger"];
        let addresses: Vec<_> = bank
            .symbols
            .iter()
            .filter(|symbol| symbol.is_code && ours.iter().any(|part| symbol.name.contains(part)))
            .flat_map(|symbol| symbol.address..symbol.address + symbol.size)
            .collect();
        assert!(addresses.len() > 500);
        let expected = ask_binutils(&bank, &addresses);
        assert_eq!(expected.len(), addresses.len());
        for (&address, expected) in addresses.iter().zip(expected) {
            let places: Vec<_> = bank
                .module
                .frames(address)
                .into_iter()
                .map(|frame| {
                    let line = frame.line.map_or_else(|| "?".to_owned(), |line| line.to_string());
                    format!("{}:{line}", frame.file.unwrap_or_else(|| "??".to_owned()))
                })
                .collect();
            assert_eq!(places, expected, "{address:#x} in {}", bank.path.display());
        }
    }
}
