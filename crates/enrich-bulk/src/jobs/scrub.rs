//! What lists hold of values that were forgotten since.
//!
//! A list that is whole loses the rows that hold such a value, and what was uploaded for it goes. A
//! list that is not whole cannot go on without its rows as they were, so it ends and goes whole.
//! What was uploaded after a value was forgotten is the account's own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use enrich_core::{AccountId, SuppressedSince, SuppressedValues, Timestamp, holds_suppressed};
use enrich_import::{Cells, Format, ReadError, Source, told_by_name};

use super::record::{self, JobId, Record, State};
use super::{JobError, Jobs, Shared};
use crate::export;
use crate::input::Input;
use crate::part;
use crate::run::End;
use crate::stop::Stop;

impl Jobs {
    /// Takes forgotten values out of all lists that were not looked through since a value was
    /// forgotten; how many lists were changed or removed.
    ///
    /// # Errors
    ///
    /// When the suppressed values can't be read, or files of a list can't be read or written: the
    /// other lists are looked through all the same.
    pub fn scrub(&self) -> Result<usize, JobError> {
        let Some(values) = self.shared.suppressed()? else { return Ok(0) };
        let ids: Vec<JobId> = self.shared.desk.lock().jobs.keys().copied().collect();
        let (mut changed, mut failed) = (0, None);
        for id in ids {
            match self.shared.scrub(id, &*values) {
                Ok(is_changed) => changed += usize::from(is_changed),
                // It was deleted meanwhile.
                Err(_) if !self.shared.desk.lock().jobs.contains_key(&id) => {}
                // The others are looked through all the same.
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(changed), Err)
    }

    /// Whether the output of a list can be read without a look through its rows: it is whole, and
    /// holds no value that was forgotten since.
    ///
    /// # Errors
    ///
    /// When there is no such job, or the suppressed values can't be read.
    pub fn is_output_ready(&self, account: AccountId, id: JobId) -> Result<bool, JobError> {
        let state = self.shared.desk.lock().of(account, id)?.record.state.clone();
        let count = self.shared.suppressed()?.map_or(0, |values| values.count());
        let is_scrubbed = count == 0 || self.shared.is_scrubbed(id, count);
        Ok(state == State::Ended(End::Whole) && is_scrubbed)
    }

    /// The same for one list of an account, before it is shown.
    pub(super) fn scrub_one(&self, account: AccountId, id: JobId) -> Result<(), JobError> {
        self.shared.desk.lock().of(account, id)?;
        if let Some(values) = self.shared.suppressed()? {
            self.shared.scrub(id, &*values)?;
        }
        Ok(())
    }
}

impl Shared {
    fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, JobError> {
        let values = pollster::block_on(self.callers.suppressed());
        let values = values.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(values.filter(|values| values.count() > 0))
    }

    /// How many values are suppressed now; 0 where that is not known: then a list is looked through
    /// once more.
    pub(super) fn suppressed_count(&self) -> u64 {
        self.suppressed().ok().flatten().map_or(0, |values| values.count())
    }

    /// Whether a list was looked through for this many suppressed values.
    fn is_scrubbed(&self, id: JobId, count: u64) -> bool {
        self.desk.lock().jobs.get(&id).is_some_and(|entry| entry.scrubbed() == count)
    }

    /// Looks through a list, once for the same suppressed values. Whether it was changed.
    fn scrub(&self, id: JobId, values: &dyn SuppressedValues) -> Result<bool, JobError> {
        if self.is_scrubbed(id, values.count()) {
            return Ok(false);
        }
        // Files of one list are looked through by one at a time.
        let _one_at_a_time = self.scrubbing.lock();
        let (record, is_running) = {
            let mut desk = self.desk.lock();
            let Some(entry) = desk.jobs.get_mut(&id) else { return Ok(false) };
            let is_running = entry.stop.is_some();
            if entry.scrubbed() == values.count() {
                return Ok(false);
            }
            entry.scrubbed_running = values.count();
            (entry.record.clone(), is_running)
        };
        // What was uploaded after a value was forgotten is the account's own.
        let since = Timestamp::from_second(record.created_at).unwrap_or(Timestamp::MIN);
        let values = &SuppressedSince { values, since };
        if record.state == State::Ended(End::Whole) {
            return self.scrub_whole(record, values);
        }
        if !self.holds(&record, values)? {
            if !is_running {
                self.note_scrubbed(id, values.count(), 0)?;
            }
            return Ok(false);
        }
        let mut desk = self.desk.lock();
        let Some(entry) = desk.jobs.get_mut(&id) else { return Ok(false) };
        match &entry.stop {
            Some(stop) => {
                // The thread that runs it removes it.
                stop.now();
                entry.is_forgotten = true;
            }
            None => {
                record::remove(&self.folder, id)?;
                desk.jobs.remove(&id);
                desk.waiting.retain(|waiting| *waiting != id);
            }
        }
        Ok(true)
    }

    /// Writes the rows of a whole list anew without those that hold a suppressed value.
    fn scrub_whole(&self, record: Record, values: &dyn SuppressedValues) -> Result<bool, JobError> {
        let out = record.output(&self.folder);
        if out.extension().is_some_and(|ending| ending == "xlsx") {
            // A workbook cannot lose single rows.
            let input = || Input::open(Source::file(&out)?);
            if list_holds(self, &record, values)? || rows_hold(input, values).unwrap_or(true) {
                return self.remove(record.id);
            }
            self.note_scrubbed(record.id, values.count(), 0)?;
            return Ok(false);
        }
        let removed = without_rows(&out, values)?;
        let list = record.list(&self.folder);
        if list_holds(self, &record, values)? {
            match fs::remove_file(&list) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        self.note_scrubbed(record.id, values.count(), removed)?;
        Ok(removed > 0)
    }

    fn remove(&self, id: JobId) -> Result<bool, JobError> {
        let mut desk = self.desk.lock();
        record::remove(&self.folder, id)?;
        desk.jobs.remove(&id);
        desk.waiting.retain(|waiting| *waiting != id);
        Ok(true)
    }

    fn note_scrubbed(&self, id: JobId, count: u64, removed: u64) -> Result<(), JobError> {
        let mut desk = self.desk.lock();
        if let Some(entry) = desk.jobs.get_mut(&id) {
            let mut record = entry.record.clone();
            record.scrubbed = count;
            record.removed_rows += removed;
            record.save(&self.folder)?;
            entry.record = record;
            entry.bytes = Record::held_bytes(id, &self.folder)?;
        }
        Ok(())
    }

    /// Whether a list that is not whole, or what was made of it until now, holds such a value.
    fn holds(&self, record: &Record, values: &dyn SuppressedValues) -> Result<bool, JobError> {
        if list_holds(self, record, values)? {
            return Ok(true);
        }
        let out = record.output(&self.folder);
        for file in part::files_of(&out) {
            if file_holds(&file, values)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether a row of what was uploaded holds such a value.
fn list_holds(
    shared: &Shared,
    record: &Record,
    values: &dyn SuppressedValues,
) -> Result<bool, JobError> {
    let list = record.list(&shared.folder);
    if !list.exists() {
        return Ok(false);
    }
    // What cannot be read as rows (any more) may hold anything.
    Ok(rows_hold(|| shared.input(&shared.folder, record, &Stop::default()), values).unwrap_or(true))
}

/// Whether a row of a list holds such a value.
fn rows_hold(
    open: impl FnOnce() -> Result<Input, ReadError>,
    values: &dyn SuppressedValues,
) -> Result<bool, ReadError> {
    let mut input = open()?;
    while let Some(row) = input.next_row()? {
        let holds = match &row.cells {
            Ok(Cells::Json(cells)) => cells.iter().any(|(_, value)| json_holds(value, values)),
            _ => export::csv_cells(input.shape(), &row)
                .iter()
                .any(|cell| holds_suppressed(values, &String::from_utf8_lossy(cell))),
        };
        if holds {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a line of a file holds such a value.
fn file_holds(path: &Path, values: &dyn SuppressedValues) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    let (mut lines, mut line) = (BufReader::new(file), Vec::new());
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(false);
        }
        if holds_suppressed(values, &String::from_utf8_lossy(&line)) {
            return Ok(true);
        }
    }
}

/// Writes a file of rows anew without those that hold such a value; how many those were.
fn without_rows(path: &Path, values: &dyn SuppressedValues) -> io::Result<u64> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        file => file?,
    };
    let beside = beside(path);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut new = BufWriter::new(options.open(&beside)?);
    let removed = match told_by_name(&path.to_string_lossy()).0 {
        Some(Format::JsonLines) => copy_lines(file, &mut new, values)?,
        Some(Format::Csv | Format::Tsv | Format::Xlsx) | None => {
            copy_records(file, &mut new, values)?
        }
    };
    if removed == 0 {
        fs::remove_file(&beside)?;
        return Ok(0);
    }
    new.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&beside, path)?;
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(removed)
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".scrubbed");
    name.into()
}

fn copy_lines(from: File, into: &mut dyn Write, values: &dyn SuppressedValues) -> io::Result<u64> {
    let (mut lines, mut line, mut removed) = (BufReader::new(from), Vec::new(), 0);
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(removed);
        }
        if line_holds(&line, values) {
            removed += 1;
        } else {
            into.write_all(&line)?;
        }
    }
}

/// Whether a line of JSON holds such a value, however its texts are escaped.
fn line_holds(line: &[u8], values: &dyn SuppressedValues) -> bool {
    match serde_json::from_slice::<serde_json::Value>(line) {
        Ok(value) => json_holds(&value, values),
        Err(_) => holds_suppressed(values, &String::from_utf8_lossy(line)),
    }
}

fn json_holds(value: &serde_json::Value, values: &dyn SuppressedValues) -> bool {
    match value {
        serde_json::Value::String(text) => holds_suppressed(values, text),
        serde_json::Value::Number(number) => holds_suppressed(values, &number.to_string()),
        serde_json::Value::Array(all) => all.iter().any(|value| json_holds(value, values)),
        serde_json::Value::Object(all) => all.values().any(|value| json_holds(value, values)),
        serde_json::Value::Null | serde_json::Value::Bool(_) => false,
    }
}

fn copy_records(
    from: File,
    into: &mut dyn Write,
    values: &dyn SuppressedValues,
) -> io::Result<u64> {
    let mut from = BufReader::new(from);
    let delimiter = delimiter(from.fill_buf()?);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(from);
    let mut writer =
        csv::WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(into);
    let (mut record, mut removed, mut is_header) = (csv::ByteRecord::new(), 0, true);
    while reader.read_byte_record(&mut record)? {
        let holds = |cell: &[u8]| holds_suppressed(values, &String::from_utf8_lossy(cell));
        if !std::mem::take(&mut is_header) && record.iter().any(holds) {
            removed += 1;
        } else {
            writer.write_byte_record(&record)?;
        }
    }
    writer.flush()?;
    Ok(removed)
}

/// What stands most often in the first line of what is written here.
fn delimiter(begun: &[u8]) -> u8 {
    let header = begun.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |wanted: &u8| header.iter().filter(|byte| *byte == wanted).count();
    // Of equals the last counts.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}
