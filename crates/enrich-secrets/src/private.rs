//! Files and folders that only their owner may use.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Options that open a file for writing. Only its owner can read a new file.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A builder of folders that only their owner may open.
pub fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Syncs the entries of a folder; an empty path is the current folder.
///
/// # Errors
///
/// The errors of the system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Other systems cannot open a folder as a file. They write a folder's entries together with the
    // files.
    #[cfg(unix)]
    File::open(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })?.sync_all()?;
    Ok(())
}
