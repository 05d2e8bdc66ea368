//! Why a line is rejected, and why a value is dropped. Neither ever holds what was given.

use enrich_text::{
    InvalidCompanyName, InvalidCountry, InvalidDomain, InvalidEmailAddress, InvalidPage,
    InvalidPersonName, InvalidPersonPage, InvalidPhone, MAX_CHARACTERS,
};

use crate::limits::{MAX_LINE_BYTES, MAX_LINES_OF_A_ROW, MAX_LIST_VALUES};

/// Why a line was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// It is longer than is read.
    #[error("the line is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// It is not UTF-8.
    #[error("the line is not UTF-8")]
    NotUtf8,
    /// It is not JSON.
    #[error("the line is not valid JSON, from column {column}")]
    NotJson {
        /// Where it stops being JSON, in bytes from 1.
        column: usize,
    },
    /// It is JSON, but no object.
    #[error("the line is not a JSON object")]
    NotAnObject,
    /// It has a field twice.
    #[error("`{0}` is given twice")]
    RepeatedField(&'static str),
    /// Its `type` is none of the format's.
    #[error("`type` is not `company`, `person` or `domain`")]
    UnknownType,
    /// It has no `type`, and no field that tells it.
    #[error("there is no `type`, and no `first_name`, `name` or `domain` that would imply it")]
    NoType,
    /// A row of a CSV file names another `type` than the file's header means.
    #[error("`type` does not match the columns of the header")]
    OtherType,
    /// A row of a CSV file has more or fewer fields than the header.
    #[error("the row has {found} fields where the header has {expected}")]
    FieldCount {
        /// The row's.
        found: usize,
        /// The header's.
        expected: usize,
    },
    /// A quote is opened and not closed within what a row may span.
    #[error("a quote is opened and not closed within {MAX_LINES_OF_A_ROW} lines")]
    OpenQuote,
    /// A required field is absent.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A required field can't be read.
    #[error("`{field}` can't be read")]
    Unreadable {
        /// Which.
        field: &'static str,
        /// Why.
        #[source]
        reason: BadValue,
    },
    /// Who it is about is suppressed.
    #[error("the record is suppressed")]
    Suppressed,
}

impl Rejection {
    /// The reason with what caused it, in one line.
    pub fn explained(&self) -> String {
        match self {
            Self::Unreadable { reason, .. } => format!("{self}: {reason}"),
            _ => self.to_string(),
        }
    }
}

/// Why a value can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadValue {
    /// A number, a boolean, a list or an object where a text belongs.
    #[error("this is not text")]
    NotText,
    /// A list where one value belongs.
    #[error("only one value is allowed here, and several are given")]
    SeveralValues,
    /// Behind the last value of a list that is read.
    #[error("a list has at most {MAX_LIST_VALUES} values; the rest is left out")]
    TooMany,
    /// Longer than any text is read.
    #[error("a text has at most {MAX_CHARACTERS} characters; this is longer")]
    TooLong,
    /// Control characters inside.
    #[error("a text holds no control characters")]
    ControlCharacter,
    /// No confidence.
    #[error("a confidence is a whole number from 1 to 100")]
    NotAConfidence,
    /// No IP address.
    #[error("this is neither an IPv4 nor an IPv6 address")]
    NotAnIpAddress,
    /// A fact of the main domain, where there is none or it can't be read.
    #[error("the record has no main domain that this value could belong to")]
    NoMainDomain,
    /// No company name.
    #[error(transparent)]
    CompanyName(#[from] InvalidCompanyName),
    /// No person's name.
    #[error(transparent)]
    PersonName(#[from] InvalidPersonName),
    /// No country.
    #[error(transparent)]
    Country(#[from] InvalidCountry),
    /// No domain.
    #[error(transparent)]
    Domain(#[from] InvalidDomain),
    /// No email address.
    #[error(transparent)]
    EmailAddress(#[from] InvalidEmailAddress),
    /// No phone number.
    #[error(transparent)]
    Phone(#[from] InvalidPhone),
    /// No page of the network.
    #[error(transparent)]
    Page(#[from] InvalidPage),
    /// No person's page.
    #[error(transparent)]
    PersonPage(#[from] InvalidPersonPage),
}
