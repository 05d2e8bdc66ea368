//! Functions for the files of uploaded lists and of their outputs: creating files that only the
//! owner can read, replacing a file atomically, compressing a text, and syncing a folder to disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use enrich_import::Compression;
use serde::Serialize;

use super::error::PartError;

/// Replaces the file at `path` atomically with `content` as JSON.
pub(crate) fn write_atomically(path: &Path, content: &impl Serialize) -> Result<(), PartError> {
    let new = with_ending(path, ".new");
    let text = serde_json::to_vec(content).map_err(io::Error::other);
    let write = |text: Vec<u8>| {
        let mut file = private().truncate(true).open(&new)?;
        file.write_all(&text)?;
        file.sync_data()?;
        fs::rename(&new, path)
    };
    text.and_then(write).map_err(failed_at(path))?;
    sync_folder_of(path)
}

/// Compresses a text as one member (gzip), stream (bzip2) or frame (zstd). A file may contain
/// several of these, one after the other. Without a compression, returns the text unchanged.
pub(crate) fn compressed(text: &[u8], compression: Option<Compression>) -> io::Result<Vec<u8>> {
    match compression {
        None => Ok(text.to_vec()),
        Some(Compression::Zstd) => zstd::encode_all(text, zstd::DEFAULT_COMPRESSION_LEVEL),
        Some(Compression::Bzip2) => {
            let level = bzip2::Compression::default();
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), level);
            encoder.write_all(text)?;
            encoder.finish()
        }
        Some(Compression::Gzip) => {
            let level = flate2::Compression::default();
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(text)?;
            encoder.finish()
        }
    }
}

/// Returns the options for creating files with personal data: only the owner may read them.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

pub(super) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

pub(crate) fn sync_folder_of(path: &Path) -> Result<(), PartError> {
    // A folder is synced only on Unix. Other systems cannot open a folder like a file, and need not
    // sync it.
    #[cfg(unix)]
    {
        File::open(folder_of(path))
            .and_then(|folder| folder.sync_all())
            .map_err(failed_at(path))?;
    }
    Ok(())
}

/// Removes a file. Does nothing if the file does not exist.
pub(crate) fn remove(path: &Path) -> Result<(), PartError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed_at(path)(error)),
        _ => Ok(()),
    }
}

pub(super) fn failed_at(path: &Path) -> impl Fn(io::Error) -> PartError + '_ {
    |error| PartError::Failed { path: path.to_owned(), error }
}

pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
