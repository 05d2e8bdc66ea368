//! Reads the rows of CSV or of a workbook. Each row becomes a JSON object, with the names of the
//! columns as keys: `{"Company": "Quill"}`.

use std::collections::{HashMap, HashSet};
use std::io;

use enrich_mapping::{
    Input, is_address_column, is_known_column, is_no_value, is_same_column, may_be_repeated,
};
use serde_json::{Map, Value};

use super::header::{Header, MAX_TITLE_ROWS, first_rows};
use super::record::{InputRecord, RecordPosition};
use crate::delimiter::Delimiter;
use crate::delimiter_detection;
use crate::input_fault::InputFault;
use crate::limits::{LOOKED_AT_BYTES, LOOKED_AT_LINES};
use crate::lines::{Line, Lines};
use crate::quoting::has_quoting;
use crate::read_error::HeaderError;
use crate::rejection::Rejection;
use crate::rows::MAX_COLUMNS;
use crate::splitter::{RawRow, Splitter};
use crate::workbook::{Links, Workbook};

/// Maximum number of lines that are searched for the header, if [`Input::skip_until`] sets how
/// the header begins.
const MAX_PREAMBLE_LINES: usize = 1_000;

/// The ending of the names of the additional columns, which contain the addresses of hyperlinks:
/// `Company (link)`.
const LINK: &str = " (link)";

pub(super) struct TableReader {
    lines: Lines,
    splitter: Splitter,
    /// The names of the columns; `None` for a column without a name, which is ignored.
    columns: Vec<Option<String>>,
    records: u64,
    /// The number of rows above the header that were skipped.
    rows_above: usize,
    /// The delimiter; `None` if the rows come from a workbook.
    delimiter: Option<Delimiter>,
    /// The hyperlinks of the workbook's sheet; empty for CSV.
    links: Links,
    /// The columns whose hyperlinks become an additional column: the index of the column with the
    /// texts, and the name of the additional column, such as `Company (link)`.
    linked: Vec<(usize, String)>,
}

impl TableReader {
    /// Opens CSV. The delimiter is `chosen`. If `chosen` is `None`, the delimiter is detected; if
    /// none fits, it is `usual`. Returns `None` if the text is empty.
    pub(super) fn csv(
        lines: Lines,
        usual: Delimiter,
        chosen: Option<Delimiter>,
        options: &Input,
    ) -> io::Result<Option<Self>> {
        let mut lines = lines.skipping(options.comment.map(String::from).as_deref());
        if let Some(begins_with) = &options.skip_until {
            skip_until(&mut lines, begins_with)?;
        }
        let looked_at = lines.peek(LOOKED_AT_LINES, LOOKED_AT_BYTES);
        let delimiter = delimiter_detection::of_file(&mut lines, &looked_at, usual, chosen);
        let escape = options.escape.and_then(|letter| u8::try_from(letter).ok());
        let has_quoting = has_quoting(&looked_at, delimiter);
        let splitter = || Splitter::with_quoting(delimiter, escape, has_quoting);
        let (mut rows_above, mut names) = (0, None);
        let has_header = options.skip_until.is_none() && options.header.is_empty();
        if has_header {
            let comment = options.comment.map(String::from);
            let is_text = |line: &&Line| {
                let comment = comment.as_deref().map(str::as_bytes);
                !comment.is_some_and(|comment| line.bytes.starts_with(comment))
            };
            // `of_file` may have removed a first line such as `sep=;`, so the lines are read
            // again.
            let looked_at = lines.peek(LOOKED_AT_LINES, LOOKED_AT_BYTES);
            let first: Vec<&Line> = looked_at.iter().filter(is_text).collect();
            let rows = first_rows(&first, splitter());
            let fields = rows.iter().map(|row| row.fields.clone());
            let header = Header::find(fields, &options.columns);
            let skipped = rows.iter().take(header.rows_to_skip()).map(|row| row.lines);
            for _ in 0..skipped.sum::<usize>() {
                lines.next_filled()?;
            }
            (rows_above, names) = (header.rows_before, header.names);
        }
        let (splitter, columns, delimiter) = (splitter(), Vec::new(), Some(delimiter));
        let (links, linked) = (Links::default(), Vec::new());
        let table =
            Self { lines, splitter, columns, records: 0, rows_above, delimiter, links, linked };
        table.with_header(names, options)
    }

    /// Opens the chosen sheet of a workbook. Returns `None` if the sheet is empty.
    pub(super) fn workbook(mut workbook: Workbook, options: &Input) -> io::Result<Option<Self>> {
        let (mut rows_above, mut names) = (0, None);
        if let Some(begins_with) = &options.skip_until {
            skip_rows_until(&mut workbook, begins_with)?;
        } else if options.header.is_empty() {
            let first = workbook.peek(MAX_TITLE_ROWS + 1)?;
            let rows = first.iter().map(|row| Some(row.cells.clone()));
            let header = Header::find(rows, &options.columns);
            for _ in 0..header.rows_to_skip() {
                workbook.next_row()?;
            }
            (rows_above, names) = (header.rows_before, header.names);
        }
        let links = workbook.take_links();
        let table = Self {
            lines: Lines::new(Box::new(io::empty())),
            splitter: Splitter::of_workbook(workbook),
            columns: Vec::new(),
            records: 0,
            rows_above,
            delimiter: None,
            links,
            linked: Vec::new(),
        };
        table.with_header(names, options)
    }

    pub(super) fn delimiter(&self) -> Option<Delimiter> {
        self.delimiter
    }

    /// Returns the names of the columns, those with the addresses of hyperlinks last.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        let linked = self.linked.iter().map(|(_, name)| name);
        self.columns.iter().flatten().chain(linked).map(String::as_str)
    }

    pub(super) fn rows_above(&self) -> usize {
        self.rows_above
    }

    pub(super) fn next(&mut self) -> io::Result<Option<InputRecord>> {
        let Some(RawRow { line, text, is_whole }) = self.splitter.next_row(&mut self.lines)? else {
            return Ok(None);
        };
        self.records += 1;
        let fields = is_whole.and_then(|()| self.fields(line));
        Ok(Some(InputRecord { place: RecordPosition { record: self.records, line }, text, fields }))
    }

    /// Returns the fields of the current row, which is at `line`.
    fn fields(&self, line: u64) -> Result<Map<String, Value>, Rejection> {
        let (found, expected) = (self.splitter.fields().count(), self.columns.len());
        if found != expected {
            return Err(Rejection::FieldCount { found, expected });
        }
        let mut fields = Map::with_capacity(expected);
        for (column, bytes) in self.columns.iter().zip(self.splitter.fields()) {
            let Some(column) = column else { continue };
            let text = std::str::from_utf8(bytes).map_err(|_| Rejection::NotUtf8)?;
            fields.insert(column.clone(), Value::String(text.to_owned()));
        }
        for (at, address) in self.links.of_row(line) {
            if let Some((_, name)) = self.linked.iter().find(|(column, _)| *column == at) {
                fields.insert(name.clone(), address.into());
            } else if let Some(Some(name)) = self.columns.get(at)
                && let Some(Value::String(text)) = fields.get_mut(name)
                && !is_no_value(text)
                && !has_address(text)
            {
                address.clone_into(text);
            }
        }
        Ok(fields)
    }

    /// Returns the additional columns for the addresses of hyperlinks: `Company (link)` for the
    /// links of the column `Company`. A column of addresses, such as `Website`, gets no additional
    /// column: the address of a hyperlink replaces the cell's text, such as `click here`.
    fn linked_columns(&self) -> Vec<(usize, String)> {
        let columns = self.links.columns_below(self.rows_above as u64 + 1);
        let named = |at: usize| {
            let name = self.columns.get(at)?.as_ref().filter(|name| !is_address_column(name))?;
            let name = format!("{name}{LINK}");
            (!self.columns().any(|column| column == name)).then_some((at, name))
        };
        columns.into_iter().filter_map(named).collect()
    }

    /// Sets the names of the columns. They are, in this order of preference:
    ///
    /// - the names in [`Input::header`], if the file has no header;
    /// - `names`, if the header has two rows, which the caller has already read;
    /// - the fields of the next row, which is the header. If there is no next row, returns `None`.
    fn with_header(
        mut self,
        names: Option<Vec<String>>,
        options: &Input,
    ) -> io::Result<Option<Self>> {
        if !options.header.is_empty() {
            self.columns = options.header.iter().cloned().map(named).collect();
            self.splitter.set_width(self.columns.len());
            return Ok(Some(self));
        }
        if names.is_none() && !self.splitter.read_header(&mut self.lines)? {
            return Ok(None);
        }
        let found = names.as_ref().map_or_else(|| self.splitter.fields().count(), Vec::len);
        if found > MAX_COLUMNS {
            let most = MAX_COLUMNS;
            return Err(io::Error::other(HeaderError::TooManyColumns { found, most }));
        }
        let names = match &names {
            Some(names) => names.iter().map(String::as_str).collect(),
            None => self.splitter.names().map_err(io::Error::other)?,
        };
        self.columns = unique(names, &options.columns)?.into_iter().map(named).collect();
        self.splitter.set_width(self.columns.len());
        self.linked = self.linked_columns();
        let is_missing =
            |column: &&String| !self.columns().any(|name| is_same_column(name, column));
        if let Some(column) = options.columns.iter().find(is_missing) {
            let has = self.columns().map(str::to_owned).collect();
            return Err(InputFault::MissingColumn { column: column.clone(), has }.into());
        }
        Ok(Some(self))
    }
}

/// Whether a cell's text contains an address, such as a website or an email address. If so, the
/// text is not replaced by the cell's hyperlink, because the hyperlink may be outdated.
fn has_address(text: &str) -> bool {
    let is_address = |word: &str| {
        let word = word.trim_matches(|sign: char| !sign.is_alphanumeric());
        word.len() > 3 && word.contains(['.', '@'])
    };
    text.split(|sign: char| sign.is_whitespace() || matches!(sign, ',' | ';')).any(is_address)
}

fn named(name: String) -> Option<String> {
    (!name.is_empty()).then_some(name)
}

/// Returns the names of the columns. If several columns have the same name, the second and each
/// later column gets a number: `E-mail` and `E-mail (2)`.
///
/// Returns an error if a repeated name is in `needed` or is a known column name, such as `Company`,
/// because it is unclear which of its columns is the right one. Columns of email addresses or phone
/// numbers cause no error, because a record may have several of these.
fn unique(names: Vec<&str>, needed: &[String]) -> Result<Vec<String>, InputFault> {
    let mut all = HashSet::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut unique = Vec::with_capacity(names.len());
    for &name in &names {
        let is_new = name.is_empty() || all.insert(name.to_owned());
        let is_read = is_known_column(name) || needed.iter().any(|it| is_same_column(it, name));
        if !is_new && is_read && !may_be_repeated(name) {
            return Err(InputFault::RepeatedColumn(name.to_owned()));
        }
        let mut added = name.to_owned();
        while !is_new && !all.insert(added.clone()) {
            let number = numbers.entry(name).or_insert(1);
            *number += 1;
            added = format!("{name} ({number})");
        }
        unique.push(added);
    }
    Ok(unique)
}

/// Skips all lines before the first line that begins with the text `begins_with`. Returns an error
/// if none of the first [`MAX_PREAMBLE_LINES`] lines begins with this text.
fn skip_until(lines: &mut Lines, begins_with: &str) -> io::Result<()> {
    for _ in 0..MAX_PREAMBLE_LINES {
        let Some(line) = lines.next()? else { break };
        let begin = line.bytes.trim_ascii_start();
        let begin = begin.strip_prefix(b"\"").unwrap_or(begin);
        if begin.starts_with(begins_with.as_bytes()) {
            lines.put_back(std::iter::once(line));
            return Ok(());
        }
    }
    let begins_with = begins_with.to_owned();
    Err(InputFault::NoHeader { begins_with, lines: MAX_PREAMBLE_LINES }.into())
}

/// Like [`skip_until`], for a workbook: skips all rows before the first row whose first cell begins
/// with the text `begins_with`.
fn skip_rows_until(workbook: &mut Workbook, begins_with: &str) -> io::Result<()> {
    for _ in 0..MAX_PREAMBLE_LINES {
        let Some(row) = workbook.peek(1)?.first() else { break };
        if row.cells.first().is_some_and(|cell| cell.trim_start().starts_with(begins_with)) {
            return Ok(());
        }
        workbook.next_row()?;
    }
    let begins_with = begins_with.to_owned();
    Err(InputFault::NoHeader { begins_with, lines: MAX_PREAMBLE_LINES }.into())
}
