//! The fields of a form or a query, in the order in which they were sent.

use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

/// Maximum number of fields that are read. No form on the account pages has so many fields.
const MAX_FIELDS: usize = 256;

/// The submitted fields. [`Self::raw`] and [`Self::text`] treat a missing field like a field with
/// an empty value.
#[derive(Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads `application/x-www-form-urlencoded` (WHATWG URL, section 5.1). Invalid UTF-8 becomes
    /// replacement characters.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        // Parsing cannot fail, because every byte sequence is a valid form.
        serde_urlencoded::from_bytes(bytes).unwrap_or_default()
    }

    /// Returns the first value of a field, unchanged. Returns an empty text if the field is
    /// missing.
    pub(crate) fn raw(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Returns the first value of a field, without white space at its ends. Returns an empty text
    /// if the field is missing.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Whether the field was sent. Browsers do not send a box that is not ticked.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }
}

impl<'de> Deserialize<'de> for Form {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_seq(Pairs)
    }
}

/// Reads a form as pairs of name and value. Reads the first [`MAX_FIELDS`] pairs, and ignores the
/// rest.
struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Form;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a form")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Form, A::Error> {
        let mut form = Form::default();
        while form.0.len() < MAX_FIELDS
            && let Some(pair) = pairs.next_element()?
        {
            form.0.push(pair);
        }
        Ok(form)
    }
}

/// Returns a query string with these pairs of name and value. Pairs with an empty value are left
/// out.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let given: Vec<_> = pairs.iter().filter(|(_, value)| !value.is_empty()).collect();
    // Writing pairs of strings as a form cannot fail.
    serde_urlencoded::to_string(given).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_browsers_send_them() {
        let form = Form::read(b"label=+web+shop%21+&empty=&again=1&again=2");
        assert_eq!((form.raw("label"), form.text("label")), (" web shop! ", "web shop!"));
        assert_eq!((form.text("empty"), form.text("none"), form.text("again")), ("", "", "1"));
        assert!(form.has("empty") && !form.has("none"));
    }

    #[test]
    fn any_bytes_are_a_form_of_at_most_so_many_fields() {
        assert_eq!(Form::read(b"a=%ff&b=\xff").raw("a"), "\u{fffd}");
        assert_eq!(Form::read(b"&&=&a&b=c=d").raw("b"), "c=d");
        let many: Vec<String> = (0..=MAX_FIELDS).map(|at| format!("f{at}=1")).collect();
        let form = Form::read(many.join("&").as_bytes());
        assert!(form.has("f255") && !form.has("f256"));
    }

    #[test]
    fn a_query_reads_back() {
        let query = query(&[("from", "2026-01-01"), ("none", ""), ("id", "a&b=c d")]);
        assert_eq!(query, "from=2026-01-01&id=a%26b%3Dc+d");
        assert_eq!(Form::read(query.as_bytes()).text("id"), "a&b=c d");
    }
}
