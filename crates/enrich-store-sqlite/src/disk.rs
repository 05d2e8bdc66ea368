//! Checks the free space of a disk.

use std::io;
use std::path::{Path, PathBuf};

/// The free space, in bytes, that must remain on a disk after writing.
const RESERVE_BYTES: u64 = 16_000_000;
const MEGABYTE: u64 = 1_000_000;

/// A disk has too little free space, or its free space is unknown.
#[derive(Debug, thiserror::Error)]
pub enum SpaceError {
    /// The system cannot report the free space.
    #[error("{folder} cannot be read or written")]
    Unknown {
        /// The folder on the disk.
        folder: PathBuf,
        /// Why the free space is unknown.
        #[source]
        source: io::Error,
    },
    /// The disk has too little space.
    #[error("{needed} MB are needed on the disk of {folder} and {free} MB are free")]
    TooLittle {
        /// The folder on the disk.
        folder: PathBuf,
        /// The required space, in megabytes.
        needed: u64,
        /// The free space, in megabytes.
        free: u64,
    },
}

/// Checks that the disk of a folder has space for `bytes` bytes and for a reserve of 16 MB.
///
/// # Errors
///
/// See [`SpaceError`].
pub fn check_space(folder: &Path, bytes: u64) -> Result<(), SpaceError> {
    let free = fs4::available_space(or_here(folder))
        .map_err(|source| SpaceError::Unknown { folder: folder.into(), source })?;
    let needed = bytes.saturating_add(RESERVE_BYTES);
    if free >= needed {
        return Ok(());
    }
    Err(SpaceError::TooLittle {
        folder: folder.into(),
        needed: needed.div_ceil(MEGABYTE),
        free: free / MEGABYTE,
    })
}

fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_too_small_is_refused_with_both_numbers() {
        match check_space(Path::new(""), u64::MAX).unwrap_err() {
            SpaceError::TooLittle { needed: 18_446_744_073_710, free, .. } => {
                assert!(free < 18_446_744_073_710);
            }
            other => panic!("{other:?}"),
        }
    }
}
