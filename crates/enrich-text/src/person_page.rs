//! The pages of people: their profiles on LinkedIn.

use std::fmt;

use crate::input::{self, refuses_unreadable};
use crate::network::Network;
use crate::page_url::{fold_case, shown, valid_handle};
use crate::web_address::{self, Path, Written};

/// A person's profile on LinkedIn.
///
/// Two values are equal if they are spelt in the same way. To find out whether two spellings mean
/// the same profile, compare their [`Self::key`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersonPage {
    text: String,
    key: String,
}

/// Why a text is not a person's profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPersonPage {
    /// The text is empty or only white space.
    #[error("a profile URL cannot be empty; send one like `linkedin.com/in/ada` or a handle")]
    Empty,
    /// The text has more than 512 characters.
    #[error("a profile URL has at most 512 characters; this is longer")]
    TooLong,
    /// The text contains control characters.
    #[error("a profile URL holds no control characters; send plain text")]
    ControlCharacter,
    /// The address is on another site.
    #[error("a profile URL looks like `linkedin.com/in/ada`; this is an address on another site")]
    OtherNetwork,
    /// The address is the page of a company or a school, or a showcase page.
    #[error("this is a company's page; send a person's, like `linkedin.com/in/ada`")]
    CompanyPage,
    /// The address is on LinkedIn, but is not the address of a profile.
    #[error("a profile URL looks like `linkedin.com/in/ada`; this address names no person")]
    NoPage,
    /// The handle has characters or a length that LinkedIn does not allow.
    #[error("this is no LinkedIn handle; send the profile's URL as it is shown there")]
    BadHandle,
}

refuses_unreadable!(InvalidPersonPage);

impl PersonPage {
    /// Parses a profile: its URL under `/in/` or `/pub/` on one of LinkedIn's hosts, or only the
    /// handle, with or without `@`.
    pub fn parse(text: &str) -> Result<Self, InvalidPersonPage> {
        match web_address::read(input::plain(text)?) {
            Written::OnNetwork(Network::LinkedIn, path) | Written::PathAlone(path) => {
                on_site(&path)
            }
            Written::OnNetwork(..) | Written::Elsewhere => Err(InvalidPersonPage::OtherNetwork),
            Written::NoPageHost => Err(InvalidPersonPage::NoPage),
            Written::Bare(path) => {
                let handle = path.segment(0).ok_or(InvalidPersonPage::BadHandle)?;
                named("in", &[handle.strip_prefix('@').unwrap_or(handle)])
            }
        }
    }

    /// Returns the profile in display form: `linkedin.com/in/ada`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the key by which profiles are compared, in lower case: `linkedin-in:ada`.
    ///
    /// `/pub/ada` is the same profile as `/in/ada`. In the old form `/pub/ada/1a/2b3/4c5`, the
    /// parts after the name are part of the handle, because they distinguish people with the same
    /// name.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for PersonPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn on_site(path: &Path<'_>) -> Result<PersonPage, InvalidPersonPage> {
    let at = usize::from(path.word(0) == "mwlite");
    match path.word(at).as_str() {
        "in" => {
            let handle = part(path, at + 1)?.ok_or(InvalidPersonPage::NoPage)?;
            named("in", &[handle])
        }
        "pub" => {
            let handle = part(path, at + 1)?.ok_or(InvalidPersonPage::NoPage)?;
            let mut parts = vec![handle];
            for index in at + 2..at + 5 {
                match part(path, index)? {
                    Some(part) if is_old_suffix(part) => parts.push(part),
                    _ => break,
                }
            }
            named("pub", if parts.len() == 4 { &parts } else { &parts[..1] })
        }
        "company" | "school" | "showcase" | "organization-guest" => {
            Err(InvalidPersonPage::CompanyPage)
        }
        _ => Err(InvalidPersonPage::NoPage),
    }
}

/// Returns the path segment at `index`; `None` if there is none. Returns an error if the segment
/// is not valid UTF-8 after percent-decoding, because then it is not a handle.
fn part<'a>(path: &'a Path<'_>, index: usize) -> Result<Option<&'a str>, InvalidPersonPage> {
    match path.segments.get(index) {
        None => Ok(None),
        Some(None) => Err(InvalidPersonPage::BadHandle),
        Some(Some(segment)) => Ok(Some(segment)),
    }
}

/// Whether a part of a path is a hexadecimal number of up to 3 digits, like those after the name in
/// `/pub/ada/1a/2b3/4c5`.
fn is_old_suffix(part: &str) -> bool {
    part.len() <= 3 && part.bytes().all(|b| b.is_ascii_hexdigit())
}

fn named(kind: &str, parts: &[&str]) -> Result<PersonPage, InvalidPersonPage> {
    let parts: Option<Vec<&str>> = parts.iter().map(|part| valid_handle(part)).collect();
    let handle = parts.ok_or(InvalidPersonPage::BadHandle)?.join("/");
    Ok(PersonPage {
        text: format!("linkedin.com/{kind}/{}", shown(&handle)),
        key: format!("linkedin-in:{}", fold_case(&handle)),
    })
}
