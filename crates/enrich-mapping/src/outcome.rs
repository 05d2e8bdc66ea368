//! What becomes of an input record.

use std::fmt;

use serde_json::{Map, Value};

use crate::native::RecordType;

/// The settings of an import that mappings need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The country of national phone numbers, and the seat of records without one. An alpha-2 or
    /// alpha-3 code, or an English name.
    pub country: Option<String>,
    /// The only kind of record that is wanted, if a mapping gives several.
    pub record_type: Option<RecordType>,
}

/// What becomes of an input record.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// The native records, or why there are none.
    pub outcome: Outcome,
    /// What was left out of the records.
    pub notes: Vec<Note>,
}

/// The native records of an input record, or why there are none.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The native records, at least one.
    Records(Vec<Map<String, Value>>),
    /// The record is left out. The reason is counted, such as `dissolved`.
    Skipped(String),
}

/// Something that was left out of a native record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Note {
    /// An address on a platform where anybody has a site.
    Platform,
    /// An address on a network that is no page.
    NoPage,
    /// An address where a company's domain or page was expected, but which is a person's profile.
    PersonPage,
    /// A country that is not known.
    UnknownCountry,
    /// An id that its scheme does not have.
    BadId,
}

impl Note {
    /// What was left out, as a plural for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "addresses on platforms",
            Self::NoPage => "addresses on networks that are no pages",
            Self::PersonPage => "profiles of people in companies",
            Self::UnknownCountry => "unknown countries",
            Self::BadId => "ids that their scheme does not have",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
