//! The folder of jobs: one process works in it at a time, and nothing that is damaged is lost.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::record::{self, Record, State};
use super::{Entry, Job, JobError, JobRegistry, JobsState, scrub};
use crate::part;
use crate::run::Counts;

/// Locked by who works in the folder. The system gives it back when a process ends, in any way.
const LOCK: &str = "in-use.lock";
/// Lists that are on their way. Nobody was told of them yet.
pub(super) const ARRIVING: &str = "arriving";
/// Takes what can't be read.
const SET_ASIDE: &str = "set-aside";
/// How often a second process looks whether the first has ended.
const LOOK_EACH: Duration = Duration::from_millis(500);

/// Takes the folder; `None` where another process has it.
pub(super) fn lock(folder: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(folder.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Reads all jobs of a folder that is locked.
pub(super) fn load(folder: &Path) -> Result<JobRegistry, JobError> {
    // Whoever uploaded these was told that it failed, or nothing at all.
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
        let bytes = Record::held_bytes(id, folder)?;
        registry
            .jobs
            .insert(id, Entry::new(record, counts.ok().flatten().unwrap_or_default(), bytes));
    }
    // Those that were started first go on first.
    let jobs = &registry.jobs;
    let since = |id: &record::JobId| jobs.get(id).map(|entry| entry.record.created_at);
    registry.waiting.make_contiguous().sort_by_key(since);
    Ok(registry)
}

/// Puts a job's folder where nobody stumbles over it: it may hold rows that were paid. Where it is
/// then.
fn set_aside(folder: &Path, name: &str) -> PathBuf {
    let (from, aside) = (folder.join(name), folder.join(SET_ASIDE));
    let free = (1..1000).map(|number| aside.join(format!("{name}-{number}")));
    let to = free.into_iter().find(|path| !path.exists());
    let moved =
        to.filter(|to| record::make_folder(&aside).and_then(|()| fs::rename(&from, to)).is_ok());
    // What can't be moved stays where it is, and is told of all the same.
    moved.unwrap_or(from)
}

/// Waits until no other process has the folder, then goes on with its jobs.
pub(super) fn take_over(shared: &JobsState) {
    let mut registry = shared.registry.lock();
    while !registry.is_closing {
        shared.changed.wait_for(&mut registry, LOOK_EACH);
        // A folder that can't be read now is looked at again; until then its jobs are elsewhere.
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
            is_told: false,
            is_yielding: false,
            files: Arc::default(),
            scrubbed_running: 0,
            foreseen: None,
        }
    }

    /// How many values were suppressed when the list was last looked through for them.
    pub(super) fn scrubbed(&self) -> u64 {
        if self.stop.is_some() { self.scrubbed_running } else { self.record.scrubbed }
    }

    pub(super) fn job(&self) -> Job {
        Job { rate_limited_until: self.rate_limited_until, ..Job::of(&self.record, self.counts) }
    }
}
