//! Company pages on social networks.

mod facebook;
mod handle;
mod linkedin;
mod profile;
mod youtube;

use std::fmt;

use crate::input::{self, refuses_unreadable};
use crate::network::Network;
use crate::web_address::{self, Path, Written};

pub(crate) use handle::{fold_case, shown, valid_handle};

/// A company's page on a social network: the network, and the handle of the page.
///
/// Two values are equal if they are spelt in the same way. To find out whether two spellings mean
/// the same page, compare their [`Self::key`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageUrl {
    network: Network,
    text: String,
    key: String,
}

/// Why a text is not a company's page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPage {
    /// The text is empty or only white space.
    #[error("a page URL cannot be empty; send one like `linkedin.com/company/acme` or a handle")]
    Empty,
    /// The text has more than 512 characters.
    #[error("a page URL has at most 512 characters; this is longer")]
    TooLong,
    /// The text contains control characters.
    #[error("a page URL holds no control characters; send plain text")]
    ControlCharacter,
    /// The address is on another network, or on another site.
    #[error("this is an address on another site; send a page of the network that is asked for")]
    OtherNetwork,
    /// The address is on the network, but is not the page of a company: for example a post, a
    /// search or a person.
    #[error(
        "this address names no company's page; send the page itself, like \
         `linkedin.com/company/acme` or `facebook.com/acme`"
    )]
    NoPage,
    /// The handle has characters or a length that the network does not allow.
    #[error("this is no handle of the network; send the page's URL as it is shown there")]
    BadHandle,
}

refuses_unreadable!(InvalidPage);

/// A company's page, read from a path by the rules of its network.
struct Named {
    /// The path in display form, without the slash at its beginning.
    path: String,
    key: String,
}

impl PageUrl {
    /// Parses a page of `network`. The text is a URL on one of the network's hosts, or only the
    /// handle, with or without `@`. A URL may contain a scheme, a query, a fragment, and path
    /// segments after those of the page. A URL may also be percent-encoded.
    pub fn parse(network: Network, text: &str) -> Result<Self, InvalidPage> {
        let named = match web_address::read(input::plain(text)?) {
            Written::OnNetwork(found, path) if found == network => on_network(network, &path)?,
            Written::OnNetwork(..) | Written::Elsewhere => return Err(InvalidPage::OtherNetwork),
            Written::NoPageHost => return Err(InvalidPage::NoPage),
            Written::PathAlone(path) => path_alone(network, &path)?,
            Written::Bare(path) => bare(network, &path)?,
        };
        Ok(Self {
            network,
            text: format!("{}/{}", network.host(), named.path),
            key: format!("{}:{}", network.as_str(), named.key),
        })
    }

    /// Returns the network of the page.
    pub fn network(&self) -> Network {
        self.network
    }

    /// Returns the page in display form, such as `linkedin.com/company/cufinder`: the usual host of
    /// the social network without `www.`, then the path. There is no scheme. Upper and lower case
    /// are as written. Only the percent sign is percent-encoded.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the key by which pages are compared: the social network and the handle, for example
    /// `linkedin:cufinder`.
    ///
    /// - Upper and lower case are equal, except in YouTube's channel ids.
    /// - On LinkedIn, `/company/acme`, `/school/acme` and `/showcase/acme` have the same key,
    ///   because no two pages of these kinds have the same handle.
    /// - On YouTube, `/@acme`, `/c/acme`, `/user/acme` and `/acme` have the same key, because
    ///   people confuse them.
    /// - On Facebook, if the path contains the number of a page, this number is the handle in the
    ///   key. So `profile.php?id=ID`, `/pages/…/ID` and `/Name-ID` have the same key. Dots in other
    ///   handles are ignored, as Facebook does.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the key without the network: `cufinder`.
    pub fn handle(&self) -> &str {
        self.key.split_once(':').map_or(&self.key, |(_, handle)| handle)
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn on_network(network: Network, path: &Path<'_>) -> Result<Named, InvalidPage> {
    match network {
        Network::LinkedIn => linkedin::on_site(path),
        Network::Facebook => facebook::on_site(path),
        Network::Youtube => youtube::on_site(path),
        Network::Instagram | Network::Twitter => profile::on_site(network, path),
    }
}

/// Reads a path without a host, such as `company/acme`, as a page of `network`. A path of several
/// segments must begin with `@`, or with a segment that the network uses for pages, such as
/// `company`. Otherwise it may mean something else, and the result is an error.
fn path_alone(network: Network, path: &Path<'_>) -> Result<Named, InvalidPage> {
    let first = path.word(0);
    let is_path = match network {
        Network::LinkedIn => linkedin::is_kind(&first),
        Network::Facebook => facebook::is_kind(&first),
        Network::Youtube => youtube::is_kind(&first),
        Network::Instagram | Network::Twitter => path.segments.len() == 1,
    };
    if is_path || first.starts_with('@') || path.segments.len() == 1 {
        on_network(network, path)
    } else {
        Err(InvalidPage::NoPage)
    }
}

fn bare(network: Network, path: &Path<'_>) -> Result<Named, InvalidPage> {
    match network {
        Network::LinkedIn => linkedin::bare(path),
        Network::Youtube => youtube::bare(path),
        Network::Facebook | Network::Instagram | Network::Twitter => on_network(network, path),
    }
}

/// Returns the first segment of a path. Returns an error if there is none, or if it is not valid
/// UTF-8 after percent-decoding.
fn first_segment<'a>(path: &'a Path<'_>) -> Result<&'a str, InvalidPage> {
    match path.segments.first() {
        None => Err(InvalidPage::NoPage),
        Some(None) => Err(InvalidPage::BadHandle),
        Some(Some(segment)) => Ok(segment),
    }
}

/// Returns the path segment that follows the segment at the index `kind`: for `/company/acme` and
/// `kind` 0, it returns `acme`. Returns an error if there is no such segment, or if it is not valid
/// UTF-8 after percent-decoding.
fn segment_behind<'a>(path: &'a Path<'_>, kind: usize) -> Result<&'a str, InvalidPage> {
    match path.segments.get(kind + 1) {
        None => Err(InvalidPage::NoPage),
        Some(None) => Err(InvalidPage::BadHandle),
        Some(Some(segment)) => Ok(segment),
    }
}
