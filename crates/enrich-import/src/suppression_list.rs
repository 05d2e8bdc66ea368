//! Reads suppression lists, which name values that must be forgotten: the archives of California's
//! deletion platform (DROP), lists of hashes, and lists of values.
//!
//! One entry is in memory at a time, however long the list is.

mod drop_file;
mod list_fault;
mod survey;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use enrich_core::port::suppression_lists::{Digest, DigestKind};
use enrich_mapping::{Input, InputKind};
use serde_json::{Map, Value};

use crate::input::{InputRecord, InputRecords};
use crate::source::Source;
pub use drop_file::{DropFile, DropList};
pub use list_fault::{LineFault, ListFault};
pub use survey::ListPart;

/// The name that the reader gives to the only column of a list of hashes or values. Such a list has
/// no header.
const VALUE: &str = "value";
/// The column with the id of an entry, in a file from DROP (California's deletion platform).
const ID: &str = "ID";
/// The column with the hash of a value, in a file from DROP (California's deletion platform).
const HASH: &str = "Hash";
/// The column with the name of the list that an entry belongs to, such as `Email`, in a file from
/// DROP (California's deletion platform). Only files of removed entries have this column.
const LIST_TYPE: &str = "ListType";
/// Maximum length of an entry's id in a file from DROP (California's deletion platform), in
/// characters.
const MAX_ID: usize = 64;

/// The format of a suppression list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    /// An archive from DROP (California's deletion platform), or one file of it.
    Drop,
    /// A hash of an email address on each line, in hex.
    Hashes(DigestKind),
    /// A value in plain text on each line, such as an email address.
    Plain,
}

/// A file with a suppression list: a list of values that must be forgotten.
#[derive(Clone, Debug)]
pub struct ListFile {
    path: PathBuf,
    format: ListFormat,
}

/// Reads the entries of a suppression list (values that must be forgotten), one after the other.
pub struct ListEntries {
    records: InputRecords,
    format: ListFormat,
    /// The name of the file, for messages.
    name: String,
    /// The file that is being read: its path in the archive (`None` if the list is no archive), and
    /// the facts that were parsed from its name. Before the first entry, there is no such file.
    current: Option<(Option<String>, Arc<DropFile>)>,
}

/// An entry of a suppression list, such as the hash of an email address that must be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// The line at which the entry begins, from 1.
    pub line: u64,
    /// The content of the entry, such as the digest of an email address.
    pub content: EntryContent,
}

/// The content of an entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryContent {
    /// An entry of a list from DROP, California's deletion platform.
    Drop {
        /// The file that has the entry.
        file: Arc<DropFile>,
        /// The entry's id, given by DROP (California's deletion platform). The operator later sends
        /// a file back to DROP. The file has a result for each id.
        id: String,
        /// The digest (hash) of the value that must be forgotten.
        digest: Digest,
        /// The list that the entry belongs to. Normally it is the list of `file`, the same for all
        /// its entries. But in a file of removed entries, each entry names its own list.
        list: DropList,
    },
    /// The digest (hash) of an email address.
    Digest(Digest),
    /// A value in plain text, such as an email address.
    Value(String),
}

impl ListFile {
    /// Opens a suppression list. If no format is given, the format is detected from the file's name
    /// and first line.
    ///
    /// # Errors
    ///
    /// When the file can't be read.
    pub fn open(path: &Path, format: Option<ListFormat>) -> Result<Self, ListFault> {
        let format = match format {
            Some(format) => format,
            None => detected(path)?,
        };
        Ok(Self { path: path.into(), format })
    }

    /// Returns the format of the list.
    pub fn format(&self) -> ListFormat {
        self.format
    }

    /// Returns the name of the list's file, without its folder.
    pub fn name(&self) -> String {
        name_of(&self.path)
    }

    /// Begins to read the entries.
    ///
    /// # Errors
    ///
    /// When the file can't be read, or is not in the list's format.
    pub fn entries(&self) -> Result<ListEntries, ListFault> {
        let name = self.name();
        let records = open(&self.path, self.format)?;
        let entries = ListEntries { records, format: self.format, name, current: None };
        if self.format == ListFormat::Drop {
            entries.files()?;
            let has_header = entries.records.columns().iter().any(|column| is_named(column, HASH));
            if entries.records.archive_member().is_none() && !has_header {
                return Err(ListFault::Columns { file: entries.name, columns: "ID,Hash" });
            }
        }
        Ok(entries)
    }
}

impl ListEntries {
    /// Returns the files of a list from DROP (California's deletion platform), also those without
    /// entries. Returns no files for other formats.
    ///
    /// # Errors
    ///
    /// When the name of a file is not the name of a file of DROP.
    pub fn files(&self) -> Result<Vec<DropFile>, ListFault> {
        if self.format != ListFormat::Drop {
            return Ok(Vec::new());
        }
        let members = self.records.members();
        let names = match members {
            [] => vec![self.name.as_str()],
            members => members.iter().map(String::as_str).collect(),
        };
        names.into_iter().map(DropFile::of_name).collect()
    }

    /// Returns the next entry; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the file can't be read further, or the next line is not an entry.
    pub fn next_entry(&mut self) -> Result<Option<ListEntry>, ListFault> {
        let next = self.records.next_record();
        let next = next.map_err(|error| ListFault::read(&self.name, error))?;
        let Some(InputRecord { place, fields, .. }) = next else { return Ok(None) };
        let line = place.line;
        let content = match self.format {
            ListFormat::Drop => {
                let file = self.current_file()?;
                fields.map_err(LineFault::Row).and_then(|fields| drop_entry(&file, &fields))
            }
            ListFormat::Hashes(kind) => fields
                .map_err(|_| LineFault::NotHex(kind))
                .and_then(|fields| hex(kind, text(&fields, VALUE))),
            ListFormat::Plain => fields
                .map_err(LineFault::Row)
                .map(|fields| EntryContent::Value(text(&fields, VALUE).to_owned())),
        };
        let content = content.map_err(|fault| self.fault_at(line, fault))?;
        Ok(Some(ListEntry { line, content }))
    }

    /// Returns the error for a line of the file that is being read.
    pub fn fault_at(&self, line: u64, fault: LineFault) -> ListFault {
        ListFault::Line { file: self.location(), line, fault }
    }

    /// Returns the name that messages use for the file that is being read.
    fn location(&self) -> String {
        match self.records.archive_member() {
            Some(member) => format!("{} in {}", shown(member), self.name),
            None => self.name.clone(),
        }
    }

    /// For a list from DROP (California's deletion platform): returns the file that is being read.
    /// At the first entry of each file, checks the file's columns.
    fn current_file(&mut self) -> Result<Arc<DropFile>, ListFault> {
        let member = self.records.archive_member();
        if let Some((known, file)) = &self.current
            && known.as_deref() == member
        {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(DropFile::of_name(member.unwrap_or(&self.name))?);
        let columns: &[&str] = match file.list {
            Some(_) => &[ID, HASH],
            None => &[ID, HASH, LIST_TYPE],
        };
        let found = self.records.columns();
        if found.len() != columns.len()
            || !found.iter().zip(columns).all(|(found, column)| is_named(found, column))
        {
            let columns = if file.list.is_some() { "ID,Hash" } else { "ID,Hash,ListType" };
            return Err(ListFault::Columns { file: self.location(), columns });
        }
        self.current = Some((member.map(str::to_owned), Arc::clone(&file)));
        Ok(file)
    }
}

fn open(path: &Path, format: ListFormat) -> Result<InputRecords, ListFault> {
    let name = name_of(path);
    let options = Input {
        kind: Some(InputKind::Csv),
        delimiter: Some(','),
        member: match format {
            ListFormat::Drop => vec!["*".to_owned()],
            ListFormat::Hashes(_) | ListFormat::Plain => Vec::new(),
        },
        header: match format {
            ListFormat::Drop => Vec::new(),
            ListFormat::Hashes(_) | ListFormat::Plain => vec![VALUE.to_owned()],
        },
        ..Input::default()
    };
    let opened = Source::file(path).and_then(|source| InputRecords::open(source, options));
    opened.map_err(|error| ListFault::read(&name, error))
}

/// Detects the format of a list from the file's name, else from its first line.
fn detected(path: &Path) -> Result<ListFormat, ListFault> {
    let name = name_of(path);
    if DropFile::of_name(&name).is_ok() {
        return Ok(ListFormat::Drop);
    }
    let is_archive = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"));
    if is_archive {
        return Ok(ListFormat::Drop);
    }
    let mut records = open(path, ListFormat::Plain)?;
    let first = records.next_record().map_err(|error| ListFault::read(&name, error))?;
    let first = first.map(|record| String::from_utf8_lossy(&record.text).trim().to_owned());
    let first = first.unwrap_or_default();
    if first.to_ascii_lowercase().starts_with("id,hash") {
        return Ok(ListFormat::Drop);
    }
    let is_hex = first.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(match first.len() {
        32 if is_hex => ListFormat::Hashes(DigestKind::EmailMd5),
        40 if is_hex => ListFormat::Hashes(DigestKind::EmailSha1),
        64 if is_hex => ListFormat::Hashes(DigestKind::EmailSha256),
        _ => ListFormat::Plain,
    })
}

fn drop_entry(
    file: &Arc<DropFile>,
    fields: &Map<String, Value>,
) -> Result<EntryContent, LineFault> {
    let id = text(fields, ID);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if id.is_empty() || id.len() > MAX_ID || !id.chars().all(is_plain) {
        return Err(LineFault::NotAnId);
    }
    let list = match file.list {
        Some(list) => list,
        None => DropList::parse(text(fields, LIST_TYPE)).ok_or(LineFault::NotAListType)?,
    };
    let digest = BASE64.decode(text(fields, HASH).as_bytes()).unwrap_or_default();
    if digest.len() != 32 {
        return Err(LineFault::NotBase64);
    }
    let (file, id, digest) = (Arc::clone(file), id.to_owned(), digest.into_boxed_slice());
    Ok(EntryContent::Drop { file, id, digest, list })
}

fn hex(kind: DigestKind, text: &str) -> Result<EntryContent, LineFault> {
    let digest = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).unwrap_or_default();
    if digest.len() != kind.bytes() {
        return Err(LineFault::NotHex(kind));
    }
    Ok(EntryContent::Digest(digest.into_boxed_slice()))
}

/// Returns the trimmed text of a column; an empty text if there is no such column.
fn text<'a>(fields: &'a Map<String, Value>, column: &str) -> &'a str {
    let found = fields.iter().find(|(name, _)| is_named(name, column));
    found.and_then(|(_, value)| value.as_str()).unwrap_or_default().trim()
}

fn is_named(column: &str, name: &str) -> bool {
    column.trim().eq_ignore_ascii_case(name)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns the first 100 characters of a name, without control characters, for messages.
fn shown(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(100).collect()
}
