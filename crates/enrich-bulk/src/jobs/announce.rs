//! Tells other processes which lists are in a folder that only this process sees. So the account
//! page can say on which machine a list is.

use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use enrich_core::port::jobs::{JobRecords, LocalJob, RemoteJob};
use enrich_core::{AccountId, Timestamp};
use pollster::block_on;
use serde::{Deserialize, Serialize};

use super::job_sync::unreachable;
use super::record::JobId;
use super::{JobError, Jobs, JobsState};
use crate::part::private;

/// Name of the file that contains the id of the folder of jobs.
const FOLDER_ID: &str = "folder.id";
/// Interval at which this process checks whether its lists have changed.
const LOOK_EACH: Duration = Duration::from_secs(2);
/// Interval at which the lists are announced even without a change. The other processes forget
/// lists that were not announced for a week.
const REPEAT_EACH: Duration = Duration::from_secs(60 * 60);

/// What this process needs to announce its lists to other processes: the store of the
/// announcements, and the id of its own folder.
pub(super) struct Neighbours {
    records: Arc<dyn JobRecords>,
    /// The id of this process's folder of jobs, if no other process sees the folder; `None` if all
    /// processes see it.
    folder: Option<u128>,
}

/// A list of another process. Only that process sees the files of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteList {
    /// The file name of the list.
    pub file_name: String,
    /// When the list was uploaded.
    pub created_at: Timestamp,
    /// The name of the machine where the list is.
    pub node: String,
}

/// The description of a list, as it is stored for the other processes.
#[derive(Serialize, Deserialize)]
struct Summary {
    file_name: String,
    /// The time of the upload, in seconds since 1970.
    created_at: i64,
}

impl Jobs {
    /// Begins to tell other processes which lists are in the folder of jobs, if only this process
    /// sees the folder. Also lets [`elsewhere`](Self::elsewhere) return the lists of other
    /// processes. Call this once.
    ///
    /// # Errors
    ///
    /// When the folder's id cannot be read or written, or no thread can be started.
    pub fn announce_to(&self, records: Arc<dyn JobRecords>) -> Result<(), JobError> {
        let is_shared = self.shared.records.is_some();
        let folder = if is_shared { None } else { Some(folder_id(&self.shared.folder)?) };
        // `set` fails only if it was called before. This method is called only once, so the result
        // is ignored.
        let _ = self.shared.neighbours.set(Neighbours { records, folder });
        if folder.is_some() {
            self.begin(announce)?;
        }
        Ok(())
    }

    /// Returns an account's lists whose files are in the folder of another process, so that this
    /// process does not see the files. The newest list comes first.
    ///
    /// # Errors
    ///
    /// When the store of the announcements cannot be reached.
    pub fn elsewhere(&self, account: AccountId) -> Result<Vec<RemoteList>, JobError> {
        let Some(Neighbours { records, folder }) = self.shared.neighbours.get() else {
            return Ok(Vec::new());
        };
        let jobs = block_on(records.elsewhere(account, *folder)).map_err(unreachable)?;
        let mut lists: Vec<RemoteList> = jobs.into_iter().filter_map(read).collect();
        lists.sort_by_key(|list| std::cmp::Reverse(list.created_at));
        Ok(lists)
    }
}

/// Reads the announcement of a list by another process. Returns `None` if the announcement is
/// unreadable, because that process has another version of the program.
fn read(job: RemoteJob) -> Option<RemoteList> {
    let Summary { file_name, created_at } = serde_json::from_str(&job.job.summary).ok()?;
    let created_at = Timestamp::from_second(created_at).ok()?;
    Some(RemoteList { file_name, created_at, node: job.node })
}

/// Returns the id of a folder. Creates the id if the folder has none.
fn folder_id(folder: &Path) -> io::Result<u128> {
    let path = folder.join(FOLDER_ID);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let id = JobId::from_str(text.trim()).map_err(|_| {
                let what = format!("{} is damaged; remove it", path.display());
                io::Error::new(io::ErrorKind::InvalidData, what)
            })?;
            Ok(id.number())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let id = JobId::random()?;
            let mut file = private().open(&path)?;
            io::Write::write_all(&mut file, id.to_string().as_bytes())?;
            file.sync_all()?;
            Ok(id.number())
        }
        Err(error) => Err(error),
    }
}

/// Tells other processes which lists are in the folder of jobs: whenever the lists change, and
/// every [`REPEAT_EACH`]. Ends at shutdown.
fn announce(shared: &JobsState) {
    let Some(Neighbours { records, folder: Some(folder) }) = shared.neighbours.get() else {
        return;
    };
    let (mut announced, mut at): (Option<Vec<LocalJob>>, _) = (None, Instant::now());
    let mut registry = shared.registry.lock();
    while !registry.is_closing {
        // While another process works in the folder, that process announces the lists.
        if !registry.is_elsewhere {
            let jobs: Vec<LocalJob> = registry.jobs.values().filter_map(local_job).collect();
            if announced.as_ref() != Some(&jobs) || at.elapsed() >= REPEAT_EACH {
                parking_lot::MutexGuard::unlocked(&mut registry, || {
                    // If the store cannot be reached, the next pass of the loop tries again.
                    if block_on(records.announce(*folder, &jobs)).is_ok() {
                        (announced, at) = (Some(jobs), Instant::now());
                    }
                });
            }
        }
        if !registry.is_closing {
            shared.changed.wait_for(&mut registry, LOOK_EACH);
        }
    }
}

fn local_job(entry: &super::Entry) -> Option<LocalJob> {
    let record = &entry.record;
    let summary = Summary { file_name: record.file_name.clone(), created_at: record.created_at };
    let summary = serde_json::to_string(&summary).ok()?;
    Some(LocalJob { id: record.id.number(), account: record.account, summary })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_id_and_a_damaged_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let id = folder_id(folder.path()).unwrap();
        assert_eq!(folder_id(folder.path()).unwrap(), id);
        fs::write(folder.path().join(FOLDER_ID), "7").unwrap();
        let error = folder_id(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is damaged; remove it"), "{error}");
    }
}
