//! Removes suppressed values from the uploaded lists of accounts, and from their output. A
//! suppressed value is one that must be erased, such as a person's email address. Only values that
//! are suppressed after the upload of a list are removed from the list.
//!
//! Output rows that contain a suppressed value are removed. In the list of an unfinished job, such
//! rows are emptied instead: paid rows are recognised by their number, so all rows must keep their
//! numbers. The list of a finished job is deleted if it contains a suppressed value. If neither
//! removing nor emptying is possible, the whole job is deleted.

mod emptied;
mod holding;
mod staged;

use std::io;
use std::sync::Arc;

use enrich_core::{AccountId, SuppressedSince, SuppressedValues, Timestamp, holds_suppressed};
use enrich_import::{Delimiter, Format, Source, format_from_file_name};
use parking_lot::Mutex;

use super::record::{JobId, Record, State};
use super::{JobError, Jobs, JobsState, Refusal};
use crate::input::Input;
use crate::part;
use crate::run::End;
use crate::stop::Stop;
use holding::rows_hold;
pub(super) use staged::complete;
use staged::{Staged, Written};

impl Jobs {
    /// Searches all lists that were not searched since the last value was suppressed, and removes
    /// suppressed values (data that must be erased) from them. Returns how many lists were changed
    /// or deleted.
    ///
    /// # Errors
    ///
    /// When the suppressed values cannot be read, or the files of a list cannot be read or written.
    /// The other lists are searched nevertheless.
    pub fn scrub(&self) -> Result<usize, JobError> {
        let Some(values) = self.shared.suppressed()? else { return Ok(0) };
        self.shared.refresh_all()?;
        let ids: Vec<JobId> = self.shared.registry.lock().jobs.keys().copied().collect();
        let (mut changed, mut failed) = (0, None);
        for id in ids {
            match self.shared.scrub(id, &*values) {
                Ok(is_changed) => changed += usize::from(is_changed),
                // The account deleted the job in the meantime.
                Err(_) if !self.shared.registry.lock().jobs.contains_key(&id) => {}
                // Another process is changing this list, or is searching it for suppressed values.
                // So this list is skipped.
                Err(JobError::Refused(Refusal::Changed)) => {}
                // The error is returned after all other lists were searched.
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(changed), Err)
    }

    /// Whether a job's output is complete, and was searched for all present suppressed values (data
    /// that must be erased). Only then can the output be shown.
    ///
    /// # Errors
    ///
    /// When there is no such job, or the suppressed values cannot be read.
    pub fn is_output_ready(&self, account: AccountId, id: JobId) -> Result<bool, JobError> {
        self.shared.refresh_one(id)?;
        let state = self.shared.registry.lock().of(account, id)?.record.state.clone();
        let version = self.shared.suppressed()?.map_or(0, |values| values.version());
        let is_scrubbed = version == 0 || self.shared.is_scrubbed(id, version);
        Ok(state == State::Ended(End::Whole) && is_scrubbed)
    }

    /// Removes suppressed values (data that must be erased) from one list, before it is shown.
    pub(super) fn scrub_one(&self, account: AccountId, id: JobId) -> Result<(), JobError> {
        self.shared.refresh_one(id)?;
        self.shared.registry.lock().of(account, id)?;
        if let Some(values) = self.shared.suppressed()? {
            self.shared.scrub(id, &*values)?;
        }
        Ok(())
    }
}

impl JobsState {
    fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, JobError> {
        let values = pollster::block_on(self.callers.suppressed());
        let values = values.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(values.filter(|values| values.version() > 0))
    }

    /// Returns the version of the suppressed values (data that must be erased); 0 if there are
    /// none, or if they cannot be read. The record of a new list stores this version. Later, the
    /// list is searched if the stored version differs from the present one. So if the values cannot
    /// be read now, the 0 only causes an unnecessary search.
    pub(super) fn suppressed_version(&self) -> u64 {
        self.suppressed().ok().flatten().map_or(0, |values| values.version())
    }

    /// Whether the list was already searched for this version of the suppressed values (data that
    /// must be erased).
    fn is_scrubbed(&self, id: JobId, version: u64) -> bool {
        self.registry.lock().jobs.get(&id).is_some_and(|entry| entry.scrubbed() == version)
    }

    /// Returns the lock on the files of a list. This lock is held while the files are searched and
    /// rewritten.
    fn files_of(&self, id: JobId) -> Result<Arc<Mutex<()>>, JobError> {
        let registry = self.registry.lock();
        registry.jobs.get(&id).map(|entry| Arc::clone(&entry.files)).ok_or(JobError::NotThere)
    }

    /// Searches a list for suppressed values (data that must be erased), unless it was already
    /// searched for these values. Returns whether the list was changed, or will be changed before
    /// the next run of the job.
    ///
    /// - If the job is not running, removes the values from the job's files.
    /// - If this process is running the job and the files contain a suppressed value, stops the
    ///   job. The files are changed before the job runs again.
    /// - If another process is running the job, only returns `false`. That process searches the
    ///   list for the values.
    fn scrub(&self, id: JobId, values: &dyn SuppressedValues) -> Result<bool, JobError> {
        if self.is_scrubbed(id, values.version()) {
            return Ok(false);
        }
        let files = self.files_of(id)?;
        let _one_at_a_time = files.lock();
        let (record, is_running) = {
            let registry = self.registry.lock();
            let Some(entry) = registry.jobs.get(&id) else { return Ok(false) };
            if entry.scrubbed() == values.version() {
                return Ok(false);
            }
            (entry.record.clone(), entry.stop.is_some())
        };
        if !is_running {
            // This process does not run the job. If the job's state is `Running`, another process
            // runs it. That process searches the list for the suppressed values, so this process
            // does nothing.
            return match record.state {
                State::Running => Ok(false),
                _ => self.with_turn(id, |record| self.scrub_files(record, values)),
            };
        }
        let holds = self.holds(&record, &since(&record, values))?;
        if let Some(entry) = self.registry.lock().jobs.get_mut(&id) {
            entry.scrubbed_running = values.version();
            if !holds {
                return Ok(false);
            }
            // The run is stopped, and the job is put into the queue again. Its files are rewritten
            // before its next run.
            entry.is_yielding = true;
            entry.stop.iter().for_each(Stop::now);
        }
        Ok(holds)
    }

    /// Removes suppressed values (data that must be erased) from the files of a job that will run
    /// next. Does nothing if the files were already searched for all suppressed values. Returns the
    /// record of the job.
    pub(super) fn scrub_before_run(&self, id: JobId) -> Result<Record, JobError> {
        let files = self.files_of(id)?;
        let _one_at_a_time = files.lock();
        let known = || {
            let registry = self.registry.lock();
            registry.jobs.get(&id).map(|entry| entry.record.clone()).ok_or(JobError::NotThere)
        };
        let record = known()?;
        match self.suppressed()? {
            Some(values) if values.version() != record.scrubbed => {
                self.scrub_files(&record, &*values)?;
                known()
            }
            _ => Ok(record),
        }
    }

    /// Removes suppressed values (data that must be erased) from the files of a job that is not
    /// running. Returns whether the files contained such values.
    fn scrub_files(
        &self,
        record: &Record,
        values: &dyn SuppressedValues,
    ) -> Result<bool, JobError> {
        let (id, version) = (record.id, values.version());
        let values = &since(record, values);
        if record.is_replacing {
            // If an earlier replacement of files was interrupted, it must be finished first.
            complete(&record.folder(&self.folder), true)?;
        }
        let record = &self.with_layout(record);
        let scrubbed = if record.output(&self.folder).exists() {
            self.without_rows(record, values)?
        } else if order_holds(record, values) {
            None
        } else {
            self.with_emptied_rows(record, values)?
        };
        let Some((staged, removed)) = scrubbed else { return self.remove(id) };
        if removed > 0 {
            let layout = record.layout.clone();
            self.change(id, |record| {
                (record.is_replacing, record.layout) = (true, layout);
                record.is_rewritten |= staged.replaces_list;
                record.removed_rows += removed;
            })?;
            staged.put_in_place()?;
        }
        if record.output(&self.folder).exists() && list_holds(self, record, values)? {
            part::remove(&record.list(&self.folder))?;
        }
        self.change(id, |record| (record.is_replacing, record.scrubbed) = (false, version))?;
        let mut registry = self.registry.lock();
        if let Some(entry) = registry.jobs.get_mut(&id) {
            entry.scrubbed_running = version;
            entry.bytes = entry.record.held_bytes(&self.folder)?;
            if let Ok(Some(counts)) = part::counts_of(&entry.record.output(&self.folder)) {
                entry.counts = counts;
            }
        }
        Ok(removed > 0)
    }

    /// Writes a new output of a finished job, without the rows that contain a suppressed value
    /// (data that must be erased). The new files are [`Staged`] files, which replace the present
    /// files later. Returns them and the number of removed rows.
    ///
    /// A new workbook is made from a CSV file with the same rows, which is kept next to the old
    /// workbook. Returns `None` if rows must be removed from a workbook that has no such CSV file.
    fn without_rows(
        &self,
        record: &Record,
        values: &dyn SuppressedValues,
    ) -> Result<Option<(Staged, u64)>, JobError> {
        let (out, mut staged) = (record.output(&self.folder), Staged::default());
        if out.extension().is_none_or(|ending| ending != "xlsx") {
            let removed = staged.copy_without(&out, None, written(record), values)?.removed;
            return Ok(Some((staged, removed)));
        }
        let rows = part::rows_of_workbook(&out);
        if !rows.exists() {
            // An earlier version of the program kept only the workbook, without the CSV file. If
            // the workbook cannot be read, it may contain a suppressed value, so the function
            // returns `None`.
            let holds = rows_hold(|| Input::open(Source::file(&out)?), values);
            return Ok(if holds.unwrap_or(true) { None } else { Some((staged, 0)) });
        }
        let removed = staged.copy_without(&rows, None, written(record), values)?.removed;
        if removed > 0 {
            staged.make_workbook(&rows, &out)?;
        }
        Ok(Some((staged, removed)))
    }

    /// Returns the record with the layout of the list (its format, delimiter and encoding). An
    /// earlier version of the program stored records without a layout. For such a record, the
    /// layout is detected.
    fn with_layout(&self, record: &Record) -> Record {
        let known = record.layout.clone();
        let detected = || self.input(&self.folder, record, &Stop::default()).ok()?.layout();
        Record { layout: known.or_else(detected), ..record.clone() }
    }

    fn remove(&self, id: JobId) -> Result<bool, JobError> {
        let mut registry = self.registry.lock();
        self.remove_job(&mut registry, id)?;
        registry.jobs.remove(&id);
        registry.waiting.retain(|waiting| *waiting != id);
        Ok(true)
    }

    /// Changes a job's record: saves the changed record, and then updates the copy in memory.
    fn change(&self, id: JobId, change: impl FnOnce(&mut Record)) -> Result<(), JobError> {
        let mut registry = self.registry.lock();
        if let Some(entry) = registry.jobs.get_mut(&id) {
            let mut record = entry.record.clone();
            change(&mut record);
            self.save(entry, record)?;
        }
        Ok(())
    }

    /// Whether a job contains a suppressed value (data that must be erased): in its list, in its
    /// order (what the account has ordered for the list), or in the output that is written so far.
    fn holds(&self, record: &Record, values: &dyn SuppressedValues) -> Result<bool, JobError> {
        if order_holds(record, values) || list_holds(self, record, values)? {
            return Ok(true);
        }
        let out = record.output(&self.folder);
        for file in part::files_of(&out) {
            if holding::file_holds(&file, values)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the values that were suppressed after the list was uploaded. Only these must be erased
/// from the list.
fn since<'a>(record: &Record, values: &'a dyn SuppressedValues) -> SuppressedSince<'a> {
    let since = Timestamp::from_second(record.created_at).unwrap_or(Timestamp::MIN);
    SuppressedSince { values, since }
}

/// Returns the format of the rows in the output file. The rows of a workbook are stored as CSV.
fn written(record: &Record) -> Written {
    let delimiter = record.layout.as_ref().and_then(|layout| layout.delimiter);
    match format_from_file_name(&record.file_name).0 {
        Some(Format::JsonLines) => Written::Lines,
        Some(Format::Xlsx) => Written::Csv(Delimiter::Comma),
        Some(Format::Csv | Format::Tsv) | None => {
            Written::Csv(delimiter.unwrap_or(Delimiter::Comma))
        }
    }
}

/// Whether a constant of the mapping (a value that is the same for every row) is a suppressed value
/// (data that must be erased).
fn order_holds(record: &Record, values: &dyn SuppressedValues) -> bool {
    let mut constants = record.order.iter().flat_map(|order| &order.mapping.constants);
    constants.any(|(_, value)| holds_suppressed(values, value))
}

/// Whether a row of the upload contains a suppressed value (data that must be erased). Returns
/// `false` if the upload was already deleted. Returns `true` if the upload cannot be read as rows,
/// because it may then contain such a value.
fn list_holds(
    shared: &JobsState,
    record: &Record,
    values: &dyn SuppressedValues,
) -> Result<bool, JobError> {
    if !record.list(&shared.folder).exists() {
        return Ok(false);
    }
    let open = || shared.input(&shared.folder, record, &Stop::default());
    Ok(rows_hold(open, values).unwrap_or(true))
}
