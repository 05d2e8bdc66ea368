//! Files and folders that only their owner may use. The owner is a user of the operating system.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Returns options for opening a file to write. A file that is created with these options can be
/// read and written only by its owner.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns a builder of folders that only their owner may open.
pub fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Syncs a folder to disk, so that the names of its files survive a power failure. An empty path
/// means the current folder.
///
/// # Errors
///
/// When the folder cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // On Unix, the name of a new file is durable only after its folder was synced. Other systems
    // cannot open a folder as a file. They write the name of a file together with the file.
    #[cfg(unix)]
    File::open(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })?.sync_all()?;
    Ok(())
}
