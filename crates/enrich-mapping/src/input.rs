//! How the records of a file are read.

use encoding_rs::Encoding;
use glob::Pattern;

use crate::code_page::CodePage;
use crate::error::MappingError;
use crate::node::{Table, list};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Rows of text, with any delimiter.
    Csv,
    /// JSON Lines: a JSON value on each line.
    JsonLines,
    /// One JSON value.
    Json,
    /// XML.
    Xml,
    /// An Excel workbook.
    Workbook,
    /// Contact cards of people (vCard); [`vcards`](crate::vcards) reads them.
    Vcard,
}

/// How the records of a file are read.
///
/// Each record is a JSON object. A row becomes an object with a member for each column, in order.
///
/// An XML element becomes an object. Its text is under `$`, each attribute under `@` and the
/// attribute's name, and each child element under the child's name without the prefix of the
/// namespace. Several children with the same name become a list. For example,
/// `<org id="7"><name>Quill</name></org>` becomes `{"@id":"7","name":{"$":"Quill"}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The format of the file; `None` if the reader must detect it.
    pub kind: Option<InputKind>,
    /// Globs for the names of those members of a zip archive that are read. If there are no
    /// globs, the archive must have exactly one member besides those that `skip_member` matches.
    pub member: Vec<String>,
    /// Globs for the names of those members of a zip archive that are not read.
    pub skip_member: Vec<String>,
    /// The required keys: names of columns, or top-level keys of the document or of its first
    /// record. A file that lacks one of these keys does not have this layout.
    pub keys: Vec<String>,
    /// Where the records are within a JSON or XML document: a JSON pointer in which `*` stands
    /// for every value of a list and every member of an object (`/records/*`). If the pointer is
    /// empty, the document is the record. If this is `None`, the reader must detect the place of
    /// the records.
    ///
    /// If a record is a member of an object, the record gets the member's name under `@key`. If a
    /// record is not an object, but a list or a text for example, it becomes an object with this
    /// value under `$`.
    pub records: Option<String>,
    /// A JSON pointer to the names of the columns, such as `/fields`. It is needed if each record
    /// is a list. With these names, each record becomes an object.
    pub names: Option<String>,
    /// The encoding, such as `windows-1252`; `None` if the reader must detect it.
    pub encoding: Option<String>,
    /// The delimiter between the fields of a row: `,`, `;`, `|` or a tab; `None` if the reader must
    /// detect it.
    pub delimiter: Option<char>,
    /// The character that escapes a quote within quotes; `None` if quotes are doubled instead
    /// (`""`).
    pub escape: Option<char>,
    /// Lines that begin with this character are not read. `None` if the file has no comments.
    pub comment: Option<char>,
    /// The beginning of the header line. Lines before the header are not read. `None` if the
    /// reader must find the header, or the file has none.
    pub skip_until: Option<String>,
    /// The names of the columns if the file has no header; empty if the file has a header.
    pub header: Vec<String>,
    /// Columns that the header must have. The header is the first row with these columns. The rows
    /// above it are a title.
    pub columns: Vec<String>,
    /// A text that occurs in every record that the mapping needs. The reader may skip records
    /// without this text, and need not parse them. `None` if every record must be parsed.
    pub contains: Option<String>,
    /// Whether records of files with this layout only change stored companies and people, and never
    /// add one. If this is `None`, [`Merge::only_known`](crate::Merge::only_known) decides.
    pub only_known: Option<bool>,
}

const KINDS: [(&str, InputKind); 6] = [
    ("csv", InputKind::Csv),
    ("jsonl", InputKind::JsonLines),
    ("json", InputKind::Json),
    ("xml", InputKind::Xml),
    ("xlsx", InputKind::Workbook),
    ("vcard", InputKind::Vcard),
];

const DELIMITERS: [char; 4] = [',', ';', '|', '\t'];

const KEYS: [&str; 14] = [
    "kind",
    "member",
    "skip-member",
    "keys",
    "records",
    "names",
    "encoding",
    "delimiter",
    "escape",
    "comment",
    "skip-until",
    "header",
    "contains",
    "only-known",
];

impl Input {
    pub(crate) fn read(table: &Table<'_, '_>) -> Result<Self, MappingError> {
        table.only(&KEYS)?;
        let kind = |node: crate::node::Node<'_, '_>| {
            let name = node.text()?;
            let found = KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
            let names = list(&KINDS.map(|(name, _)| name));
            found.ok_or_else(|| node.refused(format!("`{name}` is no kind; there are {names}")))
        };
        Ok(Self {
            kind: table.get("kind").map(kind).transpose()?,
            member: globs(table, "member")?,
            skip_member: globs(table, "skip-member")?,
            keys: table.texts("keys")?,
            records: table.text("records")?,
            names: table.text("names")?,
            encoding: encoding(table)?,
            delimiter: delimiter(table)?,
            escape: character(table, "escape")?,
            comment: character(table, "comment")?,
            skip_until: table.text("skip-until")?,
            header: table.texts("header")?,
            // A mapping reads columns that may be missing from some files, so no column is
            // required.
            columns: Vec::new(),
            contains: table.text("contains")?,
            only_known: table.flag("only-known")?,
        })
    }

    /// Whether a member of a zip archive is read, according to the globs in `member` and
    /// `skip_member`. If `member` is empty, every member is read that `skip_member` does not
    /// match.
    pub fn takes_member(&self, name: &str) -> bool {
        let fits = |globs: &[String]| globs.iter().any(|glob| matches(glob, name));
        (self.member.is_empty() || fits(&self.member)) && !fits(&self.skip_member)
    }
}

/// Whether a glob matches a file's name without its folder. Case does not matter.
pub(crate) fn matches(glob: &str, name: &str) -> bool {
    let options = glob::MatchOptions { case_sensitive: false, ..glob::MatchOptions::new() };
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    Pattern::new(glob).is_ok_and(|glob| glob.matches_with(file, options))
}

/// Reads the globs that a key of the table lists.
pub(crate) fn globs(table: &Table<'_, '_>, name: &str) -> Result<Vec<String>, MappingError> {
    let Some(node) = table.get(name) else { return Ok(Vec::new()) };
    let read = |node: crate::node::Node<'_, '_>| {
        let text = node.text()?;
        match Pattern::new(&text) {
            Ok(_) => Ok(text),
            Err(_) => Err(node.wrong("has a glob that is not like `*.csv`")),
        }
    };
    node.list().into_iter().map(read).collect()
}

fn encoding(table: &Table<'_, '_>) -> Result<Option<String>, MappingError> {
    let Some(node) = table.get("encoding") else { return Ok(None) };
    let label = node.text()?;
    let is_standard = Encoding::for_label_no_replacement(label.trim().as_bytes()).is_some();
    if is_standard || CodePage::parse(&label).is_some() {
        return Ok(Some(label));
    }
    Err(node.refused(format!(
        "`{label}` is no encoding; write utf-8, utf-16, windows-1252, cp850 or another label of \
         the Encoding Standard"
    )))
}

fn delimiter(table: &Table<'_, '_>) -> Result<Option<char>, MappingError> {
    let letter = character(table, "delimiter")?;
    match (letter, table.get("delimiter")) {
        (Some(letter), Some(node)) if !DELIMITERS.contains(&letter) => {
            Err(node.wrong("is `,`, `;`, `|` or `tab`"))
        }
        _ => Ok(letter),
    }
}

fn character(table: &Table<'_, '_>, name: &str) -> Result<Option<char>, MappingError> {
    let Some(node) = table.get(name) else { return Ok(None) };
    let text = node.text()?;
    if text == "tab" {
        return Ok(Some('\t'));
    }
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii() => Ok(Some(letter)),
        _ => Err(node.wrong("is one ASCII character or `tab`")),
    }
}
