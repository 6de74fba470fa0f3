//! The most memory that this process held, where the system tells.

use std::fs;

/// Forgets what was held so far. Where that is not possible later figures include it.
pub(super) fn reset() {
    // Linux: proc(5), the value 5 resets the peak.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most megabytes since the last [`reset`]; `None` where the system does not tell.
pub(super) fn peak() -> Option<f64> {
    peak_of(&fs::read_to_string("/proc/self/status").ok()?)
}

/// The peak in a text as of `/proc/self/status`.
fn peak_of(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_in_megabytes() {
        assert_eq!(peak_of("Name:\tpar\nVmHWM:\t  1000 kB\nVmRSS:\t 7 kB\n"), Some(1.024));
        assert_eq!(peak_of("Name:\tpar\n"), None);
        assert_eq!(peak_of("VmHWM:\tmuch\n"), None);
    }
}
