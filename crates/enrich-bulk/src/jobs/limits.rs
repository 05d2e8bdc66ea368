//! What one account may take up, so that enough is left for the others.

use std::time::Duration;

use enrich_core::AccountId;
use enrich_import::Bounds;

use super::error::Refusal;
use super::record::{JobId, Record};
use super::{Entry, JobError, JobRegistry, JobsState};
use crate::stop::Stop;

/// How many lists of an account are uploaded at once.
const MAX_UPLOADS: usize = 2;
/// The least bytes a second at which a list arrives.
const LEAST_RATE: u64 = 4 * 1024;

/// What an account holds while something of it is done, until it is dropped.
pub(super) struct AccountPermit<'a> {
    shared: &'a JobsState,
    account: AccountId,
    is_upload: bool,
}

impl Drop for AccountPermit<'_> {
    fn drop(&mut self) {
        let mut registry = self.shared.registry.lock();
        if !self.is_upload {
            registry.reading.remove(&self.account);
        } else if let Some(uploads) = registry.uploading.get_mut(&self.account) {
            *uploads -= 1;
            if *uploads == 0 {
                registry.uploading.remove(&self.account);
            }
        }
    }
}

impl JobsState {
    /// A place to upload a list.
    pub(super) fn uploading(&self, account: AccountId) -> Result<AccountPermit<'_>, JobError> {
        let mut registry = self.registry.lock();
        if registry.is_elsewhere {
            return Err(Refusal::Elsewhere.into());
        }
        let uploads = registry.uploading.entry(account).or_default();
        if *uploads == MAX_UPLOADS {
            return Err(Refusal::Uploading(MAX_UPLOADS).into());
        }
        *uploads += 1;
        Ok(AccountPermit { shared: self, account, is_upload: true })
    }

    /// A place to read a list to its end.
    pub(super) fn reading(&self, account: AccountId) -> Result<AccountPermit<'_>, JobError> {
        if !self.registry.lock().reading.insert(account) {
            return Err(Refusal::Reading.into());
        }
        Ok(AccountPermit { shared: self, account, is_upload: false })
    }

    /// Whether the file system has room for more.
    pub(super) fn see_space(&self) -> Result<(), JobError> {
        let left = fs4::available_space(&self.folder)?;
        if left < self.settings.min_free_bytes { Err(Refusal::NoSpace.into()) } else { Ok(()) }
    }

    /// Whether the account has room for a new job that takes up so much.
    pub(super) fn see_room(
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

    /// Whether a job that runs has room to go on.
    pub(super) fn see_room_of(&self, account: AccountId, id: JobId) -> Result<(), JobError> {
        self.see_space()?;
        let bytes = Record::held_bytes(id, &self.folder)?;
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

    /// How much of a list is read, and until when.
    pub(super) fn bounds(&self, stop: &Stop) -> Bounds {
        let (max_bytes, max_lines) = (self.settings.max_unpacked_bytes, self.settings.max_rows);
        let stop = stop.clone();
        Bounds { max_bytes, max_lines, is_stopped: std::sync::Arc::new(move || stop.is_told()) }
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

/// Whether a list of which so much has arrived in this time isn't worth a place.
pub(super) fn is_too_slow(bytes: u64, took: Duration, patience: Duration) -> bool {
    took > patience && bytes < took.as_secs().max(1).saturating_mul(LEAST_RATE)
}
