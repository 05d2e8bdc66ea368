//! Decides what a URL leads to: a company's website, a page on a social network, or a company's
//! pages on a platform such as a site builder.

use std::collections::HashMap;
use std::sync::LazyLock;

use enrich_text::{Domain, InvalidPage, Network, PageUrl, PersonPage};

use crate::table;

/// What a URL leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// A company's website. The text is its domain in normal form.
    Domain(String),
    /// A company's page on LinkedIn, Facebook, Instagram, Twitter or YouTube.
    Page(PageUrl),
    /// A person's profile on LinkedIn.
    Person(PersonPage),
    /// An address on LinkedIn, Facebook, Instagram, Twitter or YouTube that does not lead to a
    /// page, but for example to a post.
    NoPage,
    /// A web address on a platform, which hosts pages of many companies: a site builder, a
    /// marketplace, an app store, or a link-in-bio service, which hosts a page with links for each
    /// company. The page belongs to one of these companies, but the domain belongs to the platform.
    Platform,
    /// The text is not a web address. It may be an email address, for example.
    Unreadable,
}

/// Which web addresses of a platform belong to its customers. A platform, such as a site builder,
/// hosts pages of many companies, and these companies are its customers. All other addresses belong
/// to the company that runs the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Customers {
    /// Only addresses at a subdomain belong to customers: `quill.platform.example`, but not
    /// `www.platform.example`.
    Subdomains,
    /// Only addresses with a path belong to customers: `platform.example/quill`.
    Pages,
    /// Addresses at a subdomain, and addresses with a path, belong to customers:
    /// `quill.platform.example` and `platform.example/quill`.
    Both,
    /// All addresses on the platform count as addresses of its customers, even `platform.example`
    /// itself.
    All,
}

static PLATFORMS: LazyLock<HashMap<&'static str, Customers>> = LazyLock::new(|| {
    table::rows(include_str!("../data/platforms.txt"))
        .flat_map(|[kind, hosts]| {
            let customers = match kind {
                "subdomains" => Customers::Subdomains,
                "pages" => Customers::Pages,
                "both" => Customers::Both,
                _ => Customers::All,
            };
            table::values(hosts).map(move |host| (host, customers))
        })
        .collect()
});

/// Parts of the host names of the social networks. A host without any of these parts is on no
/// social network, so the slower comparison with each network is not needed.
const NETWORK_SIGNS: [&str; 11] = [
    "linkedin.",
    "lnkd.in",
    "facebook.",
    "fb.",
    "instagram.",
    "instagr.am",
    "twitter.",
    "x.com",
    "t.co",
    "youtube.",
    "youtu.be",
];

/// Decides what a URL leads to. The URL may lack its scheme, or be only a host.
pub fn route_url(text: &str) -> Route {
    // A text such as `@quill.example` is a handle on a social network, and not a website.
    if text.trim_start().starts_with('@') {
        return Route::NoPage;
    }
    let Some((host, tail)) = host_and_tail(text.trim()) else { return Route::Unreadable };
    let host = host.to_lowercase();
    let is_bare = tail.trim_matches(['/', '?', '#']).is_empty();
    if NETWORK_SIGNS.iter().any(|sign| host.contains(sign))
        && let Some(route) = on_network(&host, tail, is_bare)
    {
        return route;
    }
    if is_on_platform(&host, is_bare) {
        return Route::Platform;
    }
    match Domain::parse(&host) {
        Ok(domain) => Route::Domain(domain.as_str().to_owned()),
        Err(_) => Route::Unreadable,
    }
}

/// Splits a web address into the host, and the path, query and fragment after it. The port is
/// left out. Returns `None` for an email address, and for schemes other than `http` and `https`.
fn host_and_tail(text: &str) -> Option<(&str, &str)> {
    let rest = match text.split_once("://") {
        Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => rest,
            _ => return None,
        },
        None => text.strip_prefix("//").unwrap_or(text),
    };
    // Some files contain URLs with two schemes, such as `http://https://quill.example`.
    let rest = ["http://", "https://"].iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
    // Some files contain URLs with only one slash, such as `http:/quill.example`.
    let rest = ["http:/", "https:/"].iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    if authority.contains('@') || !authority.contains('.') {
        return None;
    }
    let host = authority.split(':').next().unwrap_or(authority);
    Some((host.strip_suffix('.').unwrap_or(host), tail))
}

/// Returns what an address on a social network leads to, such as a company's page. Returns `None`
/// if the host is on no social network, or if the address is the home page of one.
fn on_network(host: &str, tail: &str, is_bare: bool) -> Option<Route> {
    let address = format!("https://{host}{tail}");
    for network in Network::ALL {
        match PageUrl::parse(network, &address) {
            Ok(page) => return Some(Route::Page(page)),
            Err(InvalidPage::OtherNetwork) => {}
            Err(_) if is_bare => return None,
            Err(_) => {
                return Some(PersonPage::parse(&address).map_or(Route::NoPage, Route::Person));
            }
        }
    }
    None
}

/// Whether a web address is on a platform, such as a site builder, and belongs to a customer of the
/// platform: `platform.example/quill`. The home page of most platforms belongs to no customer.
fn is_on_platform(host: &str, is_bare: bool) -> bool {
    let host = host.strip_prefix("www.").unwrap_or(host);
    let mut rest = host;
    loop {
        let is_host = rest.len() == host.len();
        if let Some(customers) = PLATFORMS.get(rest) {
            return match customers {
                Customers::Subdomains => !is_host,
                Customers::Pages => !is_bare,
                Customers::Both => !is_host || !is_bare,
                Customers::All => true,
            };
        }
        match rest.split_once('.') {
            Some((_, shorter)) if shorter.contains('.') => rest = shorter,
            _ => return false,
        }
    }
}

/// Whether a text is the address of a whole website, such as `www.quill.example`, and not of a
/// single page. A single page may be on the website of a different company: at
/// `https://fair.example/contact/7`, a trade fair may describe one of its exhibitors.
pub(crate) fn is_whole_site(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = host.or_else(|| text.starts_with("www.").then_some(text.as_str()));
    host.is_some_and(|host| !host.trim_end_matches('/').contains(['/', '@', '?']))
}

/// Whether a text that is given as a LinkedIn page is probably a website, such as `quill.example`,
/// because it contains a dot. Few LinkedIn handles do, such as `ppc-s.a.`. Returns `false` for all
/// other networks.
pub(crate) fn is_no_handle(network: Network, text: &str) -> bool {
    network == Network::LinkedIn && !text.contains('/') && text.contains('.')
}

/// Whether the host of a URL contains the network's name as a label, as in
/// `https://linkedin.example/company/quill`. Such a URL is probably a mistyped URL of a page on the
/// network, and not the website of the company that the record describes.
pub(crate) fn is_site_of(network: Network, text: &str) -> bool {
    let host = text.split_once("://").map_or(text, |(_, rest)| rest).split('/').next();
    host.is_some_and(|host| host.split('.').any(|label| label == network.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match route_url(text) {
            Route::Domain(domain) => domain,
            Route::Page(page) => page.to_string(),
            Route::Person(page) => page.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_url_is_a_domain_a_page_or_a_platform() {
        let cases = [
            ("https://www.Quill.example/about?x=1", "quill.example"),
            ("quill.example", "quill.example"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("http://http://quill.example/", "quill.example"),
            ("http:/quill.example", "quill.example"),
            ("https://de.linkedin.com/company/quill/about", "linkedin.com/company/quill"),
            ("facebook.com/101332822166556", "facebook.com/101332822166556"),
            ("https://www.linkedin.com/in/ada-example", "linkedin.com/in/ada-example"),
            ("https://www.linkedin.com/feed/update/1", "NoPage"),
            ("https://www.linkedin.com/", "linkedin.com"),
            ("https://twitter.com", "twitter.com"),
            ("https://netflix.com/", "netflix.com"),
            ("https://quill.wixsite.com/home", "Platform"),
            ("https://www.wixsite.com/", "wixsite.com"),
            ("linktr.ee/quill", "Platform"),
            ("https://linktr.ee/", "linktr.ee"),
            ("https://sites.google.com/view/quill", "Platform"),
            ("https://apps.apple.com/app/quill", "Platform"),
            ("https://www.etsy.com/shop/quill", "Platform"),
            ("https://www.etsy.com", "etsy.com"),
            ("info@quill.example", "Unreadable"),
            ("mailto:info@quill.example", "Unreadable"),
            ("ftp://quill.example", "Unreadable"),
            ("n/a", "Unreadable"),
            ("", "Unreadable"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
