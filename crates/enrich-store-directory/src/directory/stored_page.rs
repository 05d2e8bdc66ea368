//! The short form in which a company's page on a social network is stored.
//!
//! Nearly all pages of a network begin with the same text. This text is replaced by one letter:
//! `linkedin.com/company/quill` becomes `lquill`. A page that begins in another way has no short
//! form.

use enrich_text::Network;

/// Returns the text with which nearly all pages of a network begin, and the letter that replaces
/// this text. Stored pages contain the letters, so neither the texts nor the letters may change.
const fn beginning(network: Network) -> (&'static str, char) {
    match network {
        Network::Facebook => ("facebook.com/", 'f'),
        Network::Instagram => ("instagram.com/", 'i'),
        Network::Twitter => ("twitter.com/", 't'),
        Network::Youtube => ("youtube.com/", 'y'),
        Network::LinkedIn => ("linkedin.com/company/", 'l'),
    }
}

/// Returns the part of a page after the usual beginning of its network: `quill` for
/// `linkedin.com/company/quill`. Returns `None` if the page begins in another way.
pub(crate) fn rest(network: Network, page: &str) -> Option<&str> {
    page.strip_prefix(beginning(network).0)
}

/// Returns the page on `network` that begins in the usual way and ends with `rest`:
/// `linkedin.com/company/quill` for LinkedIn and `quill`. This is the inverse of [`rest()`].
pub(crate) fn with_rest(network: Network, rest: &str) -> String {
    [beginning(network).0, rest].concat()
}

/// Returns the short form of a page, if there is one.
pub(crate) fn short(network: Network, page: &str) -> Option<String> {
    let rest = rest(network, page)?;
    Some(format!("{}{rest}", beginning(network).1))
}

/// Returns the network and the page of a short form; `None` if the text is not a short form.
pub(crate) fn read_short(short: &str) -> Option<(Network, String)> {
    let mut letters = short.chars();
    let letter = letters.next()?;
    let network = Network::ALL.into_iter().find(|network| beginning(*network).1 == letter)?;
    Some((network, with_rest(network, letters.as_str())))
}

#[cfg(test)]
mod tests {
    use enrich_text::PageUrl;

    use super::*;

    #[test]
    fn a_page_reads_back_from_its_short_form() {
        for network in Network::ALL {
            let page = PageUrl::parse(network, "quill").unwrap();
            let short = short(network, page.as_str()).unwrap();
            assert!(short.len() <= 7, "{short}");
            assert_eq!(read_short(&short), Some((network, page.as_str().to_owned())));
        }
    }

    #[test]
    fn another_beginning_has_no_short_form() {
        assert_eq!(short(Network::LinkedIn, "linkedin.com/school/quill"), None);
        assert_eq!(read_short("Quill"), None);
        assert_eq!(read_short(""), None);
    }
}
