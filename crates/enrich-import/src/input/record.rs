//! A record of an input, before any mapping.

use serde_json::{Map, Value};

use crate::rejection::Rejection;

/// A record of an input, before any mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRecord {
    /// The position of the record in its file.
    pub place: RecordPosition,
    /// The record's text as in the file; for XML, the record as JSON. The text is empty for a
    /// contact card (vCard), and for a record that is joined from several files.
    pub text: Vec<u8>,
    /// The record, or why it can't be read.
    ///
    /// A row becomes an object with a text for each column, in the order of the columns. Columns
    /// without a name are left out.
    ///
    /// An XML element becomes an object. Its text is under `$`, each attribute under `@` and the
    /// attribute's name, and each child element under the child's name without the namespace
    /// prefix. Several children with the same name become an array. For example,
    /// `<org id="7"><name>Quill</name></org>` becomes `{"@id":"7","name":{"$":"Quill"}}`.
    pub fields: Result<Map<String, Value>, Rejection>,
}

/// The position of a record in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPosition {
    /// The record's number, from 1.
    pub record: u64,
    /// The line at which the record begins, from 1. In a workbook, the row's number.
    pub line: u64,
}
