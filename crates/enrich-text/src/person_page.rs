//! People's profiles on LinkedIn.

use std::fmt;

use crate::input::{self, refuses_unreadable};
use crate::network::Network;
use crate::page::{fold_case, shown, spelled};
use crate::web_address::{self, Path, Written};

/// A person's profile on LinkedIn.
///
/// Profiles are equal if they are written the same. Whether two ways to write are the same profile
/// says [`Self::key`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersonPage {
    text: String,
    key: String,
}

/// Why a text is not a person's profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPersonPage {
    /// Nothing but white space.
    #[error("a profile URL cannot be empty; send one like `linkedin.com/in/ada` or a handle")]
    Empty,
    /// More characters than we take.
    #[error("a profile URL has at most 512 characters; this is longer")]
    TooLong,
    /// Control characters inside.
    #[error("a profile URL holds no control characters; send plain text")]
    ControlCharacter,
    /// An address elsewhere.
    #[error("a profile URL looks like `linkedin.com/in/ada`; this is an address on another site")]
    OtherNetwork,
    /// A company's, school's or showcase page.
    #[error("this is a company's page; send a person's, like `linkedin.com/in/ada`")]
    CompanyPage,
    /// An address on LinkedIn that names nobody.
    #[error("a profile URL looks like `linkedin.com/in/ada`; this address names no person")]
    NoPage,
    /// Characters or a length no handle has.
    #[error("this is no LinkedIn handle; send the profile's URL as it is shown there")]
    BadHandle,
}

refuses_unreadable!(InvalidPersonPage);

impl PersonPage {
    /// Reads a profile: its URL under `/in/` or `/pub/` on any of LinkedIn's hosts, or the handle
    /// alone, with or without `@`.
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

    /// The profile as it is stored and shown: `linkedin.com/in/ada`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What the profile is compared by, without case: `linkedin-in:ada`.
    ///
    /// `/pub/ada` is the same as `/in/ada`. In the old form `/pub/ada/1a/2b3/4c5` the parts behind
    /// the name belong to the handle: they tell namesakes apart.
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

/// A segment, if it is there; what doesn't decode to text is no handle.
fn part<'a>(path: &'a Path<'_>, index: usize) -> Result<Option<&'a str>, InvalidPersonPage> {
    match path.segments.get(index) {
        None => Ok(None),
        Some(None) => Err(InvalidPersonPage::BadHandle),
        Some(Some(segment)) => Ok(Some(segment)),
    }
}

/// The parts of `/pub/ada/1a/2b3/4c5` behind the name are hexadecimal numbers of up to 3 digits.
fn is_old_suffix(part: &str) -> bool {
    part.len() <= 3 && part.bytes().all(|b| b.is_ascii_hexdigit())
}

fn named(kind: &str, parts: &[&str]) -> Result<PersonPage, InvalidPersonPage> {
    let parts: Option<Vec<&str>> = parts.iter().map(|part| spelled(part)).collect();
    let handle = parts.ok_or(InvalidPersonPage::BadHandle)?.join("/");
    Ok(PersonPage {
        text: format!("linkedin.com/{kind}/{}", shown(&handle)),
        key: format!("linkedin-in:{}", fold_case(&handle)),
    })
}
