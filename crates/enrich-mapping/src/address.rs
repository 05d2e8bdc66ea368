//! Recognises web and email addresses.

use enrich_text::{Domain, EmailAddress, MAX_CHARACTERS};

use crate::access_link::link_address;

/// Whether a text looks like a domain, a URL or an email address.
///
/// Abbreviations (`e.g.`) and decimal numbers (`3.14`) also contain a dot. So a domain must end
/// with at least two letters, or with a top-level domain in A-labels, such as `xn--p1ai`. A text
/// with `://` is a URL, whatever its host is.
pub fn is_address(text: &str) -> bool {
    let text = text.trim();
    // A text with more than `MAX_CHARACTERS` characters is never read as a value.
    if text.contains(char::is_whitespace) || text.chars().nth(MAX_CHARACTERS).is_some() {
        return false;
    }
    text.contains("://")
        || EmailAddress::parse(text).is_ok()
        || Domain::parse(text).is_ok_and(|domain| has_usual_ending(&domain))
}

/// Whether a text is an email address, or a link to one (`mailto:`).
pub(crate) fn is_email(text: &str) -> bool {
    EmailAddress::parse(link_address(text)).is_ok()
}

fn has_usual_ending(domain: &Domain) -> bool {
    let ending = domain.as_str().rsplit('.').next().unwrap_or_default();
    let is_of_letters = ending.len() >= 2 && ending.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_of_letters || ending.starts_with("xn--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_urls_and_email_addresses_are_addresses() {
        let long = format!("https://quill.example/?q={}", "x".repeat(400));
        for text in [
            "quill.example",
            " quill.example/about?x=1.5 ",
            "www.quill.co.uk",
            "https://www.quill.example/about?x=1.5",
            "http://192.0.2.10:8080/",
            "ada@quill.example",
            "mailto:ada@quill.example",
            "почта.рф",
            "xn--80a1acny.xn--p1ai",
            long.as_str(),
        ] {
            assert!(is_address(text), "{text}");
        }
        let too_long = format!("https://quill.example/?q={}", "x".repeat(500));
        for text in [
            "",
            "-",
            "n/a",
            "e.g.",
            "i.A.",
            "3.14",
            "1.50",
            "01.02.2026",
            "192.0.2.10",
            "Quill",
            "Quill Ltd",
            "J.R. Quill",
            "quill.example ink.example",
            "quill.example\u{a0}(new)",
            too_long.as_str(),
        ] {
            assert!(!is_address(text), "{text}");
        }
    }
}
