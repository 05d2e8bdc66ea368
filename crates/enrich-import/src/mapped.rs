//! Reads the records of a source with any layout, and maps them to native records.

use std::collections::VecDeque;
use std::io::Read;

use enrich_mapping::{Input, InputKind as Form, Mapping, Note, Outcome, Settings, vcards};
use serde_json::{Map, Value};

use crate::decompressed::decompressed;
use crate::delimiter::Delimiter;
use crate::encoding::TextEncoding;
use crate::input::{InputKind, InputOptions, InputRecord, InputRecords, Place};
use crate::input_fault::{InputFault, MAX_RECORD_BYTES};
use crate::jsonl;
use crate::layout::Layout;
use crate::lines::Line;
use crate::parsed::Parsed;
use crate::read_error::ReadError;
use crate::report::Notes;
use crate::source::Source;

/// How the records of a source become native records.
#[derive(Clone, Debug)]
pub struct MapAs {
    mapping: Mapping,
    settings: Settings,
    options: InputOptions,
    has_cards: bool,
}

impl MapAs {
    /// Creates the settings for reading a source with a mapping. `input` is the layout of the file;
    /// the parts of the layout that `input` leaves open are detected.
    pub fn new(mapping: Mapping, input: &Input, settings: Settings) -> Self {
        let has_cards = input.kind == Some(Form::Vcard);
        Self { mapping, settings, options: options_of(input), has_cards }
    }
}

/// Returns the options for reading a file as a mapping says. An encoding or delimiter that the
/// reader does not have is detected instead.
fn options_of(input: &Input) -> InputOptions {
    InputOptions {
        kind: input.kind.and_then(|kind| match kind {
            Form::Csv => Some(InputKind::Csv),
            Form::JsonLines => Some(InputKind::JsonLines),
            Form::Json => Some(InputKind::Json),
            Form::Xml => Some(InputKind::Xml),
            Form::Workbook => Some(InputKind::Xlsx),
            Form::Vcard => None,
        }),
        members: input.member.clone(),
        skip_members: input.skip_member.clone(),
        record_path: input.records.clone(),
        encoding: input.encoding.as_deref().and_then(TextEncoding::parse),
        delimiter: input.delimiter.and_then(|letter| Delimiter::parse(&letter.to_string())),
        escape: input.escape.and_then(|letter| u8::try_from(letter).ok()),
        comment: input.comment.map(String::from),
        skip_until: input.skip_until.clone(),
        columns: input.header.clone(),
        contains: input.contains.clone(),
    }
}

/// A source whose records are being mapped.
pub(crate) struct MappedReading {
    map_as: MapAs,
    records: Records,
    /// Native records of the last input record that [`Self::next`] has not returned yet.
    ready: VecDeque<Parsed>,
}

enum Records {
    Any(Box<InputRecords>),
    Cards(std::iter::Enumerate<std::vec::IntoIter<Map<String, Value>>>),
}

impl MappedReading {
    pub(crate) fn open(source: Source, map_as: MapAs) -> Result<Self, ReadError> {
        let records = if map_as.has_cards {
            Records::Cards(cards(source)?.into_iter().enumerate())
        } else {
            Records::Any(Box::new(InputRecords::open(source, map_as.options.clone())?))
        };
        Ok(Self { map_as, records, ready: VecDeque::new() })
    }

    /// Returns the next native record, or why a record is rejected. Returns `None` at the end.
    /// `count` is called for each record of the source; reading ends if it returns `false`.
    pub(crate) fn next(
        &mut self,
        notes: &mut Notes,
        mut count: impl FnMut() -> bool,
    ) -> Result<Option<Parsed>, ReadError> {
        loop {
            if let Some(parsed) = self.ready.pop_front() {
                return Ok(Some(parsed));
            }
            if !count() {
                return Ok(None);
            }
            let Some(record) = self.next_input()? else { return Ok(None) };
            let line = number(record.place);
            match record.fields {
                Ok(fields) => self.map(&fields, line, notes),
                Err(reason) => {
                    return Ok(Some(Parsed { line, text: record.text, record: Err(reason) }));
                }
            }
        }
    }

    pub(crate) fn layout(&self) -> Option<Layout> {
        match &self.records {
            Records::Any(records) => records.layout(),
            Records::Cards(_) => None,
        }
    }

    pub(crate) fn newly_read_bytes(&self) -> u64 {
        match &self.records {
            Records::Any(records) => records.newly_read_bytes(),
            Records::Cards(_) => 0,
        }
    }

    fn next_input(&mut self) -> Result<Option<InputRecord>, ReadError> {
        let cards = match &mut self.records {
            Records::Any(records) => return records.next_record(),
            Records::Cards(cards) => cards,
        };
        let card = |(at, fields): (usize, Map<String, Value>)| {
            let number = at as u64 + 1;
            let place = Place { record: number, line: number };
            InputRecord { place, text: Vec::new(), fields: Ok(fields) }
        };
        Ok(cards.next().map(card))
    }

    /// Maps a record and parses the native records that it becomes.
    fn map(&mut self, fields: &Map<String, Value>, line: u64, notes: &mut Notes) {
        let mapped = self.map_as.mapping.map(fields, &self.map_as.settings);
        mapped.notes.into_iter().map(Note::as_str).for_each(|what| notes.leave_out(what));
        let records = match mapped.outcome {
            Outcome::Skipped(reason) => return notes.skip(&reason),
            Outcome::Records(records) => records,
        };
        for record in records {
            let text = Value::Object(record).to_string().into_bytes();
            let native = Line { number: line, bytes: text, is_too_long: false, had_return: false };
            let record = jsonl::read(&native, notes);
            self.ready.push_back(Parsed { line, text: native.bytes, record });
        }
    }
}

/// Returns the number by which reports name a record: its line. If the line is the first one,
/// returns the record's own number, because many records may be on that line.
fn number(place: Place) -> u64 {
    if place.line > 1 { place.line } else { place.record }
}

/// Reads the cards of a file of at most 64 MiB.
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
