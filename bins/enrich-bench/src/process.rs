//! Processor time and private memory of a process, from Linux's `/proc`.

use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    id: u32,
    ticks_a_second: u64,
}

impl Process {
    /// Returns the process with this id.
    ///
    /// # Errors
    ///
    /// When the system does not report the length of its clock ticks.
    pub(crate) fn with_id(id: u32) -> anyhow::Result<Self> {
        let ticks = Command::new("getconf").arg("CLK_TCK").output();
        let ticks = ticks.context("`getconf CLK_TCK` cannot be run")?;
        let text = String::from_utf8_lossy(&ticks.stdout);
        let ticks_a_second = text.trim().parse().context("`getconf CLK_TCK` says no number")?;
        ensure!(ticks_a_second > 0, "`getconf CLK_TCK` says 0");
        Ok(Self { id, ticks_a_second })
    }

    /// Returns the processor time that all threads of the process have used so far, in
    /// microseconds.
    pub(crate) fn processor_micros(&self) -> anyhow::Result<u64> {
        let path = format!("/proc/{}/stat", self.id);
        let text = fs::read_to_string(&path).with_context(|| path.clone())?;
        let ticks = ticks_of(&text).with_context(|| format!("{path}: `{}`", text.trim()))?;
        Ok(ticks * 1_000_000 / self.ticks_a_second)
    }

    /// Returns the private memory of the process (`RssAnon`), in bytes.
    pub(crate) fn private_bytes(&self) -> anyhow::Result<u64> {
        let path = format!("/proc/{}/status", self.id);
        let text = fs::read_to_string(&path).with_context(|| path.clone())?;
        let kib = kib_of(&text, "RssAnon").with_context(|| format!("{path} has no RssAnon"))?;
        Ok(kib * 1024)
    }
}

/// Returns the sum of the fields `utime` and `stime` in the text of `/proc/PID/stat`, in clock
/// ticks. They are the fields 14 and 15 (proc_pid_stat(5)). The second field is the program's name
/// in brackets. The name may contain any characters, even brackets. So the fields are counted after
/// the last bracket, from field 3 on.
fn ticks_of(stat: &str) -> Option<u64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut fields = behind_name.split_whitespace().skip(14 - 3);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

/// Returns the value of a line `NAME: 1234 kB` in the text of `/proc/PID/status` or
/// `/proc/meminfo`. There, `kB` means 1,024 bytes.
pub(crate) fn kib_of(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(there, _)| *there == name)?;
    value.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_behind_a_name_with_brackets() {
        let stat = "4711 (a) S (b)) S 1 4711 4711 0 -1 4194560 1030 0 3 0 250 50 0 0 20 0 7 0 9";
        assert_eq!(ticks_of(stat), Some(300));
        assert_eq!(ticks_of("4711 (a) S 1 2"), None);
    }

    #[test]
    fn private_memory_is_read_by_its_name() {
        let status = "Name:\tenrich\nVmRSS:\t  90 kB\nRssAnon:\t  7312 kB\nThreads:\t5\n";
        assert_eq!(kib_of(status, "RssAnon"), Some(7312));
        assert_eq!(kib_of(status, "RssFile"), None);
        assert_eq!(kib_of(status, "Threads"), None);
    }

    #[test]
    fn this_process_can_be_watched() {
        let process = Process::with_id(std::process::id()).unwrap();
        assert!(process.private_bytes().unwrap() > 100_000);
        process.processor_micros().unwrap();
    }
}
