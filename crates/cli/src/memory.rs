//! How much memory this process has.

/// How many bytes are resident; none that one could tell of where the kernel does not say.
pub(crate) fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")).and_then(|number| number.trim().parse().ok());
    kilobytes.map_or(0, |kilobytes: u64| kilobytes << 10)
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_is_some() {
        let before = super::resident();
        assert!(before > 100_000, "{before}");
        let much = vec![1_u8; 64 << 20];
        assert!(super::resident() >= before + (60 << 20), "{before} {}", much[7]);
    }
}
