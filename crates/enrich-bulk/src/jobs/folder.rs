//! The folder of jobs. A job looks up the rows of one uploaded list, and has its own subfolder.
//! Only one process works in the folder at a time. Damaged jobs are kept.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::record::{self, Record, State};
use super::{Entry, Job, JobError, JobRegistry, JobsState, scrub};
use crate::part;
use crate::run::Counts;

/// The lock file. The process that works in the folder locks this file. When the process ends, the
/// operating system releases the lock.
const LOCK: &str = "in-use.lock";
/// Name of the folder for unfinished uploads. A finished upload moves from it into the folder of
/// jobs, and only then the client learns the job's id.
pub(super) const ARRIVING: &str = "arriving";
/// Name of the folder for jobs that cannot be read.
const SET_ASIDE: &str = "set-aside";
/// Interval at which this process tries to lock the folder while another process holds the lock.
const LOOK_EACH: Duration = Duration::from_millis(500);

/// Locks the folder and returns the lock file; `None` if another process holds the lock.
pub(super) fn lock(folder: &Path) -> io::Result<Option<File>> {
    let file = part::private().open(folder.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

pub(super) fn load(folder: &Path) -> Result<JobRegistry, JobError> {
    // The folder `arriving` contains uploads that were never finished. Their clients got an error
    // or no answer, so nobody knows the ids of these jobs. So the uploads are removed.
    match fs::remove_dir_all(folder.join(ARRIVING)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => record::make_folder(&folder.join(ARRIVING))?,
    }
    let mut registry = JobRegistry::default();
    for id in record::ids(folder)? {
        let Some(mut record) = Record::read(folder, id) else {
            registry.set_aside.push(set_aside(folder, &id.to_string()));
            continue;
        };
        scrub::complete(&record.folder(folder), record.is_replacing)?;
        if record.is_replacing {
            record.is_replacing = false;
            record.save(folder)?;
        }
        let counts = part::counts_of(&record.output(folder));
        let is_under_way = matches!(record.state, State::Waiting | State::Running);
        if counts.is_err() && is_under_way {
            let why = "the output of this list is damaged; upload the list again";
            record.state = State::Broken(why.to_owned());
        } else if is_under_way {
            registry.waiting.push_back(id);
        }
        let bytes = record.held_bytes(folder)?;
        registry
            .jobs
            .insert(id, Entry::new(record, counts.ok().flatten().unwrap_or_default(), bytes));
    }
    // The jobs in the queue are sorted by the time of their upload, so that the oldest jobs
    // continue first.
    let jobs = &registry.jobs;
    let since = |id: &record::JobId| jobs.get(id).map(|entry| entry.record.created_at);
    registry.waiting.make_contiguous().sort_by_key(since);
    Ok(registry)
}

/// Moves the folder of a job that cannot be read into the folder [`SET_ASIDE`]. The job's files are
/// kept, because they may contain answers for which the account has already paid. Returns the new
/// path.
fn set_aside(folder: &Path, name: &str) -> PathBuf {
    let (from, aside) = (folder.join(name), folder.join(SET_ASIDE));
    let free = (1..1000).map(|number| aside.join(format!("{name}-{number}")));
    let to = free.into_iter().find(|path| !path.exists());
    let moved =
        to.filter(|to| record::make_folder(&aside).and_then(|()| fs::rename(&from, to)).is_ok());
    // If the folder cannot be moved, it stays where it is, and its present path is returned.
    moved.unwrap_or(from)
}

/// Waits until no other process works in the folder. Then continues the jobs of the folder.
pub(super) fn take_over(shared: &JobsState) {
    let mut registry = shared.registry.lock();
    while !registry.is_closing {
        shared.changed.wait_for(&mut registry, LOOK_EACH);
        // If the folder cannot be locked or read now, the loop tries again later.
        if !registry.is_closing
            && let Ok(Some(lock)) = lock(&shared.folder)
            && let Ok(loaded) = load(&shared.folder)
        {
            *registry = loaded;
            *shared.locked.lock() = Some(lock);
            shared.changed.notify_all();
            return;
        }
    }
}

impl Entry {
    pub(super) fn new(record: Record, counts: Counts, bytes: u64) -> Self {
        Self {
            record,
            counts,
            bytes,
            stop: None,
            rate_limited_until: None,
            is_stopped: false,
            is_yielding: false,
            files: Arc::default(),
            scrubbed_running: 0,
            cached_preview: None,
            lease: None,
            turn: 1,
            was_expired: false,
        }
    }

    /// Returns the version of the suppressed values (data that must be erased) for which the files
    /// of this job were last searched.
    pub(super) fn scrubbed(&self) -> u64 {
        if self.stop.is_some() { self.scrubbed_running } else { self.record.scrubbed }
    }

    pub(super) fn job(&self) -> Job {
        Job { rate_limited_until: self.rate_limited_until, ..Job::of(&self.record, self.counts) }
    }
}
