//! Reads the records of a file with any layout, after detecting its kind.

use std::io::{self, BufRead, Read};

use enrich_mapping::{Input, InputKind};

use super::header::is_table;
use super::json::{JsonLayout, JsonReader, detected, first_names};
use super::json_lines::JsonLinesReader;
use super::record::InputRecord;
use super::table::TableReader;
use super::xml::{self, XmlReader};
use crate::delimiter::Delimiter;
use crate::encoding::{KnownEncoding, resumed};
use crate::file_start::{FileBytes, FileStart, TextStart, WorkbookStart};
use crate::format::{Format, format_from_file_name};
use crate::layout::ReadAs;
use crate::lines::Lines;
use crate::no_list::NoList;
use crate::rows::MAX_COLUMNS;
use crate::text_encoding::TextEncoding;
use crate::workbook::Workbook;

/// Number of bytes of a text that are used to detect the layout of JSON and XML.
const LAYOUT_BYTES: usize = 1024 * 1024;

/// Reads the records of a file with any layout.
pub(super) struct AnyReader {
    pub(super) kind: InputKind,
    pub(super) encoding: KnownEncoding,
    pub(super) sheet: Option<(String, usize)>,
    /// The path of the records in JSON or XML.
    pub(super) path: Option<String>,
    /// If the records are inside one JSON object, the names of its first members: `total` and
    /// `data` for `{"total":2,"data":[…]}`. Otherwise empty.
    pub(super) envelope: Vec<String>,
    reader: Reader,
}

enum Reader {
    Table(Box<TableReader>),
    JsonLines(Box<JsonLinesReader>),
    Json(Box<JsonReader>),
    Xml(Box<XmlReader>),
    Empty,
}

impl AnyReader {
    /// Opens a file. `name` is its name, which may show the format.
    pub(super) fn open(file: FileBytes, name: &str, options: &Input) -> io::Result<Self> {
        let read_as = file.read_as;
        match file.begin()? {
            FileStart::Workbook(start) => Self::workbook(start, options),
            FileStart::Text(start) => Self::text(start, name, read_as, options),
        }
    }

    fn text(start: TextStart, name: &str, read_as: ReadAs, options: &Input) -> io::Result<Self> {
        let begins_like = kind_by_beginning(start.unmarked_head());
        let kind = options.kind.unwrap_or(begins_like);
        let encoding = match kind {
            InputKind::Xml => read_as.encoding.or_else(|| xml::declared_encoding(start.head())),
            _ => read_as.encoding,
        };
        let guesses = matches!(kind, InputKind::Csv | InputKind::Workbook);
        let (decoding, encoding) = start.decoded(encoding, guesses)?;
        let text: Box<dyn BufRead> = Box::new(decoding);
        let (reader, kind, path) = match kind {
            InputKind::Json | InputKind::JsonLines => {
                let reader = json(text, name, options);
                return Ok(Self { encoding, ..reader });
            }
            InputKind::Xml => {
                let (reader, path) = xml_records(text, options)?;
                (reader, kind, Some(path))
            }
            InputKind::Csv if options.kind.is_some() && begins_like == InputKind::Json => {
                return Err(io::Error::other(NoList::JsonAsCsv));
            }
            InputKind::Csv | InputKind::Workbook | InputKind::Vcard => {
                (csv(text, name, options, read_as.delimiter)?, InputKind::Csv, None)
            }
        };
        Ok(Self { kind, encoding, sheet: None, path, envelope: Vec::new(), reader })
    }

    pub(super) fn next(&mut self) -> io::Result<Option<InputRecord>> {
        match &mut self.reader {
            Reader::Table(reader) => reader.next(),
            Reader::JsonLines(reader) => reader.next(),
            Reader::Json(reader) => reader.next(),
            Reader::Xml(reader) => reader.next(),
            Reader::Empty => Ok(None),
        }
    }

    /// Returns the delimiter if the content is CSV.
    pub(super) fn delimiter(&self) -> Option<Delimiter> {
        match &self.reader {
            Reader::Table(reader) => reader.delimiter(),
            _ => None,
        }
    }

    /// Returns the number of rows above the header of a table.
    pub(super) fn rows_above(&self) -> usize {
        match &self.reader {
            Reader::Table(reader) => reader.rows_above(),
            _ => 0,
        }
    }

    /// Returns the names of a table's columns. Columns without a name are left out.
    pub(super) fn columns(&self) -> Vec<String> {
        match &self.reader {
            Reader::Table(reader) => reader.columns().map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn text_encoding(&self) -> Option<TextEncoding> {
        self.sheet.is_none().then(|| self.encoding.get())
    }

    fn workbook(start: WorkbookStart, options: &Input) -> io::Result<Self> {
        let mut workbook = start.open(Workbook::open_with_links)?;
        if options.skip_until.is_none() && options.header.is_empty() {
            workbook.choose_sheet(|rows| is_table(rows, &options.columns))?;
        }
        let sheet = Some((workbook.sheet_name().to_owned(), workbook.sheets));
        let table = TableReader::workbook(workbook, options)?;
        let reader = table.map_or(Reader::Empty, |table| Reader::Table(Box::new(table)));
        let encoding = KnownEncoding::default();
        let (kind, envelope) = (InputKind::Workbook, Vec::new());
        Ok(Self { kind, encoding, sheet, path: None, envelope, reader })
    }
}

/// Detects the kind of a text from its first two characters that are not white space. Zero bytes
/// are skipped, because UTF-16 text has them between ASCII characters.
fn kind_by_beginning(head: &[u8]) -> InputKind {
    let mut letters = head.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != 0);
    match (letters.next(), letters.next()) {
        // 0x1E is the separator of JSON text sequences.
        (Some(b'{' | 0x1e), _) => InputKind::Json,
        // A `[` alone does not mean JSON: some databases write column names in brackets
        // (`[Name]`).
        (Some(b'['), Some(b'{' | b'[' | b']' | b'"') | None) => InputKind::Json,
        (Some(b'<'), _) => InputKind::Xml,
        _ => InputKind::Csv,
    }
}

fn csv(
    text: Box<dyn BufRead>,
    name: &str,
    options: &Input,
    delimiter: Option<Delimiter>,
) -> io::Result<Reader> {
    let usual = match format_from_file_name(name).0 {
        Some(Format::Tsv) => Delimiter::Tab,
        _ => Delimiter::Comma,
    };
    let table = TableReader::csv(Lines::new(text), usual, delimiter, options)?;
    Ok(table.map_or(Reader::Empty, |table| Reader::Table(Box::new(table))))
}

/// Opens JSON or JSON Lines. If `options` has a path other than `/*`, the text is read as JSON.
/// Otherwise the file's name and the beginning of the text decide between JSON and JSON Lines.
fn json(text: Box<dyn BufRead>, name: &str, options: &Input) -> AnyReader {
    let wanted = options.contains.as_deref();
    let (head, text) = peeked(text);
    let is_array = head.trim_ascii_start().first() == Some(&b'[');
    let is_named_lines = format_from_file_name(name).0 == Some(Format::JsonLines);
    let has_lines = options.kind == Some(InputKind::JsonLines) || is_named_lines;
    let layout = match options.records.as_deref() {
        Some(path) if !matches!(path, "" | "/*") => JsonLayout::Records(path.to_owned()),
        // The path `/*` stands for the elements of an array, or the members of one object. This
        // text does not begin with an array. If it has one object, the members of this object are
        // the records. If it has an object on each line, it is JSON Lines, and the objects
        // themselves are the records.
        Some("/*") if !is_array && !has_lines => match detected(&head, head.len() < LAYOUT_BYTES) {
            JsonLayout::Lines => JsonLayout::Lines,
            JsonLayout::Records(_) => JsonLayout::Records("/*".to_owned()),
        },
        _ if has_lines && !is_array => JsonLayout::Lines,
        _ => detected(&head, head.len() < LAYOUT_BYTES),
    };
    let (reader, kind, path) = match layout {
        JsonLayout::Lines => {
            let comment = options.comment.map(String::from);
            let lines = Lines::new(text);
            let reader = Box::new(JsonLinesReader::new(lines, comment.as_deref(), wanted));
            (Reader::JsonLines(reader), InputKind::JsonLines, None)
        }
        JsonLayout::Records(path) => {
            let reader = Box::new(JsonReader::new(text, &path, wanted));
            (Reader::Json(reader), InputKind::Json, Some(path))
        }
    };
    let has_envelope = !is_array && path.as_deref().is_some_and(|path| !path.is_empty());
    let envelope = if has_envelope { first_names(&head, MAX_COLUMNS) } else { Vec::new() };
    AnyReader { kind, encoding: KnownEncoding::default(), sheet: None, path, envelope, reader }
}

fn xml_records(text: Box<dyn BufRead>, options: &Input) -> io::Result<(Reader, String)> {
    let (head, text) = peeked(text);
    let path = match &options.records {
        Some(path) => path.clone(),
        None => xml::detected_path(&head),
    };
    let reader = XmlReader::new(text, &path);
    Ok((Reader::Xml(Box::new(reader)), path))
}

/// Returns the first [`LAYOUT_BYTES`] bytes of a text, and a reader of the whole text.
fn peeked(mut text: Box<dyn BufRead>) -> (Vec<u8>, Box<dyn BufRead>) {
    let mut head = Vec::new();
    let failure = (&mut text).take(LAYOUT_BYTES as u64).read_to_end(&mut head).err();
    (head.clone(), resumed(head, failure, text))
}
