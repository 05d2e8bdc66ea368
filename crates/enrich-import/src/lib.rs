//! Imports records from JSON Lines, CSV of any delimiter and encoding, and Excel workbooks through
//! an [`Importer`](enrich_core::port::importer::Importer).
//!
//! [`Source`] is the input, [`import`] stores its records in the directory, and [`Report`] counts
//! the results. Records have Enrich's own import format (the native format). `enrich-text` parses
//! the values of records and the input fields of the API by the same lenient rules.
//!
//! [`Rows`] returns the rows of a source unchanged and parses no records. [`InputRecords`] reads
//! the records of files with other layouts: archives, JSON, XML and tables.
//!
//! This crate does not decide which records are merged (`enrich-core` does), and does not write to
//! a database or a terminal.

mod batch;
mod bounds;
mod byte_count;
mod csv;
mod decompressed;
mod delimiter;
mod delimiter_detection;
mod encoding;
mod encoding_guess;
mod expected_records;
mod file_start;
mod format;
mod glob;
mod ids;
mod import;
mod import_source;
mod input;
mod input_fault;
mod joined;
mod jsonl;
mod known;
mod layout;
mod limits;
mod lines;
mod list_reader;
mod mapped;
mod native_text;
mod no_list;
mod object;
mod old_line_ends;
mod parsed;
mod quoting;
mod raw;
mod read_error;
mod record;
mod rejection;
mod rejects;
mod report;
mod rows;
mod shared_domains;
mod skip_reason;
mod sorted_rows;
mod source;
mod splitter;
mod suppression_list;
mod text_encoding;
mod value;
mod workbook;

pub use bounds::{Bounds, Halt};
pub use delimiter::Delimiter;
pub use enrich_mapping::plain_name;
pub use format::{Compression, Format, format_from_file_name, uncompressed_file_name};
pub use import::{Cause, ImportError, Preview, Progress, import, preview};
pub use import_source::ImportSource;
pub use input::{InputRecord, InputRecords, RecordPosition, Sample, Sampled, sample};
pub use input_fault::{FileNames, InputFault};
pub use layout::{Layout, ReadAs};
pub use mapped::MapAs;
pub use no_list::{FileKind, NoList};
pub use read_error::{HeaderError, ReadError};
pub use rejection::{BadValue, Rejection};
pub use report::{DroppedValues, LeftOutKind, Occurrences, Report};
pub use rows::{Cells, MAX_COLUMNS, Row, Rows};
pub use skip_reason::SkipReason;
pub use source::Source;
pub use suppression_list::{
    DropFile, DropList, EntryContent, LineFault, ListEntries, ListEntry, ListFault, ListFile,
    ListFormat, ListPart,
};
pub use text_encoding::TextEncoding;
