//! Downloads of a job's output.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use enrich_core::AccountId;

use super::record::JobId;
use super::{JobError, Jobs, Written};
use crate::part::{self, PartError};
use crate::spreadsheet;

impl Jobs {
    /// Returns the rows that a job has written so far, or its complete output. Returns `None`
    /// before the first rows are written.
    ///
    /// # Errors
    ///
    /// When there is no such job, or its files cannot be read.
    pub fn output(&self, account: AccountId, id: JobId) -> Result<Option<Written>, JobError> {
        self.scrub_one(account, id)?;
        loop {
            let record = self.shared.registry.lock().of(account, id)?.record.clone();
            let (out, file_name) = (record.output(&self.shared.folder), record.output_name());
            match File::open(&out) {
                Ok(file) => {
                    let rows = file.metadata().map(|data| file.take(data.len()))?;
                    return Ok(Some(Written { rows, file_name, is_whole: true }));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
            match part::rows_until_now(&out) {
                // The output was completed and renamed in the meantime. The loop starts again and
                // opens the complete output.
                Err(PartError::Failed { error, .. })
                    if error.kind() == io::ErrorKind::NotFound && out.exists() => {}
                // In the meantime another process continued the job in another folder. The record
                // is read again to find that folder.
                Ok(None) if !record.folder(&self.shared.folder).exists() => {
                    self.shared.refresh_one(id)?;
                    let now = self.shared.registry.lock().of(account, id)?.record.clone();
                    if now.turn_folder == record.turn_folder {
                        return Ok(None);
                    }
                }
                rows => {
                    let rows = rows?.filter(|rows| rows.limit() > 0);
                    return Ok(rows.map(|rows| Written { rows, file_name, is_whole: false }));
                }
            }
        }
    }

    /// Returns the rows of a job's output as CSV, if the output is a workbook (`.xlsx`). Cells that
    /// are truncated in the workbook are complete in the CSV. Returns `None` if the output is not a
    /// workbook, if no rows are written yet, or if the CSV rows were not kept.
    ///
    /// # Errors
    ///
    /// When there is no such job, or its files cannot be read or written.
    pub fn output_as_csv(
        &self,
        account: AccountId,
        id: JobId,
    ) -> Result<Option<Written>, JobError> {
        self.scrub_one(account, id)?;
        let folder = &self.shared.folder;
        let record = self.shared.registry.lock().of(account, id)?.record.clone();
        let out = record.output(folder);
        if out.extension().is_none_or(|ending| ending != "xlsx") {
            return Ok(None);
        }
        let (rows, is_whole) = match File::open(part::rows_of_workbook(&out)) {
            Ok(file) => (file.take(u64::MAX), true),
            Err(error) if error.kind() == io::ErrorKind::NotFound && out.exists() => {
                return Ok(None);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match part::begun_rows(&out)?.filter(|rows| rows.limit() > 0) {
                    Some(rows) => (rows, false),
                    None => return Ok(None),
                }
            }
            Err(error) => return Err(error.into()),
        };
        let mut made = tempfile::tempfile_in(record.folder(folder))?;
        spreadsheet::write_csv(BufReader::new(rows), &mut made)?;
        made.seek(SeekFrom::Start(0))?;
        let length = made.metadata()?.len();
        let (rows, file_name) = (made.take(length), record.output_named(".csv"));
        Ok(Some(Written { rows, file_name, is_whole }))
    }
}
