//! `backup.json`, the manifest: the list of a backup's files. It is written last, so an incomplete
//! backup has no manifest. It contains no personal data, no secret and no API key.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Component, Path};

use enrich_core::Timestamp;
use enrich_core::port::ledger::Verification;
use enrich_secrets::{SECRET_FILE, private_file};
use enrich_store_directory::DIRECTORY;
use enrich_store_ledger::LEDGER;
use serde::{Deserialize, Serialize};

use super::file_entry::FileEntry;
use super::{BackupError, BackupReport};

/// The name of the manifest's file in the backup.
pub(super) const FILE: &str = "backup.json";
const FORMAT: u32 = 1;
/// Maximum size of a manifest that is read, in bytes; a larger one is refused. This is enough for
/// some hundred thousand files.
const LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// The list of the files in a backup, and the time of the backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    /// The time of the backup, as text. The copies of the databases contain the state at this time.
    made_at: String,
    pub(super) ledger_rows: u64,
    /// Every file of the backup except the manifest itself.
    pub(super) files: Vec<FileEntry>,
}

impl Manifest {
    pub(super) fn new(made_at: Timestamp, ledger_rows: u64, files: Vec<FileEntry>) -> Self {
        Self { format: FORMAT, made_at: made_at.to_string(), ledger_rows, files }
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), BackupError> {
        let path = folder.join(FILE);
        let text = serde_json::to_vec_pretty(self).map_err(|e| BackupError::file(&path, e))?;
        let written = private_file()
            .create_new(true)
            .open(&path)
            .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()));
        written.map_err(|source| BackupError::file(path, source))
    }

    pub(super) fn read(folder: &Path) -> Result<Self, BackupError> {
        let no_backup =
            |why: &str| BackupError::NoBackup { folder: folder.into(), why: why.into() };
        let path = folder.join(FILE);
        let about = fs::metadata(&path)
            .map_err(|_| no_backup("it has no backup.json, which a backup writes last"))?;
        if about.len() > LIMIT_BYTES {
            return Err(no_backup("its backup.json cannot be read"));
        }
        let bytes = fs::read(&path).map_err(|source| BackupError::file(&path, source))?;
        let read: Self = serde_json::from_slice(&bytes)
            .map_err(|_| no_backup("its backup.json cannot be read"))?;
        if read.format > FORMAT {
            return Err(no_backup("a newer Enrich wrote it; restore it with that"));
        }
        if !read.files.iter().all(|file| is_inside(&file.name)) || read.made_at().is_none() {
            return Err(no_backup("its backup.json cannot be read"));
        }
        let names: BTreeSet<&str> = read.files.iter().map(|file| file.name.as_str()).collect();
        for needed in [SECRET_FILE, DIRECTORY.file, LEDGER.file] {
            if !names.contains(needed) {
                return Err(no_backup(&format!("its backup.json does not name {needed}")));
            }
        }
        Ok(read)
    }

    /// Creates the report about this backup, with the result of checking it.
    pub(super) fn report(
        &self,
        ledger: Verification,
        last_entry_at: Option<Timestamp>,
    ) -> BackupReport {
        let bytes =
            |name| self.files.iter().find(|file| file.name == name).map_or(0, |it| it.bytes);
        let others = || self.files.iter().filter(|file| file.name.contains('/'));
        BackupReport {
            made_at: self.made_at().unwrap_or(Timestamp::UNIX_EPOCH),
            directory_bytes: bytes(DIRECTORY.file),
            ledger_bytes: bytes(LEDGER.file),
            other_files: others().count() as u64,
            other_bytes: others().map(|file| file.bytes).sum(),
            ledger,
            last_entry_at,
        }
    }

    /// Returns the parsed time of the field `made_at`; `None` if the text is not a time.
    fn made_at(&self) -> Option<Timestamp> {
        self.made_at.parse().ok()
    }
}

/// Whether a file name of the manifest stays inside the backup's folder: it is a relative path
/// without `..`.
fn is_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_out_of_the_backup_is_refused() {
        for name in ["", "/etc/passwd", "../x", "bulk/../../x"] {
            assert!(!is_inside(name), "{name}");
        }
        assert!(is_inside("bulk/0a/job.json"));
    }
}
