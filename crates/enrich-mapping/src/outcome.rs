//! The result of mapping an input record.

use std::fmt;

use serde_json::{Map, Value};

use crate::native::RecordType;

/// The settings of an import that affect mappings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The country of records that name no country. A company gets this country as its seat, and
    /// national phone numbers are read as numbers of this country. The text is an alpha-2 or
    /// alpha-3 code, or an English name.
    pub country: Option<String>,
    /// The only kind of records that is imported, for a mapping that makes records of several
    /// kinds. If this is `None`, records of all kinds are imported.
    pub record_type: Option<RecordType>,
}

/// The result of mapping an input record.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// The records in Enrich's own import format, or the reason why there are none.
    pub outcome: Outcome,
    /// A note for each value that was left out of the records.
    pub notes: Vec<Note>,
}

/// The native records (records in Enrich's own import format) that were made from an input record,
/// or the reason why there are none.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The records in Enrich's own import format, at least one.
    Records(Vec<Map<String, Value>>),
    /// The input record gives no native record. The text is the reason, such as `dissolved`;
    /// reports count the records by reason.
    Skipped(String),
}

/// A kind of value that was left out of a native record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Note {
    /// The web address of a company's pages on a platform, such as a site builder or a marketplace:
    /// `quill.platform.example`. Its domain belongs to the platform, not to the company.
    Platform,
    /// The website of a mail provider, such as `gmail.com`, that was given for another company.
    MailProvider,
    /// A URL on LinkedIn, Facebook, Instagram, Twitter or YouTube that does not lead to a page (a
    /// profile), but for example to a post.
    NoPage,
    /// A person's profile where a domain or page of a company was expected.
    PersonPage,
    /// A country with an unknown code or name.
    UnknownCountry,
    /// A phone number without a country calling code, in a record whose country is not known.
    NationalPhone,
    /// A phone number without a country calling code. In the record's country, there is no such
    /// number.
    ForeignPhone,
    /// An email address of a role, such as `info@`, that was given for a person.
    RoleAddress,
    /// The name of a person that has no first or no last name.
    IncompleteName,
    /// A text in a column for people that is no person: a department or a remark.
    Nobody,
    /// A person in a cell with several people. Only the first one is read.
    FurtherPerson,
    /// An external id that does not have the form of its scheme.
    BadId,
}

impl Note {
    /// Returns the text by which reports name this kind of value, in the plural.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "addresses on platforms",
            Self::MailProvider => "websites of mail providers",
            Self::NoPage => "addresses on networks that are no pages",
            Self::PersonPage => "profiles of people in companies",
            Self::UnknownCountry => "unknown countries",
            Self::NationalPhone => "national phone numbers of an unknown country",
            Self::ForeignPhone => "national phone numbers that their country does not have",
            Self::RoleAddress => "addresses of roles in people",
            Self::IncompleteName => "names of people without a first or last name",
            Self::Nobody => "departments and remarks in columns of people",
            Self::FurtherPerson => "further people in one cell",
            Self::BadId => "ids that their scheme does not have",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
