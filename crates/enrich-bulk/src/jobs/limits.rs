//! Limits on the lists of each account, such as their number and size, so that no account uses all
//! capacity.

use std::time::Duration;

use enrich_core::AccountId;
use enrich_import::Bounds;

use super::error::Refusal;
use super::record::JobId;
use super::{Entry, JobError, JobRegistry, JobsState};
use crate::account_limit::AccountPermit;
use crate::stop::Stop;

/// Maximum number of concurrent uploads of an account.
pub(super) const MAX_UPLOADS: usize = 2;
/// Minimum speed of an upload, in bytes a second.
const MIN_RATE: u64 = 4 * 1024;

impl JobsState {
    /// Takes a permit to upload a list. Returns an error if the account already has the maximum
    /// number of uploads, or if another process works in the folder of jobs.
    pub(super) fn uploading(&self, account: AccountId) -> Result<AccountPermit, JobError> {
        if self.registry.lock().is_elsewhere {
            return Err(Refusal::Elsewhere.into());
        }
        self.uploads.take(account).ok_or(Refusal::Uploading(MAX_UPLOADS).into())
    }

    /// Takes a permit to read a list to its end. Returns an error if another list of the account is
    /// being read.
    pub(super) fn reading(&self, account: AccountId) -> Result<AccountPermit, JobError> {
        self.reads.take(account).ok_or(Refusal::Reading.into())
    }

    /// Returns an error if the file system is nearly full.
    pub(super) fn check_disk_space(&self) -> Result<(), JobError> {
        let left = fs4::available_space(&self.folder)?;
        if left < self.settings.min_free_bytes { Err(Refusal::NoSpace.into()) } else { Ok(()) }
    }

    /// Returns an error if the account has the maximum number of jobs, or may not store another
    /// `bytes` bytes.
    pub(super) fn check_quota(
        &self,
        registry: &JobRegistry,
        account: AccountId,
        bytes: u64,
    ) -> Result<(), JobError> {
        let (max_jobs, max_bytes) = (self.settings.max_jobs, self.settings.max_account_bytes);
        if registry.of_account(account).count() >= max_jobs {
            return Err(JobError::TooMany(max_jobs));
        }
        if registry.held_bytes(account).saturating_add(bytes) > max_bytes {
            return Err(Refusal::Full(max_bytes).into());
        }
        Ok(())
    }

    /// Updates the size of a running job. Returns an error if the job may not continue, because the
    /// account has too many bytes or the disk is nearly full.
    pub(super) fn check_job_quota(&self, account: AccountId, id: JobId) -> Result<(), JobError> {
        self.check_disk_space()?;
        let record = self.registry.lock().of(account, id)?.record.clone();
        let bytes = record.held_bytes(&self.folder)?;
        let mut registry = self.registry.lock();
        if let Some(entry) = registry.jobs.get_mut(&id) {
            entry.bytes = bytes;
        }
        let max_bytes = self.settings.max_account_bytes;
        if registry.held_bytes(account) > max_bytes {
            return Err(Refusal::Full(max_bytes).into());
        }
        Ok(())
    }

    /// Returns the limits for reading a list: the maximum numbers of bytes and lines, and a signal
    /// that stops the reading.
    pub(super) fn bounds(&self, stop: &Stop) -> Bounds {
        let (max_bytes, max_lines) = (self.settings.max_unpacked_bytes, self.settings.max_rows);
        let stop = stop.clone();
        Bounds { max_bytes, max_lines, is_stopped: std::sync::Arc::new(move || stop.is_set()) }
    }
}

impl JobRegistry {
    pub(super) fn of_account(&self, account: AccountId) -> impl Iterator<Item = &Entry> {
        self.jobs.values().filter(move |entry| entry.record.account == account)
    }

    fn held_bytes(&self, account: AccountId) -> u64 {
        self.of_account(account).map(|entry| entry.bytes).sum()
    }
}

/// Whether an upload that has received `bytes` bytes in the time `took` is too slow to continue.
/// The speed is not checked before the time `patience` has passed.
pub(super) fn is_too_slow(bytes: u64, took: Duration, patience: Duration) -> bool {
    took > patience && bytes < took.as_secs().max(1).saturating_mul(MIN_RATE)
}
