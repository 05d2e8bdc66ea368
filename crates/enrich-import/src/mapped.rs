//! Reads the records of a source with any layout, and maps them to native records (records in
//! Enrich's own import format).

use std::collections::VecDeque;
use std::io::Read;

use enrich_mapping::{
    Dittos, Input, InputKind, Mapping, Outcome, Settings, is_count_of, is_total, is_total_row,
    name_only, vcards,
};
use serde_json::{Map, Value};

use crate::decompressed::decompressed;
use crate::input::{InputRecord, InputRecords, RecordPosition};
use crate::input_fault::{InputFault, MAX_RECORD_BYTES};
use crate::joined::{JoinedRecords, Step};
use crate::jsonl;
use crate::layout::Layout;
use crate::lines::Line;
use crate::parsed::{Next, Parsed};
use crate::read_error::ReadError;
use crate::report::{LeftOutKind, Notes};
use crate::shared_domains::{DomainCount, SharedDomains};
use crate::skip_reason::SkipReason;
use crate::source::Source;

/// Describes how the records of a source are converted to Enrich's own import format.
#[derive(Clone, Debug)]
pub struct MapAs {
    mapping: Mapping,
    settings: Settings,
    input: Input,
}

impl MapAs {
    /// Combines a mapping with the settings of the import, and with `input`, the layout of the
    /// file. Parts of the layout that `input` does not specify, such as the encoding, are detected
    /// when the file is opened.
    pub fn new(mapping: Mapping, input: Input, settings: Settings) -> Self {
        Self { mapping, settings, input }
    }

    /// Whether a source must be read twice, because the mapping limits how many records may share a
    /// domain.
    pub(crate) fn is_read_twice(&self) -> bool {
        !self.mapping.merge().most_of_a_domain.is_empty()
    }

    /// Returns the smallest of the mapping's limits on how many records may share a domain.
    fn least_limit(&self) -> u32 {
        self.mapping.merge().most_of_a_domain.values().copied().min().unwrap_or(u32::MAX)
    }
}

/// Number of records that are counted before progress is reported.
const RECORDS_OF_A_STEP: usize = 4_096;

/// A source whose records are being mapped.
///
/// If the mapping limits how many records may share a domain, the source is read twice. The first
/// reading counts the records of each domain.
pub(crate) struct MappedReading {
    map_as: MapAs,
    records: Records,
    /// The number of rows above the header that were not yet counted as skipped records.
    rows_above: usize,
    /// The records (in Enrich's own import format) that the mapping made from the last input
    /// record, and that [`Self::next`] has not returned yet.
    ready: VecDeque<Parsed>,
    /// Whether `next` has already called `count` for the next record of the source.
    is_counted: bool,
    counting: Option<Counting>,
    shared: SharedDomains,
    /// The row above the next one, for cells such as `dito`; `None` if the mapping is from a
    /// mapping file. Sources with a mapping file are written by programs, which write no such
    /// cells.
    dittos: Option<Dittos>,
    /// The number of bytes that the first reading has read since the last call of
    /// [`Self::newly_read_bytes`]. This number is set at the end of the first reading; the next
    /// call returns it and sets it to 0.
    read_bytes: u64,
}

/// The first reading of a source, which counts the records of each domain.
struct Counting {
    /// The same source, not read yet, for the second reading.
    again: Source,
    count: DomainCount,
    /// Number of records that the first reading may still read.
    left: u64,
}

enum Records {
    Any(Box<InputRecords>),
    Joined(Box<JoinedRecords>),
    Cards(std::iter::Enumerate<std::vec::IntoIter<Map<String, Value>>>),
}

impl MappedReading {
    /// Opens a source. At most `limit` of its records are read.
    pub(crate) fn open(source: Source, map_as: MapAs, limit: u64) -> Result<Self, ReadError> {
        let (records, counting) = if map_as.is_read_twice() {
            let (first, again) = source.in_a_file()?.twice()?;
            let count = DomainCount::default();
            (first, Some(Counting { again: again.source(), count, left: limit }))
        } else {
            (source, None)
        };
        let records = Records::open(records, &map_as)?;
        let rows_above = match &records {
            Records::Any(records) => records.rows_above_header(),
            Records::Joined(_) | Records::Cards(_) => 0,
        };
        Ok(Self {
            dittos: map_as.mapping.source().is_own_list().then(Dittos::default),
            records,
            rows_above,
            map_as,
            ready: VecDeque::new(),
            is_counted: false,
            counting,
            shared: SharedDomains::default(),
            read_bytes: 0,
        })
    }

    /// Returns the next record that the mapping has made, or why a record is rejected. Calls
    /// `count` for each record of the source. Stops reading if `count` returns `false`.
    pub(crate) fn next(
        &mut self,
        notes: &mut Notes,
        mut count: impl FnMut() -> bool,
    ) -> Result<Next, ReadError> {
        if self.counting.is_some() {
            return self.count_domains();
        }
        loop {
            if let Some(parsed) = self.ready.pop_front() {
                return Ok(Next::Parsed(parsed));
            }
            if !self.is_counted && !count() {
                return Ok(Next::End);
            }
            self.is_counted = true;
            let step = self.records.next_step()?;
            for _ in 0..std::mem::take(&mut self.rows_above) {
                notes.skip(SkipReason::RowAboveHeader, 1);
            }
            let record = match step {
                Step::Record(record) => record,
                Step::Busy => return Ok(Next::Busy),
                Step::End => return Ok(Next::End),
            };
            self.is_counted = false;
            let line = number(record.place);
            match record.fields {
                Ok(mut fields) => {
                    if let Some(dittos) = self.dittos.as_ref().filter(|_| self.records.is_table()) {
                        dittos.resolve(&mut fields);
                    }
                    let has_records = self.map(&fields, line, notes);
                    if let Some(dittos) = self.dittos.as_mut().filter(|_| has_records) {
                        *dittos = Dittos::below(fields);
                    }
                }
                Err(reason) => {
                    // A cell such as `dito` would mean a cell of this row, which cannot be read.
                    if let Some(dittos) = &mut self.dittos {
                        *dittos = Dittos::default();
                    }
                    let text = record.text;
                    return Ok(Next::Parsed(Parsed { line, text, record: Err(reason) }));
                }
            }
        }
    }

    pub(crate) fn layout(&self) -> Option<Layout> {
        match &self.records {
            Records::Any(records) => records.layout(),
            Records::Joined(records) => records.layout(),
            Records::Cards(_) => None,
        }
    }

    pub(crate) fn newly_read_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.read_bytes) + self.records.newly_read_bytes()
    }

    /// Continues the first reading of the source: counts the domains of the next records. After the
    /// last record, opens the source again from its beginning, for the second reading.
    fn count_domains(&mut self) -> Result<Next, ReadError> {
        let Some(mut counting) = self.counting.take() else { return Ok(Next::Busy) };
        for _ in 0..RECORDS_OF_A_STEP {
            let record = match self.records.next_step()? {
                Step::Record(record) if counting.left > 0 => record,
                Step::Busy => break,
                Step::Record(_) | Step::End => {
                    self.read_bytes = self.newly_read_bytes();
                    self.records = Records::open(counting.again, &self.map_as)?;
                    let least = self.map_as.least_limit();
                    self.shared = counting.count.into_shared_domains(least)?;
                    return Ok(Next::Busy);
                }
            };
            counting.left -= 1;
            let Ok(fields) = record.fields else { continue };
            let mapped = self.map_as.mapping.map(&fields, &self.map_as.settings);
            if let Outcome::Records(records) = mapped.outcome {
                for record in records {
                    counting.count.add(&record).map_err(ReadError::Failed)?;
                }
            }
        }
        self.counting = Some(counting);
        Ok(Next::Busy)
    }

    /// Maps a record of the source to records in Enrich's own import format. Parses these records,
    /// and adds them to `ready`. Returns whether there are any.
    fn map(&mut self, fields: &Map<String, Value>, line: u64, notes: &mut Notes) -> bool {
        if self.records.is_table() && is_repeated_header(fields) {
            notes.skip(SkipReason::RepeatedHeader, line);
            return false;
        }
        let mapped = self.map_as.mapping.map(fields, &self.map_as.settings);
        for note in mapped.notes {
            notes.leave_out(LeftOutKind::ByMapping(note), line);
        }
        let records = match mapped.outcome {
            Outcome::Skipped(reason) => {
                notes.skip(SkipReason::ByMapping(reason), line);
                return false;
            }
            Outcome::Records(records) => records,
        };
        if self.records.is_table() && is_total_of(fields, &records) {
            notes.skip(SkipReason::TotalRow, line);
            return false;
        }
        if self.records.is_table() && is_remark(fields) && records.iter().all(name_only) {
            notes.skip(SkipReason::Remark, line);
            return false;
        }
        for mut record in records {
            let limits = &self.map_as.mapping.merge().most_of_a_domain;
            for _ in 0..self.shared.remove_shared(&mut record, limits) {
                notes.leave_out(LeftOutKind::OfSharedDomain, line);
            }
            let text = Value::Object(record).to_string().into_bytes();
            let native = Line { number: line, bytes: text, is_too_long: false, had_return: false };
            let record = jsonl::read(&native, notes);
            self.ready.push_back(Parsed { line, text: native.bytes, record });
        }
        true
    }
}

impl Records {
    fn open(source: Source, map_as: &MapAs) -> Result<Self, ReadError> {
        let options = map_as.input.clone();
        Ok(match map_as.mapping.join() {
            _ if options.kind == Some(InputKind::Vcard) => {
                Self::Cards(cards(source)?.into_iter().enumerate())
            }
            Some(join) => {
                Self::Joined(Box::new(JoinedRecords::open(source, join.clone(), options)?))
            }
            None => Self::Any(Box::new(InputRecords::open(source, options)?)),
        })
    }

    fn next_step(&mut self) -> Result<Step, ReadError> {
        let next = match self {
            Self::Any(records) => records.next_record()?,
            Self::Joined(records) => return records.next_step(),
            Self::Cards(cards) => cards.next().map(|(at, fields)| {
                let number = at as u64 + 1;
                let place = RecordPosition { record: number, line: number };
                InputRecord { place, text: Vec::new(), fields: Ok(fields) }
            }),
        };
        Ok(next.map_or(Step::End, Step::Record))
    }

    /// Whether the records are rows of a table (CSV or a workbook). Only a table can have rows that
    /// are no records: rows with totals, remarks and repeated headers.
    fn is_table(&self) -> bool {
        let Self::Any(records) = self else { return false };
        matches!(records.kind(), Some(InputKind::Csv | InputKind::Workbook))
    }

    fn newly_read_bytes(&mut self) -> u64 {
        match self {
            Self::Any(records) => records.newly_read_bytes(),
            Self::Joined(records) => records.newly_read_bytes(),
            Self::Cards(_) => 0,
        }
    }
}

/// Whether a row is a row of totals. `fields` are its cells, and `records` are the records that the
/// mapping made from it. A cell, or the name of a record, must look like a total (`Total: 12`), and
/// the records must have no identifier but a name.
fn is_total_of(fields: &Map<String, Value>, records: &[Map<String, Value>]) -> bool {
    let names = || records.iter().filter_map(|record| record.get("name")?.as_str());
    let cells = fields.iter().map(|(column, cell)| (column.as_str(), cell.as_str().unwrap_or("")));
    let is_name = |cell: &str| names().any(|name| name == cell.trim());
    let mut counts = cells.clone().filter(|(column, cell)| is_count_of(cell, column));
    records.iter().all(name_only)
        && (is_total_row(cells) || names().any(is_total) || counts.any(|(_, cell)| is_name(cell)))
}

/// Whether a row of a table is a remark below or between the records: a sentence or an explanation
/// in its only cell that is not empty, such as `Firms marked * are new to the fair.` or `Key: A =
/// call at once, B = later`.
fn is_remark(fields: &Map<String, Value>) -> bool {
    /// Minimum number of words of a sentence.
    const LEAST_WORDS: usize = 5;
    let mut filled = fields.values().filter_map(Value::as_str).filter(|it| !it.trim().is_empty());
    let (Some(text), None) = (filled.next(), filled.next()) else { return false };
    let is_sentence = text.trim().ends_with(['.', '!', '。']) || text.contains(" = ");
    fields.len() > 2 && is_sentence && text.split_whitespace().count() >= LEAST_WORDS
}

/// Whether a row repeats the header, as in tables with page breaks: at least two cells contain the
/// name of their own column, and all other cells are empty.
fn is_repeated_header(fields: &Map<String, Value>) -> bool {
    fn lower(text: &str) -> impl Iterator<Item = char> + '_ {
        text.chars().flat_map(char::to_lowercase)
    }
    let cells = fields.iter().filter_map(|(column, cell)| {
        let cell = cell.as_str()?.trim();
        (!cell.is_empty()).then(|| lower(cell).eq(lower(column.trim())))
    });
    cells.clone().all(|is_name| is_name) && cells.count() > 1
}

/// Returns the number by which reports name a record: usually the number of its line. For a record
/// on the first line, it is the record's number in the file. The reason is that a JSON or XML file
/// may consist of one long line; then all its records would have the number 1.
fn number(place: RecordPosition) -> u64 {
    if place.line > 1 { place.line } else { place.record }
}

/// Reads the contact cards of a vCard file of at most 64 MiB.
fn cards(source: Source) -> Result<Vec<Map<String, Value>>, ReadError> {
    let begun = source.begin()?;
    let compression = begun.compression();
    let explain = |error| ReadError::of(error, compression.is_some());
    let text = decompressed(begun.input, compression).map_err(explain)?;
    let mut bytes = Vec::new();
    text.take(MAX_RECORD_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(explain)?;
    if bytes.len() > MAX_RECORD_BYTES {
        return Err(InputFault::ManyCards.into());
    }
    Ok(vcards(&bytes).collect())
}
