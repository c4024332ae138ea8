//! A finding to test with.

use crate::result::{Finding, FindingEvent, HeldLocks, Region, Variable, Verdict};

/// A teller reads and writes the balance, and another writes in between.
pub(crate) fn finding() -> Finding {
    let event = |role, index, thread: &str, op, line, function: &str| FindingEvent {
        role,
        index,
        thread: thread.to_owned(),
        op,
        file: Some("bank.c".to_owned()),
        line: Some(line),
        function: Some(function.to_owned()),
        occurrence: None,
        read: (op != "w").then_some(100),
        written: (op != "r").then_some(120),
        held: Some(vec!["bank".to_owned()]),
    };
    Finding {
        id: String::new(),
        verdict: Verdict::Feasible,
        reason: None,
        harm: None,
        pattern: "RWW",
        variable: Variable { name: "balance".to_owned(), size: Some(8) },
        region: Region {
            source: "functions",
            name: Some("deposit".to_owned()),
            thread: "main.1".to_owned(),
            begin: 3,
            end: Some(9),
        },
        innermost: None,
        events: vec![
            event("first", 4, "main.1", "r", 12, "get"),
            event("remote", 12, "main.2", "w", 20, "put"),
            event("second", 8, "main.1", "w", 20, "put"),
        ],
        locks: HeldLocks { region: Vec::new(), remote: vec!["bank".to_owned()] },
        witness: None,
        replay: None,
        execution: None,
        trace: None,
        threads: Vec::new(),
        known: false,
    }
}
