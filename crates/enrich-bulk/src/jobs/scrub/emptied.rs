//! Empties the rows with suppressed values (data that must be erased) in the list of an unfinished
//! job.
//!
//! Paid rows are recognised by their number and text. So emptied rows keep their numbers, and all
//! other rows keep their numbers and texts. The rewritten list is UTF-8 text.

use std::collections::BTreeSet;
use std::io::{self, Write};

use enrich_core::{SuppressedValues, holds_suppressed};
use enrich_import::{Cells, Delimiter, ReadError, Row, format_from_file_name};

use super::holding::{json_holds, row_holds};
use super::staged::Staged;
use super::{JobsState, Record, written};
use crate::input::Input;
use crate::jobs::JobError;
use crate::part::{Checkpoint, PartError, compressed, read_checkpoint, with_ending};
use crate::run::chained;
use crate::shape::Shape;
use crate::stop::Stop;

/// The number of bytes of a rewritten list that are compressed as one piece.
const PIECE_BYTES: usize = 4 * 1024 * 1024;

impl JobsState {
    /// Writes new versions of the list and of the output so far, as [`Staged`] files, which replace
    /// the present files later. In the new list, rows that contain a suppressed value (data that
    /// must be erased) are empty. In the new output, such rows are left out. Returns the staged
    /// files, and the number of emptied and removed rows. Returns `None` if the list or its
    /// checkpoint is damaged.
    pub(super) fn with_emptied_rows(
        &self,
        record: &Record,
        values: &dyn SuppressedValues,
    ) -> Result<Option<(Staged, u64)>, JobError> {
        let (out, mut staged) = (record.output(&self.folder), Staged::default());
        let (part, job) = (with_ending(&out, ".part"), with_ending(&out, ".job"));
        let mut checkpoint = match read_checkpoint(&job) {
            Ok(checkpoint) => checkpoint,
            Err(PartError::Damaged(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut removed = 0;
        if let Some(checkpoint) = &mut checkpoint
            && part.exists()
        {
            let bytes = Some(checkpoint.output_bytes);
            let copied = staged.copy_without(&part, bytes, written(record), values)?;
            (removed, checkpoint.output_bytes) = (copied.removed, copied.bytes);
        }
        let answered = checkpoint.as_ref().map(|checkpoint| numbers_ahead(checkpoint, values));
        let done = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.counts.rows);
        let emptied = match self.numbers_held(record, answered.unwrap_or_default(), values) {
            Ok(emptied) => emptied,
            Err(ReadError::Failed(error)) if !is_damage(&error) => return Err(error.into()),
            Err(_) => return Ok(None),
        };
        if emptied.is_empty() && removed == 0 {
            return Ok(Some((staged, 0)));
        }
        removed += emptied.range(done..).count() as u64;
        if !emptied.is_empty() {
            // The list must be replaced. The caller replaces files only if `removed` is at least
            // 1, but `removed` does not count all emptied rows. If an emptied row is in the output
            // already (its number is below `done`), it counts only if it was removed from the
            // output. So `removed` can be 0 here.
            removed = removed.max(1);
            staged.replaces_list = true;
            let Some(hash) = self.write_list(record, &mut staged, &emptied, done)? else {
                return Ok(None);
            };
            if let Some(checkpoint) = &mut checkpoint {
                checkpoint.rows_hash = hash;
                drop_ahead(checkpoint, &emptied);
            }
        }
        if let Some(checkpoint) = &checkpoint {
            let mut into = staged.begin(&job)?;
            serde_json::to_writer(&mut into, checkpoint).map_err(io::Error::other)?;
            into.sync_all()?;
        }
        Ok(Some((staged, removed)))
    }

    /// Adds to `known` the numbers (from 0) of all rows of the list that contain a suppressed value
    /// (data that must be erased). Returns `known`.
    fn numbers_held(
        &self,
        record: &Record,
        mut known: BTreeSet<u64>,
        values: &dyn SuppressedValues,
    ) -> Result<BTreeSet<u64>, ReadError> {
        let mut input = self.input(&self.folder, record, &Stop::default())?;
        for number in 0_u64.. {
            let Some(row) = input.next_row()? else { break };
            if row_holds(input.shape(), &row, values) {
                known.insert(number);
            }
        }
        // The column names are not searched for suppressed values. They must not change, because
        // the mapping of the job names the columns.
        Ok(known)
    }

    /// Writes a new version of the list as a staged file, which replaces the list later. Rows whose
    /// number is in `emptied` are empty in it. Returns the hash of the first `done` rows of the new
    /// list. Reads the new list again as a check, and returns `None` if it does not have as many
    /// rows as the present list.
    fn write_list(
        &self,
        record: &Record,
        staged: &mut Staged,
        emptied: &BTreeSet<u64>,
        done: u64,
    ) -> Result<Option<String>, JobError> {
        let list = record.list(&self.folder);
        let mut input = self.input(&self.folder, record, &Stop::default())?;
        let delimiter = record.rewritten_delimiter();
        let (mut hash, mut rows) = (String::new(), 0);
        let compression = format_from_file_name(&list.to_string_lossy()).1;
        let (mut into, mut text) = (staged.begin(&list)?, Vec::new());
        if let Shape::Csv(columns) = input.shape() {
            let mut header = csv_writer(delimiter);
            header.write_record(columns).map_err(io::Error::other)?;
            text = header.into_inner().map_err(|error| error.into_error())?;
        }
        while let Some(row) = input.next_row()? {
            text.extend(match emptied.contains(&rows) {
                true => emptied_text(&input, &row, delimiter),
                false => kept_text(&input, &row, delimiter)?,
            });
            text.push(b'\n');
            rows += 1;
            if text.len() >= PIECE_BYTES {
                into.write_all(&compressed(&std::mem::take(&mut text), compression)?)?;
            }
        }
        into.write_all(&compressed(&text, compression)?)?;
        into.sync_all()?;
        let rewritten = Record { is_rewritten: true, ..record.clone() };
        let path = Staged::path_of(&list);
        let Ok(mut input) = self.input_at(&path, &rewritten, &Stop::default()) else {
            return Ok(None);
        };
        for number in 0..rows {
            let Ok(Some(row)) = input.next_row() else { return Ok(None) };
            if number < done {
                hash = chained(&hash, &row.text);
            }
        }
        Ok(matches!(input.next_row(), Ok(None)).then_some(hash))
    }
}

/// Whether the file is damaged or missing, so that another attempt to read it would fail too.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, NotFound, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | NotFound | UnexpectedEof)
}

/// Returns the numbers of the rows in `checkpoint.ahead` that have an answer with a suppressed
/// value (data that must be erased). These rows were answered while an earlier row was still
/// unanswered, so they are not in the output yet.
fn numbers_ahead(checkpoint: &Checkpoint, values: &dyn SuppressedValues) -> BTreeSet<u64> {
    let holds = |value: &serde_json::Value| json_holds(value, values);
    let held = checkpoint.ahead.iter().filter(|(_, added)| {
        added.values.iter().chain(&added.candidates).any(holds)
            || holds_suppressed(values, &added.error)
    });
    held.filter_map(|(key, _)| number_of(key)).collect()
}

/// Returns the row number in an idempotency key: 7 in `bulk-JOB-7-HASH`. Returns `None` for a text
/// of another form.
fn number_of(key: &str) -> Option<u64> {
    key.rsplit('-').nth(1)?.parse().ok()
}

/// Removes from the checkpoint the answers of the rows that were emptied, because they contained
/// data that must be erased. The cost of these rows is still counted.
fn drop_ahead(checkpoint: &mut Checkpoint, emptied: &BTreeSet<u64>) {
    let counts = &mut checkpoint.counts;
    checkpoint.ahead.retain(|(key, added)| {
        let is_emptied = number_of(key).is_some_and(|number| emptied.contains(&number));
        counts.credits += if is_emptied { added.credits } else { 0 };
        !is_emptied
    });
}

/// Returns the text that replaces a row with a suppressed value (data that must be erased). The
/// text has no values, but it must not be blank, because a blank line does not count as a row.
fn emptied_text(input: &Input, row: &Row, delimiter: Delimiter) -> Vec<u8> {
    match (input.shape(), &row.cells) {
        (Shape::Csv(columns), _) => {
            let mut text = b"\"\"".to_vec();
            text.resize(1 + columns.len().max(1), delimiter.as_byte());
            text
        }
        (Shape::Json(_), Ok(Cells::Json(members))) => {
            let nothing = |(name, _): &(String, serde_json::Value)| (name.clone(), ().into());
            let object: serde_json::Map<_, _> = members.iter().map(nothing).collect();
            serde_json::Value::Object(object).to_string().into_bytes()
        }
        (Shape::Json(_), _) => b"{}".to_vec(),
    }
}

/// Returns the text of a row for the new list. Usually it is the unchanged text. A malformed CSV
/// row, for example with an open quote, becomes a row with more cells than the list has columns.
/// So the row stays invalid, and the open quote cannot include the next rows.
fn kept_text(input: &Input, row: &Row, delimiter: Delimiter) -> io::Result<Vec<u8>> {
    let Shape::Csv(columns) = input.shape() else { return Ok(row.text.clone()) };
    if row.cells.is_ok() {
        return Ok(row.text.clone());
    }
    let mut writer = csv_writer(delimiter);
    writer.write_field(&row.text)?;
    for _ in columns {
        writer.write_field("")?;
    }
    writer.write_record(None::<&[u8]>)?;
    let mut text = writer.into_inner().map_err(|error| error.into_error())?;
    text.pop();
    Ok(text)
}

fn csv_writer(delimiter: Delimiter) -> csv::Writer<Vec<u8>> {
    csv::WriterBuilder::new().delimiter(delimiter.as_byte()).from_writer(Vec::new())
}

#[cfg(test)]
mod tests {
    use enrich_core::Timestamp;
    use enrich_core::port::importer::Suppressed;

    use super::*;
    use crate::export::{Added, Status};
    use crate::part::Purpose;

    struct Forgotten(Suppressed);

    impl SuppressedValues for Forgotten {
        fn version(&self) -> u64 {
            1
        }

        fn is_empty(&self) -> bool {
            false
        }

        fn holds(&self, value: &Suppressed) -> bool {
            *value == self.0
        }

        fn holds_suppressed_since(&self, value: &Suppressed, _: Timestamp) -> bool {
            self.holds(value)
        }
    }

    #[test]
    fn answers_and_candidates_ahead_are_searched() {
        let ahead = |values: &[&str], candidates: &[&str]| Added {
            status: Status::Found,
            values: values.iter().map(|&value| value.into()).collect(),
            candidates: candidates.iter().map(|&value| value.into()).collect(),
            error: String::new(),
            credits: 1,
        };
        let mut checkpoint = Checkpoint::begin(Purpose::default()).unwrap();
        checkpoint.ahead = vec![
            ("bulk-0-7-a".to_owned(), ahead(&["quill.example"], &[])),
            ("bulk-0-8-a".to_owned(), ahead(&["ink.example"], &["Quill", "quill.example"])),
            ("bulk-0-9-a".to_owned(), ahead(&["ink.example"], &["Ink", "ink.example"])),
        ];
        let domain = enrich_text::Domain::parse("quill.example").unwrap();
        let held = numbers_ahead(&checkpoint, &Forgotten(Suppressed::Domain(domain)));
        assert_eq!(held, BTreeSet::from([7, 8]));
    }
}
