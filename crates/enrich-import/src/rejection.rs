//! Why a line is rejected, and why a value is dropped. The messages never contain text of the line
//! or the value.

use enrich_core::InvalidParent;
use enrich_text::{
    InvalidCompanyName, InvalidCountry, InvalidDomain, InvalidEmailAddress, InvalidExternalId,
    InvalidPage, InvalidPersonName, InvalidPersonPage, InvalidPhone, MAX_CHARACTERS,
};

use crate::limits::{MAX_LINE_BYTES, MAX_LINES_OF_A_ROW, MAX_LIST_VALUES};

/// Why a line was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The line is too long.
    #[error("the line is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// The line is not UTF-8.
    #[error("the line is not UTF-8")]
    NotUtf8,
    /// The line is not JSON.
    #[error("the line is not valid JSON, from column {column}")]
    NotJson {
        /// The position of the first error in the line, in bytes from 1.
        column: usize,
    },
    /// The line is JSON, but not an object.
    #[error("the line is not a JSON object")]
    NotAnObject,
    /// The record gives this field twice.
    #[error("`{0}` is given twice")]
    RepeatedField(&'static str),
    /// The record's `type` is not `company`, `person` or `domain`, and no other field shows the
    /// record's kind.
    #[error("`type` is not `company`, `person` or `domain`")]
    UnknownType,
    /// The record has no `type`, and no field that shows whether it is a company, a person or a
    /// domain.
    #[error("there is no `type`, and no `first_name`, `name` or `domain` that would imply it")]
    NoType,
    /// The `type` of a CSV row is not the kind that the header shows.
    #[error("`type` does not match the columns of the header")]
    OtherType,
    /// A CSV row has more or fewer fields than the header.
    #[error("the row has {found} fields where the header has {expected}")]
    FieldCount {
        /// The number of fields in the row.
        found: usize,
        /// The number of fields in the header.
        expected: usize,
    },
    /// A row opens a quote, and does not close it within the maximum length of a row.
    #[error("a quote is opened and not closed within {MAX_LINES_OF_A_ROW} lines")]
    OpenQuote,
    /// This required field is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A required field has a value that can't be parsed.
    #[error("`{field}` can't be read")]
    Unreadable {
        /// The name of the field.
        field: &'static str,
        /// Why the field can't be read.
        #[source]
        reason: BadValue,
    },
    /// The record is about a suppressed company or person, whose data must stay forgotten.
    #[error("the record is suppressed")]
    Suppressed,
}

impl Rejection {
    /// Returns the reason and its causes, joined on one line.
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
    /// The value is not a text, but a number, boolean, list or object. A number is allowed in some
    /// fields, such as phone numbers.
    #[error("this is not text")]
    NotText,
    /// A list of values is in a field that may have only one value.
    #[error("only one value is allowed here, and several are given")]
    SeveralValues,
    /// The value is beyond the maximum number of values of a list.
    #[error("a list has at most {MAX_LIST_VALUES} values; the rest is left out")]
    TooMany,
    /// The text is too long.
    #[error("a text has at most {MAX_CHARACTERS} characters; this is longer")]
    TooLong,
    /// The text contains control characters.
    #[error("a text holds no control characters")]
    ControlCharacter,
    /// The value is not a confidence.
    #[error("a confidence is a whole number from 1 to 100")]
    NotAConfidence,
    /// The value is not an IP address.
    #[error("this is neither an IPv4 nor an IPv6 address")]
    NotAnIpAddress,
    /// The value is a fact about the main domain, such as an IP address, but the record has no main
    /// domain that can be read.
    #[error("the record has no main domain that this value could belong to")]
    NoMainDomain,
    /// The value is not a company's name.
    #[error(transparent)]
    CompanyName(#[from] InvalidCompanyName),
    /// The value is not a person's name.
    #[error(transparent)]
    PersonName(#[from] InvalidPersonName),
    /// The value is not a country.
    #[error(transparent)]
    Country(#[from] InvalidCountry),
    /// The value is not a domain.
    #[error(transparent)]
    Domain(#[from] InvalidDomain),
    /// The value is not an email address.
    #[error(transparent)]
    EmailAddress(#[from] InvalidEmailAddress),
    /// The value is not a phone number.
    #[error(transparent)]
    Phone(#[from] InvalidPhone),
    /// The value is not a company's page on the social network of the field. For example, the field
    /// `linkedin` of a company needs a page on LinkedIn.
    #[error(transparent)]
    Page(#[from] InvalidPage),
    /// The value is not a valid id of a register or data set.
    #[error(transparent)]
    ExternalId(#[from] InvalidExternalId),
    /// The value does not name an organisation.
    #[error(transparent)]
    Parent(#[from] InvalidParent),
    /// The value is not a person's profile page on LinkedIn, such as `linkedin.com/in/ada`.
    #[error(transparent)]
    PersonPage(#[from] InvalidPersonPage),
}
