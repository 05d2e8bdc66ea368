//! The peak memory of a process.

use std::fs;

use anyhow::{Context, Result};

/// Returns the peak resident memory of a process, in megabytes of 1,000,000 bytes.
pub(crate) fn peak_resident_mb(process: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    peak_in(&status).context("the status names no peak")
}

/// Parses the peak resident memory from `/proc/PID/status`, where `kB` means 1,024 bytes.
fn peak_in(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_in_megabytes() {
        let status = "Name:\tenrich\nVmHWM:\t  390625 kB\nVmRSS:\t  1000 kB\n";
        assert_eq!(peak_in(status), Some(400.0));
        assert_eq!(peak_in("Name:\tenrich\n"), None);
        assert!(peak_resident_mb(std::process::id()).unwrap() > 0.0);
    }
}
