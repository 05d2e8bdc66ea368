//! Reads the records of a joined source. A record consists of the rows with the same key in several
//! files of a zip archive.
//!
//! First, the rows of each file are sorted by the key, in temporary files. Then all files are
//! read together, one record at a time. So rows may have any order, and files any size.

use enrich_mapping::{Input, InputKind, Join, JoinMember};
use serde_json::{Map, Value};

use crate::input::{InputRecord, InputRecords, RecordPosition};
use crate::input_fault::{InputFault, MAX_RECORD_BYTES, MAX_RECORD_VALUES};
use crate::layout::Layout;
use crate::read_error::ReadError;
use crate::sorted_rows::{SortedRows, Sorter};
use crate::source::Source;

/// Number of rows that are sorted before progress is reported.
const ROWS_OF_A_STEP: usize = 4_096;

/// The result of one step of reading records that are joined from several files.
pub(crate) enum Step {
    /// A record, or the error for a row that can't be used.
    Record(InputRecord),
    /// No record yet, because rows are still being sorted.
    Busy,
    /// The source has no more records.
    End,
}

/// A reader of records that are joined from several files of a zip archive.
pub(crate) struct JoinedRecords {
    join: Join,
    options: Input,
    sorting: Option<Sorting>,
    /// The files that are already sorted, in the order of `join.members`.
    files: Vec<SortedFile>,
    layout: Option<Layout>,
    read_bytes: u64,
    records: u64,
}

/// A file whose rows are being sorted.
struct Sorting {
    /// The archive, to be read again for the next file.
    archive: Source,
    input: InputRecords,
    /// The names of the file's columns.
    columns: Vec<String>,
    /// The index, from 0, of the column with the key by which the rows are sorted.
    key: usize,
    rows: Sorter,
}

/// A file of the archive, with its rows sorted by their key. The content of a row is its line
/// number (8 bytes, little-endian), then a JSON array of its values.
struct SortedFile {
    columns: Vec<String>,
    rows: SortedRows,
}

impl JoinedRecords {
    pub(crate) fn open(source: Source, join: Join, options: Input) -> Result<Self, ReadError> {
        let options = Input { kind: Some(InputKind::Csv), ..options };
        let mut joined = Self {
            join,
            options,
            sorting: None,
            files: Vec::new(),
            layout: None,
            read_bytes: 0,
            records: 0,
        };
        joined.open_next(source)?;
        Ok(joined)
    }

    pub(crate) fn next_step(&mut self) -> Result<Step, ReadError> {
        let Some(sorting) = &mut self.sorting else { return self.gather() };
        for _ in 0..ROWS_OF_A_STEP {
            let Some(record) = sorting.input.next_record()? else { return self.end_file() };
            match record.fields {
                Ok(fields) => sorting.add(record.place.line, fields)?,
                Err(_) => return Ok(Step::Record(record)),
            }
        }
        Ok(Step::Busy)
    }

    pub(crate) fn layout(&self) -> Option<Layout> {
        let layout = self.sorting.as_ref().and_then(|sorting| sorting.input.layout());
        layout.or(self.layout.clone())
    }

    pub(crate) fn newly_read_bytes(&mut self) -> u64 {
        let newly = self.sorting.as_ref().map_or(0, |sorting| sorting.input.newly_read_bytes());
        std::mem::take(&mut self.read_bytes) + newly
    }

    /// Opens the first file that is not sorted yet, if there is one.
    fn open_next(&mut self, archive: Source) -> Result<(), ReadError> {
        let Some(member) = self.join.members.get(self.files.len()) else { return Ok(()) };
        let (first, again) = archive.twice()?;
        let options = Input { member: vec![member.file.clone()], ..self.options.clone() };
        let input = InputRecords::open(first, options)?;
        if input.archive_member().is_none() {
            let files = self.join.members.iter().map(|member| member.file.as_str());
            return Err(InputFault::NotJoined(files.collect::<Vec<_>>().join(", ")).into());
        }
        let columns = input.columns();
        let JoinMember { file, key: column, .. } = member;
        let is_key = |known: &String| known.eq_ignore_ascii_case(column.trim());
        let Some(key) = columns.iter().position(is_key) else {
            return Err(InputFault::NoKey { file: file.clone(), column: column.clone() }.into());
        };
        let (archive, rows) = (again.source(), Sorter::default());
        self.sorting = Some(Sorting { archive, input, columns, key, rows });
        Ok(())
    }

    /// Ends the sorting of a file, and opens the next one.
    fn end_file(&mut self) -> Result<Step, ReadError> {
        self.read_bytes = self.newly_read_bytes();
        self.layout = self.layout();
        let Some(Sorting { archive, columns, rows, .. }) = self.sorting.take() else {
            return Ok(Step::Busy);
        };
        let rows = rows.sorted().map_err(ReadError::Failed)?;
        self.files.push(SortedFile { columns, rows });
        self.open_next(archive)?;
        Ok(Step::Busy)
    }

    /// Joins the rows that have the next key of the first file, and returns the record. Skips rows
    /// of the other files with keys that the first file does not have.
    fn gather(&mut self) -> Result<Step, ReadError> {
        let next = self.files.first().and_then(|file| file.rows.next_key());
        let Some(key) = next.map(<[u8]>::to_vec) else { return Ok(Step::End) };
        self.records += 1;
        let (mut line, mut bytes, mut values) = (0, 0, 0);
        let mut fields = Map::new();
        fields.insert("@key".to_owned(), String::from_utf8_lossy(&key).into());
        for (member, file) in self.join.members.iter().zip(&mut self.files) {
            let mut rows = Vec::new();
            while file.rows.next_key().is_some_and(|next| next <= key.as_slice()) {
                let row = file.rows.next_row().map_err(ReadError::Failed)?;
                let Some((_, content)) = row.filter(|(found, _)| *found == key) else { continue };
                let (number, row) = file.row(&content).map_err(ReadError::Failed)?;
                line = if line == 0 { number } else { line };
                bytes += content.len();
                values += row.len();
                if bytes > MAX_RECORD_BYTES || values > MAX_RECORD_VALUES {
                    return Err(InputFault::LargeRecord { record: self.records, line }.into());
                }
                rows.push(Value::Object(row));
            }
            if !rows.is_empty() {
                fields.insert(member.name.clone(), Value::Array(rows));
            }
        }
        let place = RecordPosition { record: self.records, line };
        Ok(Step::Record(InputRecord { place, text: Vec::new(), fields: Ok(fields) }))
    }
}

impl Sorting {
    fn add(&mut self, line: u64, fields: Map<String, Value>) -> Result<(), ReadError> {
        let values: Vec<Value> = fields.into_iter().map(|(_, value)| value).collect();
        let key = values.get(self.key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut content = line.to_le_bytes().to_vec();
        serde_json::to_writer(&mut content, &values)
            .map_err(|error| ReadError::Failed(error.into()))?;
        self.rows.add(key.trim().as_bytes(), &content).map_err(ReadError::Failed)
    }
}

impl SortedFile {
    /// Returns the line number and the values of a row.
    fn row(&self, content: &[u8]) -> std::io::Result<(u64, Map<String, Value>)> {
        let (line, values) = content.split_first_chunk().unwrap_or((&[0; 8], &[]));
        let values: Vec<Value> = serde_json::from_slice(values)?;
        let fields = self.columns.iter().cloned().zip(values).collect();
        Ok((u64::from_le_bytes(*line), fields))
    }
}
