//! The social networks with company pages.

use std::fmt;

/// A social network on which companies have pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Network {
    /// facebook.com
    Facebook,
    /// instagram.com
    Instagram,
    /// twitter.com, also x.com
    Twitter,
    /// youtube.com
    Youtube,
    /// linkedin.com
    LinkedIn,
}

impl Network {
    /// All networks.
    pub const ALL: [Network; 5] =
        [Self::Facebook, Self::Instagram, Self::Twitter, Self::Youtube, Self::LinkedIn];

    /// Returns the network's name in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Facebook => "facebook",
            Self::Instagram => "instagram",
            Self::Twitter => "twitter",
            Self::Youtube => "youtube",
            Self::LinkedIn => "linkedin",
        }
    }

    /// Returns the host that Enrich shows in the URL of a page on this network: for example,
    /// `linkedin.com` in `linkedin.com/company/quill`.
    pub const fn host(self) -> &'static str {
        match self {
            Self::Facebook => "facebook.com",
            Self::Instagram => "instagram.com",
            Self::Twitter => "twitter.com",
            Self::Youtube => "youtube.com",
            Self::LinkedIn => "linkedin.com",
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
