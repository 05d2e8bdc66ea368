//! Stores uploaded lists: files with rows to look up, such as `leads.csv`. Also reads the first
//! rows of a list (its sample), and computes its highest possible cost (its preview).

use std::io::{self, Read};
use std::path::Path;
use std::time::Instant;

use enrich_core::AccountId;
use enrich_import::ReadAs;

use super::error::Refusal;
use super::folder::ARRIVING;
use super::limits::is_too_slow;
use super::record::{self, JobId, Record};
use super::{CachedPreview, Entry, Job, JobError, Jobs, JobsState, Sample, State};
use crate::mapping::Mapping;
use crate::preview::{NationalNumbers, Preview, PreviewError, preview};
use crate::run::Counts;

/// Number of received bytes of an upload after which the account's limits and the free space are
/// checked again.
const LOOK_EACH_BYTES: u64 = 4 * 1024 * 1024;

impl Jobs {
    /// Stores an uploaded list as a new job, and counts its rows. The rows are looked up only after
    /// the job is [started](Jobs::start).
    ///
    /// # Errors
    ///
    /// When the list is too large or unreadable, or a limit is reached, such as the maximum number
    /// of jobs of the account.
    pub fn create(
        &self,
        account: AccountId,
        file_name: &str,
        content: &mut dyn Read,
    ) -> Result<Job, JobError> {
        let shared = &*self.shared;
        let _permit = shared.uploading(account)?;
        shared.refresh(account)?;
        shared.check_quota(&shared.registry.lock(), account, 0)?;
        shared.check_disk_space()?;
        let mut record = Record::new(account, file_name, shared.clock.now())?;
        record.turn_folder = shared.records.as_ref().map(|_| 1);
        let (id, arriving) = (record.id, shared.folder.join(ARRIVING));
        let taken = shared.arrive(&arriving, record, content);
        let taken = taken.and_then(|entry| shared.take_over(&arriving, entry));
        if taken.is_err() {
            record::remove(&arriving, id)?;
        }
        taken
    }

    /// Returns the columns of a list and at most `rows` of its first rows, with long cells
    /// truncated.
    ///
    /// # Errors
    ///
    /// When there is no such job, or its list cannot be read.
    pub fn sample(&self, account: AccountId, id: JobId, rows: usize) -> Result<Sample, JobError> {
        self.scrub_one(account, id)?;
        let shared = &*self.shared;
        let record = shared.registry.lock().of(account, id)?.record.clone();
        let mut input = shared.input(&shared.folder, &record, &shared.closing)?;
        let columns = input.columns().to_vec();
        let read_as = record.read_as;
        let layout = record.layout.clone().or(input.layout());
        let mut sample = Sample { columns, rows: Vec::new(), layout, read_as };
        // Stops after the last row, because many blank lines may come after it, and they need not
        // be read.
        let rows = record.rows.and_then(|all| usize::try_from(all).ok()).unwrap_or(rows).min(rows);
        while sample.rows.len() < rows {
            let Some(row) = input.next_row()? else { break };
            sample.rows.push(input.shown(&row));
        }
        Ok(sample)
    }

    /// Changes the options for reading a list, and counts its rows again.
    ///
    /// # Errors
    ///
    /// When there is no such job, the job was started, or its list cannot be read with these
    /// options.
    pub fn read_as(&self, account: AccountId, id: JobId, read_as: ReadAs) -> Result<(), JobError> {
        let shared = &*self.shared;
        shared.refresh_one(id)?;
        let _permit = shared.reading(account)?;
        let mut record = shared.registry.lock().of(account, id)?.record.clone();
        record.read_as = read_as;
        let mut input = shared.input(&shared.folder, &record, &shared.closing)?;
        let rows = input.count_rows()?;
        let mut registry = shared.registry.lock();
        let entry = registry.of_mut(account, id)?;
        if entry.record.state != State::New {
            return Err(JobError::WrongState(entry.record.state.in_words()));
        }
        let (rows, layout) = (Some(rows), input.layout());
        let record = Record { read_as, rows, layout, ..entry.record.clone() };
        shared.save(entry, record)?;
        entry.cached_preview = None;
        Ok(())
    }

    /// Returns the highest possible cost of a list. If the last preview of the list was for the
    /// same endpoint, mapping, number of candidates and country, returns its result. Otherwise,
    /// reads the whole list.
    ///
    /// # Errors
    ///
    /// When there is no such job or endpoint, the list cannot be read, or the mapping is invalid.
    pub fn preview(
        &self,
        account: AccountId,
        id: JobId,
        endpoint: &str,
        mapping: &Mapping,
        candidates: usize,
    ) -> Result<Preview, JobError> {
        let shared = &*self.shared;
        shared.refresh_one(id)?;
        let known = shared.registry.lock().of(account, id)?.cached_preview.clone();
        let country = pollster::block_on(shared.callers.country(account));
        let country = country.map_err(|error| io::Error::other(error.to_string()))?;
        if let Some(known) = known
            && known.endpoint == endpoint
            && known.mapping == *mapping
            && known.candidates == candidates
            && known.country == country
        {
            return Ok(known.preview);
        }
        let _permit = shared.reading(account)?;
        let record = shared.registry.lock().of(account, id)?.record.clone();
        let target = shared.target(endpoint)?;
        let mut input = shared.input(&shared.folder, &record, &shared.closing)?;
        let numbers = NationalNumbers::Of(country);
        let preview = preview(&mut input, target.endpoint, mapping, numbers, candidates);
        let preview = preview.map_err(|error| match error {
            PreviewError::Input(error) => JobError::from(error),
            PreviewError::Mapping(error) => error.into(),
        })?;
        if let Ok(entry) = shared.registry.lock().of_mut(account, id) {
            let (endpoint, mapping) = (endpoint.to_owned(), mapping.clone());
            entry.cached_preview =
                Some(CachedPreview { endpoint, mapping, candidates, country, preview });
        }
        Ok(preview)
    }
}

impl JobsState {
    /// Stores an uploaded list in the folder `arriving`. Then reads the list to the end, to count
    /// its rows and to see whether it can be read.
    fn arrive(
        &self,
        arriving: &Path,
        mut record: Record,
        content: &mut dyn Read,
    ) -> Result<Entry, JobError> {
        let (began, settings) = (Instant::now(), &self.settings);
        let mut looked_at = 0;
        record::store_list(arriving, &record, content, &mut |bytes| {
            if bytes > settings.max_upload_bytes {
                return Err(JobError::TooLarge(settings.max_upload_bytes));
            }
            if is_too_slow(bytes, began.elapsed(), settings.upload_patience) {
                return Err(Refusal::TooSlow.into());
            }
            if bytes - looked_at >= LOOK_EACH_BYTES {
                looked_at = bytes;
                self.check_quota(&self.registry.lock(), record.account, bytes)?;
                self.check_disk_space()?;
            }
            Ok(())
        })?;
        let mut input = self.input(arriving, &record, &self.closing)?;
        (record.rows, record.layout) = (Some(input.count_rows()?), input.layout());
        // Only values that are suppressed after the upload must be erased from a list. So a new
        // list need not be searched. Its record stores the present version of the suppressed
        // values, as if the list had been searched for them.
        record.scrubbed = self.suppressed_version();
        if self.records.is_none() {
            record.save(arriving)?;
        }
        let bytes = record.held_bytes(arriving)?;
        Ok(Entry::new(record, Counts::default(), bytes))
    }

    /// Moves a finished upload into the folder of jobs.
    fn take_over(&self, arriving: &Path, entry: Entry) -> Result<Job, JobError> {
        let mut registry = self.registry.lock();
        if registry.is_closing {
            return Err(Refusal::Elsewhere.into());
        }
        self.check_quota(&registry, entry.record.account, entry.bytes)?;
        record::move_folder(arriving, &self.folder, entry.record.id)?;
        self.add(&entry)?;
        let job = entry.job();
        registry.jobs.insert(job.id, entry);
        Ok(job)
    }
}
