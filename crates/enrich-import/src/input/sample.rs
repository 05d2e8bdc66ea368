//! The beginning of an input, from which its format is recognised.

use std::collections::HashSet;

use enrich_mapping::{Input, InputKind};
use serde_json::{Map, Value};

use super::{InputRecord, InputRecords};
use crate::read_error::ReadError;
use crate::rows::MAX_COLUMNS;
use crate::source::Source;

/// A sample ends when its records together have this many bytes, even if more records were asked
/// for.
const MAX_SAMPLE_BYTES: usize = 4 * 1024 * 1024;

/// The data that was read from the beginning of an input, to recognise its format.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The name of the file, without its folder.
    pub file_name: String,
    /// The name of the file in the zip archive that has these records, with its folder; `None` if
    /// the source is not a zip archive.
    pub member: Option<String>,
    /// The names of the files in the zip archive; only the first 1,000 if there are more.
    pub members: Vec<String>,
    /// The kind of the input; `None` if it is empty.
    pub kind: Option<InputKind>,
    /// The path of the records, if the input is JSON or XML.
    pub record_path: Option<String>,
    /// The names of the members of the JSON object that contains the records; empty if the
    /// records are not inside a JSON object.
    pub envelope: Vec<String>,
    /// The names of a table's columns, or of the members in the first records, in order, at most
    /// [`MAX_COLUMNS`]. After the name of a member that is an object, the names inside this object
    /// follow, as in `Entity.LegalName`.
    pub names: Vec<String>,
    /// The name of the sheet that is read, and the number of sheets in the workbook; `None` for any
    /// other file.
    pub sheet: Option<(String, usize)>,
    /// The number of rows above the header of a table, which are skipped.
    pub rows_above: usize,
    /// The first records.
    pub records: Vec<InputRecord>,
}

/// A sample, and the source that it is from.
pub struct Sampled {
    /// The sample, or why the beginning of the source can't be read.
    pub sample: Result<Sample, ReadError>,
    /// The source, to be read again from its beginning.
    pub source: Source,
}

/// Reads the first records of a source, at most `records`.
///
/// # Errors
///
/// When the source can't be opened, or an archive from a stream can't be written into a temporary
/// file.
pub fn sample(source: Source, options: Input, records: usize) -> Result<Sampled, ReadError> {
    let file_name = source.file_name().to_owned();
    let (first, again) = source.twice()?;
    let opened = InputRecords::open(first, options);
    let sample = opened.and_then(|input| read(input, file_name, records));
    Ok(Sampled { sample, source: again.source() })
}

fn read(mut input: InputRecords, file_name: String, records: usize) -> Result<Sample, ReadError> {
    let member = input.archive_member().map(str::to_owned);
    let (kind, record_path) = (input.kind(), input.record_path().map(str::to_owned));
    let (envelope, rows_above) = (input.envelope().to_vec(), input.rows_above_header());
    let mut names = Names::default();
    for column in input.columns() {
        names.add(column);
    }
    let is_table = !names.all.is_empty();
    let sheet = input.layout().and_then(|layout| Some((layout.sheet?, layout.sheets)));
    let (mut first, mut bytes) = (Vec::new(), 0);
    while first.len() < records && bytes < MAX_SAMPLE_BYTES {
        let Some(record) = input.next_record()? else { break };
        bytes += record.text.len();
        if let Ok(fields) = record.fields.as_ref()
            && !is_table
        {
            names.add_of(fields);
        }
        first.push(record);
    }
    let (members, names) = (input.members().to_vec(), names.all);
    let records = first;
    Ok(Sample {
        file_name,
        member,
        members,
        kind,
        record_path,
        envelope,
        names,
        sheet,
        rows_above,
        records,
    })
}

#[derive(Default)]
struct Names {
    all: Vec<String>,
    known: HashSet<String>,
}

impl Names {
    fn add(&mut self, name: String) {
        if self.all.len() < MAX_COLUMNS && self.known.insert(name.clone()) {
            self.all.push(name);
        }
    }

    fn add_of(&mut self, fields: &Map<String, Value>) {
        for (name, value) in fields {
            self.add(name.clone());
            let Value::Object(members) = value else { continue };
            for inner in members.keys() {
                if self.all.len() >= MAX_COLUMNS {
                    return;
                }
                self.add(format!("{name}.{inner}"));
            }
        }
    }
}
