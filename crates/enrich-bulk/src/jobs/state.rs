//! The state of the jobs in this process (`JobsState`), which all threads share.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use enrich_core::{AccountId, Clock};
use enrich_import::{ReadError, Source};
use enrich_wire::ApiVersion;
use parking_lot::{Condvar, Mutex};

use super::error::{JobError, Refusal};
use super::limits::MAX_UPLOADS;
use super::record::{JobId, Record, State};
use super::running::Callers;
use super::{Entry, JobRegistry, JobsState, Settings};
use crate::account_limit::AccountLimit;
use crate::caller::Target;
use crate::input::Input;
use crate::stop::Stop;

impl JobsState {
    pub(super) fn new(
        folder: &Path,
        api_versions: &'static [&'static ApiVersion],
        callers: Arc<dyn Callers>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Self {
        Self {
            folder: folder.to_owned(),
            api_versions,
            callers,
            clock,
            settings,
            registry: Mutex::default(),
            changed: Condvar::new(),
            uploads: AccountLimit::new(MAX_UPLOADS),
            reads: AccountLimit::new(1),
            closing: Stop::default(),
            locked: Mutex::default(),
            records: None,
            neighbours: OnceLock::new(),
        }
    }

    pub(super) fn target(&self, path: &str) -> Result<Target, JobError> {
        let found = Target::all(self.api_versions).find(|target| target.endpoint.path == path);
        found.ok_or_else(|| JobError::NoEndpoint(path.to_owned()))
    }

    /// Opens the list of a job in `folder`. Reading fails when the list exceeds the maximum number
    /// of bytes or lines. `stop` interrupts the reading.
    pub(super) fn input(
        &self,
        folder: &Path,
        record: &Record,
        stop: &Stop,
    ) -> Result<Input, ReadError> {
        self.input_at(&record.list(folder), record, stop)
    }

    /// Opens the list of a job from the file at `path`.
    pub(super) fn input_at(
        &self,
        path: &Path,
        record: &Record,
        stop: &Stop,
    ) -> Result<Input, ReadError> {
        let source = Source::file(path)?;
        let input = Input::open(source.read_as(record.read_as()).bounded(self.bounds(stop)))?;
        // A list is rewritten when data in it must be erased: the rows with this data become empty.
        // Because of the empty rows, a wrong layout, such as a wrong delimiter, may be detected. So
        // the stored layout of the upload is used. The output must have this layout too.
        Ok(match &record.layout {
            Some(layout) if record.is_rewritten => input.with_layout(layout.clone()),
            _ => input,
        })
    }

    /// Saves a job to disk, then puts it in the queue.
    pub(super) fn put_in_line(
        &self,
        registry: &mut JobRegistry,
        mut record: Record,
    ) -> Result<(), JobError> {
        if registry.is_closing {
            return Err(Refusal::Elsewhere.into());
        }
        (record.state, record.ended_at) = (State::Waiting, None);
        let id = record.id;
        if let Some(entry) = registry.jobs.get_mut(&id) {
            self.save(entry, record)?;
            if self.records.is_none() {
                registry.waiting.push_back(id);
            }
            self.changed.notify_all();
        }
        Ok(())
    }
}

impl JobRegistry {
    pub(super) fn of(&self, account: AccountId, id: JobId) -> Result<&Entry, JobError> {
        let entry = self.jobs.get(&id).filter(|entry| entry.record.account == account);
        entry.ok_or(JobError::NotThere)
    }

    pub(super) fn of_mut(&mut self, account: AccountId, id: JobId) -> Result<&mut Entry, JobError> {
        let entry = self.jobs.get_mut(&id).filter(|entry| entry.record.account == account);
        entry.ok_or(JobError::NotThere)
    }
}
