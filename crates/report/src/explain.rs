//! What the words of results mean.

use crate::words;
use crate::wrap::wrapped;

/// A word, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// The word.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// What one may conclude.
    pub proves: &'static str,
    /// What one may not conclude.
    pub leaves_open: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// All words that are explained: verdicts, regions and patterns.
pub const TOPICS: [Topic; 15] = [
    Topic {
        name: "confirmed",
        summary: "It happened in a run of the program.",
        proves: "With these arguments and this input, the program can be scheduled so that the three accesses are made \
                 in this order. The schedule is kept, and `interloper replay` makes it happen again.",
        leaves_open: "Whether it does harm, where that was not judged; and whether the region was meant to be one step, \
                      if it is a function or a critical section and not annotated.",
        remedy: "Replay it, look at the three places, and hold one lock over the whole step. If it is harmless, \
                 suppress it with the reason.",
    },
    Topic {
        name: "feasible",
        summary: "A schedule of the recorded events shows it.",
        proves: "The events of the trace can be ordered so, and every read on which anything depends finds what it \
                 found. A solver gave the schedule, and an interpreter that shares no code with it accepts it.",
        leaves_open: "Whether the program follows it. If it was executed and left the schedule, the reason says where.",
        remedy: "Treat it as a bug. If the program goes by something that is not recorded (process numbers, real \
                 timers), make that the same in every run and check again.",
    },
    Topic {
        name: "plausible",
        summary: "It survives AVFilter: neither locks, fork and join forbid it, nor what threads read from each other.",
        proves: "Nothing; but what is not plausible is proved to have no schedule, unless by `--filter paper`.",
        leaves_open: "Whether a schedule shows it.",
        remedy: "Use `--model causal`, which decides.",
    },
    Topic {
        name: "possible",
        summary: "Locks, fork and join do not forbid it.",
        proves: "Nothing, as such. With nested locking and without fork and join, some schedule of the recorded events \
                 shows it, if values did not matter.",
        leaves_open: "Whether values, waiting and conditions forbid it: they were not looked at.",
        remedy: "Use `--model causal`, which decides, or `interloper check`, which executes.",
    },
    Topic {
        name: "infeasible",
        summary: "No schedule of the recorded events shows it.",
        proves: "In whatever order these events are executed, if every read on which anything depends finds what it \
                 found, the other thread does not get in between.",
        leaves_open: "What the program does on other paths, with other input, or on weaker memory.",
        remedy: "Nothing. `interloper check` looks for other paths by itself.",
    },
    Topic {
        name: "unknown",
        summary: "It was not decided.",
        proves: "Nothing.",
        leaves_open: "Everything. The reason says why: the window of the trace, the budget, the memory, or an interrupt.",
        remedy: "Give it more time with `--budget`, or a shorter run of the program.",
    },
    Topic {
        name: "annotated",
        summary: "A region that the source or the trace marks as one step.",
        proves: "The author means it to be atomic.",
        leaves_open: "",
        remedy: "INTERLOPER_ATOMIC_BEGIN(\"name\") and INTERLOPER_ATOMIC_END(\"name\") of interloper.h mark one.",
    },
    Topic {
        name: "locks",
        summary: "A region that is a critical section.",
        proves: "Somebody thought of others here.",
        leaves_open: "Whether what is accessed in it without the others' lock was meant.",
        remedy: "`--regions` chooses whose regions count.",
    },
    Topic {
        name: "functions",
        summary: "A region that is one call of a function; of a thread's start routine, one turn of its loop.",
        proves: "Nothing: that a function is one step is a guess, and a good one for small functions.",
        leaves_open: "Whether it was meant to be one step.",
        remedy: "`--regions annotated` keeps to what is marked; `--atomic-functions FILE` lists what is meant.",
    },
    Topic {
        name: "inferred",
        summary: "A region that is inferred from the layout of the code.",
        proves: "Nothing.",
        leaves_open: "Whether it was meant to be one step.",
        remedy: "`--regions` chooses whose regions count.",
    },
    pattern(0),
    pattern(1),
    pattern(2),
    pattern(3),
    pattern(4),
];

const fn pattern(at: usize) -> Topic {
    let pattern = &words::PATTERNS[at];
    Topic {
        name: pattern.id,
        summary: pattern.summary,
        proves: pattern.effect,
        leaves_open: "",
        remedy: pattern.remedy,
    }
}

/// What is known of a word, in whatever case it is written.
pub fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name.eq_ignore_ascii_case(name))
}

impl Topic {
    /// For people.
    pub fn text(&self) -> String {
        let is_pattern = words::pattern(self.name).is_some();
        let mut out = String::new();
        wrapped(&mut out, &format!("{}: ", self.name), "  ", self.summary);
        let labels = if is_pattern { ["Effect", "", "What to do"] } else { ["Proves", "Leaves open", "What to do"] };
        for (label, text) in labels.iter().zip([self.proves, self.leaves_open, self.remedy]) {
            if !text.is_empty() {
                wrapped(&mut out, &format!("  {label}: "), "    ", text);
            }
        }
        out
    }
}

/// All words in a list.
pub fn overview() -> String {
    let mut out = String::from("`interloper explain ID` tells a finding again; `interloper explain WORD`, of:\n\n");
    for topic in TOPICS {
        wrapped(&mut out, &format!("  {:<12}", topic.name), "              ", topic.summary);
    }
    out
}
