//! Lists as they are uploaded and looked at.

use std::io::Read;
use std::path::Path;
use std::time::Instant;

use enrich_core::AccountId;
use enrich_import::{Cells, Row};

use super::folder::ARRIVING;
use super::limits::{Refusal, is_too_slow};
use super::record::{self, JobId, Record};
use super::{Entry, Job, JobError, Jobs, Sample, Shared};
use crate::export;
use crate::input::Input;
use crate::mapping::Mapping;
use crate::preview::{Preview, PreviewError, preview};
use crate::run::Counts;

/// After how many bytes of a list the space that is left is looked at.
const LOOK_EACH_BYTES: u64 = 4 * 1024 * 1024;
/// How many letters of a cell are shown.
const SHOWN_LETTERS: usize = 200;

impl Jobs {
    /// Takes a list of an account and counts its rows. It is asked once it is
    /// [started](Jobs::start).
    ///
    /// # Errors
    ///
    /// When it is too large or no list that can be read, or there is no room for it.
    pub fn create(
        &self,
        account: AccountId,
        file_name: &str,
        content: &mut dyn Read,
    ) -> Result<Job, JobError> {
        let shared = &*self.shared;
        let _place = shared.uploading(account)?;
        shared.see_room(&shared.desk.lock(), account, 0)?;
        shared.see_space()?;
        let record = Record::new(account, file_name, shared.clock.now())?;
        let (id, arriving) = (record.id, shared.folder.join(ARRIVING));
        let taken = shared.arrive(&arriving, record, content);
        let taken = taken.and_then(|entry| shared.keep(&arriving, entry));
        if taken.is_err() {
            record::remove(&arriving, id)?;
        }
        taken
    }

    /// The columns of a list and its first rows, at most `rows` of them, long cells cut.
    ///
    /// # Errors
    ///
    /// When there is no such job, or its list can't be read.
    pub fn sample(&self, account: AccountId, id: JobId, rows: usize) -> Result<Sample, JobError> {
        let shared = &*self.shared;
        let record = shared.desk.lock().of(account, id)?.record.clone();
        let mut input = shared.input(&shared.folder, &record, &shared.closing)?;
        let columns = input.columns().to_vec();
        let mut sample = Sample { columns, rows: Vec::new() };
        // Behind the last row there may be blank lines without end.
        let rows = record.rows.and_then(|all| usize::try_from(all).ok()).unwrap_or(rows).min(rows);
        while sample.rows.len() < rows {
            let Some(row) = input.next_row()? else { break };
            sample.rows.push(shown(&input, &row, sample.columns.len()));
        }
        Ok(sample)
    }

    /// What a list would cost at most. It is read to its end, once for the same mapping.
    ///
    /// # Errors
    ///
    /// When there is no such job or endpoint, or the mapping can't be used.
    pub fn preview(
        &self,
        account: AccountId,
        id: JobId,
        endpoint: &str,
        mapping: &Mapping,
    ) -> Result<Preview, JobError> {
        let shared = &*self.shared;
        let known = shared.desk.lock().of(account, id)?.foreseen.clone();
        if let Some((path, known, preview)) = known
            && path == endpoint
            && known == *mapping
        {
            return Ok(preview);
        }
        let _place = shared.reading(account)?;
        let record = shared.desk.lock().of(account, id)?.record.clone();
        let asked = shared.asked(endpoint)?;
        let input = shared.input(&shared.folder, &record, &shared.closing)?;
        let preview = preview(input, asked.endpoint, mapping).map_err(|error| match error {
            PreviewError::Input(error) => JobError::from(error),
            PreviewError::Mapping(error) => error.into(),
        })?;
        if let Ok(entry) = shared.desk.lock().of_mut(account, id) {
            entry.foreseen = Some((endpoint.to_owned(), mapping.clone(), preview));
        }
        Ok(preview)
    }
}

impl Shared {
    /// Stores a list and reads it to its end.
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
                self.see_room(&self.desk.lock(), record.account, bytes)?;
                self.see_space()?;
            }
            Ok(())
        })?;
        let mut input = self.input(arriving, &record, &self.closing)?;
        let mut rows = 0;
        while input.next_row()?.is_some() {
            rows += 1;
        }
        record.rows = Some(rows);
        record.save(arriving)?;
        let bytes = Record::held_bytes(record.id, arriving)?;
        Ok(Entry::new(record, Counts::default(), bytes))
    }

    /// Puts a list that has arrived among the others.
    fn keep(&self, arriving: &Path, entry: Entry) -> Result<Job, JobError> {
        let mut desk = self.desk.lock();
        if desk.is_closing {
            return Err(Refusal::Elsewhere.into());
        }
        self.see_room(&desk, entry.record.account, entry.bytes)?;
        record::move_folder(arriving, &self.folder, entry.record.id)?;
        let job = entry.job();
        desk.jobs.insert(job.id, entry);
        Ok(job)
    }
}

fn shown(input: &Input, row: &Row, columns: usize) -> Vec<String> {
    let mut cells: Vec<String> = export::csv_cells(input.shape(), row)
        .iter()
        // A letter has at most four bytes.
        .map(|cell| String::from_utf8_lossy(&cell[..cell.len().min(4 * SHOWN_LETTERS)]))
        .map(|text| text.chars().take(SHOWN_LETTERS).collect())
        .collect();
    // Members without a column, which only rows of JSON Lines have, are left out.
    if matches!(row.cells, Ok(Cells::Json(_))) {
        cells.truncate(columns);
    }
    cells
}
