//! The facts about the machine without which a figure means nothing.

use std::fs;
use std::thread;

/// One line: processor, cores, memory, kernel. What cannot be found out is left out.
pub(crate) fn facts() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let mut facts = vec![processor, format!("{cores} {}", if cores == 1 { "core" } else { "cores" })];
    let memory = field("/proc/meminfo", "MemTotal");
    let kilobytes = memory.and_then(|memory| memory.split(' ').next()?.parse::<u64>().ok());
    facts.extend(kilobytes.map(|kilobytes| format!("{} GB of memory", kilobytes >> 20)));
    if let Ok(release) = fs::read_to_string("/proc/sys/kernel/osrelease") {
        facts.push(format!("Linux {}", release.trim()));
    }
    facts.join(", ")
}

fn field(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
}
