//! The suppressed values (values that no answer may contain), and the check whether a text contains
//! one of them.
//!
//! A stored response, or a list that an account has uploaded, may contain a value that was
//! suppressed later. The value may be written in different ways, such as `+44 20 7946 0123` or
//! `+442079460123`. So the check parses the text in several ways: as an email address, a phone
//! number, a LinkedIn page and a domain. It compares the normal forms with the suppressed values.

mod screening;

use enrich_text::{Domain, EmailAddress, PersonPage, Phone};

use jiff::Timestamp;

use crate::port::importer::Suppressed;

pub use screening::{names_suppressed, without_suppressed};

/// The values that are suppressed at one point in time. No answer may contain them.
pub trait SuppressedValues: Send + Sync {
    /// Returns the version of the suppressed values. It changes whenever a value is suppressed, or
    /// is allowed again. So if it is the same as before, the values are also the same as before. It
    /// is 0 if no value was ever suppressed.
    fn version(&self) -> u64;

    /// Whether no value is suppressed, so that answers may contain every value.
    fn is_empty(&self) -> bool;

    /// Whether exactly this value is suppressed. For a domain, the domains above it are not
    /// checked.
    fn holds(&self, value: &Suppressed) -> bool;

    /// Whether exactly this value was suppressed at `since` or later.
    fn holds_suppressed_since(&self, value: &Suppressed, since: Timestamp) -> bool;
}

/// The suppressed values (values that no answer may contain), without those that were suppressed
/// before a certain time.
pub struct SuppressedSince<'a> {
    /// All suppressed values, including those that were suppressed before `since`.
    pub values: &'a dyn SuppressedValues,
    /// Values that were suppressed before this time are ignored.
    pub since: Timestamp,
}

impl SuppressedValues for SuppressedSince<'_> {
    fn version(&self) -> u64 {
        self.values.version()
    }

    fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn holds(&self, value: &Suppressed) -> bool {
        self.values.holds_suppressed_since(value, self.since)
    }

    fn holds_suppressed_since(&self, value: &Suppressed, since: Timestamp) -> bool {
        self.values.holds_suppressed_since(value, since.max(self.since))
    }
}

/// Maximum length, in bytes, of a part of a text that is checked for a suppressed value. A longer
/// part is not checked.
const MAX_BYTES: usize = 512;

/// Whether a text contains a suppressed value, which no answer may contain. The value may be the
/// whole text, an element of a list such as `a@quill.example|b@quill.example`, or a word.
pub fn holds_suppressed(values: &dyn SuppressedValues, text: &str) -> bool {
    let is_between_values = |letter: char| matches!(letter, '|' | ';' | ',' | '\n' | '\t' | '"');
    let is_between_words =
        |letter: char| letter.is_whitespace() || matches!(letter, '<' | '>' | '(' | ')' | '\'');
    text.split(is_between_values).any(|part| {
        is_suppressed(values, part)
            || part.split(is_between_words).any(|word| is_suppressed(values, word))
    })
}

/// Whether a text is a suppressed value (one that no answer may contain), or an email address at a
/// suppressed domain.
fn is_suppressed(values: &dyn SuppressedValues, text: &str) -> bool {
    // A cell of an uploaded list may begin with an apostrophe, so that a spreadsheet does not
    // evaluate the cell as a formula. The apostrophe is not part of the value.
    let text = text.trim().trim_start_matches('\'');
    if text.len() < 3 || text.len() > MAX_BYTES {
        return false;
    }
    if text.contains('@') {
        return EmailAddress::parse(text).is_ok_and(|email| is_email(values, email));
    }
    let is_number = !text.chars().any(char::is_alphabetic);
    if is_number && Phone::parse(text).is_ok_and(|phone| values.holds(&Suppressed::Phone(phone))) {
        return true;
    }
    // Only a LinkedIn URL is parsed as a page. A handle alone, such as `ada-example`, may also be
    // a name.
    let is_page = text.to_ascii_lowercase().contains("linkedin.");
    if is_page
        && PersonPage::parse(text).is_ok_and(|page| values.holds(&Suppressed::PersonPage(page)))
    {
        return true;
    }
    text.contains('.') && Domain::parse(text).is_ok_and(|domain| is_domain(values, &domain))
}

fn is_email(values: &dyn SuppressedValues, email: EmailAddress) -> bool {
    let domain = email.domain();
    let mailbox = email.without_tag().map(Suppressed::Email);
    values.holds(&Suppressed::Email(email))
        || mailbox.is_some_and(|mailbox| values.holds(&mailbox))
        || is_domain(values, &domain)
}

/// Whether a domain, or a domain above it, is suppressed.
fn is_domain(values: &dyn SuppressedValues, domain: &Domain) -> bool {
    let mut rest = domain.as_str();
    loop {
        let Ok(domain) = Domain::parse(rest) else { return false };
        if values.holds(&Suppressed::Domain(domain)) {
            return true;
        }
        let Some((_, parent)) = rest.split_once('.') else { return false };
        rest = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) struct Values(Vec<Suppressed>);

    impl SuppressedValues for Values {
        fn version(&self) -> u64 {
            self.0.len() as u64
        }

        fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        fn holds_suppressed_since(&self, value: &Suppressed, _: Timestamp) -> bool {
            self.holds(value)
        }

        fn holds(&self, value: &Suppressed) -> bool {
            match value {
                // URLs that differ only in upper and lower case lead to the same LinkedIn profile.
                // So the keys, which are in lower case, are compared.
                Suppressed::PersonPage(page) => self.0.iter().any(
                    |known| matches!(known, Suppressed::PersonPage(known) if known.key() == page.key()),
                ),
                value => self.0.contains(value),
            }
        }
    }

    pub(super) fn values() -> Values {
        Values(vec![
            Suppressed::Email(EmailAddress::parse("ada@quill.example").unwrap()),
            Suppressed::Phone(Phone::parse("+44 20 7946 0123").unwrap()),
            Suppressed::PersonPage(PersonPage::parse("linkedin.com/in/ada-example").unwrap()),
            Suppressed::Domain(Domain::parse("inkwell.example").unwrap()),
        ])
    }

    #[test]
    fn a_value_is_found_however_it_is_written() {
        for text in [
            "ada@quill.example",
            " Ada <ADA@Quill.example> ",
            "ada+news@quill.example",
            "ben@quill.example|ada@quill.example",
            "mail ada@quill.example, or call",
            "+442079460123",
            "'+44 20 7946 0123",
            "442079460123",
            "+41446681800|+44 20 7946 0123",
            "https://www.LinkedIn.com/in/Ada-Example/",
            "inkwell.example",
            "https://shop.inkwell.example/about",
            "anybody@inkwell.example",
            r#"{"query":"Ada","email":"ada@quill.example","credit_count":7}"#,
        ] {
            assert!(holds_suppressed(&values(), text), "{text}");
        }
    }

    #[test]
    fn nothing_else_is() {
        for text in [
            "",
            "Ada",
            "ada-example",
            "ben@quill.example",
            "quill.example",
            "notinkwell.example",
            "example",
            "+442079460124",
            "linkedin.com/in/ben-example",
            r#"{"query":"Ada","email":"","confidence_level":0}"#,
        ] {
            assert!(!holds_suppressed(&values(), text), "{text}");
        }
    }
}
