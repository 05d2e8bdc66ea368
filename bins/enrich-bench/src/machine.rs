//! Describes the machine on which the measurement runs.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use crate::process::kib_of;

/// The properties of the machine that influence the measured figures.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    processors: usize,
    model: String,
    kernel: String,
    memory_bytes: u64,
    /// The type of the file system that holds the data folders.
    file_system: String,
}

impl Machine {
    pub(crate) fn with_data_in(scratch: &Path) -> anyhow::Result<Self> {
        let read = |path: &str| fs::read_to_string(path).with_context(|| path.to_owned());
        let memory = kib_of(&read("/proc/meminfo")?, "MemTotal");
        let scratch = scratch.canonicalize().with_context(|| scratch.display().to_string())?;
        let mounts = read("/proc/self/mounts")?;
        Ok(Self {
            processors: std::thread::available_parallelism()?.get(),
            model: model_of(&read("/proc/cpuinfo")?).unwrap_or("of unknown model").to_owned(),
            kernel: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
            memory_bytes: memory.context("/proc/meminfo has no MemTotal")? * 1024,
            file_system: file_system_of(&mounts, &scratch).unwrap_or("unknown").to_owned(),
        })
    }

    pub(crate) fn description(&self) -> String {
        let Self { processors, model, kernel, memory_bytes, file_system } = self;
        let gib = *memory_bytes as f64 / f64::from(1 << 30);
        format!("{processors} processors, {model}; {gib:.1} GiB; Linux {kernel}; {file_system}")
    }
}

fn model_of(cpuinfo: &str) -> Option<&str> {
    let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.trim() == "model name").map(|(_, model)| model.trim())
}

/// Returns the type of the file system that contains `path`. `mounts` is the text of
/// `/proc/self/mounts`. If `path` is below several mount points, the longest one is used, because
/// it is the closest to `path`. If this mount point occurs several times, its last occurrence is
/// used, because a later mount hides an earlier one.
fn file_system_of<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    let above = mounts.filter(|(place, _)| path.starts_with(place));
    above.max_by_key(|(place, _)| place.len()).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_counts() {
        let mounts = "/dev/a / ext4 rw 0 0\nproc /proc proc rw 0 0\n/dev/b /data xfs rw 0 0\n\
                      tmpfs /data/fast tmpfs rw 0 0\n";
        assert_eq!(file_system_of(mounts, Path::new("/data/slow/x")), Some("xfs"));
        assert_eq!(file_system_of(mounts, Path::new("/data/fast/x")), Some("tmpfs"));
        assert_eq!(file_system_of(mounts, Path::new("/database")), Some("ext4"));
    }

    #[test]
    fn the_model_is_that_of_the_first_processor() {
        let cpuinfo = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: A Processor @ 2 GHz\n";
        assert_eq!(model_of(cpuinfo), Some("A Processor @ 2 GHz"));
        assert_eq!(model_of("processor : 0\n"), None);
    }

    #[test]
    fn this_machine_is_told() {
        let text = Machine::with_data_in(Path::new(".")).unwrap().description();
        assert!(text.contains("GiB; Linux "), "{text}");
    }
}
