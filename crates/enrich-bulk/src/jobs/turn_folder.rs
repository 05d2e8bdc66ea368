//! The folder of a turn. A turn begins when a process takes a shared job and becomes its holder.
//! Each holder has its own folder for the job's files. So if an earlier holder was frozen and
//! continues later, it cannot change the files of a later holder.
//!
//! Only the file with the output rows, `OUT.part`, is changed in place. It is copied to the new
//! folder if the earlier holder may still write to it. All other files are replaced as a whole, so
//! the new folder needs only hard links to them.

use std::fs;
use std::io;
use std::path::Path;

use super::folder::ARRIVING;
use super::record::{JobId, Record, make_folder};

/// Maximum number of attempts to copy a job's files to the folder of its new holder. An attempt
/// fails if the earlier holder changes the files at the same time.
const ATTEMPTS: u32 = 5;

/// Makes the folder with the number `turn` for the process that has taken a job, and puts the job's
/// files into it. The files come from the folder that the record names. `may_be_written` says
/// whether the earlier holder of the job may still write to them.
pub(super) fn carry_over(
    root: &Path,
    record: &Record,
    turn: u64,
    may_be_written: bool,
) -> io::Result<()> {
    let from = record.folder(root);
    let to = Record { turn_folder: Some(turn), ..record.clone() }.folder(root);
    if from == to {
        return Ok(());
    }
    let mut attempt = 1;
    loop {
        match fs::remove_dir_all(&to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => make_folder(&to)?,
        }
        match carry_files(&from, &to, may_be_written) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => {
                attempt += 1;
            }
            result => return result,
        }
    }
}

fn carry_files(from: &Path, to: &Path, may_be_written: bool) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            names.push(entry.file_name());
        }
    }
    // The checkpoint (`.job`) is copied before the output rows (`.part`). In the other order, if an
    // earlier holder still writes, the copied checkpoint could count more rows than the copied
    // output has.
    names.sort_by_key(|name| !name.to_string_lossy().ends_with(".job"));
    for name in names {
        let text = name.to_string_lossy();
        // A file with this extension is temporary: it gets its final name when it is complete. It
        // need not be copied, because the next process that needs it creates it again.
        if text.ends_with(".new") {
            continue;
        }
        let (from, to) = (from.join(&name), to.join(&name));
        let copy = || fs::copy(&from, &to).map(drop);
        if may_be_written && text.ends_with(".part") {
            copy()?;
        } else {
            // Not every file system supports hard links. Without them, the file is copied.
            fs::hard_link(&from, &to).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Err(error),
                _ => copy(),
            })?;
        }
        fs::File::open(&to)?.sync_all()?;
    }
    #[cfg(unix)]
    fs::File::open(to)?.sync_all()?;
    Ok(())
}

/// Removes the folders of processes that held the job earlier: all folders of the job except the
/// one that the record names.
pub(super) fn remove_others(root: &Path, record: &Record) -> io::Result<()> {
    let own = record.folder(root);
    for entry in fs::read_dir(root.join(record.id.to_string()))? {
        let path = entry?.path();
        if path != own {
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Removes folders of jobs that have no record, and uploads that were not finished, if nothing
/// changed in them for `age`.
pub(super) fn remove_orphans(
    root: &Path,
    is_known: impl Fn(JobId) -> bool,
    age: std::time::Duration,
) -> io::Result<()> {
    for (folder, is_arriving) in [(root.to_owned(), false), (root.join(ARRIVING), true)] {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let id = entry.file_name().to_str().and_then(|name| name.parse::<JobId>().ok());
            let Some(id) = id else { continue };
            if (is_arriving || !is_known(id)) && is_older(&entry.path(), age)? {
                fs::remove_dir_all(entry.path())?;
            }
        }
    }
    Ok(())
}

/// Whether nothing in the folder, at any depth, was changed for `age`.
fn is_older(path: &Path, age: std::time::Duration) -> io::Result<bool> {
    let data = fs::metadata(path)?;
    if data.modified()?.elapsed().is_ok_and(|since| since < age) {
        return Ok(false);
    }
    if data.is_dir() {
        for entry in fs::read_dir(path)? {
            if !is_older(&entry?.path(), age)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
