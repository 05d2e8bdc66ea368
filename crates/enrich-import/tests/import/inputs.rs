//! Functions for tests: they read the records of an input of any layout, or return its error.

use std::io::{Cursor, Write};

use enrich_import::{InputRecord, InputRecords, ReadError, Source};
use enrich_mapping::Input;
use serde_json::Value;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Returns all records of an input. Panics if the input can't be read to its end.
pub(crate) fn records(
    file_name: &str,
    bytes: impl Into<Vec<u8>>,
    options: Input,
) -> Vec<InputRecord> {
    let (records, error) = until_error(file_name, bytes, options);
    if let Some(error) = error {
        panic!("{error:?}");
    }
    records
}

/// Returns the records of an input, and the error if the input can't be read to its end.
pub(crate) fn until_error(
    file_name: &str,
    bytes: impl Into<Vec<u8>>,
    options: Input,
) -> (Vec<InputRecord>, Option<ReadError>) {
    let source = Source::reader(file_name, Cursor::new(bytes.into()));
    let mut input = match InputRecords::open(source, options) {
        Ok(input) => input,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut records = Vec::new();
    loop {
        match input.next_record() {
            Ok(Some(record)) => records.push(record),
            Ok(None) => return (records, None),
            Err(error) => return (records, Some(error)),
        }
    }
}

/// Returns why an input can't be read, with all causes.
pub(crate) fn failure(file_name: &str, bytes: impl Into<Vec<u8>>, options: Input) -> String {
    let (_, error) = until_error(file_name, bytes, options);
    explained(&error.unwrap())
}

pub(crate) fn explained(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", explained(source)),
        None => error.to_string(),
    }
}

/// Returns the fields of each record as JSON, or the reason why the record can't be read.
pub(crate) fn fields(records: &[InputRecord]) -> Vec<String> {
    let text = |record: &InputRecord| match &record.fields {
        Ok(fields) => Value::Object(fields.clone()).to_string(),
        Err(reason) => reason.to_string(),
    };
    records.iter().map(text).collect()
}

pub(crate) fn lines(records: &[InputRecord]) -> Vec<u64> {
    records.iter().map(|record| record.place.line).collect()
}

pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn at_path(path: &str) -> Input {
    Input { records: Some(path.to_owned()), ..Input::default() }
}

pub(crate) fn of_member(pattern: &str) -> Input {
    Input { member: vec![pattern.to_owned()], ..Input::default() }
}
