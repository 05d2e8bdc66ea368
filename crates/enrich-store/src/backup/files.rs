//! Copies files. Only the user who owns a copy can read it. Every copy is synced to disk. The size
//! and the hash of the copy go into the manifest.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use enrich_secrets::{private_file, private_folder, sync_folder};

use super::BackupError;
use super::file_entry::FileEntry;

/// Maximum number of bytes that are copied in one step.
const CHUNK_BYTES: usize = 256 * 1024;
/// Maximum depth of subfolders that are copied; deeper ones are left out.
const MAX_DEPTH: u32 = 8;
/// Files with this name are lock files. They are never copied.
const LOCK: &str = "in-use.lock";
/// The name of the folder with uploads that the server has not confirmed yet. It is never copied.
const ARRIVING: &str = "arriving";

/// Copies the bytes that a file has when copying begins, even if other processes add to it
/// meanwhile. Syncs the copy to disk. `name` is the path of the file in the backup.
pub(super) fn copy(from: &Path, to: &Path, name: &str) -> io::Result<FileEntry> {
    let source = File::open(from)?;
    let length = source.metadata()?.len();
    let mut target = private_file().create_new(true).open(to)?;
    let entry = transfer(&mut source.take(length), &mut target, name)?;
    target.sync_all()?;
    Ok(entry)
}

/// Calculates the size and the hash of a file. `name` is the path of the file in the backup.
pub(super) fn describe(path: &Path, name: &str) -> io::Result<FileEntry> {
    transfer(&mut File::open(path)?, &mut io::sink(), name)
}

fn transfer(from: &mut dyn Read, to: &mut dyn Write, name: &str) -> io::Result<FileEntry> {
    let mut hasher = blake3::Hasher::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut bytes = 0;
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&chunk[..read]);
        to.write_all(&chunk[..read])?;
        bytes += read as u64;
    }
    Ok(FileEntry { name: name.to_owned(), bytes, blake3: hasher.finalize().to_string() })
}

/// Copies a folder to which other processes may write at the same time. A file that is deleted
/// during the copy is left out.
///
/// Small files (`*.json`, `*.job`) are copied first. They say how many bytes of the larger files
/// are valid (see `enrich-bulk`). The larger files are copied later, so their copies contain at
/// least these bytes.
pub(super) fn copy_folder(
    from: &Path,
    to: &Path,
    name: &str,
    copied: &mut Vec<FileEntry>,
) -> Result<(), BackupError> {
    copy_level(from, to, name, copied, 0)
}

fn copy_level(
    from: &Path,
    to: &Path,
    name: &str,
    copied: &mut Vec<FileEntry>,
    depth: u32,
) -> Result<(), BackupError> {
    private_folder().create(to).map_err(|source| BackupError::file(to, source))?;
    let mut seen = BTreeSet::new();
    loop {
        // The names are read again until there are no new ones: while the folder was copied,
        // another process may have renamed an unfinished file to its final name.
        let new = match names(from) {
            Ok(names) => names.into_iter().filter(|name| !seen.contains(name)).collect::<Vec<_>>(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(BackupError::file(from, error)),
        };
        if new.is_empty() {
            break;
        }
        for (rank, file) in new {
            let (source, target) = (from.join(&file), to.join(&file));
            let inner = format!("{name}/{file}");
            seen.insert((rank, file));
            let Ok(about) = fs::symlink_metadata(&source) else { continue };
            if about.is_dir() && depth < MAX_DEPTH {
                copy_level(&source, &target, &inner, copied, depth + 1)?;
            } else if about.is_file() {
                match copy(&source, &target, &inner) {
                    Ok(entry) => copied.push(entry),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(BackupError::file(source, error)),
                }
            }
        }
    }
    if depth > 0 && !from.exists() {
        // The folder was deleted in the meantime, so the copies of its files are not needed.
        copied.retain(|entry| !entry.name.starts_with(&format!("{name}/")));
        return fs::remove_dir_all(to).map_err(|source| BackupError::file(to, source));
    }
    sync_folder(to).map_err(|source| BackupError::file(to, source))
}

/// Returns the names of the files and subfolders of `folder` that must be copied, each with a rank.
/// Names with a lower rank are copied first.
fn names(folder: &Path) -> io::Result<Vec<(u8, String)>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        // The names of Enrich's own files are always UTF-8, so a name that is not UTF-8 is left
        // out.
        let Ok(name) = entry?.file_name().into_string() else { continue };
        if name == LOCK || name == ARRIVING {
            continue;
        }
        let rank = match Path::new(&name).extension().and_then(|ending| ending.to_str()) {
            Some("json") => 0,
            Some("job") => 1,
            _ => 2,
        };
        names.push((rank, name));
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns the size of all files in a folder and its subfolders, in bytes; 0 when the folder does
/// not exist.
pub(super) fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => folder_bytes(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |about| about.len()),
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_how_much_counts_is_copied_first_and_locks_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["list.csv", "output.csv.part", "output.csv.job", "job.json", LOCK] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let names: Vec<_> = names(folder.path()).unwrap().into_iter().map(|(_, it)| it).collect();
        assert_eq!(names, ["job.json", "output.csv.job", "list.csv", "output.csv.part"]);
    }

    #[test]
    fn a_folder_is_copied_with_what_lies_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        fs::write(from.join("inner/job.json"), "{}").unwrap();
        let mut copied = Vec::new();
        copy_folder(&from, &to, "lists", &mut copied).unwrap();
        assert_eq!(fs::read(to.join("inner/job.json")).unwrap(), b"{}");
        assert_eq!((copied[0].name.as_str(), copied[0].bytes), ("lists/inner/job.json", 2));
        assert_eq!(
            copied[0],
            describe(&to.join("inner/job.json"), "lists/inner/job.json").unwrap()
        );
    }
}
