//! Checks the free space of a disk.

use std::io;
use std::path::Path;

/// The free space, in bytes, that must remain on a disk after writing.
const RESERVE_BYTES: u64 = 16_000_000;
const MEGABYTE: u64 = 1_000_000;

/// Checks that the disk of a folder has space for `bytes` bytes and for a reserve of 16 MB. If it
/// has too little space, the inner error contains two numbers of megabytes: the needed space and
/// the free space.
///
/// # Errors
///
/// When the system cannot report the free space.
pub fn check_space(folder: &Path, bytes: u64) -> io::Result<Result<(), [u64; 2]>> {
    let free = fs4::available_space(or_here(folder))?;
    let needed = bytes.saturating_add(RESERVE_BYTES);
    let is_enough = free >= needed;
    Ok(if is_enough { Ok(()) } else { Err([needed.div_ceil(MEGABYTE), free / MEGABYTE]) })
}

fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_too_small_is_refused_with_both_numbers() {
        let [needed, free] = check_space(Path::new(""), u64::MAX).unwrap().unwrap_err();
        assert!(needed == 18_446_744_073_710 && free < needed);
    }
}
